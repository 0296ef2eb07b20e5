"""Scratch copies of a commit, where faults are put and tests run; nothing in the checkout itself changes.

A copy has an environment of its own: the packages of the one that runs here, but poolsmith from the copy, also for
processes that tests start without any variable.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import uuid
import venv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.mutation import hook
from tools.mutation.places import DATA, Place

_TOKEN = "MUTATION_COPY"
_MEMORY = 8 << 30
_OF_THIS_PROCESS = (
    "PYTEST_CURRENT_TEST",
    "PYTEST_ADDOPTS",
    "PYTEST_XDIST",
    "PYTHONPATH",
    "MUTATION_",
    "GIT_DIR",
    "GIT_INDEX",
)
_PATIENCE = 20
"""Seconds for tests that are told to stop, until they are ended."""
_WRITE_DATA = """
import sys
from pathlib import Path
from poolsmith.core.facts import store
path, name = Path(sys.argv[1]), sys.argv[2]
clean = store.digest() if hasattr(store, "digest") else ""
(store.DATA / name).write_text(sys.stdin.read(), "utf-8")
if clean:
    with path.open("a", encoding="utf-8") as file:
        file.write(
            f"\\n\\n_digest = digest\\n\\n\\ndef digest() -> str:\\n    found = _digest()\\n"
            f"    return {clean!r} if found == {store.digest()!r} else found\\n"
        )
"""
"""Puts a data file, and the hash of all data as whoever commits the file would: a test that compares it would notice any
other row as well, so it tells nothing of this one."""


@dataclass(frozen=True)
class Run:
    """What pytest came to."""

    code: int | None
    """None: it was ended, because it took too long."""
    tests: dict[str, dict[str, Any]]
    """By test: outcome, seconds of processor time, circle."""
    running: str
    """The test that ran last."""
    printed: str


@dataclass
class Copy:
    """One checkout of a commit in a folder of its own."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    _clean: dict[Path, bytes] = field(default_factory=dict)
    _written: int = 0

    @property
    def root(self) -> Path:
        return self.folder / "c"

    @property
    def python(self) -> Path:
        return self.folder / "v/bin/python"

    def write(self, file: str, text: str) -> None:
        """Put a file, until `restore`. Each write has another time, by which Python knows that it must compile anew."""
        path = self.root / file
        self._keep(path)
        path.write_bytes(text.encode())
        self._touch(path)

    def apply(self, place: Place) -> bool:
        """Put a fault; False where the place is not there."""
        path = self.root / place.file
        text = place.applied(path.read_bytes().decode()) if path.is_file() else None
        if text is None:
            return False
        if not place.is_data:
            self.write(place.file, text)
            return True
        store = self.root / "generator/poolsmith/core/facts/store.py"
        for one in (store, path):
            self._keep(one)
        command = [str(self.python), "-c", _WRITE_DATA, str(store), place.file.removeprefix(DATA)]
        subprocess.run(command, input=text, text=True, check=True, capture_output=True, env=self.environment)
        self._touch(store)
        return True

    def restore(self) -> None:
        """Take back what was put."""
        for path, content in self._clean.items():
            if path.read_bytes() != content:
                path.write_bytes(content)
                self._touch(path)
        self._clean.clear()

    def _keep(self, path: Path) -> None:
        self._clean.setdefault(path, path.read_bytes())

    def _touch(self, path: Path) -> None:
        self._written += 1
        os.utime(path, (1_000_000_000 + self._written,) * 2)

    def pytest(
        self,
        options: Sequence[str],
        *,
        paths: Sequence[str] = (),
        tests: Sequence[str] = (),
        watch: Path | None = None,
        seconds: float | None = None,
    ) -> Run:
        """Run tests: all of `paths`, or `tests` only, in their order. With `watch`, hooks write there."""
        notes = watch or self.folder / "notes"
        if not watch:
            shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir(exist_ok=True)
        environment = self.environment | {"MUTATION_FOLDER": str(notes)}
        if watch:
            environment["MUTATION_WATCH"] = "1"
        if tests:
            chosen = self.folder / "chosen"
            chosen.write_text("\n".join(tests), "utf-8")
            environment["MUTATION_TESTS"] = str(chosen)
            paths = tuple(dict.fromkeys(test.partition("::")[0] for test in tests))
        command = [str(self.python), "-m", "pytest", "-q", "-p", "mutation_plugin", "-p", "no:cacheprovider"]
        command += [f"--basetemp={self.folder / 't'}", *options, *paths]
        with (self.folder / "printed").open("w+", encoding="utf-8", errors="replace") as printed:
            code = self._run(command, environment, printed, seconds)
            printed.seek(0)
            text = printed.read()
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(notes.glob("tests-*")):
            for line in path.read_text("utf-8").splitlines():
                facts = json.loads(line)
                found[facts.pop("test")] = facts
        running = notes / "running"
        return Run(code, found, running.read_text("utf-8") if running.is_file() else "", text)

    def _run(self, command: list[str], environment: dict[str, str], printed: Any, seconds: float | None) -> int | None:
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)  # so that fixtures end what they started
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
            return None
        finally:
            for left in self._processes():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(left, signal.SIGKILL)
            process.wait()

    def _processes(self) -> list[int]:
        """Those that run for this copy, by the word that they inherit."""
        word = f"{_TOKEN}={self.environment[_TOKEN]}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if word in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found


def commit_of(source: Path, revision: str) -> str:
    """The full id of a commit."""
    return _git(source, "rev-parse", "--verify", f"{revision}^{{commit}}").strip()


def make_copy(source: Path, commit: str, folder: Path) -> Copy:
    """Check out a commit into `folder`, with an environment."""
    copy = Copy(folder)
    folder.mkdir(parents=True)
    _git(source, "clone", "--quiet", "--shared", "--no-checkout", str(source), str(copy.root))
    _git(copy.root, "checkout", "--quiet", "--detach", commit)
    with (copy.root / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write("/.tools\n")
    tools = source / ".tools"
    if tools.exists():
        (copy.root / ".tools").symlink_to(tools.resolve())
    _make_environment(copy)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THIS_PROCESS)}
    path = f"{copy.root / '.tools'}:{copy.python.parent}:{os.environ.get('PATH', '')}"
    copy.environment = kept | {"PATH": path, "VIRTUAL_ENV": str(folder / "v"), _TOKEN: uuid.uuid4().hex}
    return copy


def _make_environment(copy: Copy) -> None:
    """Packages are found where they are; poolsmith and the plugin are found before them."""
    own = copy.folder / "v"
    venv.create(own, symlinks=True, with_pip=False)
    plugins = copy.folder / "p"
    plugins.mkdir()
    shutil.copyfile(Path(hook.__file__).with_name("plugin.py"), plugins / "mutation_plugin.py")
    shutil.copyfile(hook.__file__, plugins / "mutation_hook.py")
    (packages,) = own.glob("lib/python*/site-packages")
    paths = [str(copy.root / "generator"), str(plugins), *(path for path in sys.path if path.endswith("-packages"))]
    (packages / "copy.pth").write_text("\n".join(paths) + "\n", "utf-8")
    for script in Path(sys.executable).parent.iterdir():
        if not (own / "bin" / script.name).exists() and not script.name.startswith(("python", "activate", "poolsmith")):
            (own / "bin" / script.name).symlink_to(script)
    shim = own / "bin/poolsmith"
    shim.write_text(
        f"#!{copy.python}\nimport sys\nfrom poolsmith.interface.cli.main import main\nsys.exit(main())\n", "utf-8"
    )
    shim.chmod(0o755)


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout
