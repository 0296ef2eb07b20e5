"""Objects as CEL sees them: what is recorded of Kubernetes' Go types, at five versions, and what nothing decodes."""

from __future__ import annotations

import copy
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.kubernetes.server.kubernetes_types import kubernetes_types
from poolsmith.kubernetes.server.normalise import as_stored, normalised

RECORDED = Path(__file__).parent / "recorded"
ORACLE = os.environ.get("NORMALISE_ORACLE")
CASES = (RECORDED / "normalise.yaml").read_text("utf-8").split("\n---\n")
VERSIONS = ("1.37", "1.34", "1.33", "1.30", "1.25")


def record():
    """Asks the programs of tests/oracle/normalise. Of each version only what differs from the next newer one is kept."""
    parts, newer = [], [None] * len(CASES)
    for version in VERSIONS:
        questions = "".join(f"{json.dumps(text)}\n" for text in CASES)
        program = ORACLE.replace("{minor}", version.removeprefix("1."))
        done = subprocess.run([program], input=questions, capture_output=True, text=True, check=True)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        answers = [{"error": True} if "error" in answer else answer for answer in told]
        lines = [f'"{at}": {json.dumps(it)}' for at, it in enumerate(answers) if it != newer[at]]
        parts.append(f'"{version}": {{\n' + ",\n".join(lines) + "\n}")
        newer = answers
    (RECORDED / "normalise.json").write_text("{" + ",\n".join(parts) + "}\n", "utf-8")


if ORACLE:
    record()
ANSWERS = json.loads((RECORDED / "normalise.json").read_text("utf-8"))


def answer(version, index):
    newer = reversed(VERSIONS[: VERSIONS.index(version) + 1])
    return next(ANSWERS[at][str(index)] for at in newer if str(index) in ANSWERS[at])


def typed(value):
    """Values that are equal only where their types are."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value).__name__, value


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("index", range(len(CASES)))
def test_what_go_makes_of_it(version, index):
    (given_object,) = read_documents(CASES[index])
    before = copy.deepcopy(given_object)
    expected, actual = answer(version, index), normalised(given_object, version)

    if "error" in expected:
        assert actual.reason
        assert actual.object is given_object
    else:
        assert actual.reason is None
        assert typed(actual.object) == typed(expected["object"])
    assert given_object == before
    assert actual.native


def test_there_are_about_a_hundred_of_each_sort():
    newest = ANSWERS[VERSIONS[0]].values()

    assert len(CASES) == len(newest)
    assert len(CASES) > 100
    assert sum("error" in item for item in newest) > 20


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("{replicas: true}", "spec.replicas is a boolean and has to be a whole number of 32 bits"),
        ("{template: {spec: {containers: [{}, {name: [x]}]}}}", "name is a list and has to be a string"),
        ("{selector: {matchLabels: {a/b: 1}}}", "spec.selector.matchLabels.a/b is a number and has to be a string"),
        ("[]", "spec is a list and has to be a mapping"),
        ("{template: {spec: {overhead: {cpu: x}}}}", "overhead.cpu is a string and has to be a quantity"),
    ],
)
def test_why_an_object_can_not_be_read_is_told(spec, reason):
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": read_documents(spec)[0]}

    assert normalised(body, "1.34").reason.endswith(reason)


def test_reasons_are_harmless():
    labels = {"\x1b[2J" + "x" * 1000: 1}
    reason = normalised({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels}}, "1.34").reason

    assert reason.startswith("metadata.labels.\\x1b[2Jxxx")
    assert reason.isprintable()
    assert len(reason) <= 300


def test_the_place_of_an_item_of_a_list_is_told():
    spec = {"template": {"spec": {"containers": [{"name": "a"}, {"name": 1}]}}}
    told = normalised({"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": spec}, "1.34").reason

    assert told == "spec.template.spec.containers[1].name is a number and has to be a string"


def test_custom_resources_stay_as_they_were_written_but_for_their_metadata():
    body = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "x", "labels": {}, "creationTimestamp": None, "annotations": {"a": None}},
        "spec": {"driver": {"enabled": False, "resources": {"limits": {"cpu": "1000m"}}}, "empty": {}, "nothing": None},
    }

    assert as_stored(body, "1.25") == {**body, "metadata": {"name": "x", "annotations": {"a": ""}}}
    assert normalised(body, "1.37").native is False


def test_metadata_of_a_custom_resource_that_can_not_be_read_is_told():
    body = {"apiVersion": "a/v1", "kind": "B", "metadata": {"labels": {"a": 1}}}
    result = normalised(body, "1.34")

    assert result.object is body
    assert result.reason == "metadata.labels.a is a number and has to be a string"


def test_kinds_are_known_from_the_version_that_serves_them():
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": {"devices": {"requests": []}}}

    assert normalised(claim, "1.34").native
    assert not normalised(claim, "1.33").native


@pytest.mark.parametrize(
    "body", [None, [], "x", 1, {}, {"kind": "Pod"}, {"apiVersion": ["v1"], "kind": {}}, {"metadata": []}]
)
def test_what_is_no_object_is_given_back(body):
    assert normalised(body, "1.34").object is body


def test_versions_that_nobody_knows_are_the_nearest_one():
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a"}]}}

    assert "creationTimestamp" in as_stored(pod, "1.19")["metadata"]
    assert "creationTimestamp" in as_stored(pod, "v1.33.4")["metadata"]
    assert all(
        "creationTimestamp" not in as_stored(pod, version)["metadata"] for version in ("1.34", "1.99", "", "2.0")
    )


def test_kinds_that_operators_and_charts_make_are_all_known():
    kinds = {kind for _, kind in kubernetes_types(25).kinds}

    assert kinds >= {
        *("Pod", "PodTemplate", "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "ReplicationController", "Job"),
        *(
            "CronJob",
            "Service",
            "ServiceAccount",
            "Namespace",
            "Node",
            "ConfigMap",
            "Secret",
            "Ingress",
            "NetworkPolicy",
        ),
        *("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "PersistentVolume", "PersistentVolumeClaim"),
        *("PodDisruptionBudget", "ResourceQuota", "LimitRange", "RuntimeClass", "HorizontalPodAutoscaler"),
        *("PriorityClass", "StorageClass"),
    }


KINDS = sorted(kubernetes_types(37).kinds)
NAMES = sorted(
    {name for struct in set(kubernetes_types(37).kinds.values()) for name in kubernetes_types(37).fields(struct)}
)
FIELDS = [
    *NAMES,
    "containers",
    "template",
    "labels",
    "resources",
    "limits",
    "cpu",
    "creationTimestamp",
    "volumes",
    "data",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=30,
)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6), st.integers(20, 40))
def test_no_object_is_too_broken_and_twice_is_once(kind, parts, minor):
    body = {**parts, "apiVersion": kind[0], "kind": kind[1]}
    before = copy.deepcopy(body)
    once = normalised(body, f"1.{minor}")

    assert typed(body) == typed(before) or repr(body) == repr(before)
    if once.reason is None and once.native:
        twice = normalised(once.object, f"1.{minor}")
        assert repr(twice.object) == repr(once.object)
