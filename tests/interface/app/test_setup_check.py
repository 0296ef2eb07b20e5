"""`check PATH` on setups that somebody wrote: what belongs together, which nodes there are, and what is not evaluated."""

from __future__ import annotations

import json
import time

import pytest

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.interface.app import check_paths, check_project

HELM = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  chart: {{spec: {{chart: gpu-operator, version: {release}, sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}
  {values}
"""
BY_OBJECT = "values: {driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}}"
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {{name: {name}}}
spec: {{driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: 580.126.20, nodeSelector: {selector}}}
"""
ZONE = "topology.kubernetes.io/zone"
NODE = """\
- name: {name}
  labels:
    feature.node.kubernetes.io/pci-10de.present: "true"
    feature.node.kubernetes.io/system-os_release.ID: ubuntu
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "{system}"
    topology.kubernetes.io/zone: {zone}
"""


def helm(values=BY_OBJECT, release="v26.3.3"):
    return HELM.format(release=release, values=values)


def driver(name, **selector):
    return DRIVER.format(name=name, selector=json.dumps({ZONE: selector["zone"]} if selector else {}))


def nodes(**zones):
    return "".join(NODE.format(name=name, zone=zone, system="22.04") for name, zone in zones.items())


@pytest.fixture
def judge(write_files):
    def run(files, **options):
        root = write_files(files)
        if "nodes.yaml" in files:
            options["nodes"] = root / "nodes.yaml"
        paths = [path for path in sorted(root.iterdir()) if path.name not in ("nodes.yaml", "profiles")]
        return check_paths(root, paths, **options, everything=True)

    return run


def told(outcome):
    rules = {rule.RULE.name for rule in SETUP_RULES}
    return [(item.name, str(item.primary.span)) for item in outcome.diagnostics if item.name in rules]


def test_a_tree_without_the_operator_has_no_setup(judge):
    outcome = judge({"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})

    assert "GPU setups" not in outcome.checked
    assert not any("setup" in item.what for item in outcome.skipped)


def test_what_is_not_known_is_counted_and_told_once(judge):
    outcome = judge({"helm.yaml": helm(), "a.yaml": driver("a", zone="a")})

    wanting = [rule for rule in SETUP_RULES if "nodes" in (*rule.NEEDS, *getattr(rule, "PARTLY_NEEDS", ()))]
    (skipped,) = [item for item in outcome.skipped if "setup as a whole" in item.what]
    assert outcome.checked["GPU setups"] == 1
    assert outcome.checked["setup rules"] == len(SETUP_RULES)
    assert (skipped.what, outcome.not_evaluated) == (f"{len(wanting)} checks of the setup as a whole", len(wanting))
    assert "--nodes FILE" in skipped.reason


def test_with_nodes_and_a_release_everything_is_evaluated(judge):
    outcome = judge({"helm.yaml": helm(), "a.yaml": driver("a", zone="a"), "nodes.yaml": nodes(a="a")})

    assert (told(outcome), outcome.not_evaluated) == ([], 0)


def test_an_object_belongs_to_the_values_that_stand_nearest(judge):
    files = {
        "one/helm.yaml": helm(),
        "one/drivers/a.yaml": driver("a", zone="a"),
        "two/helm.yaml": helm(),
        "two/drivers/b.yaml": driver("b"),
    }

    assert told(judge(files)) == []
    assert told(judge({**files, "shared/c.yaml": driver("c")})) == [
        ("refused-driver-objects", "shared/c.yaml:4:89"),
        ("refused-driver-objects", "two/drivers/b.yaml:4:89"),
    ]


def test_one_object_in_the_folders_of_two_clusters_is_no_overlap(judge):
    files = {"base/helm.yaml": helm(), "x/a.yaml": driver("a", zone="a"), "y/a.yaml": driver("a", zone="b")}

    assert [name for name, _ in told(judge(files)) if name == "refused-driver-objects"] == []


def test_a_patch_is_no_object_and_no_whole_values(judge):
    kustomization = """\
    apiVersion: kustomize.config.k8s.io/v1beta1
    kind: Kustomization
    resources: [helm.yaml, a.yaml]
    patches: [{path: patch.yaml}, {path: driver-patch.yaml}]
    """
    files = {
        "kustomization.yaml": kustomization,
        "helm.yaml": helm(values="values: {driver: {enabled: true}}"),
        "patch.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
        "metadata: {name: gpu-operator, namespace: gpu-operator}\n"
        f"spec: {{{BY_OBJECT}}}\n",
        "a.yaml": driver("a", zone="a"),
        "driver-patch.yaml": "apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {name: a}\nspec: {}\n",
    }

    assert told(judge(files, release="v26.3.3")) == []


def test_values_that_several_kustomizations_take_in_are_those_of_several_clusters(judge):
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{}]\n"
    files = {
        "base/kustomization.yaml": kustomization.format("helm.yaml"),
        "base/helm.yaml": helm(),
        "x/kustomization.yaml": kustomization.format("../base, drivers.yaml"),
        "x/drivers.yaml": driver("a-x", zone="a"),
        "y/kustomization.yaml": kustomization.format("../base, drivers.yaml"),
        "y/drivers.yaml": driver("a-y", zone="a"),
    }

    outcome = judge(files)

    assert (told(outcome), outcome.checked["GPU setups"]) == ([], 2)
    overlap = files | {"y/drivers.yaml": driver("a-y", zone="a") + "---\n" + driver("b-y")}
    assert told(judge(overlap)) == [("refused-driver-objects", "y/drivers.yaml:9:89")]


def test_several_values_files_of_one_folder_say_nothing_of_what_they_lack(judge):
    files = {"base.yaml": "driver: {enabled: true}\n", "a.yaml": driver("a")}
    more = {"more.yaml": "toolkit: {enabled: true}\n"}

    assert told(judge(files, release="v26.3.3")) == [("refused-driver-objects", "a.yaml:3:12")]
    assert told(judge(files | more, release="v26.3.3")) == []


def test_a_release_that_sets_no_values_has_those_of_the_chart(judge):
    files = {"helm.yaml": helm(values="timeout: 1h"), "a.yaml": driver("a", zone="a")}

    assert told(judge(files)) == [("refused-driver-objects", "a.yaml:3:12")]


@pytest.mark.parametrize(
    "source",
    [
        "source: {repoURL: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, targetRevision: v26.3.3}",
        "sources: [{repoURL: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, targetRevision: v26.3.3}]",
        (
            "source: {repoURL: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, targetRevision: v26.3.3, "
            "helm: {values: 'driver: {}'}}"
        ),
    ],
)
def test_values_of_an_application_are_a_setup_too(judge, source):
    application = f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: gpu}}\nspec: {{{source}}}\n"

    assert ("refused-driver-objects", "a.yaml:3:12") in told(judge({"app.yaml": application, "a.yaml": driver("a")}))


def test_a_cluster_policy_says_what_values_would(judge):
    policy = """\
    apiVersion: nvidia.com/v1
    kind: ClusterPolicy
    metadata: {name: cluster-policy}
    spec: {driver: {enabled: true, useNvidiaDriverCRD: false, version: 580.126.20}}
    """
    files = {"policy.yaml": policy, "nodes.yaml": nodes(a="a") + NODE.format(name="b", zone="a", system="24.04")}

    assert told(judge(files, release="v26.3.3")) == [("unlike-nodes", "policy.yaml:4:32")]


def test_objects_in_a_list_are_told_at_their_lines(judge):
    items = "".join("- " + driver(name).replace("\n", "\n  ").rstrip() + "\n" for name in ("a", "b"))
    outcome = judge({"list.yaml": f"apiVersion: v1\nkind: List\nitems:\n{items}"}, release="v26.3.3")

    assert told(outcome) == [("refused-driver-objects", "list.yaml:11:91")]


def test_nodes_without_a_gpu_are_left_out_and_told(judge):
    more = "- {name: control-1, labels: {kubernetes.io/os: linux}}\n"
    outcome = judge({"helm.yaml": helm(), "a.yaml": driver("a", zone="a"), "nodes.yaml": nodes(a="a") + more})

    assert told(outcome) == []
    assert "1 node of nodes.yaml" in [item.what for item in outcome.skipped]


def test_nodes_that_cannot_be_read_are_told_and_nothing_is_judged_by_them(judge):
    outcome = judge({"helm.yaml": helm(), "a.yaml": driver("a", zone="a"), "nodes.yaml": "- {name: 1}\n"})

    assert [item.name for item in outcome.diagnostics if item.primary.span.path == "nodes.yaml"] == ["wrong-type"]
    assert outcome.not_evaluated > 0


def test_the_release_of_the_values_counts_before_the_flag(judge):
    overlap = {
        "helm.yaml": helm("values: {driver: {nvidiaDriverCRD: {enabled: true}}}"),
        "a.yaml": driver("a", zone="a"),
    }

    assert told(judge(overlap, release="v26.7.0")) == [("refused-driver-objects", "helm.yaml:7:39")]
    overlap["helm.yaml"] = overlap["helm.yaml"].replace("v26.3.3", "v26.7.0")
    assert told(judge(overlap, release="v26.3.3")) == []


POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  os: {{id: ubuntu, version: "{system}"}}
  runtime: {{name: containerd}}
  gpu: {{product: NVIDIA-A100-SXM4-80GB, count: 8}}
  driver: {{source: container, version: 580.126.20}}
"""
CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: lab}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3, driverMode: nvidia-driver}
  delivery: {engine: flux, repoURL: https://git.example.com/gpu.git}
"""


def test_the_pools_of_a_cluster_are_the_nodes_and_say_the_release(judge):
    files = {
        "profiles/lab/cluster.yaml": CLUSTER,
        "profiles/lab/a.yaml": POOL.format(name="a", system="22.04"),
        "profiles/lab/b.yaml": POOL.format(name="b", system="24.04"),
        "values.yaml": "driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}\n",
        "a.yaml": driver("a").replace("{}", "{poolsmith.dev/pool: a}"),
    }

    outcome = judge(files, cluster="lab")

    assert told(outcome) == [("driver-coverage", "profiles/lab/b.yaml:3:12")]
    assert outcome.checked["values documents"] == 1


def test_one_source_of_nodes_is_enough(judge, write_files):
    files = {"a.yaml": driver("a", zone="a"), "nodes.yaml": nodes(a="a")}

    with pytest.raises(UsageError, match="--nodes and --cluster"):
        judge(files, cluster="lab")
    with pytest.raises(UsageError, match="is not a file"):
        judge({"a.yaml": files["a.yaml"]}, nodes=write_files({}) / "missing.yaml")


def test_flags_that_do_not_go_together(run_cli, write_files):
    root = write_files({"a.yaml": driver("a", zone="a")})

    assert run_cli(["check", "--root", root, "--nodes", root / "a.yaml"]).code == 2
    assert run_cli(["check", "--root", root, "--cluster", "a", "--cluster", "b", root / "a.yaml"]).code == 2


def test_thousands_of_objects_in_one_file_are_judged_in_a_moment(judge):
    selectors = ({f"example.com/p{number}": "a", ZONE: str(number % 7)} for number in range(1_500))
    text = "---\n".join(
        DRIVER.format(name=f"d{number}", selector=json.dumps(item)) for number, item in enumerate(selectors)
    )
    start = time.perf_counter()

    found = told(judge({"a.yaml": text}, release="v26.3.3"))

    assert len(found) == 2 * (MOST_OF_ONE_RULE + 1)
    assert time.perf_counter() - start < 60


@pytest.mark.deep("thousands of files")
def test_releases_by_the_thousand_find_their_charts_in_a_moment(judge):
    pair = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: r{number}}}
