"""What engines do between any two fleets: told for everything that leaves, always the same, and never a crash."""

from __future__ import annotations

import random

import pytest

from change.diff.projects import changes, project, take_guards_off
from change.diff.test_departures import _random_fleet
from change.review.conftest import repository_of
from poolsmith.change.delivery.fields import changed_fields, read_field_effects
from poolsmith.change.delivery.objects import (
    APPLICATION,
    APPLICATION_SET,
    HELM_CHART,
    HELM_RELEASE,
    KUSTOMIZATION,
    SOURCES,
    DeliveryObject,
    of_files,
)
from poolsmith.change.delivery.outcomes import Evidence, Verb
from poolsmith.interface.app.generate import generate

__all__ = ["repository_of"]
GOES = frozenset((Verb.DELETE, Verb.UNINSTALL, Verb.LEAVE))
KINDS = (HELM_RELEASE, KUSTOMIZATION, APPLICATION, APPLICATION_SET, HELM_CHART, *sorted(SOURCES))


def written(repository, files, *, guarded=True):
    repository.remove("profiles")
    repository.write(files)
    result = generate(repository.root)
    assert result.written, [item.message for item in result.outcome.diagnostics]
    if not guarded:
        take_guards_off(repository.root)


def handed(repository):
    found = {}
    for folder in (repository.root / "output/clusters").glob("*/delivery"):
        found |= of_files({file.name: file.read_text() for file in folder.iterdir()})
    return found


def with_moves(files, rng):
    """Some clusters keep a name, some are given up, some pools keep one."""
    return {path: moving(path, text, rng) for path, text in files.items()}


def moving(path, text, rng):
    fields = []
    if not path.endswith("cluster.yaml"):
        kept = f"spec:\n  objectName: kept-{path.split('/')[-1].removesuffix('.yaml')}\n"
        return text.replace("spec:\n", kept) if rng.random() < 0.3 else text
    if rng.random() < 0.3:
        fields.append(f"name: kept-{path.split('/')[1]}, ")
    if rng.random() < 0.4:
        fields.append(f"retiring: {rng.choice(('keep', 'remove'))}, ")
    return text.replace("engine: ", f"{''.join(fields)}engine: ")


@pytest.mark.rows(4, "random fleets, each with a change")
@pytest.mark.parametrize("seed", range(40))
def test_pairs_of_random_fleets(repository_of, seed):
    rng = random.Random(seed)
    repository = repository_of(project("a"))
    written(repository, with_moves(_random_fleet(rng), rng), guarded=rng.random() < 0.7)
    repository.commit("base")
    repository.base = repository.git("rev-parse", "HEAD")
    was = handed(repository)
    written(repository, with_moves(_random_fleet(rng), rng))
    now = handed(repository)
    report, again = changes(repository), changes(repository)
    found = [item for cluster in report.clusters for item in cluster.delivery]

    assert [item.delivery for item in report.clusters] == [item.delivery for item in again.clusters]
    told = {(item.kind, item.namespace, item.name) for item in found if not item.within and item.verb in GOES}
    assert was.keys() - now.keys() <= told, "everything that leaves is told"
    made = {(item.kind, item.namespace, item.name) for item in found if not item.within}
    assert now.keys() - was.keys() <= made, "everything that appears is told"
    changed = {key for key in was.keys() & now.keys() if was[key].body != now[key].body}
    assert changed <= made, "everything that changes is told"
    for item in found:
        assert item.words
        assert item.evidence in Evidence
    for cluster in report.clusters:
        holders = [bool(item.within) for item in cluster.delivery]
        assert holders == sorted(holders), "what holds the delivery comes first, then its units"
        assert len(set(cluster.delivery)) == len(cluster.delivery)


@pytest.mark.rows(3, "random fleets, each with a change")
@pytest.mark.parametrize("seed", range(20))
def test_what_takes_something_along_is_never_quiet_and_an_error_until_it_is_meant(repository_of, seed):
    rng = random.Random(1000 + seed)
    repository = repository_of(project("a"))
    written(repository, _random_fleet(rng), guarded=rng.random() < 0.5)
    repository.commit("base")
    repository.base = repository.git("rev-parse", "HEAD")
    written(repository, _random_fleet(rng))
    report = changes(repository)

    for cluster in report.clusters:
        uninstalls = [item for item in cluster.delivery if item.verb in (Verb.UNINSTALL, Verb.REPLACE)]
        charts = [item for item in uninstalls if item.kind in (HELM_RELEASE, APPLICATION) and not item.within]
        found = [item for item in report.new_findings if item.code == "PSM673" and item.subject == cluster.name]
        if any(item.is_chart for item in cluster.departures if item.verb in (Verb.UNINSTALL, Verb.REPLACE)):
            assert charts
            assert found
            wanted = "warning" if cluster.standing == "removed" else "error"
            assert wanted in {item.severity for item in found}


