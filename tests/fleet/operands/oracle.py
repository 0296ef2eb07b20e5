"""An expansion in the form in which the operator's own runs were recorded, and what differs between two of them.

Not compared, because the recording does not hold it: empty maps and lists against absent ones, the order of rules and
verbs in a role, the namespace of what lives in none. NVIDIADriver names end in a hash of the resource's uid: they are
the same, because the expansion is given the recorded uids.
"""

from __future__ import annotations

import json

LONG_TEXT = 160
NODE_ANNOTATIONS = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
"""One unrelated annotation, which every node had."""
WORKLOADS = ("DaemonSet", "Deployment", "Pod")
ROLES = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
CLUSTER_WIDE = ("ClusterRole", "ClusterRoleBinding", "RuntimeClass")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def node_labels(node):
    """What a recorded node carried at the start."""
    return {**node["labels"], "kubernetes.io/hostname": node["name"], "kubernetes.io/os": "linux"}


def recorded_form(expansion, inputs):
    """The `result` of a recording, for an expansion of its `inputs`."""
    by_kind = {}
    for item in expansion.objects:
        by_kind.setdefault(item["kind"], []).append(item)
    namespace = "gpu-operator"
    known = {*WORKLOADS, *ROLES, "ServiceAccount", "RuntimeClass", "Service", "ConfigMap"}
    return {
        "workloads": [_workload(item, expansion) for kind in WORKLOADS for item in by_kind.get(kind, ())],
        "rbac": [_role(item) for kind in ROLES for item in by_kind.get(kind, ())],
        "serviceAccounts": [_place(item) for item in by_kind.get("ServiceAccount", ())],
        "runtimeClasses": [_runtime_class(item) for item in by_kind.get("RuntimeClass", ())],
        "services": [_service(item) for item in by_kind.get("Service", ())],
        "configMaps": [_config_map(item) for item in by_kind.get("ConfigMap", ())],
        "otherObjects": [
            {"kind": item["kind"], **_place(item)} for item in expansion.objects if item["kind"] not in known
        ],
        "nodeLabelsAfter": {node["name"]: _node(node, expansion) for node in inputs["nodes"]},
        "namespaceLabelsAfter": {"kubernetes.io/metadata.name": namespace, **expansion.namespace_labels},
        "detectedRuntime": expansion.runtime,
        "conditions": [
            {
                "kind": item.kind,
                "name": item.name,
                "state": item.state,
                "conditions": [dict(c) for c in item.conditions],
            }
            for item in expansion.conditions
        ],
        "reconcileErrors": _errors(expansion.errors),
    }


def differences(recorded, ours):
    """One line for each field that differs, with its path; none when both say the same."""
    lines = []
    _compare("", _comparable(recorded), _comparable(ours), lines)
    return lines


def created(recorded, inputs):
    """A recorded result without what the chart or the scenario had put there: the operator did not create it."""
    stood = {(item["kind"], item["metadata"]["name"]) for item in inputs["objects"]}
    result = dict(recorded)
    result["runtimeClasses"] = [
        item
        for item in recorded["runtimeClasses"]
        if item["labels"] is not None or ("RuntimeClass", item["name"]) not in stood
    ]
    result["configMaps"] = [item for item in recorded["configMaps"] if item["createdBy"] == "operator"]
    result["otherObjects"] = [item for item in recorded["otherObjects"] if (item["kind"], item["name"]) not in stood]
    return result


# -- the recorded form of objects


