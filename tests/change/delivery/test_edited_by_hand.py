"""A delivery that somebody edits by hand in the output: what the engine would do is told, whatever the profiles say."""

from __future__ import annotations

import pytest

from change.diff.projects import changes, project
from change.review.conftest import repository_of
from poolsmith.change.delivery.effects import Leaving, effect_of
from poolsmith.change.delivery.objects import APPLICATION_SET, DeliveryObject
from poolsmith.change.delivery.outcomes import DepartureOutcome, Evidence, Verb
from poolsmith.interface.app.generate import generate

__all__ = ["repository_of"]
FLUX, ARGOCD = "flux", "argocd"
_FOLDER = "output/clusters/lab/delivery"
_CHART = """\
  chart:
    spec:
      chart: gpu-operator
      version: v26.3.3
      interval: "24h"
      sourceRef:
        kind: HelmRepository
        name: lab-gpu-operator
"""
_OPTIONS = "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n"
_AUTOMATED = "    automated:\n      prune: true\n      selfHeal: true\n"
SPEC = "spec:\n  interval"


@pytest.fixture
def merged(repository_of):
    """What `diff` says of the cluster once a text of the output is another one; the base's may be edited, too."""

    def report(engine, file, edit, base=None):
        files = project("a", "b")
        repository = repository_of(
            {at: text.replace("engine: flux", f"engine: {engine}") for at, text in files.items()}
        )
        assert generate(repository.root).written
        _edit(repository, file, base)
        repository.commit("base")
        repository.base = repository.git("rev-parse", "HEAD")
        _edit(repository, file, edit)
        repository.commit("by hand")
        return changes(repository)

    return report


def _edit(repository, file, edit):
    path = repository.root / _FOLDER / file
    if edit is not None:
        assert edit[0] in path.read_text()
        path.write_text(path.read_text().replace(*edit, 1))


def _outer(report):
    return [item for one in report.clusters for item in one.delivery if not item.within]


def _put(field, text):
    return SPEC, f"spec:\n  {field}: {text}\n  interval"


@pytest.mark.rows(8, "fields, each a merge that is compared")
@pytest.mark.parametrize(
    ("engine", "file", "edit", "verb", "says"),
    [
        (FLUX, "gpu-operator", _put("suspend", "true"), Verb.WAIT, "as long as it is suspended"),
        (FLUX, "gpu-operator", (_CHART, "  chartRef: {kind: OCIRepository, name: a}\n"), Verb.UPDATE, "is an upgrade"),
        (FLUX, "gpu-operator", _put("serviceAccountName", "x"), Verb.UPDATE, "as that account"),
        (
            FLUX,
            "gpu-operator",
            ("upgrade:\n    crds: Create", "upgrade:\n    crds: Skip # "),
            Verb.UPDATE,
            "definitions",
        ),
        (FLUX, "pools", _put("force", "true"), Verb.REPLACE, "deleted and recreated"),
        (FLUX, "pools", _put("components", "[../x]"), Verb.UPDATE, "what they take away"),
        (FLUX, "pools", _put("targetNamespace", "x"), Verb.REPLACE, "in the other namespace"),
        (FLUX, "pools", _put("kubeConfig", "{secretRef: {name: x}}"), Verb.LEAVE, "other cluster"),
        (FLUX, "pools", ("  prune: true\n", "  prune: false\n"), Verb.LEAVE, "stays behind"),
        (FLUX, "sources", _put("suspend", "true"), Verb.WAIT, "nothing new is fetched"),
        (ARGOCD, "pools", ("      - ServerSideApply=true\n", "      - Replace=true\n"), Verb.UPDATE, "recreated"),
        (ARGOCD, "pools", (_AUTOMATED, ""), Verb.UPDATE, "by itself"),
        (ARGOCD, "pools", ("project: default", "project: x"), Verb.UPDATE, "has to allow"),
        (ARGOCD, "pools", ('sync-wave: "2"', 'sync-wave: "-1"'), Verb.UPDATE, "its place in the order"),
        (ARGOCD, "gpu-operator", (_OPTIONS, ""), Verb.UPDATE, "when it leaves"),
        (
            ARGOCD,
            "platform",
            ("server: https://kubernetes.default.svc", "name: in-cluster"),
            Verb.UPDATE,
            "other words",
        ),
    ],
)
def test_what_a_field_does_is_told(merged, engine, file, edit, verb, says):
    (found,) = _outer(merged(engine, f"{file}.yaml", edit))

    assert (found.verb, says in found.words) == (verb, True), found.words


@pytest.mark.parametrize(
    ("engine", "old", "new"),
    [
        (FLUX, "targetNamespace: gpu-operator", "targetNamespace: x"),
        (FLUX, "storageNamespace: gpu-operator", "storageNamespace: x"),
        (FLUX, "releaseName: gpu-operator", "releaseName: nvidia"),
        (FLUX, "      chart: gpu-operator", "      chart: gpu-operator-fork"),
        (ARGOCD, "    namespace: gpu-operator", "    namespace: x"),
        (ARGOCD, "releaseName: gpu-operator", "releaseName: nvidia"),
    ],
)
def test_another_release_is_an_outage_and_an_error(merged, engine, old, new):
    report = merged(engine, "gpu-operator.yaml", (old, new))
    (leaving,) = report.clusters[0].departures

    assert leaving.outcome is DepartureOutcome.UNINSTALLED
    assert "edits it by hand" in leaving.words
    assert "error" in {str(item.severity) for item in report.new_findings if item.code == "PSM673"}


def test_another_destination_leaves_it_behind(merged):
    edit = ("server: https://kubernetes.default.svc", "name: elsewhere")
    (leaving,) = merged(ARGOCD, "gpu-operator.yaml", edit).clusters[0].departures

    assert (leaving.outcome, leaving.evidence) == (DepartureOutcome.LEFT, Evidence.UNKNOWN)


def test_a_hand_edit_that_is_there_already_is_no_change(merged):
    edit, comment = ("targetNamespace: gpu-operator", "targetNamespace: x"), ("RetryOnFailure", "RetryOnFailure  # yes")
    report = merged(FLUX, "gpu-operator.yaml", comment, base=edit)

    assert _outer(report) == []
    assert not [item for item in report.new_findings if item.code == "PSM673"]


@pytest.mark.parametrize(
    ("policy", "outcome", "says"),
    [
        ({}, DepartureOutcome.DELETED, "each deletes what it applied"),
        ({"preserveResourcesOnDeletion": True}, DepartureOutcome.LEFT, "what they applied stays"),
    ],
)
def test_an_applicationset_takes_its_applications_along(policy, outcome, says):
    item = DeliveryObject(kind=APPLICATION_SET, namespace="argocd", name="mine", body={"spec": {"syncPolicy": policy}})
    found = effect_of(Leaving(item=item, before=None, after=None, instead=None, is_known=True, cause="REMOVED"))

    assert found.outcome is outcome
    assert says in found.words
