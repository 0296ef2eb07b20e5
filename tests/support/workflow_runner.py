"""A small stand-in for a GitHub runner: the steps of a job, literally, on local clones."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"\b(?:github|steps)(?:\.\w+)+")
_PYTHON = """#!{python} -I
import os, pathlib, shutil, sys
if sys.argv[1:3] != ["-m", "venv"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
folder = pathlib.Path(sys.argv[3]) / "bin"
folder.mkdir(parents=True)
shutil.copy({pip!r}, folder / "pip")
"""
_PIP = """#!{python} -I
import pathlib, sys
words, folder = sys.argv[1:], pathlib.Path(sys.argv[0]).parent
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
if "--require-hashes" in words:
    sys.exit("--hash=sha256:" not in pathlib.Path(words[words.index("--requirement") + 1]).read_text())
if not {{"--no-deps", "--no-build-isolation", "--no-index"}} <= set(words):
    sys.exit("this would install what no lock has")
made = folder / "poolsmith"
made.write_text("#!{python} -I\\nimport sys\\nsys.path.insert(0, {generator!r})\\n"
                "with open({called!r}, 'a') as log: print(*sys.argv[1:], file=log)\\n"
                "from poolsmith.cli.main import main\\nmain()\\n")
made.chmod(0o755)
with open({log!r}, "a") as log:
    log.write("from " + pathlib.Path(words[-1], "generator/who").read_text())
"""


@dataclass
class Job:
    """What came of each step by its name or action: success, failure or skipped; and all that was printed."""

    steps: dict[str, str] = field(default_factory=dict)
    printed: str = ""
    installed: str = ""
    called: str = ""

    @property
    def passed(self):
        return "failure" not in self.steps.values()


class Runner:
    """`origin` and the tool's repository are bare repositories; `answers` are what `gh api PATH` prints, by path."""

    def __init__(self, folder, *, origin, tool, answers):
        self.folder, self.origin, self.tool = folder, origin, tool
        self.work, self.temp, self.path = folder / "work", folder / "temp", folder / "path"
        for one in (self.work, self.temp, self.path):
            one.mkdir(parents=True)
        self.log = folder / "pip.log"
        self.log.touch()
        self.called = folder / "calls.log"
        self.called.touch()
        names = {
            "python": sys.executable,
            "log": str(self.log),
            "called": str(self.called),
            "generator": str(ROOT / "generator"),
        }
        self._command("pip-stub", _PIP.format(**names))
        self._command("python", _PYTHON.format(**names, pip=str(self.path / "pip-stub")))
        self._command(
            "gh",
            f"#!{sys.executable} -I\nimport sys\nanswers = {answers!r}\n"
            "found = answers.get(sys.argv[-1])\nif found is None: sys.exit(1)\nprint(found)\n",
        )

    def _command(self, name, text):
        (self.path / name).write_text(text)
        (self.path / name).chmod((self.path / name).stat().st_mode | stat.S_IXUSR)

    def run(self, job, github):
        done, outputs, outcomes = Job(), {}, {}
        for step in job["steps"]:
            known = {
                "github": github,
                "steps": {
                    name: {"outputs": outputs.get(name, {}), "outcome": outcome} for name, outcome in outcomes.items()
                },
            }
            name = step.get("name", step.get("uses"))
            wanted = filled(step.get("if", ""), known) if "if" in step else done.passed
            if not wanted or (not done.passed and "cancelled()" not in str(step.get("if", ""))):
                done.steps[name] = outcomes[step.get("id")] = "skipped"
                continue
            if "uses" in step:
                result = self._use(
                    step["uses"], {key: filled(value, known) for key, value in step.get("with", {}).items()}
                )
            else:
                result, outputs[step.get("id")] = self._script(step, known)
            done.printed += result.stdout + result.stderr
            done.steps[name] = outcomes[step.get("id")] = "failure" if result.returncode else "success"
        done.installed, done.called = self.log.read_text(), self.called.read_text()
        return done

    def _use(self, action, options):
        if not action.startswith("actions/checkout@"):
            return subprocess.CompletedProcess([], 0, "", "")
        assert options["persist-credentials"] is False
        source, target = (self.tool if "repository" in options else self.origin), self.work / options["path"]
        script = 'git clone --quiet --no-checkout "$1" "$2" && cd "$2" && git fetch --quiet origin "+refs/*:refs/remotes/all/*" &&'
        script += ' (git checkout --quiet --detach "origin/$3" 2>/dev/null || git checkout --quiet --detach "$3")'
        return self._bash(script, self.work, {}, str(source), str(target), str(options["ref"]))

    def _script(self, step, known):
        output = self.temp / "output"
        output.write_text("")
        assert "${{" not in step["run"], "nothing is interpolated into a script"
        environment = {key: str(filled(value, known) or "") for key, value in step.get("env", {}).items()}
        result = self._bash(
            step["run"], self.work / step.get("working-directory", "."), {**environment, "GITHUB_OUTPUT": str(output)}
        )
        return result, dict(line.split("=", 1) for line in output.read_text().splitlines())

    def _bash(self, script, folder, environment, *arguments):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT", "GITHUB"))}
        everything = {
            **inherited,
            "RUNNER_TEMP": str(self.temp),
            "HOME": str(self.temp),
            "POOLSMITH_CACHE_DIR": "",
            **environment,
        }
        everything["PATH"] = f"{self.path}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-c", script, "bash", *arguments],
            cwd=folder,
            env=everything,
            capture_output=True,
            text=True,
            check=False,
        )


def filled(value, known):
    """A text with its expressions evaluated; one that is nothing but an expression is its value."""
    if not isinstance(value, str) or "${{" not in value:
        return value
    (only,) = re.findall(r"^\$\{\{ (.*) \}\}$", value)
    text = re.sub(r"!(?!=)", " not ", only.replace("&&", " and ").replace("||", " or "))
    return eval(
        _NAME.sub(lambda match: f"look({match[0]!r})", text),
        {"look": lambda path: _at(known, path), "cancelled": lambda: False},
    )


def _at(known, path):
    for key in path.split("."):
        known = known.get(key, "") if isinstance(known, dict) else ""
    return known
