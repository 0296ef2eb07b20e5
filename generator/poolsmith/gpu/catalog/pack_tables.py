"""Rows of tables in packs: of which form they have to be, and which of them correct what is built in.

A pack is a stranger's text, so that each field is checked before a reader of the catalog sees it.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, joined, listed, shorten
from poolsmith.core.facts import store
from poolsmith.core.facts.table_merge import CORRECTS, ENTRIES, TABLES, rows_of
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.catalog.gpus import gpus_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.facts.packs import Pack

Check = "Callable[[Any], bool]"
_MOST_ROWS = 500
_LONGEST = 300


def _text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable()


def _matches(expression: str) -> Callable[[Any], bool]:
    compiled = pattern(expression)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _one_of(*words: object) -> Callable[[Any], bool]:
    return lambda value: any(value is word or (isinstance(word, str) and value == word) for word in words)


def _or_nothing(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) <= _MOST_ROWS and all(map(check, value))


def _fields(**checks: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict) and all(key in checks and checks[key](item) for key, item in value.items())
    )


def _is_day(value: Any) -> bool:
    """A day that the calendar has, or a month."""
    if not _MONTH(value[:7] if isinstance(value, str) else value):
        return False
    try:
        return bool(dt.date.fromisoformat(f"{value}-01" if _MONTH(value) else value))
    except ValueError:
        return False


_FLAG = _one_of(True, False)
_DRIVER = _matches(r"[1-9]\d{2}(\.\d{1,3}){0,2}")
_BRANCH = _matches(r"[1-9]\d{2}")
_NUMBERS = _matches(r"\d{1,4}(\.\d{1,4}){1,2}")
_THREE = _matches(r"\d{1,4}(\.\d{1,4}){2}")
_TAG = _matches(r"v\d{1,4}(\.\d{1,4}){2}")
_MINOR = _matches(r"1\.\d{1,3}")
_MONTH = _matches(r"20\d{2}-(0[1-9]|1[0-2])")
_WORD = _matches(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_PATH = _matches(r"(/[A-Za-z0-9_.-]{1,64}){1,12}")
_CHART_VERSION = _matches(r"v?\d{1,4}(\.\d{1,4}){1,2}([+-][A-Za-z0-9.+-]{1,40})?")
_MODULES = _one_of("required", "supported", "allowed", "unsupported")
_DEVICE = _fields(id=_matches(r"[0-9a-f]{4}"), name=_or_nothing(_text), resource=_or_nothing(_text))


@record(kw_only=False)
class Form:
    """`needed` are the fields of a new row; a correction names what it changes. `key`: what a key looks like."""

    key: Callable[[Any], bool]
    fields: dict[str, Callable[[Any], bool]]
    needed: tuple[str, ...] = ()
    whole: Callable[[Any], bool] | None = None
    """Where a row is no mapping."""


_CHART = Form(
    _CHART_VERSION,
    {"appVersion": _CHART_VERSION, "release": _CHART_VERSION, "nodeFeatureDiscovery": _CHART_VERSION},
    ("appVersion",),
)
_OF_RELEASES = Form(_CHART.key, _CHART.fields, ("appVersion", "release"))
FORMS: dict[str, Form] = {
    "architectures": Form(
        _matches(r"[a-z][a-z0-9_]{1,40}"),
        {
            "open": _MODULES,
            "proprietary": _MODULES,
            "capability": _or_nothing(_NUMBERS),
            "firstBranch": _or_nothing(_BRANCH),
            "lastBranch": _or_nothing(_BRANCH),
        },
        ("open", "proprietary", "lastBranch"),
    ),
    "gpus": Form(
        _text,
        {
            "architecture": _WORD,
            "devices": _list_of(_DEVICE),
            "mig": _one_of(True, False, "unknown"),
            "migProfiles": _list_of(_matches(r"[0-9][a-z0-9.+-]{1,30}")),
            "migMinDriver": _DRIVER,
            "minDriver": _DRIVER,
            "processor": _WORD,
        },
        ("architecture", "mig"),
    ),
    "product-labels": Form(_WORD, {}, whole=_text),
    "driver-branches": Form(
        _BRANCH,
        {"designation": _or_nothing(_text), "ends": _or_nothing(_MONTH), "ended": _FLAG},
        ("designation", "ends"),
    ),
    "vulnerabilities": Form(
        _matches(r"CVE-\d{4}-\d{4,7}"),
        {"toolkit": _THREE, "operator": _TAG, "published": _is_day, "critical": _FLAG, "source": _text},
        ("toolkit", "source"),
    ),
    "supported-lines": Form(_MINOR_LINE := _matches(r"\d{2}\.\d{1,2}"), {}, whole=_TAG),
    "kubernetes": Form(_MINOR_LINE, {}, whole=lambda value: _list_of(_MINOR)(value) and len(value) == 2),  # noqa: PLR2004 - low and high
    "distributions": Form(
        _matches(r"[a-z][a-z0-9-]{1,40}"),
        {
            "like": _WORD,
            "kubernetes": _WORD,
            "provisioners": _list_of(_WORD),
            "kubeletRoot": _PATH,
            "restart": _text,
            "containerd": _fields(config=_PATH, socket=_PATH, dropIn=_PATH),
            "source": _text,
        },
        ("like", "source"),
    ),
    "dra-gates": Form(
        _matches(r"[A-Z][A-Za-z0-9]{2,60}"),
        {
            "maturity": _one_of("ga", "beta", "alpha"),
            "conflicts": _list_of(_WORD),
            "without": _list_of(_WORD),
            "needs": _WORD,
            "variable": _WORD,
            "since": _matches(r"\d{1,3}\.\d{1,3}"),
        },
        ("maturity",),
    ),
    "kata-deploy": _OF_RELEASES,
    "nvidia-device-plugin": _OF_RELEASES,
    "dcgm-exporter": _OF_RELEASES,
    "node-feature-discovery": _CHART,
}


_ALL = _one_of("all")
_VALUE = _fields(
    type=_one_of("any", "array", "boolean", "integer", "number", "object", "string", "int-or-string"),
    read=_ALL,
    declared=_ALL,
    dead=_ALL,
    free=_ALL,
    enum=_list_of(_text),
    quoted=_FLAG,
)
_VALUE_PATH = _matches(r"[A-Za-z0-9_*/-]{1,64}(\.[A-Za-z0-9_*/-]{1,64}){0,31}")
_MOST_PATHS = 5000


def chart_problem(content: Mapping[str, Any], version: str) -> str | None:
    """What is wrong with the values of one version of a chart beside the operator's; None for a sound file."""
    paths, subcharts = content.get("paths"), content.get("subcharts")
    if not _CHART_VERSION(version):
        return "its name is no version of a chart"
    if not isinstance(paths, dict) or not 0 < len(paths) <= _MOST_PATHS or content.get("tags") != [version]:
        return f"it needs `tags: [{version}]` and `paths`, at most {_MOST_PATHS}"
    if not _text(content.get("source")) or set(content) > {"source", "tags", "subcharts", "paths"}:
        return "it needs `source`, and has no more fields than `tags`, `subcharts` and `paths`"
    inner = _fields(chart=_WORD, versions=_fields(**{version: _text}), conditions=_list_of(_VALUE_PATH))
    if not isinstance(subcharts, dict) or not all(map(_WORD, subcharts)) or not all(map(inner, subcharts.values())):
        return "`subcharts` is not what the catalog has of a chart"
    return next(
        (
            f"`{shorten(path)}` is no value path, or has facts that a path can't have"
            for path, fact in paths.items()
            if not (_VALUE_PATH(path) and _VALUE(fact))
        ),
        None,
    )


