"""Each line of a profile that changes privileges is named by just the privileges that it changes."""

from __future__ import annotations

import pytest

from poolsmith.interface.app.ledger import LedgerFilter, ledger
from poolsmith.interface.report.ledger_text import OriginLines
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: STACK
  poolLabel: example.com/gpu-pool
  delivery: {engine: argocd, repoURL: "https://git.example.com/gpu.git"}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: NAME}
spec:
  os: {id: ubuntu, version: "22.04"}
  kernel: {release: 5.15.0-105-generic}
  runtime: {name: containerd, version: "2.1"}
  gpu: {product: NVIDIA-L40S, count: 4}
  nic: mellanox
  driver:
    source: container
    kernelModuleType: open
"""
OBJECTS = "{release: v26.3.3, driverMode: nvidia-driver}"


def told(view):
    """Lines with their origins as people read them."""
    texts = OriginLines(view.starts)
    return [line.with_origins(texts.of(line.origins)) for line in view.lines]


def without_hash(workload):
    """A driver's DaemonSet is called after its pool, by a hash."""
    return workload.rpartition("-")[0] if "nvidia-gpu-driver-" in workload else workload


@pytest.fixture
def lines(tmp_path):
    """The ledger's lines of a cluster with these pools, given as replacements or additions to the profile above."""

    def run(pools, stack=OBJECTS):
        folder = tmp_path / "profiles/prod"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cluster.yaml").write_text(CLUSTER.replace("STACK", stack))
        for name, (old, new) in pools.items():
            text = POOL.replace("NAME", name)
            assert old in text
            (folder / f"{name}.yaml").write_text(text.replace(old, new) if old else text + new)
        result = ledger(tmp_path, (), LedgerFilter())
        assert not result.diagnostics, [item.message for item in result.diagnostics]
        return told(result.views[0])

    return run


def held(lines, pool):
    return {(without_hash(line.workload), line.container, line.privilege): line for line in lines if line.pool == pool}


ONE_LINE = {
    "rdma": (("", "    rdma: true\n"), "spec.driver.rdma", {"nvidia-peermem-ctr", "mofed-validation"}),
    "gds": (("", "    gds: true\n"), "spec.driver.gds", {"nvidia-fs-ctr"}),
    "gdrcopy": (("", "    gdrcopy: true\n"), "spec.driver.gdrcopy", {"nvidia-gdrcopy-ctr"}),
}


@pytest.mark.parametrize("case", ONE_LINE)
def test_two_pools_that_differ_in_one_line_differ_in_what_it_brings_and_it_is_named(lines, case):
    change, field, containers = ONE_LINE[case]
    found = lines({"a": ("", ""), "b": change})
    plain, changed = held(found, "a"), held(found, "b")
    brought = [changed[key] for key in changed.keys() - plain.keys()]

    assert plain.keys() <= changed.keys()
    assert brought
    assert {line.container for line in brought} <= containers
    for line in brought:
        assert line.origins[0].startswith("profiles/prod/b.yaml:13: ")
        assert line.origins[0].endswith(field)
    assert not any(field in origin for line in plain.values() for origin in line.origins)


@pytest.mark.parametrize(
    ("change", "stack", "workload", "origin"),
    [
        (("NVIDIA-L40S", "NVIDIA-A100-SXM4-80GB"), OBJECTS, "nvidia-mig-manager", "b.yaml:8: spec.gpu.product"),
        (
            ("", "  sharing: {mps: {replicas: 4}}\n"),
            OBJECTS,
            "nvidia-device-plugin-mps-control-daemon",
            "b.yaml:13: spec.sharing.mps",
        ),
    ],
)
def test_a_workload_that_one_line_takes_to_a_pool_names_the_line(lines, change, stack, workload, origin):
    found = lines({"a": ("", ""), "b": change}, stack)
    on = {line.pool for line in found if line.workload_name == workload}

    assert on == {"b"}
    assert all(f"profiles/prod/{origin}" in line.origins for line in found if line.workload_name == workload)


