"""Faults in values, and the surfaces on which values of a chart stand: each fault on each of them, by construction.

`surfaces.md` and `faults.md` say how they are written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from support.marked import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

Files = dict[str, str]
_PART = re.compile(
    r"^### (?P<name>\S+)\n\n(?:(?P<said>[^`\n]+)\n\n)?```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_CHART = re.compile(r"^## (?P<chart>\S+) (?P<repository>\S+)$", re.MULTILINE)
_TWIN = re.compile(r"^---(?: # (?P<version>\S+))?\n", re.MULTILINE)
_ALONE = "as text alone"
"""A fault that is none, or can't be written, where values stand one by one."""


@dataclass(frozen=True)
class Fault:
    """`bad` has a mark before what is wrong; `good`, at its own version, is the same without it."""

    name: str
    chart: str
    repository: str
    version: str
    codes: frozenset[str]
    flags: str
    bad: str
    good: str
    good_version: str

    def stands_on(self, surface: str) -> bool:
        return not (self.flags == _ALONE and "SETPATH" in SURFACES[surface]) and not self.flags.endswith(f" {surface}")

    def on(self, surface: str, *, twin: bool = False) -> Files:
        """The files of a surface with the values in them, and their mark."""
        values, version = (self.good, self.good_version) if twin else (self.bad, self.version)
        text = "\n".join(line for part in SURFACES[surface].split("\n") for line in _lines(part, values))
        for word, told in (("CHART", self.chart), ("VERSION", version), ("REPO", self.repository), ("⏎", "\n")):
            text = text.replace(word, told)
        parts = re.split(r"^# (?=\S+$)", text, flags=re.MULTILINE)[1:]
        return {path: body for path, _, body in (part.partition("\n") for part in parts)}


def _faults() -> Iterator[Fault]:
    text = Path(__file__).with_name("faults.md").read_text("utf-8")
    charts = list(_CHART.finditer(text))
    for part in _PART.finditer(text):
        of = next(chart for chart in reversed(charts) if chart.start() < part.start())
        version, _, said = part["said"].partition(": ")
        codes, _, flags = said.partition("; ")
        bad, own, good = _TWIN.split(part["text"])
        told = (frozenset(codes.split(", ")), flags, bad, good, own or version)
        yield Fault(part["name"], of["chart"], of["repository"], version, *told)


def _lines(line: str, values: str) -> list[str]:
    """A line of a surface, or those that stand for it."""
    before = line[: len(line) - len(line.lstrip())]
    if line.strip() == "VALUES":
        return [before + item if item else item for item in values.rstrip("\n").split("\n")]
    if line.strip() == "HCL":
        return [before + item[2:] for item in _hcl(yaml.safe_load(values)).split("\n")[1:-1]]
    return [_assigned(line, *item) for item in _each(yaml.safe_load(values))] if "SETPATH" in line else [line]


def _assigned(line: str, path: str, value: str) -> str:
    mark = MARK if MARK in path + value else ""
    path, value = path.replace(MARK, ""), value.replace(MARK, "")
    if "=" in line and "--set" in line and not path.replace(".", "").isalnum():
        path, value = f"'{path}", f"{value}'"
    return f"{mark}{line}".replace("SETPATH", path).replace("SETVALUE", value)


def _each(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Paths and values as `--set` takes them."""
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _each(value, f"{path}.{key.replace('.', chr(92) + '.')}".removeprefix("."))
    elif isinstance(node, list) and node:
        for index, value in enumerate(node):
            yield from _each(value, f"{path}[{index}]")
    else:
        yield path, node if isinstance(node, str) else json.dumps(node)


def _hcl(node: Any, indent: str = "") -> str:
    if isinstance(node, dict):
        inner = "".join(f"{indent}  {_key(key)} = {_hcl(value, indent + '  ')}\n" for key, value in node.items())
        return f"{{\n{inner}{indent}}}"
    if isinstance(node, list):
        inner = "".join(f"{indent}  {_hcl(value, indent + '  ')},\n" for value in node)
        return f"[\n{inner}{indent}]"
    return json.dumps(node, ensure_ascii=False)


def _key(key: str) -> str:
    bare = key.replace(MARK, "")
    return key.replace(bare, bare if re.fullmatch(r"[A-Za-z_][\w-]*", bare) else json.dumps(bare))


def place_of(files: Files) -> tuple[str, int]:
    """File and line of the mark."""
    path, text = next((path, text) for path, text in files.items() if MARK in text)
    return path, text[: text.index(MARK)].count("\n") + 1


_TEXT = Path(__file__).with_name("surfaces.md").read_text("utf-8")
SURFACES = {part["name"]: part["text"] for part in _PART.finditer(_TEXT)}
FAULTS = {fault.name: fault for fault in _faults()}
