"""A list that takes the place of the chart's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted, value_at
from poolsmith.gpu.catalog.operands import own_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM327")
_TOLERATIONS = (("daemonsets", "tolerations"), ("node-feature-discovery", "worker", "tolerations"))
_GPU_TAINT = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
"""In every recorded release; the rest is looked up in the defaults, where they are known."""

_GONE_TAINT = "node-role.kubernetes.io/master"
"""No Kubernetes since 1.25 sets it. Source: kubernetes.io, kubeadm: urgent upgrade notes of 1.24 and 1.25."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = [item.path for item in document.known if item.path[-1] == "env"]
    for path in (*_TOLERATIONS, *env):
        given = document.get(path)
        if not isinstance(given, list) or not given or _is_idle(path, document):
            continue
        own = own_variables(".".join(path[:-1]), document.release.tag) if path[-1] == "env" else {}
        lost = [entry for entry in _default(path, document) if not (_is_kept(entry, given) or _is_there(entry, own))]
        if lost:
            names = ", ".join(f"`{_name(entry)}`" for entry in lost[:5])
            message = f"`{dotted(path)}` replaces the chart's list, and leaves out its {names}"
            yield Finding(place=path, message=message, help=f"add {names} to the list")


def _is_idle(path: tuple[str, ...], document: ValuesDocument) -> bool:
    """Whether nothing acts on the list, whatever else is set: PSM321 says so."""
    note = document.release.paths.ignored(path, document.release.tag)
    return note is not None and not (note.deprecated or note.unless)


def _is_there(entry: Any, own: dict[str, str]) -> bool:
    """Whether nothing is lost with it: its container has the same by itself, or no node has the taint any more."""
    if not isinstance(entry, dict):
        return False
    return entry.get("key") == _GONE_TAINT or own.get(str(entry.get("name"))) == entry.get("value", "")


def _default(path: tuple[str, ...], document: ValuesDocument) -> list[Any]:
    if document.release.defaults is None:
        return _GPU_TAINT if path == _TOLERATIONS[0] else []
    default = value_at(document.release.defaults, path)
    return default if isinstance(default, list) else []


def _is_kept(entry: Any, given: list[Any]) -> bool:
    if not isinstance(entry, dict):
        return entry in given
    if "name" in entry:
        return any(isinstance(other, dict) and other.get("name") == entry["name"] for other in given)
    return any(isinstance(other, dict) and _tolerates(other, entry) for other in given)


def _tolerates(given: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Whether a toleration covers what the chart's own does."""
    exists = given.get("operator") == "Exists"
    if given.get("key") in (None, "") and exists:
        return given.get("effect") in (None, "", entry.get("effect"))
    same_value = exists or given.get("value", "") == entry.get("value", "")
    return (
        given.get("key") == entry.get("key")
        and same_value
        and (exists or entry.get("operator") != "Exists")
        and given.get("effect") in (None, "", entry.get("effect"))
    )


def _name(entry: Any) -> str:
    if isinstance(entry, dict):
        return shorten(str(entry.get("name") or entry.get("key") or entry))
    return shorten(str(entry))
