"""What the shell offers after a tab: names from the project's own folders, rules and releases; nothing is judged.

A file that can't be read offers nothing. Only what is a name in Kubernetes or a code of ours is offered: the shell puts
it into a command line.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
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
REVISION, REACH, PRIVILEGE, POOL_OF_CLUSTER = "revision", "reach", "privilege", "pool of a cluster"
BY_NAME = {
    "REV": REVISION,
    "REV[:PATH]": REVISION,
    "REV|DAY": REVISION,
    "REF": REVISION,
    "RELEASE": RELEASE,
    "TAG": RELEASE,
    "MINOR": MINOR,
    "REACH": REACH,
    "PRIVILEGE": PRIVILEGE,
    "CLUSTER/POOL": POOL_OF_CLUSTER,
    "[FORMAT=]PATH": REPORT_FILE,
    "--release": RELEASE,
    "--kubernetes": MINOR,
    "--distribution": "distribution",
    "--runtime": "runtime",
    "--gpu": "gpu",
}
"""What is offered for a value that says nothing of its own, by how the help calls it, or by its flag."""
_FIELDS = {"distribution": ("Cluster", "kubernetes", "distribution"), "runtime": ("NodePool", "runtime", "name")}
_FIELDS["gpu"] = ("NodePool", "gpu", "product")
_WORD = pattern(r"[A-Za-z0-9][A-Za-z0-9._/@-]{0,251}")
"""What no shell takes for more than a word."""
_NAME = pattern(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_POOL = pattern(r"""kind: *["']?NodePool["']? *(?:#.*)?""")
_FLOW_NAME = pattern(r"""metadata: *\{.{0,200}?\bname: *["']?([-a-z0-9.]+)""")
_BLOCK_NAME = pattern(r""" +name: *["']?([-a-z0-9.]+)""")
_LONGEST = 64 << 10
_MOST_FILES = 2_000


def offer_by_name(command: click.Command) -> None:
    """Each value of a verb that has no completion of its own gets the one of its name."""
    for item in command.params:
        known = (BY_NAME[name] for name in (item.metavar, *item.opts) if name in BY_NAME)
        if item.type.name == "text" and (what := next(known, None)) is not None:
            item.shell_complete = partial(complete, what)  # type: ignore[method-assign]


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


def _pools_of_cluster(context: click.Context, incomplete: str) -> Iterable[str]:
    """Clusters, and after a slash the pools of one."""
    cluster, slash, _ = incomplete.partition("/")
    return [f"{cluster}/{name}" for name in sorted(_pools_of(context, cluster))] if slash else _clusters(context)


def _rules_and_pools(context: click.Context, incomplete: str) -> Iterator[str]:
    if "/" in incomplete:
        yield from _pools_of_cluster(context, incomplete)
        return
    with suppress(OSError):  # rules can be explained anywhere
        yield from _clusters(context)
    from poolsmith.core.diagnostics.rule_info import rules_by_code

    for rule in rules_by_code().values():
        yield rule.code
        if incomplete:
            yield rule.name


def _releases(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.gpu.catalog.value_paths import value_paths

    return reversed(value_paths().tags)


def _kinds(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.interface.app.schemas import KINDS

    return KINDS


def _minors(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.kubernetes.schema.schemas import kubernetes_minors

    return reversed(kubernetes_minors())


def _revisions(context: click.Context, _: str) -> Iterator[str]:
    """Branches and tags, as git names them."""
    from poolsmith.core.sources.git import Git

    listed = Git(Path(_root(context)), "completion").run("for-each-ref", "--format=%(refname:short)").stdout
    yield "HEAD"
    yield from (name for name in listed.decode("utf-8", "replace").splitlines() if _WORD.fullmatch(name))


def _reaches(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.guard.ledger.reach import Reach

    return (item.name.lower().replace("_", "-") for item in Reach)


def _privileges(_: click.Context, __: str) -> Iterable[str]:
    from poolsmith.guard.ledger.reach import reach_table

    return dict.fromkeys(row.name for row in reach_table())


def _words_of(field: str, _: click.Context, __: str) -> Iterator[str]:
    """What the schema names for a field of a profile."""
    from poolsmith.interface.app.editor.schema_words import offered_for

    kind, *path = _FIELDS[field]
    yield from filter(_WORD.fullmatch, offered_for(kind, path))


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
    REVISION: _revisions,
    REACH: _reaches,
    PRIVILEGE: _privileges,
    POOL_OF_CLUSTER: _pools_of_cluster,
    **{field: partial(_words_of, field) for field in _FIELDS},
}
