"""Kubernetes objects that a recorded result tells of: the way back, to try the harness itself."""

from __future__ import annotations

from poolsmith.fleet.operands.expansion import Expansion, ResourceCondition

SHORT_SPEC = ("nodeSelector", "affinity", "tolerations", "priorityClassName", "hostPID", "hostIPC", "hostNetwork")
OPTIONAL_SPEC = ("automountServiceAccountToken", "shareProcessNamespace")


def expansion_of(release, result):
    """The expansion whose recorded form is `result`."""
    objects = [
        *(_workload(item) for item in result["workloads"]),
        *(_plain(item["kind"], item, "rules", "roleRef", "subjects") for item in result["rbac"]),
        *(_plain("ServiceAccount", item) for item in result["serviceAccounts"]),
        *(_plain("RuntimeClass", item, "handler", "scheduling") for item in result["runtimeClasses"]),
        *(_plain("Service", item, "spec") for item in result["services"]),
        *({**_plain("ConfigMap", item), "data": dict.fromkeys(item["keys"], "")} for item in result["configMaps"]),
        *(_plain(item["kind"], item) for item in result["otherObjects"]),
    ]
    nodes = result["nodeLabelsAfter"]
    return Expansion(
        release=release,
        objects=tuple(objects),
        node_labels={name: node["labels"] for name, node in nodes.items()},
        node_annotations={name: node["annotations"] for name, node in nodes.items()},
        namespace_labels=result["namespaceLabelsAfter"],
        runtime=result["detectedRuntime"],
        conditions=tuple(
            ResourceCondition(
                kind=item["kind"], name=item["name"], state=item["state"], conditions=tuple(item["conditions"])
            )
            for item in result["conditions"]
        ),
        errors=tuple(f"{subject}: {text}" for subject, text in result["reconcileErrors"].items()),
    )


def _plain(kind, item, *keys):
    metadata = {key: item[key] for key in ("name", "namespace", "labels", "annotations") if item.get(key)}
    return {"kind": kind, "metadata": metadata, **{key: item[key] for key in keys if key in item}}


def _workload(item):
    pod = {key: item[key] for key in SHORT_SPEC if item.get(key)}
    pod |= {key: item[key] for key in OPTIONAL_SPEC if key in item}
    pod |= {"serviceAccountName": item["serviceAccount"], "volumes": [_volume(volume) for volume in item["volumes"]]}
    if item["runtimeClassName"]:
        pod["runtimeClassName"] = item["runtimeClassName"]
    if "imagePullSecrets" in item:
        pod["imagePullSecrets"] = [{"name": name} for name in item["imagePullSecrets"]]
    for key in ("containers", "initContainers"):
        pod[key] = [_container(container) for container in item[key]]
    kind, _, name = item["owner"].partition("/")
    whole = _plain(item["kind"], item)
    whole["metadata"]["ownerReferences"] = [{"kind": kind, "name": name, "controller": True}]
    metadata = {"labels": item["podLabels"], "annotations": item.get("podAnnotations", {})}
    whole["spec"] = {
        "selector": item["selector"],
        "updateStrategy": item["updateStrategy"],
        "template": {"metadata": metadata, "spec": pod},
    }
    return whole


def _volume(volume):
    match volume:
        case {"hostPath": path, "type": kind, "name": name}:
            return {"name": name, "hostPath": {"path": path, **({"type": kind} if kind else {})}}
        case {"configMap": source, "name": name, **rest}:
            return {"name": name, "configMap": {"name": source, **rest}}
    return volume


def _container(container):
    plain = ("name", "image", "imagePullPolicy", "securityContext", "ports", "resources", "args", "command")
    whole = {key: container[key] for key in plain if key in container}
    whole["volumeMounts"] = [_mount(mount) for mount in container["mounts"]]
    whole["env"] = [_variable(name, container["envValues"]) for name in container.get("env", ())]
    whole |= {f"{probe}Probe": {"exec": {}} for probe in container.get("probes", ())}
    return whole | ({"lifecycle": {"preStop": {}}} if container.get("hasLifecycle") else {})


def _mount(mount):
    whole = {"name": mount["volume"], "mountPath": mount["mountPath"], "readOnly": mount["readOnly"]}
    if "propagation" in mount:
        whole["mountPropagation"] = mount["propagation"]
    return whole | ({"subPath": mount["subPath"]} if "subPath" in mount else {})


def _variable(name, values):
    value = values.get(name)
    if isinstance(value, dict):
        return {"name": name, **value}
    return {"name": name} if value is None else {"name": name, "value": value}
