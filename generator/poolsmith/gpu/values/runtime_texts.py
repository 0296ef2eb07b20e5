"""Configurations of containerd and of the container toolkit, and CDI specifications: what makes them say nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, kind_of, nearest, shorten
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.gpu.values.text_mistake import TextMistake

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLES = pattern(r"^[ \t]*+\[{1,2}[ \t]*+(plugins|nvidia-container-(?:runtime|cli))\b", re.MULTILINE)
_LINE = pattern(r"\s*+(?:\[.*\]|[\w.\"'-]+\s*+=.*|[\]}\"'].*)\s*+(?:#.*)?")
_WHERE = pattern(r" \(at line (\d+), column \d+\)$")
_NAME = pattern(r"[A-Za-z](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
_DEVICE = pattern(r"[A-Za-z0-9](?:[\w.:-]*[A-Za-z0-9])?", re.ASCII)
CONTAINERD, TOOLKIT = "containerd", "toolkit"


@cache
def _facts() -> dict[str, Any]:
    return store.read_yaml("runtime_texts.yaml")


def toml_of(text: str) -> str | None:
    """Whose configuration in TOML a text is, by its tables; None of one that is no TOML for the most part."""
    found = _TABLES.search(text)
    said = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if found is None or sum(_LINE.fullmatch(line) is not None for line in said) * 4 < len(said) * 3:
        return None
    return CONTAINERD if found[1] == "plugins" else TOOLKIT


def parsed_toml(text: str) -> dict[str, Any] | None:
    """None of what is no TOML."""
    import tomllib  # on demand

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def toml_mistakes(whose: str, text: str) -> Iterator[TextMistake]:
    import tomllib  # on demand

    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of very many digits is no TOMLDecodeError
        where = _WHERE.search(str(error))
        message = f"it is no TOML, and is not read: {_WHERE.sub('', str(error))}"
        yield TextMistake((), shorten(message), "correct the line", line=int(where[1]) - 1 if where else 0)
        return
    yield from _of_containerd(data, text) if whose == CONTAINERD else _of_toolkit(data, text)


def _of_containerd(data: dict[str, Any], text: str) -> Iterator[TextMistake]:
    facts, plugins = _facts()[CONTAINERD], _table(data.get("plugins"))
    version = data.get("version")
    is_new = isinstance(version, int) and version >= facts["since"]
    old = _table(plugins.get(facts["old"]))
    for key in facts["moved"].keys() & old.keys() if is_new else ():
        now = facts["moved"][key]
        yield TextMistake(
            (),
            f"with `version = {version}` containerd does not read `{key}` of `{facts['old']}`",
            f'write it under `[plugins."{now}"]`, or `version = 2`',
            line=_line_of(text, facts["old"]),
        )
    if "nvidia" in str(_table(plugins.get(facts["ofTasks"]))):
        yield TextMistake(
            (),
            f"pods get no runtime of `{facts['ofTasks']}`, which Kubernetes does not ask for",
            f'write it as `[plugins."{facts["old"]}".containerd.runtimes.nvidia]`',
            line=_line_of(text, facts["ofTasks"]),
        )
    for name, plugin in plugins.items():
        settings = _table(_table(plugin).get("containerd"))
        yield from _unread(settings, text)
        yield from _runtimes(settings, text, is_new=is_new or name in facts["moved"].values())


def _unread(settings: dict[str, Any], text: str) -> Iterator[TextMistake]:
    """Keys of the table `containerd` of a plugin, and of NVIDIA's runtimes, that stand at the other level."""
    levels, runtimes = _facts()[CONTAINERD]["fields"], _table(settings.get("runtimes"))
    tables = [("containerd", "runtime", settings)] if "nvidia" in str(settings) else []
    tables += [
        ("runtime", "containerd", _table(item)) for name, item in runtimes.items() if "nvidia" in f"{name}{item}"
    ]
    for level, other, table in tables:
        for key in (key for key in table if key in levels[other] and key not in levels[level]):
            where = "the table above `runtimes`" if other == "containerd" else "the table of a runtime"
            message = f"containerd reads `{key}` in {where}, and passes it over here"
            yield TextMistake((), message, f"write it into {where}", line=_line_of(text, key))


