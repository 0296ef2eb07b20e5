"""A file of HCL (Terraform): its literal blocks, what is computed, and the places of both."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.core.sources.source_file import SourceFile


class _Computed:
    """What only a run of Terraform knows."""

    def __repr__(self) -> str:
        return "COMPUTED"


COMPUTED: Final[Any] = _Computed()


class HclProblemError(ValueError):
    """The text is no HCL, or is nested too deeply."""


@record(kw_only=False)
class HclFile:
    """`file("...")`: a path relative to the folder of the file that says so; or `templatefile`, which fills it in."""

    path: str
    is_template: bool = False


@record(slots=False)
class HclBlock:
    """A block at the top of a file: `resource "helm_release" "gpu"`.

    Blocks within it are lists of mappings below their kind, as attributes with lists of objects are.
    """

    kind: str
    labels: tuple[str, ...]
    data: dict[str, Any]
    source: SourceFile


def without_computed(value: Any) -> tuple[Any, bool]:
    """A value without what is computed, and whether something was left out. A list with a hole is left out whole."""
    if isinstance(value, dict):
        kept: dict[str, Any] = {}
        is_whole = True
        for key, item in value.items():
            cleaned, is_all = without_computed(item)
            is_whole &= is_all and key is not COMPUTED
            if cleaned is not COMPUTED and isinstance(key, str):
                kept[key] = cleaned
        return kept, is_whole
    if isinstance(value, list):
        items = [without_computed(item) for item in value]
        is_whole = all(is_all for _, is_all in items)
        return ([item for item, _ in items], True) if is_whole else (COMPUTED, False)
    return (COMPUTED, False) if value is COMPUTED or isinstance(value, HclFile) else (value, True)


def _first(arguments: list[Any]) -> Any:
    """What `try` gives: MISSING stands for a key that a map does not have."""
    return next((value for value in arguments if value is not MISSING), COMPUTED)


def _merged(arguments: list[Any]) -> Any:
    """Maps on top of each other. What is computed may bring any key, and replace what stands before it."""
    found: dict[Any, Any] = {}
    for value in arguments:
        found = found | value if isinstance(value, dict) else dict.fromkeys((*found, COMPUTED), COMPUTED)
    return found


def _known(work: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """A function of arguments that are known, and of the kinds that it takes; else COMPUTED."""

    def worked_out(arguments: list[Any]) -> Any:
        if any(value is COMPUTED or value is MISSING or isinstance(value, HclFile) for value in arguments):
            return COMPUTED
        try:
            return work(*arguments)
        except (TypeError, ValueError, AttributeError, KeyError):
            return COMPUTED

    return worked_out


def _formatted(text: str, *values: Any) -> Any:
    parts = text.split("%s" if "%s" in text else "%v")
    is_plain = len(parts) == len(values) + 1 and not any("%" in part for part in parts)
    told = [f"{value:d}" if type(value) is int else value for value in values]
    return "".join(word for pair in zip_longest(parts, told, fillvalue="") for word in pair) if is_plain else COMPUTED


LONGEST_FILLED = 200


def as_text(value: Any) -> str | None:
    """What stands for an interpolation; None where it is no short text and no number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        return None
    text = value if isinstance(value, str) else f"{value:.15g}" if isinstance(value, float) else f"{value:d}"
    return text if len(text) <= LONGEST_FILLED else None


FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "try": _first,
    "merge": _merged,
    "compact": _known(lambda items: [item for item in items if item not in (None, "")]),
    "concat": _known(lambda *lists: [item for items in lists for item in items]),
    "coalesce": _known(lambda *values: next((value for value in values if value not in (None, "")), COMPUTED)),
    "format": _known(_formatted),
    "join": _known(lambda sign, items: sign.join(items)),
    "length": _known(len),
    "lookup": _known(lambda found, key, other: found.get(key, other)),
    "lower": _known(lambda text: text.lower()),
    "replace": _known(lambda text, old, new: text.replace(old, new) if old and not old.startswith("/") else COMPUTED),
    "tobool": _known(lambda value: {"true": True, "false": False}.get(value, value)),
    "tonumber": _known(lambda value: int(value) if isinstance(value, str) else value),
    "tostring": _known(lambda value: COMPUTED if (text := as_text(value)) is None else text),
    "trimprefix": _known(lambda text, start: text.removeprefix(start)),
    "trimspace": _known(lambda text: text.strip()),
    "upper": _known(lambda text: text.upper()),
}
"""Those that are worked out."""