def test_each_field_has_its_kind_and_its_source():
    table = read_field_effects()

    assert set(table) == set(KINDS)
    for kind, effects in table.items():
        assert effects, kind
        for effect in effects:
            assert effect.pointer.startswith(("/spec", "/metadata"))
            assert effect.verb in (Verb.UPDATE, Verb.REPLACE, Verb.WAIT, Verb.LEAVE)


def body(kind, **spec):
    return DeliveryObject(kind=kind, namespace="n", name="a", body={"spec": spec})


@pytest.mark.parametrize(
    ("old", "new", "verbs"),
    [
        (body(HELM_RELEASE), body(HELM_RELEASE, suspend=True), [Verb.WAIT]),
        (body(HELM_RELEASE, suspend=True), body(HELM_RELEASE), [Verb.UPDATE]),
        (body(HELM_RELEASE, releaseName="a"), body(HELM_RELEASE, releaseName="b"), [Verb.REPLACE]),
        (body(HELM_RELEASE, chart={"spec": {"chart": "a", "version": "1"}}),
         body(HELM_RELEASE, chart={"spec": {"chart": "a", "version": "2"}}), [Verb.UPDATE]),
        (body(HELM_RELEASE, chart={"spec": {"chart": "a"}}), body(HELM_RELEASE, chart={"spec": {"chart": "b"}}),
         [Verb.REPLACE]),
        (body(KUSTOMIZATION, prune=True), body(KUSTOMIZATION, prune=False), [Verb.LEAVE]),
        (body(KUSTOMIZATION, prune=False), body(KUSTOMIZATION, prune=True), [Verb.UPDATE]),
        (body(KUSTOMIZATION, path="a"), body(KUSTOMIZATION, path="b", suspend=True), [Verb.WAIT, Verb.UPDATE]),
        (body(APPLICATION, project="a"), body(APPLICATION, project="b"), [Verb.UPDATE]),
        (body(APPLICATION, destination={"namespace": "a"}), body(APPLICATION, destination={"namespace": "b"}),
         [Verb.UPDATE]),
        (body(HELM_CHART, targetNamespace="a"), body(HELM_CHART, targetNamespace="b"), [Verb.REPLACE]),
        (body("GitRepository", url="a"), body("GitRepository", url="b"), [Verb.UPDATE]),
        (body(HELM_RELEASE, unknown=1), body(HELM_RELEASE, unknown=2), []),
        (body(HELM_RELEASE), DeliveryObject(kind=HELM_RELEASE, namespace="n", name="a", body={"spec": [1]}), []),
    ],
)  # fmt: skip
def test_what_a_field_does(old, new, verbs):
    assert [item.verb for item in changed_fields(old, new)] == verbs


SYNC, PRUNE = "argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/prune"


@pytest.mark.parametrize(
    ("kind", "metadata", "stays"),
    [
        (APPLICATION, {"annotations": {SYNC: "Prune=false"}}, True),
        (APPLICATION, {"annotations": {SYNC: "Delete=false, Prune=false"}}, True),
        (APPLICATION, {"annotations": {SYNC: "Prune=confirm"}}, False),
        (APPLICATION, {"annotations": {SYNC: "Prune=false2,SkipPrune=false"}}, False),
        (APPLICATION, {"annotations": {SYNC: False}}, False),
        (APPLICATION, {"annotations": [SYNC]}, False),
        (APPLICATION, {"labels": {SYNC: "Prune=false"}}, False),
        (APPLICATION, {"annotations": {PRUNE: "disabled"}}, False),
        (HELM_RELEASE, {"annotations": {SYNC: "Prune=false"}}, False),
        (HELM_RELEASE, {"annotations": {PRUNE: "disabled"}}, True),
        (HELM_RELEASE, {"labels": {PRUNE: "disabled"}}, True),
        (HELM_RELEASE, {"annotations": {PRUNE: "Disabled"}}, True),
        (HELM_RELEASE, {"annotations": {PRUNE: "enabled"}}, False),
        (HELM_RELEASE, {"annotations": {"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}}, True),
        (HELM_RELEASE, {"labels": {"kustomize.toolkit.fluxcd.io/ssa": "Ignore"}}, True),
        (HELM_RELEASE, {"annotations": {"kustomize.toolkit.fluxcd.io/ssa": "Merge"}}, False),
        (HELM_RELEASE, {"annotations": None}, False),
    ],
)
def test_a_guard_is_one_of_the_engine_that_holds_the_object(kind, metadata, stays):
    assert DeliveryObject(kind=kind, namespace="n", name="a", body={"metadata": metadata}).is_guarded is stays
