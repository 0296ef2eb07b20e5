"""Anyone's manifests: which objects are judged, where findings stand, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.core.sources.pod_template import WORKLOAD_KINDS
from poolsmith.guard.rules.pod_security import judge_pod_security, parse_pod_security
from poolsmith.kubernetes.pod_security.standard import Level
from poolsmith.kubernetes.repository.manifest_files import CheckedTree, parse_documents

HERE = Path(__file__).resolve().parent / "rule"
SPEC = "{containers: [{name: a, image: b, securityContext: {privileged: true}}]}"
TEMPLATES = {
    "Pod": f"spec: {SPEC}",
    "PodTemplate": f"template: {{spec: {SPEC}}}",
    "CronJob": f"spec: {{jobTemplate: {{spec: {{template: {{spec: {SPEC}}}}}}}}}",
}


def tree_of(**files):
    documents = []
    for path, text in files.items():
        found, problem = parse_documents(path, text.encode())
        assert problem is None
        documents += found
    return CheckedTree(tuple(documents), frozenset(files))


def judge(text, level="baseline", version="1.34"):
    return judge_pod_security(tree_of(file=text), level, version)


def findings(folder):
    tree = tree_of(**{path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.yaml"))})
    result = judge_pod_security(tree, "restricted", "1.34")
    return sorted(f"{item.primary.span} {item.name}" for item in result.diagnostics), result.judged


def test_what_passes_raises_nothing():
    assert findings(HERE / "pass") == ([], 1)


def test_what_fails_raises_the_rule_at_the_expected_lines():
    lines = [line for path in (HERE / "fail").glob("*.txt") for line in path.read_text("utf-8").splitlines()]

    assert findings(HERE / "fail") == (sorted(lines), 3)


@pytest.mark.parametrize("kind", WORKLOAD_KINDS)
def test_pods_of_each_kind_of_workload_are_judged(kind):
    part = TEMPLATES.get(kind, f"spec: {{template: {{spec: {SPEC}}}}}")
    result = judge(f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: x}}\n{part}\n")
    (found,) = result.diagnostics

    assert result.judged == 1
    assert found.message.startswith(f"{kind}/x breaks baseline 1.34: privileged: container `a` sets ")
    assert found.message.endswith("(privileged)")
    assert (found.code, found.severity, found.subject) == ("PSM420", Severity.ERROR, f"{kind}/x")
    assert found.primary.span.start.line == 4
    assert found.primary.pointer.endswith("/spec/containers/0/securityContext/privileged")


def test_a_missing_field_is_told_where_it_should_stand():
    (found,) = judge(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {SPEC}\n", "restricted", "1.7"
    ).diagnostics[1:]

    assert found.message == (
        "Pod/x breaks restricted 1.7: runAsNonRoot != true: "
        "neither container `a` nor its pod sets securityContext.runAsNonRoot (runAsNonRoot)"
    )
    assert found.primary.pointer == "/spec/containers/0/securityContext"


@pytest.mark.parametrize("kind", ["List", "PodList"])
def test_lists_are_unfolded(kind):
    text = (
        f"apiVersion: v1\nkind: {kind}\nitems:\n- {{apiVersion: v1, kind: Pod, metadata: {{name: x}}, spec: {SPEC}}}\n"
    )
    (found,) = judge(text).diagnostics

    assert found.subject == "Pod/x"
    assert found.primary.span.start.line == 4


def test_lists_in_lists_are_unfolded():
    inner = f"{{apiVersion: v1, kind: PodList, items: [{{metadata: {{name: x}}, spec: {SPEC}}}]}}"
    (found,) = judge(f"{{apiVersion: v1, kind: List, items: [{inner}]}}").diagnostics

    assert found.primary.pointer == "/items/0/items/0/spec/containers/0/securityContext/privileged"


def test_what_has_no_pod_spec_is_counted_and_not_judged():
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: 1}\n"
    result = judge(text, "restricted")

    assert (result.diagnostics, result.judged, result.not_evaluated) == ((), 0, 1)
    assert [(item.what, item.reason) for item in result.skipped] == [
        ("Pod Security of Deployment/x", "it has no pod spec")
    ]


def test_patches_are_parts_of_objects_and_are_not_judged():
    patch = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {SPEC}\n"
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{path: patch.yaml}]\n"
    tree = tree_of(**{"patch.yaml": patch, "kustomization.yaml": kustomization})
    result = judge_pod_security(tree, "baseline")

    assert (result.diagnostics, result.judged) == ((), 0)
    assert [item.what for item in result.skipped] == ["Pod Security of patches"]


def test_workloads_of_other_kinds_are_counted_and_not_judged():
    template = f"spec: {{template: {{spec: {SPEC}}}}}"
    text = "".join(
        f"---\napiVersion: argoproj.io/v1\nkind: Rollout\nmetadata: {{name: {name}}}\n{template}\n" for name in "ab"
    )
    result = judge(text)

    assert (result.diagnostics, result.judged, result.not_evaluated) == ((), 0, 1)
    assert [item.what for item in result.skipped] == ["Pod Security of kind Rollout (2 objects)"]


def test_other_objects_are_none_of_its_business():
    result = judge("apiVersion: v1\nkind: ConfigMap\ndata: {spec: x}\n---\napiVersion: v1\nkind: [Pod]\n---\n[]\n")

    assert (result.diagnostics, result.judged, result.skipped) == ((), 0, ())


def test_a_file_of_very_many_findings_is_told_in_part_and_counted():
    containers = "".join(f"\n  - {{name: c{number}, securityContext: {{privileged: true}}}}" for number in range(80))
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  containers:{containers}\n"
    diagnostics = judge("---\n".join([pod] * 12)).diagnostics

    assert len(diagnostics) == 500 + 12
    assert [item.message for item in diagnostics[-2:]] == [
        "Pod/x breaks baseline 1.34: 80 more fields are not allowed"
    ] * 2


@pytest.mark.parametrize(
    ("text", "level", "shown"),
    [
        ("restricted", Level.RESTRICTED, "restricted latest"),
        ("baseline:latest", Level.BASELINE, "baseline latest"),
        ("baseline:1.24", Level.BASELINE, "baseline 1.24"),
        ("privileged:v1.30", Level.PRIVILEGED, "privileged 1.30"),
        ("baseline:1.99", Level.BASELINE, "baseline 1.37"),
    ],
)
def test_the_flag_names_a_level_and_maybe_a_version(text, level, shown):
    standard = parse_pod_security(text)

    assert (standard.level, str(standard)) == (level, shown)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`` is no level of the Pod Security Standards; known: `privileged`, `baseline`, `restricted`"),
        ("Restricted", "`Restricted` is no level of the Pod Security Standards; did you mean `restricted`?"),
        ("baseline:", "`` is no version of the Pod Security Standards: write 1.0 to 1.37, or latest"),
        ("baseline:1.30.1", "`1.30.1` is no version of the Pod Security Standards: write 1.0 to 1.37, or latest"),
    ],
)
def test_what_the_flag_can_not_be_is_told(text, message):
    with pytest.raises(UsageError) as raised:
        parse_pod_security(text)
    assert str(raised.value) == message
