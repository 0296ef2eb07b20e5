"""Use case: who had which privilege, where, and which grant allowed it, by the history of a repository.

Only git objects are read: the ledgers that were committed with the output, and the grants beside them, at each commit
of the branch's own line. Nothing of the history is generated anew.
"""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import printable, shorten
from poolsmith.core.record import record
from poolsmith.core.shape.field import matches
from poolsmith.core.shape.review import DATE
from poolsmith.core.sources.git import Git
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.guard.ledger.grants.grant import parse_privileges, written_privileges
from poolsmith.guard.ledger.grants.grant_files import load_grants
from poolsmith.guard.ledger.grants.matching import GrantBook
from poolsmith.guard.ledger.ledger import LedgerLine
from poolsmith.guard.ledger.privilege import Privilege, PrivilegeError
from poolsmith.guard.ledger.reach import Reach, reach_of
from poolsmith.guard.policies.policy_files import PRIVILEGES
from poolsmith.guard.policies.revision import folder_with, tree_at
from poolsmith.interface.report.audit import AuditCommit, HeldTime, Leave, PrivilegeAudit
from poolsmith.project.output.prediction import LEDGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.guard.policies.revision import GitFile, RevisionTree

_FLAG = "--since"
_CLUSTERS = "output/clusters"
_FORMAT = "%H%x00%cs%x00%an%x00%s"
_MOST_COMMITS = 20_000
_MOST_BYTES = 8 << 20

_Holder = tuple[str, str, str, str]
"""Cluster, pool, namespace/Kind/name, container."""


@record(kw_only=False)
class _Held:
    """Privileges of a holder by the same leave."""

    holder: _Holder
    privilege: Privilege
    leave: Leave | None


def audit(root: Path, since: str, until: str = "HEAD", clusters: Sequence[str] = ()) -> PrivilegeAudit:
    """`since` is a revision, or a day as year-month-day: the last commit before it. Raises UsageError, NoInputError."""
    git = Git(root, _FLAG)
    last = git.commit(until)
    first, is_whole = _first(git, since, last)
    history = _commits(git, first, last)
    reading = _History(git, frozenset(clusters))
    if not is_whole and (why := git.cut_off):
        reading.problems[f"what was held before {first[:12]} is not known{why}"] = None
    reading.begin(history[0])
    for commit in history[1:]:
        reading.go_on(commit)
    return PrivilegeAudit(
        since=history[0], until=history[-1], held=tuple(reading.finished()), not_evaluated=tuple(reading.problems)
    )


def _first(git: Git, since: str, last: str) -> tuple[str, bool]:
    """The commit to begin with, and whether it is the one that was asked for: there may be none so old."""
    if not matches(DATE, since):
        commit = git.commit(since)
        if git.run("merge-base", "--is-ancestor", commit, last, may_fail=True).returncode != 0:
            raise UsageError(f"{_FLAG}: `{printable(shorten(since))}` is no ancestor of what is audited")
        return commit, True
    with suppress(ValueError):
        dt.date.fromisoformat(since)
        asked = ("rev-list", "-1", "--first-parent", f"--before={since}T00:00:00", last)
        found = git.run(*asked).stdout.decode().strip()
        oldest = git.run("rev-list", "--first-parent", "--max-parents=0", last).stdout.decode().split()[-1]
        return found or oldest, bool(found)
    raise UsageError(f"{_FLAG}: `{since}` is no day")


def _commits(git: Git, first: str, last: str) -> list[AuditCommit]:
    """The first, and those after it that touch ledgers or grants, oldest first."""
    asked = ("log", "-z", f"--format={_FORMAT}", "--first-parent", "--reverse")
    begin = git.run("log", "-z", "-1", f"--format={_FORMAT}", first).stdout
    later = git.run(*asked, f"{first}..{last}", "--", _CLUSTERS, PRIVILEGES).stdout
    found = [*_parsed(begin), *_parsed(later)]
    if len(found) > _MOST_COMMITS:
        raise UsageError(f"{_FLAG}: {len(found):,} commits touch ledgers or grants; ask for less")
    return found


