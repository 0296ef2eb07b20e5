"""What is said of driver objects agrees with what the operator makes of them, and nothing that anyone writes ends a run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import Location, Severity
from poolsmith.core.diagnostics.diagnostic import Span
from poolsmith.fleet.operands.custom_resources import in_name_order
from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.fleet.operands.nvidia_driver.conflicts import Conflicts, assign_owners
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.rules.setup.driver_setup import DriverSetup
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupValues, SetupView, run_setup_rules

CATALOG = Catalog()
GPU = {"nvidia.com/gpu.present": "true", "feature.node.kubernetes.io/pci-10de.present": "true"}
ON = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}
KEYS = ("kubernetes.io/arch", "topology.kubernetes.io/zone", "nvidia.com/gpu.product")
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from("ab"))
SPECS = st.fixed_dictionaries({}, optional={"nodeSelector": LABELS, "default": st.booleans()})


def place(pointer, note=None):
    return Location(span=Span(path="a.yaml"), pointer=pointer, note=note)


def view_of(tag, specs, nodes, values=None):
    drivers = [
        {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": {"name": f"d{index}"}, "spec": spec}
        for index, spec in enumerate(specs)
    ]
    return drivers, SetupView(
        catalog=CATALOG,
        tag=tag,
        operator=CATALOG.releases.near(tag),
        nodes=tuple(SetupNode(name=f"n{index}", labels=labels, place=place) for index, labels in enumerate(nodes)),
        values=SetupValues(values=values or ON, defaults={}, place=place),
        objects=tuple(SetupObject(item, place) for item in drivers),
    )


def refusals(view):
    found = run_setup_rules(SETUP_RULES, view).diagnostics
    return [item for item in found if item.name == "refused-driver-objects" and item.severity is Severity.ERROR]


@given(st.lists(SPECS, max_size=5), st.lists(LABELS, max_size=5))
def test_before_owners_the_operator_refuses_what_the_proof_refuses(specs, labels):
    specs = [{key: value for key, value in spec.items() if key != "default"} for spec in specs]
    nodes = [GPU | item for item in labels]
    drivers, view = view_of("v26.3.3", specs, nodes)
    resources = in_name_order(drivers)
    seen = [Node(name=f"n{index}", labels=item) for index, item in enumerate(nodes)]

    def refuses():
        for driver in resources:
            try:
                Conflicts(resources, seen).check_overlap(driver)
            except OperatorError:
                return True
        return False

    if nodes:
        assert bool(refusals(view)) == refuses()
    elif not refusals(view):
        assert not refuses()


@given(st.lists(SPECS, max_size=5), st.lists(LABELS, max_size=5))
def test_with_owners_the_operator_refuses_what_the_proof_refuses_and_assigns_as_it_says(specs, labels):
    nodes = [GPU | item for item in labels]
    drivers, view = view_of("v26.7.0", specs, nodes)
    seen = [Node(name=f"n{index}", labels=item) for index, item in enumerate(nodes)]
    try:
        Conflicts(in_name_order(drivers), seen).check_owners()
        owners = assign_owners(drivers, seen)
    except OperatorError:
        owners = None

    if nodes:
        assert bool(refusals(view)) == (owners is None)
    if owners is not None:
        served = DriverSetup(view).served
        assert {name: owner for name, owner in owners.items() if owner} == {
            name: item.name for name, item in served.items()
        }


@given(st.lists(SPECS, max_size=4), st.sampled_from(["v26.3.3", "v26.7.0"]))
def test_without_a_finding_no_node_that_there_can_be_falls_to_two(specs, tag):
    drivers, view = view_of(tag, specs, [])
    view = SetupView(catalog=CATALOG, tag=tag, operator=view.operator, values=view.values, objects=view.objects)
    if refusals(view):
        return
    resources = in_name_order(drivers)
    for first in (None, "a", "b"):
        for second in (None, "a", "b"):
            for third in (None, "a", "b"):
                values = dict(zip(KEYS, (first, second, third), strict=True))
                node = Node(name="n", labels=GPU | {key: value for key, value in values.items() if value})
                if tag == "v26.7.0":
                    assign_owners(drivers, [node])
                else:
                    Conflicts(resources, [node]).check_overlap(resources[0]) if resources else None


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from(["", "a", "true", "580", "580.1.2", "sha256:x", "nvidia"]),
)
WORDS = st.sampled_from(
    [
        "apiVersion", "kind", "metadata", "name", "spec", "nodeSelector", "nodeAffinity", "default", "driver", "enabled",
        "nvidiaDriverCRD", "deployDefaultCR", "useNvidiaDriverCRD", "version", "repository", "image", "usePrecompiled",
        "rdma", "useHostMofed", "kernelModuleType", "hostPaths", "driverInstallDir", "toolkit", "labels", "rules", "items",
        "tolerations", "daemonsets", "worker", "node-feature-discovery", "nfd", "namespace", "effect", "key", "operator",
        "sandboxWorkloads", "psa", "hard", "scopeSelector", "matchExpressions", "template", "containers",
    ]
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5), max_leaves=12
)
KINDS = st.sampled_from(
    [
        ("nvidia.com/v1alpha1", "NVIDIADriver"),
        ("nvidia.com/v1", "ClusterPolicy"),
        ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule"),
        ("mellanox.com/v1alpha1", "NicClusterPolicy"),
        ("v1", "Namespace"),
        ("v1", "ResourceQuota"),
        ("apps/v1", "DaemonSet"),
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("argoproj.io/v1alpha1", "Application"),
        ("karpenter.sh/v1", "NodePool"),
    ]
)
OBJECTS = st.builds(
    lambda kind, metadata, spec: {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec},
    KINDS,
    ANYTHING,
    ANYTHING,
)


@given(
    st.lists(OBJECTS, max_size=4),
    st.none() | st.dictionaries(WORDS, ANYTHING, max_size=5),
    st.none() | st.lists(LABELS, max_size=3),
    st.sampled_from([None, "v24.9.2", "v26.3.3", "v26.7.0"]),
    st.booleans(),
)
def test_whatever_stands_in_the_files_the_rules_come_to_an_end(objects, values, labels, tag, partial):
    view = SetupView(
        catalog=CATALOG,
        tag=tag,
        operator=CATALOG.releases.near(tag) if tag else None,
        nodes=None
        if labels is None
        else tuple(SetupNode(name=f"n{index}", labels=GPU | item, place=place) for index, item in enumerate(labels)),
        values=None
        if values is None
        else SetupValues(values=values, defaults={"driver": {"enabled": True}}, place=place, partial=partial),
        objects=tuple(SetupObject(item, place) for item in objects),
    )

    result = run_setup_rules(SETUP_RULES, view)

    assert all(item.message and item.primary.span.path for item in result.diagnostics)
