"""Shared data files with what packs add to them: at places that belong to a release or a line of theirs, and rows.

Of a release nothing that is there already is replaced, so that no other release reads anything else than before. A row
of a table may correct one that is built in (`table_merge`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.packs import ENTRIES, FACTS, STACK_CHARTS, VALUES
from poolsmith.core.facts.table_merge import with_rows
from poolsmith.core.facts.versions import line_of, version_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.core.facts.packs import Pack, Packs

Data = dict[str, Any]
_DISCOVERY = "node-feature-discovery"
LIKE = "like"
"""In facts: the release, or the line, whose shared facts hold for the new one too."""

OF_LINE = ("line", "matrix", "supported")
"""In facts: what is said of a whole line, which only a new one may have."""


def lines_in(pack: Pack) -> dict[str, tuple[str, list[Any]]]:
    """What a pack says of lines: a release of each, and the facts."""
    found = {}
    for tag in sorted(pack.releases, key=version_key, reverse=True):
        facts = pack.entry(FACTS, tag)
        if "release" in facts:
            found[line_of(tag)] = tag, [facts.get(key) for key in OF_LINE]
    return found


def merged(name: str, data: Data, packs: Packs) -> Data:
    """A data file, read afresh, by its name. Raises KeyError, TypeError, ValueError over packs of another form."""
    merge = _MERGES.get(name)
    for pack in packs.packs if merge is not None else ():
        for tag in sorted(pack.releases, key=version_key):
            data = merge(data, tag, pack)  # type: ignore[misc]  # there is one
    for pack in packs.packs:
        data = with_rows(name, data, pack)
        for chart, version in pack.charts if name.startswith(STACK_CHARTS) else ():
            if name == f"{STACK_CHARTS}/{chart}.json":
                data = _stack_chart(data, version, pack.entry(f"{STACK_CHARTS}/{chart}", version))
    return data


def _stack_chart(data: Data, version: str, own: Data) -> Data:
    for name, item in own["subcharts"].items():
        known = data["subcharts"].setdefault(name, {**item, "versions": {}})
        known["versions"][version] = item["versions"][version]
    return _with_paths(data, version, own)


def tags_with(tags: list[str], added: str) -> list[str]:
    """In their order, which is not that of numbers where a chart was counted anew: after the newest one before it."""
    older = [tag for tag in tags if version_key(tag) < version_key(added)]
    at = tags.index(max(older, key=version_key)) + 1 if older else 0
    return [*tags[:at], added, *tags[at:]]


def tags_of(text: str | None, tags: list[str]) -> Iterator[str]:
    """The tags of runs."""
    if text == "all":
        yield from tags
        return
    for run in (text or "").split():
        first, _, last = run.partition("..")
        yield from tags[tags.index(first) : tags.index(last or first) + 1]


def range_text(found: Iterable[str], tags: list[str]) -> str | None:
    """As runs; None for no tag at all."""
    wanted, runs = set(found), list[list[str]]()
    if len(wanted) == len(tags):
        return "all"
    for index, tag in enumerate(tags):
        if tag not in wanted:
            continue
        if runs and tags[index - 1] == runs[-1][-1]:
            runs[-1].append(tag)
        else:
            runs.append([tag])
    return " ".join(run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs) or None


def _releases(data: Data, tag: str, pack: Pack) -> Data:
    facts = pack.entry(FACTS, tag)
    if "release" in facts:
        line = facts["release"]["line"]
        if line != line_of(tag):
            raise ValueError(f"{tag} is no release of the line {line}")
        data["releases"].setdefault(tag, facts["release"])
        if line not in data["lines"]:
            data["lines"] = sorted((*data["lines"], line), key=version_key)
            if facts.get("supported"):
                data["supported"].setdefault(line, tag)
    return data


def _line(data: Data, tag: str, pack: Pack) -> Data:
    """A new line has what an older one has, wherever a file names lines."""
    like = pack.entry(FACTS, tag).get("line", {}).get(LIKE)
    return data if like is None else _with_name(data, line_of(tag), like)


def _tag(data: Data, tag: str, pack: Pack) -> Data:
    like = pack.entry(FACTS, tag).get(LIKE)
    return data if like is None else _with_name(data, tag, like)


def _with_name(node: Any, name: str, like: str) -> Any:
    """A tree in which a name stands beside another: in each list that has it, and as a key with the same content."""
    if isinstance(node, list):
        more = [name] if like in node and name not in node else []
        return [*(_with_name(item, name, like) for item in node), *more]
    if not isinstance(node, dict):
        return node
    copied = {key: _with_name(value, name, like) for key, value in node.items()}
    return {**copied, name: copied[like]} if like in copied and name not in copied else copied


def _matrix(data: Data, tag: str, pack: Pack) -> Data:
    matrix = pack.entry(FACTS, tag).get("matrix")
    if matrix is not None:
        data["lines"].setdefault(line_of(tag), matrix)
    return data


def _chart_version(data: Data, tag: str, pack: Pack) -> Data:
    """Only where somebody says that the templates do what those of another release do."""
    facts = pack.entry(FACTS, tag)
    if facts.get(LIKE) in data["versions"] and "chart" in facts:
        data["versions"].setdefault(tag, facts["chart"])
        data["versions"] = dict(sorted(data["versions"].items(), key=lambda item: version_key(item[0])))
    return data


def _discovery_version(data: Data, tag: str, pack: Pack) -> Data:
    facts = pack.entry(FACTS, tag)
    version = facts.get("chart", {}).get("nodeFeatureDiscovery") if LIKE in facts else None
    if version is not None:
        data["versions"].setdefault(version, {"appVersion": f"v{version}"})
        data["versions"] = dict(sorted(data["versions"].items(), key=lambda item: version_key(item[0])))
    return data


def _value_paths(data: Data, tag: str, pack: Pack) -> Data:
    own = pack.entry(VALUES, tag)
    if not own or tag in data["tags"]:
        return data
    for chart, versions in own["subcharts"].items():
        data["subcharts"].setdefault(chart, {})[tag] = versions[tag]
    return _with_paths(data, tag, own)


def _with_paths(data: Data, tag: str, own: Data) -> Data:
    """Runs of tags (`v23.3.0..v24.9.2 v26.7.0`, or `all`) with one more, where the entry of its own has it."""
    before = list(data["tags"])
    tags = tags_with(before, tag)
    for path in sorted(data["paths"].keys() | own["paths"].keys()):
        here = own["paths"].get(path, {})
        fact = data["paths"].setdefault(path, {key: value for key, value in here.items() if key not in _RANGED})
        for key in _RANGED:
            text = range_text((*tags_of(fact.pop(key, None), before), *([tag] if key in here else ())), tags)
            if text is not None:
                fact[key] = text
    data["paths"] = dict(sorted(data["paths"].items()))
    data["tags"] = tags
    return data


_RANGED = ("read", "declared", "dead", "free")
_IMAGE = ("repository", "image", "version")


def _images(data: Data, tag: str, pack: Pack) -> Data:
    """Runs of [first tag, value]: one of its own for the release, after which it goes on as before."""
    defaults = pack.entry(ENTRIES[0], tag).get("defaults")
    if defaults is None:
        return data
    values = dict(_image_values({key: value for key, value in defaults.items() if key != _DISCOVERY}))
    for path in sorted(data["images"].keys() | values.keys()):
        runs = data["images"].get(path, [])
        earlier = [run for run in runs if version_key(run[0]) < version_key(tag)]
        later = [run for run in runs if version_key(run[0]) > version_key(tag)]
        before, value = earlier[-1][1] if earlier else None, values.get(path)
        if len(earlier) + len(later) == len(runs) and value != before:
            data["images"][path] = [*earlier, [tag, value], [_next(tag), before], *later]
    return data


def _next(tag: str) -> str:
    """A version right after a tag, before every other release."""
    return f"{tag}.0"


def _image_values(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str | None]]:
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key in _IMAGE and (value is None or isinstance(value, str)):
            yield ".".join((*path, key)), value
        else:
            yield from _image_values(value, (*path, key))


_MERGES: dict[str, Callable[[Data, str, Pack], Data]] = {
    "releases.yaml": _releases,
    "distributions.yaml": _line,
    "driver_images.yaml": _line,
    "server_defaults.yaml": _tag,
    "chart_nulls.yaml": _tag,
    "platforms.yaml": _matrix,
    "chart_workloads/gpu_operator.yaml": _chart_version,
    "chart_workloads/node_feature_discovery.yaml": _discovery_version,
    "chart_values.json": _value_paths,
    "values/images.json": _images,
}
