"""Setup rules on whatever stands in people's files: findings or silence, never an exception."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.core.diagnostics import whole_file
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupValues, SetupView, run_setup_rules

CATALOG = Catalog()
KINDS = (
    ("HelmRelease", "helm.toolkit.fluxcd.io/v2"),
    ("Application", "argoproj.io/v1alpha1"),
    ("ApplicationSet", "argoproj.io/v1alpha1"),
    ("HelmChart", "helm.cattle.io/v1"),
    ("OCIRepository", "source.toolkit.fluxcd.io/v1"),
    ("NodeFeatureRule", "nfd.k8s-sigs.io/v1alpha1"),
    ("NodeFeatureDiscovery", "nfd.openshift.io/v1"),
    ("NodePool", "karpenter.sh/v1"),
    ("NVIDIADriver", "nvidia.com/v1alpha1"),
    ("ClusterPolicy", "nvidia.com/v1"),
    ("DaemonSet", "apps/v1"),
    ("Deployment", "apps/v1"),
    ("Namespace", "v1"),
    ("ResourceQuota", "v1"),
)
WORDS = st.sampled_from(
    (
        *(
            "name",
            "namespace",
            "labels",
            "metadata",
            "spec",
            "template",
            "containers",
            "image",
            "nodeSelector",
            "values",
        ),
        *(
            "tolerations",
            "taints",
            "startupTaints",
            "requirements",
            "key",
            "value",
            "operator",
            "effect",
            "op",
            "chart",
        ),
        *("chartRef", "kind", "source", "sources", "helm", "valuesObject", "valuesContent", "rules", "matchFeatures"),
        *(
            "feature",
            "matchExpressions",
            "nodename",
            "scopeSelector",
            "scopeName",
            "enabled",
            "worker",
            "nfd",
            "driver",
        ),
        *("node-feature-discovery", "daemonsets", "url", "system.name", "In", "Exists", "NoSchedule", "gpu-operator"),
        *(
            "nvidia.com/gpu.product",
            "pod-security.kubernetes.io/enforce",
            "PriorityClass",
            "network-operator",
            "default",
        ),
    )
)
SCALARS = st.none() | st.booleans() | st.integers(-2, 9) | WORDS | st.sampled_from(("", "a: [b", "nfd: {enabled: 1}"))
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=25
)
MAPPINGS = st.dictionaries(WORDS, ANYTHING, max_size=6)


def place(_pointer, note=None):
    return whole_file("x.yaml")


@st.composite
def objects(draw):
    kind, version = draw(st.sampled_from(KINDS))
    body = {
        "kind": kind,
        "apiVersion": version,
        "metadata": draw(MAPPINGS | ANYTHING),
        "spec": draw(MAPPINGS | ANYTHING),
    }
    return SetupObject(body, place, "x.yaml")


taints = st.dictionaries(st.sampled_from(("key", "value", "effect")), WORDS, max_size=3)
nodes = st.builds(
    SetupNode,
    name=WORDS,
    labels=st.dictionaries(WORDS, WORDS, max_size=3),
    place=st.just(place),
    taints=st.lists(taints, max_size=2).map(tuple),
    autoscaled=st.none() | st.booleans(),
    startup_taints=st.none() | st.lists(taints, max_size=1).map(tuple),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    release=st.sampled_from(("v24.9.2", "v26.3.3", "v26.7.0")),
    values=MAPPINGS,
    partial=st.booleans(),
    found=st.lists(objects(), max_size=4),
    nodes=st.none() | st.lists(nodes, max_size=2, unique_by=lambda node: node.name).map(tuple),
    distribution=st.sampled_from((None, "gke", "talos")),
    namespace=st.sampled_from((None, "default", "name")),
)
def test_no_rule_fails(release, values, partial, found, nodes, distribution, namespace):
    chart = CATALOG.chart("gpu-operator", release)
    view = SetupView(
        catalog=CATALOG,
        tag=release,
        operator=CATALOG.releases.near(release),
        distribution=distribution,
        nodes=nodes,
        values=SetupValues(values=values, defaults=chart.defaults, place=place, partial=partial),
        objects=tuple(found),
        namespace=namespace,
    )

    result = run_setup_rules(SETUP_RULES, view)

    assert all(item.message and item.primary.span for item in result.diagnostics)
