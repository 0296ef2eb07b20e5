"""The first screen: what is worst, over all clusters; what can wait in one line; and nothing that decides is hidden."""

from __future__ import annotations

import ast
import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import Location, Position, RuleInfo, Severity, Span, diagnose
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.guard.rules.rule_book import rule_book
from poolsmith.interface.report.finding_blocks import wrapped
from poolsmith.interface.report.formats import FILE, GROUPS, Layout
from poolsmith.interface.report.text import format_text

GREPPABLE = re.compile(
    r"^(?P<path>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning|note) (?P<code>PSM\d{3}) "
)


def rule(number, severity=Severity.ERROR, *, to_do=True):
    return RuleInfo(code=f"PSM{number}", name=f"rule-{number}", severity=severity, to_do=to_do)


def at(path, line=1, text="key: value"):
    return Location(span=Span(path=path, start=Position(line, 1), end=Position(line, 4)), source_line=text)


def on_clusters(info, count, *, help="write less", path="profiles/c{:03}/cluster.yaml"):
    return [
        diagnose(info, f"cluster {number} is wrong because of the reason", at(path.format(number)), help=help)
        for number in range(count)
    ]


def text(findings, **flags):
    return format_text(Outcome(diagnostics=tuple(findings), checked={"clusters": 3}), Layout(**flags))


@pytest.mark.deep("a check of the whole fleet")
@pytest.mark.sample
@pytest.mark.rows(1, "a check of the whole fleet each")
@pytest.mark.parametrize("verb", ["generate", "check"])
def test_a_clean_fleet_fits_a_few_lines_of_a_narrow_terminal(sample_project, repository, run_cli, verb):
    shutil.copytree(repository / "policies", sample_project / "policies")
    run_cli(["generate"], cwd=sample_project)
    result = run_cli([verb], cwd=sample_project)
    columns = "".join(piece for piece, _ in wrapped([(result.out, "plain")], 80))

    assert result.code == 0
    assert len(result.out.splitlines()) <= 8
    assert len(columns.splitlines()) <= 12
    assert "note PSM" not in result.out
    assert re.search(r"^notes: .*`poolsmith \w+ -v` shows them$", result.out, re.MULTILINE)


def test_one_rule_on_many_clusters_is_one_block():
    shown = text(on_clusters(rule(640), 12)).splitlines()

    assert shown[0] == "PSM640 on 12 clusters: rule-640 (c000, c001, c002, c003, c004 and 7 more)"
    assert [line for line in shown if line.startswith("PSM")] == shown[:1]
    assert sum(1 for line in shown if GREPPABLE.match(line)) == 10
    assert "   and 2 more; `-v` shows them" in shown
    assert shown.count("   help: write less") == 1


def test_what_a_base_brings_to_many_clusters_is_told_once():
    found = [diagnose(rule(101), "`spec.x` is unknown", at("profiles/_bases/gpu.yaml"), subject=name) for name in "abc"]
    shown = text(found)

    assert shown.startswith("PSM101 on 3 clusters: rule-101 (a, b, c)\nprofiles/_bases/gpu.yaml:1:1: error PSM101 ")
    assert shown.count("profiles/_bases/gpu.yaml") == 1


def test_the_worst_comes_first_and_nothing_is_told_twice():
    found = [
        *on_clusters(rule(300, Severity.WARNING), 9),
        *on_clusters(rule(200), 1),
        *on_clusters(rule(201), 7),
        *on_clusters(rule(202), 2),
    ]
    shown = text(found, rest="poolsmith check -v").splitlines()

    assert [line[:6] for line in shown if line.startswith("PSM")] == ["PSM201", "PSM202", "PSM300"]
    assert "worst:" not in shown


def test_a_note_with_nothing_to_do_is_shown_to_who_asks_for_it():
    found = [*on_clusters(rule(402, Severity.NOTE, to_do=False), 4), *on_clusters(rule(640, Severity.NOTE), 2)]

    assert "notes: PSM640 on 2 clusters, 4 with nothing to do; `-v` shows them\n" in text(found)
    assert "PSM402" not in text(found)
    assert text(found, verbose=True).count("note PSM402") == 4


def test_a_setting_that_makes_a_note_a_warning_shows_it():
    found = [diagnose(rule(402, to_do=False), "is so", at("a.yaml"), severity=Severity.WARNING)]
    assert "a.yaml:1:1: warning PSM402 rule-402: is so" in text(found)


@pytest.mark.parametrize("to_do", [True, False])
def test_what_decides_the_exit_code_is_never_folded(to_do):
    found = on_clusters(rule(402, Severity.NOTE, to_do=to_do), 2)
    shown = text(found, fail_on=Severity.NOTE)

    assert shown.count("note PSM402") == 2
    assert "notes: " not in shown


