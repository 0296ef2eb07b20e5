"""Hostile pull requests that nobody wrote down one by one, and harmless twins of them.

Value paths of the charts, times names that upstream code and known controllers obey; fields of the profiles, times what
they could name; features of git that show one file and commit another. Many values are judged in one run of
poolsmith, as one pull request, and what was not named there once more without what was.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import islice

from pull_requests import names_table as names
from pull_requests.fleet import Change, both, document_edit, put, replaced, text_edit, values_edit
from pull_requests.values_table import NFD, RELEASES, _running, paths
from support.git_repository import git
from support.yaml_edits import read_yaml, write_yaml

AT_ONCE = 3
"""Names that one value has: a finding shows the first four."""


@dataclass(frozen=True)
class Attempt:
    """A value that one path of a chart is given, and words that a finding has to have: all of them are gained."""

    kind: str
    path: str
    value: object
    words: tuple[str, ...] = ()
    beside: tuple[tuple[str, object], ...] = ()

    def __str__(self):
        return f"{self.kind} at {self.path}: {', '.join(self.words) or json.dumps(self.value)}"


@dataclass(frozen=True)
class Round:
    """Attempts whose paths are different ones, as one pull request to one cluster."""

    cluster: str
    attempts: tuple[Attempt, ...]
    is_harmless: bool = False

    def __str__(self):
        kinds = sorted({attempt.kind for attempt in self.attempts})
        return f"{self.cluster}: {len(self.attempts)} of {', '.join(kinds)}, {self.attempts[0].path}"

    @property
    def change(self):
        values = {}
        for attempt in self.attempts:
            values |= {attempt.path: attempt.value, **dict(attempt.beside)}
        return Change(str(self), values_edit(self.cluster, values), cluster=self.cluster)


@dataclass
class Outcome:
    """What became of attempts: the reason of a refusal, or an empty one of what passed."""

    refused: list[tuple[object, str]] = field(default_factory=list)
    passed: list[object] = field(default_factory=list)


def judge(fleet, one, outcome=None):
    """Judge a round: what no finding names is tried again without the others, until it passes or is named."""
    outcome = outcome if outcome is not None else Outcome()
    verdict = fleet.propose(one.change)
    assert verdict.check in (0, 1), verdict.told[-2000:]
    left = []
    for attempt in one.attempts:
        reasons = [_reason(verdict.errors, attempt, word) for word in attempt.words or ("",)]
        if all(reasons):
            outcome.refused.append((attempt, reasons[0]))
        else:
            left.append(attempt)
    if verdict.check == 0:
        outcome.passed += left
    elif len(left) == len(one.attempts) and len(left) > 1:
        for attempt in left:
            judge(fleet, replace(one, attempts=(attempt,)), outcome)
    elif len(left) == len(one.attempts):
        reason = verdict.errors[0] if verdict.errors else None
        outcome.passed += left if not one.is_harmless else []
        outcome.refused += [(left[0], reason.words)] if one.is_harmless and reason else []
    elif left:
        judge(fleet, replace(one, attempts=tuple(left)), outcome)
    return outcome


def _reason(errors, attempt, word):
    """The finding that names what is gained, a variable also by its bare name in quotes; or that says that the value itself is none."""
    for error in errors:
        taken = error.rule in ("value-taken", "ignored-value", "field-without-effect", "values-do-not-render")
        named = word and (word in error.words or f"`{word[4:-1]}`" in error.words)
        if named or (taken and attempt.path.removeprefix(f"{NFD}.") in error.words):
            return f"{error.rule}: {error.words}"
    return ""


def rounds(cluster, attempts, *, is_harmless=False):
    """Attempts of different paths together."""
    made = []
    for attempt in attempts:
        places = {attempt.path, *(path for path, _ in attempt.beside)}
        for one in made:
            if not any(_touch(place, path) for place in places for path in one[1]):
                one[0].append(attempt)
                one[1].update(places)
                break
        else:
            made.append(([attempt], set(places)))
    return [Round(cluster, tuple(found), is_harmless) for found, _ in made]


def _touch(one, other):
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def value_rounds(cluster):
    """Every name at every path of a kind that is read by what runs, shifted, so that each round has all paths."""
    tag = RELEASES[cluster]
    found = []
    for path in _running(cluster, ".env"):
        for part in _parts(names.VARIABLES):
            value = [{"name": name, "value": text} for name, text in part.items()]
            found.append(Attempt("variables", path, value, tuple(f"env[{name}]" for name in part)))
    for ending, table in (("annotations", names.ANNOTATIONS), ("labels", names.LABELS)):
        for path in _metadata_paths(tag, ending):
            for part in _parts(table):
                found.append(Attempt(ending, path, part, tuple(f"metadata.{ending}.{name}" for name in part)))
    for path in (*_running(cluster, ".resources"), f"{NFD}.worker.resources", f"{NFD}.master.resources"):
        for part in _parts(dict.fromkeys(names.RESOURCES, "1")):
            for place in ("limits", "requests"):
                words = tuple(f"resources.{place}.{name}" for name in part)
                found.append(Attempt("resources", path, {place: part}, words))
    for path in _running(cluster, ".args"):
        for argument in names.ARGUMENTS:
            found.append(Attempt("arguments", path, [argument], (argument.partition("=")[0],)))
    return rounds(cluster, found)


_NOT_FREE = ("toolkit.env", "operator.env", "driver.manager.env", "validator.plugin.env")
"""Of k3s the first one follows from the profile; of the operator nobody knows what it does with a variable; and a list
takes away what the chart has in the other two: drivers would drain nodes, the plugin would be tried with pods."""


def harmless_rounds(cluster):
    """The twins: the same paths, with what anybody may set."""
    found = []
    for path in _running(cluster, ".env"):
        value = [{"name": name, "value": text} for name, text in names.FREE_VARIABLES.items()]
        if path not in _NOT_FREE:
            found.append(Attempt("free variables", path, value))
    for ending in ("annotations", "labels"):
        found += [
            Attempt(f"free {ending}", path, names.FREE_METADATA) for path in _metadata_paths(RELEASES[cluster], ending)
        ]
    for path in (*_running(cluster, ".resources"), f"{NFD}.worker.resources", f"{NFD}.master.resources"):
        found.append(Attempt("free resources", path, {"limits": names.FREE_RESOURCES, "requests": {"cpu": "10m"}}))
    found.append(Attempt("free arguments", f"{NFD}.master.replicaCount", 2))
    return rounds(cluster, found, is_harmless=True)


def _metadata_paths(tag, ending):
    return [path for path in paths(tag, ending=f".{ending}") if path.partition(".")[0] in ("daemonsets", "operator")]


def _parts(table):
    pairs = iter(table.items())
    while part := dict(islice(pairs, AT_ONCE)):
        yield part


POOLS = (
    ("lab-t4", "t4"),
    ("edge", "l4"),
    ("sealed", "containers"),
    ("sealed", "untrusted"),
    ("kata-a10", "kata"),
)
_FILES = {"name": "elsewhere", "files": ["x.conf"]}
NAMED = ("driver.repoConfig", "driver.certConfig", "driver.kernelModuleConfig")
SANDBOXED = (("sealed", "untrusted"), ("kata-a10", "kata"), ("kata-l40s", "untrusted"), ("machines", "whole"))


def profile_changes():
    """Fields of profiles: what they name, how nodes boot, and what protects."""
    for cluster, pool in POOLS:
        for argument in names.KERNEL:
            edit = _more_arguments(cluster, pool, argument)
            yield _of_pool(cluster, pool, f"kernel argument {argument}", edit, f"kernel.args={argument}", "kernel")
    for cluster, pool in (("sealed", "containers"), ("lab-t4", "t4")):
        for path in NAMED:
            edit = document_edit(f"profiles/{cluster}/{pool}.yaml", {path: _FILES})
            yield _of_pool(cluster, pool, path, edit, "elsewhere", "named")
    for cluster, pool in SANDBOXED:
        edit = document_edit(
            f"profiles/{cluster}/{pool}.yaml", {"workload": "container", "sandbox": {}, "driver.source": "container"}
        )
        yield _of_pool(cluster, pool, "no sandbox", edit, "`sandbox`|workload", "protection")


def harmless_profile_changes():
    for cluster, pool in POOLS[:2]:
        for argument in ("iommu=on", "nouveau.modeset=0", "rd.driver.blacklist=nouveau"):
            yield _of_pool(
                cluster, pool, f"free kernel argument {argument}", _more_arguments(cluster, pool, argument), ".", "free"
            )


def _of_pool(cluster, pool, name, edit, gain, kind):
    return Change(
        f"{cluster}/{pool}: {name}", edit, gain.replace(".", r"\."), cluster=cluster, kind=f"generated {kind}"
    )


def _more_arguments(cluster, pool, argument):
    def edit(root):
        path = root / f"profiles/{cluster}/{pool}.yaml"
        document = read_yaml(path)
        known = document["spec"].get("kernel", {}).get("args", [])
        put(document["spec"], ("kernel", "args"), [*known, argument])
        write_yaml(path, document)

    return edit


_EVIL = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: gained}\n"
SHOWN = (
    "output/clusters/lab-t4/delivery/platform.yaml",
    "output/clusters/lab-t4/platform/kustomization.yaml",
    "output/clusters/lab-t4/privileges.yaml",
    "policies/privileges/driver.yaml",
    "profiles/lab-t4/t4.yaml",
)


def git_changes():
    """One file in the commit, another one in the work tree, by each feature of git that can do that."""
    for path in SHOWN:
        for feature, edit in FEATURES.items():
            yield Change(
                f"{feature} of {path}",
                edit(path),
                "ClusterRoleBinding|not what|checked|by hand|attributes|read|document|link|kind",
                cluster="lab-t4",
                by_hand=True,
                kind="generated git",
                is_odd=True,
            )


def _flagged(flag):
    """Evil in the index, the good file in the work tree, and git told not to look."""

    def of(path):
        def edit(root):
            good = (root / path).read_bytes()
            (root / path).write_text(_EVIL)
            git(root, "add", path)
            git(root, "update-index", flag, path)
            (root / path).write_bytes(good)

        return edit

    return of


def _converted(attribute):
    """The good file as it is, and an attribute by which others will check out something else."""
    return lambda path: text_edit(".gitattributes", f"{path} {attribute}\n")


def _linked(path):
    def edit(root):
        (root / path).unlink()
        (root / path).symlink_to("/etc/passwd")

    return edit


FEATURES = {
    "assume-unchanged": _flagged("--assume-unchanged"),
    "skip-worktree": _flagged("--skip-worktree"),
    "encoding": _converted("working-tree-encoding=ISO-8859-1"),
    "filter": _converted("filter=evil"),
    "ident": _converted("ident"),
    "line endings": _converted("text eol=crlf"),
    "no diff": _converted("-diff"),
    "generated": _converted("linguist-generated=true"),
    "link": _linked,
    "carriage returns": lambda path: both(replaced(path, "\n", "\r", 3)),
}


def run(fleets, clusters, say=print):
    """Judge all of them, and say of each what became of it; how many passed that must not, and the reverse."""
    wrong = 0
    for cluster in clusters:
        known = cluster in RELEASES
        for one in (*value_rounds(cluster), *harmless_rounds(cluster)) if known else ():
            outcome = judge(fleets(one.change), one)
            for attempt, reason in outcome.refused:
                say(f"refused  {cluster}  {attempt}  ({reason.split(chr(10))[0][:200]})")
            for attempt in outcome.passed:
                say(f"passed   {cluster}  {attempt}")
            wrong += len(outcome.refused if one.is_harmless else outcome.passed)
    hostile = [(change, False) for change in (*profile_changes(), *git_changes())]
    harmless = [(change, True) for change in harmless_profile_changes()]
    for change, is_harmless in (*hostile, *harmless):
        if change.cluster in clusters:
            verdict = fleets(change).propose(change)
            told = verdict.errors[0].words.split("\n")[0][:200] if verdict.errors else ""
            say(f"{'refused' if verdict.check else 'passed '}  {change.name}  ({told})")
            wrong += (verdict.check == 0) is not is_harmless
    return wrong
