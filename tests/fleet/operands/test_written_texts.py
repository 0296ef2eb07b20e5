"""No text of a value leaves the place where the chart writes it: each string path of each release, each hostile text."""

from __future__ import annotations

import json

import pytest

from poolsmith.fleet.operands.chart.judgement import chart_errors
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from support.recordings import recording

RELEASES = ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"]
MARK = "zzz"
HOSTILE = (
    f"{MARK}\n      hostPID: true",
    f"{MARK}\n---\nkind: Pod",
    f'{MARK}"\n        securityContext: {{privileged: true}}',
    f"{MARK}: b",
    f"{{{MARK}: b}}",
    f"{MARK} #b",
    f"&{MARK} b",
    f"{MARK}\x85hostPID: true",
    f"{MARK}\u2028hostPID: true",
)


def string_paths(release):
    facts = recording("chart_values")[f"gpu-operator/{release}"]["paths"]
    return [
        tuple(path.split("."))
        for path, fact in sorted(facts.items())
        if fact.get("type") == "string" and fact.get("referenced") and not path.startswith("node-feature")
    ]


def nested(path, value):
    for key in reversed(path):
        value = {key: value}
    return value


@pytest.mark.rows(3, "each text and each release")
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_is_refused_at_its_path_or_stays_one_text(release, text):
    defaults = read_chart("gpu-operator", release).defaults
    for path in string_paths(release)[:: 1 if text is HOSTILE[0] else 9]:
        values = nested(path, text)
        errors = chart_errors(release, values)
        if errors:
            assert all(".".join(path).startswith(error.path) and error.path for error in errors if not error.refusal), (
                path
            )
            continue
        made = operator_chart_objects(release, merge_over_defaults(defaults, values), "gpu-operator")
        shown = json.dumps([*made.objects, *made.hooks], ensure_ascii=False)
        assert MARK not in shown or json.dumps(text, ensure_ascii=False)[1:-1] in shown, path


@pytest.mark.rows(3, "releases whose templates differ")
@pytest.mark.parametrize("release", RELEASES)
def test_no_line_break_reaches_a_workload(release):
    """Where the chart always writes the value, or by default."""
    own = [
        "imagePullPolicy",
        "priorityClassName",
        "repository",
        "image",
        "version",
        "logging.level",
        "logging.timeEncoding",
    ]
    asked = [
        *(f"operator.{key}" for key in own),
        *(f"driver.manager.{key}" for key in ("repository", "image", "version")),
    ]

    for path in [*asked, "nameOverride"]:
        assert [error.path for error in chart_errors(release, nested(path.split("."), HOSTILE[0]))] == [path]


@pytest.mark.parametrize("release", RELEASES)
def test_a_list_item_is_named_by_its_place(release):
    (error,) = chart_errors(release, {"operator": {"imagePullSecrets": ["ok", HOSTILE[0]]}})

    assert error.path == "operator.imagePullSecrets.1"


def test_a_mapping_where_the_chart_has_items_adds_no_keys_to_a_container():
    (error,) = chart_errors("v26.7.0", {"operator": {"env": {"securityContext": {"privileged": True}}}})

    assert error.path == "operator.env"


def test_each_value_to_blame_is_named():
    values = {"operator": {"priorityClassName": "a: b", "imagePullPolicy": "a\nb"}, "nameOverride": "{a"}

    assert {error.path for error in chart_errors("v26.7.0", values)} == {
        "operator.priorityClassName",
        "operator.imagePullPolicy",
        "nameOverride",
    }
