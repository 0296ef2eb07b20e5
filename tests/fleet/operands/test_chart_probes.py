"""Each value path of the bundled charts does to our objects what it does to those that Helm renders.

The recorded answers are Helm's (`tests/recorded/README.md`): for each path a value of each type, and values that would
leave their place. A value may be refused where Helm renders, if it is none that its place is for; never may an object
differ, and never may a path that a template reads be unknown here.
"""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from poolsmith.fleet.operands.chart.chart_objects import ReleasePlace, over_defaults, render
from poolsmith.gpu.catalog.chart_workloads import chart_versions, read_chart_workloads
from support.chart_objects import applied, comparable, delta, tidied
from support.chart_probes import CHARTS, KINDS, NAMESPACE, given, helm_release, probes, settings
from support.circles import DEEP, share
from support.recordings import recording

RECORDED = recording("chart_probes")
VERSIONS = [
    (chart, version) for chart in CHARTS for version in chart_versions(chart) if f"{chart}/{version}" in RECORDED
]
CASES = [(chart, version, setting) for chart, version in VERSIONS for setting in settings(chart, version)]
HARMLESS = {
    "checksumValuesOnly": "whether a hash in an annotation is of the values or of the file; pods restart by it",
    "nfd.enabled": "a switch of Helm's own; `subcharts` reads it",
}
"""Paths that no object needs, and why."""
NO_TEXTS = {
    *(("config.name", name) for name in ("true", "number", "million", "fraction")),
    *(("config.default", name) for name in ("list", "empty list")),
    ("customMetrics", "block"),
}
"""Where the place is for a text, and what Helm writes is none: the API server refuses it. And one line break more."""
REFUSED = {
    ("master.extraEnvs", "objects"),
}
"""Refused because the chart itself writes it among other things than it means to."""
ALWAYS = frozenset(("objects", "keys"))
_WORD = re.compile(r"[A-Za-z_][\w.<>-]*")


def recorded():
    return RECORDED


def ours(chart, version, values):
    entry = read_chart_workloads(chart, version)
    place = ReleasePlace(helm_release=helm_release(chart), namespace=NAMESPACE, name=chart)
    return render(entry, over_defaults(entry, values), place)


def objects(rendered):
    return comparable((*rendered.objects, *rendered.hooks), NAMESPACE)


@cache
def referenced(chart, version):
    """Every word of an entry that could be a value path."""
    entry = read_chart_workloads(chart, version)
    found = set()

    def walk(node):
        if isinstance(node, dict):
            for key, value in node.items():
                walk(key)
                walk(value)
        elif isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, str):
            found.update(_WORD.findall(node))

    for part in (entry.define, entry.objects, entry.refuse, entry.unknown, entry.subcharts):
        walk(part)
    return found


@pytest.mark.parametrize(("chart", "version"), VERSIONS)
def test_every_path_that_a_template_reads_is_known(chart, version):
    names = {"nameOverride", "fullnameOverride", "namespaceOverride"}
    known = referenced(chart, version) | names | HARMLESS.keys()

    missing = [
        path
        for path in recorded()[f"{chart}/{version}"]
        if not any(path == word or word.startswith(f"{path}.") for word in known)
    ]
    assert missing == []


@pytest.mark.parametrize(("chart", "version", "setting"), CASES)
def test_a_setting_gives_the_objects_that_helm_renders(chart, version, setting):
    rendered = ours(chart, version, given(chart, version, setting))

    assert rendered.errors == ()
    if rendered.unknown == ():
        assert delta(tidied(recorded()[f"{chart}/{version}/{setting}"]), objects(rendered)) == []


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
@pytest.mark.rows(2, "charts that differ; every path of each")
@pytest.mark.parametrize("case", share(CASES, 8, "-".join))
def test_a_value_changes_what_it_changes_for_helm(case):
    chart, version, setting = case
    told = recorded()
    raw = told[f"{chart}/{version}/{setting}"]
    given_values = given(chart, version, setting)
    before = objects(ours(chart, version, given_values))
    different, refused = [], []
    for path, name, values in asked(chart, version, setting):
        outcomes = told[f"{chart}/{version}/{setting}/{path}"]
        if name not in outcomes or outcomes[name] is None:
            continue
        rendered = ours(chart, version, values)
        if rendered.errors:
            refused += [(path, name)] if is_of_its_type(given_values, path, name) else []
        elif not rendered.unknown:
            expected = delta(tidied(raw), tidied(applied(raw, outcomes[name])))
            different += [(path, name)] if delta(before, objects(rendered)) != expected else []
    assert [case for case in different if case not in NO_TEXTS] == []
    assert [case for case in refused if case not in REFUSED] == []


def asked(chart, version, setting):
    """Every probe in a deep run; else those that change most, and each other one in one of the versions."""
    versions = chart_versions(chart)
    turn = versions.index(version)
    for number, probe in enumerate(probes(chart, version, setting, recorded()[f"{chart}/{version}"])):
        if DEEP or probe[1] in ALWAYS or number % (8 * len(versions)) == turn:
            yield probe


def is_of_its_type(values, path, name):
    """Whether a probe has the type of what stands at its path."""
    node = values
    for key in path.split("."):
        node = node.get(key) if isinstance(node, dict) else None
    return name in KINDS and node is not None and type(node) is type(KINDS[name]) and bool(KINDS[name])


POWER = ('"hostPID": true', '"privileged": true')
"""What the probes with keys bring, as fields."""


@pytest.mark.rows(4, "a row takes 0.15 s; each value of each column is seen first")
@pytest.mark.parametrize("case", share(CASES, 8, "-".join))
def test_what_a_value_gives_to_a_pod_is_seen_or_refused(case):
    chart, version, setting = case
    told = recorded()
    raw = told[f"{chart}/{version}/{setting}"]
    for path, name, values in probes(chart, version, setting, told[f"{chart}/{version}"]):
        if name not in ("keys", "objects with keys"):
            continue
        outcome = told[f"{chart}/{version}/{setting}/{path}"].get(name)
        change = json.dumps(delta(raw, applied(raw, outcome)) if outcome else "")
        if not any(word in change for word in POWER):
            continue
        rendered = ours(chart, version, values)
        shown = json.dumps([*rendered.objects, *rendered.hooks])
        assert rendered.errors or all(shown.count(word) >= change.count(word) for word in POWER), path
