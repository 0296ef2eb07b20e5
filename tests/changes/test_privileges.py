"""What a change of the sample fleet lets containers do, in sentences."""

from __future__ import annotations

from changes.two_sides import both_sides, replaced
from poolsmith.changes.privileges import privilege_changes
from poolsmith.ledger.ledger_delta import ChangeKind

_RELEASE = "    release: v26.7.0\n"


def _told(tmp_path, *edits, cluster="edge", renamed=None):
    project, before, after = both_sides(tmp_path, cluster, *edits)
    return privilege_changes(before, after, project.policies.book, renamed)


def test_the_network_of_the_node_is_told_at_the_line_that_asks_for_it(tmp_path):
    value = f"{_RELEASE}    values:\n      devicePlugin:\n        hostNetwork: true\n"

    found, other = _told(tmp_path, lambda folder: replaced(folder, "edge/cluster.yaml", (_RELEASE, value)))

    assert other.change.workload == "DaemonSet/nvidia-device-plugin-mps-control-daemon", "the value is for both"

    assert (
        found.words
        == "`nvidia-device-plugin-daemonset` may now use the network of the node (hostNetwork), on pool `l4`"
    )
    assert found.change.kind is ChangeKind.ADDED
    assert found.granted is False
    assert found.place is not None
    line = (tmp_path / "profiles/edge/cluster.yaml").read_text().splitlines()[found.place.span.start.line - 1]
    assert line.strip() == "hostNetwork: true"


def test_the_worst_reach_comes_first(tmp_path):
    found = _told(tmp_path, lambda folder: replaced(folder, "edge/cluster.yaml", (_RELEASE, "    release: v26.3.3\n")))

    reaches = [item.change.reach for item in found]
    assert reaches == sorted(reaches)
    assert len(set(reaches)) > 1


def test_a_renamed_pool_gains_and_loses_nothing(tmp_path):
    def rename(folder):
        old = folder / "profiles/prod-eu/l40s-crio.yaml"
        old.with_name("l40s-new.yaml").write_text(old.read_text().replace("name: l40s-crio", "name: l40s-new"))
        old.unlink()

    assert _told(tmp_path, rename, cluster="prod-eu", renamed={"l40s-crio": "l40s-new"}) == ()
