"""What a change of the sample fleet disturbs, in the words that reviewers read."""

from __future__ import annotations

import re

import pytest

from change.diff.two_sides import REPOSITORY, both_sides, replaced
from poolsmith.change.diff.causes import Causes
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.disruption import disruptions
from poolsmith.change.diff.privilege_diff import privilege_changes
from poolsmith.change.diff.restarts import RolledWorkload, changed_templates, restart_of
from poolsmith.fleet.operands.expansion import Made, Maker


def _edge(*pairs, file="edge/cluster.yaml"):
    return lambda folder: replaced(folder, file, *pairs)


_VALUES = ("    release: v26.7.0\n", "    release: v26.7.0\n    values:\n")


def _told(tmp_path, *edits, cluster="edge"):
    project, before, after = both_sides(tmp_path, cluster, *edits)
    return disruptions(before, after, project.catalog)


def test_what_changes_nothing_disturbs_nothing(tmp_path):
    assert _told(tmp_path, _edge(("kind: Cluster", "# a comment\nkind: Cluster"))) == ()


def test_a_variable_of_an_operand_restarts_that_operand_alone(tmp_path):
    value = "      devicePlugin:\n        env:\n          - {name: SHOWN, value: b}\n"

    (found,) = _told(tmp_path, _edge((_VALUES[0], _VALUES[1] + value)))

    assert (found.kind, found.what, found.pools) == (
        DisruptionKind.RESTART,
        "DaemonSet/nvidia-device-plugin-daemonset",
        ("l4",),
    )
    assert found.words == (
        "`nvidia-device-plugin-daemonset` restarts on pool `l4`, 1 at a time: `env.SHOWN` of container "
        "`nvidia-device-plugin`"
    )
    assert [item.pointer for item in found.why] == ["/spec/template/spec/containers/nvidia-device-plugin/env/SHOWN"]
    assert found.waves is not None
    assert (found.waves.nodes, found.waves.at_once, found.waves.waves) == (30, "1", 30)
    assert found.place is not None
    assert found.place.span.path == "profiles/edge/cluster.yaml"


def test_pods_of_a_system_that_the_release_names_otherwise_are_deleted_at_once(tmp_path):
    """The operator deletes DaemonSets that it no longer makes: v26.7.0 has one for all minor releases of RHEL 9."""
    edit = _edge(("release: v26.3.3", "release: v26.7.0"), file="prod-eu/cluster.yaml")
    found = [item for item in _told(tmp_path, edit, cluster="prod-eu") if item.pools == ("h100-rhel",)]

    assert [(item.kind, item.words) for item in found] == [
        (
            DisruptionKind.DRIVER,
            (
                "the driver pods on pool `h100-rhel` are deleted at once, and those of `nvidia-gpu-driver-rhel9-dccc487c9` start "
                "in the place of those of `nvidia-gpu-driver-rhel9.6-dccc487c9`: pods that use GPUs go"
            ),
        )
    ]


def test_the_value_is_the_cause_whatever_else_the_change_touches(tmp_path):
    value = "      dcgmExporter:\n        hostNetwork: true\n"
    kernel = ("  gpu:\n", "  kernel: {release: 6.8.0-50-generic}\n  gpu:\n")

    found = _told(tmp_path, _edge((_VALUES[0], _VALUES[1] + value)), _edge(kernel, file="edge/l4.yaml"))
    (restart,) = [item for item in found if item.what == "DaemonSet/nvidia-dcgm-exporter"]

    assert restart.place is not None
    assert restart.place.pointer == "/spec/stack/values/dcgmExporter/hostNetwork"


def test_an_update_strategy_alone_restarts_nothing(tmp_path):
    value = "      daemonsets:\n        updateStrategy: OnDelete\n"

    assert _told(tmp_path, _edge((_VALUES[0], _VALUES[1] + value))) == ()


def test_pods_stay_where_they_are_replaced_on_deletion(tmp_path):
    value = "      daemonsets:\n        updateStrategy: OnDelete\n      dcgmExporter:\n        hostNetwork: true\n"

    (found,) = _told(tmp_path, _edge((_VALUES[0], _VALUES[1] + value)))

    assert "keeps its old pods on pool `l4` until somebody deletes them" in found.words
    assert found.waves is not None
    assert not found.waves.automatic


def test_another_driver_version_is_replaced_at_the_pace_of_the_upgrade_policy(tmp_path):
    found = _told(tmp_path, _edge(("version: 595.91.07", "version: 580.105.08"), file="edge/l4.yaml"))

    driver = found[0]
    assert (driver.kind, driver.what) == (DisruptionKind.DRIVER, "DaemonSet/nvidia-driver-daemonset")
    assert driver.waves is not None
    assert (driver.waves.nodes, driver.waves.at_once, driver.waves.waves) == (30, "1", 30)
    assert driver.waves.automatic
    assert driver.place is not None
    assert driver.place.span.path == "profiles/edge/l4.yaml"


def test_a_cluster_that_comes_starts_each_workload_once(tmp_path):
    project, _, after = both_sides(tmp_path, "edge")

    found = disruptions(None, after, project.catalog)

    assert {item.kind for item in found} == {DisruptionKind.STARTED}
    assert len({(item.namespace, item.what) for item in found}) == len(found)
    assert not {item.what for item in disruptions(after, None, project.catalog)} ^ {item.what for item in found}


