"""Packs of rows, made from what vendors publish: a chart, a CVE record, OSV, a list of drivers, or rows by hand.

What a source does not say is not guessed: it is told as assumed, or refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError, UsageError
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import MANIFEST, STACK_CHARTS, TABLES
from poolsmith.core.facts.table_merge import CORRECTS, ENTRIES, rows_of
from poolsmith.core.facts.table_merge import TABLES as TABLE_NAMES
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.pack_tables import table_problem
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.gpu.importing.chart_entries import entry_text
from poolsmith.gpu.importing.chart_import import entry_from_chart
from poolsmith.gpu.importing.pack_import import MadePack, manifest_text
from poolsmith.gpu.importing.stack_charts import chart_about, mapping_in, stack_chart_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Rows = dict[str, Any]
_WITH_VALUES = ("kata-deploy", "dcgm-exporter")
_KEPT = ("release", "source", "kubeVersion", "defaults", "paths", "dead")
_EXPORTER_TAG = pattern(r"\d+\.\d+\.\d+-\d+\.\d+\.\d+")
_THROUGH = pattern(r"up to and including v?(\d{1,4}(?:\.\d{1,4}){1,2})")
_BEFORE = pattern(r"(?:prior to|before) v?(\d{1,4}(?:\.\d{1,4}){1,2})")
_TOOLKIT, _OPERATOR = ("container toolkit", "container-toolkit"), ("gpu operator", "gpu-operator")


def is_table_source(files: Mapping[str, bytes]) -> bool:
    """Whether a chart is one of those beside the operator's that are known."""
    return _chart_name(files) in CHART_OF


def chart_pack(files: Mapping[str, bytes], *, name: str, version: str = "1", release: str | None = None) -> MadePack:
    """A pack with one version of a chart: its row, where the chart has a table, and which values it reads.

    Raises PoolsmithError, UsageError.
    """
    chart = chart_about(files)
    table, number = CHART_OF[str(chart.get("name"))], str(chart.get("version", "")).removeprefix("v")
    source, made = f"chart {chart.get('name')} {number}", MadePack(name=name, release="")
    _take_values(made, table, number, dict(files), source)
    if table not in TABLE_NAMES:
        if not made.files:
            raise PoolsmithError(f"the catalog has all of this already: {table} {number}")
        return _finished(made, {}, source, version, None)
    facts = {"appVersion": str(chart.get("appVersion", number))}
    if table == "dcgm-exporter":
        facts["release"] = release or _exporter_release(files)
    elif table != "node-feature-discovery":
        facts["release"] = release or (f"v{number}" if table == "nvidia-device-plugin" else number)
    if (brought := _brought(chart)) is not None and table == "nvidia-device-plugin":
        facts["nodeFeatureDiscovery"] = brought
    if table in _WITH_VALUES:
        key = facts["release"]
        entry = entry_from_chart(dict(files), release=key)
        made.files[f"charts/{table}/{key}.json"] = entry_text(
            {name: entry[name] for name in _KEPT if name in entry}
        ).encode()
        made.taken.append(f"charts/{table}/{key}.json: {len(entry['paths'])} value paths")
    newest = max(rows_of(table, _built_in(table)), key=version_key)
    made.assumed.append(f"its templates install what those of {newest} do: compare it with `helm template`")
    return _finished(made, {table: {number: facts}}, source, version, None)


def _take_values(made: MadePack, table: str, number: str, files: dict[str, bytes], source: str) -> None:
    """Without templates nobody can say what is read."""
    has_templates = any(path.startswith("templates/") for path in files)
    if has_templates and number not in store.read_own_json(f"{STACK_CHARTS}/{table}.json")["tags"]:
        entry = stack_chart_entry({number: files}, source=source)
        path = f"{STACK_CHARTS}/{table}/{number}.json"
        made.files[path] = entry_text({key: entry[key] for key in ("source", "tags", "subcharts", "paths")}).encode()
        made.taken.append(f"{path}: {len(entry['paths'])} value paths")


def record_pack(content: bytes, shown: str, *, name: str, version: str = "1") -> MadePack:
    """A pack of a record (CVE, OSV), a list of drivers, or rows by hand. Raises PoolsmithError, UsageError."""
    found = _read(content, shown)
    made = MadePack(name=name, release="", unknown=list(found.unknown))
    return _finished(made, found.tables, found.source, version, found.day)


def record_rows(content: bytes, shown: str) -> dict[str, Rows]:
    """The rows that such a file has, by table. Raises PoolsmithError, UsageError."""
    return _read(content, shown).tables


@record
class _Found:
    tables: dict[str, Rows]
    source: str
    day: str | None
    unknown: tuple[str, ...] = ()


