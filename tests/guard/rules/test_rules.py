"""Each rule on what passes, and on what violates just that rule.

Over manifests, Helm values, whole projects, and the setup of one cluster: files that somebody wrote, beside `nodes.yaml`,
or beside the profiles of one cluster; a file `release` says what `--release` would.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import support
from poolsmith.core.diagnostics.known_rules import BESIDE, COMPATIBILITY
from poolsmith.gpu.values.registry import VALUE_RULES
from poolsmith.guard.ledger.privilege_check import PRIVILEGE_RULES
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.guard.rules.beside.registry import BESIDE_RULES
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.repository_rules import CHART_RULES, TEMPLATE_RULES
from poolsmith.guard.rules.rule_book import find_rule
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.texts.registry import TEXT_RULES
from poolsmith.interface.app import check_paths, check_project, rule_book
from support.code_book import CODE_BOOK, entries_of

HERE = Path(__file__).resolve().parent / "examples"
WITH_NODES = frozenset(("untolerating-workload",))
OF_SETUPS = frozenset(rule.RULE.name for rule in SETUP_RULES)
NAMES = sorted(
    (
        *(rule.RULE.name for rule in (*RULES, *TEMPLATE_RULES, *VALUE_RULES)),
        *(rule.RULE.name for rule in CHART_RULES if rule.RULE not in CODE_BOOK and rule.RULE.name not in OF_SETUPS),
        *(rule.RULE.name for rule in TEXT_RULES if rule.RULE not in [other.RULE for other in RULES]),
        *(rule.RULE.name for rule in LINK_RULES if rule.RULE.name not in (*WITH_NODES, *OF_SETUPS)),
        "refused-by-definition",
    )
)
"""The last one is no rule of a list: it judges what the chart makes of values."""
_OTHERS = (*CODE_BOOK, *(other.RULE for other in (*RULES, *TEXT_RULES, *VALUE_RULES)))
TWINS = {rule.RULE.name for rule in SETUP_RULES if rule.RULE in _OTHERS}
"""Rules on profiles, or on manifests, that speak of setups, too."""
SETUPS = sorted((*(rule.RULE.name for rule in SETUP_RULES if rule.RULE.name not in TWINS), *WITH_NODES))
OF_TWINS = HERE.parent / "twins"
NEIGHBOURS = sorted(rule.RULE.name for rule in BESIDE_RULES)
PRIVILEGES = {rule.RULE.name: rule for rule in PRIVILEGE_RULES}
OF_PROJECTS = (*COMPATIBILITY, "PSM4", "PSM6", *BESIDE, "PSM9")
"""Those of a cluster that runs need one: tests/live."""
ELSEWHERE = {
    "changed-policies": "needs another revision: tests/hostile/test_shipped_policies.py",
    "stray-policy-object": "projects ship none: tests/kubernetes/admission/test_admission_check.py",
    "policy-widening": "needs another revision: tests/change/review/test_policy_widening.py",
    "judge-change": "needs another revision: tests/change/review/test_judge_files.py",
    "unaccepted-setting": "needs another revision: tests/change/review/test_gained.py",
    "unseen-value": "needs another revision: tests/change/review/test_gained.py",
    "beside-output": "needs another revision: tests/change/review/test_beside_output.py",
    "checked-out-otherwise": "needs a repository: tests/project/run/test_judged_commit.py",
    "change-at-a-distance": "needs another revision: tests/change/diff/test_other_pools.py",
    "engine-upgraded": "needs another revision: tests/change/takeover/test_engine_upgrades.py",
    "leaves-the-delivery": "needs another revision: tests/change/diff/test_departures.py",
    "refused-by-the-server": "needs another revision: tests/change/diff/test_recreated.py",
    **dict.fromkeys(
        ("unexplained-external-name", "expired-external-name", "unused-external-name"),
        "is for files of anybody: tests/guard/policies/test_external_names.py",
    ),
    "expired-baseline": "is for files of anybody: tests/interface/app/test_baseline.py",
    "unused-baseline-entry": "is for files of anybody: tests/interface/app/test_baseline.py",
    "not-evaluated": "needs --strict: tests/interface/app/test_verdicts.py",
    "script-not-known": "needs a whole operator: tests/guard/policies/privilege_policy/test_project.py",
    "incomplete-privilege-policy": "needs a whole operator: tests/guard/policies/privilege_policy/test_project.py",
    "running-release-unknown": "needs a whole operator: tests/guard/policies/privilege_policy/test_upgrade.py",
    "pod-too-costly-to-judge": "needs a huge pod: tests/guard/policies/privilege_policy/test_cost_of_a_pod.py",
    "privilege-policy-too-large": "needs a huge cluster: tests/guard/policies/privilege_policy/test_too_large.py",
}
PROJECTS = sorted(
    rule.name
    for rule in rule_book()
    if rule.code.startswith(OF_PROJECTS) and rule.name not in (*NAMES, *SETUPS, *NEIGHBOURS, *ELSEWHERE)
)
TODAY = dt.date(2026, 11, 20)
OF_VERSIONS = frozenset(("kind-without-schema", "vulnerable-toolkit", *(rule.name for rule in entries_of(support))))
"""What is said of an old version whatever a file is about; and what is told of any kind without a schema."""


def findings(folder, name):
    found = check_paths(folder, [folder], everything=True).diagnostics
    return sorted(f"{item.primary.span} {item.name}" for item in found if item.name not in OF_VERSIONS - {name})


def findings_in_setup(folder):
    nodes, profiles, release = folder / "nodes.yaml", folder / "profiles", folder / "release"
    cluster = next((item.name for item in profiles.glob("[a-z]*") if item.is_dir()), None)
    found = check_paths(
        folder,
        [path for path in sorted(folder.iterdir()) if path not in (nodes, profiles, release) and path.suffix != ".txt"],
        nodes=nodes if nodes.exists() else None,
        cluster=cluster,
        release=release.read_text("utf-8").strip() if release.exists() else None,
        everything=True,
    ).diagnostics
    return sorted(f"{item.primary.span} {item.name}" for item in found if item.name not in OF_VERSIONS)


def findings_in_project(folder, name):
    """Of this rule, and whatever else is worse than a note; nothing is generated in these projects."""
    found = check_project(folder, progress=lambda done, total: None, judging=JudgingOptions(today=TODAY)).open
    return sorted(
        f"{item.primary.span} {item.name}"
        for item in found
        if item.name == name
        or (item.severity is not Severity.NOTE and item.name not in ("output-out-of-date", *OF_VERSIONS))
    )


def findings_beside(folder, name):
    """Where the profile names the files, they are those of a project."""
    is_named = any("beside:" in path.read_text("utf-8") for path in folder.glob("profiles/*/cluster.yaml"))
    return findings_in_project(folder, name) if is_named else findings_in_setup(folder)


EXPECTED = re.compile(r"^# expected: (?P<place>\d+:\d+) (?P<name>[\w-]+)$", re.MULTILINE)


def expected_in(folder):
    """Lines `<path>:<line>:<column> <rule>` of each .txt, and of each file that says in a comment what it is to raise."""
    told = [line for path in folder.rglob("*.txt") for line in path.read_text("utf-8").splitlines()]
    for path in folder.rglob("*.y*ml"):
        for found in EXPECTED.finditer(path.read_text("utf-8")):
            told.append(f"{path.relative_to(folder).as_posix()}:{found['place']} {found['name']}")
    return sorted(told)


@pytest.mark.parametrize("name", NAMES)
def test_what_passes_raises_nothing(name):
    assert findings(HERE / name / "pass", name) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_fails_raises_this_rule_alone_at_the_expected_lines(name):
    expected = expected_in(HERE / name / "fail")

    assert {line.split(" ")[1] for line in expected} == {name}
    assert findings(HERE / name / "fail", name) == expected


@pytest.mark.rows(6, "a project that fails is tried of every rule; these hold that its twin does not")
@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_that_passes_raises_nothing(name):
    assert list((HERE / name / "pass" / "profiles").glob("*/cluster.yaml"))
    assert findings_in_project(HERE / name / "pass", name) == []


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_that_fails_raises_this_rule_alone_at_the_expected_lines(name):
    expected = expected_in(HERE / name / "fail")

    assert {line.split(" ")[1] for line in expected} == {name}
    assert findings_in_project(HERE / name / "fail", name) == expected


@pytest.mark.parametrize("name", SETUPS)
def test_a_setup_that_passes_raises_nothing(name):
    assert findings_in_setup(HERE / name / "pass") == []


@pytest.mark.parametrize("name", SETUPS)
def test_a_setup_that_fails_raises_this_rule_alone_at_the_expected_lines(name):
    expected = expected_in(HERE / name / "fail")

    assert {line.split(" ")[1] for line in expected} == {name}
    assert findings_in_setup(HERE / name / "fail") == expected


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_that_pass_raise_nothing(name):
    assert findings_beside(HERE / name / "pass", name) == []


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_that_fail_raise_this_rule_alone_at_the_expected_lines(name):
    expected = expected_in(HERE / name / "fail")

    assert {line.split(" ")[1] for line in expected} == {name}
    assert findings_beside(HERE / name / "fail", name) == expected


def test_rules_over_neighbours_have_a_file_of_their_name():
    assert [Path(rule.__file__).stem for rule in BESIDE_RULES] == [
        rule.RULE.name.replace("-", "_") for rule in BESIDE_RULES
    ]


def test_rules_over_setups_have_a_file_of_their_name_and_say_what_they_need():
    own = [rule for rule in SETUP_RULES if rule.RULE.name not in TWINS]

    assert [Path(rule.__file__).stem for rule in own] == [rule.RULE.name.replace("-", "_") for rule in own]
    assert {need for rule in SETUP_RULES for need in rule.NEEDS} <= {"nodes", "values", "release", "all"}


@pytest.mark.parametrize("name", sorted(TWINS))
def test_a_twin_says_nothing_of_what_passes(name):
    assert findings_in_setup(OF_TWINS / name / "pass") == []


@pytest.mark.parametrize("name", sorted(TWINS))
def test_a_twin_says_what_is_expected_of_what_fails(name):
    expected = expected_in(OF_TWINS / name / "fail")

    assert {line.split(" ")[1] for line in expected} == {name}
    assert findings_in_setup(OF_TWINS / name / "fail") == expected


def test_every_rule_has_its_folder_and_no_folder_is_an_orphan():
    folders = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__")

    assert folders == sorted([*NAMES, *PROJECTS, *SETUPS, *NEIGHBOURS])


def test_rules_over_privileges_are_of_their_family_and_have_a_file_of_their_name():
    assert {rule.RULE.code[:4] for rule in PRIVILEGE_RULES} == {"PSM4"}
    assert {find_rule(rule.RULE.code).applies_to for rule in PRIVILEGE_RULES} == {"profile"}
    assert [Path(rule.__file__).stem for rule in PRIVILEGE_RULES] == [name.replace("-", "_") for name in PRIVILEGES]
