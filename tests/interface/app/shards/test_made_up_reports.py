"""Reports that somebody has made up: what no shard can have found is refused, and no report is a way to run or write
anything, or to read a file."""

from __future__ import annotations

import json
import os
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.diagnostic import Location, Position, Span
from poolsmith.core.diagnostics.outcome import LEFT_OUT_FOR_ERRORS, Skipped, Unevaluated
from poolsmith.interface.app.shard_merge import merge
from poolsmith.interface.app.shard_part import ShardError, read_part
from support.shard_reports import packed, results_of, with_first, with_question, with_results, with_shard

FORMATS = ("text", "json", "markdown", "sarif", "junit", "html", "github")
LONG_NUMBER = "9" * 5000


@pytest.fixture
def report(judged_fleet, tmp_path):
    """Of a check in one shard."""
    path = tmp_path / "report.json"
    path.write_text(judged_fleet)
    return path


def test_a_report_that_nobody_has_changed_is_taken(project, report):
    assert merge(project, [report]).outcome.checked["clusters"] == 5


def test_any_other_value_is_another_text_or_damaged_and_no_bug(report):
    results = results_of(report)[:1]
    draw = random.Random(5)
    read = 0
    for _ in range(300):
        spoiled = json.loads(json.dumps(results))
        spoil(draw, spoiled)
        with_results(report, spoiled)
        with suppress(ShardError):
            read_part(report.read_text(), "x.json", 5)
            read += 1
    assert 0 < read < 150


def spoil(draw, value):
    """One value somewhere below is replaced by another one."""
    while True:
        places = list(range(len(value))) if isinstance(value, list) else list(value)
        place = draw.choice(places)
        below = value[place]
        if not isinstance(below, list | dict) or not below or draw.random() < 0.1:
            value[place] = draw.choice([None, True, -1, 1 << 70, "", "x", "\0", "\ud800", [], {}, [[]], {"a": 1}])
            return
        value = below


def judged(part, **more):
    return replace(part, result=replace(part.result, judgement=replace(part.result.judgement, **more)))


def granted(part, **more):
    use = part.result.judgement.grant_use
    return judged(part, grant_use=replace(use, use=replace(use.use, **more)))


def found(part, **more):
    """The first finding, told otherwise."""
    first, *rest = part.result.diagnostics
    return replace(part, result=replace(part.result, diagnostics=(replace(first, **more), *rest)))


def schemas(part, **more):
    folder = part.result.folder
    findings = replace(folder.findings, schemas=replace(folder.findings.schemas, **more))
    return replace(part, result=replace(part.result, folder=replace(folder, findings=findings)))


MADE_UP = {
    "another cluster": lambda part: replace(part, result=replace(part.result, name="lab-t4")),
    "a cluster that is a path": lambda part: replace(part, result=replace(part.result, name="../../etc")),
    "a cluster with two lines": lambda part: replace(part, result=replace(part.result, name="edge\n::error::x")),
    "a rule that there is none of": lambda part: found(part, code="PSM999"),
    "a rule with another name": lambda part: found(part, name="all-is-well"),
    "a finding that somebody has waived": lambda part: found(part, status="waived"),
    "grants of another cluster": lambda part: judged(
        part, grant_use=replace(part.result.judgement.grant_use, cluster="prod-rke2")
    ),
    "a grant that there is none of": lambda part: granted(part, met=frozenset((100_000,))),
    "a token that there is none of": lambda part: granted(part, exact=frozenset(((0, 100_000),))),
    "what another cluster has not evaluated": lambda part: judged(
        part, unevaluated=(Unevaluated(cluster="prod-rke2", what="x", place=place("profiles/edge")),)
    ),
    "what was left out, and judged": lambda part: judged(
        part, skipped=(Skipped(what=LEFT_OUT_FOR_ERRORS, reason="x"),)
    ),
    "a count of lines of text": lambda part: judged(part, checked={"a\nb": 5}),
    "a version that nobody can read": lambda part: schemas(part, kubernetes=f"1.{LONG_NUMBER}.0"),
    "a version that is a path": lambda part: schemas(part, operator="../../v25.3.0"),
    "a namespace that is a pattern": lambda part: replace(part, result=replace(part.result, admission=("*",))),
    "no output, of sound profiles": lambda part: replace(
        part, result=replace(part.result, folder=None, judgement=None)
    ),
    "output that nobody judged": lambda part: replace(part, result=replace(part.result, judgement=None)),
    "other files": lambda part: replace(part, files="0" * 40),
}


def place(path):
    position = Position(line=1, column=1)
    return Location(span=Span(path=path, start=position, end=position))


