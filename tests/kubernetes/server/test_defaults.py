"""What the API server fills in is the same to all that ask: changes, verification and admission."""

from __future__ import annotations

import ast
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import poolsmith
from poolsmith.kubernetes.admission.pods import as_admitted_pod
from poolsmith.kubernetes.server.additions import native_additions
from poolsmith.kubernetes.server.defaults import (
    default_values,
    defaulted_paths,
    depends_on_defaulting,
    is_of_pods_alone,
    pod_values,
)
from poolsmith.kubernetes.server.kubernetes_types import kubernetes_types, named_struct
from poolsmith.kubernetes.server.normalise import as_stored
from poolsmith.kubernetes.server.pod_defaults import fill_pod, pull_policy, stored_template
from support.pod_templates import IMAGES, POD_SPECS, daemon_set

SOURCES = Path(poolsmith.__file__).parent
MINORS = st.sampled_from(["1.25", "1.28", "1.31", "1.34", "1.37", ""])


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def starred(path):
    return tuple("*" if isinstance(step, int) else step for step in path)


@given(POD_SPECS, MINORS)
def test_what_a_template_gets_each_pod_gets_too(spec, kubernetes):
    template = stored_template(daemon_set(spec), kubernetes)["spec"]
    pod = deepcopy(spec)
    fill_pod(pod, kubernetes)
    stored = as_stored({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": pod}, kubernetes)["spec"]
    of_template, of_pod = dict(leaves(template)), dict(leaves(stored))

    assert {path: of_pod.get(path) for path in of_template if of_template[path] != {}} == {
        path: value for path, value in of_template.items() if value != {}
    }
    added = {starred(path) for path in of_pod.keys() - of_template.keys()}
    assert all(is_of_pods_alone(path) or path[-3:-1] == ("resources", "requests") for path in added), added


@given(POD_SPECS, MINORS)
def test_verification_takes_all_that_is_filled_in_for_nobodys(spec, kubernetes):
    workload = daemon_set(spec)
    held = deepcopy(workload)
    held["spec"]["template"] = stored_template(workload, kubernetes)

    assert list(native_additions(workload, held, lambda _path, _given: False)) == []


@given(POD_SPECS, MINORS)
def test_what_is_filled_in_is_known_to_be_filled_in_and_filled_in_once(spec, kubernetes):
    workload = daemon_set(spec)
    stored = deepcopy(workload)
    stored["spec"]["template"] = stored_template(workload, kubernetes)
    was = {starred(path) for path, _ in leaves(as_stored(workload, kubernetes))}
    added = {starred(path) for path, _ in leaves(stored)} - was

    assert [path for path in added if not depends_on_defaulting("DaemonSet", path)] == []
    assert stored_template(stored, kubernetes) == stored["spec"]["template"]


@given(POD_SPECS, MINORS)
def test_admission_sees_the_template_as_it_is_stored(spec, kubernetes):
    """A pod of the workload as it is stored is the pod of the workload as it is given."""
    version = kubernetes or "1.37"
    workload = daemon_set(spec)
    stored = deepcopy(workload)
    stored["spec"]["template"] = stored_template(workload, version)
    seen = [as_stored(as_admitted_pod(item, (), version), version)["spec"] for item in (workload, stored)]

    assert _without_names(seen[0]) == _without_names(seen[1])


def _without_names(spec):
    return {key: value for key, value in spec.items() if key != "hostname"}


def test_each_default_of_a_pod_is_of_a_field_that_the_types_have():
    types = kubernetes_types(37)
    for path in pod_values():
        struct = "core/v1.PodSpec"
        for step in path:
            if step != "*":
                code = types.fields(struct)[step]
                struct = named_struct(code) or struct
    assert len(pod_values()) > 100


def test_what_is_the_same_in_all_objects_is_among_what_is_filled_in():
    for kind in ("Pod", "DaemonSet", "Deployment", "Service", "ResourceClaimTemplate", "ValidatingAdmissionPolicy"):
        assert default_values(kind)
        assert default_values(kind).keys() <= defaulted_paths(kind)


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image[:40])
def test_the_pull_policy_of_an_image_that_says_none(image):
    assert pull_policy(image) == IMAGES[image]


def test_one_function_knows_the_pull_policy():
    deciding = []
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.IfExp):
                told = {side.value for side in (node.body, node.orelse) if isinstance(side, ast.Constant)}
                if told == {"Always", "IfNotPresent"}:
                    deciding.append(path.relative_to(SOURCES).as_posix())

    assert deciding == ["kubernetes/server/pod_defaults.py"]
