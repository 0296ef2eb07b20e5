"""Rows that packs add to the tables of the data files, or correct in them.

A row has a key; one whose key is built in corrects it, and its pack has to say so. What a row does not name stays.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.versions import line_of, version_key
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.facts.packs import Pack

Data = dict[str, Any]
ENTRIES, CORRECTS = "entries", "corrects"
LIKE = "like"


@record(kw_only=False)
class Table:
    """Where rows stand: below `place` of a data file, as a mapping, or as a list whose items have a key in `key`."""

    file: str
    place: str
    key: str | None = None
    by_version: bool = False


TABLES: dict[str, Table] = {
    "architectures": Table("gpus.yaml", "architectures"),
    "gpus": Table("gpus.yaml", "gpus", "product"),
    "product-labels": Table("gpus.yaml", "productLabels"),
    "driver-branches": Table("support/limits.yaml", "branches"),
    "vulnerabilities": Table("support/limits.yaml", "vulnerabilities", "ids"),
    "supported-lines": Table("releases.yaml", "supported"),
    "kubernetes": Table("platforms.yaml", "lines"),
    "distributions": Table("distributions.yaml", "distributions", "name"),
    "dra-gates": Table("dra.yaml", "gates"),
    "kata-deploy": Table("chart_workloads/kata_deploy.yaml", "versions", by_version=True),
    "nvidia-device-plugin": Table("chart_workloads/nvidia_device_plugin.yaml", "versions", by_version=True),
    "dcgm-exporter": Table("chart_workloads/dcgm_exporter.yaml", "versions", by_version=True),
    "node-feature-discovery": Table("chart_workloads/node_feature_discovery.yaml", "versions", by_version=True),
}
"""By the name of a file below `tables/` of a pack."""
_RANGES, _SUPPORTED, _LIST = "kubernetes", "supported-lines", "ids"


def rows_of(table: str, data: Data) -> dict[str, Any]:
    """The rows of a table by their keys, as the data file has them; a line without support is a row, too."""
    found = TABLES[table]
    if table == _RANGES:
        return {line: _range_of(entry) for line, entry in data["lines"].items()}
    if table == _SUPPORTED:
        return {line: data["supported"].get(line) for line in data["lines"]}
    rows = data[found.place]
    if found.key is None:
        return {str(key): value for key, value in rows.items() if table != "driver-branches" or str(key).isdecimal()}
    return {key: row for row in rows for key in _keys(row, found.key)}


def _keys(row: Mapping[str, Any], field: str) -> list[str]:
    value = row[field]
    return value if isinstance(value, list) else [value]


def with_rows(name: str, data: Data, pack: Pack) -> Data:
    """A data file, read afresh, with the rows of a pack. Raises KeyError, TypeError over rows of another form."""
    for table in pack.tables:
        place = TABLES.get(table)
        rows = pack.table(table).get(ENTRIES, {}) if place is not None else {}
        if place is not None and place.file == name:
            data = _MERGES.get(table, _merge)(data, place, rows)
        elif table == _RANGES and name == "releases.yaml":
            data = _release_ranges(data, rows)
    return data


def _merge(data: Data, place: Table, rows: Mapping[str, Any]) -> Data:
    there = data[place.place]
    if place.key is None:
        for key, facts in rows.items():
            old = there.get(key)
            there[key] = {**old, **facts} if isinstance(old, dict) and isinstance(facts, dict) else facts
        if place.by_version:
            data[place.place] = dict(sorted(there.items(), key=lambda item: version_key(item[0])))
        return data
    for key, facts in rows.items():
        known = next((row for row in there if key in _keys(row, place.key)), None)
        if known is None:
            there.append({place.key: [key] if place.key == _LIST else key, **facts})
        else:
            known.update(facts)
    return data


def _vulnerabilities(data: Data, place: Table, rows: Mapping[str, Any]) -> Data:
    """Oldest fix first, as those that are built in."""
    data = _merge(data, place, rows)
    data[place.place].sort(key=lambda row: ("operator" not in row, version_key(row.get("operator", row["toolkit"]))))
    return data


def _supported(data: Data, place: Table, rows: Mapping[str, Any]) -> Data:
    """Oldest line first, as texts that advise a release go by."""
    data = _merge(data, place, rows)
    data[place.place] = dict(sorted(data[place.place].items(), key=lambda item: version_key(item[0])))
    return data


def _gpus(data: Data, place: Table, rows: Mapping[str, Any]) -> Data:
    known = rows_of("gpus", data)
    return _merge(
        data, place, {key: facts if key in known else {"devices": [], **facts} for key, facts in rows.items()}
    )


def _distributions(data: Data, place: Table, rows: Mapping[str, Any]) -> Data:
    """A new one is like a known one, but for what its row says."""
    known = rows_of("distributions", data)
    made = {}
    for key, facts in rows.items():
        changes = {name: value for name, value in facts.items() if name not in (LIKE, "containerd")}
        like = known[key] if key in known else known[facts[LIKE]]
        made[key] = {**deepcopy(like), "name": key, **changes}
        for rule in made[key]["runtimes"].get("containerd", ()) if "containerd" in facts else ():
            rule.pop("unknown", None)
            rule.update({"env": rule.get("env", []), **facts["containerd"]})
    return _merge(data, place, made)


def _ranges(data: Data, place: Table, rows: Mapping[str, Any]) -> Data:
    """A line that is supported up to a newer Kubernetes: each cell that went as far as the line did."""
    del place
    for line, (low, high) in rows.items():
        last = _range_of(data["lines"][line])[1]
        for cell in _cells(data["lines"][line]):
            cell[1] = high if cell[1] == last else cell[1]
            cell[0] = max(cell[0], low, key=version_key)
    return data


def _cells(entry: Data) -> Iterator[list[str]]:
    for row in entry["rows"]:
        yield from (cell for name, cell in row.items() if name not in ("os", "versions", "own"))


def _range_of(entry: Data) -> list[str]:
    cells = list(_cells(entry))
    return [min((cell[0] for cell in cells), key=version_key), max((cell[1] for cell in cells), key=version_key)]


def _release_ranges(data: Data, rows: Mapping[str, Any]) -> Data:
    for tag, entry in data["releases"].items():
        if line_of(tag) in rows and entry["kubernetes"] is not None:
            entry["kubernetes"] = list(rows[line_of(tag)])
    return data


_MERGES: dict[str, Callable[[Data, Table, Mapping[str, Any]], Data]] = {
    "vulnerabilities": _vulnerabilities,
    "gpus": _gpus,
    "supported-lines": _supported,
    "distributions": _distributions,
    "kubernetes": _ranges,
}