def _read(content: bytes, shown: str) -> _Found:
    document = _document(content, shown)
    if "cveMetadata" in document or document.get("dataType") == "CVE_RECORD":
        return _of_cve(document)
    if "affected" in document and "id" in document:
        return _of_osv(document)
    if "table" in document or "tables" in document:
        return _by_hand(document)
    if document and all(key.isdecimal() for key in document):
        return _of_drivers(document, shown)
    raise UsageError(
        f"{shown} is no CVE record, OSV, list of drivers, or rows of a table (`table`, `{ENTRIES}`, `source`)"
    )


def _by_hand(document: Mapping[str, Any]) -> _Found:
    """Rows of one table (`table`, `entries`), or of several that need each other (`tables`)."""
    tables = document["tables"] if "tables" in document else {str(document["table"]): document.get(ENTRIES)}
    source, day = document.get("source"), document.get("asOf")
    if (
        not isinstance(tables, dict)
        or not set(tables) <= set(TABLE_NAMES)
        or not all(isinstance(rows, dict) and rows for rows in tables.values())
        or not isinstance(source, str)
    ):
        raise UsageError(
            f"rows need `table` ({', '.join(TABLE_NAMES)}), `source`, and `{ENTRIES}`, a mapping of rows by their key; "
            "or `tables`, such mappings by table"
        )
    return _Found(tables=tables, source=source, day=None if day is None else str(day))


def _finished(made: MadePack, tables: Mapping[str, Rows], source: str, version: str, day: str | None) -> MadePack:
    for table, rows in tables.items():
        known = rows_of(table, _built_in(table))
        new = {key: facts for key, facts in rows.items() if not _is_known(facts, known.get(key))}
        corrected = sorted(key for key in new if key in known)
        if not new:
            raise PoolsmithError(f"the catalog has all of this already: {listed(sorted(rows))}")
        content = {"source": source, "asOf": day, ENTRIES: new, **({CORRECTS: corrected} if corrected else {})}
        if problem := table_problem(table, content):
            raise PoolsmithError(f"the table {table}: {problem}")
        made.files[f"{TABLES}/{table}.json"] = entry_text(content).encode()
        made.taken.append(f"{TABLES}/{table}.json: {listed(sorted(new))}")
        made.assumed += [f"the pack knows better than the built-in fact: {key}" for key in corrected]
    made.files[MANIFEST] = manifest_text(made, version, source).encode()
    return made


_OF_RECORDS = ("source", "published")
"""What says of a row where it was read, and decides nothing."""


def _is_known(facts: Any, built_in: Any) -> bool:
    if isinstance(facts, dict) and isinstance(built_in, dict):
        return all(built_in.get(key) == value for key, value in facts.items() if key not in _OF_RECORDS)
    return built_in is not None and facts == built_in


def _built_in(table: str) -> dict[str, Any]:
    return store.read_own_yaml(TABLE_NAMES[table].file)


def _document(content: bytes, shown: str) -> dict[str, Any]:
    try:
        found = json.loads(content) if content.lstrip()[:1] == b"{" else read_documents(content.decode())[0]
    except (ValueError, RecursionError, YamlProblem, IndexError):
        raise UsageError(f"{shown} is neither JSON nor YAML that can be read") from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise UsageError(f"{shown} holds no mapping")
    return found


def _of_cve(document: Mapping[str, Any]) -> _Found:
    """Of a record's own words: `up to and including 1.19.0` ends before 1.19.1."""
    metadata = _part(document, "cveMetadata")
    body = _part(_part(document, "containers"), "cna")
    identifier, fixed = str(metadata.get("cveId")), dict[str, str]()
    for item in _items(body.get("affected")):
        for affected in _items(item.get("versions")):
            said = f"{item.get('product', '')} {affected.get('version', '')}".lower()
            first = _first_fixed(affected, said)
            for part, names in (("operator", _OPERATOR), ("toolkit", _TOOLKIT)):
                if first is not None and any(name in said for name in names) and part not in fixed:
                    fixed[part] = first
                    break
    row = _row(identifier, fixed, _is_critical(body), metadata.get("datePublished"))
    day = _day(metadata.get("dateUpdated") or metadata.get("datePublished"))
    return _Found(tables={"vulnerabilities": {identifier: row}}, source=f"CVE record {shorten(identifier)}", day=day)


def _first_fixed(affected: Mapping[str, Any], said: str) -> str | None:
    if affected.get("status", "affected") != "affected":
        return None
    if isinstance(less := affected.get("lessThan"), str):
        return less.removeprefix("v")
    if isinstance(through := affected.get("lessThanOrEqual"), str):
        return _next(through.removeprefix("v"))
    if match := _THROUGH.search(said):
        return _next(match[1])
    match = _BEFORE.search(said)
    return match[1] if match else None


