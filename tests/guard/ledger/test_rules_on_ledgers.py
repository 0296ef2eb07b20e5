"""Rules on privileges, on ledgers that no sample comes to: what is told of whom, and what is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.gpu.catalog.switches import read_switches
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE, LedgerLine
from poolsmith.guard.ledger.ledger_view import SeenWorkload, said
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.ledger.privilege_check import PRIVILEGE_RULES, not_expanded, privilege_view
from poolsmith.guard.ledger.reach import reach_of

POOLS = {
    "a": {"gpu": "{product: NVIDIA-L4, count: 1}"},
    "b": {"gpu": "{product: NVIDIA-L4, count: 1}", "sharing": "{mps: {replicas: 2}}"},
}


@pytest.fixture
def view(resolve, catalog):
    """Two pools of GPUs that can't be partitioned, one of them shared through MPS."""
    outcome = resolve({"registry": "{pullSecrets: [ngc]}"}, POOLS)
    return privilege_view(Predictions(catalog).of(outcome.plan, outcome.loaded), outcome.loaded)


def workload(name, *held, pools=("a",), account="x", maker="operator", through="ClusterPolicy/cluster-policy"):
    tokens = [Privilege.parse(text) for text in held]
    lines = tuple(LedgerLine(pools[0], name, "c", token, reach_of(token)) for token in tokens)
    return SeenWorkload(
        namespace="gpu-operator",
        workload=name,
        account=account,
        maker=maker,
        through=through,
        pools=pools,
        lines=lines,
    )


@pytest.fixture
def told(view):
    """The messages of one rule on other workloads than the prediction's."""

    def run(code, *workloads):
        rules = [rule for rule in PRIVILEGE_RULES if rule.RULE.code == code]
        seen = replace(view, workloads=workloads, reasons=lambda _workload, _pool: ())
        return [item.message for item in run_rules(rules, seen)]

    return run


SPECIAL = [
    "nvidia-cc-manager",
    "nvidia-kata-manager",
    "nvidia-kata-sandbox-device-plugin-daemonset",
    "nvidia-mig-manager",
    "nvidia-sandbox-device-plugin-daemonset",
    "nvidia-sandbox-validator",
    "nvidia-vfio-manager",
    "nvidia-vgpu-device-manager",
    "nvidia-vgpu-manager-daemonset",
]


@pytest.mark.parametrize("name", SPECIAL)
def test_what_serves_partitions_or_sandboxes_has_nothing_to_do_on_plain_pools(told, name):
    (message,) = told("PSM401", workload(f"DaemonSet/{name}", "privileged", pools=("a", "b")))

    assert (
        message
        == f"`{name}` runs with node-root on pools `a`, `b` of `prod`, and nothing in their profiles asks for it"
    )


def test_the_mps_daemon_has_something_to_do_where_the_profile_shares_by_it(told):
    (message,) = told(
        "PSM401", workload("DaemonSet/nvidia-device-plugin-mps-control-daemon", "privileged", pools=("a", "b"))
    )

    assert "on pool `a` of `prod`, and nothing in its profile asks for it" in message


@pytest.mark.parametrize(
    "harmless",
    [
        workload("DaemonSet/nvidia-mig-manager", "privileged", pools=(NO_KNOWN_NODE,)),
        workload("DaemonSet/nvidia-mig-manager", "run-as-root"),
        workload("DaemonSet/nvidia-dcgm-exporter", "privileged"),
    ],
    ids=["runs nowhere", "holds nothing that reaches far", "has something to do everywhere"],
)
def test_what_does_no_harm_or_has_business_is_left_alone(told, harmless):
    assert told("PSM401", harmless) == []


@pytest.mark.parametrize(
    ("held", "maker", "count"),
    [("privileged", "operand", 1), ("run-as-root", "operand", 0), ("privileged", "operator", 0)],
)
def test_only_privileged_pods_that_operands_start_are_named(told, held, maker, count):
    pod = workload("Pod/gfd-*", held, maker=maker, through="gpu-operator/DaemonSet/plugin")
    messages = told("PSM402", pod)

    assert messages == ["operands of `prod` start privileged pods that no manifest shows: `gfd-*`, by `plugin`"] * count


def test_a_network_that_no_value_switches_is_told_without_one(told):
    (message,) = told("PSM403", workload("DaemonSet/else", "host-network", pools=(ANY_NODE,)))

    assert message == "`else` is in the network of the node on any node of `prod`"


PATCH = "rbac:core/nodes:patch@cluster"


@pytest.mark.parametrize(
    "right", [PATCH, "rbac:core/nodes:update@cluster", "rbac:*/*:*@cluster", "rbac:core/*:patch@cluster"]
)
def test_an_agent_may_change_nodes_by_whatever_right_includes_it(told, right):
    assert told("PSM404", workload("DaemonSet/agent", right, account="agent")) == [
        "an account of pods on the nodes of `prod` may patch any node: `agent`"
    ]


