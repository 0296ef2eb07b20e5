"""The JSON Schemas, for editors, accept what the loader accepts, but for differences that are listed here.

1. A schema sees no file: profiles without `extends` are drawn, since the schema of an extending one can't see the bases.
2. `devices` of a MIG layout is free in both; `resolve` judges it.
3. JSON Schema calls 1.0 an integer, the loader a number; documents are drawn without such floats.
4. The schema's `$` also matches before a final newline in Python; texts are drawn without line ends.
"""

from __future__ import annotations

import dataclasses
import enum
from functools import cache
from typing import Any, get_args, get_origin

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from poolsmith.core.shape.documents import FileSink, read_envelope, required_spec
from poolsmith.core.shape.field import API_VERSION, Shape
from poolsmith.core.shape.json_schema import schema_of
from poolsmith.core.shape.reader import fields_of, reader_for
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.interface.app.schemas import KINDS
from poolsmith.kubernetes.schema.export import json_schema
from poolsmith.kubernetes.schema.schemas import schemas_for
from support.circles import DEEP

WRONG = st.sampled_from(
    [None, True, False, 0, -1, 3, 10**9, 1.5, "", "x", "Not a label!", "a/b", [], ["x", "x"], {}, {"x": 1}]
)


def strategy_of(hint, shape):
    """Values that fit a field, drawn from its examples and its pattern."""
    origin = get_origin(hint)
    if hint is Any:
        return st.sampled_from(["all", [0]])
    if hint is str:
        good = st.from_regex(shape.pattern, fullmatch=True) if shape.pattern else st.text(alphabet="abc-", max_size=5)
        texts = [item for item in shape.examples if isinstance(item, str)]
        return (st.sampled_from(texts) | good if texts else good).filter(lambda text: "\n" not in text)
    if hint is bool:
        return st.booleans()
    if hint is int:
        return st.integers(shape.minimum or 0, shape.maximum or 100)
    if origin is tuple:
        return st.lists(strategy_of(get_args(hint)[0], shape), max_size=3)
    if origin is dict:
        keys = st.from_regex(shape.keys, fullmatch=True) if shape.keys else st.sampled_from(["a", "b"])
        inner = get_args(hint)[1]
        return st.dictionaries(
            keys.filter(lambda text: "\n" not in text),
            st.just(1) if inner is Any else strategy_of(inner, shape),
            max_size=2,
        )
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from([member.value for member in hint])
    assert dataclasses.is_dataclass(hint)
    return st.deferred(lambda: object_of(hint))


@st.composite
def object_of(draw, cls):
    """A mapping near a model class: fields that fit, now and then one that is missing, wrong or unknown."""
    result = {}
    for name, field in fields_of(cls).items():
        if name == "extends":
            continue
        dice = draw(st.integers(0, 39))
        if dice == 0:
            result[name] = draw(WRONG)
        elif (field.required and dice != 1) or dice > 32:
            result[name] = draw(strategy_of(field.hint, field.shape))
    if draw(st.integers(0, 60)) == 0:
        result[draw(st.sampled_from(["unknown", "naem", "Name"]))] = draw(WRONG)
    return result


@st.composite
def document_of(draw, kind):
    return {
        "apiVersion": draw(st.just(API_VERSION) if draw(st.integers(0, 30)) else WRONG),
        "kind": kind,
        "metadata": {"name": draw(st.sampled_from(["prod", "a-1"]) if draw(st.integers(0, 30)) else WRONG)},
        "spec": draw(object_of(KINDS[kind].spec)),
    }


@cache
def validator(kind):
    return Draft202012Validator(schema_of(KINDS[kind]))


def problems(kind, document):
    file = SourceFile("x.yaml", emit(document), document)
    sink = FileSink(file, subject="x", partial=kind == "NodePoolBase")
    read_envelope(file, kind, sink)
    raw = required_spec(file, sink)
    if raw is not None:
        reader_for(KINDS[kind].spec, Shape(doc=""))(raw, "/spec", sink)
    return [f"{item.name} {item.primary.pointer}" for item in sink.found]


