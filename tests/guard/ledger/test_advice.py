"""What rules on privileges advise, followed to the letter, ends the finding and raises nothing worse."""

from __future__ import annotations

import re
import shutil

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.shape.layers import merge
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.gpu.catalog import Catalog
from poolsmith.interface.app import check_project

CODES = ("PSM401", "PSM403")
RELEASES = list(Catalog().releases.by_tag)
NOT_OF_INTEREST = "output-out-of-date"
REMOVE = re.compile(r"remove (?P<paths>`.+`) from `stack\.values`")
SWITCH_OFF = re.compile(r"write `(?P<text>stack: .+)` in the cluster's profile")
DECLARE = re.compile(r"write `(?P<text>.+)` in the pool's profile")
ON_POOLS = re.compile(r" on pools? (?P<pools>.+) of `")
IN_BACKTICKS = re.compile(r"`([^`]+)`")


def findings(root, cluster):
    outcome = check_project(root, clusters=[cluster], progress=lambda done, total: None)
    return [item for item in outcome.diagnostics if item.name != NOT_OF_INTEREST]


def of_interest(found):
    return [item for item in found if item.code in CODES]


def edit(path, change):
    (data,) = read_documents(path.read_text())
    data["spec"] = change(data["spec"])
    path.write_text(emit(data))


def without(spec, path):
    """The spec without a value of the chart, which may be gone already, and the mappings that it leaves empty."""

    def removed(node, keys):
        if keys[0] not in node:
            return node
        rest = {key: value for key, value in node.items() if key != keys[0]}
        below = removed(node[keys[0]], keys[1:]) if len(keys) > 1 else {}
        return rest | ({keys[0]: below} if below else {})

    return {**spec, "stack": removed(spec["stack"], ["values", *path.split(".")])}


def follow(folder, finding):
    advice = finding.help
    if found := REMOVE.fullmatch(advice):
        for path in IN_BACKTICKS.findall(found["paths"]):
            edit(folder / "cluster.yaml", lambda spec, path=path: without(spec, path))
    elif found := SWITCH_OFF.search(advice):
        (values,) = read_documents(found["text"])
        edit(folder / "cluster.yaml", lambda spec: merge(spec, values))
    else:
        (values,) = read_documents(DECLARE.search(advice)["text"])
        for pool in IN_BACKTICKS.findall(ON_POOLS.search(finding.message)["pools"]):
            edit(folder / f"{pool}.yaml", lambda spec: merge(spec, values))


def assert_that_advice_helps(root, cluster):
    before = findings(root, cluster)
    told = of_interest(before)
    assert told
    for advice, finding in {item.help: item for item in told}.items():
        assert advice
        follow(root / "profiles" / cluster, finding)
    after = findings(root, cluster)

    assert of_interest(after) == []
    assert [item.message for item in after if item.severity is Severity.ERROR] == []


FAILING = [
    ("workload-without-business", "no-mig"),
    ("workload-without-business", "some-mig"),
    ("workload-without-business", "kata-manager"),
    ("host-network", "exporter"),
]


@pytest.mark.parametrize(("rule", "cluster"), FAILING, ids=[cluster for _, cluster in FAILING])
def test_advice_on_a_project_that_fails(repository, tmp_path, rule, cluster):
    shutil.copytree(repository / "tests/guard/rules/examples" / rule / "fail/profiles", tmp_path / "profiles")

    assert_that_advice_helps(tmp_path, cluster)


CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: c}}
spec:
  kubernetes: {{version: "1.31", distribution: kubeadm}}
  stack: {stack}
  poolLabel: example.com/gpu-pool
  delivery: {{engine: argocd, repoURL: https://git.example.com/gpu.git}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "22.04"}}
  runtime: {{name: containerd, version: "1.7.27"}}
  {lines}
"""
UNSPLITTABLE = ("gpu: {product: NVIDIA-L4, count: 1}", "driver: {source: container}")
WHOLE = ("gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8}", "driver: {source: container}")
SPLIT = ("gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}", "driver: {source: container}")
PASSED_THROUGH = (
    "gpu: {product: NVIDIA-A10, count: 1}",
    "workload: vm-passthrough",
    "acknowledge: [{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
)
ONE_DEFAULT = "{sandboxWorkloads: {enabled: true, defaultWorkload: vm-passthrough}}"


@pytest.fixture
def project(tmp_path):
    def write(stack, pools):
        folder = tmp_path / "profiles" / "c"
        folder.mkdir(parents=True)
        (folder / "cluster.yaml").write_text(CLUSTER.format(stack=stack))
        for name, lines in pools.items():
            (folder / f"{name}.yaml").write_text(POOL.format(name=name, lines="\n  ".join(lines)))
        return tmp_path

    return write


@pytest.mark.rows(5, "one release of each line: a plan and a prediction each")
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("pools", [{"a": WHOLE}, {"a": WHOLE, "b": SPLIT, "d": WHOLE}], ids=["alone", "beside"])
def test_a_mig_manager_without_partitions_is_switched_off_or_given_something_to_do(project, release, pools):
    assert_that_advice_helps(project(f"{{release: {release}}}", pools), "c")


@pytest.mark.rows(4, "one release of each line: a plan and a prediction each")
@pytest.mark.parametrize("release", RELEASES)
def test_operands_of_sandboxes_leave_the_pools_that_one_default_brought_them_to(project, release):
    stack = f"{{release: {release}, values: {ONE_DEFAULT}}}"

    assert_that_advice_helps(project(stack, {"a": UNSPLITTABLE}), "c")


@pytest.mark.parametrize("release", [tag for tag in RELEASES if tag < "v25.10"])
def test_a_kata_manager_beside_two_causes_is_removed_with_both(project, release):
    values = "{kataManager: {enabled: true}, sandboxWorkloads: {defaultWorkload: vm-passthrough}}"
    pools = {"a": UNSPLITTABLE, "b": PASSED_THROUGH}

    assert_that_advice_helps(project(f"{{release: {release}, values: {values}}}", pools), "c")


@pytest.mark.rows(5, "a row takes 0.12 s; each value of each column is seen first")
@pytest.mark.parametrize(
    "values", ["{sandboxWorkloads: {mode: kata}}", "{sandboxWorkloads: {defaultWorkload: vm-vgpu}}"]
)
@pytest.mark.parametrize("release", [tag for tag in RELEASES if tag > "v26"])
def test_sandboxes_of_another_kind_than_the_pools_ask_for(project, release, values):
    pools = {"a": UNSPLITTABLE, "b": PASSED_THROUGH}

    assert_that_advice_helps(project(f"{{release: {release}, values: {values}}}", pools), "c")


COMPONENTS = {
    "dcgm": ", enabled: true",
    "dcgmExporter": "",
    "devicePlugin": "",
    "driver": "",
    "gfd": "",
    "migManager": "",
    "nodeStatusExporter": ", enabled: true",
    "sandboxDevicePlugin": "",
    "toolkit": "",
    "validator": "",
    "vfioManager": "",
}
DISCOVERY = ("master", "worker", "gc")


@pytest.mark.rows(3, "a component in each release: a plan and a prediction each")
@pytest.mark.parametrize("release", [tag for tag in RELEASES if tag > "v26"])
@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_an_operand_leaves_the_network_of_the_node(project, release, component):
    stack = f"{{release: {release}, values: {{{component}: {{hostNetwork: true{COMPONENTS[component]}}}}}}}"
    root = project(stack, {"a": SPLIT, "b": PASSED_THROUGH})

    has_switch = component == "dcgmExporter" or release != "v26.3.0"
    assert {item.code for item in of_interest(findings(root, "c"))} == ({"PSM403"} if has_switch else set())
    if has_switch:
        assert_that_advice_helps(root, "c")


@pytest.mark.parametrize("part", DISCOVERY)
def test_feature_discovery_leaves_the_network_of_the_node(project, part):
    stack = f"{{release: v26.3.3, values: {{node-feature-discovery: {{{part}: {{hostNetwork: true}}}}}}}}"
    root = project(stack, {"a": SPLIT})
    (told,) = of_interest(findings(root, "c"))

    assert told.help == f"remove `node-feature-discovery.{part}.hostNetwork` from `stack.values`"
    assert_that_advice_helps(root, "c")
