"""Documents as long as a device plugin's DaemonSet, no two alike, and the schemas for kubeconform to read them with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nvidia-device-plugin-NUMBER
  namespace: gpu-operator
  labels:
    app: nvidia-device-plugin-NUMBER
    app.kubernetes.io/part-of: nvidia-gpu
spec:
  selector:
    matchLabels:
      app: nvidia-device-plugin-NUMBER
  updateStrategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 1}
  template:
    metadata:
      labels:
        app: nvidia-device-plugin-NUMBER
    spec:
      priorityClassName: system-node-critical
      serviceAccountName: nvidia-device-plugin
      nodeSelector:
        nvidia.com/gpu.deploy.device-plugin: "true"
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
      initContainers:
"""
_CONTAINER = """\
        - name: NAME
          image: nvcr.io/nvidia/k8s-device-plugin:v0.17.NUMBER
          imagePullPolicy: IfNotPresent
          command: ["sh", "-c"]
          args: ["until [ -f /run/nvidia/validations/toolkit-ready ]; do echo waiting; sleep 5; done"]
          env:
            - name: NODE_NAME
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
            - name: FAIL_ON_INIT_ERROR
              value: "true"
            - name: DEVICE_LIST_STRATEGY
              value: envvar,cdi-annotations
          resources:
            limits: {cpu: 500m, memory: 1Gi}
            requests: {cpu: 100m, memory: 256Mi}
          securityContext:
            privileged: true
            seLinuxOptions: {level: s0}
          volumeMounts:
            - name: run-nvidia
              mountPath: /run/nvidia
              mountPropagation: HostToContainer
            - name: device-plugin
              mountPath: /var/lib/kubelet/device-plugins
"""
_TAIL = """\
      volumes:
        - name: run-nvidia
          hostPath:
            path: /run/nvidia
            type: DirectoryOrCreate
        - name: device-plugin
          hostPath:
            path: /var/lib/kubelet/device-plugins
"""


def write_daemon_sets(folder: Path, count: int) -> None:
    """One file each."""
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"daemon-set-{number:05}.yaml").write_text(daemon_set(number))


def daemon_set(number: int) -> str:
    first = _CONTAINER.replace("NAME", "toolkit-validation") + _CONTAINER.replace("NAME", "config-manager-init")
    others = "      containers:\n" + _CONTAINER.replace("NAME", "nvidia-device-plugin")
    return (_HEAD + first + others + _TAIL).replace("NUMBER", str(number))


def write_schemas(folder: Path, minor: str) -> str:
    """Our schema of DaemonSet in a folder of its own; what kubeconform takes as its location."""
    from poolsmith.guard.rules.schema.kubeconform import LAYOUT
    from poolsmith.kubernetes.schema.export import json_schema
    from poolsmith.kubernetes.schema.schemas import Versions, schemas_for

    schema = schemas_for(Versions(kubernetes=minor)).find("apps/v1", "DaemonSet")
    (folder / "apps").mkdir(parents=True)
    (folder / "apps" / "daemonset_v1.json").write_text(json.dumps(json_schema(schema)))
    return f"{folder}/{LAYOUT}"
