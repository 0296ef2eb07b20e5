"""Objects that a change can't have changed: what is told, by whoever applies them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from change.diff.two_sides import both_sides
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.object_changes import StandingObject, recreated
from poolsmith.change.diff.unacknowledged import refusal_findings
from poolsmith.fleet.profiles.cluster import Acknowledgement
from poolsmith.kubernetes.server.field_changes import Standing

KEY = ("node.k8s.io", "RuntimeClass", "", "kata")


def runtime_class(handler, **metadata):
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata", **metadata},
        "handler": handler,
    }


def driver(kind):
    spec = {"driverType": kind, "repository": "nvcr.io/nvidia", "image": "driver", "version": "580.95.05"}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": {"name": "d"}, "spec": spec}


def told(tmp_path, old, new, cluster="edge", **place):
    _, _, after = both_sides(tmp_path, cluster)
    key = ("", new["kind"], "", new["metadata"]["name"])
    return list(recreated(after, after, [(key, StandingObject(old, **place), StandingObject(new, **place))]))


@pytest.mark.parametrize(
    ("cluster", "place", "outcome"),
    [
        ("prod-eu", {"file": "pools/x/a.yaml"}, "every sync of Argo CD fails until somebody deletes the object"),
        ("prod-eu", {}, "every sync of Argo CD fails until somebody deletes the object"),
        ("edge", {"file": "pools/x/a.yaml"}, "Flux reports its Kustomization as failed until somebody deletes"),
        ("edge", {}, "the Helm upgrade fails until somebody deletes the object"),
        ("edge", {"made": True}, "the operator tries again and again until somebody deletes the object"),
    ],
)
def test_what_happens_is_told_by_who_applies_it(tmp_path, cluster, place, outcome):
    (found,) = told(tmp_path, runtime_class("a"), runtime_class("b"), cluster, **place)

    assert (found.kind, found.what) == (DisruptionKind.RECREATED, "RuntimeClass/kata")
    assert "takes no other `handler` of RuntimeClass `kata`: " in found.words
    assert outcome in found.words
    ((field,)) = found.why
    assert (field.pointer, field.standing, field.old, field.new) == ("/handler", Standing.CHANGED, "a", "b")


def test_a_hook_is_made_anew_each_time(tmp_path):
    hook = {"annotations": {"helm.sh/hook": "pre-upgrade"}}

    assert told(tmp_path, runtime_class("a", **hook), runtime_class("b", **hook)) == []


def test_other_fields_may_change(tmp_path):
    assert told(tmp_path, runtime_class("a"), runtime_class("a", labels={"b": "c"})) == []


def test_the_rules_of_a_definition_count(tmp_path):
    (found,) = told(tmp_path, driver("gpu"), driver("vgpu"), file="pools/x/a.yaml")

    assert [(item.pointer, item.old, item.new) for item in found.why] == [("/spec/driverType", "gpu", "vgpu")]


def test_a_field_that_only_one_side_has_is_told(tmp_path):
    binding = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "immutable": True,
        "data": {"a": "1"},
    }

    (found,) = told(tmp_path, binding, {**binding, "binaryData": {"b": "MQ=="}})

    assert [(item.pointer, item.standing) for item in found.why] == [("/binaryData", Standing.ADDED)]


def acknowledging(seen, *facts):
    """The same cluster, whose profile acknowledges more."""
    spec = seen.plan.cluster.spec
    given = tuple(Acknowledgement(fact=fact, by="platform-team", date="2026-11-20") for fact in facts)
    cluster = replace(seen.plan.cluster, spec=replace(spec, acknowledge=(*spec.acknowledge, *given)))
    return replace(seen, plan=replace(seen.plan, cluster=cluster))


@pytest.mark.parametrize(
    ("place", "facts", "severity"),
    [
        ({"file": "pools/x/a.yaml"}, (), "error"),
        ({}, (), "error"),
        ({}, ("refused/RuntimeClass/kata",), "note"),
        ({}, ("refused/RuntimeClass/other", "gone/RuntimeClass/kata"), "error"),
        ({"made": True}, (), None),
    ],
)
def test_it_is_an_error_until_somebody_acknowledges_it(tmp_path, place, facts, severity):
    _, _, before = both_sides(tmp_path, "edge")
    after = acknowledging(before, *facts)
    old, new = runtime_class("a"), runtime_class("b")
    found = recreated(before, after, [(KEY, StandingObject(old, **place), StandingObject(new, **place))])
    findings = list(refusal_findings(after, found))

    assert [(item.code, item.severity) for item in findings] == ([("PSM674", severity)] if severity else [])
    if severity == "error":
        assert "refused/RuntimeClass/kata" in findings[0].help
    if severity == "note":
        assert "platform-team acknowledges it with this change" in findings[0].message


def test_what_was_acknowledged_before_says_nothing(tmp_path):
    _, _, seen = both_sides(tmp_path, "edge")
    both = acknowledging(seen, "refused/RuntimeClass/kata")
    sides = StandingObject(runtime_class("a")), StandingObject(runtime_class("b"))

    assert [item.severity for item in refusal_findings(both, recreated(both, both, [(KEY, *sides)]))] == ["error"]
