"""A project with a sound cluster, one to break, and one that has a mistake of its own."""

from __future__ import annotations

import re
import shutil
import zlib

import pytest

from support.circles import DEEP

ANNOTATION = re.compile(
    r"::(error|warning|notice) file=[^:,]+(,(line|col|endLine|endColumn)=\d+)*,title=PSM\d{3} [a-z0-9-]+::"
)
LINES_PER_FINDING = 12
MISTAKE = ("unknown-field", "profiles/mistaken/pool-0.yaml:21:3")


def place(diagnostic):
    primary = diagnostic["primary"]
    return primary["path"] + (f":{primary['line']}:{primary['column']}" if primary["line"] else "")


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "project"


@pytest.fixture
def project(generated, synthetic_fleet, run_cli, tmp_path):
    """Clusters `broken`, `mistaken` and `sound`, generated; afterwards `mistaken` gets an unknown field."""
    if not generated.exists():
        synthetic_fleet(3, 2, root=generated)
        for old, new in (("c000", "broken"), ("c001", "mistaken"), ("c002", "sound")):
            folder = (generated / "profiles" / old).rename(generated / "profiles" / new)
            text = (folder / "cluster.yaml").read_text()
            (folder / "cluster.yaml").write_text(text.replace(old, new))
        assert run_cli(["generate", "--root", generated]).code == 0
        with (generated / "profiles/mistaken/pool-0.yaml").open("a") as stream:
            stream.write("  diver: {}\n")
    return shutil.copytree(generated, tmp_path / "project", symlinks=True)


@pytest.fixture
def write(project):
    """Write bytes or text below the project."""

    def write_file(path, content):
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write_file


@pytest.fixture
def edit(project):
    """Replace a text in a profile."""

    def replace(path, old, new):
        target = project / path
        text = target.read_text()
        assert old in text
        target.write_text(text.replace(old, new, 1))

    return replace


def _hold_their_promises(text, github, count):
    assert text.count("\n") <= LINES_PER_FINDING * min(200, count) + LINES_PER_FINDING
    for line in text.splitlines():
        assert line.isprintable()
        assert len(line) < 1000
    annotations, _, report = github.partition("\n::stop-commands::")
    assert all(ANNOTATION.match(line) and line.isprintable() for line in annotations.split("\n"))
    assert len(annotations.splitlines()) <= 30
    token, _, rest = report.partition("\n")
    bounded = re.sub(
        r"^[\d,]+ more findings?: GitHub shows no more annotations of one run\n", "", rest, flags=re.MULTILINE
    )
    assert bounded == text + f"::{token}::\n"


@pytest.fixture
def findings(request, project, run_cli, contents):
    """Names and places of what `generate` finds; nothing may be written, and every format must hold its promises.

    Of each three tests one looks at the formats for people; all of them in the circle `deep`.
    """
    shown = DEEP or zlib.crc32(request.node.name.encode()) % 3 == 0

    def run(*, expect=(MISTAKE,), clean_exit=1):
        before = contents(project)
        results = {
            form: run_cli(["generate", "--root", project, "--format", form])
            for form in (("text", "json", "github") if shown else ("json",))
        }
        checked = run_cli(["check", "--root", project, "--format", "json"])
        assert contents(project) == before
        diagnostics = results["json"].diagnostics
        for result in (*results.values(), checked):
            assert result.code == clean_exit
            assert result.err == ""
            assert "Traceback" not in result.out
            assert "internal error" not in result.out
        if shown:
            _hold_their_promises(results["text"].out, results["github"].out, len(diagnostics))
        found = [(item["name"], place(item)) for item in diagnostics]
        assert set(expect) <= set(found)
        assert {(item["name"], place(item)) for item in checked.diagnostics} >= set(found)
        return [finding for finding in found if finding not in expect]

    return run
