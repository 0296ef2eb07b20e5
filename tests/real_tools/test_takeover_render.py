"""What `init --from` keeps of somebody's values is what the real helm makes of them: every field of the render.

Where a value of ours differs, a line of the proposal names it. The owner's values with these alone in place of their
own have to render as ours do. POOLSMITH_CHARTS names a folder with the charts, `<tag>/gpu-operator`.
"""

from __future__ import annotations

import copy
import subprocess

import pytest
import yaml

from poolsmith.change.takeover.node_answers import TakeoverAnswers
from poolsmith.change.takeover.take_over import take_over
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.project.run.surroundings import look_around
from support.chart_objects import comparable, delta

OWNERS = {
    "k3s at home, with a discovery of its own": (
        "v24.9.2",
        """
        operator: {defaultRuntime: containerd, upgradeCRD: true, resources: {limits: {memory: 350M}}}
        dcgmExporter: {enabled: true, serviceMonitor: {enabled: true, honorLabels: true}}
        driver: {enabled: false}
        nfd: {enabled: false}
        toolkit:
          enabled: true
          env:
            - {name: CONTAINERD_CONFIG, value: /var/lib/rancher/k3s/agent/etc/containerd/config.toml}
            - {name: CONTAINERD_SOCKET, value: /run/k3s/containerd/containerd.sock}
            - {name: CONTAINERD_RUNTIME_CLASS, value: nvidia}
        validator: {plugin: {env: [{name: WITH_WORKLOAD, value: "false"}]}}
        """,
    ),
    "Talos, sharing by time": (
        "v26.7.0",
        """
        driver: {enabled: false}
        toolkit: {enabled: false}
        hostPaths: {driverInstallDir: /usr/local}
        gfd: {resources: {requests: {cpu: 3m, memory: 128Mi}}}
        devicePlugin:
          config:
            name: slices
            create: true
            default: default
            data:
              default: |-
                version: v1
                sharing:
                  timeSlicing:
                    resources: [{name: nvidia.com/gpu, replicas: 10}]
        """,
    ),
    "a cloud, with metrics of its own": (
        "v25.10.1",
        """
        driver: {enabled: false}
        toolkit: {enabled: false}
        devicePlugin: {enabled: false}
        dcgmExporter:
          config:
            name: metrics
            create: true
            data: |-
              DCGM_FI_DEV_GPU_UTIL, gauge, GPU utilization (%).
              DCGM_FI_DEV_XID_ERRORS, gauge, Last XID error value.
        """,
    ),
    "partitions, and layouts for them": (
        "v25.3.4",
        """
        driver: {version: 570.195.03}
        mig: {strategy: mixed}
        migManager:
          config:
            create: true
            name: layouts
            default: all-disabled
            data:
              config.yaml: |
                version: v1
                mig-configs:
                  all-disabled: [{devices: all, mig-enabled: false}]
                  halves: [{devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2}}]
        daemonsets:
          tolerations:
            - {key: purpose, operator: Equal, value: gpu, effect: NoSchedule}
            - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
        """,
    ),
    "images of a mirror": (
        "v26.3.3",
        """
        validator: {repository: mirror.example.com/nvidia}
        operator: {repository: mirror.example.com/nvidia, cleanupCRD: true}
        driver: {repository: mirror.example.com/nvidia, manager: {repository: mirror.example.com/nvidia}}
        toolkit: {repository: mirror.example.com/nvidia}
        devicePlugin: {repository: mirror.example.com/nvidia}
        dcgmExporter: {repository: mirror.example.com/nvidia}
        gfd: {repository: mirror.example.com/nvidia}
        migManager: {repository: mirror.example.com/nvidia}
        node-feature-discovery:
          image: {repository: mirror.example.com/nfd/node-feature-discovery}
          worker: {tolerations: [{key: purpose, operator: Equal, value: gpu, effect: NoSchedule}]}
        """,
    ),
    "drivers by objects": (
        "v25.3.4",
        """
        driver: {enabled: true, nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}
        dcgmExporter: {enabled: false}
        operator: {defaultRuntime: containerd}
        node-feature-discovery: {worker: {tolerations: [{key: purpose, operator: Exists}]}}
        """,
    ),
}


def put(values, path, value):
    """The values with another one, or none, at a dotted path."""
    steps = path.split(".")
    for step in steps[:-1]:
        if not isinstance(values.get(step), dict):
            values[step] = {}
        values = values[step]
    if value is MISSING:
        values.pop(steps[-1], None)
    else:
        values[steps[-1]] = copy.deepcopy(value)


@pytest.mark.tool("helm")
@pytest.mark.real("the chart is rendered with two sets of values for each owner")
@pytest.mark.parametrize("owner", OWNERS)
def test_the_render_is_the_owners_but_for_what_is_told(checkouts, tmp_path, owner):
    release, text = OWNERS[owner]
    chart = checkouts("POOLSMITH_CHARTS") / release / "gpu-operator"
    file = tmp_path / "values.yaml"
    values = yaml.safe_load(text)
    file.write_text(yaml.safe_dump(values))
    (item,) = take_over(tmp_path, file, TakeoverAnswers(release=release), look_around(tmp_path), None, "x")
    assert not item.refused, item.lines
    ours = values_tree(item.settled.plan.values)
    told = [line.split()[1].rstrip(":") for line in item.lines if line.startswith("differs")]

    def rendered(some):
        file.write_text(yaml.safe_dump(some))
        command = ["helm", "template", "gpu-operator", str(chart), "-n", "gpu-operator", "-f", str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return comparable((found for found in yaml.safe_load_all(run.stdout) if found), "gpu-operator")

    for path in told:
        put(values, path, value_at(ours, path.split("."), MISSING))
    assert delta(rendered(values), rendered(ours)) == []