def _next(version: str) -> str:
    """The least version after one, of three numbers."""
    numbers = [*version_key(version), 0, 0][:3]
    return ".".join(map(str, (*numbers[:2], numbers[2] + 1)))


def _of_osv(document: Mapping[str, Any]) -> _Found:
    aliases = [item for item in (document.get("aliases") or []) if isinstance(item, str) and item.startswith("CVE-")]
    identifier = (
        str(document["id"]) if str(document["id"]).startswith("CVE-") else next(iter(aliases), str(document["id"]))
    )
    fixed: dict[str, str] = {}
    for item in _items(document.get("affected")):
        package = str(_part(item, "package").get("name", "")).lower()
        events = [event for one in _items(item.get("ranges")) for event in _items(one.get("events"))]
        first = next((str(event["fixed"]).removeprefix("v") for event in events if "fixed" in event), None)
        for part, names in (("operator", _OPERATOR), ("toolkit", _TOOLKIT)):
            if first is not None and any(name in package for name in names):
                fixed.setdefault(part, first)
    row = _row(identifier, fixed, critical=False, published=document.get("published"))
    day = _day(document.get("modified") or document.get("published"))
    source = f"OSV {shorten(str(document['id']))}"
    return _Found(tables={"vulnerabilities": {identifier: row}}, source=source, day=day)


def _row(identifier: str, fixed: Mapping[str, str], critical: bool, published: object) -> dict[str, Any]:
    """What only one of the two is told for follows from the toolkit that each release brings."""
    found = dict(fixed)
    if "toolkit" not in found:
        raise PoolsmithError(
            f"{shorten(identifier)} names no version of the container toolkit, and no other component is judged by "
            "records"
        )
    operator = found.get("operator") or _operator_with(found["toolkit"])
    row: dict[str, Any] = {"toolkit": _three(found["toolkit"])}
    if operator is not None:
        row["operator"] = f"v{_three(operator)}"
    if day := _day(published):
        row["published"] = day
    if critical:
        row["critical"] = True
    return {**row, "source": f"record {shorten(identifier)}"}


def _operator_with(toolkit: str) -> str | None:
    """The first known release that brings such a toolkit; None where it is newer than those of all."""
    runs = store.read_json("values/images.json")["images"]["toolkit.version"]
    found = next((tag for tag, image in runs if version_key(str(image).split("-")[0]) >= version_key(toolkit)), None)
    return None if found is None else str(found).removeprefix("v")


def _three(version: str) -> str:
    return ".".join(map(str, [*version_key(version), 0, 0][:3]))


def _is_critical(body: Mapping[str, Any]) -> bool:
    scores = [
        _part(item, key).get("baseSeverity") for item in _items(body.get("metrics")) for key in item if "cvss" in key
    ]
    return "CRITICAL" in scores


def _of_drivers(document: Mapping[str, Any], shown: str) -> _Found:
    """The vendor's releases.json: branches with their designation. When they end it does not say."""
    known = rows_of("driver-branches", _built_in("driver-branches"))
    rows = {
        branch: {"designation": str(entry["type"]), "ends": None}
        for branch, entry in document.items()
        if branch not in known and isinstance(entry, dict) and "type" in entry
    }
    if not rows:
        raise PoolsmithError(f"{shown} has no branch that the catalog does not know")
    return _Found(
        tables={"driver-branches": rows},
        source=f"releases.json of the vendor's drivers ({shorten(shown)})",
        day=None,
        unknown=("when these branches end: correct `ends` by rows of the table driver-branches",),
    )


def _exporter_release(files: Mapping[str, bytes]) -> str:
    """As its values pin the image: DCGM's version, and the exporter's."""
    image = _part(mapping_in(files, "values.yaml"), "image").get("tag")
    match = _EXPORTER_TAG.match(str(image))
    if match is None:
        raise UsageError("the chart's image has no tag like 4.5.3-4.8.2: give --release")
    return match[0]


def _brought(chart: Mapping[str, Any]) -> str | None:
    found = (
        str(item.get("version"))
        for item in _items(chart.get("dependencies"))
        if item.get("name") == "node-feature-discovery"
    )
    return next(found, None)


def _chart_name(files: Mapping[str, bytes]) -> object:
    try:
        return chart_about(files).get("name")
    except PoolsmithError:
        return None


def _part(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def _items(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _day(value: object) -> str | None:
    text = value[:10] if isinstance(value, str) else ""
    return text if pattern(r"20\d{2}-\d{2}-\d{2}").fullmatch(text) else None
