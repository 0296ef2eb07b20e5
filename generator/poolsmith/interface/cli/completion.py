"""What the shell offers after a tab: names from the project's own folders, rules and releases; nothing is judged.

A file that can't be read offers nothing. Only what is a name in Kubernetes or a code of ours is offered: the shell puts
it into a command line.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.pattern import pattern
from poolsmith.interface.report.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import click

CLUSTER, POOL, RELEASE, RULE_OR_POOL, KIND, MINOR, REPORT_FILE = (
    "cluster",
    "pool",
    "release",
    "rule or pool",
    "kind",
    "minor",
    "report file",
)
_NAME = pattern(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_POOL = pattern(r"""kind: *["']?NodePool["']? *(?:#.*)?""")
_FLOW_NAME = pattern(r"""metadata: *\{.{0,200}?\bname: *["']?([-a-z0-9.]+)""")
_BLOCK_NAME = pattern(r""" +name: *["']?([-a-z0-9.]+)""")
_LONGEST = 64 << 10
_MOST_FILES = 2_000


def complete(what: str, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Words that begin with what was typed, in their order; where a file is wanted and no word fits, files."""
    words: list[str] = []
    with suppress(OSError, ValueError, PoolsmithError):
        words = [word for word in _OFFERS[what](context, incomplete) if word.startswith(incomplete)]
    items = [CompletionItem(word) for word in words]
    if what == REPORT_FILE and not words:
        items.append(CompletionItem(incomplete, type="file"))
    return items


def _clusters(context: click.Context, _: str = "") -> list[str]:
    folder = os.path.join(_root(context), "profiles")  # noqa: PTH118 - strings, for speed
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if _NAME.fullmatch(entry.name) and entry.is_dir())


def _pools(context: click.Context, _: str = "") -> list[str]:
    chosen = context.params.get("clusters") or _clusters(context)
    return sorted({name for cluster in chosen for name in _pools_of(context, cluster)})


def _pools_of(context: click.Context, cluster: str) -> Iterator[str]:
    """By a glance at the lines: a whole reading takes longer than anybody waits for a tab."""
    if not _NAME.fullmatch(cluster):
        return
    with os.scandir(os.path.join(_root(context), "profiles", cluster)) as entries:  # noqa: PTH118
        files = sorted(entry.path for entry in entries if entry.name.endswith((".yaml", ".yml")) and entry.is_file())
    for path in files[:_MOST_FILES]:
        with open(path, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
            text = stream.read(_LONGEST)
        if (name := _pool_name(text.splitlines())) is not None:
            yield name


def _pool_name(lines: list[str]) -> str | None:
    """`metadata.name` of a file that says that it is a pool."""
    name, inside = None, False
    for line in lines:
        if line.startswith("metadata:"):
            inside = True
            found = _FLOW_NAME.match(line)
        else:
            inside = inside and line[:1] in (" ", "#", "")
            found = _BLOCK_NAME.match(line) if inside else None
        name = name or (found[1] if found else None)
    is_pool = any(map(_POOL.fullmatch, lines))
    return name if is_pool and name is not None and _NAME.fullmatch(name) else None


def _rules_and_pools(context: click.Context, incomplete: str) -> Iterator[str]:
    cluster, slash, _ = incomplete.partition("/")
    if slash:
        yield from (f"{cluster}/{name}" for name in sorted(_pools_of(context, cluster)))
        return
    with suppress(OSError):  # rules can be explained anywhere
        yield from _clusters(context)
    from poolsmith.core.diagnostics.rule_table import RULES

    for code, name, *_ in RULES:
        yield code
        if incomplete:
            yield name


def _releases(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.gpu.catalog.value_paths import value_paths

    return reversed(value_paths().tags)


def _kinds(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.interface.app.schemas import KINDS

    return KINDS


def _minors(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.kubernetes.schema.schemas import kubernetes_minors

    return reversed(kubernetes_minors())


def _report_files(_: click.Context, incomplete: str) -> Iterator[str]:
    if incomplete:
        yield from (f"{name}=" for name in FORMATS)


def _root(context: click.Context) -> str:
    return str(context.params.get("root") or ".")


_OFFERS: dict[str, Callable[[click.Context, str], Iterable[str]]] = {
    CLUSTER: _clusters,
    POOL: _pools,
    RELEASE: _releases,
    RULE_OR_POOL: _rules_and_pools,
    KIND: _kinds,
    MINOR: _minors,
    REPORT_FILE: _report_files,
}
