"""Moves, step by step and carelessly: each on a real git repository, told by the same comparison as `diff`."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from change.diff.projects import TODAY, changes, cluster, pool, project
from change.review.conftest import repository_of
from poolsmith.change.delivery.objects import HELM_RELEASE, KUSTOMIZATION, of_files
from poolsmith.change.delivery.outcomes import DepartureOutcome, Verb
from poolsmith.core.diagnostics import UsageError, WriteError
from poolsmith.interface.app import move as use_case
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.move import Asked, MoveOptions, move
from poolsmith.interface.report.diff_text import diff_report as as_text
from poolsmith.interface.report.formats import ReportContext

__all__ = ["repository_of"]
FLUX, ARGOCD = "flux", "argocd"
CONTEXT = ReportContext(tool="poolsmith")
KEPT = frozenset((DepartureOutcome.LEFT,))
TAKES = frozenset((Verb.DELETE, Verb.UNINSTALL, Verb.REPLACE, Verb.REFUSE))
"""What no step of a move that keeps everything may have."""


def texts(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def asked(name, *words, **flags):
    return Asked(move=name, words=words, flags=flags)


@pytest.fixture
def fleet(repository_of):
    """Two clusters, what is generated for them, and a step that is written, told and committed."""

    class Fleet:
        def __init__(self, engine, files):
            texts = {path: text.replace("engine: flux", self._delivery(path, engine)) for path, text in files.items()}
            self.repository = repository_of(texts)
            self.root = self.repository.root
            assert generate(self.root).written
            self.commit("output")

        @staticmethod
        def _delivery(path, engine):
            name = path.split("/")[1]
            return "engine: flux" if engine == FLUX else f"engine: argocd, destination: {{name: {name}}}"

        def commit(self, message):
            self.repository.commit(message)
            self.repository.base = self.repository.git("rev-parse", "HEAD")

        def step(self, name, *words, by="", **flags):
            """The next step, its report by `move` and by `diff`, merged afterwards."""
            result = move(self.root, asked(name, *words, **flags), MoveOptions(today=TODAY, accepted_by=by))
            assert result.refused is None, [item.message for item in result.refused.diagnostics]
            if result.step is not None:
                assert result.written
                report = changes(self.repository)
                assert [item.departures for item in report.clusters] == [
                    item.departures for item in result.report.clusters
                ]
                self.commit(result.step.title)
                return result, report
            return result, None

        def handed(self, cluster):
            folder = self.root / f"output/clusters/{cluster}/delivery"
            return of_files({file.name: file.read_text() for file in folder.iterdir()})

    def make(engine=FLUX, files=None):
        return Fleet(engine, files or project("a", "b", other=("c",)))

    return make


def is_harmless(report):
    """No error of the delivery, and nothing that goes, is replaced or refused."""
    for item in report.clusters:
        assert {one.outcome for one in item.departures} <= KEPT, [one.words for one in item.departures]
        verbs = {one.verb for one in item.delivery}
        assert not verbs & TAKES, [one for one in item.delivery if one.verb in TAKES]
    return not [item for item in report.new_findings if item.code == "PSM673" and item.severity != "note"]


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_a_renamed_cluster_keeps_all_names_on_the_cluster(fleet, engine):
    moved = fleet(engine)
    before = moved.handed("lab")
    result, report = moved.step("rename-cluster", "lab", "rome")

    assert is_harmless(report)
    assert report.clusters[0].departures == ()
    assert (report.clusters[0].standing, report.clusters[0].renamed_from) == ("renamed", "lab")
    assert moved.handed("rome").keys() == before.keys()
    assert "output/clusters/rome/delivery" in result.step.look[0]
    assert not (moved.root / "output/clusters/lab").exists()
    if engine == ARGOCD:
        made = (moved.root / "output/fleet/argocd/applicationset-default.yaml").read_text()
        assert re.search(r"cluster: lab\n\s+repoURL: .*\n\s+revision: .*\n\s+path: output/clusters/rome/delivery", made)
    again, _ = moved.step("rename-cluster", "lab", "rome")
    assert again.step is None
    back, report = moved.step("rename-cluster", "rome", "lab")
    assert is_harmless(report)
    assert "spec.delivery.name` is removed" in " ".join(map(str, back.step.edits.lines))
    assert (moved.root / "profiles/lab/cluster.yaml").read_text().count("name: lab") == 1 + (engine == ARGOCD)


@pytest.mark.rows(2, "steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
@pytest.mark.parametrize("mode", ["nvidia-driver", "cluster-policy"])
def test_a_renamed_pool_keeps_its_objects_labels_and_driver(fleet, engine, mode):
    files = project("a", other=("c",)) | {"profiles/lab/cluster.yaml": cluster(mode=mode)}
    files["profiles/lab/a.yaml"] = pool("a").replace("  driver:", "  nodes: {names: [gpu-1]}\n  driver:")
    moved = fleet(engine, files)
    _, report = moved.step("rename-pool", "lab", "a", "vision")

    assert is_harmless(report)
    (changed,) = report.clusters
    assert [(item.name, item.renamed_from) for item in changed.pools] == [("vision", "a")]
    assert not [item for item in changed.objects if item.kind in ("NVIDIADriver", "NodeFeatureRule", "DaemonSet")]
    assert changed.disruptions == ()
    assert not (moved.root / "profiles/lab/a.yaml").exists()
    moved.step("rename-pool", "lab", "vision", "a")
    assert (moved.root / "profiles/lab/a.yaml").read_text() == files["profiles/lab/a.yaml"]


def test_pools_that_share_their_gpus_keep_their_configuration(fleet):
    files = project("a", "b", other=("c",))
    shared = "  sharing: {timeSlicing: {resource: nvidia.com/gpu, replicas: 4}}\n  driver:"
    files["profiles/lab/a.yaml"] = pool("a").replace("  driver:", shared)
    moved = fleet(FLUX, files)
    _, report = moved.step("rename-pool", "lab", "a", "vision")

    assert report.clusters[0].disruptions == ()
    assert is_harmless(report)


OTHER = {FLUX: ARGOCD, ARGOCD: FLUX}


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_another_engine_takes_over_what_the_first_one_has_let_go_of(fleet, engine):
    moved = fleet(engine)
    flags = {"destination": "lab"} if engine == FLUX else {}
    first, report = moved.step("engine", "lab", OTHER[engine], **flags)
    assert is_harmless(report)
    assert "suspended" in as_text(report, CONTEXT)
    assert "quiet" not in as_text(report, CONTEXT)
    assert all(item.is_suspended for item in moved.handed("lab").values() if item.kind in (HELM_RELEASE, KUSTOMIZATION))
    assert first.step.then.startswith(f"poolsmith move engine lab {OTHER[engine]}")
    named = {item.name for item in moved.handed("lab").values() if item.is_suspended}

    second, report = moved.step("engine", "lab", OTHER[engine], **flags)
    assert is_harmless(report)
    (changed,) = report.clusters
    assert {item.verb for item in changed.delivery if item.kind in ("HelmRelease", "Application")} <= {
        Verb.ADOPT,
        Verb.CREATE,
        Verb.LEAVE,
    }
    assert Verb.ADOPT in {item.verb for item in changed.delivery}
    assert second.step.then == ""
    left = " ".join(second.step.look)
    assert all(re.search(rf"\b{name}\b", left) for name in named), "everything that is left over is named"
    assert "retiring" not in (moved.root / "profiles/lab/cluster.yaml").read_text()
    done, _ = moved.step("engine", "lab", OTHER[engine], **flags)
    assert done.step is None


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_a_change_of_engine_may_stop_after_its_first_step(fleet, engine):
    moved = fleet(engine)
    before = texts(moved.root / "output/clusters/lab/delivery")
    flags = {"destination": "lab"} if engine == FLUX else {}
    moved.step("engine", "lab", OTHER[engine], **flags)
    _, report = moved.step("engine", "lab", engine)

    assert is_harmless(report)
    assert texts(moved.root / "output/clusters/lab/delivery") == before


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_the_objects_of_the_delivery_move_to_another_namespace(fleet, engine):
    moved = fleet(engine)
    for _ in range(2):
        result, report = moved.step("delivery-namespace", "lab", "gitops")
        assert is_harmless(report)
    assert result.step.then == ""
    assert {namespace for _, namespace, _ in moved.handed("lab")} == {"gitops"}
    assert moved.step("delivery-namespace", "lab", "gitops")[0].step is None


@pytest.mark.rows(2, "steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
@pytest.mark.parametrize("keeps", [True, False])
def test_a_cluster_is_removed_in_two_steps(fleet, engine, keeps):
    moved = fleet(engine)
    flags = {"keeps": "yes"} if keeps else {}
    if not keeps:
        with pytest.raises(UsageError, match="can't be done without an outage"):
            move(moved.root, asked("remove-cluster", "lab"), MoveOptions(today=TODAY))
    _, first = moved.step("remove-cluster", "lab", by="" if keeps else "gpu-platform", **flags)
    assert is_harmless(first)
    result, second = moved.step("remove-cluster", "lab", **flags)

    assert not (moved.root / "profiles/lab").exists()
    assert not (moved.root / "output/clusters/lab").exists()
    outcomes = {item.outcome for item in second.clusters[0].departures if item.is_chart}
    assert outcomes == {DepartureOutcome.LEFT if keeps else DepartureOutcome.UNINSTALLED}
    found = [item for item in second.new_findings if item.code == "PSM673"]
    assert {item.severity for item in found} == {"note"}
    assert ("delete namespaces gpu-operator" in " ".join(result.step.look)) is not keeps
    assert moved.step("remove-cluster", "lab", **flags)[0].step is None


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_guards_that_are_taken_off_are_an_error_until_somebody_takes_it(fleet, engine, run_cli):
    moved = fleet(engine)
    _edit(moved.root, "engine: ", "retiring: remove, engine: ")
    generate(moved.root)
    report = changes(moved.repository)
    found = [(item.severity, item.message) for item in report.new_findings if item.code == "PSM673"]
    assert [severity for severity, _ in found] == ["error"]
    assert "nothing guards it any more" in found[0][1]
    flags = ["--root", moved.root, "--policies-from", moved.repository.base, "--judge", "work-tree", "--format", "json"]
    told = json.loads(run_cli(["check", *flags]).out)["diagnostics"]
    assert [(item["severity"], item["message"]) for item in told if item["code"] == "PSM673"] == found


def test_the_last_cluster_is_removed_by_hand(fleet):
    moved = fleet(FLUX, project("a"))
    moved.step("remove-cluster", "lab", by="gpu-platform")
    with pytest.raises(UsageError, match="the last cluster"):
        move(moved.root, asked("remove-cluster", "lab"), MoveOptions(today=TODAY))


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_the_namespace_of_the_stack_is_an_outage_that_somebody_takes(fleet, engine):
    moved = fleet(engine)
    before = texts(moved.root)
    with pytest.raises(UsageError, match="can't be done without an outage"):
        move(moved.root, asked("namespace", "lab", "nvidia"), MoveOptions(today=TODAY))
    assert texts(moved.root) == before
    result, report = moved.step("namespace", "lab", "nvidia", by="gpu-platform")

    found = [item for item in report.new_findings if item.code == "PSM673"]
    assert {item.severity for item in found} == {"note"}
    assert all("gpu-platform acknowledges it" in item.message for item in found)
    assert not [item for item in result.report.new_findings if item.code == "PSM501"]
    assert "kubectl delete namespace gpu-operator" in result.step.look[1]


@pytest.mark.rows(3, "steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
@pytest.mark.parametrize(
    "flags",
    [
        {"repoURL": "https://git.example.com/other.git"},
        {"path": "gpu/output"},
        {"revision": "refs/heads/next"},
        {"chartRepo": "https://charts.example.com/nvidia"},
    ],
)
def test_another_source_leaves_all_in_place(fleet, engine, flags):
    moved = fleet(engine)
    result, report = moved.step("source", "lab", **flags)

    assert is_harmless(report)
    assert report.clusters[0].departures == ()
    assert report.clusters[0].disruptions == ()
    assert result.step.before
    assert any(f"{flags.get('path', 'output')}/clusters/lab/delivery`" in line for line in result.step.look) is (
        "chartRepo" not in flags
    )
    assert moved.step("source", "lab", **flags)[0].step is None


@pytest.mark.parametrize(
    ("release", "mode", "needs"),
    [
        ("v26.3.3", "nvidia-driver", True),
        ("v26.7.0", "nvidia-driver", False),
        ("v26.7.0", "cluster-policy", True),
    ],
)
def test_another_mode_of_the_driver_is_no_outage_where_drivers_are_handed_over(fleet, release, mode, needs):
    other = "cluster-policy" if mode == "nvidia-driver" else "nvidia-driver"
    moved = fleet(
        FLUX, project("a", other=("c",)) | {"profiles/lab/cluster.yaml": cluster(release=release, mode=other)}
    )
    if needs:
        with pytest.raises(UsageError, match="can't be done without an outage"):
            move(moved.root, asked("driver-mode", "lab", mode), MoveOptions(today=TODAY))
    _, report = moved.step("driver-mode", "lab", mode, by="gpu-platform" if needs else "")
    assert "driver" in [item.kind for item in report.clusters[0].disruptions]


CARELESS = {
    "rename": lambda root: _rename(root, "lab", "rome"),
    "engine": lambda root: _edit(root, r"engine: \w+", "engine: argocd, destination: {name: lab}"),
    "stack.namespace": lambda root: _edit(root, "stack: {", "stack: {namespace: nvidia, "),
    "delivery.name": lambda root: _edit(root, r"engine: (\w+)", r"engine: \1, name: other"),
    "delivery.namespace": lambda root: _edit(root, r"engine: (\w+)", r"engine: \1, namespace: gitops"),
}


def _edit(root, pattern, new):
    path = root / "profiles/lab/cluster.yaml"
    path.write_text(re.sub(pattern, new, path.read_text(), count=1))


def _rename(root, old, new):
    shutil.move(root / f"profiles/{old}", root / f"profiles/{new}")
    path = root / f"profiles/{new}/cluster.yaml"
    path.write_text(path.read_text().replace(f"name: {old}}}", f"name: {new}}}", 1))


@pytest.mark.parametrize("edit", CARELESS.values(), ids=CARELESS)
def test_carelessly_done_each_is_an_error(fleet, edit):
    moved = fleet(FLUX)
    edit(moved.root)
    generate(moved.root)
    found = [item for item in changes(moved.repository).new_findings if item.code == "PSM673"]

    assert "error" in {item.severity for item in found}


def test_comments_stay_and_a_dry_run_writes_nothing(fleet):
    text = cluster().replace("  delivery: {engine: flux, ", "  delivery:  # by Flux\n    engine: flux  # 2.9\n    ")
    text = text.replace('repoURL: "https://git.example.com/gpu.git"}', 'repoURL: "https://git.example.com/gpu.git"')
    moved = fleet(FLUX, project("a", other=("c",)) | {"profiles/lab/cluster.yaml": text})
    before = texts(moved.root)
    result = move(moved.root, asked("rename-cluster", "lab", "rome"), MoveOptions(today=TODAY, dry_run=True))
    assert not result.written
    assert texts(moved.root) == before
    moved.step("rename-cluster", "lab", "rome")
    assert "engine: flux  # 2.9\n    name: lab\n" in (moved.root / "profiles/rome/cluster.yaml").read_text()


@pytest.mark.rows(8, "steps of a move, each generated and compared")
@pytest.mark.parametrize(
    ("name", "words", "flags", "says"),
    [
        ("rename-cluster", ("lab", "other"), {}, "there is a cluster `other` already"),
        ("rename-cluster", ("lab", "A b"), {}, "lower-case letters"),
        ("rename-cluster", ("nope", "x"), {}, "there is no cluster `nope`"),
        ("rename-pool", ("lab", "nope", "x"), {}, "has no pool `nope`"),
        ("rename-pool", ("lab", "a", "b"), {}, "has a pool `b` already"),
        ("engine", ("lab", "flux"), {"destination": "x"}, None),
        ("engine", ("lab", "argo"), {}, "no engine `argo`"),
        ("driver-mode", ("lab", "both"), {}, "no mode of the driver"),
        ("namespace", ("lab", "-"), {}, "lower-case letters"),
        (
            "stack-kind",
            ("lab", "device-plugin"),
            {"release": "v0.20.0"},
            "pools `a`, `b` have theirs from the operator",
        ),
        ("stack-kind", ("lab", "gpu-cluster"), {"release": "v26.7.0"}, "no migration between"),
        ("split-cluster", ("lab", "rome", "nope"), {}, "has no pool `nope`"),
        ("split-cluster", ("lab", "../rome", "a"), {}, "lower-case letters"),
        ("split-cluster", ("lab", "rome", "a", "b"), {}, "would have no pool left"),
        ("split-cluster", ("lab", "lab", "a"), {}, "would have no pool left"),
        ("merge-clusters", ("lab", "lab"), {}, "is that cluster itself"),
        ("merge-clusters", ("lab", "nope"), {}, "there is no cluster `nope`"),
    ],
)
def test_what_can_t_be_done_says_so_and_changes_nothing(fleet, name, words, flags, says):
    moved = fleet()
    before = texts(moved.root)
    if says is None:
        assert move(moved.root, asked(name, *words, **flags), MoveOptions(today=TODAY)).step is None
    else:
        with pytest.raises(UsageError, match=re.escape(says)):
            move(moved.root, asked(name, *words, **flags), MoveOptions(today=TODAY))
    assert texts(moved.root) == before


def test_a_step_that_can_t_be_written_leaves_all_as_it_was(fleet, monkeypatch):
    moved = fleet()
    before = texts(moved.root)
    carry_out = use_case._carry_out

    def failing(root, step):
        if root == moved.root:
            raise WriteError("no space left")
        carry_out(root, step)

    monkeypatch.setattr(use_case, "_carry_out", failing)
    with pytest.raises(WriteError):
        move(moved.root, asked("rename-cluster", "lab", "rome"), MoveOptions(today=TODAY))
    assert texts(moved.root) == before


def test_two_clusters_of_one_argo_cd_never_get_one_name(fleet):
    """The name that a renamed cluster keeps is taken."""
    moved = fleet(ARGOCD)
    moved.step("rename-cluster", "lab", "rome")
    shutil.copytree(moved.root / "profiles/other", moved.root / "profiles/lab")
    path = moved.root / "profiles/lab/cluster.yaml"
    path.write_text(path.read_text().replace("name: other", "name: lab").replace("{name: lab}}", "{name: third}}"))
    result = generate(moved.root)

    assert not result.written
    assert any(item.code == "PSM112" and "both begin with `lab`" in item.message for item in result.outcome.diagnostics)


def test_two_pools_never_get_one_name(fleet):
    moved = fleet()
    path = moved.root / "profiles/lab/b.yaml"
    path.write_text(path.read_text().replace("spec:\n", "spec:\n  objectName: a\n  nodes: {labelValue: z}\n"))
    result = generate(moved.root)

    assert not result.written
    assert [item.code for item in result.outcome.diagnostics if item.severity == "error"] == ["PSM112"]


def test_policies_that_name_it_are_told(fleet):
    moved = fleet()
    moved.repository.write({"policies/waivers.yaml": WAIVER})
    moved.commit("waiver")
    result = move(moved.root, asked("rename-cluster", "lab", "rome"), MoveOptions(today=TODAY, dry_run=True))

    assert any("policies/waivers.yaml:6" in text for text in result.step.before)


WAIVER = """\
apiVersion: poolsmith/v1
kind: WaiverList
waivers:
  - code: PSM248
    paths:
      - lab
    reason: tried
    owner: us
    expires: 2027-01-01