spec: {{chartRef: {{kind: OCIRepository, name: c{number}}}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {{name: c{number}}}
spec: {{url: "oci://charts.example/{chart}"}}
"""
    names = ("node-feature-discovery" if number == 2_999 else f"c{number}" for number in range(3_000))
    text = "---\n".join(pair.format(number=number, chart=chart) for number, chart in enumerate(names))
    start = time.perf_counter()

    found = told(judge({"a.yaml": text, "values.yaml": "nfd: {enabled: true}\n"}, release="v26.3.3"))

    assert ("one-feature-discovery", "values.yaml:1:7") in found
    assert time.perf_counter() - start < 60


def test_what_values_do_not_say_is_told_at_their_first_line(judge):
    files = {"values.yaml": "psa: {enabled: true}\n", "nodes.yaml": NODE.format(name="a", zone="z", system="22.04")}
    files["nodes.yaml"] = files["nodes.yaml"].replace("ID: ubuntu", "ID: talos").replace('"22.04"', "v1.9.0")

    assert set(told(judge(files, release="v26.3.3"))) == {
        ("driver-of-the-system", "values.yaml:1:1"),
        ("host-driver-folder", "values.yaml:1:1"),
    }


def test_in_a_project_findings_stand_at_lines_of_profiles(write_files):
    namespace = "\n    namespace: kube-system"
    root = write_files(
        {
            "profiles/lab/cluster.yaml": CLUSTER.replace(", driverMode: nvidia-driver}", "}").replace(
                "{release: v26.3.3}", f"\n    release: v26.3.3{namespace}"
            ),
            "profiles/lab/a.yaml": POOL.format(name="a", system="22.04"),
        }
    )

    outcome = check_project(root, progress=lambda done, total: None)

    assert told(outcome) == [("privileged-namespace", "profiles/lab/cluster.yaml:6:3")]


@pytest.mark.parametrize("release", ["v26.3.3", "v26.7.0"])
def test_a_node_without_a_gpu_is_enough_for_driver_objects_to_meet(judge, release):
    """The operator compares selectors on all nodes that there are."""
    drivers = [DRIVER.format(name="one", selector="{zone: a}"), DRIVER.format(name="two", selector="{rack: b}")]
    apart = {"d.yaml": "---\n".join(drivers), "nodes.yaml": nodes(g1="a", g2="b")}
    meeting = {**apart, "nodes.yaml": apart["nodes.yaml"] + "- {name: cpu, labels: {zone: a, rack: b}}\n"}

    for files, severity, said in ((apart, "warning", "are not disjoint"), (meeting, "error", "both select node `cpu`")):
        (found,) = [item for item in judge(files, release=release).diagnostics if item.code == "PSM261"]
        assert (str(found.severity), said in found.message) == (severity, True)
