"""What leaves the delivery is told first, as what it is: causes and engines, on real git repositories."""

from __future__ import annotations

import json
import random
import re

import pytest

from change.diff.projects import changes, cluster, pool, project, take_guards_off
from poolsmith.change.delivery.objects import of_files, of_plan
from poolsmith.change.delivery.outcomes import DepartureOutcome, Evidence
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.change_sections import Part, Weight
from poolsmith.change.diff.change_summary import change_view
from poolsmith.interface.app.generate import generate
from poolsmith.interface.report.diff_json import diff_report as as_json
from poolsmith.interface.report.diff_markdown import diff_report as as_markdown
from poolsmith.interface.report.diff_text import diff_report as as_text
from poolsmith.interface.report.formats import ReportContext

FLUX, ARGOCD = "flux", "argocd"
CONTEXT = ReportContext(tool="poolsmith")
PATH = "profiles/lab/cluster.yaml"


def of_engine(text, engine):
    assert "engine: flux" in text
    return text.replace("engine: flux", f"engine: {engine}")


@pytest.fixture
def delivered(repository_of):
    """A repository whose base holds what is generated from it; `guarded` as it is since HelmReleases are guarded."""

    def make(files, *, engine=FLUX, guarded=True):
        if engine != FLUX:
            files = {path: of_engine(text, engine) if "delivery:" in text else text for path, text in files.items()}
        repository = repository_of(files)
        result = generate(repository.root)
        assert result.written, [item.message for item in result.outcome.diagnostics]
        if not guarded:
            take_guards_off(repository.root)
        repository.commit("output")
        repository.base = repository.git("rev-parse", "HEAD")
        return repository

    return make


def edited(old, new):
    def edit(repository):
        path = repository.root / PATH
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    edit.__name__ = new
    return edit


def renamed(repository):
    """The cluster, and nothing else."""
    text = (repository.root / PATH).read_text()
    pools = {f"profiles/rome/{file.name}": file.read_text() for file in (repository.root / "profiles/lab").iterdir()}
    repository.remove("profiles/lab")
    repository.write({**pools, "profiles/rome/cluster.yaml": text.replace("name: lab", "name: rome")})


def removed(repository):
    repository.remove("profiles/lab")


def outcomes(report):
    """By kind and name."""
    return {f"{item.kind}/{item.name}": item.outcome for cluster in report.clusters for item in cluster.departures}


def leaving(report):
    return next(section.points for section in change_view(report).sections if section.part is Part.LEAVES)


def findings(report, kind=""):
    """Those on what leaves; of objects of one kind alone."""
    found = [(item.severity.value, item.message) for item in report.new_findings if item.code == "PSM673"]
    return [item for item in found if f"{kind} `" in item[1]]


def first_words(report):
    """The first point of each format for people, and of JSON."""
    text = as_text(report, CONTEXT)
    _, verdict, title, written, *rest = text.splitlines()
    assert title == "what was written, and what comes of it"
    assert verdict.removeprefix("look closely: ").partition(":")[0] in written
    point = rest[rest.index("leaves the delivery") + 1]
    markdown = as_markdown(report, CONTEXT)
    assert markdown.index("Leaves the delivery") < min(
        (markdown.index(word) for word in ("Privileges", "Disruption", "New findings") if word in markdown),
        default=len(markdown),
    )
    first = json.loads(as_json(report, CONTEXT))["clusters"][0]["departures"][0]
    for told in (text, markdown.split("\n\n")[0]):
        assert "quiet" not in told
    return verdict, point, markdown, first


