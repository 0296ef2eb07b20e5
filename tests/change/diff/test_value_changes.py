"""Values of charts: what a change makes of them, whatever the charts' defaults are."""

from __future__ import annotations

from change.diff.two_sides import both_sides, replaced
from poolsmith.change.diff.cluster_changes import value_changes
from poolsmith.kubernetes.server.field_changes import Standing

RELEASE = ("release: v26.3.3", "release: v26.7.0")
MONITOR = ("        serviceMonitor:\n          enabled: true\n", "        hostNetwork: true\n")


def told(tmp_path, *pairs):
    _, before, after = both_sides(tmp_path, "prod-eu", lambda folder: replaced(folder, "prod-eu/cluster.yaml", *pairs))
    return {item.pointer: (item.standing, item.old, item.new) for item in value_changes(before, after)}


def test_a_value_that_becomes_the_default_is_as_it_was(tmp_path):
    """From v26.7.0 on, the chart's own default is true."""
    assert "/gpu-operator/dcgmExporter/serviceMonitor/enabled" not in told(tmp_path, RELEASE)


def test_a_value_that_is_taken_away_is_told(tmp_path):
    found = told(tmp_path, MONITOR)

    assert found["/gpu-operator/dcgmExporter/serviceMonitor/enabled"] == (Standing.REMOVED, True, None)
    assert found["/gpu-operator/dcgmExporter/hostNetwork"] == (Standing.ADDED, None, True)