"""


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_a_cluster_is_split_pool_by_pool_and_may_stop_at_each_step(fleet, engine):
    moved = fleet(engine)
    flags = {"destination": "rome"} if engine == ARGOCD else {}
    lab = moved.handed("lab")
    first, report = moved.step("split-cluster", "lab", "rome", "b", **flags)

    assert is_harmless(report)
    assert {item.name: item.standing for item in report.clusters} == {"rome": "added"}
    assert moved.handed("lab") == lab
    assert (moved.root / "profiles/rome/b.yaml").read_text() == (moved.root / "profiles/lab/b.yaml").read_text()
    assert first.step.then.startswith("poolsmith move split-cluster lab rome b")
    second, report = moved.step("split-cluster", "lab", "rome", "b", **flags)
    assert [(item.verb, item.name) for item in report.clusters[0].delivery] == [(Verb.DELETE, "b-gpu-compiled")]
    assert "PSM673" not in [item.code for item in report.new_findings]
    assert [path.name for path in sorted((moved.root / "profiles/lab").iterdir())] == ["a.yaml", "cluster.yaml"]
    assert "kubectl get nodes --selector 'poolsmith.dev/pool in (b)'" in second.step.before[0]
    assert moved.step("split-cluster", "lab", "rome", "b", **flags)[0].step is None


def test_what_a_profile_says_of_one_cluster_stays_with_it(fleet):
    files = project("a", "b", other=("c",))
    files["profiles/lab/cluster.yaml"] = cluster().replace("engine: flux", "engine: flux, name: old") + (
        "  acknowledge:\n    - fact: package-source\n      by: us\n      date: 2026-11-20\n"
    )
    moved = fleet(FLUX, files)
    moved.step("split-cluster", "lab", "rome", "b", namespace="gitops")
    text = (moved.root / "profiles/rome/cluster.yaml").read_text()

    assert "name: rome" in text
    assert "namespace: gitops" in text
    assert "old" not in text
    assert "acknowledge" not in text


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_a_cluster_goes_into_another_one_and_then_out_of_the_fleet(fleet, engine):
    moved = fleet(engine)
    _, report = moved.step("merge-clusters", "other", "lab")
    assert is_harmless(report)
    assert sorted(path.name for path in (moved.root / "profiles/lab").iterdir()) == [
        "a.yaml", "b.yaml", "c.yaml", "cluster.yaml",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="can't be done without an outage"):
        move(moved.root, asked("merge-clusters", "other", "lab"), MoveOptions(today=TODAY))
    moved.step("merge-clusters", "other", "lab", by="gpu-platform")
    moved.step("merge-clusters", "other", "lab")
    assert not (moved.root / "profiles/other").exists()
    assert moved.step("merge-clusters", "other", "lab")[0].step is None


PREINSTALLED = "{source: preinstalled, version: 580.126.20}"


def _by_kind(kind):
    files = project("a", other=("c",)) | {
        "profiles/lab/cluster.yaml": cluster(mode="cluster-policy"),
        "profiles/lab/a.yaml": pool("a", driver=PREINSTALLED),
    }
    if kind == "device-plugin":
        files["profiles/lab/cluster.yaml"] = re.sub(
            "stack: .*", "stack: {kind: device-plugin, release: v0.20.0, gpuFeatureDiscovery: true}", cluster()
        )
    return files


@pytest.mark.rows(2, "steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
@pytest.mark.parametrize(
    ("kind", "other", "release"), [("operator", "device-plugin", "v0.20.0"), ("device-plugin", "operator", "v26.3.3")]
)
def test_another_kind_of_stack_comes_once_the_old_one_is_given_up(fleet, engine, kind, other, release):
    moved = fleet(engine, _by_kind(kind))
    before = texts(moved.root / "profiles/lab")
    with pytest.raises(UsageError, match="can't be done without an outage"):
        move(moved.root, asked("stack-kind", "lab", other, release=release), MoveOptions(today=TODAY))
    _, report = moved.step("stack-kind", "lab", other, by="gpu-platform", release=release)
    assert is_harmless(report)
    _, report = moved.step("stack-kind", "lab", other, release=release)

    (changed,) = report.clusters
    gone = {item.outcome for item in changed.departures if item.is_chart}
    assert gone == {DepartureOutcome.UNINSTALLED}
    assert {item.severity for item in report.new_findings if item.code == "PSM673"} == {"note"}
    text = (moved.root / "profiles/lab/cluster.yaml").read_text()
    assert f"release: {release}" in text
    assert not re.search("retiring|driverMode|gpuFeatureDiscovery", text)
    assert moved.step("stack-kind", "lab", other, release=release)[0].step is None
    assert before.keys() == texts(moved.root / "profiles/lab").keys()


@pytest.mark.rows(1, "either engine; the steps of a move, each generated and compared")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
def test_a_change_of_kind_may_stop_after_its_first_step(fleet, engine):
    moved = fleet(engine, _by_kind("operator"))
    before = texts(moved.root / "output/clusters/lab/delivery")
    moved.step("stack-kind", "lab", "device-plugin", by="gpu-platform", release="v0.20.0")
    _, report = moved.step("stack-kind", "lab", "operator")

    assert is_harmless(report)
    assert texts(moved.root / "output/clusters/lab/delivery") == before