def table_problem(name: str, content: Mapping[str, Any]) -> str | None:
    """What is wrong with a file of rows; None for a sound one."""
    return next(_problems(name, content), None)


def _problems(name: str, content: Mapping[str, Any]) -> Iterator[str]:
    if name not in TABLES:
        yield f"there is no table `{shorten(name)}`; {did_you_mean(name, TABLES)}"
        return
    rows, corrects = content.get(ENTRIES), content.get(CORRECTS, [])
    yield from _of_head(content)
    if not isinstance(rows, dict) or not rows or len(rows) > _MOST_ROWS:
        yield f"`{ENTRIES}` is no mapping of 1 to {_MOST_ROWS} rows"
        return
    if not _list_of(_text)(corrects) or not set(corrects) <= set(rows):
        yield f"`{CORRECTS}` is no list of rows of this file"
        return
    known = rows_of(name, store.read_own_yaml(TABLES[name].file))
    for key, facts in rows.items():
        yield from _of_row(name, key, facts, known)
        if key not in known and (other := _other_name(name, key)) is not None:
            yield f"`{shorten(key)}` is the built-in `{other}` by another name"
        if key in known and key not in corrects:
            yield f"`{shorten(key)}` is built in: list it under `{CORRECTS}` if this pack knows better"
        if key not in known and key in corrects:
            yield f"`{shorten(key)}` is not built in, so that nothing of it is corrected"


