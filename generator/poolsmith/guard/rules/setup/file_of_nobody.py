"""Variables of operands that lead to a file which neither the image nor the mounted ConfigMap has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.guard.rules.names.need import Need, Offer, State, Supply, judged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM774")
NEEDS = ("values",)
_FILE = "File"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for row in store.table("named_objects.yaml")["files"]:
        path = _path(view, row)
        if not path.startswith(row["folder"]):
            continue
        there = sorted(_files(view, row))
        name = path.removeprefix(row["folder"])
        need = Need(kind=_FILE, name=name, locate=view.value_location, pointer=row["path"])
        offers = (Offer(kind=_FILE, name=item) for item in there)
        if judged(need, offers, Supply(owns=bool if there else None)).state in (State.NEAR, State.UNDEFINED):
            yield Finding(
                message=f"`{row['variable']}` is `{shorten(path)}`, and there is no such file: neither the image nor a "
                "ConfigMap brings it",
                place=need.place,
                help=did_you_mean(name, there),
            )


def _path(view: SetupView, row: Mapping[str, Any]) -> str:
    """The last of that name counts."""
    if not view.is_set(row["path"]) or view.flag(f"{row['path'].partition('.')[0]}.enabled") is False:
        return ""
    values = [
        word(item.get("value")) for item in mappings(view.value(row["path"])) if item.get("name") == row["variable"]
    ]
    return values[-1] if values else ""


def _files(view: SetupView, row: Mapping[str, Any]) -> Collection[str]:
    """Empty where nobody can tell, or the operator writes the variable itself."""
    config = row["config"]
    name = word(view.value(f"{config}.name")) if view.is_set(f"{config}.name") else ""
    if not name:
        assert view.values is not None, "a need of this rule"
        return () if view.values.partial else row["own"]
    if row.get("overridden"):
        return ()
    if view.value(f"{config}.create") is True:
        return tuple(mapping(view.value(f"{config}.data")))
    found = next((item for item in view.of_kind("ConfigMap", "") if item.own_name == name), None)
    return () if found is None else tuple(mapping(found.data.get("data")))
