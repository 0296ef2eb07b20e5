"""A small stand-in for a GitHub runner: the steps of a job, literally, on local clones."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from poolsmith.core.sources.yaml_reader import read_documents

ROOT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"\b(?:github|steps|inputs|needs|vars|secrets)(?:\.[\w-]+)+")
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
_LOCAL, _TOOL = "./", "example/poolsmith"
_PYTHON = """#!{python} -I
import os, pathlib, shutil, sys
words = [word for word in sys.argv[1:] if word not in ("-I", "--clear")]
if words[:2] != ["-m", "venv"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
folder = pathlib.Path(words[2]) / "bin"
folder.mkdir(parents=True, exist_ok=True)
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
                "with open({called!r}, 'a') as log: '--help' in sys.argv or print(*sys.argv[1:], file=log)\\n"
                "sys.argv += ['--jobs', '1'] + (['--today', {today!r}] if sys.argv[1] in ('check', 'diff') else [])\\n"
                "from poolsmith.interface.cli.main import main\\nmain()\\n")
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
    used: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    """Actions of others, with their inputs; they are not run."""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of the job's own steps, by id."""

    @property
    def passed(self):
        return "failure" not in self.steps.values()


class Runner:
    """`origin` and the tool's repository are bare repositories; `answers` are what `gh api PATH` prints, by path.

    `environment` is what the runner sets beside what follows from `github`; `today` is the day for grants and waivers.
    """

    def __init__(self, folder, *, origin, tool, answers, today="2026-11-20", environment=None):
        self.folder, self.origin, self.tool = folder, origin, tool
        self.work, self.temp, self.path = folder / "work", folder / "temp", folder / "path"
        self.environment = environment or {}
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
            "today": today,
        }
        self._command("pip-stub", _PIP.format(**names))
        for name in ("python", "python3"):
            self._command(name, _PYTHON.format(**names, pip=str(self.path / "pip-stub")))
        self._command(
            "gh",
            f"#!{sys.executable} -I\nimport sys\nanswers = {answers!r}\n"
            "found = answers.get(sys.argv[-1])\nif found is None: sys.exit(1)\nprint(found)\n",
        )

    def _command(self, name, text):
        (self.path / name).write_text(text)
        (self.path / name).chmod((self.path / name).stat().st_mode | stat.S_IXUSR)

    def run(self, job, github):
        done = Job()
        self._told(github)
        done.outputs, _ = self._steps(job["steps"], {"github": github}, done, {})
        done.installed, done.called = self.log.read_text(), self.called.read_text()
        return done

    def _told(self, github):
        """What the runner tells each step of its run."""
        told, summary = self.temp / "event.json", self.temp / "summary.md"
        told.write_text(json.dumps(github.get("event", {})))
        summary.touch()
        self.environment = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(told),
            "GITHUB_EVENT_NAME": github.get("event_name", ""),
            "GITHUB_REPOSITORY": github.get("repository", ""),
            "GITHUB_RUN_ID": "99",
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_API_URL": "http://127.0.0.1:9",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(self.work),
            **self.environment,
        }

    def _steps(self, steps, given, done, environment):
        """Outputs by id, and whether all went well. `given` are the contexts that expressions see."""
        outputs, outcomes, well = {}, {}, True
        for step in steps:
            known = {
                **given,
                "steps": {
                    name: {"outputs": outputs.get(name, {}), "outcome": outcome} for name, outcome in outcomes.items()
                },
            }
            name = step.get("name", step.get("uses"))
            wanted = filled(step.get("if", ""), known) if "if" in step else well
            if not wanted or (not well and "cancelled()" not in str(step.get("if", ""))):
                done.steps[name] = outcomes[step.get("id")] = "skipped"
                continue
            if "uses" in step:
                options = {key: filled(value, known) for key, value in step.get("with", {}).items()}
                result, outputs[step.get("id")] = self._use(step["uses"], options, known, done)
            else:
                result, outputs[step.get("id")] = self._script(step, known, environment)
            done.printed += result.stdout + result.stderr
            done.steps[name] = outcomes[step.get("id")] = "failure" if result.returncode else "success"
            well = well and not result.returncode
        return outputs, well

    def _use(self, action, options, known, done):
        nothing = subprocess.CompletedProcess([], 0, "", "")
        if action.startswith((_LOCAL, _TOOL)):
            return self._composite(self._folder_of(action), options, known, done)
        done.used.append((action, options))
        if not action.startswith("actions/checkout@"):
            return nothing, {}
        assert options["persist-credentials"] is False
        source, target = (self.tool if "repository" in options else self.origin), self.work / options.get("path", ".")
        script = 'git clone --quiet --no-checkout "$1" "$2" && cd "$2" && git fetch --quiet origin "+refs/*:refs/remotes/all/*" &&'
        script += ' (git checkout --quiet --detach "origin/$3" 2>/dev/null || git checkout --quiet --detach "$3")'
        return self._bash(script, self.work, {}, str(source), str(target), str(options.get("ref") or "main")), {}

    def _folder_of(self, action):
        """An action of the work tree, or of the tool's repository at the commit that is named."""
        if action.startswith(_LOCAL):
            return self.work / action
        place, _, commit = action.partition("@")
        target = self.folder / "actions" / commit
        if not target.is_dir():
            subprocess.run(["git", "clone", "--quiet", str(self.tool), str(target)], check=True)
            subprocess.run(["git", "checkout", "--quiet", "--detach", commit], cwd=target, check=True)
        return target / place.removeprefix(_TOOL).lstrip("/")

    def _composite(self, folder, options, known, done):
        action = read_documents((folder / "action.yml").read_text("utf-8"))[0]
        assert set(options) <= set(action["inputs"]), "an input that the action does not have"
        inputs = {
            name: str(options[name] if options.get(name) is not None else filled(item.get("default", ""), known))
            for name, item in action["inputs"].items()
        }
        for name, value in options.items():
            inputs[name] = {True: "true", False: "false"}.get(value, str(value))
        here = {"github": known["github"], "inputs": inputs}
        assert all(step.get("shell") == "bash" for step in action["runs"]["steps"] if "run" in step)
        steps, well = self._steps(action["runs"]["steps"], here, done, {"GITHUB_ACTION_PATH": str(folder)})
        known = {"steps": {name: {"outputs": found} for name, found in steps.items()}}
        outputs = {name: filled(item["value"], known) for name, item in action.get("outputs", {}).items()}
        return subprocess.CompletedProcess([], 0 if well else 1, "", ""), outputs

    def _script(self, step, known, more):
        output = self.temp / "output"
        output.write_text("")
        assert "${{" not in step["run"], "nothing is interpolated into a script"
        environment = {key: text_of(filled(value, known)) for key, value in step.get("env", {}).items()}
        result = self._bash(
            step["run"],
            self.work / step.get("working-directory", "."),
            {**more, **environment, "GITHUB_OUTPUT": str(output)},
        )
        return result, dict(line.split("=", 1) for line in output.read_text().splitlines())

    def _bash(self, script, folder, environment, *arguments):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT", "GITHUB"))}
        everything = {
            **inherited,
            "RUNNER_TEMP": str(self.temp),
            "HOME": str(self.temp),
            "POOLSMITH_CACHE_DIR": "",
            **self.environment,
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


def text_of(value):
    """As the runner writes it into a variable."""
    return {True: "true", False: "false", None: ""}.get(value, str(value))


def filled(value, known):
    """A text with its expressions evaluated; one that is nothing but an expression is its value."""
    if not isinstance(value, str) or "${{" not in value:
        return value
    if (whole := _EXPRESSION.fullmatch(value)) is not None:
        return _value(whole[1], known)
    return _EXPRESSION.sub(lambda match: text_of(_value(match[1], known)), value)


def _value(expression, known):
    names = _NAME.sub(lambda match: f"look({match[0]!r})", expression)
    text = re.sub(r"!(?!=)", " not ", names.replace("&&", " and ").replace("||", " or "))
    return eval(text, {"look": lambda path: _at(known, path), "cancelled": lambda: False, "always": lambda: True})


def _at(known, path):
    for key in path.split("."):
        known = known.get(key, "") if isinstance(known, dict) else ""
    return known