def test_a_pool_whose_driver_is_on_the_host_has_no_driver_pods(lines):
    change = ("  driver:\n    source: container\n    kernelModuleType: open\n", "  driver: {source: preinstalled}\n")
    found = lines({"a": ("", ""), "b": change})
    drivers = {line.pool for line in found if "nvidia-gpu-driver-" in line.workload}

    assert drivers == {"a"}
    assert all(
        line.origins[0] == "profiles/prod/a.yaml:11: spec.driver.source"
        for line in found
        if "nvidia-gpu-driver-" in line.workload
        and line.container == "nvidia-driver-ctr"
        and str(line.privilege) == "privileged"
    )


@pytest.mark.parametrize(
    ("value", "field", "workload"),
    [
        ("{dcgm: {enabled: true}}", "spec.stack.values.dcgm.enabled", "nvidia-dcgm"),
        (
            "{nodeStatusExporter: {enabled: true}}",
            "spec.stack.values.nodeStatusExporter.enabled",
            "nvidia-node-status-exporter",
        ),
    ],
)
def test_a_value_that_switches_an_operand_on_is_named_by_all_that_the_operand_holds(lines, value, field, workload):
    before = {line.workload_name for line in lines({"a": ("", "")})}
    found = lines({"a": ("", "")}, f"{{release: v26.3.3, driverMode: nvidia-driver, values: {value}}}")
    brought = [line for line in found if line.workload_name not in before]

    assert {line.workload_name for line in brought} == {workload}
    assert all(f"profiles/prod/cluster.yaml:6: {field}" in line.origins for line in brought)


def test_a_value_that_opens_the_network_of_the_node_is_named_by_that_privilege_alone(lines):
    values = "{dcgmExporter: {hostNetwork: true}}"
    found = lines({"a": ("", "")}, f"{{release: v26.3.3, driverMode: nvidia-driver, values: {values}}}")
    (network,) = [line for line in found if str(line.privilege) == "host-network" and line.pool == "a"]
    named = [line for line in found if any("hostNetwork" in origin for origin in line.origins)]

    assert network.workload_name == "nvidia-dcgm-exporter"
    assert named == [network]


def test_every_line_of_the_sample_fleet_says_what_brings_it(repository):
    result = ledger(repository, (), LedgerFilter())

    assert [
        (view.cluster, line.workload, line.container, str(line.privilege))
        for view in result.views
        for line in view.lines
        if not line.origins
    ] == []


NEEDED_TO_RENDER = ("clusterPolicy.deployCR", "driver.nvidiaDriverCRD.enabled")
"""For a GPUCluster: without them the chart refuses to render anything at all."""


@pytest.mark.deep("a whole run, 1.3 s; its parts have tests of their own")
def test_the_origins_of_many_lines_are_those_of_each(repository):
    project = open_project(repository)
    for files in project.select(()):
        prediction = plan_cluster(project, files).prediction
        lines, known = prediction.ledger.lines, {}
        found = list(prediction.origins.with_origins(lines, known))

        assert found == [line.with_origins(prediction.origins_of(line)) for line in lines]
        assert {id(line.origins) for line in found} <= {id(origins) for origins in known.values()}


def test_every_value_of_the_sample_fleet_names_what_vanishes_without_it(repository):
    """A value is put back to the chart's default, and all that is lost was said to come from its profile line."""
    from poolsmith.fleet.plan.origin import profile_inputs
    from poolsmith.fleet.plan.plan import values_tree
    from poolsmith.guard.ledger.ledger_delta import ChangeKind, delta
    from poolsmith.project.run.cluster_run import run_cluster
    from poolsmith.project.run.project import open_project

    project = open_project(repository)
    looked_at = 0
    for files in project.select(()):
        run = run_cluster(project, files)
        prediction = run.prediction
        if prediction.plan.chart is None:
            continue
        for setting in prediction.plan.values:
            if files.name == "claims" and setting.dotted in NEEDED_TO_RENDER:
                continue
            others = [item for item in prediction.plan.values if item is not setting]
            without = project.predictions.with_values(prediction, values_tree(others))
            sources = set(profile_inputs(setting.origin))
            for change in delta(without.ledger, prediction.ledger).changes:
                if change.kind is ChangeKind.ADDED and change.old is None:
                    line = next(
                        line
                        for line in prediction.ledger.lines
                        if (line.workload, line.container, line.privilege)
                        == (change.workload, change.container, change.new)
                    )
                    looked_at += 1
                    assert sources & set(prediction.origins_of(line)), (files.name, setting.dotted, change)
    assert looked_at


@pytest.mark.parametrize(
    ("values", "workload", "privilege"),
    [
        (
            "{node-feature-discovery: {worker: {securityContext: {privileged: true}}}}",
            "gpu-operator-node-feature-discovery-worker",
            "privileged",
        ),
        (
            "{node-feature-discovery: {worker: {mountUsrSrc: true}}}",
            "gpu-operator-node-feature-discovery-worker",
            "host-path:/usr/src:ro:none",
        ),
        ("{cdi: {nriPluginEnabled: true}}", "nvidia-container-toolkit-daemonset", "host-path:/var/run/nri:rw:none"),
        ("{toolkit: {installDir: /opt/nv/}}", "nvidia-container-toolkit-daemonset", "host-path:/opt/nv:rw:none"),
        ("{hostPaths: {rootFS: /host}}", "nvidia-mig-manager", "host-path:/host:rw:host-to-container"),
        ("{operator: {cleanupCRD: true}}", "gpu-operator-cleanup-crd", "allow-escalation"),
    ],
)
def test_whatever_a_value_of_the_user_brings_names_it(lines, values, workload, privilege):
    found = lines({"a": ("", "")}, f"{{release: v26.3.3, driverMode: nvidia-driver, values: {values}}}")
    brought = [line for line in found if (line.workload_name, str(line.privilege)) == (workload, privilege)]

    assert brought
    assert all(line.origins[0].startswith("profiles/prod/cluster.yaml:6: spec.stack.values.") for line in brought)


def test_a_value_is_not_named_by_what_would_be_there_without_it(lines):
    values = "{toolkit: {env: [{name: FOO, value: /var/x}], installDir: /var/lib}}"
    found = lines({"a": ("", "")}, f"{{release: v26.3.3, driverMode: nvidia-driver, values: {values}}}")
    named = {str(line.privilege) for line in found if any("spec.stack.values" in item for item in line.origins)}

    assert named == {"host-path:/var/lib:rw:none"}


def test_a_driver_of_the_policy_names_the_pools_that_ask_for_it(lines):
    change = ("  driver:\n    source: container\n    kernelModuleType: open\n", "  driver: {source: preinstalled}\n")
    found = lines({"a": ("", ""), "b": change}, "{release: v26.3.3}")
    drivers = [line for line in found if line.workload_name == "nvidia-driver-daemonset"]

    assert {line.pool for line in drivers} == {"a"}
    assert all("profiles/prod/a.yaml:11: spec.driver.source" in line.origins for line in drivers)


def test_of_many_values_those_of_a_component_are_taken_away_together():
    from poolsmith.fleet.operands.chart.operator_part import ChartParts
    from poolsmith.fleet.operands.install import InstallationInput, install
    from poolsmith.gpu.catalog.charts import read_chart
    from poolsmith.guard.ledger.installed_ledger import ledger_of
    from poolsmith.guard.ledger.origins import MOST, value_effects

    worker = {"mountUsrSrc": True, "annotations": {f"a{index}": "b" for index in range(MOST)}}
    given = InstallationInput(
        release="v26.3.3",
        namespace="gpu-operator",
        nodes=(),
        values={"node-feature-discovery": {"worker": worker}},
        chart=read_chart("gpu-operator", "v26.3.3"),
    )
    ledger = ledger_of(install(given).objects, {})
    above = ("node-feature-discovery", "worker")
    paths = [(*above, "mountUsrSrc"), *((*above, "annotations", key) for key in worker["annotations"])]

    effects = value_effects(given, ledger, paths, ChartParts())
    assert {key: {line[-1][0] for line in lines} for key, lines in effects.items()} == {
        ("node-feature-discovery",): {"/usr/src"}
    }


def test_the_exporter_of_a_hand_installed_stack_names_its_own_release(repository):
    result = ledger(repository, ("manual",), LedgerFilter(workloads=("dcgm-exporter",)))

    assert all(
        line.origins[0].endswith("spec.stack.dcgmExporter.release") for view in result.views for line in told(view)
    )
