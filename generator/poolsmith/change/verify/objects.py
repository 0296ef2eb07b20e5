"""Objects that are missing on the cluster, or that differ from what was predicted.

Texts of ConfigMaps that are YAML are compared by their content, not by how they are written.
"""

from __future__ import annotations

import hashlib
import json
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import Bringer, shown
from poolsmith.change.verify.version_skew import follows_release, other_release, runs_another
from poolsmith.change.verify.workloads import left_behind
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import DIFFERS_ON_CLUSTER, NOT_ON_CLUSTER, POLICY_NOT_IN_FORCE
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.gpu.catalog.live_cluster import read_script_hashes
from poolsmith.gpu.catalog.operands import DRIVER_DIGEST
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.live.api_resources import BINDINGS, CONFIG_MAPS, POLICIES
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import newest_kubernetes, schemas_for
from poolsmith.kubernetes.server.additions import custom_additions, is_native, native_additions
from poolsmith.kubernetes.server.fields import Difference, differences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.expected import ExpectedCluster
    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.change.verify.workloads import Key
    from poolsmith.core.diagnostics import Diagnostic


_PRIVILEGES = frozenset(
    ("hostNetwork", "hostPID", "hostIPC", "privileged", "allowPrivilegeEscalation", "capabilities", "procMount")
)
"""Fields of pods that the ledger tells of: what they allow is told there."""
_TEMPLATE = "template"


def additions(item: ExpectedCluster, body: dict[str, Any], release: str | None) -> Iterator[Difference]:
    """To one live object; `release` is the operator's, for the definitions of its resources."""
    if is_native(item.resource.group):
        yield from native_additions(item.body, body, _is_reported_elsewhere)
        return
    versions = schema_versions(kubernetes=newest_kubernetes(), operator=release)
    schema = schemas_for(versions).find(item.resource.api_version, item.resource.kind)
    if isinstance(schema, KindSchema):
        yield from custom_additions(item.body, body, schema)


def _is_reported_elsewhere(path: tuple[str, ...], given: Mapping[str, Any]) -> bool:
    key = path[-1]
    if key == "value" and given.get("name") == DRIVER_DIGEST:
        return True
    return key not in given and key in _PRIVILEGES and _TEMPLATE in path


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
    documents = read_if_yaml(text)
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
    left = left_behind(view)
    for item in view.cluster.expected:
        if item.passing:
            continue
        found = view.find(item)
        is_missing = not found and view.knows(item) and not view.waits_for_nodes(item)
        problems = [_missing(view, item, left)] if is_missing else []
        differing = ((body, tuple(_all(item, body, committed))) for body in found)
        problems += [_differs(view, item, body, told) for body, told in differing if told]
        if problems and release and follows_release(item):
            by_release += 1
        else:
            yield from problems
    if release:
        yield runs_another(view, release, by_release)


def _all(item: ExpectedCluster, body: dict[str, Any], release: str | None) -> Iterator[Difference]:
    for one in (*differences(item.body, body), *additions(item, body, release)):
        yield from within(one)
    if item.resource == CONFIG_MAPS and item.bringer is Bringer.OPERATOR and release:
        yield from _other_texts(item, body, release)


def _other_texts(item: ExpectedCluster, body: dict[str, Any], release: str) -> Iterator[Difference]:
    """Texts that the operator brings word for word, of the right length and with other words."""
    hashes = read_script_hashes()
    for key, text in mapping(body.get("data")).items():
        known = hashes.get((release, f"{item.pattern}/{key}"))
        given = mapping(item.body.get("data")).get(key)
        if known is None or not isinstance(text, str) or given != f"<{len(text)} chars>" or _is_left_out(text):
            continue
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in known:
            yield Difference(join("/data", key), f"what the tag {release} has there", text)


def _is_left_out(text: str) -> bool:
    """Of a recorded cluster: one letter again and again in the place of a text, which runs nothing."""
    return len(set(text)) == 1


def _missing(view: LiveView, item: ExpectedCluster, left: Mapping[Key, list[str]]) -> Diagnostic:
    who = _WHO[item.bringer].format(item.through)
    policy = item.resource in _ADMISSION
    message = f"{item.shown}, {who}, is not on cluster `{view.cluster.name}`"
    pods = left.get((item.resource.kind, item.namespace, item.pattern), ())
    if pods:
        message += (
            f"; {counted(len(pods), 'pod')} of it still run ({listed(sorted(pods), _FEW)}), and nobody looks after them"
        )
    rule = POLICY_NOT_IN_FORCE if policy else NOT_ON_CLUSTER
    return diagnose(rule, message, view.cluster.place(item), subject=_subject(view, item, item.pattern))


def _differs(view: LiveView, item: ExpectedCluster, body: dict[str, Any], told: tuple[Difference, ...]) -> Diagnostic:
    called = str(body["metadata"]["name"])
    name = shown(item.resource.kind, called, item.namespace)
    parts = [_difference(one, item.body) for one in told[:_FEW]]
    more = f", and {len(told) - _FEW} fields more" if len(told) > _FEW else ""
    rule = POLICY_NOT_IN_FORCE if item.resource in _ADMISSION else DIFFERS_ON_CLUSTER
    message = f"{name} of cluster `{view.cluster.name}`: {'; '.join(parts)}{more}"
    return diagnose(rule, message, view.cluster.place(item), subject=_subject(view, item, called))


def _subject(view: LiveView, item: ExpectedCluster, name: str) -> str:
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