def _parsed(log: bytes) -> Iterator[AuditCommit]:
    """Records of four fields, which git ends with NUL each, and -z between them."""
    parts = log.decode("utf-8", "replace").split("\0")
    for at in range(0, len(parts) - 3, 4):
        commit, day, author, title = parts[at : at + 4]
        yield AuditCommit(id=commit, day=day, author=printable(author), title=printable(title))


class _History:
    """What is held at the commit that was reached, and what was before."""

    def __init__(self, git: Git, clusters: frozenset[str]) -> None:
        self.problems: dict[str, None] = {}
        self._git = git
        self._clusters = clusters
        self._held: dict[_Held, AuditCommit | None] = {}
        self._over: list[tuple[_Held, AuditCommit | None, AuditCommit]] = []
        self._ledgers: dict[str, str] = {}
        self._grants: dict[str, str] = {}
        self._holdings: dict[str, dict[_Holder, frozenset[Privilege]]] = {}
        self._book = GrantBook(())
        self._leaves: dict[str, tuple[PrivilegeGrant, Leave]] = {}
        self._parsed: dict[str, dict[tuple[str, str, str], frozenset[Privilege]]] = {}

    def begin(self, commit: AuditCommit) -> None:
        self._read(commit, is_first=True)
        self._held = dict.fromkeys(self._now(self._holdings), None)

    def go_on(self, commit: AuditCommit) -> None:
        before = self._book
        touched = self._read(commit, is_first=False)
        if self._book is not before:
            touched = set(self._holdings) | touched
        now = set(self._now({name: self._holdings.get(name, {}) for name in touched}))
        for item in [item for item in self._held if item.holder[0] in touched and item not in now]:
            self._over.append((item, self._held.pop(item), commit))
        for item in now - self._held.keys():
            self._held[item] = commit

    def finished(self) -> Iterator[HeldTime]:
        """Alike in all but the privilege told together, in the order of clusters, pools and workloads."""
        rows: dict[tuple[Any, ...], list[Privilege]] = {}
        for item, since, until in (*self._over, *((item, since, None) for item, since in self._held.items())):
            rows.setdefault((*item.holder, since, until, item.leave), []).append(item.privilege)
        for key in sorted(rows, key=_order):
            cluster, pool, workload, container, since, until, leave = key
            privileges = sorted(rows[key])
            yield HeldTime(
                cluster=cluster,
                pool=pool,
                workload=workload,
                container=container,
                privileges=written_privileges(privileges),
                reach=str(min(map(reach_of, privileges))),
                since=since,
                until=until,
                leave=leave,
            )

    def _read(self, commit: AuditCommit, *, is_first: bool) -> set[str]:
        """Take what a commit has; the clusters whose ledger it changes."""
        tree = tree_at(self._git, commit.id)
        files = tree.below(_CLUSTERS, PRIVILEGES)
        ledgers = {
            path.split("/")[2]: file
            for path, file in files.items()
            if path.endswith(f"/{LEDGER}") and path.count("/") == _CLUSTERS.count("/") + 2
        }
        ledgers = {name: file for name, file in ledgers.items() if not self._clusters or name in self._clusters}
        blobs = {name: file.blob for name, file in ledgers.items()}
        touched = {name for name in {*blobs, *self._ledgers} if blobs.get(name) != self._ledgers.get(name)}
        for name in touched:
            self._holdings.pop(name, None)
            if name in ledgers:
                self._holdings[name] = self._ledger(name, ledgers[name], commit)
        self._ledgers = blobs
        grants = {path: file for path, file in files.items() if path.startswith(f"{PRIVILEGES}/")}
        if (found := {path: file.blob for path, file in grants.items()}) != self._grants or is_first:
            self._take_grants(tree, grants, commit, is_first=is_first)
            self._grants = found
        return touched

    def _ledger(self, name: str, file: GitFile, commit: AuditCommit) -> dict[_Holder, frozenset[Privilege]]:
        if file.blob not in self._parsed:
            self._parsed[file.blob] = self._holders(f"{_CLUSTERS}/{name}/{LEDGER}", file, commit)
        return {(name, *key): found for key, found in self._parsed[file.blob].items()}

    def _holders(
        self, path: str, file: GitFile, commit: AuditCommit
    ) -> dict[tuple[str, str, str], frozenset[Privilege]]:
        """By pool, workload and container; nothing of what is no ledger."""
        (size,) = self._git.sizes([file.blob])
        text = None
        if size is not None and size <= _MOST_BYTES:
            (content,) = self._git.contents([file.blob])
            with suppress(UnicodeDecodeError):
                text = content.decode("utf-8")
        try:
            documents = read_documents(text) if text is not None else []
        except YamlProblem:
            documents = []
        if not documents or not isinstance(documents[0], dict):
            self.problems[f"{printable(path)} at {commit.id[:12]}"] = None
            return {}
        return _privileges_of(documents[0])

    def _take_grants(
        self, tree: RevisionTree, files: Mapping[str, GitFile], commit: AuditCommit, *, is_first: bool
    ) -> None:
        with folder_with(self._git, files) as folder:
            loaded, problems = load_grants(InputTree(folder), sorted(path for path in files if path.endswith(".yaml")))
        for problem in problems:
            self.problems[f"{problem.primary.span} at {commit.id[:12]}: {problem.message}"] = None
        before, self._leaves = self._leaves, {}
        for item in loaded:
            known = before.get(item.grant.name)
            if known is not None and known[0] == item.grant:
                self._leaves[item.grant.name] = known
            else:
                approved = self._last_change(tree, item.file.path, commit) if is_first else commit
                self._leaves[item.grant.name] = (item.grant, _leave(item.grant, approved))
        # which image a container had is not in a committed ledger
        self._book = GrantBook([replace(item.grant, spec=replace(item.grant.spec, images=())) for item in loaded])

    def _last_change(self, tree: RevisionTree, path: str, commit: AuditCommit) -> AuditCommit:
        asked = (
            "log",
            "-z",
            "-1",
            f"--format={_FORMAT}",
            "--first-parent",
            commit.id,
            "--",
            f":(top){tree.prefix}{path}",
        )
        return next(_parsed(self._git.run(*asked).stdout), commit)

    def _now(self, holdings: Mapping[str, Mapping[_Holder, frozenset[Privilege]]]) -> Iterator[_Held]:
        for name, held in holdings.items():
            given = self._book.of_cluster(name)
            for holder, privileges in held.items():
                _, pool, key, container = holder
                namespace, _, workload = key.partition("/")
                for item in privileges:
                    line = LedgerLine(pool, workload, container, item, Reach.NONE, (), namespace)
                    needed = self._book.needed(line, "", given)
                    leave = None
                    if needed is not None:
                        leave = self._leaves[self._book.grants[needed.grant].name][1]
                    yield _Held(holder, item, leave)


