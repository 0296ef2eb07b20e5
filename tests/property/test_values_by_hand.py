"""Values of any shape are judged by any release, and each finding stands where there is a line."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from poolsmith.gpu.catalog.chart_contents import image_components
from poolsmith.gpu.catalog.container_toolkit import known_variables
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_values
from support.circles import DEEP

TAGS = value_paths().tags
WORDS = (
    *("true", "false", "", "1", "latest", "580", "580.126.20", "550.163.01", "v1.17.0", "v1.18.0", "sha256:0", "auto"),
    *("open", "envvar", "volume-mounts", "cdi-cri,envvar", "file", "file=/a", "nvidia", "nvidia-cdi", "vendor", "0300"),
    *(
        "/run/k3s/containerd/containerd.sock",
        "/etc/containerd/config.toml",
        "unix:///run/a.sock",
        "registry.example.com/a",
    ),
    *(
        "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl",
        "/run/k0s/containerd.sock",
        "http://a:b@c",
        "Exists",
    ),
)
PATHS = sorted(
    {
        *(
            "driver.enabled",
            "driver.usePrecompiled",
            "driver.version",
            "driver.kernelModuleType",
            "driver.rdma.enabled",
        ),
        *("driver.useOpenKernelModules", "driver.rdma.useHostMofed", "driver.nvidiaDriverCRD.enabled", "driver.env"),
        *("driver.upgradePolicy.autoUpgrade", "driver.upgradePolicy.maxParallelUpgrades", "driver.upgradePolicy"),
        *("driver.upgradePolicy.drain.enable", "driver.upgradePolicy.gpuPodDeletion.force", "gds.enabled"),
        *("gdrcopy.enabled", "cdi.enabled", "cdi.nriPluginEnabled", "operator.runtimeClass", "toolkit.enabled"),
        *("toolkit.env", "devicePlugin.env", "daemonsets.tolerations", "extraObjects", "nfd.enabled", "x-anchors"),
        "node-feature-discovery.worker.config.sources.pci.deviceLabelFields",
        "node-feature-discovery.worker.config.sources.pci.deviceClassWhitelist",
        "node-feature-discovery.image.tag",
        *(f"{name}.{key}" for name in image_components("v26.7.0") for key in ("repository", "image", "version")),
    }
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-1, 600), st.sampled_from(WORDS), st.text(max_size=8))
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.one_of(st.sampled_from(sorted((*known_variables(), "DEVICE_LIST_STRATEGY", "A_TOKEN"))), SCALARS),
        "value": SCALARS,
        "operator": SCALARS,
        "key": SCALARS,
        "kind": st.sampled_from(("Secret", "Pod")),
        "stringData": st.dictionaries(st.sampled_from(("a", "b")), SCALARS, max_size=1),
        "spec": st.fixed_dictionaries({"runtimeClassName": SCALARS}),
    },
)
ANY = st.one_of(SCALARS, st.lists(st.one_of(SCALARS, ENTRIES), max_size=5), ENTRIES)


@st.composite
def written(draw):
    values = {}
    for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=12)):
        *above, last = path.split(".")
        node = values
        for key in above:
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                break
        else:
            node[last] = draw(ANY)
    return values


def stands_at(values, path):
    node = values
    for step in path:
        if (isinstance(node, list) and isinstance(step, int) and step < len(node)) or (
            isinstance(node, dict) and step in node
        ):
            node = node[step]
        else:
            return False
    return True


@settings(max_examples=3000 if DEEP else 120, deadline=None)
@given(values=written(), tag=st.sampled_from(TAGS), partial=st.booleans())
def test_values_of_any_shape_are_judged_and_each_finding_has_its_line(values, tag, partial):
    judged = judge_values(values, value_paths().release(tag), partial=partial)

    assert [item for item in judged.findings if not stands_at(values, item.finding.place)] == []
    assert judged == judge_values(values, value_paths().release(tag), partial=partial)
