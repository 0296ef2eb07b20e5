"""No text advises a release of the operator whose support has ended."""

from __future__ import annotations

import re

import pytest

from poolsmith.gpu.catalog.releases import advisable
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_stack_values
from poolsmith.guard.rules.rule_book import rule_book

TAG = re.compile(r"\bv\d\d\.\d{1,2}\.\d\b")
PINNED = re.compile(r"release: (v\d\d\.\d{1,2}\.\d)")
SUPPORTED = ("v26.3.", "v26.7.")
TAGS = value_paths().tags
KATA = {
    "driver": None,
    "workload": "kata",
    "gpu": "{product: NVIDIA-A10, count: 1}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}


def ended(text):
    return [tag for tag in TAG.findall(text) if not tag.startswith(SUPPORTED)]


@pytest.mark.parametrize("rule", rule_book(), ids=lambda rule: rule.code)
def test_what_a_rule_says_to_do_names_no_ended_release(rule):
    assert ended(rule.fix or "") == []
    assert [tag for tag in PINNED.findall(rule.good or "") if not tag.startswith(SUPPORTED)] == []


@pytest.mark.parametrize("since", [None, *TAGS])
def test_what_may_be_advised_is_supported_and_no_older(since):
    found = advisable(since)

    assert found.startswith(SUPPORTED)
    assert since is None or TAGS.index(found) >= TAGS.index(since)


@pytest.mark.parametrize("tag", TAGS)
def test_values_of_later_releases_are_not_had_from_ended_ones(tag):
    values = {}
    for dotted in value_paths().declared(TAGS[-1]):
        node = values
        *above, last = dotted.split(".")
        for step in above:
            node = node.setdefault(step, {}) if isinstance(node.get(step, {}), dict) else {}
        node.setdefault(last, "x")
    helps = [found.finding.help or "" for found in judge_stack_values(values, tag, {}).findings]

    assert [text for text in helps if ended(text.partition("or later")[0]) and "pin " in text] == []


def test_pools_that_a_release_has_no_way_to_run(resolve, catalog):
    for tag in catalog.releases.by_tag:
        for pool in (KATA, {**KATA, "workload": "vm-vgpu"}, {**KATA, "workload": "kata-confidential"}):
            outcome = resolve({"stack": f"{{release: {tag}}}"}, {"a": pool})
            assert [item.help for item in outcome.diagnostics if ended(item.help or "")] == []


def test_an_unknown_release_is_told_of_supported_ones(resolve):
    (found,) = [item for item in resolve({"stack": "{release: v26.9.9}"}).diagnostics if item.code == "PSM201"]

    assert "v26.7.0" in found.help
    assert ended(found.help) == []
