"""Run poolsmith as the inputs of the action say, and tell the steps that follow what came of it.

    python run.py POOLSMITH

The inputs come from the environment: COMMANDS, DIRECTORY, ROOT, BASE, POLICIES_FROM, ACCEPT, FAIL_ON, SARIF and HTML,
and what owners have approved: POLICIES and JUDGE. It ends with 0 when poolsmith could be run, whatever that found:
reports are said and uploaded before the last step of the action fails the job.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from change_base import BaseError, base_of
from step import at, event, is_set, put, run_address, tell
from sticky_comment import MOST_CHARACTERS, fitting

_ALL = ("generate", "check", "diff")
_ACCEPTABLE = ("policy-widening", "judge-change")
_OWN, _OF_BASE = "change", "base"
_FORMATS = re.compile(r"--format \[([a-z|]+)\]")
_USAGE = 2
_MOST_BYTES = 64 << 20
_LEFT_FOR_MARKER = 2_000


class BadInputError(Exception):
    """An input of the action that can't be followed."""


def words(name: str, known: tuple[str, ...]) -> list[str]:
    """Those of an input, in the order of `known`. Raises BadInputError."""
    given = os.environ.get(name, "").replace(",", " ").split()
    if unknown := [word for word in given if word not in known]:
        said = name.lower().replace("_", "-")
        raise BadInputError(f"`{said}` has `{unknown[0][:40]}`; there are {', '.join(known)}")
    return [word for word in known if word in given]


class Run:
    """One run of the action: where, on what, and into which folder."""

    def __init__(self, poolsmith: str) -> None:
        self._poolsmith = poolsmith
        self._folder = Path(os.environ.get("DIRECTORY") or ".").resolve()
        self._root = os.environ.get("ROOT") or "."
        self.reports = Path(tempfile.mkdtemp(prefix="poolsmith-reports-", dir=os.environ["RUNNER_TEMP"]))
        self.codes: dict[str, int] = {}

    def base(self, commands: list[str], policies: str) -> str:
        """Empty where nothing needs one. Raises BaseError, BadInputError."""
        asked = os.environ.get("BASE", "")
        if policies not in (_OF_BASE, _OWN):
            raise BadInputError(f"`policies-from` is `{_OF_BASE}` or `{_OWN}`")
        if not self._folder.is_dir():
            raise BadInputError("`directory` is no folder: check out first")
        if not asked and policies == _OWN and "diff" not in commands:
            return ""
        return base_of(self._folder, os.environ.get("GITHUB_EVENT_NAME", ""), event(), asked)

    def call(self, name: str, *options: str, annotates: bool = True, reports: tuple[str, ...] = ()) -> None:
        """One command; its report goes to the log and into files beside. One command `annotates`, so that nothing is
        said twice."""
        command = [self._poolsmith, name, *options, "--root", self._root]
        command += ["--format", "github" if annotates else "text"]
        known = self._formats(name) if reports else frozenset()
        command += [f"--output={form}={self.file(name, form)}" for form in reports if form in known]
        sys.stdout.write(f"::group::poolsmith {name}\n::endgroup::\n")
        sys.stdout.flush()
        environment = {"POOLSMITH_SOURCE": source_address(), **os.environ}
        self.codes[name] = subprocess.run(command, cwd=self._folder, check=False, env=environment).returncode

    def _formats(self, name: str) -> frozenset[str]:
        """In which there is a report of this command, as its help has them."""
        asked = subprocess.run([self._poolsmith, name, "--help"], capture_output=True, text=True, check=False)
        found = _FORMATS.search(asked.stdout)
        return frozenset(found[1].split("|")) if found else frozenset()

    def said(self, name: str) -> str:
        """The report for people, as Markdown."""
        return self.read(name, "markdown") or fenced(self.read(name, "text"))

    def file(self, name: str, form: str) -> Path:
        return self.reports / f"{name}.{ {'markdown': 'md'}.get(form, form) }"

    def written(self, name: str, form: str) -> str:
        """The path of a report; empty where the command did not get so far."""
        path = self.file(name, form)
        return str(path) if path.is_file() else ""

    def read(self, name: str, form: str) -> str:
        path = self.file(name, form)
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        return path.read_text("utf-8", "replace")

    def json(self, name: str) -> Any:
        try:
            return json.loads(self.read(name, "json"))
        except ValueError:
            return None


def accepted(approved: dict[str, str]) -> list[str]:
    """What is accepted by the workflow itself, and by owners. Raises BadInputError."""
    found = set(words("ACCEPT", _ACCEPTABLE))
    found |= {word for word, name in approved.items() if os.environ.get(name) == "true"}
    return [f"--accept={word}" for word in _ACCEPTABLE if word in found]


