"""A release's entries for GPUCluster and NVIDIADriver, from objects that the operator's own tests render or expect.

Facts only, in a compact form. What the tests' resources put there (names, namespace, images, resources, tolerations,
digests, further variables) is removed. For a GPUCluster, what is rendered in one case and not in another is kept with
the field that makes it appear.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts.versions import covers
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.operands import DRIVER_DIGEST
from poolsmith.gpu.catalog.releases import behaviour_of
from poolsmith.gpu.importing.object_entry import (
    compact_object,
    compact_or_refuse,
    documents_of,
    hold_all,
    joined,
    operand_entry,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


_DEVICE_CLASS = pattern(
    r"device\.driver == '(?P<driver>[^']+)' && device\.attributes\['(?P=driver)'\]\.type == '(?P<type>\w+)'"
    r"(?: && device\.attributes\['(?P=driver)'\]\.id == (?P<id>\d+))?"
)
_USER = pattern(r'request\.userInfo\.username == "system:serviceaccount:(?P<namespace>[^:]+):(?P<name>[^"]+)"')
_WORKLOADS = ("DaemonSet", "Deployment")
_MATCHED = ("apiGroups", "apiVersions", "operations", "resources")


def gpu_cluster_entry(
    *, release: str, source: str, files: Mapping[str, bytes], overlay: Mapping[str, Any]
) -> dict[str, Any]:
    """The entry of one release. `files` maps the names that the overlay uses to texts.

    Raises PoolsmithError for a rendered object that has no compact form, and for a file that is not there.
    """
    missing = [name for name in cases(overlay, release) if name not in files]
    if missing:
        raise PoolsmithError(f"there is no {missing[0]}")
    sample = overlay["sample"]
    states = []
    for state in _states(overlay, release):
        base = _objects(state["base"], files, sample)
        for key, condition in state.get("only", {}).items():
            if key not in base:
                raise PoolsmithError(
                    f"{state['base']}: {key} is not there, which the overlay makes depend on {condition}"
                )
            base[key]["when"] = condition
        for condition, name in state.get("with", {}).items():
            _add_variant(base, _objects(name, files, sample), condition)
        states.append({"name": state["name"], "objects": list(base.values())})
    behaviour = behaviour_of(overlay["behaviour"], release)
    return {"release": release, "source": source, "behaviour": behaviour, "states": states}


def cases(overlay: Mapping[str, Any], release: str) -> tuple[str, ...]:
    """The rendered files that the entry of a release is made from; none where no state covers it."""
    return tuple(
        name for state in _states(overlay, release) for name in (state["base"], *state.get("with", {}).values())
    )


def _states(overlay: Mapping[str, Any], release: str) -> list[dict[str, Any]]:
    return [state for state in overlay["states"] if covers(state, release)]


def _objects(name: str, files: Mapping[str, bytes], sample: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Compact forms by `<kind>/<name>`, in the order rendered."""
    compact = partial(_compact, sample=sample)
    objects = [compact_or_refuse(name, document, compact) for document in documents_of(name, files[name])]
    return {f"{item['kind']}/{item['name']}": item for item in objects}


