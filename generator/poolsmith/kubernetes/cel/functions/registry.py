"""All functions under the names by which lowered text calls them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions import lists, named_formats, network, quantity_semver, strings, values
from poolsmith.kubernetes.cel.functions.values import QUANTITY, SEMVER, equal, no_overload

if TYPE_CHECKING:
    from collections.abc import Callable


@record(kw_only=False)
class Function:
    """name in lowered text, number of arguments, result: the engine's kind, run: plain values to a plain value."""

    name: str
    count: int
    result: str
    run: Callable[..., Any]


_OF_ANY: dict[str, tuple[tuple[int, ...], Callable[..., Any]]] = {
    "charAt": ((2,), strings.char_at),
    "indexOf": ((2, 3), lists.index_of),
    "lastIndexOf": ((2, 3), lists.last_index_of),
    "lowerAscii": ((1,), strings.lower_ascii),
    "upperAscii": ((1,), strings.upper_ascii),
    "replace": ((3, 4), strings.replace),
    "split": ((2, 3), strings.split),
    "substring": ((2, 3), strings.substring),
    "trim": ((1,), strings.trim),
    "join": ((1, 2), strings.join),
    "strings_quote": ((1,), strings.quote),
    "find": ((2,), strings.find),
    "findAll": ((2, 3), strings.find_all),
    "format": ((2,), strings.formatted),
    "sum": ((1,), lists.total),
    "sum_int": ((1,), lists.total_int),
    "sum_double": ((1,), lists.total_double),
    "refused": ((2,), values.refused),
    "min": ((1,), lists.smallest),
    "max": ((1,), lists.largest),
    "isSorted": ((1,), lists.is_sorted),
    "distinct": ((1,), lists.distinct),
    "reverse": ((1,), lists.backwards),
    "slice": ((3,), lists.sliced),
    "sort": ((1,), lists.in_order),
    "sortBy": ((2,), lists.by_keys),
    "flatten": ((1, 2), lists.flattened),
    "lists_range": ((1,), lists.numbers),
    "pairs": ((1,), lists.pairs),
    "entries": ((1,), lists.entries),
    "sets_contains": ((2,), lists.contains),
    "sets_equivalent": ((2,), lists.equivalent),
    "sets_intersects": ((2,), lists.intersects),
    "url": ((1,), network.url),
    "isURL": ((1,), network.is_url),
    "getScheme": ((1,), partial(network.part, place=0)),
    "getHost": ((1,), partial(network.part, place=1)),
    "getEscapedPath": ((1,), partial(network.part, place=2)),
    "getHostname": ((1,), network.hostname),
    "getPort": ((1,), network.port),
    "getQuery": ((1,), network.query),
    "quantity": ((1,), quantity_semver.quantity),
    "isQuantity": ((1,), quantity_semver.is_quantity),
    "isInteger": ((1,), quantity_semver.is_integer),
    "asInteger": ((1,), quantity_semver.as_integer),
    "asApproximateFloat": ((1,), quantity_semver.as_float),
    "sign": ((1,), quantity_semver.sign),
    "add": ((2,), quantity_semver.plus),
    "sub": ((2,), quantity_semver.minus),
    "semver": ((1, 2), quantity_semver.semver),
    "isSemver": ((1, 2), quantity_semver.is_semver),
    "major": ((1,), partial(quantity_semver.number, place=0)),
    "minor": ((1,), partial(quantity_semver.number, place=1)),
    "patch": ((1,), partial(quantity_semver.number, place=2)),
    "ip": ((1,), network.ip),
    "isIP": ((1,), network.is_ip),
    "ip_isCanonical": ((1,), network.is_canonical),
    "family": ((1,), network.family),
    "isUnspecified": ((1,), network.is_unspecified),
    "isLoopback": ((1,), network.is_loopback),
    "isLinkLocalUnicast": ((1,), network.is_link_local_unicast),
    "isLinkLocalMulticast": ((1,), network.is_link_local_multicast),
    "isGlobalUnicast": ((1,), network.is_global_unicast),
    "cidr": ((1,), network.cidr),
    "isCIDR": ((1,), network.is_cidr),
    "containsIP": ((2,), network.contains_ip),
    "containsCIDR": ((2,), network.contains_cidr),
    "masked": ((1,), network.masked),
    "prefixLength": ((1,), network.prefix_length),
    "format_named": ((1,), named_formats.named),
    "validate": ((2,), named_formats.validate),
    "string": ((1,), values.string),
    "int": ((1,), values.integer),
    "double": ((1,), values.double),
    "bool": ((1,), values.boolean),
    "moment": ((1,), values.moment),
    "milliseconds": ((1,), values.milliseconds),
    "error": ((1,), values.error),
}


def _comparison(test: Callable[[int], Any]) -> Callable[[Any, Any], Any]:
    def compared(one: Any, other: Any) -> Any:
        compare = (
            quantity_semver.compare_versions if isinstance(one, dict) and SEMVER in one else quantity_semver.compare
        )
        return test(compare(one, other))

    return compared


def _same(one: Any, other: Any) -> bool:
    """Equality of opaque values: an error for what is not of the same kind, but for null."""
    if other is None:
        return False
    marks = [key for key in one if type(key) is int] if isinstance(one, dict) else []
    if not marks or not isinstance(other, dict) or not all(key in other for key in marks):
        raise no_overload()
    return bool(_equal(one, other)) if QUANTITY in one or SEMVER in one else equal(one, other)


def _differs(one: Any, other: Any) -> bool:
    try:
        return not _same(one, other)
    except CelError:
        return True


_equal = _comparison(lambda order: order == 0)
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "compareTo": _comparison(lambda order: order),
    "isGreaterThan": _comparison(lambda order: order > 0),
    "isLessThan": _comparison(lambda order: order < 0),
    "same": _same,
    "differs": _differs,
}
_TYPED: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("uint", "uint", values.unsigned),
    ("duration", "duration", values.duration),
    ("sum_duration", "duration", lists.total_duration),
    ("sum_uint", "uint", lists.total),
    *((f"min_{kind}", kind, lists.smallest) for kind in ("uint", "duration", "timestamp")),
    *((f"max_{kind}", kind, lists.largest) for kind in ("uint", "duration", "timestamp")),
)


def _named(name: str) -> Callable[[], Any]:
    return lambda: named_formats.named(name)


FUNCTIONS: tuple[Function, ...] = (
    *(Function(f"k_{name}", count, "dyn", run) for name, (counts, run) in _OF_ANY.items() for count in counts),
    *(Function(f"k_{name}", 2, "dyn", run) for name, run in _COMPARED.items()),
    *(Function(f"k_{name}", 1, result, run) for name, result, run in _TYPED),
    *(Function(f"k_format_{name}", 0, "dyn", _named(name)) for name in named_formats.NAMES),
)
NAMES = frozenset(one.name for one in FUNCTIONS)
