"""What a run says of a project with one mistake in it; `python -m interface.messages.told` writes the golden file anew.

In the folder `tests`, with `PYTHONPATH=../generator:.`.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

from interface.messages.lab_files import FILES
from interface.messages.mistakes import MISTAKES, Mistake

GOLDEN = Path(__file__).with_name("golden.txt")
TODAY = ("--today", "2026-11-27")
_ROOT = re.compile(r" --root /[^` ]*")
_OWN = ("--reason", "the stack of the lab", "--owner", "gpu-platform", "--expires", "2027-06-30")


def run(root: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and all output of one command."""
    from poolsmith.interface.cli.main import _run

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = _run([*arguments, "--root", str(root)])
    return code, out.getvalue()


def make_project(root: Path) -> None:
    """A project that a check finds nothing in."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for verb in (("grants", "--write", *_OWN), ("generate",)):
        code, text = run(root, *verb)
        assert code == 0, text


def told(root: Path, mistake: Mistake) -> tuple[int, str]:
    """What a check says while the mistake is there: exit code and report."""
    good = FILES[mistake.file]
    assert mistake.old in good, mistake.name
    file = root / mistake.file
    file.write_text(good.replace(mistake.old, mistake.new, 1) if mistake.old else good + mistake.new)
    try:
        return run(root, "check", *TODAY)
    finally:
        file.write_text(good)


def findings(report: str) -> list[list[str]]:
    """The lines of each finding, without the line that counts a rule's places and without what was checked."""
    found: list[list[str]] = []
    for line in report.partition("\nchecked ")[0].splitlines():
        if any(f": {severity} PSM" in line for severity in ("error", "warning", "note")):
            found.append([line])
        elif found and line.startswith("   "):
            found[-1].append(line)
    return found


def golden_lines(mistake: Mistake, code: int, report: str) -> list[str]:
    """What a reviewer reads: the mistake, then the first line and the help of each finding."""
    lines = [f"{mistake.name}  [{code}]"]
    for finding in findings(report):
        lines.append(f"    {finding[0]}")
        lines.extend(f"       {line.strip()}" for line in finding if line.startswith("   help:"))
    return [_ROOT.sub("", line) for line in lines]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_project(root)
        texts = ["\n".join(golden_lines(item, *told(root, item))) for item in MISTAKES]
    GOLDEN.write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