@pytest.mark.parametrize(
    "right",
    [
        "rbac:core/nodes:get@cluster",
        "rbac:core/nodes/status:patch@cluster",
        "rbac:core/nodes:patch@ns/gpu-operator",
        "rbac:core/nodes:patch@cluster#one",
        "rbac:core/pods:patch@cluster",
    ],
)
def test_less_than_any_node_is_not_told(told, right):
    assert told("PSM404", workload("DaemonSet/agent", right)) == []


def test_a_controller_is_no_agent_but_is_named_where_it_shares_an_account_with_one(told):
    controller = workload("Deployment/controller", PATCH, pools=(ANY_NODE,), account="shared")
    agent = workload("DaemonSet/agent", PATCH, pools=(ANY_NODE,), account="shared")

    assert told("PSM404", controller) == []
    assert told("PSM404", agent, controller, workload("DaemonSet/other", PATCH)) == [
        "2 accounts of pods on the nodes of `prod` may patch any node: `shared` (shared by `agent`, `controller`), `x`"
    ]


def test_many_accounts_are_counted_and_not_listed(told):
    agents = [workload(f"DaemonSet/agent-{number}", PATCH, account=f"account-{number}") for number in range(9)]
    (message,) = told("PSM404", *agents)

    assert message.startswith("9 accounts")
    assert message.endswith("`account-3` and 5 more")


@pytest.mark.parametrize(
    ("right", "where"),
    [
        ("rbac:core/secrets:get@cluster", "in each namespace"),
        ("rbac:core/secrets:watch@ns/y", "in namespace `y`"),
        ("rbac:core/secrets:list@ns/y#licence", "in namespace `y`"),
        ("rbac:*/*:get@ns/y", "in namespace `y`"),
        ("rbac:core/*:*@cluster", "in each namespace"),
    ],
)
def test_secrets_are_read_by_whatever_right_includes_it(told, right, where):
    assert told("PSM405", workload("Deployment/reader", right)) == [
        f"workloads of `prod` may read secrets: `reader` {where}"
    ]


@pytest.mark.parametrize(
    "right", ["rbac:core/secrets:delete@cluster", "rbac:core/configmaps:get@cluster", "rbac:apps/secrets:get@cluster"]
)
def test_other_rights_read_no_secret(told, right):
    assert told("PSM405", workload("Deployment/reader", right)) == []


def test_who_reads_all_secrets_comes_first(told):
    near = workload("Deployment/near", "rbac:core/secrets:get@ns/y", "rbac:core/secrets:get@ns/z")
    far = workload("Deployment/far", "rbac:core/secrets:get@cluster")

    assert told("PSM405", near, far) == [
        "workloads of `prod` may read secrets: `far` in each namespace, `near` in namespace `y`, `z`"
    ]


def test_what_follows_from_defaults_of_the_chart_stands_at_the_stack(view):
    found = run_rules(PRIVILEGE_RULES, view, view.cluster)

    assert {(item.code, item.primary.pointer) for item in found} == {
        ("PSM402", "/spec/stack/release"),
        ("PSM404", "/spec/stack"),
        ("PSM405", "/spec/stack/release"),
    }
    assert {item.subject for item in found} == {"prod"}


SWITCHES = read_switches()
VALUES = {
    *(path for _, path in SWITCHES.networks),
    *(path for _, item in SWITCHES.business for path in (*item.unset, *([item.switch] if item.switch else []))),
}


@pytest.mark.parametrize("path", sorted(VALUES), ids=".".join)
def test_a_value_that_is_advised_is_one_of_some_release(catalog, path):
    charts = [catalog.chart("gpu-operator", tag) for tag in catalog.releases.by_tag]

    assert any(chart.accepts(path) for chart in charts)


def test_what_a_profile_is_asked_for_are_fields_of_a_profile(view):
    pool = next(pool for pool in view.plan.pools if pool.name == "b")
    pointers = {pointer for _, item in SWITCHES.business for pointer, _ in item.asked}
    found = {pointer: said(pool, pointer) for pointer in pointers}

    assert found == {
        "/spec/gpu/mig": None,
        "/spec/sharing/mps": pool.profile.spec.sharing.mps,
        "/spec/workload": "container",
        "/spec/sandbox/ccMode": None,
        "/spec/sandbox/tee": None,
    }


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [
        ({}, []),
        ({"a": ()}, []),
        ({"a": ("x",)}, [("operand expansion of cluster a", "not known: x")]),
        (
            {"b": ("x", "y"), "a": ("x", "y"), "c": ("z",)},
            [
                ("operand expansion of clusters a, b", "not known: x; y"),
                ("operand expansion of cluster c", "not known: z"),
            ],
        ),
        (
            {str(number): tuple("vwxyz") for number in range(5)},
            [("operand expansion of clusters 0, 1, 2 and 2 more", "not known: v; w; x and 2 more")],
        ),
    ],
    ids=["none", "nothing", "one", "alike", "many"],
)
def test_what_is_not_expanded_is_told_once_for_clusters_that_lack_the_same(unknown, expected):
    assert [(item.what, item.reason) for item in not_expanded(unknown)] == expected
