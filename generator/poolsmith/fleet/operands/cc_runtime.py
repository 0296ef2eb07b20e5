"""What the Confidential Containers operator makes of a CcRuntime: DaemonSets that change nodes, and RuntimeClasses.

Source: confidential-containers/operator@v0.7.0:controllers/{ccruntime_controller,common}.go (processDaemonset,
makeHookDaemonset, setRuntimeClass, Reconcile). All pods run under the operator's own account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pointer import copied
from poolsmith.fleet.operands.chart.chart_objects import ChartWorkloads, ReleasePlace, render
from poolsmith.gpu.catalog.chart_workloads import COCO_OPERATOR, chart_versions, read_chart_workloads

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.plan import GitSource

KIND = "CcRuntime"
_TAGS = "refs/tags/"
_ACCOUNT = "cc-operator-controller-manager"
_WORKERS = {"node.kubernetes.io/worker": ""}
_CLASSES = ["kata-clh", "kata-qemu", "kata"]
_SCRIPTS = "/opt/confidential-containers-pre-install-artifacts/scripts"


@record(kw_only=False)
class CcObjects:
    """`lasting` stand beside a CcRuntime; `on_deletion` come once it is deleted, and go with it."""

    lasting: tuple[KubernetesObject, ...]
    on_deletion: tuple[KubernetesObject, ...]


def brought_objects(source: GitSource, namespace: str) -> ChartWorkloads | None:
    """What the operator's own kustomization brings; None for another repository, folder or version."""
    version = source.revision.removeprefix(_TAGS)
    repository = source.repository.removesuffix(".git").rstrip("/")
    known = version in chart_versions(COCO_OPERATOR) and source.path.strip("/") == "config/release"
    if not known or not repository.endswith(f"/{COCO_OPERATOR}"):
        return None
    entry = read_chart_workloads(COCO_OPERATOR, version)
    assert entry is not None, "asked before"
    return render(entry, {}, ReleasePlace(helm_release="cc-operator", namespace=namespace, name="cc-operator"))


def made_of(runtime: KubernetesObject, namespace: str) -> CcObjects:
    """Of one CcRuntime, by an operator that lives in `namespace`."""
    spec = runtime["spec"]
    owners = [_owner(runtime)]
    install = _installer(spec, namespace, "install", spec["config"].get("installCmd"))
    install["spec"]["template"]["spec"]["containers"][0]["lifecycle"] = {
        "preStop": {"exec": {"command": copied(spec["config"].get("cleanupCmd", []))}}
    }
    uninstall = _installer(spec, namespace, "uninstall", spec["config"].get("uninstallCmd"))
    for item in (install, uninstall):
        item["metadata"]["ownerReferences"] = owners
    hooks = {
        name: _hook(spec, namespace, name, spec["config"][key])
        for name, key in (("pre-install", "preInstall"), ("post-uninstall", "postUninstall"))
        if spec["config"].get(key, {}).get("image")
    }
    return CcObjects(
        (install, uninstall, *(item for name, item in hooks.items() if name == "pre-install"), *_classes(spec, owners)),
        tuple(item for name, item in hooks.items() if name == "post-uninstall"),
    )


def _owner(runtime: KubernetesObject) -> dict[str, Any]:
    return {
        "apiVersion": runtime["apiVersion"],
        "kind": runtime["kind"],
        "name": runtime["metadata"]["name"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _nodes(spec: dict[str, Any]) -> dict[str, str]:
    """Labels of the nodes that get Kata; expressions are not looked at."""
    selector = spec.get("ccNodeSelector")
    return dict(_WORKERS if selector is None else selector.get("matchLabels") or {})


def _installer(spec: dict[str, Any], namespace: str, operation: str, command: list[str] | None) -> KubernetesObject:
    config = spec["config"]
    selector = _nodes(spec) if operation == "install" else dict(config.get("uninstallDoneLabel") or {})
    container = {
        "name": "cc-runtime-install-pod",
        "image": config["payloadImage"],
        "command": copied(command or []),
        "env": copied(config.get("environmentVariables") or []),
        "volumeMounts": copied(config.get("installerVolumeMounts") or []),
    }
    return _daemon_set(
        f"cc-operator-daemon-{operation}", namespace, selector, container, config.get("installerVolumes")
    )


def _hook(spec: dict[str, Any], namespace: str, operation: str, hook: dict[str, Any]) -> KubernetesObject:
    node = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    container = {
        "name": f"cc-runtime-{operation}-pod",
        "image": hook["image"],
        "command": ["/bin/sh", "-c", f"{_SCRIPTS}/{operation}.sh"],
        "env": [node, *copied(hook.get("environmentVariables") or [])],
        "volumeMounts": copied(hook.get("volumeMounts") or []),
    }
    return _daemon_set(f"cc-operator-{operation}-daemon", namespace, _nodes(spec), container, hook.get("volumes"))


def _daemon_set(
    name: str, namespace: str, selector: dict[str, str], container: dict[str, Any], volumes: list[Any] | None
) -> KubernetesObject:
    own = {**container, "imagePullPolicy": "Always", "securityContext": {"privileged": True, "runAsUser": 0}}
    pod: dict[str, Any] = {"serviceAccountName": _ACCOUNT, "nodeSelector": selector, "containers": [own]}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": {"name": name}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            "template": {
                "metadata": {"labels": {"name": name}},
                "spec": {**pod, "volumes": copied(volumes or [])},
            },
        },
    }


def _classes(spec: dict[str, Any], owners: list[dict[str, Any]]) -> tuple[KubernetesObject, ...]:
    selector = spec.get("ccNodeSelector")
    scheduling = {} if selector is None else {"scheduling": {"nodeSelector": _nodes(spec)}}
    names = spec["config"].get("runtimeClassNames")
    return tuple(
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": name, "ownerReferences": owners},
            "handler": name,
            **scheduling,
        }
        for name in (_CLASSES if names is None else names)
    )
