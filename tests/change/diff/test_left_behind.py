"""What a change leaves on hosts, nodes, GPUs and in the API without a cluster to ask, and who removes each."""

from __future__ import annotations

import pytest

from change.diff.projects import H100, changes, cluster, pool, project
from poolsmith.change.diff.change_report import ReleaseChangeKind
from poolsmith.gpu.catalog.live_cluster import OF_KATA, OF_OPERATOR, read_left_overs

T4 = "Tesla-T4"
WHOLE = f"  gpu: {{product: {H100}, count: 8}}"
FACTS = """
  acknowledge:
    - {fact: iommu}
    - {fact: acs}
    - {fact: nouveau-off}
    - {fact: kubelet-pod-resources}
    - {fact: kubelet-request-timeout}
    - {fact: kubelet-image-runtime-class}"""
OPERATORS = (
    "operator leaves the definitions",
    "`nvidia.com/gpu.deploy.*`",
    "`/usr/local/nvidia/toolkit`",
    "`nvidia_uvm`",
)


def of_workload(name, workload, **more):
    plain = pool(name, more.get("product", H100))
    driver = next(line for line in plain.splitlines() if line.startswith("  driver:"))
    return plain.replace(driver, f"  workload: {workload}{more.get('facts', FACTS)}")


def shared(name, sharing):
    return pool(name, H100) + f"  sharing: {sharing}\n"


def said(repository_of, before, edited, release="v26.3.3"):
    """Sentences on what stays; None in `edited` takes a file away."""
    files = {**project("a100"), "profiles/lab/cluster.yaml": cluster(release=release), **before}
    repository = repository_of(files)
    for path, text in edited.items():
        _edit(repository.root / path, text)
    report = changes(repository)
    assert not [item.unknown for item in report.clusters if item.unknown], [
        (item.unknown, [f.message for f in report.new_findings]) for item in report.clusters
    ]
    return [item.words for one in report.clusters for item in one.release if item.kind is ReleaseChangeKind.STAYS]


def _edit(path, text):
    if text is not None:
        path.write_text(text)
        return
    path.unlink()
    if not any(path.parent.iterdir()):
        path.parent.rmdir()


POLICY = cluster(mode="cluster-policy")
B = "profiles/lab/b.yaml"


@pytest.mark.rows(3, "each mode, whose parts have rows of their own")
@pytest.mark.parametrize(
    ("before", "after", "release", "named"),
    [
        (of_workload("b", "kata"), pool("b", H100), "v26.3.3", ("`/opt/kata`", "starts their runtime", "`vfio-pci`")),
        (
            of_workload("b", "kata", product=T4),
            pool("b", T4),
            "v24.9.2",
            ("`/opt/confidential-containers`", "`/opt/nvidia-gpu-operator/artifacts/runtimeclasses`", "CcRuntime"),
        ),
        (of_workload("b", "vm-passthrough", product=T4), pool("b", T4), "v26.3.3", ("`vfio-pci`", "`unbind --all`")),
        (shared("b", "{mps: {replicas: 4}}"), pool("b", H100), "v26.3.3", ("`/run/nvidia/mps`", "next boot")),
        (
            pool("b", T4),
            of_workload("b", "vm-passthrough", product=T4),
            "v26.3.3",
            ("`nvidia_uvm`", "`/usr/local/nvidia/toolkit`"),
        ),
    ],
    ids=["kata-deploy", "coco-operator", "passthrough", "mps", "containers"],
)
def test_a_change_of_mode_names_what_stays_and_who_removes_it(repository_of, before, after, release, named):
    found = said(repository_of, {B: before}, {B: after}, release)

    for words in named:
        assert any(words in item and "on pool `b`" in item for item in found), (words, found)


def test_kata_that_goes_on_elsewhere_keeps_its_files_before_4_1(repository_of):
    """kata-deploy 4.0.0 cleans up only where its DaemonSet is gone; 4.1.0 where it selects the node no longer."""
    kata = {B: of_workload("b", "kata"), "profiles/lab/c.yaml": of_workload("c", "kata")}
    (found,) = (item for item in said(repository_of, kata, {B: pool("b", H100)}) if "Kata leaves" in item)

    assert "on pool `b`: its pod skips its cleanup" in found


def test_nothing_is_left_where_nothing_of_a_pool_changes_but_its_name(repository_of):
    assert not said(repository_of, {B: pool("b", H100)}, {B: None, "profiles/lab/c.yaml": pool("c", H100)})


def test_nodes_of_a_removed_pool_keep_what_selects_them(repository_of):
    """What the labels select goes on there, so that nothing else is left over."""
    mig = pool("b", H100).replace(WHOLE, WHOLE.replace("}", ", mig: {layout: all-1g.10gb}}"))
    found = said(repository_of, {B: mig}, {B: None})

    assert len(found) == 2
    assert all("on nodes that stay of pool `b`" in item for item in found)
    assert any("`nvidia.com/mig.config`" in item and "select runs on there" in item for item in found)


@pytest.mark.deep("a whole cluster; its parts are held by the changes of modes")
@pytest.mark.parametrize("workload", ["kata", "container"])
def test_a_removed_cluster_names_all_that_it_had(repository_of, workload):
    files = {f"profiles/east/{name}.yaml": pool(name) for name in ("a", "b")}
    files["profiles/east/cluster.yaml"] = cluster("east")
    if workload == "kata":
        files["profiles/east/b.yaml"] = of_workload("b", "kata")
    found = said(repository_of, files, dict.fromkeys(files))

    for words in (*OPERATORS, *(("`/opt/kata`",) if workload == "kata" else ())):
        assert sum(words in item for item in found) == 1, (words, found)


@pytest.mark.deep("a whole cluster; its parts are held by the changes of modes")
def test_an_uninstall_of_the_operator_names_what_it_leaves(repository_of):
    driver = "{source: preinstalled}"
    before = {"profiles/lab/a100.yaml": pool("a100", driver=driver), "profiles/lab/cluster.yaml": POLICY}
    by_hand = POLICY.replace(
        "release: v26.3.3, driverMode: cluster-policy", "kind: device-plugin, release: v0.20.0, namespace: gpu"
    )
    edited = {
        "profiles/lab/cluster.yaml": by_hand,
        "profiles/lab/a100.yaml": pool("a100", driver=driver) + "  toolkit: {source: preinstalled}\n",
    }
    found = said(repository_of, before, edited)

    for words in OPERATORS[:3]:
        assert any(words in item for item in found), (words, found)
    assert not any("`nvidia_uvm`" in item for item in found)


def test_each_trace_has_its_source_and_verify_looks_for_each_directory():
    facts = read_left_overs()

    assert {trace.of for trace in facts.traces} >= {*OF_OPERATOR, *OF_KATA}
    assert all(trace.what and trace.who for trace in facts.traces)
    of_labels = {path for label in facts.labels for path in label.directories}
    for trace in facts.traces:
        assert set(trace.directories) <= {*facts.directories(*OF_OPERATOR, *OF_KATA), *of_labels}, trace.of
