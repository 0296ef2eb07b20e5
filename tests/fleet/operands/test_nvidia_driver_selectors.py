"""NVIDIADriver objects that select the same nodes, and the owner of each node."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.fleet.operands.nvidia_driver import assign_owners

driver, node, expanded, errors = cases.driver, cases.node, cases.expanded, cases.errors
BEFORE_OWNERS = cases.RELEASES[:-1]
OWNER = "nvidia.com/gpu-operator.driver.owner"


# -- selectors that exclude each other, before nodes had owners


@pytest.mark.parametrize("release", BEFORE_OWNERS)
def test_one_shared_node_fails_every_resource(release):
    drivers = [
        driver("one", nodeSelector={"b": "2", "a": "1"}),
        driver("two", nodeSelector={"a": "1"}),
        driver("rest", nodeSelector={"c": "3"}),
    ]
    expansion = expanded(drivers, [node(a="1", b="2")], release=release)
    told = "conflicting NVIDIADriver NodeSelectors found for resource: {}, nodeSelector: map[{}]"

    assert errors(expansion) == {
        name: ("notReady", "ConflictingNodeSelector", told.format(name, selector))
        for name, selector in (("one", '"a":"1" "b":"2"'), ("two", '"a":"1"'), ("rest", '"c":"3"'))
    }
    assert (expansion.objects, expansion.errors) == ((), ())


@pytest.mark.parametrize("release", BEFORE_OWNERS)
def test_an_absent_selector_means_gpu_nodes_and_conflicts_with_any_pool(release):
    expansion = expanded([driver("default"), driver("pool", nodeSelector={"a": "1"})], [node(a="1")], release=release)

    assert errors(expansion)["default"][2].endswith("resource: default, nodeSelector: map[]")


def test_nodes_without_gpus_count_as_well():
    cpu = node("cpu", a="1", b="2", **{"nvidia.com/gpu.present": "false"})
    drivers = [driver("one", nodeSelector={"a": "1"}), driver("two", nodeSelector={"b": "2"})]

    assert set(errors(expanded(drivers, [node(), cpu], release="v26.3.3"))) == {"one", "two"}


# -- owners


def test_the_one_that_selects_a_node_owns_it_and_the_default_takes_the_rest():
    drivers = [driver("pool", nodeSelector={"a": "1"}), driver("rest", default=True)]
    nodes = [node("n1", a="1"), node("n2"), node("cpu", **{"nvidia.com/gpu.present": "false"})]

    assert assign_owners(drivers, nodes) == {"n1": "pool", "n2": "rest"}


def test_without_a_default_the_rest_has_no_owner():
    assert assign_owners([driver("pool", nodeSelector={"a": "1"})], [node("n1")]) == {"n1": None}


@pytest.mark.parametrize(
    ("drivers", "message"),
    [
        (
            [driver("b", default=True), driver("a", default=True)],
            "multiple default NVIDIADrivers found: [a b]",
        ),
        (
            [driver("c"), driver("b", nodeSelector={"a": "1"}), driver("a", nodeSelector={})],
            "multiple NVIDIADrivers match the same node n1: [a b c]",
        ),
        (
            [driver("d", default=True, nodeSelector={"a": "1"})],
            'default NVIDIADriver "d" cannot use nodeSelector',
        ),
        (
            [driver("p", nodeSelector={OWNER: "p"})],
            f'NVIDIADriver "p" nodeSelector cannot use reserved label "{OWNER}"',
        ),
    ],
)
def test_a_conflict_assigns_nothing(drivers, message):
    with pytest.raises(OperatorError) as caught:
        assign_owners(drivers, [node("n1", a="1")])

    assert str(caught.value) == message


def test_a_resource_that_is_being_deleted_owns_nothing():
    gone = driver("gone", default=True)
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert assign_owners([gone, driver("rest", default=True)], [node("n1")]) == {"n1": "rest"}


def test_several_defaults_are_no_conflict_of_selectors():
    found = errors(expanded([driver("b", default=True), driver("a", default=True)]))

    assert found == dict.fromkeys("ab", ("notReady", "ReconcileFailed", "multiple default NVIDIADrivers found: [a b]"))


def test_the_validator_names_the_first_two_that_meet():
    drivers = [driver(name, nodeSelector={"a": "1"}) for name in "cba"]
    message = "multiple NVIDIADrivers match the same node n1: [a b]"

    assert errors(expanded(drivers, [node("n1", a="1")])) == dict.fromkeys(
        "abc", ("notReady", "ConflictingNodeSelector", message)
    )


def test_each_resource_hears_of_its_own_selector_first():
    drivers = [driver("one", nodeSelector={OWNER: "x"}), driver("two", default=True, nodeSelector={"a": "1"})]
    found = errors(expanded(drivers))

    assert found["one"][1:] == (
        "ConflictingNodeSelector",
        f'NVIDIADriver "one" nodeSelector cannot use reserved label "{OWNER}"',
    )
    assert found["two"][1:] == ("ConflictingNodeSelector", 'default NVIDIADriver "two" cannot use nodeSelector')
