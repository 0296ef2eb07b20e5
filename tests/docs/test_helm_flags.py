"""The page that leads from Helm flags to profile fields is what plans and takeovers say."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import groupby

import pytest

from poolsmith.change.takeover.settle import SETTLED_ROWS
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project
from support.walks import ROOT

PAGE = ROOT / "docs/helm-flags.md"
PROJECTS = (ROOT, *sorted(path.parent for path in (ROOT / "tests/golden").glob("*/profiles")))
CLUSTER = "`cluster.yaml`"
_WORD = re.compile("[a-z]{2,9}")
_ALIKE = 5
"""From so many components on, one row stands for all."""


def field_of(line):
    where = CLUSTER if line.path.endswith("/cluster.yaml") else "a pool"
    name = re.sub(r"/\d+", "", line.pointer.removeprefix("/spec/")).replace("/", ".")
    return where, re.sub(r"^(registry\.mirrors)\..*", r"\1", name)


def rows_of_plans():
    """Values of the operator's chart that profiles lead to, and the lines that do."""
    for root in PROJECTS:
        project = open_project(root)
        for files in project.fleet.clusters:
            plan = plan_cluster(project, files).plan
            if plan is None or plan.cluster.spec.stack.kind == "device-plugin":
                continue
            for setting in plan.values:
                fields = {field_of(line) for line in profile_inputs(setting.origin)}
                if fields and not any(name.startswith("stack.values") for _, name in fields):
                    yield setting.dotted, setting.value, fields


def rows_of_takeovers():
    for row in SETTLED_ROWS:
        yield ".".join(row.value), None, {(CLUSTER if row.of_cluster else "a pool", ".".join(row.field))}


def table():
    values, fields = defaultdict(set), defaultdict(set)
    for dotted, value, found in (*rows_of_plans(), *rows_of_takeovers()):
        values[dotted].add(flag_value(value))
        fields[dotted] |= found
    lines = {dotted: as_row(dotted, values[dotted], fields[dotted]) for dotted in sorted(values)}
    return ["| `helm install --set` | field | of |", "| --- | --- | --- |", *joined(lines, fields)]


def flag_value(value):
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) and _WORD.fullmatch(value) else "..."


def as_row(dotted, values, fields):
    shown = next(iter(values)) if len(values) == 1 else "..."
    return f"| `{dotted}={shown}` | {cells(fields)}"


def cells(fields):
    names = ", ".join(f"`{name}`" for name in sorted({name for _, name in fields}))
    return f"{names} | {', '.join(sorted({where for where, _ in fields}))} |"


def joined(lines, fields):
    """One row for what each component has, such as its pull secrets."""

    def alike(dotted):
        return dotted.rpartition(".")[2], cells(fields[dotted])

    for (last, cell), group in groupby(sorted(lines, key=alike), alike):
        keys = list(group)
        if len(keys) >= _ALIKE:
            yield f"| `*.{last}=...`, of {len(keys)} components | {cell}"
        else:
            yield from (lines[key] for key in keys)


@pytest.mark.rows(1, "plans of every sample")
def test_the_table_is_what_profiles_come_to(assert_table):
    head, divider, *rows = table()

    assert_table(PAGE, "flags", [head, divider, *sorted(rows)])


@pytest.mark.parametrize("flag", ["driver.enabled=false", "sandboxWorkloads.enabled=true", "toolkit.enabled=false"])
def test_what_people_ask_by_is_there(flag):
    assert f"| `{flag}` |" in PAGE.read_text("utf-8")
