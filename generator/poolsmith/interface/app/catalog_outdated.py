"""Use case: how old each table of the catalog is, and what a folder of vendors' files has that is newer. Offline."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError, UsageError
from poolsmith.core.diagnostics.message_text import counted, printable, shorten
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import STACK_CHARTS, active
from poolsmith.core.facts.table_merge import ENTRIES, TABLES, rows_of
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.chart_files import read_chart_files
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.gpu.importing.stack_charts import chart_about
from poolsmith.gpu.importing.table_import import record_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_RELEASES, _RELEASE_FILE = "releases", "releases.yaml"
_MOST_BYTES = 16 << 20
_MOST_FILES = 2000
_NUMBERED = pattern(r"(?:v|CVE-)?\d")


@record
class TableAge:
    """`as_of` is the day of the newest source; `rows` are those of packs too, `packs` who brings some."""

    table: str
    file: str
    rows: int
    newest: str
    as_of: str
    days: int
    source: str
    packs: tuple[str, ...] = ()


@record
class Newer:
    """What a file of a vendor has and the catalog has not; `command` takes it."""

    path: str
    table: str
    what: str
    command: str


@record
class Outdated:
    tables: tuple[TableAge, ...]
    newer: tuple[Newer, ...] = ()
    unread: tuple[str, ...] = ()
    """Files of the folder that say nothing of any table."""


def outdated(today: dt.date, folder: Path | None = None) -> Outdated:
    """Raises UsageError."""
    tables = tuple(_ages(today))
    if folder is None:
        return Outdated(tables=tables)
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    newer: list[Newer] = []
    unread: list[str] = []
    for path in sorted(folder.iterdir())[:_MOST_FILES]:
        found = _in_file(path)
        if found is None:
            unread.append(printable(path.name))
        else:
            newer += found
    return Outdated(tables=tables, newer=tuple(newer), unread=tuple(unread))


def outdated_json(found: Outdated) -> dict[str, Any]:
    return {
        "tables": [
            {
                "table": item.table,
                "file": item.file,
                "rows": item.rows,
                "newest": item.newest,
                "asOf": item.as_of,
                "days": item.days,
                "source": item.source,
                "packs": list(item.packs),
            }
            for item in found.tables
        ],
        "newer": [
            {"path": item.path, "table": item.table, "what": item.what, "command": item.command} for item in found.newer
        ],
        "unread": list(found.unread),
    }


def outdated_lines(found: Outdated) -> Iterator[str]:
    for item in found.tables:
        by = f"; packs {', '.join(item.packs)}" if item.packs else ""
        yield (
            f"{item.table:<24} {item.as_of}  {counted(item.days, 'day'):>9}  {item.rows:>3} rows"
            + (f", newest {printable(item.newest)}" if item.newest else "")
            + by
        )
        yield f"{'':<24} {printable(item.source)}"
    for newer in found.newer:
        yield f"newer     {newer.path}: {newer.table} {newer.what}; take it with `{newer.command}`"
    for name in found.unread:
        yield f"unread    {name}: no chart, index, record or list that a table is made of"


def _ages(today: dt.date) -> Iterator[TableAge]:
    for table, place in {_RELEASES: None, **TABLES}.items():
        file = place.file if place is not None else _RELEASE_FILE
        data = store.read_yaml(file)
        keys = list(data["releases"] if place is None else rows_of(table, data))
        as_of = max([data["asOf"], *(day for day in _days_of_packs(table))])
        yield TableAge(
            table=table,
            file=file,
            rows=len(keys),
            newest=_newest(keys),
            as_of=as_of,
            days=max((today - _day(as_of)).days, 0),
            source=_source(table, data),
            packs=tuple(
                pack.name for pack in active().packs if table in pack.tables or (place is None and pack.releases)
            ),
        )


def _days_of_packs(table: str) -> Iterator[str]:
    for pack in active().packs:
        day = pack.table(table).get("asOf")
        if isinstance(day, str):
            yield day


def _day(text: str) -> dt.date:
    """Of a month its first day."""
    return dt.date.fromisoformat(text if text.count("-") == 2 else f"{text}-01")  # noqa: PLR2004 - year, month, day


def _newest(keys: list[str]) -> str:
    """Empty where keys are names."""
    return max(keys, key=version_key) if all(_NUMBERED.match(key) for key in keys) else ""


def _source(table: str, data: dict[str, Any]) -> str:
    """Of a table itself, else of its file; of releases and distributions each row has its own."""
    if table in ("gpus", "product-labels"):
        return str(data["gpuSource"])
    if table == "vulnerabilities":
        return str(data["vulnerabilities"][-1]["source"])
    if table == "driver-branches":
        return str(data["branches"]["source"])
    if table == "kubernetes":
        return str(list(data["lines"].values())[-1]["source"])
    if table == "distributions":
        return "each row has its own, distributions.yaml"
    if table in (_RELEASES, "supported-lines"):
        return str(data["chart"]["source"])
    return str(data["source"])


def _in_file(path: Path) -> list[Newer] | None:
    """None for what no table is made of."""
    try:
        if path.is_symlink():
            return None
        if path.is_dir() or path.name.endswith((".tgz", ".tar.gz")):
            return _in_chart(path)
        if path.suffix not in (".json", ".yaml", ".yml") or path.stat().st_size > _MOST_BYTES:
            return None
        content = path.read_bytes()
        index = _index_of(content) if path.suffix != ".json" else None
        return _in_index(path, index) if index is not None else _in_record(path, content)
    except (OSError, PoolsmithError, UsageError):
        return None


def _in_chart(path: Path) -> list[Newer] | None:
    about = chart_about(read_chart_files(path))
    return list(_of_versions(path, str(about.get("name")), [str(about.get("version", ""))]))


def _index_of(content: bytes) -> dict[str, Any] | None:
    try:
        found = read_documents(content.decode())[0]
    except (YamlProblem, UnicodeDecodeError, IndexError):
        return None
    entries = found.get(ENTRIES) if isinstance(found, dict) and "table" not in found else None
    return entries if isinstance(entries, dict) else None


def _in_index(path: Path, entries: dict[str, Any]) -> list[Newer] | None:
    """The index of a Helm repository."""
    known = [name for name in (*CHART_OF, OPERATOR_CHART) if isinstance(entries.get(name), list)]
    if not known:
        return None
    return [
        newer
        for name in known
        for newer in _of_versions(
            path, name, [str(item["version"]) for item in entries[name] if isinstance(item, dict) and "version" in item]
        )
    ]


def _of_versions(path: Path, chart: str, versions: list[str]) -> Iterator[Newer]:
    table = _RELEASES if chart == OPERATOR_CHART else CHART_OF.get(chart)
    if table is None:
        raise UsageError(f"no table is made of the chart {chart}")
    newest = version_key(_known_versions(table)[-1])
    for version in sorted(set(versions), key=version_key):
        if version_key(version) > newest and "-" not in version:
            yield Newer(
                path=printable(path.name),
                table=table,
                what=printable(shorten(version)),
                command=f"poolsmith catalog import <chart {version}> --pack {chart}-{version.replace('.', '-')}",
            )


def _known_versions(table: str) -> list[str]:
    """Of a chart, the newest one last; those of one that was counted anew begin anew."""
    if table == _RELEASES:
        return sorted(store.read_yaml(_RELEASE_FILE)["releases"], key=version_key)
    if table in TABLES:
        return sorted(rows_of(table, store.read_yaml(TABLES[table].file)), key=version_key)
    return list(store.read_json(f"{STACK_CHARTS}/{table}.json")["tags"])


def _in_record(path: Path, content: bytes) -> list[Newer]:
    made = record_rows(content, path.name)
    found = []
    for table, rows in made.items():
        known = rows_of(table, store.read_yaml(TABLES[table].file))
        found += [
            Newer(
                path=printable(path.name),
                table=table,
                what=printable(shorten(key)),
                command=f"poolsmith catalog import {printable(path.name)} --pack <name>",
            )
            for key in rows
            if key not in known
        ]
    return found


def outdated_text(found: Outdated) -> str:
    return "".join(f"{line}\n" for line in outdated_lines(found))


def outdated_json_text(found: Outdated) -> str:
    return json.dumps({"version": 1, **outdated_json(found)}, indent=2) + "\n"
