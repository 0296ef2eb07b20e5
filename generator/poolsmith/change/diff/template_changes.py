"""What differs between the pod templates of two workloads, as the API server stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.listing import counted, joined
from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, pod_template_of, pod_template_pointer
from poolsmith.core.sources.pointer import join, split
from poolsmith.kubernetes.server.field_change import FieldChange, Standing
from poolsmith.kubernetes.server.field_changes import field_changes, named_items
from poolsmith.kubernetes.server.stored_template import stored_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SHOWN = 3
_LABELS = ("metadata", "labels")


def template_changes(old: Mapping[str, Any], new: Mapping[str, Any], kubernetes: str = "") -> tuple[FieldChange, ...]:
    """Nothing where no pod is replaced; pointers begin at the workload, secrets are masked."""
    if pod_template_of(old) == pod_template_of(new):
        return ()
    before, after = stored_template(old, kubernetes), stored_template(new, kubernetes)
    if before == after:
        return ()
    within = pod_template_pointer(new) or ""
    return field_changes(before, after, within=within) or tuple(_reordered(before, after, within))


def _reordered(old: Any, new: Any, pointer: str, above: tuple[str, ...] = ()) -> Iterator[FieldChange]:
    """Lists that hold the same in another order: Kubernetes replaces pods for that too."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() & new.keys()):
            if old[key] != new[key]:
                yield from _reordered(old[key], new[key], join(pointer, key), (*above, key))
    elif isinstance(old, list) and isinstance(new, list):
        before, after = named_items(above, old), named_items(above, new)
        if before and after and list(before) == list(after):
            for name, item in before.items():
                if item != after[name]:
                    yield from _reordered(item, after[name], join(pointer, name), (*above, name))
        else:
            yield FieldChange(pointer=pointer, standing=Standing.CHANGED, old=masked_tree(old), new=masked_tree(new))


def told_fields(changes: Iterable[FieldChange], within: str) -> str:
    """The fields in words, the first few of them: `image` of container `nvidia-driver-ctr`."""
    words = dict.fromkeys(_told(split(item.pointer.removeprefix(within))) for item in changes)
    shown = sorted(words, key=_likely)
    rest = len(shown) - _SHOWN
    return joined(shown[:_SHOWN], _SHOWN) + (f" and {counted(rest, 'other field')}" if rest > 0 else "")


def _likely(told: str) -> tuple[bool, str]:
    """Labels of the chart's version change with every release, and say nothing."""
    return "helm.sh/chart" in told, told


def _told(steps: tuple[str, ...]) -> str:
    match steps:
        case ["spec", field, name, *rest] if field in CONTAINER_FIELDS and rest:
            return f"`{shorten('.'.join(rest))}` of container `{shorten(name)}`"
        case ["spec", field, name] if field in CONTAINER_FIELDS:
            return f"container `{shorten(name)}`"
        case ["spec", *rest] if rest:
            return f"`{shorten('.'.join(rest))}`"
    return f"`{shorten('.'.join(steps))}`"