def _workload(item, expansion):
    metadata, spec = item["metadata"], item["spec"]
    template = {"metadata": metadata, "spec": spec} if item["kind"] == "Pod" else spec["template"]
    pod, pod_metadata = template["spec"], template.get("metadata", {})
    volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
    form = {
        "kind": item["kind"],
        **_place(item),
        "labels": metadata.get("labels"),
        "owner": _owner(metadata),
        "selector": spec.get("selector"),
        "updateStrategy": spec.get("updateStrategy") or spec.get("strategy"),
        "podLabels": pod_metadata.get("labels"),
        "podAnnotations": pod_metadata.get("annotations"),
        "serviceAccount": pod.get("serviceAccountName"),
        "runtimeClassName": pod.get("runtimeClassName"),
        "matchingNodes": sorted(name for name, labels in expansion.node_labels.items() if _lands_on(pod, name, labels)),
        "imagePullSecrets": [secret["name"] for secret in pod.get("imagePullSecrets", ())],
        "podSecurityContext": pod.get("securityContext"),
        "volumes": [_volume(volume) for volume in pod.get("volumes", ())],
    }
    form |= {key: bool(pod.get(key)) for key in ("hostIPC", "hostNetwork", "hostPID")}
    form |= {
        key: pod.get(key)
        for key in (
            "nodeSelector",
            "affinity",
            "tolerations",
            "priorityClassName",
            "automountServiceAccountToken",
            "shareProcessNamespace",
        )
    }
    for key in ("containers", "initContainers"):
        form[key] = [_container(container, volumes) for container in pod.get(key, ())]
    return form


def _container(container, volumes):
    form = {
        "name": container["name"],
        "mounts": [_mount(mount, volumes) for mount in container.get("volumeMounts", ())],
    }
    form |= {
        key: container[key]
        for key in ("image", "imagePullPolicy", "securityContext", "ports", "resources")
        if key in container
    }
    form |= {key: [_short(word) for word in container[key]] for key in ("args", "command") if key in container}
    form["probes"] = [probe.removesuffix("Probe") for probe in PROBES if container.get(probe)]
    form["hasLifecycle"] = True if container.get("lifecycle") else None
    form["env"] = [variable["name"] for variable in container.get("env", ())]
    form["envValues"] = {}
    for variable in container.get("env", ()):
        if "valueFrom" in variable:
            form["envValues"][variable["name"]] = {"valueFrom": variable["valueFrom"]}
        elif len(variable.get("value", "*" * (LONG_TEXT + 1))) <= LONG_TEXT:
            form["envValues"][variable["name"]] = variable["value"]
    return form


def _mount(mount, volumes):
    form = {"volume": mount["name"], "mountPath": mount["mountPath"], "readOnly": bool(mount.get("readOnly"))}
    if "hostPath" in volumes.get(mount["name"], ()):
        form["hostPath"] = volumes[mount["name"]]["hostPath"]["path"]
    if "mountPropagation" in mount:
        form["propagation"] = mount["mountPropagation"]
    if "subPath" in mount:
        form["subPath"] = mount["subPath"]
    return form


def _volume(volume):
    form = {"name": volume["name"]}
    if "hostPath" in volume:
        return {**form, "hostPath": volume["hostPath"]["path"], "type": volume["hostPath"].get("type") or ""}
    if "configMap" in volume:
        source = volume["configMap"]
        form |= {"configMap": source["name"], **{key: source[key] for key in ("defaultMode", "items") if key in source}}
        return form
    return {**form, **volume}


def _role(item):
    form = {"kind": item["kind"], **_place(item)}
    return form | {key: item[key] for key in ("rules", "roleRef", "subjects") if key in item}


def _runtime_class(item):
    form = {"name": item["metadata"]["name"], "handler": item["handler"], "labels": item["metadata"].get("labels")}
    return form | {key: item[key] for key in ("scheduling",) if key in item}


def _service(item):
    return {**_place(item), "annotations": item["metadata"].get("annotations"), "spec": item["spec"]}


def _config_map(item):
    keys = {**item.get("data", {}), **item.get("binaryData", {})}
    return {**_place(item), "keys": sorted(keys), "createdBy": "operator"}


def _node(node, expansion):
    before = node_labels(node)
    after = dict(expansion.node_labels.get(node["name"], before))
    return {
        "labels": after,
        "addedOrChanged": {key: value for key, value in after.items() if before.get(key) != value},
        "removed": sorted(set(before) - set(after)),
        "annotations": dict(expansion.node_annotations.get(node["name"], NODE_ANNOTATIONS)),
    }


def _errors(errors):
    form = {}
    for error in errors:
        subject, _, text = error.partition(": ")
        form[subject] = f"{form[subject]} | {text}" if subject in form else text
    return form


