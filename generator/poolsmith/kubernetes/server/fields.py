"""Whether a server holds what was given: as server-side apply judges it, our fields only."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.live.snapshot import LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYS = ("name", "mountPath", "devicePath", "containerPort", "port", "key", "ip", "topologyKey", "kind", "type")
"""By which of its fields an item of a list is the same as another one; the first that all items have, each once."""
_OPEN_LISTS = ("/metadata/", "/imagePullSecrets", "/secrets")
"""Lists that others add to."""
_ORDERED_LISTS = ("/initContainers",)
"""Whose items have a name, and begin one after the other."""
_FALSE_IS_NOTHING = frozenset(
    (
        *("hostIPC", "hostNetwork", "hostPID", "paused", "publishNotReadyAddresses", "readOnly"),
        *("stdin", "stdinOnce", "suspend", "tty"),
    )
)
"""Fields of built-in kinds that are no pointers in the API: `false` is not stored. Source: k8s.io/api at v0.34.1."""
_QUANTITIES = pattern(r"/(limits|requests|capacity|hard|podFixed)/|/(sizeLimit|divisor)$")
_OF_SERVER = frozenset(("/apiVersion", "/kind", "/status", "/metadata/name", "/metadata/ownerReferences"))
"""What the server fills in, or what the object was found by; an owner is named by a uid that only it knows."""
_SUFFIXES = {
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
    "m": Decimal("0.001"),
    "u": Decimal("0.000001"),
    "n": Decimal("0.000000001"),
}
_ABSENT = object()
_TEXT = pattern(r"<(?:script )?(\d{1,9}) chars>")
_ANY_TEXT = "<configuration of the Kata manager>"
"""What predictions hold in the place of long texts of the operator's: how long they are, or that there is one."""


@record(kw_only=False)
class Difference:
    """`pointer` is a JSON pointer into the object; None stands for what is absent."""

    pointer: str
    given: Any
    held: Any


def differences(given: Any, held: Any, pointer: str = "") -> Iterator[Difference]:
    """Every field that was given and is held otherwise, and what was added to lists that are given whole."""
    if isinstance(given, dict):
        if is_nothing(given, pointer) and is_nothing(held, pointer):
            return
        if not isinstance(held, dict):
            yield Difference(pointer, given, None if held is _ABSENT else held)
            return
        for key, value in given.items():
            if join(pointer, key) in _OF_SERVER:
                continue
            yield from differences(value, held.get(key, _ABSENT), join(pointer, key))
    elif isinstance(given, list):
        yield from _of_lists(given, held, pointer)
    elif not _is_same(given, held, pointer):
        yield Difference(pointer, given, None if held is _ABSENT else held)


def _of_lists(given: list[Any], held: Any, pointer: str) -> Iterator[Difference]:
    items = held if isinstance(held, list) else []
    if held is not _ABSENT and held is not None and not isinstance(held, list):
        yield Difference(pointer, given, held)
        return
    is_open = pointer.startswith(_OPEN_LISTS[0]) or pointer.endswith(_OPEN_LISTS[1:])
    key = _key_of(given, items)
    if key is None:
        if len(given) != len(items) and not (is_open and len(given) < len(items)):
            yield Difference(pointer, given, None if held is _ABSENT else held)
            return
        for index, (one, other) in enumerate(zip(given, items, strict=False)):
            yield from differences(one, other, f"{pointer}/{index}")
        return
    there = {item[key] for item in items}
    for index, one in enumerate(given):
        if one[key] not in there:
            yield Difference(f"{pointer}/{index}", one, None)
    for index, one, other in paired(given, items):
        yield from differences(one, other, f"{pointer}/{index}")
    if pointer.endswith(_ORDERED_LISTS):
        both = there & {item[key] for item in given}
        ours_in_order, theirs_in_order = ([item[key] for item in one if item[key] in both] for one in (given, items))
        if ours_in_order != theirs_in_order:
            yield Difference(pointer, ours_in_order, theirs_in_order)
    theirs = {item[key]: item for item in items}
    ours = {item[key] for item in given}
    for value, item in theirs.items():
        if value not in ours and not is_open:
            yield Difference(pointer, None, item)


def paired(given: list[Any], held: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Items that are the same in both lists, with their place in the given one: by a key of theirs, else by place."""
    key = _key_of(given, held)
    if key is None:
        pairs = zip(given, held, strict=False) if len(given) == len(held) else ()
        yield from ((index, one, other) for index, (one, other) in enumerate(pairs))
        return
    theirs = {item[key]: item for item in held}
    yield from ((index, one, theirs[one[key]]) for index, one in enumerate(given) if one[key] in theirs)


def _key_of(given: list[Any], held: list[Any]) -> str | None:
    both = [*given, *held]
    if not both or not all(isinstance(item, dict) for item in both):
        return None
    for key in _KEYS:
        if all(isinstance(item.get(key), str | int) for item in both) and all(
            len({item[key] for item in items}) == len(items) for items in (given, held)
        ):
            return key
    return None


def is_nothing(value: Any, pointer: str) -> bool:
    """What the server does not keep: it stores no empty fields, and no `false` where that is what a field is for it
    without a value. At other places `false` says something."""
    if value is False:
        return pointer.rpartition("/")[2] in _FALSE_IS_NOTHING
    return value is _ABSENT or value is None or value in ("", 0, [], {})


def _is_same(given: Any, held: Any, pointer: str) -> bool:
    if held == LEFT_OUT and pointer.endswith("/value"):  # of a saved snapshot: nobody knows it
        return True
    if given is held or (type(given) is type(held) and given == held):
        return True
    if is_nothing(given, pointer) and is_nothing(held, pointer):
        return True
    if isinstance(given, str) and isinstance(held, str) and given.startswith("<"):
        told = _TEXT.fullmatch(given)
        return given == _ANY_TEXT or (told is not None and int(told[1]) == len(held))
    if isinstance(given, bool) or isinstance(held, bool):
        return False
    if isinstance(given, str) and isinstance(held, str) and not _QUANTITIES.search(pointer):
        return False
    ours, theirs = _quantity(given), _quantity(held)
    return ours is not None and ours == theirs


def _quantity(value: Any) -> Decimal | None:
    """A number, or a quantity of Kubernetes such as `500m` or `2Gi`."""
    if isinstance(value, int | float):
        return Decimal(str(value))
    if not isinstance(value, str) or len(value) > 40:  # noqa: PLR2004 - no quantity is longer
        return None
    digits = value.rstrip("kMGTPEimun")
    unit = _SUFFIXES.get(value[len(digits) :])
    try:
        return None if unit is None else Decimal(digits) * unit
    except InvalidOperation:
        return None


def words(pointer: str, body: Any) -> str:
    """A pointer as people read it: `spec.template.spec.containers[driver].image`."""
    found = ""
    at = body
    for part in pointer.split("/")[1:]:
        plain = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list) and plain.isdigit() and int(plain) < len(at):
            at = at[int(plain)]
            name = at.get("name") or at.get("mountPath") or at.get("key") if isinstance(at, dict) else None
            found += f"[{name if isinstance(name, str) and name else plain}]"
        else:
            at = at.get(plain) if isinstance(at, dict) else None
            found += f".{plain}"
    return found.lstrip(".")