def _runtimes(settings: dict[str, Any], text: str, *, is_new: bool) -> Iterator[TextMistake]:
    facts, runtimes = _facts()[CONTAINERD], _table(settings.get("runtimes"))
    for runtime in runtimes.values():
        kind = _table(runtime).get("runtime_type")
        if is_new and isinstance(kind, str) and kind in facts["removed"]:
            message = f"containerd 2, whose names these are, has no `{kind}`"
            yield TextMistake((), message, f"write `{facts['removedFor']}`", line=_line_of(text, kind))
    default = settings.get("default_runtime_name")
    if isinstance(default, str) and default not in runtimes and (match := nearest(default, runtimes)) is not None:
        message = f"`default_runtime_name` is `{shorten(default)}`, and the runtime here is `{shorten(match)}`"
        yield TextMistake((), message, f"write `{shorten(match)}`", line=_line_of(text, "default_runtime_name"))


def _of_toolkit(data: dict[str, Any], text: str) -> Iterator[TextMistake]:
    mode, known = _table(data.get("nvidia-container-runtime")).get("mode"), _facts()[TOOLKIT]["modes"]
    if isinstance(mode, str) and mode not in known:
        message = f"the runtime knows no mode `{shorten(mode)}`, and starts no container"
        yield TextMistake((), message, did_you_mean(mode, known), line=_line_of(text, mode))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _line_of(text: str, word: str) -> int:
    """The first line that has it, and is no comment."""
    lines = enumerate(text.splitlines())
    return next((number for number, line in lines if word in line and not line.lstrip().startswith("#")), 0)


def is_cdi(data: Any) -> bool:
    return isinstance(data, dict) and "cdiVersion" in data and not data.keys().isdisjoint(("devices", "containerEdits"))


def cdi_mistakes(data: dict[str, Any]) -> Iterator[TextMistake]:
    """What makes a runtime refuse the whole specification."""
    facts = _facts()["cdi"]
    version = data.get("cdiVersion")
    if version not in facts["versions"]:
        help_text = did_you_mean(str(version), facts["versions"])
        yield TextMistake(("cdiVersion",), f"`{shorten(str(version))}` is no version of CDI", help_text)
        version = None
    vendor, _, sort = str(data.get("kind", "")).partition("/")
    if not (_NAME.fullmatch(vendor) and _NAME.fullmatch(sort)):
        message = f"`kind` is `{shorten(str(data.get('kind')))}`, no vendor and class"
        yield TextMistake(("kind",), message, "write one like `nvidia.com/gpu`")
    yield from _fields(data, "top", (), version)
    devices = data.get("devices")
    if not devices:
        yield TextMistake(("devices",), "it has no devices", "list at least one under `devices`")
    yield from _devices(devices)


def _devices(devices: Any) -> Iterator[TextMistake]:
    seen: set[str] = set()
    known = _facts()["cdi"]["fields"]["devices"]
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        name, steps = str(_table(device).get("name", "")), ("devices", index)
        if name in seen or not _DEVICE.fullmatch(name):
            is_twice = "is there twice" if name in seen else "is no name of a device"
            yield TextMistake((*steps, "name"), f"`{shorten(name)}` {is_twice}", "write another name")
        seen.add(name)
        if isinstance(device, dict) and not device.get("containerEdits") and device.keys() <= {*known}:
            yield TextMistake(steps, f"device `{shorten(name)}` edits nothing", "write `containerEdits`")


def _fields(node: Any, sort: str, steps: tuple[str | int, ...], version: str | None) -> Iterator[TextMistake]:
    """Fields that no version has, those that are newer than the specification says, and those that lack."""
    facts = _facts()["cdi"]
    if not isinstance(node, dict):
        if node is not None:
            yield TextMistake(steps, f"it is {kind_of(node)}, not a mapping", "write a mapping")
        return
    known = {field.lower(): field for field in facts["fields"][sort]}
    for key, value in node.items():
        field, place = known.get(str(key).lower()), (*steps, str(key))
        since = facts["since"].get(f"{sort}.{field}") or facts["since"].get(field or "")
        if field is None:
            yield TextMistake(place, f"CDI has no `{shorten(str(key))}` there", did_you_mean(str(key), known.values()))
        elif since is not None and value and version is not None and is_older(f"v{version}", f"v{since}"):
            yield TextMistake(place, f"`{field}` needs `cdiVersion: {since}`", f"write `{since}` or later")
        elif field == "hookName" and value not in facts["hooks"]:
            yield TextMistake(
                place, f"there is no hook `{shorten(str(value))}`", did_you_mean(str(value), facts["hooks"])
            )
        elif field in facts["fields"]:
            for index, item in enumerate(value if isinstance(value, list) else [value]):
                yield from _fields(item, field, (*place, index) if isinstance(value, list) else place, version)
    for field in facts["needed"].get(sort, ()):
        if not any(str(key).lower() == field.lower() for key in node):
            yield TextMistake(steps, f"it has no `{field}`", f"write `{field}`")
