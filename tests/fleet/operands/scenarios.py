"""From the recorded inputs of a scenario to what the expansion takes."""

from __future__ import annotations

from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.fleet.operands.expansion import ClusterState, Node
from poolsmith.fleet.operands.node_files import parse_os_release
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import read_crds, read_projection
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from poolsmith.kubernetes.server.storing import stored

NAMESPACE = "gpu-operator"


class ChartError(Exception):
    """The chart renders nothing; its own words."""


def admitted_resources(recorded):
    """The chart's custom resources and the scenario's own, as the API server stores them. Raises ChartError."""
    tag, inputs = recorded["tag"], recorded["inputs"]
    helm = HelmRelease("gpu-operator", inputs.get("apiVersions", ()))
    projected = project(read_projection(tag), read_chart("gpu-operator", tag).defaults, inputs["values"], helm)
    if projected.errors:
        raise ChartError(projected.errors[0])
    definitions = read_crds(tag)
    return [stored(item, definitions[item["kind"]].checks) for item in [*projected.objects, *inputs["crs"]]]


def applied_form(admitted):
    """As recorded below `appliedCRs`, without the uid."""
    return [
        {
            "kind": item.resource["kind"],
            "name": item.resource["metadata"]["name"],
            "spec": item.resource.get("spec"),
            "pruned": sorted(f".{one.dotted}" for one in item.pruned),
            "schemaViolations": sorted(f".{one.dotted}" for one in item.refused),
        }
        for item in admitted
    ]


def cluster_state(recorded, admitted, labels, annotations):
    """What stands in the cluster. Resources get the uids that the recording gave them."""
    tag, inputs = recorded["tag"], recorded["inputs"]
    uids = {(item["kind"], item["name"]): item["uid"] for item in recorded["result"]["appliedCRs"]}
    values = merge_over_defaults(read_chart("gpu-operator", tag).defaults, inputs["values"])
    return ClusterState(
        nodes=tuple(
            Node(name=node["name"], labels=labels(node), annotations=dict(annotations), runtime=node["runtime"])
            for node in inputs["nodes"]
        ),
        resources=tuple(_with_uid(item.resource, uids) for item in admitted),
        objects=(*inputs["objects"], *config_maps(tag, values)),
        namespace=NAMESPACE,
        os_release=parse_os_release(inputs["osRelease"]),
        service_monitors=bool(inputs.get("serviceMonitorCRD")),
        api_versions=frozenset(inputs.get("apiVersions", ())),
    )


def config_maps(tag, values):
    """Those of the chart itself, for values over its own."""
    return [item for item in operator_chart_objects(tag, values, NAMESPACE).objects if item["kind"] == "ConfigMap"]


def _with_uid(resource, uids):
    uid = uids.get((resource["kind"], resource["metadata"]["name"]))
    return resource if uid is None else {**resource, "metadata": {**resource["metadata"], "uid": uid}}
