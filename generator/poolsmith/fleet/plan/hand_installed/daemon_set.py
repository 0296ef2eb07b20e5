"""The device plugin as the DaemonSet that people apply by hand: one host folder, and no more privileges than that."""

from __future__ import annotations

from typing import Any

_SOCKETS = "/var/lib/kubelet/device-plugins"
"""Where the plugin looks in its own container, wherever the kubelet of the host keeps its files."""


def plain_daemon_set(
    *,
    image: str,
    namespace: str,
    folder: str,
    affinity: dict[str, Any],
    tolerations: list[dict[str, Any]],
    secrets: list[str],
    runtime_class: str | None,
) -> dict[str, Any]:
    """It reads no configuration: what shares or partitions needs the chart."""
    selected = {"name": "nvidia-device-plugin-ds"}  # as in the manifest that people applied by hand: it is immutable
    labels = {"app.kubernetes.io/name": "nvidia-device-plugin", **selected}
    pod: dict[str, Any] = {
        "priorityClassName": "system-node-critical",
        "affinity": affinity,
        "tolerations": tolerations,
        "containers": [
            {
                "name": "nvidia-device-plugin-ctr",
                "image": image,
                "env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": "device-plugin", "mountPath": _SOCKETS}],
            }
        ],
        "volumes": [{"name": "device-plugin", "hostPath": {"path": folder}}],
    }
    if runtime_class is not None:
        pod["runtimeClassName"] = runtime_class
    if secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in secrets]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": selected},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
