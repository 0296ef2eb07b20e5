"""Objects: missing on the cluster, or held otherwise.

What somebody has added to an object: fields that nobody gave, and the server does not fill in.

Every object that a cluster is predicted to have is known whole, but for its metadata and its status. A field that was
added changes what runs as much as one that was edited, and no delivery engine tells of it: for server-side apply it is
somebody else's.

Texts of ConfigMaps that are YAML: what they say is compared, not how it is written.
"""

from __future__ import annotations

import json
from functools import cache
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import Bringer, shown
from poolsmith.change.verify.version_skew import follows_release, other_release, runs_another
from poolsmith.change.verify.workloads import tag_of
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import DIFFERS_ON_CLUSTER, NOT_ON_CLUSTER, POLICY_NOT_IN_FORCE
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.operands import DRIVER_DIGEST
from poolsmith.kubernetes.admission.defaulting import EMPTY_OBJECTS, defaulted_paths
from poolsmith.kubernetes.live.api_resources import BINDINGS, POLICIES
from poolsmith.kubernetes.schema.schemas import KindSchema, Versions, newest_kubernetes, schemas_for
from poolsmith.kubernetes.server.fields import Difference, differences, is_nothing, paired, words
from poolsmith.kubernetes.server.filled_in import ANY_ITEM, filled_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.expected import Expected
    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic


Path = tuple[str, ...]
_ENVELOPE = frozenset(("apiVersion", "kind", "metadata", "status"))
_OF_THE_SERVER = frozenset(
    (
        ("Namespace", "spec"),
        ("ServiceAccount", "imagePullSecrets"),
        ("ServiceAccount", "secrets"),
    )
)
"""What is written there by controllers of Kubernetes and of distributions."""
_PRIVILEGES = frozenset(
    ("hostNetwork", "hostPID", "hostIPC", "privileged", "allowPrivilegeEscalation", "capabilities", "procMount")
)
"""Fields of pods that the ledger tells of: what they allow is told there."""
_PULL_POLICY = "imagePullPolicy"
_TEMPLATE = "template"
_TEMPLATE_METADATA = ("spec", _TEMPLATE, "metadata")
"""Where tools write when they restart something."""


def additions(item: Expected, body: dict[str, Any], release: str | None) -> Iterator[Difference]:
    """To one live object; `release` is the operator's, for the definitions of its resources."""
    kind = item.resource.kind
    if _is_native(item.resource.group):
        native = _Native(kind)
        for key, value in body.items():
            if key not in _ENVELOPE and (kind, key) not in _OF_THE_SERVER:
                yield from native.field(item.body, key, value, (), "")
        return
    versions = Versions(kubernetes=newest_kubernetes(), operator=release)
    schema = schemas_for(versions).find(item.resource.api_version, kind)
    if isinstance(schema, KindSchema):
        whole = schema.with_defaults(item.body)
        given, filled, held = (mapping(holder.get("spec")) for holder in (item.body, whole, body))
        yield from _unknown(given, filled, held, "/spec")


