"""What is new to `diff` is what `check --policies-from` the base finds: pull requests to the sample fleet."""

from __future__ import annotations

import json

import pytest

from pull_requests.conftest import fleets, some_of
from pull_requests.files_table import file_changes
from pull_requests.fleet import TODAY, errors_of
from pull_requests.harmless_table import harmless_changes
from pull_requests.pools_table import pool_changes
from pull_requests.sources_table import source_changes
from pull_requests.switches_table import switch_changes
from pull_requests.values_table import value_changes
from support.circles import share

__all__ = ["fleets"]
TOGETHER = frozenset(("output-out-of-date",))
"""One for each cluster here, one for each file there."""
OF_THE_WHOLE_FLEET = frozenset(("unused-grant", "unused-waiver", "not-evaluated"))
_ALL = [*source_changes(), *pool_changes(), *switch_changes(), *file_changes(), *value_changes()]
OF_EACH_KIND = [item for item in some_of(_ALL, {}) if item.values[0] is not None]
SOME = [item.values[0] for item in OF_EACH_KIND]
"""Of every kind in every cluster."""


@pytest.mark.deep("three runs over the sample fleet")
@pytest.mark.rows(2, "three runs over the sample fleet each")
@pytest.mark.parametrize("change", share(SOME, 4))
def test_every_error_of_check_is_new(fleets, run_cli, change):
    fleet = fleets(change)
    verdict = fleet.propose(change)
    result = run_cli(
        ["diff", "--root", fleet.root, "--base", fleet.base, "--format", "json", "--today", TODAY, "--jobs", "1"]
    )
    if verdict.check == 2:
        assert result.code == 2
        return
    new = set(_told(errors_of(json.dumps({"diagnostics": json.loads(result.out)["newFindings"]}))))
    found = set(_told(errors_of(verdict.told)))

    assert result.code == verdict.check == 1
    assert found - new == set()


@pytest.mark.deep("three runs over the sample fleet")
@pytest.mark.rows(1, "three runs over the sample fleet each")
@pytest.mark.parametrize("change", share(harmless_changes(), 2))
def test_a_harmless_change_brings_no_error(fleets, run_cli, change):
    fleet = fleets(change)
    fleet.propose(change)
    result = run_cli(
        ["diff", "--root", fleet.root, "--base", fleet.base, "--format", "json", "--today", TODAY, "--jobs", "1"]
    )

    assert [item for item in json.loads(result.out)["newFindings"] if item["severity"] == "error"] == []
    assert result.code == 0


def _told(errors):
    for item in errors:
        if item.rule not in OF_THE_WHOLE_FLEET and "whether grant " not in item.words:
            yield item.rule, "" if item.rule in TOGETHER else item.words
