"""What another release brings, and what a change leaves behind."""

from __future__ import annotations

import json

import pytest

from change.diff.projects import changes, cluster, pool, project
from poolsmith.change.diff.change_report import ReleaseChangeKind
from poolsmith.change.diff.change_sections import Part, Weight
from poolsmith.change.diff.change_summary import change_view

MIG = "  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}"
WHOLE = "  gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8}"


def after(repository_of, before, edited):
    repository = repository_of(before)
    for path, text in edited.items():
        (repository.root / path).write_text(text)
    return changes(repository)


def of_release(repository_of, old, new, distribution="kubeadm", **texts):
    files = project("a100")
    for name, text in texts.items():
        files[f"profiles/lab/{name}.yaml"] = text

    def of(release):
        return cluster(release=release).replace("kubeadm", distribution)

    files["profiles/lab/cluster.yaml"] = of(old)
    return after(repository_of, files, {"profiles/lab/cluster.yaml": of(new)})


def words(report, kind):
    return [item.words for one in report.clusters for item in one.release if item.kind is kind]


def test_a_skipped_line_is_told_first(repository_of):
    report = of_release(repository_of, "v25.3.4", "v26.7.0")

    (path,) = words(report, ReleaseChangeKind.PATH)
    assert path == ("NVIDIA supports no step from v25.3.4 to v26.7.0: the way is v25.3.4, v25.10.1, v26.3.3, v26.7.0")
    (section,) = (item for item in change_view(report).sections if item.part is Part.RELEASE)
    assert section.weight is Weight.GRAVE
    assert section.points[0].words == path


def test_issues_are_those_that_are_new_and_concern_what_is_here(repository_of):
    crio = pool("a100").replace('containerd, version: "1.7.27"', 'cri-o, version: "1.33"')

    (found,) = words(of_release(repository_of, "v25.3.4", "v25.10.0", a100=crio), ReleaseChangeKind.ISSUE)

    assert "with CRI-O" in found
    assert found.endswith("on pool `a100`")


def test_issues_of_both_releases_are_no_news(repository_of):
    assert not words(of_release(repository_of, "v26.3.1", "v26.3.3"), ReleaseChangeKind.ISSUE)


def test_an_issue_of_the_distribution_is_told_there_only(repository_of):
    found = words(of_release(repository_of, "v25.3.4", "v25.10.1", distribution="gke"), ReleaseChangeKind.ISSUE)

    assert any("GKE 1.33" in item for item in found)


@pytest.mark.parametrize(("engine", "what"), [("flux", "nothing acts on"), ("argocd", "deletes their definitions")])
def test_kinds_that_the_older_release_lacks_end_in_their_engines_way(repository_of, engine, what):
    files = project("a100")
    old, new = (cluster(release=tag).replace("engine: flux", f"engine: {engine}") for tag in ("v26.7.0", "v26.3.3"))
    files["profiles/lab/cluster.yaml"] = old

    report = after(repository_of, files, {"profiles/lab/cluster.yaml": new})

    stays = words(report, ReleaseChangeKind.STAYS)
    assert any("`GPUCluster`" in item and what in item for item in stays)
    assert any("nvidia.com/gpu-operator.driver.owner" in item for item in stays)
    assert words(report, ReleaseChangeKind.PATH)[0].startswith("it goes back from v26.7.0 to v26.3.3")


def _release_of(engine, old, new, repository_of, **cluster_settings):
    files = project("a100")
    was, is_now = (
        cluster(release=tag, **cluster_settings).replace("engine: flux", f"engine: {engine}") for tag in (old, new)
    )
    return after(repository_of, files | {"profiles/lab/cluster.yaml": was}, {"profiles/lab/cluster.yaml": is_now})


def test_argo_cd_waits_for_definitions_that_lack_a_field(repository_of):
    """The fields are those that Argo CD 3.2.0 names first for each object (tests/engines)."""
    report = _release_of("argocd", "v26.3.3", "v26.7.0", repository_of)

    (said,) = words(report, ReleaseChangeKind.BY_HAND)
    for field in ("ClusterPolicy /spec/dcgmExporter/serviceMonitor/scrapeTimeout", "NVIDIADriver /spec/upgradePolicy"):
        assert f"`{field}`" in said
    assert "`helm show crds gpu-operator --repo https://helm.ngc.nvidia.com/nvidia --version v26.7.0 | kubectl" in said
    assert not words(report, ReleaseChangeKind.DEFINITIONS)
    (section,) = (item for item in change_view(report).sections if item.part is Part.RELEASE)
    assert section.weight is Weight.GRAVE