def test_driver_pods_that_install_the_same_restart_in_place(tmp_path):
    value = "      daemonsets:\n        labels: {team: gpu}\n"

    found = _told(tmp_path, _edge((_VALUES[0], _VALUES[1] + value)))

    assert "restart in place" in found[0].words
    assert "pods that use GPUs stay" in found[0].words


def test_no_older_release_restarts_driver_pods_in_place(tmp_path):
    value = "      daemonsets:\n        labels: {team: gpu}\n"
    old = _VALUES[0].replace("26.7.0", "26.3.3")
    project, _, then = both_sides(tmp_path / "two", "edge", _edge((_VALUES[0], old)))
    _, _, now = both_sides(tmp_path / "three", "edge", _edge((_VALUES[0], f"{old}    values:\n{value}")))

    found = disruptions(then, now, project.catalog)

    assert "are replaced" in found[0].words
    assert "pods that use GPUs are deleted" in found[0].words


@pytest.mark.parametrize(
    ("policy", "at_once", "waves", "automatic"),
    [
        ("{maxParallelUpgrades: 4}", "4", 8, True),
        ("{maxParallelUpgrades: 0}", "8", 4, True),
        ("{maxParallelUpgrades: 0, maxUnavailable: '100%'}", "all", 1, True),
        ("{maxParallelUpgrades: 10, maxUnavailable: '3'}", "3", 10, True),
        ("{maxUnavailable: '0'}", "0", None, False),
        ("{autoUpgrade: false}", "0", None, False),
    ],
)
def test_waves_are_those_of_the_policy(tmp_path, policy, at_once, waves, automatic):
    pair = ("    version: 595.91.07", f"    version: 580.105.08\n    upgradePolicy: {policy}")

    driver = _told(tmp_path, _edge(pair, file="edge/l4.yaml"))[0]

    assert driver.kind is DisruptionKind.DRIVER
    assert driver.waves is not None
    assert (driver.waves.at_once, driver.waves.waves, driver.waves.automatic) == (at_once, waves, automatic)
    assert driver.waves.nodes == 30


def test_nodes_that_nobody_counts_make_no_number_of_waves(tmp_path):
    found = _told(
        tmp_path,
        _edge(("  nodes:\n    count: 30\n", ""), ("version: 595.91.07", "version: 580.105.08"), file="edge/l4.yaml"),
    )

    assert found[0].waves is not None
    assert (found[0].waves.nodes, found[0].waves.waves, found[0].waves.at_once) == (None, None, "1")
    assert "number of nodes unknown" in found[0].words


def test_a_renamed_driver_object_deletes_the_pods_at_once_and_is_told_once(tmp_path):
    def rename(folder):
        old = folder / "profiles/prod-eu/l40s-crio.yaml"
        old.with_name("l40s-new.yaml").write_text(old.read_text().replace("name: l40s-crio", "name: l40s-new"))
        old.unlink()

    project, before, after = both_sides(tmp_path, "prod-eu", rename)

    found = disruptions(before, after, project.catalog, {"l40s-crio": "l40s-new"})

    drivers = [item for item in found if "driver" in item.what]
    assert [(item.kind, item.pools) for item in drivers] == [(DisruptionKind.DRIVER, ("l40s-new",))]
    assert "are deleted at once" in drivers[0].words


def _daemon_set(selected, image):
    body = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "x", "namespace": "n"},
        "spec": {
            "selector": {"matchLabels": selected},
            "template": {"metadata": {"labels": selected}, "spec": {"containers": [{"name": "c", "image": image}]}},
        },
    }
    return RolledWorkload(made=Made(body, Maker.OPERATOR, "ClusterPolicy/cluster-policy"), pools=("a",))


def test_pods_stay_where_the_server_refuses_the_whole_change():
    old, new = _daemon_set({"app": "a"}, "i:1"), _daemon_set({"app": "b"}, "i:2")
    (item,) = changed_templates({old.key: old}, {new.key: new}, "1.34")

    found = restart_of(item, None, Causes(before=None, after=None, renamed={}))

    assert "keeps its old pods on pool `a` until the object is deleted and recreated" in found.words


@pytest.mark.parametrize(("cluster", "pool"), [("prod-eu", "a100-precompiled"), ("a40-precompiled", "a40")])
def test_a_kernel_that_comes_beside_another_disturbs_nobody(tmp_path, cluster, pool):
    text = (REPOSITORY / f"profiles/{cluster}/{pool}.yaml").read_text()
    kernel = re.search(r"release: (\S+-generic)", text)[1]
    edit = (f"release: {kernel}", f"releases: [{kernel}, {kernel.replace('-generic', '1-generic')}]")
    project, before, after = both_sides(
        tmp_path, cluster, lambda folder: replaced(folder, f"{cluster}/{pool}.yaml", edit)
    )

    found = disruptions(before, after, project.catalog, {})

    assert {item.kind for item in found} == {DisruptionKind.STARTED}
    assert privilege_changes(before, after, project.policies.book) == ()
    assert privilege_changes(after, before, project.policies.book) == ()