def is_listed(document):
    """Difference 3: whole floats."""
    if isinstance(document, dict):
        return any(is_listed(value) for value in document.values())
    if isinstance(document, list):
        return any(is_listed(value) for value in document)
    return isinstance(document, float) and document.is_integer()


@pytest.mark.rows(2, "the kinds with most fields; each document is read three times")
@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=1000 if DEEP else 30)
def test_a_schema_accepts_what_the_loader_accepts(kind, data):
    document = data.draw(document_of(kind))
    if not is_listed(document):
        found = problems(kind, document)
        errors = [f"{error.json_path}: {error.message[:120]}" for error in validator(kind).iter_errors(document)]
        assert bool(found) == bool(errors), (found, errors, document)


HASH = "sha256:" + "0" * 64
SOUND = {
    "RingOrder": {"order": ["lab", "stable"], "revisions": {"stable": "refs/heads/stable"}},
    "TeamList": {"teams": [{"name": "vision", "clusters": ["vision-*"]}]},
    "CatalogLock": {"packs": [{"name": "a", "version": "1", "sha256": HASH}]},
    "CatalogPack": {
        "version": "1",
        "source": "chart gpu-operator v26.7.1",
        "releases": ["v26.7.1"],
        "files": [{"path": "operands/v26.7.1.json", "sha256": HASH}],
    },
    "DriverImageList": {"images": [{"repository": "nvcr.io/nvidia/driver", "tags": ["580.126.20-ubuntu22.04"]}]},
    "Cluster": {
        "kubernetes": {"version": "1.33", "distribution": "kubeadm"},
        "stack": {"release": "v26.3.3"},
        "delivery": {"engine": "argocd", "repoURL": "https://git.example.com/gpu.git"},
    },
    "NodePool": {
        "os": {"id": "ubuntu", "version": "22.04"},
        "runtime": {"name": "containerd"},
        "gpu": {"product": "A100", "count": 8},
    },
    "NodePoolBase": {},
    "PolicyTest": {"cases": [{"name": "a pod", "expect": {"verdict": "allow"}}]},
    "PrivilegeEnforcement": {"actions": ["Deny", "Audit"]},
    "SupplyPolicy": {
        "chartRepositories": ["https://helm.ngc.nvidia.com/nvidia"],
        "mirrors": {"nvcr.io": ["m.example.com"]},
    },
    "RuleSettings": {"rules": {"host-network": {"severity": "error"}}},
    "WaiverList": {"waivers": [{"rule": "host-network", "subject": "lab", "expires": "2027-06-30"}]},
    "Baseline": {"findings": [{"rule": "PSM310", "file": "a.yaml", "fingerprint": "0" * 32, "expires": "2027-06-30"}]},
    "ExternalNames": {"names": [{"kind": "ConfigMap", "name": "licence", "expires": "2027-06-30"}]},
    "PrivilegeGrant": {"clusters": ["*"], "pools": ["*"], "workload": "driver", "privileges": ["privileged"]},
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_both_take_a_sound_document(kind):
    document = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": "a"}, "spec": SOUND[kind]}

    assert problems(kind, document) == []
    assert list(validator(kind).iter_errors(document)) == []


@given(key=st.sampled_from(["apiVersion", "kind", "metadata", "spec"]), value=WRONG)
@example(key="metadata", value={"name": "a", "labels": {}})
def test_both_refuse_what_is_wrong_at_the_top(key, value):
    document = {
        "apiVersion": API_VERSION,
        "kind": "NodePool",
        "metadata": {"name": "a"},
        "spec": SOUND["NodePool"],
        key: value,
    }

    assert problems("NodePool", document)
    assert list(validator("NodePool").iter_errors(document))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_published_schema_is_json_schema(kind):
    Draft202012Validator.check_schema(validator(kind).schema)


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("apps/v1", "DaemonSet"),
        ("v1", "Pod"),
        ("nvidia.com/v1", "ClusterPolicy"),
        ("nvidia.com/v1alpha1", "NVIDIADriver"),
    ],
)
def test_an_exported_schema_is_json_schema(version, kind):
    found = schemas_for(schema_versions(kubernetes="1.34", operator="v26.3.3")).find(version, kind)

    Draft202012Validator.check_schema(json_schema(found, "1.34"))