@pytest.mark.parametrize("group", GROUPS)
def test_verbose_shows_every_finding_with_a_line_for_grep(group):
    found = [*on_clusters(rule(200), 300), *on_clusters(rule(402, Severity.NOTE, to_do=False), 30)]
    shown = text(found, verbose=True, group_by=group)
    lines = [match for line in shown.splitlines() if (match := GREPPABLE.match(line))]

    assert len(lines) == 330
    assert "shows" not in shown


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_not_shown_of_errors_is_counted(group):
    found = on_clusters(rule(200), 300)
    shown = text(found, group_by=group)
    lines = sum(bool(GREPPABLE.match(line)) for line in shown.splitlines())
    told = sum(
        int(number)
        for number in re.findall(r"^ *(?:and )?(\d+) more(?: findings are not shown)?;", shown, re.MULTILINE)
    )

    assert lines + told == 300
    assert "300 errors" in shown


def test_by_file_findings_stand_in_the_order_of_files_and_lines():
    found = [
        diagnose(rule(number), "wrong", at(path, line))
        for path, line, number in (("a.yaml", 3, 201), ("a.yaml", 9, 200), ("b.yaml", 1, 200))
    ]
    found[0] = diagnose(rule(201), "wrong", at("a.yaml", 3), severity=Severity.WARNING)
    lines = [line for line in text(found, group_by=FILE).splitlines() if GREPPABLE.match(line)]
    assert [line.partition(" ")[0] for line in lines] == ["a.yaml:3:1:", "a.yaml:9:1:", "b.yaml:1:1:"]


def test_by_cluster_each_cluster_has_its_findings():
    found = [
        *on_clusters(rule(200), 2),
        *on_clusters(rule(201), 2),
        diagnose(rule(600), "wrong", at("policies/x.yaml")),
    ]
    shown = text(found, group_by="cluster")

    assert re.findall("^(cluster .*|no cluster.*)$", shown, re.MULTILINE) == [
        "no cluster of its own", "cluster c000", "cluster c001"
    ]  # fmt: skip


def test_what_was_skipped_by_design_is_counted_and_told_to_who_asks():
    outcome = Outcome(skipped=(Skipped("26 documents", "no objects", by_design=True), Skipped("images", "no list")))

    assert "2 skipped\n   skipped images: no list\n" in format_text(outcome)
    assert "   skipped 26 documents: no objects\n" in format_text(outcome, Layout(verbose=True))


def test_a_long_message_is_whole_and_a_terminal_gets_it_in_lines():
    found = on_clusters(rule(200), 1)
    narrow = text(found, width=50).splitlines()

    assert all(len(line) <= 50 for line in narrow)
    assert re.sub(r"\s+", " ", " ".join(narrow)) == re.sub(r"\s+", " ", text(found)).strip()


@pytest.mark.parametrize("column", [1, 90, 700, 995])
def test_the_mark_stands_under_what_is_wrong_in_a_long_line(column):
    line = "".join(f"{number:>9} " for number in range(100))
    line = f"{line[: column - 1]}WRONG{line[column + 4 :]}"
    span = Span(path="a.yaml", start=Position(1, column), end=Position(1, column + 5))
    shown = text([diagnose(rule(200), "is wrong", Location(span=span, source_line=line))], width=80).splitlines()

    assert all(len(item) <= 80 for item in shown[:3])
    start = shown[2].index("^")
    assert shown[1][start : start + 5] == "WRONG"
    assert shown[2][start:] == "^^^^^"


@given(
    st.lists(st.tuples(st.text("ab -\n", max_size=60), st.sampled_from(("plain", "error")))),
    st.integers(20, 60),
)
def test_wrapping_changes_spaces_only(pieces, width):
    shown = list(wrapped(pieces, width))
    given_text, made = ("".join(part for part, _ in item) for item in (pieces, shown))

    assert "".join(made.split()) == "".join(given_text.split())
    assert [(char, style) for part, style in shown for char in part if not char.isspace()] == [
        (char, style) for part, style in pieces for char in part if not char.isspace()
    ]


def test_rules_with_nothing_to_do_say_so_and_no_others():
    book = rule_book()

    assert {info.code for info in book if not info.to_do} == {
        info.code for info in book if info.fix.startswith("nothing to do")
    }
    assert all(info.severity is Severity.NOTE for info in book if not info.to_do)


@pytest.mark.deep("a check of everything; each rule has its words in tests/guard/rules")
def test_no_finding_says_nothing_to_do_unless_its_rule_does(repository):
    quiet = {info.name.replace("-", "_").upper() for info in rule_book() if not info.to_do}
    for file in (repository / "generator/poolsmith").rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)):
            for word in (word for word in call.keywords if word.arg == "help"):
                said = [part.value for part in ast.walk(word.value) if isinstance(part, ast.Constant)]
                if any(str(one).startswith("nothing to do") for one in said):
                    assert ast.unparse(call.args[0]).rpartition(".")[2] in quiet, f"{file}:{call.lineno}"