def follow(run: Run) -> dict[str, object]:
    """What the steps that follow are told. Raises BaseError, BadInputError."""
    commands = words("COMMANDS", _ALL)
    if not commands:
        raise BadInputError(f"`commands` is empty; there are {', '.join(_ALL)}")
    (fail_on,) = words("FAIL_ON", ("error", "warning", "note")) or ["error"]
    policies = os.environ.get("POLICIES_FROM") or _OF_BASE
    allowed = accepted({"policy-widening": "POLICIES", "judge-change": "JUDGE"})
    base = run.base(commands, policies)
    more = ("html",) if is_set("HTML") else ()
    said = ("json", "markdown", "text")
    limit = f"--fail-on={fail_on}"
    if "generate" in commands:
        run.call("generate", "--check", limit, annotates="check" not in commands)
    if "check" in commands:
        judged = [f"--policies-from={base}", *allowed] if base and policies == _OF_BASE else []
        sarif = ("sarif",) if is_set("SARIF") else ()
        run.call("check", limit, *judged, reports=(*said, *sarif, *more))
    if "diff" in commands and base:
        options = (limit, f"--base={base}", "--head=HEAD", *allowed)
        run.call("diff", *options, annotates="check" not in commands, reports=(*said, *more))
    return told(run, base)


def told(run: Run, base: str) -> dict[str, object]:
    summary, change = at(run.json("check"), "summary"), run.json("diff")
    code = max(run.codes.values(), default=0, key=lambda item: item if item >= 0 else 128 - item)
    return {
        "exit_code": code,
        **{f"{name}_exit_code": run.codes.get(name, "") for name in _ALL},
        "base": base,
        "changed": "" if change is None else str(changes_something(change)).lower(),
        **{name: number(at(summary, name)) for name in ("errors", "warnings", "notes", "waived")},
        "reports": run.reports,
        "comment_file": comment_file(run, change, code),
        "sarif_file": run.written("check", "sarif"),
        "html_file": run.written("diff", "html") or run.written("check", "html"),
        "check_json": run.written("check", "json"),
        "diff_json": run.written("diff", "json"),
        **dict(zip(("sarif_ref", "sarif_sha"), sarif_place(), strict=True)),
    }


def source_address() -> str:
    """Where the files of the head are to be read, for links of the HTML report; empty where nothing says it."""
    head = at(event(), "pull_request", "head")
    repository, commit = at(head, "repo", "html_url"), at(head, "sha")
    if not (isinstance(repository, str) and isinstance(commit, str)):
        server, name = (os.environ.get(f"GITHUB_{word}", "") for word in ("SERVER_URL", "REPOSITORY"))
        repository, commit = f"{server}/{name}", os.environ.get("GITHUB_SHA", "")
    return f"{repository}/blob/{commit}" if commit else ""


def sarif_place() -> tuple[str, str]:
    """Ref and commit that SARIF is of. Empty where that is what the run is at, as for all events but one: a run with
    the rights of the base is at the base, whose alerts these are not."""
    request = at(event(), "pull_request")
    number_of, head = at(request, "number"), at(request, "head", "sha")
    if os.environ.get("GITHUB_EVENT_NAME") != "pull_request_target" or not isinstance(number_of, int):
        return "", ""
    return f"refs/pull/{number_of}/head", str(head)


def changes_something(change: Any) -> bool:
    """Whether anything of a diff's report is there to be told."""
    return any(at(change, name) for name in ("selfGrants", "clusters", "newFindings", "fixedFindings", "unknown"))


def number(found: Any) -> str:
    return str(found) if isinstance(found, int) else ""


def comment_file(run: Run, change: Any, code: int) -> Path:
    """What is said in the pull request: what the change does, and what is wrong. Empty when that is nothing."""
    parts = []
    if change is not None and changes_something(change):
        parts.append(run.said("diff"))
    if run.codes.get("check"):
        parts.append(run.said("check"))
    text = "\n".join(part for part in parts if part)
    if code and not text:
        failed = ", ".join(f"`{name}`" for name, value in run.codes.items() if value)
        text = f"**poolsmith**: {failed} failed; [the log]({run_address()}) says why.\n"
    path = run.reports / "comment.md"
    path.write_text(fitting(text, MOST_CHARACTERS - _LEFT_FOR_MARKER, f"All of it: {run_address()}"), "utf-8")
    return path


def fenced(text: str) -> str:
    """A report for a terminal, as it stands: a fence is longer than any in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}\n" if text.strip() else ""


def main(arguments: list[str]) -> int:
    try:
        run = Run(arguments[0])
        outputs = follow(run)
    except (BaseError, BadInputError) as error:
        tell("error", str(error))
        return _USAGE
    put(**outputs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
