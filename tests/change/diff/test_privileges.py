"""What a change of the sample fleet lets containers do, in sentences."""

from __future__ import annotations

import pytest

from change.diff.two_sides import both_sides, replaced
from poolsmith.change.diff.privilege_diff import privilege_changes
from poolsmith.change.diff.privilege_words import may
from poolsmith.guard.ledger.ledger_delta import ChangeKind
from poolsmith.guard.ledger.privilege import PRIVILEGE_NAMES, Privilege, privilege

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


def test_what_a_grant_covers_is_granted(tmp_path):
    def add(folder):
        text = (folder / "profiles/edge/l4.yaml").read_text().replace("name: l4\n", "name: l4-more\n")
        (folder / "profiles/edge/l4-more.yaml").write_text(text)

    found = _told(tmp_path, add)

    assert found
    assert {item.change.kind for item in found} == {ChangeKind.MOVED}
    assert all(item.change.pools_after == ("l4-more",) for item in found)
    assert all(item.words.endswith("on pool `l4-more` as well") for item in found)
    assert {item.granted for item in found} == {True}, "the grants of the sample are for every pool"
    _, before, after = both_sides(tmp_path / "again", "edge", add)
    assert {item.granted for item in privilege_changes(before, after)} == {None}, "without grants nobody can say"


def test_a_cluster_that_goes_loses_all_and_needs_no_grant(tmp_path):
    project, before, _ = both_sides(tmp_path, "edge")

    found = privilege_changes(before, None, project.policies.book)

    assert {item.change.kind for item in found} == {ChangeKind.REMOVED}
    assert {(item.granted, item.place) for item in found} == {(None, None)}
    assert len(found) == len({(item.change.workload, item.change.container, item.change.old) for item in found})


@pytest.mark.parametrize("name", PRIVILEGE_NAMES)
def test_each_privilege_has_words(name):
    arguments = {
        "host-port": ("80",),
        "capability": ("SYS_ADMIN",),
        "host-path": ("/run", "rw", "bidirectional"),
        "seccomp": ("unconfined",),
        "apparmor": ("unconfined",),
        "selinux": ("spc_t",),
        "proc-mount": ("unmasked",),
        "sysctl": ("net.a",),
        "annotation": ("cdi.k8s.io/gpu",),
        "volume": ("nfs",),
        "rbac": ("core", "nodes", "get", "cluster", ""),
    }
    words = may(privilege(name, *arguments.get(name, ())))

    assert not words.startswith("hold "), "the words of a privilege that nobody described"
    assert words.isprintable()


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("host-path:/run:ro:none", "read `/run` of the node (hostPath)"),
        (
            "host-path:/run:rw:bidirectional",
            "read and write `/run` of the node, and mount into the node there (hostPath)",
        ),
        ("capability:ALL", "use every capability of the kernel (capabilities)"),
        ("rbac:*/*:*@cluster", "do anything with every resource of every group in the whole cluster (RBAC)"),
        ("rbac:core/secrets:get@ns/gpu#a", "get `secrets` in namespace `gpu`, only `a` (RBAC)"),
        ("rbac:nonResourceURLs/metrics:get@cluster", "get `/metrics` of the API server (RBAC)"),
    ],
)
def test_words_of_a_privilege(token, words):
    assert may(Privilege.parse(token)) == words
