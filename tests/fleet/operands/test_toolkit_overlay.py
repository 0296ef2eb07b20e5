"""A pool's own toolkit is what the operator makes for that runtime alone, but for a list of differences in the docs."""

from __future__ import annotations

import re

import pytest

from fleet.operands import oracle, scenarios, verdicts
from poolsmith.fleet.operands.expansion import Expansion, Node
from poolsmith.fleet.operands.toolkit_overlay import overlay_objects
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ToolkitOverlay
from poolsmith.gpu.catalog import Catalog

OPERATORS = "nvidia-container-toolkit-daemonset"
POOL_LABEL = "example.com/gpu-pool"
ONLY_WITHOUT_CDI = (
    "containers[nvidia-container-toolkit-ctr].envValues.CRIO_CONFIG_MODE",
    "containers[nvidia-container-toolkit-ctr].env",
)


def _runtimes(case):
    return {node["runtime"].partition(":")[0] for node in case["inputs"]["nodes"]}


def _cases():
    found = []
    for case, recorded in verdicts.RUNS.items():
        alone = len(_runtimes(recorded)) == 1 and _runtimes(recorded) <= {"cri-o", "docker"}
        if alone and "chartError" not in recorded["result"]:
            found.append(case)
    return found


CASES = _cases()


def overlay(runtime, env=(), pool="training", taints=()):
    return ToolkitOverlay(
        pool=pool,
        called=pool,
        runtime=runtime,
        pool_label=POOL_LABEL,
        label_value="value",
        env=tuple(env),
        taints=taints,
        origin=Derived("test", "a test"),
    )


@pytest.fixture
def listed(repository):
    """The fields of the table in the docs."""
    page = (repository / "docs/runtimes.md").read_text("utf-8")
    table = page.partition("<!-- differences:begin -->")[2].partition("<!-- differences:end -->")[0]
    return {field.replace("<pool label>", POOL_LABEL) for field in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)}


def _recorded_and_ours(case):
    recorded = verdicts.RUNS[case]
    inputs, result = recorded["inputs"], recorded["result"]
    (runtime,) = _runtimes(recorded)
    resources = [item.resource for item in scenarios.admitted_resources(recorded)]
    policy = next(item for item in resources if item["kind"] == "ClusterPolicy")
    cdi = policy["spec"].get("cdi", {}).get("enabled", False)
    env = {item["name"]: item["value"] for item in inputs["values"].get("toolkit", {}).get("env", ())}
    env |= {} if cdi else dict(Catalog().runtimes.by_name[runtime].own_toolkit)
    node = inputs["nodes"][0]
    nodes = [Node(name="training", labels=node["labels"], runtime=node["runtime"])]
    found = overlay_objects(recorded["tag"], resources, nodes, overlay(runtime, env.items()), "gpu-operator")
    labels = {name: {**after["labels"], POOL_LABEL: "value"} for name, after in result["nodeLabelsAfter"].items()}
    expansion = Expansion(release=recorded["tag"], objects=found.objects, node_labels=labels)
    return result, oracle.recorded_form(expansion, inputs), cdi or runtime == "docker"


def _workload(result, name):
    return next(item for item in result["workloads"] if item["name"] == name)


@pytest.mark.parametrize("case", CASES)
def test_an_overlay_differs_from_the_operators_toolkit_in_the_listed_fields_only(listed, case):
    result, ours, no_mode = _recorded_and_ours(case)
    theirs = {"ds": _workload(result, OPERATORS)}
    lines = oracle.differences(theirs, {"ds": _workload(ours, "poolsmith-toolkit-training")})
    fields = {line.partition(": ")[0].removeprefix("ds.") for line in lines}

    assert fields <= listed
    assert listed - fields <= set(ONLY_WITHOUT_CDI)
    assert not (no_mode and fields & set(ONLY_WITHOUT_CDI)), "the operator says the same itself"


def test_every_listed_difference_is_seen(listed):
    seen = set()
    for case in CASES:
        result, ours, _ = _recorded_and_ours(case)
        lines = oracle.differences(
            {"ds": _workload(result, OPERATORS)}, {"ds": _workload(ours, "poolsmith-toolkit-training")}
        )
        seen |= {line.partition(": ")[0].removeprefix("ds.") for line in lines}

    assert seen == listed


@pytest.mark.parametrize("case", CASES)
def test_its_account_may_do_what_the_operators_may_but_for_openshift(case):
    result, ours, _ = _recorded_and_ours(case)
    roles = {item["kind"]: item for item in result["rbac"] if item["name"] == "nvidia-container-toolkit"}
    own = {item["kind"]: item for item in ours["rbac"]}

    assert own["Role"]["rules"] == [
        rule for rule in roles["Role"]["rules"] if "security.openshift.io" not in rule["apiGroups"]
    ]
    assert own["RoleBinding"]["roleRef"] == {**roles["RoleBinding"]["roleRef"], "name": "poolsmith-toolkit-training"}
    assert [(item["kind"], item["name"]) for item in own["RoleBinding"]["subjects"]] == [
        ("ServiceAccount", "poolsmith-toolkit-training")
    ]
    assert ours["serviceAccounts"] == [{"name": "poolsmith-toolkit-training", "namespace": "gpu-operator"}]


def test_names_stay_label_values_however_long_a_pools_name_is():
    names = {overlay("cri-o", pool="p" * length).name for length in range(1, 64)}

    assert len(names) == 63
    assert max(map(len, names)) <= 63


def test_two_long_names_that_begin_alike_are_told_apart():
    assert overlay("cri-o", pool="p" * 60 + "-a").name != overlay("cri-o", pool="p" * 60 + "-b").name


@pytest.mark.parametrize("case", CASES)
def test_the_script_waits_for_the_driver_and_becomes_the_toolkit(case):
    result, _, _ = _recorded_and_ours(case)
    recorded = verdicts.RUNS[case]
    resources = [item.resource for item in scenarios.admitted_resources(recorded)]
    nodes = [Node(name="training", labels={}, runtime="cri-o://1.31")]
    found = overlay_objects(recorded["tag"], resources, nodes, overlay("cri-o"), "gpu-operator")
    script = next(item["data"]["entrypoint.sh"] for item in found.objects if item["kind"] == "ConfigMap")

    assert _workload(result, OPERATORS)["containers"][0]["args"] == ["/bin/entrypoint.sh"]
    assert script.startswith("#!/bin/sh\n")
    assert "/run/nvidia/validations/driver-ready" in script
    assert script.endswith("\nexec nvidia-toolkit\n")


def test_without_a_cluster_policy_nothing_is_known():
    found = overlay_objects("v26.3.3", [], [], overlay("cri-o"), "gpu-operator")

    assert found.objects == ()
    assert found.unknown == "the toolkit of pool training"
