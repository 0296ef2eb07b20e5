"""The CcRuntime that makes the Confidential Containers operator install Kata."""

from __future__ import annotations

from typing import Any


def cc_runtime(facts: dict[str, Any], node_labels: dict[str, str]) -> dict[str, Any]:
    """A CcRuntime for nodes that carry `node_labels`, from the catalog's facts about the release.

    The RuntimeClasses that it names are made by the CoCo operator; nothing here makes them a second time.
    """
    hook = {
        "image": f"{facts['helperImage']}:{facts['helperTag']}",
        "volumeMounts": _mounts(facts["hookVolumes"]),
        "volumes": _volumes(facts["hookVolumes"]),
    }
    scripts = facts["scripts"]
    return {
        "apiVersion": "confidentialcontainers.org/v1beta1",
        "kind": "CcRuntime",
        "metadata": {"name": "ccruntime"},
        "spec": {
            "runtimeName": facts["runtimeName"],
            "ccNodeSelector": {"matchLabels": node_labels},
            "config": {
                "installType": "bundle",
                "payloadImage": f"{facts['payloadImage']}:{facts['payloadTag']}",
                "installDoneLabel": {"katacontainers.io/kata-runtime": "true"},
                "uninstallDoneLabel": {"katacontainers.io/kata-runtime": "cleanup"},
                "installerVolumeMounts": _mounts(facts["installerVolumes"]),
                "installerVolumes": _volumes(facts["installerVolumes"]),
                "installCmd": [scripts, "install"],
                "uninstallCmd": [scripts, "cleanup"],
                "cleanupCmd": [scripts, "reset"],
                "runtimeClassNames": list(facts["runtimeClassNames"]),
                "postUninstall": hook,
                "preInstall": hook,
                "environmentVariables": [
                    {
                        "name": "NODE_NAME",
                        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
                    },
                    {"name": "CONFIGURE_CC", "value": "yes"},
                ],
            },
        },
    }


def _mounts(volumes: dict[str, list[str]]) -> list[dict[str, str]]:
    return [{"name": name, "mountPath": path} for name, (path, _) in volumes.items()]


def _volumes(volumes: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"name": name, "hostPath": {"path": path, "type": kind}} for name, (path, kind) in volumes.items()]