def _is_native(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def _unknown(
    given: Mapping[str, Any], whole: Mapping[str, Any], held: Mapping[str, Any], pointer: str
) -> Iterator[Difference]:
    """`whole` is what was given, with what the definition fills in."""
    for key, value in held.items():
        where, default = join(pointer, key), whole.get(key)
        if key not in whole:
            if not is_nothing(value, where):
                yield Difference(where, None, value)
        elif isinstance(value, dict) and isinstance(default, dict):
            yield from _unknown(mapping(given.get(key)), default, value, where)
        elif isinstance(value, list) and isinstance(default, list):
            ours = given.get(key)
            for index, one, other in paired(default, value):
                if isinstance(one, dict) and isinstance(other, dict):
                    was = ours[index] if isinstance(ours, list) else {}
                    yield from _unknown(mapping(was), one, other, f"{where}/{index}")
        elif key not in given:
            yield from differences(default, value, where)


class _Native:
    """A kind of Kubernetes itself: the server fills in by code, which fields is in the catalog."""

    def __init__(self, kind: str) -> None:
        self._values = filled_in(kind)
        self._paths = defaulted_paths(kind)
        self._above = _above(kind)

    def below(self, given: Any, held: Any, path: Path, pointer: str) -> Iterator[Difference]:
        """`path` has ANY_ITEM in the place of an item of a list."""
        if isinstance(held, dict):
            given = given if isinstance(given, dict) else {}
            for key, value in held.items():
                if (*path, key) != _TEMPLATE_METADATA:
                    yield from self.field(given, key, value, path, pointer)
        elif isinstance(held, list) and isinstance(given, list):
            for index, one, other in paired(given, held):
                yield from self.below(one, other, (*path, ANY_ITEM), f"{pointer}/{index}")

    def field(self, given: Mapping[str, Any], key: str, value: Any, path: Path, pointer: str) -> Iterator[Difference]:
        below, where = (*path, key), join(pointer, key)
        if key == "value" and given.get("name") == DRIVER_DIGEST:
            return
        if key in given:
            yield from self.below(given[key], value, below, where)
        elif below in self._values or key == _PULL_POLICY:
            filled = self._values[below] if below in self._values else _pull_policy(given.get("image"))
            if value != filled:
                yield Difference(where, None, value)
        elif is_nothing(value, where) or (key in _PRIVILEGES and _TEMPLATE in path):
            return
        elif isinstance(value, dict) and (key in EMPTY_OBJECTS or below in self._above):
            yield from self.below({}, value, below, where)
        elif below not in self._paths:
            yield Difference(where, None, value)


def _pull_policy(image: Any) -> str:
    """Source: kubernetes/kubernetes@v1.34.1:pkg/apis/core/v1/defaults.go, SetDefaults_Container."""
    is_latest = isinstance(image, str) and (tag_of(image) or ("" if "@" in image else "latest")) == "latest"
    return "Always" if is_latest else "IfNotPresent"


@cache
def _above(kind: str) -> frozenset[Path]:
    """Paths of objects that have fields which are filled in."""
    return frozenset(path[:length] for path in defaulted_paths(kind) for length in range(1, len(path)))


def within(one: Difference) -> Iterator[Difference]:
    """Of a text, the values in it that differ: none where only comments and spelling do. Anything else as it is."""
    if one.pointer.startswith("/data/"):
        given, held = _values(one.given), _values(one.held)
        if given is not None and held is not None:
            yield from _apart(given, held, one.pointer)
            return
    yield one


def _values(text: Any) -> dict[str, Any] | None:
    """None for what is no text, or no mapping in YAML."""
    if not isinstance(text, str):
        return None
    try:
        documents = read_documents(text)
    except YamlProblem:
        return None
    return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else None


def _apart(given: dict[str, Any], held: dict[str, Any], pointer: str) -> Iterator[Difference]:
    for key in {**given, **held}:
        ours, theirs, where = given.get(key), held.get(key), join(pointer, key)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            yield from _apart(ours, theirs, where)
        elif ours != theirs or type(ours) is not type(theirs):
            yield Difference(where, ours, theirs)


_ADMISSION = (POLICIES, BINDINGS)
_FEW = 3
_LONGEST = 60
_BEFORE = 15
_WHO = {
    Bringer.DELIVERY: "which unit `{}` delivers",
    Bringer.CHART: "which `{}` installs",
    Bringer.OPERATOR: "which the operator makes",
    Bringer.PERSON: "which people run",
}


def judge_objects(view: LiveView) -> Iterator[Diagnostic]:
    """Where another release of the operator runs, one finding stands for all objects that follow from it."""
    release = other_release(view)
    committed = view.cluster.plan.cluster.spec.stack.release
    by_release = 0
    for item in view.cluster.expected:
        if item.passing:
            continue
        found = view.find(item)
        is_missing = not found and view.knows(item) and not view.waits_for_nodes(item)
        problems = [_missing(view, item)] if is_missing else []
        differing = ((body, tuple(_all(item, body, committed))) for body in found)
        problems += [_differs(view, item, body, told) for body, told in differing if told]
        if problems and release and follows_release(item):
            by_release += 1
        else:
            yield from problems
    if release:
        yield runs_another(view, release, by_release)


def _all(item: Expected, body: dict[str, Any], release: str | None) -> Iterator[Difference]:
    for one in (*differences(item.body, body), *additions(item, body, release)):
        yield from within(one)


def _missing(view: LiveView, item: Expected) -> Diagnostic:
    who = _WHO[item.bringer].format(item.through)
    policy = item.resource in _ADMISSION
    message = f"{item.shown}, {who}, is not on cluster `{view.cluster.name}`"
    rule = POLICY_NOT_IN_FORCE if policy else NOT_ON_CLUSTER
    return diagnose(rule, message, view.cluster.place(item), subject=_subject(view, item, item.pattern))


def _differs(view: LiveView, item: Expected, body: dict[str, Any], told: tuple[Difference, ...]) -> Diagnostic:
    called = str(body["metadata"]["name"])
    name = shown(item.resource.kind, called, item.namespace)
    parts = [_difference(one, item.body) for one in told[:_FEW]]
    more = f", and {len(told) - _FEW} fields more" if len(told) > _FEW else ""
    rule = POLICY_NOT_IN_FORCE if item.resource in _ADMISSION else DIFFERS_ON_CLUSTER
    message = f"{name} of cluster `{view.cluster.name}`: {'; '.join(parts)}{more}"
    return diagnose(rule, message, view.cluster.place(item), subject=_subject(view, item, called))


def _subject(view: LiveView, item: Expected, name: str) -> str:
    return view.cluster.subject(item.resource.kind, name, item.namespace)


def _difference(one: Difference, given: Any) -> str:
    where = words(one.pointer, given)
    if one.given is None and one.held is not None:
        return f"`{where}` has {_value(one.held)} more"
    if one.held is None:
        return f"`{where}` lacks {_value(one.given)}"
    held, given = _from_where_they_differ(one.held, one.given)
    return f"`{where}` is {_value(held)}, not {_value(given)}"


def _from_where_they_differ(held: Any, given: Any) -> tuple[Any, Any]:
    """Long texts that begin alike from a little before the place where they no longer are."""
    if not isinstance(held, str) or not isinstance(given, str) or max(len(held), len(given)) <= _LONGEST:
        return held, given
    alike = len(commonprefix((held, given)))
    if alike <= _BEFORE:
        return held, given
    return f"…{held[alike - _BEFORE :]}", f"…{given[alike - _BEFORE :]}"


def _value(value: Any) -> str:
    """As JSON, cut; of a mapping its name, if it has one."""
    if isinstance(value, dict):
        for key in ("name", "mountPath", "key"):
            if isinstance(value.get(key), str):
                return f"`{value[key]}`"
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}`"
