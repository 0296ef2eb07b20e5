"""Projects of Argo CD that do not permit what an Application of the stack brings."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import CHARTS, OPERATOR
from poolsmith.kubernetes.repository.node_template_marks import is_filled_later

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM944")
_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_BROUGHT = (
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("nvidia.com", "ClusterPolicy"),
)
"""What the operator's chart always brings; a GPUCluster in place of the policy is of the same group."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    projects = {item.own_name: item for item in view.of_kind("AppProject")}
    for item in view.of_kind("Application", "ApplicationSet") if projects else ():
        inner = ("template", "spec") if item.kind == "ApplicationSet" else ()
        spec = mapping(value_at(item.spec, inner))
        sources = [source for source in (mapping(spec.get("source")), *mappings(spec.get("sources"))) if source]
        ours = [source for source in sources if word(source.get("chart")).rpartition("/")[2] in CHARTS]
        project = projects.get(word(spec.get("project")) or "default")
        if ours and project is not None and not is_filled_later(project.spec):
            yield from (_finding(item, project, *lack) for lack in _lacking(spec, ours, project))


def _finding(item: SetupObject, project: SetupObject, field: str, lacks: str, write: str) -> Finding[Location]:
    return Finding(
        message=f"{project.name} does not permit {lacks}, which {item.name} needs: Argo CD refuses its sync",
        place=project.place(f"/spec/{field}"),
        help=f"add {write} to `{field}`",
        related=(item.place("/spec"),),
    )


def _lacking(
    spec: Mapping[str, Any], ours: list[Mapping[str, Any]], project: SetupObject
) -> Iterator[tuple[str, str, str]]:
    """The field of the project, what it lacks in words, and what to write."""
    for source in ours:
        address = word(source.get("repoURL"))
        if not is_filled_later(address) and not _permits(words(project.spec.get("sourceRepos")), address):
            yield "sourceRepos", f"the repository {shorten(address)}", f"`{shorten(address)}`"
    target = mapping(spec.get("destination"))
    namespace = word(target.get("namespace"))
    if namespace and not is_filled_later(namespace) and not _may_go(project.spec, target, namespace):
        yield "destinations", f"the namespace `{shorten(namespace)}`", f"`namespace: {shorten(namespace)}`"
    if any(word(source.get("chart")).rpartition("/")[2] in OPERATOR for source in ours):
        skips = any(value_at(source, ("helm", "skipCrds")) is True for source in ours)
        wanted = _BROUGHT if skips else (_DEFINITION, *_BROUGHT)
        if lacking := [kind for group, kind in wanted if not _permits_kind(project.spec, group, kind)]:
            yield "clusterResourceWhitelist", listed(lacking), listed([f"`kind: {kind}`" for kind in lacking])


def _permits(patterns: tuple[str, ...], text: str) -> bool:
    """One of them fits, and none that begins with an exclamation mark does."""
    denied = [item[1:] for item in patterns if item.startswith("!")]
    text = text.removesuffix(".git")
    return any(fnmatchcase(text, item.removesuffix(".git")) for item in patterns) and not any(
        fnmatchcase(text, item) for item in denied
    )


def _may_go(project: Mapping[str, Any], target: Mapping[str, Any], namespace: str) -> bool:
    rows = mappings(project.get("destinations"))
    here = [row for row in rows if any(_same(row, target, key) for key in ("server", "name"))]
    return _permits(tuple(word(row.get("namespace")) for row in here), namespace)


def _same(row: Mapping[str, Any], target: Mapping[str, Any], key: str) -> bool:
    """A cluster that one calls by its address and the other by its name may be the same."""
    return key not in target or key not in row or fnmatchcase(word(target[key]), word(row[key]))


def _permits_kind(project: Mapping[str, Any], group: str, kind: str) -> bool:
    return _lists(project, "clusterResourceWhitelist", group, kind) and not _lists(
        project, "clusterResourceBlacklist", group, kind
    )


def _lists(project: Mapping[str, Any], field: str, group: str, kind: str) -> bool:
    rows = mappings(project.get(field))
    return any(fnmatchcase(group, word(row.get("group"))) and fnmatchcase(kind, word(row.get("kind"))) for row in rows)