POOLS = project("a", "b")
PREINSTALLED = "{source: preinstalled, version: 580.126.20}"
WITHOUT_DRIVERS = {PATH: cluster(mode="cluster-policy"), "profiles/lab/a.yaml": pool("a", driver=PREINSTALLED)}
SCENARIOS = [
    # name, engine, guarded, edit, words of the first point, outcome, whether it was seen, severity of the finding
    (
        "renamed",
        FLUX,
        False,
        renamed,
        (
            "uninstalls the GPU Operator on cluster `rome`",
            "`flux-system/lab-gpu-operator` leaves the delivery",
            "cluster `lab` is called `rome`",
            "within seconds",
            "has no deployed releases",
            "the drivers on pools `a`, `b`",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "renamed",
        FLUX,
        True,
        renamed,
        (
            "gives the GPU Operator two owners on cluster `rome`",
            "stays in the cluster",
            "`prune: disabled`",
            "docs/moves.md",
        ),
        DepartureOutcome.CONTESTED,
        Evidence.SEEN,
        "error",
    ),
    (
        "renamed",
        ARGOCD,
        False,
        renamed,
        (
            "uninstalls the GPU Operator on cluster `rome`",
            "`argocd/lab-gpu-operator` leaves",
            "post-delete hook",
            "takes the feature labels off all nodes",
            "FailOnSharedResource",
            "neither goes on",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "renamed",
        ARGOCD,
        True,
        renamed,
        (
            "gives the GPU Operator two owners on cluster `rome`",
            "`Prune=false`",
            "FailOnSharedResource",
            "docs/moves.md",
        ),
        DepartureOutcome.CONTESTED,
        Evidence.SEEN,
        "error",
    ),
    (
        "removed",
        ARGOCD,
        True,
        removed,
        ("leaves the GPU Operator behind on cluster `lab`", "once whoever holds the delivery", "`Prune=false`"),
        DepartureOutcome.LEFT,
        Evidence.READ,
        "warning",
    ),
    (
        "engine",
        ARGOCD,
        True,
        edited("engine: argocd", "engine: flux"),
        ("gives the GPU Operator two owners on cluster `lab`", "Flux applies the objects"),
        DepartureOutcome.CONTESTED,
        Evidence.SEEN,
        "error",
    ),
    (
        "delivery.namespace",
        ARGOCD,
        True,
        edited("engine: argocd", "engine: argocd, namespace: gitops"),
        ("gives the GPU Operator two owners", "FailOnSharedResource"),
        DepartureOutcome.CONTESTED,
        Evidence.READ,
        "error",
    ),
    (
        "removed",
        FLUX,
        False,
        removed,
        ("uninstalls the GPU Operator on cluster `lab`", "once whoever holds the delivery"),
        DepartureOutcome.UNINSTALLED,
        Evidence.READ,
        "warning",
    ),
    (
        "removed",
        FLUX,
        True,
        removed,
        ("deletes what a Kustomization applied on cluster `lab`", "once whoever holds the delivery", "the drivers on"),
        DepartureOutcome.DELETED,
        Evidence.SEEN,
        "warning",
    ),
    (
        "removed",
        ARGOCD,
        False,
        removed,
        ("uninstalls the GPU Operator on cluster `lab`", "once whoever holds the delivery", "post-delete hook"),
        DepartureOutcome.UNINSTALLED,
        Evidence.READ,
        "warning",
    ),
    (
        "engine",
        FLUX,
        False,
        edited("engine: flux", "engine: argocd"),
        (
            "uninstalls the GPU Operator on cluster `lab`",
            "the engine is `argocd` and no longer `flux`",
            "within seconds",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "engine",
        FLUX,
        True,
        edited("engine: flux", "engine: argocd"),
        ("gives the GPU Operator two owners on cluster `lab`", "Argo CD applies the objects"),
        DepartureOutcome.CONTESTED,
        Evidence.SEEN,
        "error",
    ),
    (
        "engine",
        ARGOCD,
        False,
        edited("engine: argocd", "engine: flux"),
        (
            "uninstalls the GPU Operator on cluster `lab`",
            "the engine is `flux` and no longer `argocd`",
            "post-delete hook",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "stack.namespace",
        FLUX,
        True,
        edited("stack: {", "stack: {namespace: nvidia, "),
        (
            "uninstalls the GPU Operator on cluster `lab`",
            "stays, and moves",
            "the stack's namespace is `nvidia` and no longer `gpu-operator`",
            "does not keep it from that",
            "post-delete hook",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "stack.namespace",
        ARGOCD,
        True,
        edited("stack: {", "stack: {namespace: nvidia, "),
        (
            "uninstalls the GPU Operator on cluster `lab`",
            "stays, and moves",
            "prunes what stands in the old one",
            "seen on Argo CD",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "delivery.namespace",
        FLUX,
        False,
        edited("engine: flux", "engine: flux, namespace: gitops"),
        (
            "uninstalls the GPU Operator on cluster `lab`",
            "namespace `gitops` and no longer in `flux-system`",
            "has no deployed releases",
        ),
        DepartureOutcome.UNINSTALLED,
        Evidence.READ,
        "error",
    ),
    (
        "delivery.namespace",
        FLUX,
        True,
        edited("engine: flux", "engine: flux, namespace: gitops"),
        ("gives the GPU Operator two owners",),
        DepartureOutcome.CONTESTED,
        Evidence.READ,
        "error",
    ),
    (
        "delivery.namespace",
        ARGOCD,
        False,
        edited("engine: argocd", "engine: argocd, namespace: gitops"),
        ("uninstalls the GPU Operator", "post-delete hook"),
        DepartureOutcome.UNINSTALLED,
        Evidence.UNKNOWN,
        "error",
    ),
    (
        "delivery.project",
        ARGOCD,
        True,
        edited("engine: argocd", "engine: argocd, project: gpu"),
        (
            "leaves the Application of the whole cluster behind",
            "ApplicationSet element `argocd/poolsmith-default/lab`",
            "the project is `gpu` and no longer `default`",
            "unknown",
        ),
        DepartureOutcome.LEFT,
        Evidence.UNKNOWN,
        None,
    ),
    (
        "delivery.destination",
        ARGOCD,
        True,
        edited("engine: argocd", 'engine: argocd, destination: {server: "https://lab.example.com"}'),
        ("leaves the GPU Operator behind", "the destination is another one", "stays there, as it seems", "unknown"),
        DepartureOutcome.LEFT,
        Evidence.UNKNOWN,
        "warning",
    ),
    (
        "stack.kind",
        FLUX,
        False,
        edited("release: v26.3.3, driverMode: cluster-policy", "kind: device-plugin, release: v0.20.0"),
        ("uninstalls the GPU Operator", "the kind of stack is `device-plugin` and no longer `operator`"),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
    (
        "stack.kind",
        FLUX,
        True,
        edited("release: v26.3.3, driverMode: cluster-policy", "kind: device-plugin, release: v0.20.0"),
        ("leaves the GPU Operator beside the new stack", "keeps running until it is retired"),
        DepartureOutcome.CONTESTED,
        Evidence.UNKNOWN,
        "error",
    ),
    (
        "stack.kind",
        ARGOCD,
        False,
        edited("release: v26.3.3, driverMode: cluster-policy", "kind: device-plugin, release: v0.20.0"),
        ("uninstalls the GPU Operator", "post-delete hook"),
        DepartureOutcome.UNINSTALLED,
        Evidence.SEEN,
        "error",
    ),
]


@pytest.mark.rows(3, "causes with either engine; a diff in every format each")
@pytest.mark.parametrize(
    ("engine", "guarded", "edit", "words", "outcome", "evidence", "severity"),
    [scenario[1:] for scenario in SCENARIOS],
    ids=[f"{name} {engine}{'' if guarded else ' unguarded'}" for name, engine, guarded, *_ in SCENARIOS],
)
def test_it_stands_first_in_every_format(delivered, engine, guarded, edit, words, outcome, evidence, severity):
    repository = delivered(
        WITHOUT_DRIVERS if "device-plugin" in edit.__name__ else POOLS, engine=engine, guarded=guarded
    )
    edit(repository)
    report = changes(repository)
    verdict, point, markdown, first = first_words(report)

    for text in words:
        assert text in point, point
        assert text.replace("`", "") in markdown.replace("`", "").replace("\\", "")
    assert point.startswith(" ! ") or outcome is DepartureOutcome.LEFT
    assert verdict.startswith("look closely: it ")
    assert point[3:].split(" on cluster ")[0] in verdict
    assert (first["outcome"], first["evidence"]) == (outcome.value, evidence.value)
    assert sorted({found for found, _ in findings(report)}) == ([severity] if severity else [])
    kind = DisruptionKind.LEFT if outcome is DepartureOutcome.LEFT else DisruptionKind.UNINSTALLED
    assert report.clusters[0].disruptions[0].kind is kind


def test_what_installs_the_same_elsewhere_is_named_for_each_kind(delivered):
    repository = delivered(POOLS, guarded=False)
    renamed(repository)

    assert outcomes(changes(repository)) == {
        "HelmRelease/lab-gpu-operator": DepartureOutcome.UNINSTALLED,
        "Kustomization/lab-platform": DepartureOutcome.DELETED,
        "Kustomization/lab-pools": DepartureOutcome.DELETED,
        "GitRepository/lab-poolsmith": DepartureOutcome.LEFT,
        "HelmRepository/lab-gpu-operator": DepartureOutcome.LEFT,
    }


def test_driver_objects_go_with_their_kustomization_though_the_operator_stays(delivered):
    repository = delivered(POOLS)
    renamed(repository)
    report = changes(repository)
    (point,) = (item for item in leaving(report) if "Kustomization `flux-system/lab-pools`" in item.words)

    assert point.weight is Weight.GRAVE
    assert "the NVIDIADriver objects" in point.words
    assert "the drivers on pools `a`, `b` go with it" in point.words


HAND_INSTALLED = {
    PATH: cluster().replace(
        "stack: {release: v26.3.3, driverMode: nvidia-driver}",
        "stack: {kind: device-plugin, release: v0.20.0, dcgmExporter: {release: 4.5.3-4.8.2}}",
    ),
    "profiles/lab/a.yaml": pool("a", driver=PREINSTALLED),
}


@pytest.mark.parametrize(
    ("engine", "guarded", "words", "severity"),
    [
        (FLUX, False, ("uninstalls `dcgm-exporter`", "within seconds"), "error"),
        (FLUX, True, ("leaves `dcgm-exporter` behind", "docs/rename.md says how it is retired"), "warning"),
        (ARGOCD, False, ("may uninstall `dcgm-exporter`", "unless the chart has a hook"), "error"),
        (ARGOCD, True, ("leaves `dcgm-exporter` behind", "docs/rename.md says how it is retired"), "warning"),
    ],
)
def test_a_unit_that_nothing_asks_for_any_more(delivered, engine, guarded, words, severity):
    repository = delivered(HAND_INSTALLED, engine=engine, guarded=guarded)
    edited(", dcgmExporter: {release: 4.5.3-4.8.2}", "")(repository)
    report = changes(repository)
    points = [item.words for item in leaving(report)]

    assert all(any(text in point for point in points) for text in words), points
    assert [found for found, _ in findings(report)] == [severity]
    assert [item.part for item in change_view(report).sections[:2]] == [Part.WRITTEN, Part.LEAVES]


TWINS = [
    ("values", lambda r: r.write({PATH: cluster(values="{operator: {logging: {level: debug}}}")})),
    ("a pool more", lambda r: r.write({"profiles/lab/new.yaml": pool("new")})),
    ("a pool less", lambda r: r.remove("profiles/lab/b.yaml")),
    ("a pool renamed", lambda r: (r.remove("profiles/lab/b.yaml"), r.write({"profiles/lab/c.yaml": pool("c")}))),
    ("another revision", edited("engine: ", "revision: refs/heads/next, engine: ")),
    ("another release", edited("v26.3.3", "v26.7.0")),
    ("another repository of charts", edited("engine: ", "chartRepo: https://charts.example.com/nvidia, engine: ")),
    ("another repository", edited("git.example.com", "git2.example.com")),
    ("a cluster more", lambda r: r.write({k.replace("lab", "new"): t.replace("name: lab", "name: new")
                                          for k, t in project("a").items()})),
    ("a comment", edited("spec:\n", "# why\nspec:\n")),
]  # fmt: skip


@pytest.mark.rows(2, "each twin with either engine")
@pytest.mark.parametrize("engine", [FLUX, ARGOCD])
@pytest.mark.parametrize("twin", [edit for _, edit in TWINS], ids=[name for name, _ in TWINS])
def test_harmless_twins_leave_nothing(delivered, engine, twin):
    repository = delivered(POOLS, engine=engine)
    twin(repository)
    if engine == ARGOCD:
        for path in repository.root.rglob("profiles/*/cluster.yaml"):
            path.write_text(path.read_text().replace("engine: flux", "engine: argocd"))
    report = changes(repository)

    assert outcomes(report) == {}
    assert findings(report) == []
    assert "leaves the delivery" not in as_text(report, CONTEXT)


def test_only_the_output_is_made_anew(delivered):
    """A base from before HelmReleases were guarded, and a change that generates them: nothing leaves."""
    repository = delivered(POOLS, guarded=False)
    generate(repository.root)

    assert outcomes(changes(repository)) == {}


ACKNOWLEDGED = "  acknowledge: [{{fact: {fact}, by: platform-team, date: 2026-11-20}}]\n"


@pytest.mark.parametrize(
    ("fact", "severity"),
    [
        ("gone/HelmRelease/lab-gpu-operator", "note"),
        ("gone/HelmRelease/rome-gpu-operator", "error"),
        ("gone/Application/lab-gpu-operator", "error"),
    ],
)
def test_an_acknowledgement_of_the_same_change_is_told(delivered, fact, severity):
    repository = delivered(POOLS, guarded=False)
    renamed(repository)
    path = repository.root / "profiles/rome/cluster.yaml"
    path.write_text(path.read_text() + ACKNOWLEDGED.format(fact=fact))
    report = changes(repository)

    assert outcomes(report)["HelmRelease/lab-gpu-operator"] is DepartureOutcome.UNINSTALLED
    assert report.clusters[0].standing == ("renamed")
    assert [found for found, _ in findings(report, "HelmRelease")] == [severity]
    words = leaving(report)
    assert any("acknowledged with this change, by `platform-team`" in item.words for item in words) is (
        severity == "note"
    )
    assert "quiet" not in as_text(report, CONTEXT)


def test_what_was_acknowledged_before_says_nothing(delivered):
    text = cluster() + ACKNOWLEDGED.format(fact="gone/Release/gpu-operator/gpu-operator")
    repository = delivered({**POOLS, PATH: text})
    edited("stack: {", "stack: {namespace: nvidia, ")(repository)

    assert [found for found, _ in findings(changes(repository))] == ["error"]


def test_the_release_that_moves_is_acknowledged_by_its_place(delivered):
    repository = delivered(POOLS)
    edited("stack: {", "stack: {namespace: nvidia, ")(repository)
    path = repository.root / PATH
    path.write_text(path.read_text() + ACKNOWLEDGED.format(fact="gone/Release/gpu-operator/gpu-operator"))

    assert [found for found, _ in findings(changes(repository))] == ["note"]


@pytest.mark.rows(2, "diff and check of a repository each")
@pytest.mark.parametrize("edit", [renamed, removed, edited("engine: flux", "engine: argocd")])
@pytest.mark.parametrize("guarded", [True, False])
def test_check_says_the_same(delivered, run_cli, edit, guarded):
    repository = delivered(project("a", "b", other=("c",)), guarded=guarded)
    edit(repository)
    report = changes(repository)
    result = run_cli(
        [
            "check",
            "--root",
            repository.root,
            "--policies-from",
            repository.base,
            "--judge",
            "work-tree",
            "--format",
            "json",
        ]
    )
    found = [item for item in json.loads(result.out)["diagnostics"] if item["code"] == "PSM673"]

    assert [(item["severity"], item["message"]) for item in found] == findings(report) != []


HAND_WRITTEN = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: mine, namespace: flux-system}
spec:
  releaseName: mine
  targetNamespace: tools
  chart: {spec: {chart: mine, version: 1.0.0, sourceRef: {kind: HelmRepository, name: mine}}}
"""
DELIVERY = "output/clusters/lab/delivery"


def hand_written(repository, text=HAND_WRITTEN, listed="  - mine.yaml\n"):
    """A release of somebody's own beside the generated ones, in the base."""
    folder = repository.root / DELIVERY
    (folder / "mine.yaml").write_text(text)
    (folder / "kustomization.yaml").write_text((folder / "kustomization.yaml").read_text() + listed)
    (repository.root / "output/clusters/lab/poolsmith.lock.json").unlink()
    repository.commit("by hand")
    repository.base = repository.git("rev-parse", "HEAD")


def test_what_somebody_wrote_by_hand_leaves_too(delivered):
    repository = delivered(POOLS)
    hand_written(repository)
    assert outcomes(changes(repository)) == {}
    repository.remove(f"{DELIVERY}/mine.yaml")
    generated = repository.git("show", f"HEAD~1:{DELIVERY}/kustomization.yaml")
    repository.write({f"{DELIVERY}/kustomization.yaml": generated + "\n"})
    report = changes(repository)

    assert outcomes(report) == {"HelmRelease/mine": DepartureOutcome.UNINSTALLED}
    assert "uninstalls `mine`" in as_text(report, CONTEXT).splitlines()[3]
    assert [found for found, _ in findings(report)] == ["error"]


def test_what_nobody_lists_was_never_handed_over(delivered):
    repository = delivered(POOLS)
    hand_written(repository, listed="")
    repository.remove(f"{DELIVERY}/mine.yaml")

    assert outcomes(changes(repository)) == {}


def test_what_a_change_takes_out_of_the_output_by_hand(delivered):
    """The profiles ask for it as before; the engine reads the output."""
    repository = delivered(POOLS, guarded=False)
    path = repository.root / DELIVERY / "kustomization.yaml"
    path.write_text(path.read_text().replace("  - gpu-operator.yaml\n", ""))
    report = changes(repository)

    assert outcomes(report) == {"HelmRelease/lab-gpu-operator": DepartureOutcome.UNINSTALLED}
    assert "takes it out of the output by hand" in as_text(report, CONTEXT).splitlines()[3]


@pytest.mark.rows(4, "ways to be broken")
@pytest.mark.parametrize(
    "text",
    ["{", "- a\n- b\n", "kind: [HelmRelease]\napiVersion: {a: b}\n", "\x00", "a: &a [*a]\n", "--- \n...\n",
     "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: [1], annotations: no}\nspec: 1\n",
     "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, annotations: 7}\nspec: [1]\n"],
)  # fmt: skip
def test_a_broken_file_of_the_base_breaks_nothing(delivered, text):
    repository = delivered(POOLS)
    hand_written(repository, text, listed="  - mine.yaml\n  - ../../../../../../../etc/passwd\n  - {a: b}\n")
    renamed(repository)

    assert outcomes(changes(repository))["HelmRelease/lab-gpu-operator"] is DepartureOutcome.CONTESTED


def test_without_committed_output_nobody_knows_what_is_guarded(repository_of):
    repository = repository_of(POOLS)
    renamed(repository)
    report = changes(repository)

    assert outcomes(report)["HelmRelease/lab-gpu-operator"] is DepartureOutcome.UNINSTALLED
    assert "unless the object in the cluster has `prune: disabled`" in as_text(report, CONTEXT)


def test_many_clusters_are_told_at_once(delivered):
    names = [f"c{number}" for number in range(6)]
    repository = delivered(project("a", **dict.fromkeys(names, ("a",))), guarded=False)
    for name in names:
        path = repository.root / f"profiles/{name}/cluster.yaml"
        path.write_text(path.read_text().replace("engine: flux", "engine: flux, namespace: gitops"))
    text = as_text(changes(repository), CONTEXT)

    assert "it uninstalls the GPU Operator on 6 clusters" in text
    assert "uninstalls the GPU Operator on 6 clusters: HelmRelease" in text
    assert text.count("uninstalls the GPU Operator on") == 3


def test_an_object_of_the_delivery_that_is_still_there_is_not_gone(delivered, run_cli):
    text = cluster() + ACKNOWLEDGED.format(fact="gone/HelmRelease/lab-gpu-operator")
    repository = delivered({**POOLS, PATH: text})
    result = run_cli(["check", "--root", repository.root])

    assert "is not gone from `lab`" in result.out


def _random_fleet(rng):
    """A cluster or two of any kind, engine, namespace and name."""
    files = {}
    for name in rng.sample(("lab", "rome", "oslo"), rng.randint(1, 2)):
        text = cluster(name, mode=rng.choice(("nvidia-driver", "cluster-policy")))
        extra = "".join(
            f", {key}: {rng.choice(values)}"
            for key, values in (("namespace", ("gitops", "flux")), ("project", ("gpu",)), ("path", ("out", "output")))
            if rng.random() < 0.3
        )
        engine = rng.choice((FLUX, ARGOCD))
        extra = extra if engine == ARGOCD else re.sub(r", project: \w+", "", extra)
        extra += f", destination: {{name: {name}}}" if engine == ARGOCD else ""
        text = text.replace("engine: flux", f"engine: {engine}{extra}")
        if rng.random() < 0.3:
            text = text.replace("stack: {", "stack: {namespace: nvidia, ")
        driver = "{source: container, version: 580.126.20}"
        if rng.random() < 0.3:
            driver = PREINSTALLED
            kind = "stack: {kind: device-plugin, release: v0.20.0"
            more = rng.choice((", dcgmExporter: {release: 4.5.3-4.8.2}", ""))
            text = re.sub(r"stack: \{.*?\}\n", f"{kind}{more}}}\n", text)
        files[f"profiles/{name}/cluster.yaml"] = text
        for item in rng.sample("abc", rng.randint(1, 2)):
            files[f"profiles/{name}/{item}.yaml"] = pool(item, driver=driver)
    return files


def _handed(repository):
    """Identities of the objects in the output, by folder of the cluster."""
    found = {}
    for folder in (repository.root / "output/clusters").glob("*/delivery"):
        texts = {file.name: file.read_text() for file in folder.iterdir()}
        found |= dict.fromkeys(of_files(texts), folder.parent.name)
    return found


@pytest.mark.rows(2, "random fleets, each with a change")
@pytest.mark.parametrize("seed", range(12))
def test_each_object_that_the_change_lacks_is_named(delivered, seed):
    rng = random.Random(seed)
    repository = delivered(_random_fleet(rng), guarded=rng.random() < 0.5)
    was = _handed(repository)
    repository.remove("profiles")
    repository.write(_random_fleet(rng))
    result = generate(repository.root)
    assert result.written, [item.message for item in result.outcome.diagnostics]
    now = _handed(repository)
    report = changes(repository)
    told = {
        (item.kind, item.namespace, item.name)
        for one in report.clusters
        for item in one.departures
        if item.leaves and not item.kind.startswith("ApplicationSet")
    }

    assert told == was.keys() - now.keys()
    assert ("quiet" in as_text(report, CONTEXT)) <= (not told)


def test_the_plan_alone_tells_the_same_objects(repository):
    """`check` has no files of the base at hand; what is only there for the API server makes no difference here."""
    from change.diff.two_sides import seen_cluster
    from poolsmith.change.delivery.objects import of_tree
    from poolsmith.project.run.cluster_run import run_cluster
    from poolsmith.project.run.project import open_project

    opened = open_project(repository)
    for files in opened.fleet.clusters:
        run = run_cluster(opened, files)
        seen = seen_cluster(opened, files.name)
        whole, alone = of_tree(run.tree, run.plan), of_plan(seen.plan)
        assert alone.keys() <= whole.keys(), files.name
        charts = {identity: item.release for identity, item in whole.items() if item.is_chart}
        assert charts == {identity: item.release for identity, item in alone.items() if item.is_chart}, files.name