@pytest.mark.parametrize("case", MADE_UP)
def test_what_no_shard_finds_is_refused(project, report, run_cli, case, contents):
    with_first(report, MADE_UP[case])
    before = contents(project)
    ended = run_cli(["report", "merge", "--root", project, report])

    assert (ended.code, ended.out) == (1, "")
    assert len(ended.err.splitlines()) == 1, ended.err
    assert contents(project) == before


@pytest.mark.rows(5, "a row takes 0.11 s; each value of each column is seen first")
@pytest.mark.parametrize(
    "asked",
    [
        {"base": "\x00"},
        {"base": "--output=x"},
        {"base": "HEAD~1"},
        {"today": "yesterday"},
        {"today": "2026-13-40"},
        {"today": LONG_NUMBER},
        {"work": "explain"},
        {"accepted": ("everything",)},
        {"clusters": 1 << 40},
        {"tool": "9.9.9"},
        {"shared": ""},
    ],
    ids=lambda asked: str(asked)[:40],
)
def test_what_nobody_asks_is_refused(project, report, run_cli, asked):
    with_question(report, **asked)
    ended = run_cli(["report", "merge", "--root", project, report])

    assert (ended.code, ended.out) == (1, "")
    assert len(ended.err.splitlines()) == 1, ended.err


@pytest.mark.parametrize(
    "more",
    [
        {"number": 0},
        {"number": 2},
        {"of": 1000},
        {"of": 1 << 70},
        {"number": True},
        {"number": "1"},
        {"results": None},
        {"results": "!"},
        {"results": packed(b"")},
        {"results": packed(b"\n" * 10)},
        {"results": packed(b"[" * 100_000 + b"\n")},
        {"results": packed(LONG_NUMBER.encode() + b"\n")},
        {"question": "["},
        {"question": "null"},
    ],
    ids=lambda more: str(more)[:40],
)
def test_what_is_no_shard_is_damaged(project, report, more):
    with_shard(report, **more)

    with pytest.raises(ShardError):
        merge(project, [report])


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
def test_results_that_are_cut_off_are_damaged(project, report):
    whole = json.loads(report.read_text())["shard"]["results"]
    for kept in (len(whole) // 2, len(whole) - 8, 0):
        with_shard(report, results=whole[: kept // 4 * 4])
        with pytest.raises(ShardError):
            merge(project, [report])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b" " * (9 << 20) + b"\n", "larger than those of so many clusters"),
        (b" " * (1 << 28), "larger than those of so many clusters"),
        (b"[]\n" * 6, "no ClusterPart"),
    ],
)
def test_a_bomb_is_not_unpacked(project, report, content, says):
    with_shard(report, results=packed(content))

    with pytest.raises(ShardError, match=says):
        merge(project, [report])


def test_results_of_more_clusters_than_its_part_has_are_refused(project, report):
    results = results_of(report)
    with_results(report, [*results, results[0]])

    with pytest.raises(ShardError, match="more clusters than the 5 of its part"):
        merge(project, [report])


def test_a_file_that_is_larger_than_any_report_is_not_read(project, report):
    with report.open("ab") as file:
        file.truncate(1 << 40)

    with pytest.raises(ShardError, match="no report of so many clusters is"):
        merge(project, [report])


def test_what_is_no_file_is_not_waited_for(project, run_cli, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, "/dev/zero"):
        ended = run_cli(["report", "merge", "--root", project, path])
        assert (ended.code, "it is no file" in ended.err) == (2, True)


@pytest.mark.rows(3, "formats that escape otherwise")
@pytest.mark.parametrize("form", FORMATS)
def test_texts_of_a_report_are_texts_in_each_format(project, report, run_cli, form):
    hostile = "\x1b]0;x\x07<script>alert(1)</script>\n::error::x\r| a | `b` ]]> ${{ x }} \u202e"
    spot = replace(place("/etc/hostname"), source_line=hostile, note=hostile)
    more = {"message": hostile, "subject": hostile, "severity": Severity.ERROR, "primary": spot}
    with_first(report, lambda part: found(part, **more))
    ended = run_cli(["report", "merge", "--root", project, report, "--format", form])

    assert ended.code == 1
    assert ended.err == ""
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out
    assert not any(line.startswith("::error::x") for line in ended.out.splitlines())
    if form == "html":
        assert "<script>alert" not in ended.out


def test_the_merge_writes_what_profiles_say_and_nothing_that_a_report_says(project, shards, merged, contents):
    (report,), _ = shards(project, 1, "generate")
    before = contents(project)
    spot = "../../../../etc/x"
    with_first(
        report,
        lambda part: replace(
            part,
            result=replace(part.result, used_bases=frozenset((spot,)), admission=("kube-system",), pools=5),
        ),
    )
    ended = merged(project, [report], "--write")
    after = contents(project)

    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert ended.code == 0
    assert all(path.startswith("output/fleet/") for path in changed), changed
