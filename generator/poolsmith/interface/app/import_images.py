"""Use case: the list of driver images, made from what a registry or its tools say of a repository."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, UsageError
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.field import matches
from poolsmith.core.sources.input_tree import read_text_file
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.profiles.driver import REPOSITORY, TAG
from poolsmith.fleet.profiles.fleet import DRIVER_IMAGES_FILE
from poolsmith.interface.app.new_files import replace_file
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.project.run.project import Project

_MOST_BYTES = 16 << 20
_MOST_TAGS = 20_000
_DRIVER = pattern(r"\d[\w.]*(-[\w.+]+)*-[a-z]+\d[\d.]*")
"""A version or branch, maybe a kernel, and a system. Signatures, charts and `latest` are no drivers."""
_HEAD = "# yaml-language-server: $schema=_schemas/driver-image-list.schema.json\n"


@record(kw_only=False)
class ImportedImages:
    """What one listing brought: `added` and `gone` are against the list that stood there; `left` are no drivers'."""

    repository: str
    tags: int
    added: tuple[str, ...]
    gone: tuple[str, ...]
    left: int
    written: bool


def import_images(root: Path, listing: Path, repository: str | None) -> ImportedImages:
    """The tags of a listing take the place of those that the list has of that repository.

    `listing` is what `skopeo list-tags`, `crane ls`, `oras repo tags` or a registry's `tags/list` prints. `repository`
    is needed where it does not say whose tags these are. Raises UsageError, WriteError.
    """
    named, tags = _read(_text_of(listing))
    name = repository or named
    if name is None:
        raise UsageError(f"{listing} does not say of which repository: add `--repository HOST/NAME`")
    if repository and named and repository != named and not repository.endswith(f"/{named}"):
        raise UsageError(f"{listing} has tags of `{shorten(named)}`, and `--repository` says `{shorten(repository)}`")
    if not matches(REPOSITORY, name) or not re.search(r"[.:]|^localhost", name.partition("/")[0]):
        advice = "" if repository else ": say which with `--repository HOST/NAME`"
        raise UsageError(f"`{shorten(name)}` is no repository with a registry's host in front{advice}")
    drivers = sorted({tag for tag in tags if matches(TAG, tag) and _DRIVER.fullmatch(tag)}, key=_order)
    if not drivers:
        raise UsageError(f"{listing} has no tag of a driver image, such as 580.126.20-ubuntu22.04")
    project = open_project(root)
    known, problems = project.driver_images
    if problems:
        first = problems[0]
        raise UsageError(f"{first.primary.span}: {first.message}; correct the list first")
    lists = {item.repository: item.tags for item in known.images} if known is not None else {}
    before = lists.get(name, ())
    lists[name] = tuple(drivers)
    written = set(before) != set(drivers)
    if written:
        is_new = project.fleet.driver_images is None
        top = _HEAD if is_new else _top(root / DRIVER_IMAGES_FILE)
        title = "seen" if is_new else _title(project)
        replace_file(root / DRIVER_IMAGES_FILE, top + _body(title, lists))
    return ImportedImages(
        name,
        len(drivers),
        tuple(tag for tag in drivers if tag not in before),
        tuple(tag for tag in before if tag not in drivers),
        len(set(tags)) - len(drivers),
        written,
    )


def _text_of(file: Path) -> str:
    """Raises UsageError."""
    text = read_text_file(file, str(file), _MOST_BYTES)
    if isinstance(text, Diagnostic):
        raise UsageError(f"{file}: {text.message}")
    return text


def _title(project: Project) -> str:
    file = project.tree.read_profile(DRIVER_IMAGES_FILE)
    return "seen" if isinstance(file, Diagnostic) else str(value_at(file.data, ("metadata", "name")))


def _read(text: str) -> tuple[str | None, list[str]]:
    """Repository, if the listing has it, and tags. Raises UsageError."""
    try:
        data = json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        raise UsageError("the listing begins like JSON, and is none") from None
    if data is None:
        return _lines(text)
    named, tags = _fields(data)
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise UsageError("the listing is JSON without a list of tags: what skopeo, oras or a registry prints has one")
    return named, _bounded(tags)


def _fields(data: Any) -> tuple[str | None, Any]:
    """skopeo: Repository and Tags. A registry, and oras: name and tags."""
    if isinstance(data, list):
        return None, data
    named = value_at(data, ("Repository",)) or value_at(data, ("name",))
    tags = value_at(data, ("Tags",))
    return named if isinstance(named, str) else None, value_at(data, ("tags",)) if tags is None else tags


def _lines(text: str) -> tuple[str | None, list[str]]:
    """A tag a line, or a reference with its tag a line. Raises UsageError."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    names = {line.rpartition(":")[0] for line in lines if "/" in line}
    if len(names) > 1:
        raise UsageError("the listing has references of several repositories: import one after the other")
    return next(iter(names), None), _bounded([line.rpartition(":")[2] for line in lines])


def _bounded(tags: list[str]) -> list[str]:
    if len(tags) > _MOST_TAGS:
        raise UsageError(f"the listing has {len(tags):,} tags, more than {_MOST_TAGS:,}")
    return tags


def _order(tag: str) -> tuple[tuple[int, str], ...]:
    """Numbers by their size."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.findall(r"\d+|\D+", tag))


def _top(path: Path) -> str:
    """The comments that the file begins with."""
    lines = []
    for line in _text_of(path).splitlines(keepends=True):
        if not line.startswith("#"):
            break
        lines.append(line)
    return "".join(lines)


def _body(name: str, lists: Mapping[str, Iterable[str]]) -> str:
    images = [{"repository": repository, "tags": list(tags)} for repository, tags in sorted(lists.items())]
    return emit(
        {
            "apiVersion": "poolsmith/v1",
            "kind": "DriverImageList",
            "metadata": {"name": name},
            "spec": {"images": images},
        }
    )
