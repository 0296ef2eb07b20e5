"""What leaves the delivery is told first, as what it is: causes and engines, on real git repositories."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest

from changes.projects import changes, cluster, pool, project
from poolsmith.app.generate import generate
from poolsmith.changes.change_report import DisruptionKind, Evidence, Outcome
from poolsmith.changes.delivery_objects import of_files, of_plan
from poolsmith.changes.told import Part, Weight
from poolsmith.changes.together import told as told_as
from poolsmith.report.diff_json import diff_report as as_json
from poolsmith.report.diff_markdown import diff_report as as_markdown
from poolsmith.report.diff_text import diff_report as as_text
from poolsmith.report.layout import ReportContext

FLUX, ARGOCD = "flux", "argocd"
GUARD = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n"
CONTEXT = ReportContext(tool="poolsmith")
PATH = "profiles/lab/cluster.yaml"


def of_engine(text, engine):
    assert "engine: flux" in text
    return text.replace("engine: flux", f"engine: {engine}")


@pytest.fixture
def delivered(repository_of):
    """A repository whose base holds what is generated from it; `guarded` as it is since HelmReleases are guarded."""

    def make(files, *, engine=FLUX, guarded=True):
        files = {path: of_engine(text, engine) if "delivery:" in text else text for path, text in files.items()}
        repository = repository_of(files)
        result = generate(repository.root)
        assert result.written, [item.message for item in result.outcome.diagnostics]
        if not guarded:
            for path in repository.root.rglob("delivery/*.yaml"):
                path.write_text(path.read_text().replace(GUARD, ""))
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
    return {
        f"{item.kind}/{item.name}": item.outcome for cluster in report.clusters for item in cluster.departures
    }


def findings(report):
    return [(item.severity.value, item.message) for item in report.new_findings if item.code == "PSM673"]


def first_words(report):
    """The first point of each format for people, and of JSON."""
    text = as_text(report, CONTEXT)
    _, verdict, title, point, *_ = text.splitlines()
    assert title == "leaves the delivery"
    markdown = as_markdown(report, CONTEXT)
    assert markdown.index("Leaves the delivery") < min(
        (markdown.index(word) for word in ("Privileges", "Disruption", "New findings") if word in markdown),
        default=len(markdown),
    )
    first = json.loads(as_json(report, CONTEXT))["clusters"][0]["departures"][0]
    for told in (text, markdown.split("\n\n")[0]):
        assert "quiet" not in told
    return verdict, point, markdown, first


WITH_OPERATOR = project("a", "b", other=("c",))
SCENARIOS = [
    # name, engine, guarded, edit, words of the first point, outcome, whether it was seen, severity of the finding
    (
        "renamed", FLUX, False, renamed,
        ("uninstalls the GPU Operator on cluster `rome`", "`flux-system/lab-gpu-operator` leaves the delivery",
         "cluster `lab` is called `rome`", "within seconds", "has no deployed releases", "the drivers on pools `a`, `b`"),
        Outcome.UNINSTALLED, Evidence.SEEN, "error",
    ),
    (
        "renamed", FLUX, True, renamed,
        ("gives the GPU Operator two owners on cluster `rome`", "stays in the cluster", "`prune: disabled`", "docs/rename.md"),
        Outcome.CONTESTED, Evidence.UNKNOWN, "error",
    ),
    (
        "renamed", ARGOCD, True, renamed,
        ("uninstalls the GPU Operator on cluster `rome`", "`argocd/lab-gpu-operator` leaves", "post-delete hook",
         "takes the feature labels off all nodes", "FailOnSharedResource", "neither goes on"),
        Outcome.UNINSTALLED, Evidence.SEEN, "error",
    ),
    (
        "removed", FLUX, False, removed,
        ("uninstalls the GPU Operator on cluster `lab`", "once whoever holds the delivery"),
        Outcome.UNINSTALLED, Evidence.READ, "warning",
    ),
    (
        "removed", FLUX, True, removed,
        ("deletes what a Kustomization applied on cluster `lab`", "once whoever holds the delivery", "the drivers on"),
        Outcome.DELETED, Evidence.READ, "warning",
    ),
    (
        "removed", ARGOCD, True, removed,
        ("uninstalls the GPU Operator on cluster `lab`", "once whoever holds the delivery", "post-delete hook"),
        Outcome.UNINSTALLED, Evidence.READ, "warning",
    ),
    (
        "engine", FLUX, False, edited("engine: flux", "engine: argocd"),
        ("uninstalls the GPU Operator on cluster `lab`", "the engine is `argocd` and no longer `flux`", "within seconds"),
        Outcome.UNINSTALLED, Evidence.SEEN, "error",
    ),
    (
        "engine", FLUX, True, edited("engine: flux", "engine: argocd"),
        ("gives the GPU Operator two owners on cluster `lab`", "Argo CD applies the objects"),
        Outcome.CONTESTED, Evidence.UNKNOWN, "error",
    ),
    (
        "engine", ARGOCD, True, edited("engine: argocd", "engine: flux"),
        ("uninstalls the GPU Operator on cluster `lab`", "the engine is `flux` and no longer `argocd`", "post-delete hook"),
        Outcome.UNINSTALLED, Evidence.UNKNOWN, "error",
    ),
    (
        "stack.namespace", FLUX, True, edited("stack: {", "stack: {namespace: nvidia, "),
        ("uninstalls the GPU Operator on cluster `lab`", "stays, and moves",
         "the stack's namespace is `nvidia` and no longer `gpu-operator`", "does not keep it from that", "post-delete hook"),
        Outcome.UNINSTALLED, Evidence.SEEN, "error",
    ),
    (
        "stack.namespace", ARGOCD, True, edited("stack: {", "stack: {namespace: nvidia, "),
        ("uninstalls the GPU Operator on cluster `lab`", "stays, and moves", "prunes what stands in the old one", "unknown"),
        Outcome.UNINSTALLED, Evidence.UNKNOWN, "error",
    ),
    (
        "delivery.namespace", FLUX, False, edited("engine: flux", "engine: flux, namespace: gitops"),
        ("uninstalls the GPU Operator on cluster `lab`", "namespace `gitops` and no longer in `flux-system`",
         "has no deployed releases"),
        Outcome.UNINSTALLED, Evidence.READ, "error",
    ),
    (
        "delivery.namespace", FLUX, True, edited("engine: flux", "engine: flux, namespace: gitops"),
        ("gives the GPU Operator two owners",), Outcome.CONTESTED, Evidence.UNKNOWN, "error",
    ),
    (
        "delivery.namespace", ARGOCD, True, edited("engine: argocd", "engine: argocd, namespace: gitops"),
        ("uninstalls the GPU Operator", "post-delete hook"), Outcome.UNINSTALLED, Evidence.UNKNOWN, "error",
    ),
    (
        "delivery.project", ARGOCD, True, edited("engine: argocd", "engine: argocd, project: gpu"),
        ("leaves the Application of the whole cluster behind", "ApplicationSet element `argocd/poolsmith-default/lab`",
         "the project is `gpu` and no longer `default`", "unknown"),
        Outcome.LEFT, Evidence.UNKNOWN, None,
    ),
    (
        "delivery.destination", ARGOCD, True,
        edited("engine: argocd", 'engine: argocd, destination: {server: "https://lab.example.com"}'),
        ("leaves the GPU Operator behind", "the destination is another one", "stays there, as it seems", "unknown"),
        Outcome.LEFT, Evidence.UNKNOWN, "warning",
    ),
    (
        "stack.kind", FLUX, False,
        edited("release: v26.3.3, driverMode: nvidia-driver", "kind: device-plugin, release: v0.17.4"),
        ("uninstalls the GPU Operator", "the kind of stack is `device-plugin` and no longer `operator`"),
        Outcome.UNINSTALLED, Evidence.SEEN, "error",
    ),
    (
        "stack.kind", FLUX, True,
        edited("release: v26.3.3, driverMode: nvidia-driver", "kind: device-plugin, release: v0.17.4"),
        ("leaves the GPU Operator beside the new stack", "keeps running until it is retired"),
        Outcome.CONTESTED, Evidence.UNKNOWN, "error",
    ),
    (
        "stack.kind", ARGOCD, True,
        edited("release: v26.3.3, driverMode: nvidia-driver", "kind: device-plugin, release: v0.17.4"),
        ("uninstalls the GPU Operator", "post-delete hook"), Outcome.UNINSTALLED, Evidence.SEEN, "error",
    ),
]


@pytest.mark.parametrize(
    ("engine", "guarded", "edit", "words", "outcome", "evidence", "severity"),
    [scenario[1:] for scenario in SCENARIOS],
    ids=[f"{name} {engine}{'' if guarded else ' unguarded'}" for name, engine, guarded, *_ in SCENARIOS],
)
def test_it_stands_first_in_every_format(delivered, engine, guarded, edit, words, outcome, evidence, severity):
    repository = delivered(project("a", "b"), engine=engine, guarded=guarded)
    edit(repository)
    report = changes(repository)
    verdict, point, markdown, first = first_words(report)

    for text in words:
        assert text in point, point
        assert text.replace("`", "") in markdown.replace("`", "").replace("\\", "")
    assert point.startswith(" ! ") or outcome is Outcome.LEFT
    assert ("worth a look" if outcome is Outcome.LEFT else "look closely") == verdict.partition(":")[0] or severity
    assert point[3:].split(" on cluster ")[0] in verdict
    assert (first["outcome"], first["evidence"]) == (outcome.value, evidence.value)
    assert [found for found, _ in findings(report)] == ([severity] if severity else [])
    kind = DisruptionKind.LEFT if outcome is Outcome.LEFT else DisruptionKind.UNINSTALLED
    assert report.clusters[0].disruptions[0].kind is kind