def _compact(document: dict[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    kind = document["kind"]
    if kind in _OWN_KINDS:
        return {"kind": kind, "name": document["metadata"]["name"], **_OWN_KINDS[kind](document)}
    if kind in _WORKLOADS:
        document = _without_sample(document, sample)
    for subject in document.get("subjects", ()):
        if subject.get("namespace") == sample["namespace"]:
            del subject["namespace"]
    if kind != "Deployment":
        return compact_object(document)
    spec = dict(document["spec"])
    replicas = spec.pop("replicas")
    return compact_object({**document, "kind": "DaemonSet", "spec": spec}) | {"kind": kind, "replicas": replicas}


def _without_sample(document: dict[str, Any], sample: Mapping[str, Any]) -> dict[str, Any]:
    """A workload as it would be rendered for a resource that says nothing."""
    pod = document["spec"]["template"]["spec"]
    kept = [item for item in pod.pop("tolerations", ()) if item.get("key") != sample["toleration"]]
    if kept:
        pod["tolerations"] = kept
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        for key in ("image", "imagePullPolicy"):
            container.pop(key, None)
        claims = container.pop("resources", {}).get("claims")
        if claims:
            container["resources"] = {"claims": claims}
        if "env" in container:
            container["env"] = [
                {"name": variable["name"], "value": "FILLED_BY_OPERATOR"}
                if variable["name"] in sample["filled"]
                else variable
                for variable in container["env"]
                if variable["name"] not in sample["variables"]
            ]
    return document


def _add_variant(base: dict[str, dict[str, Any]], variant: dict[str, dict[str, Any]], condition: str) -> None:
    """Note in `base` what a variant has besides it."""
    for key, item in variant.items():
        if key not in base:
            base[key] = item | {"when": condition}
        elif item["kind"] in _WORKLOADS:
            more = _more(base[key], item)
            if more:
                base[key].setdefault("with", {})[condition] = more


def _more(base: dict[str, Any], variant: dict[str, Any]) -> dict[str, Any]:
    """Containers, mounts of containers and volumes that only the variant has."""
    known = {container["name"]: container for container in base["containers"]}
    mounts = {
        container["name"]: added
        for container in variant["containers"]
        if container["name"] in known
        and (added := [text for text in container["mounts"] if text not in known[container["name"]]["mounts"]])
    }
    parts = {
        "containers": [container for container in variant["containers"] if container["name"] not in known],
        "mounts": mounts,
        "volumes": {name: volume for name, volume in variant["volumes"].items() if name not in base["volumes"]},
    }
    return {key: part for key, part in parts.items() if part}


def _device_class(document: dict[str, Any]) -> dict[str, Any]:
    """Its one rule names a driver, the type of its devices and at most one of them by number."""
    hold_all(document["spec"], {"selectors"})
    (selector,) = document["spec"]["selectors"]
    found = _DEVICE_CLASS.fullmatch(selector["cel"]["expression"])
    if found is None:
        raise PoolsmithError(f"the selector of DeviceClass {document['metadata']['name']} has no compact form")
    return {key: value for key, value in found.groupdict().items() if value is not None}


def _claim_template(document: dict[str, Any]) -> dict[str, Any]:
    hold_all(document["spec"], {"spec"})
    devices = document["spec"]["spec"]["devices"]
    hold_all(devices, {"requests"})
    for request in devices["requests"]:
        hold_all(request, {"name", "exactly"})
    return {"requests": {request["name"]: request["exactly"] for request in devices["requests"]}}


def _admission_policy(document: dict[str, Any]) -> dict[str, Any]:
    """Whom it restricts and on what, with its expressions: an object without them would be another one."""
    spec = document["spec"]
    hold_all(spec, {"failurePolicy", "matchConditions", "matchConstraints", "variables", "validations"})
    hold_all(spec["matchConstraints"], {"resourceRules"})
    for rule in spec["matchConstraints"]["resourceRules"]:
        hold_all(rule, set(_MATCHED))
    (condition,) = spec["matchConditions"]
    user = _USER.fullmatch(condition["expression"])
    if user is None:
        raise PoolsmithError(f"the condition of {document['metadata']['name']} has no compact form")
    return {
        "failurePolicy": spec["failurePolicy"],
        "rules": [[joined(",", rule[key]) for key in _MATCHED] for rule in spec["matchConstraints"]["resourceRules"]],
        "condition": condition["name"],
        "serviceAccount": user["name"],
        "variables": {item["name"]: item["expression"] for item in spec["variables"]},
        "validations": [dict(item) for item in spec["validations"]],
    }


def _admission_binding(document: dict[str, Any]) -> dict[str, Any]:
    hold_all(document["spec"], {"policyName", "validationActions"})
    return {"policy": document["spec"]["policyName"], "actions": document["spec"]["validationActions"]}


_OWN_KINDS = {
    "DeviceClass": _device_class,
    "ResourceClaimTemplate": _claim_template,
    "ValidatingAdmissionPolicy": _admission_policy,
    "ValidatingAdmissionPolicyBinding": _admission_binding,
}


MODULES = {"rdma": "nvidia-peermem-ctr", "gds": "nvidia-fs-ctr", "gdrcopy": "nvidia-gdrcopy-ctr"}
"""Files that show a container beside the driver, by what switches it on."""
_DRIVERS = {"driver": "minimal", "vgpu-host-manager": "vgpu-host-manager"}
CASES = (*_DRIVERS.values(), *MODULES)
"""The test cases that an entry is made from."""
_COMPONENT = "app.kubernetes.io/component"
_READ = ("labels", "updateStrategy", "podAnnotations")
_OF_THE_TEST = ("image", "resources")
_POD_OF_THE_TEST = ("serviceAccountName", "imagePullSecrets")


def nvidia_driver_entry(
    *, release: str, source: str, files: Mapping[str, bytes], overlay: Mapping[str, Any]
) -> dict[str, Any]:
    """The entry of one release.

    `files` maps the names of the test cases (`minimal`, `vgpu-host-manager`, `rdma`, `gds`, `gdrcopy`) to the objects
    expected there; `overlay` holds how the release behaves. Raises PoolsmithError.
    """
    missing = [case for case in CASES if case not in files]
    if missing:
        raise PoolsmithError(f"there is no driver-{missing[0]}.yaml")
    compact = operand_entry(
        release=release,
        source=source,
        files={f"{case}/driver-{case}.yaml": files[case] for case in CASES},
        overlay={"states": [{"name": case, "enabled": []} for case in CASES], "behaviour": overlay["behaviour"]},
    )
    objects = {state["name"]: state["objects"] for state in compact["states"]}
    modules = [_container(objects[case], container) for case, container in MODULES.items()]
    minimal = objects[_DRIVERS["driver"]]
    return {
        "release": release,
        "source": source,
        "behaviour": compact["behaviour"],
        "rules": {kind: _only(minimal, kind)["rules"] for kind in ("Role", "ClusterRole")},
        "configMaps": {item["name"]: item["keys"] for item in minimal if item["kind"] == "ConfigMap"},
        "daemonSets": {name: _daemon_set(case, objects[case], modules) for name, case in _DRIVERS.items()},
    }


def _daemon_set(case: str, objects: list[dict[str, Any]], modules: list[dict[str, Any]]) -> dict[str, Any]:
    """A driver with every container that may run beside it."""
    found = _only(objects, "DaemonSet")
    lacking = [key for key in _READ if key not in found]
    if lacking or _COMPONENT not in found["labels"]:
        raise PoolsmithError(f"driver-{case}.yaml: the DaemonSet has no {lacking[0] if lacking else _COMPONENT}")
    pod = {key: value for key, value in found["pod"].items() if key not in _POD_OF_THE_TEST}
    return {
        "component": found["labels"][_COMPONENT],
        "updateStrategy": found["updateStrategy"],
        "podAnnotations": found["podAnnotations"],
        "pod": pod,
        "init": [_bare(item) for item in found["init"]],
        "containers": [*(_bare(item) for item in found["containers"]), *modules],
        "volumes": found["volumes"],
    }


def _container(objects: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """A container beside the driver, without the files that the tests mount into it and the driver alike."""
    found = _only(objects, "DaemonSet")
    container = next((item for item in found["containers"] if item["name"] == name), None)
    if container is None:
        raise PoolsmithError(f"no container {name} is expected where it is switched on")
    bare = _bare(container)
    return {**bare, "mounts": [mount for mount in bare.get("mounts", ()) if not mount.startswith("test-")]}


def _bare(container: dict[str, Any]) -> dict[str, Any]:
    bare = {key: value for key, value in container.items() if key not in _OF_THE_TEST}
    if "env" in bare:
        bare["env"] = [words for words in bare["env"] if words[0] != DRIVER_DIGEST]
    return bare


def _only(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found = [item for item in objects if item["kind"] == kind]
    if len(found) != 1:
        raise PoolsmithError(f"{len(found)} objects of kind {kind} are expected, one has to be")
    return found[0]
