"""Fields by which a controller beside the stack does something else than is meant, by a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import reached
from poolsmith.core.sources.scalars import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM943")
_ALL = "charts"
_NUMBER = pattern(r"[0-9]{1,9}")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for row in store.table("engines/faults.yaml")["faults"]:
        if not _is_here(view, row) or not _is_beside(view, row) or not _is_lacking(view, row.get("lacks")):
            continue
        for kind, inside in row["kinds"].items():
            group, _, name = kind.rpartition("/")
            for item in view.of_kind(name):
                for pointer, value in _found(item.data, inside, row) if item.group == group else ():
                    yield Finding(
                        message=f"{item.name}: `{_shown(pointer, value)}` {row['says']}",
                        place=item.place(pointer),
                        help=row["do"],
                        severity=Severity.NOTE if row.get("note") else None,
                    )


def _is_here(view: LinkView, row: Mapping[str, Any]) -> bool:
    """Whether nodes start from its image, and the version of its engine is one of those."""
    engine = row.get("engine")
    version = view.engines.get(engine["name"]) if engine else None
    is_version = engine is None or (version is not None and covers(engine, version))
    return is_version and ("image" not in row or row["image"] in view.machines.images)


def _is_beside(view: LinkView, row: Mapping[str, Any]) -> bool:
    wanted = row.get("beside", {})
    return not wanted or any(
        all(chart.value(path) is value for path, value in wanted.items() if path != _ALL)
        for chart in view.named(*wanted[_ALL])
    )


def _is_lacking(view: LinkView, wanted: Mapping[str, Any] | None) -> bool:
    if wanted is None:
        return True
    found = [item.data.get("data") for item in view.of_kind(wanted["kind"]) if item.own_name == wanted["name"]]
    return bool(found) and not any(key in mapping(data) for data in found for key in wanted["keys"])


def _found(data: Any, inside: list[str], row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is wrong in an object, each with its pointer; once in an item."""
    for top, body in reached(data, inside):
        for at, item in reached(body, row.get("each", ())):
            held = [(f"{top}{at}{below}", value) for path in row["at"] for below, value in reached(item, path)]
            wrong = [found for found in held if _fits(found[1], row.get("if", {}))]
            if wrong and all(_holds(body, item, part) for part in row.get("with", ())):
                yield from () if any(_holds(body, item, part) for part in row.get("unless", ())) else wrong[:1]


def _holds(body: Any, item: Any, part: Mapping[str, Any]) -> bool:
    return any(_fits(value, part) for _, value in reached(body if part.get("of") == "object" else item, part["at"]))


def _fits(value: Any, part: Mapping[str, Any]) -> bool:
    text = text_of(value)
    digits = _NUMBER.match(text)
    number = int(digits[0]) if digits else None
    return (
        ("is" not in part or text in _texts(part["is"]))
        and ("starts" not in part or text.startswith(_texts(part["starts"])))
        and ("above" not in part or (number is not None and number > part["above"]))
        and ("below" not in part or (number is not None and number < part["below"]))
        and ("has" not in part or any(word in text for word in _texts(part["has"])))
    )


def _texts(said: str | list[str]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said)


def _shown(pointer: str, value: Any) -> str:
    return shorten(value if isinstance(value, str) else pointer.rpartition("/")[2])
