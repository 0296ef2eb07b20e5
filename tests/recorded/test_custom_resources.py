"""Every generated custom resource is one that its CRD takes, with no field that the API server would drop."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from support.recordings import recording

REPOSITORY = Path(__file__).resolve().parents[2]
TREES = [REPOSITORY / "output", *sorted((REPOSITORY / "tests" / "golden").glob("*/expected"))]
FILES = [
    path
    for tree in TREES
    for path in sorted(tree.rglob("*.yaml"))
    if not {"node-labels", "values", "kubevirt"} & set(path.parts)
    and path.name not in ("images.yaml", "privileges.yaml", "workloads.yaml")
]
CRDS = {
    "NodeFeatureRule": "node-feature-discovery/crds/nfd-api-crds.yaml",
    "Application": "argo-cd/crds/application-crd.yaml",
    "ApplicationSet": "argo-cd/crds/applicationset-crd.yaml",
    "AppProject": "argo-cd/crds/appproject-crd.yaml",
    "HelmRelease": "flux/crds/helm.toolkit.fluxcd.io_helmreleases.yaml",
    "HelmRepository": "flux/crds/source.toolkit.fluxcd.io_helmrepositories.yaml",
    "GitRepository": "flux/crds/source.toolkit.fluxcd.io_gitrepositories.yaml",
    "Kustomization": "flux/crds/kustomize.toolkit.fluxcd.io_kustomizations.yaml",
    "CcRuntime": "confidential-containers/v0.7.0/ccruntimes-crd.yaml",
}
DOMAINS = "resource.nvidia.com/v1beta1"
"""Of smoke jobs; its definition is not recorded."""
BUILT_IN = (
    "v1",
    "apps/v1",
    "batch/v1",
    "admissionregistration.k8s.io/v1",
    "rbac.authorization.k8s.io/v1",
    "resource.k8s.io/v1",
    "kustomize.config.k8s.io/v1beta1",
)


def read_all(path):
    return [document for document in yaml.safe_load_all(path.read_text("utf-8")) if document is not None]


def closed(schema):
    """The structural schema with unknown fields refused, as the API server prunes them."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        key: {name: closed(child) for name, child in value.items()} if key == "properties" else closed(value)
        for key, value in schema.items()
        if key not in ("format", "nullable", "description", "default", "pattern") or key == "pattern"
    }
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if isinstance(schema.get("properties"), dict) and not open_ended:
        result["additionalProperties"] = False
    if schema.get("x-kubernetes-int-or-string"):
        result["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        result.pop("type", None)
    return result


@cache
def validator(crd_file, kind, version):
    for document in recording("gpu_operator" if crd_file.startswith("gpu-operator/") else "neighbours")[crd_file]:
        if document.get("kind") == "CustomResourceDefinition" and document["spec"]["names"]["kind"] == kind:
            for item in document["spec"]["versions"]:
                if item["name"] == version:
                    schema = closed(copy.deepcopy(item["schema"]["openAPIV3Schema"]))
                    schema["properties"] |= {"apiVersion": {}, "kind": {}, "metadata": {}}
                    return Draft202012Validator(schema), document["spec"]["scope"]
    return None, None


def release_of(path):
    """The operator release of the cluster that a file belongs to."""
    parts = path.relative_to(REPOSITORY).parts
    cluster = parts[parts.index("clusters") + 1]
    root = REPOSITORY.joinpath(*parts[: parts.index("clusters") - 1])
    (body,) = read_all(root / "profiles" / cluster / "cluster.yaml")
    return body["spec"]["stack"]["release"]


def crd_file(path, kind):
    if kind == "NVIDIADriver":
        return f"gpu-operator/{release_of(path)}/crds/nvidia.com_nvidiadrivers.yaml"
    return CRDS[kind]


@pytest.mark.parametrize("path", FILES, ids=[path.relative_to(REPOSITORY).as_posix() for path in FILES])
def test_a_file_holds_objects_that_their_definitions_take(path):
    for body in read_all(path):
        if body["apiVersion"] in (*BUILT_IN, DOMAINS):
            continue
        check, scope = validator(crd_file(path, body["kind"]), body["kind"], body["apiVersion"].partition("/")[2])
        assert check is not None, f"no definition of {body['apiVersion']} {body['kind']}"
        errors = [f"{error.json_path}: {error.message[:200]}" for error in check.iter_errors(body)]
        assert errors == []
        assert ("namespace" in body["metadata"]) == (scope == "Namespaced")


def test_the_check_refuses_a_field_that_would_be_dropped():
    check, _ = validator("gpu-operator/v26.3.3/crds/nvidia.com_nvidiadrivers.yaml", "NVIDIADriver", "v1alpha1")
    body = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {},
        "spec": {"driverType": "gpu", "image": "driver"},
    }

    assert not list(check.iter_errors(body))
    assert list(check.iter_errors({**body, "spec": {**body["spec"], "upgradePolicy": {}}}))


def test_all_kinds_of_custom_resources_are_among_the_trees():
    kinds = {
        body["kind"] for path in FILES for body in read_all(path) if body["apiVersion"] not in (*BUILT_IN, DOMAINS)
    }

    assert set(CRDS) | {"NVIDIADriver"} == kinds


VALUES = [path for tree in TREES for path in sorted(tree.rglob("values/*.yaml")) if path.stem != "kata-deploy"]
"""Those of kata-deploy are held against Helm itself: tests/fleet/operands/test_kata_deploy.py."""


def leaves(node, path=()):
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif path:
        yield path


CONDITIONS = (("nfd", "enabled"),)
"""Switches of bundled charts, which Helm itself reads."""


def read_paths(chart, stack):
    """What a chart's templates read, each with its type where that is recorded."""
    release = stack["dcgmExporter"]["release"] if chart == "dcgm-exporter" else stack["release"]
    if f"{chart}/{release}" in (recorded := recording("chart_values")):
        return recorded[f"{chart}/{release}"]["paths"]
    version = read_chart_workloads("nvidia-device-plugin", release).facts["nodeFeatureDiscovery"]
    return {path: {"referenced": True} for path in recording("chart_probes")[f"{chart}/{version}"]}


@pytest.mark.parametrize("path", VALUES, ids=[path.relative_to(REPOSITORY).as_posix() for path in VALUES])
def test_a_values_file_sets_only_paths_that_the_chart_reads(path):
    chart = path.stem
    (spec,) = (body["spec"]["stack"] for body in read_all(profile_of(path)))
    facts = read_paths(chart, spec)
    (values,) = read_all(path) or [{}]
    unread = []
    for keys in leaves(values):
        known = [
            ".".join(keys[:length])
            for length in range(1, len(keys) + 1)
            if facts.get(".".join(keys[:length]), {}).get("referenced")
        ]
        exact = ".".join(keys) in known
        inside = known and facts[known[-1]].get("type") in ("object", "array", None)
        if not (exact or inside or keys[0] == "node-feature-discovery" or keys in CONDITIONS):
            unread.append(".".join(keys))

    assert unread == []


def profile_of(path):
    parts = path.relative_to(REPOSITORY).parts
    root = REPOSITORY.joinpath(*parts[: parts.index("clusters") - 1])
    return root / "profiles" / parts[parts.index("clusters") + 1] / "cluster.yaml"
