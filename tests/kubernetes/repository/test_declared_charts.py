"""Charts that objects install, as values rules and setup rules both find them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from poolsmith.core.sources.pod_template import word
from poolsmith.kubernetes.repository.declared_charts import declared_charts, first_document, installed_charts


@dataclass(frozen=True)
class Item:
    data: object

    @property
    def kind(self):
        return word(self.data.get("kind")) if isinstance(self.data, dict) else ""

    @property
    def api_version(self):
        return word(self.data.get("apiVersion")) if isinstance(self.data, dict) else ""


class Objects:
    def __init__(self, *items):
        self.items = {(item["kind"], item["metadata"]["name"]): Item(item) for item in items}

    def named(self, kind, name):
        return self.items.get((kind, name))


OCI = {
    "kind": "OCIRepository",
    "metadata": {"name": "gpu"},
    "spec": {"url": "oci://r/x/gpu-operator", "ref": {"tag": "v1"}},
}
FLUX, ARGO = {"kind": "HelmRelease", "apiVersion": "helm.toolkit.fluxcd.io/v2"}, {"apiVersion": "argoproj.io/v1alpha1"}
SOURCE = {"chart": "nfd", "targetRevision": "0.17", "helm": {"values": "a: 1"}}


def charts(data, *others):
    return [
        (chart.name, chart.version, chart.values, chart.pointer, chart.partial)
        for chart in declared_charts(Item(data), Objects(*others))
    ]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (
            {**FLUX, "spec": {"chart": {"spec": {"chart": "./charts/nfd/", "version": "1"}}, "values": {"a": 1}}},
            ("nfd", "1", {"a": 1}, "/spec/values", False),
        ),
        (
            {**FLUX, "spec": {"chartRef": {"kind": "OCIRepository", "name": "gpu"}, "valuesFrom": [{}]}},
            ("gpu-operator", "v1", None, "/spec/values", True),
        ),
        (
            {**FLUX, "spec": {"chartRef": {"kind": "HelmChart", "name": "nfd"}}},
            ("nfd", None, None, "/spec/values", False),
        ),
        (
            {**ARGO, "kind": "Application", "spec": {"source": {**SOURCE, "helm": {"valuesObject": {"a": 1}}}}},
            ("nfd", "0.17", {"a": 1}, "/spec/source/helm/valuesObject", False),
        ),
        (
            {**ARGO, "kind": "ApplicationSet", "spec": {"template": {"spec": {"sources": [SOURCE]}}}},
            ("nfd", "0.17", "a: 1", "/spec/template/spec/sources/0/helm/values", False),
        ),
        (
            {
                "kind": "HelmChart",
                "apiVersion": "helm.cattle.io/v1",
                "spec": {"chart": "https://x/nfd.tgz", "version": "2", "valuesContent": "a: 1", "set": {"b": 2}},
            },
            ("nfd", "2", "a: 1", "/spec/valuesContent", True),
        ),
        (
            {
                "kind": "Kustomization",
                "apiVersion": "kustomize.config.k8s.io/v1beta1",
                "helmCharts": [{"name": "nfd", "valuesInline": {"a": 1}, "additionalValuesFiles": ["b.yaml"]}],
            },
            ("nfd", None, {"a": 1}, "/helmCharts/0/valuesInline", True),
        ),
    ],
)
def test_every_way_to_install_a_chart(data, found):
    assert [item for item in charts(data, OCI) if item[0]] == [found]


@pytest.mark.parametrize("more", ["valueFiles", "parameters", "fileParameters"])
def test_argo_cd_takes_values_from_elsewhere(more):
    data = {**ARGO, "kind": "Application", "spec": {"source": {**SOURCE, "helm": {"values": "a: 1", more: [{}]}}}}

    assert [item[-1] for item in charts(data) if item[0]] == [True]


def test_a_patch_and_charts_of_other_clusters_are_installed_nowhere_here():
    patch = {**FLUX, "metadata": {"name": "gpu-operator"}, "spec": {"values": {}}}
    proxy = {
        "kind": "HelmChartProxy",
        "apiVersion": "addons.cluster.x-k8s.io/v1alpha1",
        "spec": {"chartName": "nfd", "valuesTemplate": "a: 1"},
    }

    assert [item[0] for data in (patch, proxy) for item in charts(data)] == ["gpu-operator", "nfd"]
    assert not [chart for data in (patch, proxy) for chart in installed_charts(Item(data), Objects())]


@pytest.mark.parametrize(
    "data", [None, [], {"kind": 1}, {"kind": "HelmRelease", "apiVersion": "v1"}, {"kind": "Application"}]
)
def test_other_objects_install_nothing(data):
    assert charts(data) == []


@pytest.mark.parametrize(
    ("values", "found"), [("a: 1\n---\nb: 2", {"a": 1}), ("{", None), ("", None), ({"a": 1}, {"a": 1})]
)
def test_values_that_are_a_text(values, found):
    assert first_document(values) == found
