"""ConfigMaps and Secrets that fields of the stack name: absent, applied under another name, or without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, joined, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.kubernetes.repository.delivered import LayeredSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo(
    code="PSM750",
    name="object-of-nobody",
    applies_to="setup",
    what="A field of the operator's values, of a ClusterPolicy or of an NVIDIADriver names a ConfigMap or a Secret "
    "that kustomize calls otherwise, or that lacks a key which its reader mounts. As a note: nothing here makes a "
    "ConfigMap; Secrets rarely stand in git.",
    why="kustomize puts a hash or a prefix into names in pods, and in no field of these objects. Whoever mounts what "
    "is not there waits for ever; and where a name is set, the operator does not make its own.",
    fix="write the name as it is applied, with all keys; or leave the field out, and the operator makes its own",
    bad="devicePlugin: {config: {name: gpu-sharing}}  # beside configMapGenerator: [{name: gpu-sharing}]\n",
    good="# kustomization.yaml\ngeneratorOptions: {disableNameSuffixHash: true}\n",
    symptom='`MountVolume.SetUp failed for volume ... configmap "..." not found`; `references non-existent config key`',
    references=(
        "NVIDIA/gpu-operator@v26.3.3:controllers/object_controls.go, createConfigMap, transformDriverContainer",
        "kubernetes-sigs/kustomize:api/internal/konfig/builtinpluginconsts/namereference.go",
    ),
)
NEEDS = ()
_HASHED = pattern(r"-[bcdfghkmt2456789]{10}")
_FEW = 5
_MOST_KEYS = 8


@record
class _Need:
    """`where` is the field as people write it; `keys` have to be there."""

    kind: str
    name: str
    keys: tuple[str, ...]
    where: str
    place: Location
    namespace: str | None


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for need in (*_of_values(view), *_of_driver_objects(view)):
        named = [item for item in view.of_kind(need.kind, "") if item.own_name == need.name]
        if named:
            here = [item for item in named if _is_there(item, need.namespace)]
            yield from _lacking(need, here[0]) if here else ()
        elif not _has_supplier(view, need):
            is_told = _changed(view, need) or (need.kind == "ConfigMap" and view.objects and not view.is_generated)
            yield from (_absent(view, need),) if is_told else ()


def _of_values(view: SetupView) -> Iterator[_Need]:
    if view.values is None:
        return
    for row in store.read_yaml("named_objects.yaml")["values"]:
        name = view.value(row["path"])
        if not view.is_set(row["path"]) or not isinstance(name, str) or name in ("", row.get("own")):
            continue
        if "create" in row and view.value(row["create"]) is True:
            continue
        if view.flag(f"{row['path'].partition('.')[0]}.enabled") is False:
            continue
        yield _Need(
            kind=row["kind"],
            name=name,
            keys=_keys(row, view.value(row["withToken"]) if "withToken" in row else None),
            where=row["path"],
            place=view.value_location(row["path"]),
            namespace=view.namespace,
        )


def _of_driver_objects(view: SetupView) -> Iterator[_Need]:
    for item in view.of_kind("NVIDIADriver", "nvidia.com"):
        for row in store.read_yaml("named_objects.yaml")["driverObjects"]:
            name = value_at(item.spec, row["path"].split("."))
            if isinstance(name, str) and name:
                token = value_at(item.spec, row["withToken"].split(".")) if "withToken" in row else None
                yield _Need(
                    kind=row["kind"],
                    name=name,
                    keys=_keys(row, token),
                    where=f"spec.{row['path']}",
                    place=item.place(f"/spec/{row['path'].replace('.', '/')}"),
                    namespace=view.namespace,
                )


def _keys(row: dict[str, Any], token: Any) -> tuple[str, ...]:
    more = (store.read_yaml("named_objects.yaml")["token"],) if token is True else ()
    return (*row["keys"], *more)


def _is_there(item: SetupObject, namespace: str | None) -> bool:
    """Another namespace is another rule's."""
    return namespace is None or item.metadata.get("namespace") in (None, "", namespace)


def _lacking(need: _Need, item: SetupObject) -> Iterator[Finding[Location]]:
    held = {str(key) for part in ("data", "stringData", "binaryData") for key in mapping(item.data.get(part))}
    missing = [key for key in need.keys if key not in held]
    if not missing or not held or len(held) > _MOST_KEYS:
        return
    has = joined([f"`{shorten(key)}`" for key in sorted(held)], _FEW, ", ")
    yield Finding(
        message=f"{item.name} has no key `{missing[0]}`, which is mounted where `{need.where}` names it; it has {has}",
        place=item.place("/stringData" if "stringData" in item.data else "/data"),
        help=f"{did_you_mean(missing[0], held)} Write the key `{missing[0]}`".strip(),
        related=(need.place,),
    )


def _has_supplier(view: SetupView, need: _Need) -> bool:
    for row in store.read_yaml("named_objects.yaml")["suppliers"]:
        if row["makes"] != need.kind:
            continue
        for item in view.of_kind(row["kind"]):
            made = value_at(item.data, row["path"].split(".")) if row["path"] else None
            if need.name in (made or item.own_name, item.own_name):
                return True
    return False


def _absent(view: SetupView, need: _Need) -> Finding[Location]:
    changed = _changed(view, need)
    if changed is not None:
        return Finding(
            message=f"`{need.where}` names {need.kind}/{need.name}, and kustomize calls it `{changed.own_name}`: names "
            "in these fields are not changed with it",
            place=need.place,
            help="write `generatorOptions: {disableNameSuffixHash: true}` into the kustomization, take the prefix "
            "away, or add this field to a `nameReference` of its `configurations`",
            related=(changed.place("/metadata/name", "this one"),),
        )
    return Finding(
        message=f"`{need.where}` names {need.kind}/{need.name}, and nothing here makes it",
        place=need.place,
        help="where it comes from outside, nothing is missing; else add it"
        + (f" with the key {' and '.join(f'`{key}`' for key in need.keys)}" if need.keys else "")
        + ", or leave the field out",
        severity=Severity.NOTE,
    )


def _changed(view: SetupView, need: _Need) -> SetupObject | None:
    return next((item for item in view.of_kind(need.kind, "") if _was_called(item, need.name)), None)


def _was_called(item: SetupObject, name: str) -> bool:
    """Whether it had that name before kustomize put a hash, a prefix or a suffix to it."""
    now = item.own_name
    if now.startswith(name) and _HASHED.fullmatch(now[len(name) :]):
        return True
    source = item.source
    if not isinstance(source, LayeredSource):
        return False
    return word(mapping(mapping(source.first_data).get("metadata")).get("name")) == name and now != name