def _other_name(table: str, key: str) -> str | None:
    """The built-in product that is found under a key, too: names are compared without prefixes and separators."""
    if table not in ("gpus", "product-labels"):
        return None
    found = gpus_from(store.read_own_yaml("gpus.yaml")).find(key)
    return found.product if found is not None else None


def _of_head(content: Mapping[str, Any]) -> Iterator[str]:
    if unknown := sorted(set(content) - {"source", "asOf", ENTRIES, CORRECTS}):
        yield f"`{shorten(unknown[0])}` is no field of a table's file"
    if not _text(content.get("source")):
        yield "`source` does not say what the rows were read from"
    if not _or_nothing(_is_day)(content.get("asOf")):
        yield "`asOf` is no day like 2026-09-15"


def _of_row(name: str, key: str, facts: Any, known: Mapping[str, Any]) -> Iterator[str]:
    form = FORMS[name]
    if not form.key(key):
        yield f"`{shorten(key)}` is no key of the table {name}"
    elif form.whole is not None:
        if not form.whole(facts):
            yield f"the row `{shorten(key)}` is not what the table {name} holds"
        elif name == "kubernetes" and key not in known:
            yield f"`{key}` is no built-in line of releases: a pack of a release has its own `matrix`"
    elif not isinstance(facts, dict):
        yield f"the row `{shorten(key)}` is no mapping"
    else:
        yield from _of_fields(key, facts, form, known)
        if name == "distributions":
            yield from _of_distribution(key, facts, known)


def _of_distribution(key: str, facts: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    tools = {tool for row in known.values() for tool in row["provisioners"]}
    if key not in known and facts.get("like") not in known:
        yield f"`like` of `{shorten(key)}` names no built-in distribution"
    asked = facts.get("provisioners", ())
    if unknown := [tool for tool in asked if tool not in tools] if isinstance(asked, list) else []:
        name = str(unknown[0])
        yield f"nothing is known of the tool `{shorten(name)}`; {did_you_mean(name, sorted(tools))}"


def _of_fields(key: str, facts: Mapping[str, Any], form: Form, known: Mapping[str, Any]) -> Iterator[str]:
    for field, value in facts.items():
        if field not in form.fields:
            near = did_you_mean(field, form.fields)
            yield f"`{shorten(field)}` of `{shorten(key)}` is no field of this table; {near}"
        elif not form.fields[field](value):
            held = next((repr(row[field]) for row in known.values() if row.get(field) not in (None, [], {})), "")
            like = f"; another row has {shorten(held)}" if held else ""
            yield f"`{field}` of `{shorten(key)}` has a value that this table can't hold{like}"
    missing = [field for field in form.needed if field not in facts]
    if key not in known and missing:
        yield f"`{shorten(key)}` lacks {listed(missing)}"


def corrections(pack: Pack) -> Iterator[tuple[str, str, str]]:
    """Table, key, and what a pack says otherwise than what is built in, in words."""
    for name in pack.tables:
        content = pack.table(name)
        known = rows_of(name, store.read_own_yaml(TABLES[name].file))
        for key in content.get(CORRECTS, ()):
            yield name, key, _difference(known[key], content[ENTRIES][key])


def _difference(before: Any, after: Any) -> str:
    if not isinstance(after, dict):
        return f"`{_shown(after)}`, and not `{_shown(before)}`"
    changed = [
        f"`{field}: {_shown(value)}`, and not `{_shown(before.get(field))}`"
        for field, value in after.items()
        if before.get(field) != value
    ]
    return joined(changed, len(changed)) if changed else "nothing else than what is built in"


def _shown(value: Any) -> str:
    return shorten(re.sub(r"\s+", " ", str(value)))