def _privileges_of(body: Mapping[str, Any]) -> dict[tuple[str, str, str], frozenset[Privilege]]:
    pools: dict[str, list[str]] = {}
    for pool, entry in mapping(body.get("pools")).items():
        for key in _list(mapping(entry).get("workloads")):
            pools.setdefault(str(key), []).append(str(pool))
    accounts = mapping(body.get("accounts"))
    found: dict[tuple[str, str, str], frozenset[Privilege]] = {}
    for key, entry in mapping(body.get("workloads")).items():
        workload = mapping(entry)
        account = f"{str(key).partition('/')[0]}/{workload.get('account')}"
        parts = {"": [*mapping(workload.get("pod")), *mapping(accounts.get(account))]}
        parts |= {str(name): list(mapping(held)) for name, held in mapping(workload.get("containers")).items()}
        for pool in pools.get(str(key), ()):
            for container, tokens in parts.items():
                if privileges := frozenset(_tokens(tokens)):
                    found[pool, str(key), container] = privileges
    return found


def _tokens(tokens: Iterable[Any]) -> Iterator[Privilege]:
    for token in tokens:
        with suppress(PrivilegeError):
            yield from parse_privileges(str(token))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _leave(grant: PrivilegeGrant, approved: AuditCommit) -> Leave:
    spec = grant.spec
    return Leave(
        grant=grant.name,
        owner=spec.owner or "",
        reason=spec.reason or "",
        expires=spec.expires or "",
        approved=approved,
    )


def _order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    *holder, since, until, leave = key
    return (*holder, since.day if since else "", until.day if until else "", leave.grant if leave else "")