def _place(item):
    metadata = item["metadata"]
    return {key: metadata[key] for key in ("name", "namespace") if key in metadata}


def _owner(metadata):
    owners = (item for item in metadata.get("ownerReferences", ()) if item.get("controller"))
    return next((f"{item['kind']}/{item['name']}" for item in owners), None)


def _short(text):
    return text if len(text) <= LONG_TEXT else f"<script {len(text)} chars>"


# -- the nodes that a pod may land on


def _lands_on(pod, name, labels):
    selector = pod.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    return any(
        all(_holds(rule, labels) for rule in term.get("matchExpressions", ()))
        and all(_holds(rule, {"metadata.name": name}) for rule in term.get("matchFields", ()))
        for term in required["nodeSelectorTerms"]
        if term.get("matchExpressions") or term.get("matchFields")
    )


def _holds(rule, labels):
    value, values = labels.get(rule["key"]), rule.get("values", ())
    match rule["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(values[0])
        case "Lt":
            return value is not None and int(value) < int(values[0])
    raise ValueError(rule["operator"])


# -- two forms side by side


_KEYS = {
    "workloads": ("kind", "name"),
    "containers": ("name",),
    "initContainers": ("name",),
    "volumes": ("name",),
    "mounts": ("volume", "mountPath"),
    "rbac": ("kind", "name"),
    "serviceAccounts": ("name",),
    "runtimeClasses": ("name",),
    "services": ("name",),
    "configMaps": ("name",),
    "otherObjects": ("kind", "name"),
    "appliedCRs": ("kind", "name"),
}
_ORDERED = ("containers", "initContainers", "volumes", "mounts")


def _comparable(form):
    form = _bare(json.loads(json.dumps(form)))
    for role in form.get("rbac", []):
        if role["kind"] in CLUSTER_WIDE:
            role.pop("namespace", None)
        for rule in role.get("rules", []):
            for words in rule.values():
                words.sort()
        for key in ("rules", "subjects"):
            role.get(key, []).sort(key=_text)
    form["conditions"] = {
        f"{item['kind']}/{item['name']}": {
            "state": item["state"],
            **{condition["type"]: condition for condition in item.get("conditions", ())},
        }
        for item in form.get("conditions", ())
    }
    return form


def _bare(value):
    """Without nulls, empty maps and empty lists."""
    if isinstance(value, dict):
        kept = {key: _bare(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None and item not in ({}, [])}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _compare(path, recorded, ours, lines):
    if recorded == ours and type(recorded) is type(ours):
        return
    name = path.rpartition(".")[2]
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for key in sorted(recorded.keys() | ours.keys()):
            _compare(_below(path, key), recorded.get(key), ours.get(key), lines)
    elif name in _KEYS and isinstance(recorded or [], list) and isinstance(ours or [], list):
        _compare_lists(path, name, recorded or [], ours or [], lines)
    elif isinstance(recorded, dict) and ours is None:
        lines.extend(_only("recorded", path, recorded))
    elif isinstance(ours, dict) and recorded is None:
        lines.extend(_only("ours", path, ours))
    else:
        lines.append(f"{path}: recorded {_text(recorded)}, ours {_text(ours)}")


def _compare_lists(path, name, recorded, ours, lines):
    sides = [{"/".join(str(item[key]) for key in _KEYS[name]): item for item in items} for items in (recorded, ours)]
    for key in sorted(sides[0].keys() | sides[1].keys()):
        if key not in sides[1]:
            lines.append(f"{path}[{key}]: only recorded")
        elif key not in sides[0]:
            lines.append(f"{path}[{key}]: only ours")
        else:
            _compare(f"{path}[{key}]", sides[0][key], sides[1][key], lines)
    orders = [list(side) for side in sides]
    if name in _ORDERED and orders[0] != orders[1] and set(orders[0]) == set(orders[1]):
        lines.append(f"{path} order: recorded {_text(orders[0])}, ours {_text(orders[1])}")


def _only(side, path, mapping):
    return [f"{_below(path, key)}: only {side} {_text(value)}" for key, value in sorted(mapping.items())]


def _below(path, key):
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _text(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
