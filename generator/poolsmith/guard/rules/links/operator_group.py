"""Groups of OLM that keep the operator from being installed."""

from __future__ import annotations

from posixpath import dirname
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import line_of, minor_between, minor_key
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import word, words
from poolsmith.gpu.catalog.stack_objects import OLM_PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM942")
_OLM = "operators.coreos.com"
_CHANNEL = pattern(r"v2[0-9]\.[0-9]{1,2}")
_OF_OPENSHIFT, _OF_OLM = "openshift-operators", "operators"
"""Where OpenShift and OLM by itself have the group of all namespaces; the second name may be one of one's own."""
_HELP = "write a group of its own namespace: `spec: {targetNamespaces: [%s]}`"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    groups = [item for item in view.of_kind("OperatorGroup") if item.group == _OLM and _namespace(item)]
    for item in view.of_kind("Subscription"):
        if item.group == _OLM and item.spec.get("name") == OLM_PACKAGE:
            yield from _of_channel(item)
            if space := _namespace(item):
                yield from _judge(view, item, space, groups)


def _of_channel(item: SetupObject) -> Iterator[Finding[Location]]:
    """A channel is called as a line of releases; of those after the newest that is known nobody can tell."""
    channel, start = word(item.spec.get("channel")), word(item.spec.get("startingCSV")).partition(".")[2]
    lines = store.table("releases.yaml")["lines"]
    if not _CHANNEL.fullmatch(channel) or not minor_between(channel, lines[0], lines[-1]):
        return
    if line_of(channel) not in lines:
        near = max((line for line in lines if minor_key(line) < minor_key(channel)), key=minor_key)
        yield Finding(
            message=f"the catalog has no channel `{channel}`: each is called as a line of releases of the operator's",
            place=item.place("/spec/channel"),
            help=f"write `v{near}`, or `stable`",
        )
    elif _CHANNEL.match(start) and minor_key(start) > minor_key(channel):
        yield Finding(
            message=f"`{item.spec['startingCSV']}` is later than the channel `{channel}`, which does not have it",
            place=item.place("/spec/startingCSV"),
            help=f"write `channel: v{line_of(start)}`",
        )


def _judge(view: LinkView, item: SetupObject, space: str, groups: list[SetupObject]) -> Iterator[Finding[Location]]:
    here = list({group.own_name: group for group in groups if _namespace(group) == space}.values())
    if space == _OF_OPENSHIFT or (space == _OF_OLM and not here):
        yield Finding(
            message=f"the group of `{space}` is for all namespaces, for which this operator can't be installed",
            place=item.place("/metadata/namespace"),
            help="move it to a namespace of its own, with an OperatorGroup: `nvidia-gpu-operator`",
        )
    elif second := [group for group in here[1:] if view.is_whole or dirname(group.file) == dirname(here[0].file)]:
        yield Finding(
            message=f"{second[0].name} is the second group of `{space}`: OLM installs nothing there",
            place=second[0].place("/metadata/name"),
            help="leave one of them",
            related=(here[0].place("/metadata/name"), item.place("/metadata/namespace")),
        )
    elif here:
        yield from _wrong_targets(here[0], space)
    else:
        yield from (_elsewhere(item, space, group) for group in groups if space in _targets(group))


def _wrong_targets(group: SetupObject, space: str) -> Iterator[Finding[Location]]:
    targets = _targets(group)
    if len(targets) != 1 and "selector" not in group.spec:
        shown = f"{len(targets)} namespaces" if targets else "all namespaces"
        yield Finding(
            message=f"{group.name} is for {shown}, and this operator can be installed for one alone",
            place=group.place("/spec/targetNamespaces" if targets else "/metadata/name"),
            help=_HELP % space,
        )


def _elsewhere(item: SetupObject, space: str, group: SetupObject) -> Finding[Location]:
    return Finding(
        message=f"{group.name} is for `{space}` and stands in `{_namespace(group)}`: OLM looks for it beside "
        f"{item.name}",
        place=group.place("/metadata/namespace"),
        help=f"write `namespace: {space}`",
        related=(item.place("/metadata/namespace"),),
    )


def _targets(group: SetupObject) -> tuple[str, ...]:
    return words(group.spec.get("targetNamespaces"))


def _namespace(item: SetupObject) -> str:
    return word(item.metadata.get("namespace"))
