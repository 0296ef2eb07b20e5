"""Our validator against jsonschema, on objects that are grown from their schemas and then damaged.

Two oracles: the closed JSON Schema that we export, and the published definitions themselves. Every class of
disagreement stands in DIFFERENCES, with its reason; one that is not there fails the test.
"""

from __future__ import annotations

import copy
import random
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.export import json_schema
from poolsmith.kubernetes.schema.schemas import schemas_for
from poolsmith.kubernetes.schema.violation import What
from support.circles import DEEP
from support.recordings import recording

VERSIONS = schema_versions(kubernetes="1.37", operator="v26.7.0", coco="v0.17.0")
KINDS = [
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("batch/v1", "Job"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "LimitRange"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("nvidia.com/v1", "ClusterPolicy"),
    ("nvidia.com/v1alpha1", "NVIDIADriver"),
    ("nvidia.com/v1alpha1", "GPUCluster"),
    ("argoproj.io/v1alpha1", "Application"),
    ("argoproj.io/v1alpha1", "ApplicationSet"),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("source.toolkit.fluxcd.io/v1", "Bucket"),
    ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule"),
    ("confidentialcontainers.org/v1beta1", "CcRuntime"),
    ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
]
PER_KIND = (20_000 if DEEP else 1_520) // len(KINDS) + 1
WRONG = [
    *(None, True, False, 0, 1, -1, 1.5, 2.0, 2**31, 2**63, 10**30, "", "x", "true", "5", "500m", "1 Gi", "8Gi"),
    *("2026-11-20T10:00:00Z", "yesterday", "YWJj", "a b", [], [None], ["x", "x"], [{}], [{"name": "a"}] * 2),
    *({}, {"name": None}, {"x": 1}, {"name": "a", "value": "b"}),
]

# Why only one of the two refuses, whose refusals are meant, and how to tell one of them. Every refusal needs a reason.
DIFFERENCES = [
    ("entries that stand twice: JSON Schema has no words for list maps", "ours", lambda it: it.what is What.DUPLICATE),
    ("validation rules (CEL): JSON Schema has no words for them", "ours", lambda it: it.what is What.RULE),
    ("base64: a format that JSON Schema does not know", "ours", lambda it: "base64" in it.message),
]
_BOUNDS = ("minimum", "maximum")
PUBLISHED_DIFFERENCES = [
    *DIFFERENCES,
    ("int32 and int64 are formats, which JSON Schema does not enforce", "ours", lambda it: "allowed" in it.message),
    ("quantities have no pattern in built-in definitions", "ours", lambda it: "is no quantity" in it.message),
    ("a time is a format too", "ours", lambda it: "no time like" in it.message),
    ("metadata is only `object` in a CRD", "ours", lambda it: it.pointer.startswith("/metadata")),
    ("objects without any fields are closed here", "ours", lambda it: it.what is What.UNKNOWN_FIELD),
    ("int64 is a format, and an int32 of a custom resource a warning", "theirs", lambda it: it.validator in _BOUNDS),
    (
        "the API server's own validation of built-in kinds: tests/kubernetes/schema/test_server_verdicts.py",
        "ours",
        lambda it: it.what in (What.VALUE, What.REQUIRED, What.TYPE) and "base64" not in it.message,
    ),
    ("built-in: null for what is required misses it", "ours", lambda it: it.what is What.REQUIRED),
    ("defaults are filled in before validation", "theirs", lambda it: it.validator == "required"),
    ("built-in: null is absent, custom: it is dropped or kept", "theirs", lambda it: it.instance is None),
]


def explained(ours, theirs, differences):
    side, refusals = ("ours", ours) if ours else ("theirs", theirs)
    return all(any(where == side and holds(it) for _, where, holds in differences) for it in refusals)


def refusing(kind, document):
    return [item for item in kind.violations(document) if item.grave and item.what is not What.NULL]


def leaves(error):
    if not error.context:
        return [error]
    return [leaf for child in error.context for leaf in leaves(child)]


class Grower:
    """Objects that mostly fit a schema, and places in them to damage."""

    def __init__(self, kind, seed):
        self.kind = kind
        self.random = random.Random(seed)
        self.resolve = kind.compiler.resolve

    def document(self, api_version, name):
        root = self.kind.definition
        body = self.grow(root, 6)
        if "spec" in root["properties"] and "spec" not in body:
            body["spec"] = self.grow(root["properties"]["spec"], 6)
        return {**body, "apiVersion": api_version, "kind": name, "metadata": {"name": "gpu-cluster"}}

    def grow(self, schema, depth):
        schema = self.resolve(schema)
        choose = self.random
        if schema.get("intOrString") or schema.get("quantity"):
            return choose.choice([1, "5", "500m"])
        if "enum" in schema:
            return choose.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            return self.grow_object(schema, depth)
        if kind == "array":
            size = choose.choice([0, 1, 1, 2]) if depth > 0 else 0
            return [self.grow(schema["items"], depth - 1) for _ in range(max(size, schema.get("minItems", 0)))]
        if kind == "integer":
            return max(schema.get("minimum", 1), 1)
        if kind == "number":
            return 1.5
        if kind == "boolean":
            return choose.choice([True, False])
        if kind == "string":
            if schema.get("format") == "date-time":
                return "2026-11-20T10:00:00Z"
            return choose.choice(["1h", "https://a.example.com/b", "YWJj", "a", "oci://a"])
        return {"anything": [1, None]}

    def grow_object(self, schema, depth):
        names = list(schema.get("properties", {}))
        chosen = set(schema.get("required", ()))
        if depth > 0 and names:
            chosen |= set(self.random.sample(names, self.random.randint(0, min(3, len(names)))))
        result = {name: self.grow(schema["properties"][name], depth - 1) for name in names if name in chosen}
        if depth > 0 and isinstance(schema.get("additionalProperties"), dict):
            result["some-key"] = self.grow(schema["additionalProperties"], depth - 1)
        return result

    def damage(self, document):
        document = copy.deepcopy(document)
        for _ in range(self.random.choice([0, 1, 1, 1, 2])):
            holder = self.random.choice([item for item in containers(document) if item] or [document])
            if isinstance(holder, list):
                index = self.random.randrange(len(holder))
                holder[index] = copy.deepcopy(self.random.choice(WRONG))
                if self.random.random() < 0.3:
                    holder.append(copy.deepcopy(holder[index]))
                continue
            key = self.random.choice(sorted(holder))
            dice = self.random.random()
            if dice < 0.25:
                holder[typo(key, self.random)] = holder.pop(key)
            elif dice < 0.4:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(self.random.choice(WRONG))
        return document


def typo(key, choose):
    at = choose.randrange(len(key)) if key else 0
    return choose.choice([key[:at] + key[at + 1 :], key[:at] + "x" + key[at:], key.upper(), key + "s"])


def containers(node):
    if isinstance(node, dict):
        return [node, *(found for child in node.values() for found in containers(child))]
    if isinstance(node, list):
        return [node, *(found for child in node for found in containers(child))]
    return []


def disagreements(kind, oracle, api_version, name, differences, *, count):
    grower = Grower(kind, f"{api_version} {name}")
    unexplained, refused = [], 0
    for _ in range(count):
        document = grower.damage(grower.document(api_version, name))
        if not isinstance(document, dict) or document.get("apiVersion") != api_version or document.get("kind") != name:
            continue
        ours = refusing(kind, document)
        theirs = [leaf for error in oracle.iter_errors(document) for leaf in leaves(error)]
        refused += bool(ours)
        if bool(ours) != bool(theirs) and not explained(ours, theirs, differences):
            unexplained.append((ours, [f"{error.json_path}: {error.message[:100]}" for error in theirs], document))
    return unexplained, refused


@pytest.mark.parametrize(("api_version", "name"), KINDS)
def test_we_refuse_what_the_exported_schema_refuses(api_version, name):
    kind = schemas_for(VERSIONS).find(api_version, name)
    oracle = Draft202012Validator(json_schema(kind))
    unexplained, refused = disagreements(kind, oracle, api_version, name, DIFFERENCES, count=PER_KIND)

    assert unexplained == []
    assert PER_KIND * 0.2 < refused < PER_KIND


RECORDED = "master-standalone-strict"
CRDS = {
    "ClusterPolicy": "gpu-operator/v26.7.0/crds/nvidia.com_clusterpolicies.yaml",
    "NVIDIADriver": "gpu-operator/v26.7.0/crds/nvidia.com_nvidiadrivers.yaml",
    "GPUCluster": "gpu-operator/v26.7.0/crds/nvidia.com_gpuclusters.yaml",
    "Application": "argo-cd/crds/application-crd.yaml",
    "ApplicationSet": "argo-cd/crds/applicationset-crd.yaml",
    "HelmRelease": "flux/crds/helm.toolkit.fluxcd.io_helmreleases.yaml",
    "Bucket": "flux/crds/source.toolkit.fluxcd.io_buckets.yaml",
    "CcRuntime": "confidential-containers/crds/confidentialcontainers.org_ccruntimes.yaml",
}


def closed(schema):
    """A CRD's schema as JSON Schema, written independently of the importer."""
    result = {
        key: schema[key]
        for key in ("type", "enum", "pattern", "required", "minimum", "maximum", "minLength", "maxLength", "minItems")
        if key in schema
    }
    if schema.get("x-kubernetes-int-or-string"):
        result.pop("type", None)
        result["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if schema.get("format") == "date-time":
        result["format"] = "date-time"
    if "properties" in schema:
        result["properties"] = {key: closed(child) for key, child in schema["properties"].items()}
    if "items" in schema:
        result["items"] = closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = closed(schema["additionalProperties"])
    elif "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result["additionalProperties"] = False
    return result


@cache
def published(api_version, name):
    """The definition as its project publishes it, closed."""
    if name in CRDS:
        project = "gpu_operator" if CRDS[name].startswith("gpu-operator") else "neighbours"
        (document,) = recording(project)[CRDS[name]]
        (schema,) = (
            version["schema"]["openAPIV3Schema"]
            for version in document["spec"]["versions"]
            if f"{document['spec']['group']}/{version['name']}" == api_version
        )
        result = closed(schema)
        result["properties"]["metadata"] = {"type": "object"}
        return result
    group, _, version = api_version.rpartition("/")
    suffix = f"{group}-{version}" if group else version
    schema = recording("kubernetes_schemas")[f"{RECORDED}/{name.lower()}-{suffix}"]
    return {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}


PUBLISHED = [
    (api_version, name)
    for api_version, name in KINDS
    if name in (*CRDS, "DaemonSet", "Deployment", "Job", "Service", "ConfigMap", "LimitRange")
]


@pytest.mark.parametrize(("api_version", "name"), PUBLISHED)
def test_we_refuse_what_the_published_definition_refuses(api_version, name):
    kind = schemas_for(VERSIONS).find(api_version, name)
    oracle = Draft202012Validator(published(api_version, name))
    unexplained, _ = disagreements(kind, oracle, api_version, name, PUBLISHED_DIFFERENCES, count=PER_KIND)

    assert unexplained == []
