"""Whole Kubernetes objects out of filled entries.

Deployments and Jobs are written like DaemonSets. `extraInit`, `extraVolumes`, and a container's `extraEnv` and
`extraMounts`, hold what values bring in Kubernetes' own form; `spec` is laid over the workload's specification,
`namespace` replaces that of the release. The texts of volumes and mounts are the entry's own: one with a value in it
is a mapping, so that no value is taken apart. What has `metadata` is written out, and `clusterWide` where it is.
"""

from __future__ import annotations

from typing import Any

from poolsmith.fleet.operands.kube import init_containers_of, pod_of
from poolsmith.gpu.catalog.operands import whole
from poolsmith.gpu.catalog.scripts import with_scripts
from poolsmith.kubernetes.helm.go_template import printed

_API = {"DaemonSet": "apps/v1", "Deployment": "apps/v1", "Job": "batch/v1"}
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_EMPTY: dict[str, Any] = {"selector": {}, "volumes": {}, "init": [], "containers": []}
_EXTRA = {"extraEnv": "env", "extraMounts": "volumeMounts"}
_MAPPINGS = ("labels", "annotations", "podLabels", "podAnnotations", "selector", "data")
_LISTS = ("extraInit", "extraVolumes", *_EXTRA)


def unfold(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The object of a filled entry, in `namespace` unless it names its own.

    Raises TypeError where values bring something that would stand beside what the chart has, and not among it.
    """
    for part in (compact, *compact.get("containers", ()), *compact.get("init", ())):
        _hold_types(part)
    if not isinstance(compact.get("name", compact.get("metadata", {}).get("name")), str):
        raise TypeError("name")
    form = {key: value for key, value in compact.items() if key != "namespace"}
    place = compact.get("namespace", namespace)
    if "metadata" in form:
        if not isinstance(form.get("apiVersion"), str):
            raise TypeError("apiVersion")
        if not form.pop("clusterWide", False):
            form["metadata"] = {**form["metadata"], "namespace": place}
        return form
    if form["kind"] in _API:
        return _workload(form, place)
    if form["kind"] in _BINDINGS:
        accounts = [{"kind": "ServiceAccount", "name": name, "namespace": place} for name in form["subjects"]]
        return whole({**form, "subjects": accounts}, place)
    if form["kind"] == "ConfigMap":
        return whole({**form, "keys": {}}, place) | {"data": form.get("data", {})}
    return whole(form, place)


def _hold_types(form: dict[str, Any]) -> None:
    for keys, wanted in ((_MAPPINGS, dict), (_LISTS, list)):
        for key in keys:
            if not isinstance(form.get(key, wanted()), wanted):
                raise TypeError(key)


def _workload(form: dict[str, Any], namespace: str) -> dict[str, Any]:
    kind = form["kind"]
    containers = {key: [_with_variables(item) for item in form.get(key, ())] for key in ("init", "containers")}
    own = {key: value for key, value in form.items() if key not in ("spec", "extraInit", "extraVolumes")}
    item = whole({**_EMPTY, **own, **containers, "kind": "DaemonSet"}, namespace)
    item |= {"apiVersion": _API[kind], "kind": kind}
    if kind == "Job":
        del item["spec"]["selector"]
        with_scripts(pod_of(item)["containers"])
    item["spec"] |= form.get("spec", {})
    if "podName" in form:
        item["spec"]["template"]["metadata"] = {"name": form["podName"], **item["spec"]["template"]["metadata"]}
    pod = pod_of(item)
    for container in (*init_containers_of(pod), *pod["containers"]):
        _tidy(container)
    init_containers_of(pod).extend(form.get("extraInit", ()))
    pod["volumes"].extend(form.get("extraVolumes", ()))
    for key in ("initContainers", "volumes"):
        if not pod[key]:
            del pod[key]
    return item


def unfold_pod(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    """A pod that is nobody's template. `name` may end in *, which the API server completes."""
    owners = {key: compact[key] for key in ("ownerReferences",) if key in compact}
    form = {key: value for key, value in compact.items() if key not in owners}
    made = unfold({**form, "kind": "DaemonSet"}, namespace)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**made["metadata"], **owners}, "spec": pod_of(made)}


def _with_variables(container: dict[str, Any]) -> dict[str, Any]:
    """A container whose variables are objects: a text is a value, whatever it begins with."""
    if "env" not in container:
        return container
    return {**container, "env": [_variable(words) for words in container["env"]]}


def _variable(words: list[Any]) -> dict[str, Any]:
    name, *rest = words
    if rest and isinstance(rest[0], dict):
        return {"name": printed(name), "valueFrom": rest[0]}
    return {"name": printed(name), "value": printed(rest[0]) if rest else ""}


def _tidy(container: dict[str, Any]) -> None:
    """Join what values bring, and drop empty lists."""
    for key, target in _EXTRA.items():
        more = container.pop(key, None)
        if more:
            container.setdefault(target, []).extend(more)
    for key in ("args", "env", "volumeMounts"):
        if not container.get(key, True):
            del container[key]