@pytest.mark.parametrize(
    ("engine", "old", "new"),
    [("flux", "v26.3.3", "v26.7.0"), ("argocd", "v26.7.0", "v26.3.3"), ("argocd", "v26.3.1", "v26.3.3")],
)
def test_nothing_is_to_be_done_by_hand_where_each_field_is_defined(repository_of, engine, old, new):
    assert not words(_release_of(engine, old, new, repository_of), ReleaseChangeKind.BY_HAND)


def test_defaults_are_told_where_they_are_taken_and_their_part_runs(repository_of):
    report = of_release(repository_of, "v26.3.3", "v26.7.0")

    said = words(report, ReleaseChangeKind.DEFAULT)
    assert "the chart's default of `dcgmExporter.serviceMonitor.enabled` is `true`, and was `false`" in said


@pytest.mark.parametrize(
    "values", ["{dcgmExporter: {serviceMonitor: {enabled: false}}}", "{dcgmExporter: {enabled: false}}"]
)
def test_a_default_that_nobody_takes_is_not_told(repository_of, values):
    files = project("a100")
    files["profiles/lab/cluster.yaml"] = cluster(release="v26.3.3", values=values)
    edited = {"profiles/lab/cluster.yaml": cluster(release="v26.7.0", values=values)}

    said = words(after(repository_of, files, edited), ReleaseChangeKind.DEFAULT)

    assert not any("serviceMonitor" in item for item in said)


def test_partitions_and_labels_that_a_revert_leaves_are_told(repository_of):
    files = project("a100")
    files["profiles/lab/a100.yaml"] = pool("a100").replace(WHOLE, MIG)

    report = after(repository_of, files, {"profiles/lab/a100.yaml": pool("a100")})

    stays = words(report, ReleaseChangeKind.STAYS)
    assert any(item.startswith("GPUs stay partitioned as `all-1g.10gb`") for item in stays)
    assert any("`nvidia.com/mig.config=all-1g.10gb`" in item for item in stays)


def test_the_same_for_many_clusters_is_one_sentence(repository_of):
    files = project("a100", east=("a100",), west=("a100",))
    edited = {f"profiles/{name}/cluster.yaml": cluster(name, release="v26.7.0") for name in ("lab", "east", "west")}

    (section,) = (
        item for item in change_view(after(repository_of, files, edited)).sections if item.part is Part.RELEASE
    )

    assert all(point.clusters == ("east", "lab", "west") for point in section.points)
    assert len({json.dumps(point.words) for point in section.points}) == len(section.points)


def test_without_another_release_there_is_nothing(repository_of):
    report = after(
        repository_of,
        project("a100"),
        {"profiles/lab/a100.yaml": pool("a100", driver="{source: container, version: 595.91.07}")},
    )

    assert report.clusters
    assert not any(one.release for one in report.clusters)


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
@pytest.mark.rows(1, "two releases of a whole cluster")
@pytest.mark.parametrize("actions", ["[Deny, Audit]", "[Warn, Audit]"])
def test_a_release_without_upgrading_from_is_told_where_pods_are_refused(repository_of, repository, actions):
    files = project("a100")
    for path in (repository / "policies/privileges").glob("*.yaml"):
        files[f"policies/privileges/{path.name}"] = path.read_text()
    files["policies/enforcement.yaml"] = (
        "apiVersion: poolsmith/v1\nkind: PrivilegeEnforcement\nmetadata: {name: lab}\n"
        f"spec:\n  clusters: [lab]\n  actions: {actions}\n"
    )
    newer = cluster(release="v26.7.0")
    both = newer.replace("v26.7.0", "v26.7.0, upgradingFrom: v26.3.3")

    change = repository_of(files)
    said = []
    for text in (newer, both):
        (change.root / "profiles/lab/cluster.yaml").write_text(text)
        said.append(words(changes(change), ReleaseChangeKind.ACCEPTED))

    assert len(said[0]) == (actions == "[Deny, Audit]")
    assert all("pods of v26.3.3 that start again while v26.7.0 rolls out are refused" in item for item in said[0])
    assert said[1] == ["pods of v26.3.3 and of v26.7.0 are accepted until `upgradingFrom` leaves the profile"]
