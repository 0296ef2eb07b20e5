"""GPUs that are to be shared or partitioned: the mistakes of practice, what poolsmith says, and the files corrected."""

from __future__ import annotations

import textwrap

import pytest

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  interval: 1h
  chart: {spec: {chart: gpu-operator, version: v26.3.3, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values:
    driver: {version: 580.126.20, upgradePolicy: {autoUpgrade: false}, kernelModuleType: open}
"""
A30, A100, MAX_Q = (
    "NVIDIA-A30",
    "NVIDIA-A100-SXM4-40GB",
    "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition",
)


def release(values=""):
    return RELEASE + textwrap.indent(values, "    ")


def nodes(product=A30, **labels):
    text = "".join(f"    nvidia.com/{key.replace('_', '.', 1).replace('_', '-')}: {labels[key]}\n" for key in labels)
    return (
        '- name: gpu-1\n  labels:\n    feature.node.kubernetes.io/pci-10de.present: "true"\n'
        f"    nvidia.com/gpu.product: {product}\n{text}  runtime: containerd://2.1.1\n"
    )


def sharing(text, extra="", default="any"):
    body = textwrap.indent(text, "      ")
    return f"devicePlugin:\n  config:\n    name: sharing\n    create: true\n    default: {default}\n    data:\n{body}{extra}"


def any_of(resources, more=""):
    return f"any: |\n  version: v1\n{more}  sharing:\n    timeSlicing:\n      resources: [{resources}]\n"


def layouts(text, namespace="gpu-operator", key="config.yaml"):
    return (
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: mig-layouts, namespace: {namespace}}}\n"
        f"data:\n  {key}: |\n    version: v1\n    mig-configs:\n" + textwrap.indent(text, "      ")
    )


OWN = "migManager: {config: {name: mig-layouts}}\nmig: {strategy: mixed}\n"
HALF = (
    "half:\n  - {devices: [0], mig-enabled: false}\n  - {devices: [1], mig-enabled: true, mig-devices: {1g.6gb: 4}}\n"
)
FOUR = "{name: nvidia.com/gpu, replicas: 4}"
SIZES = "mixed:\n  - {devices: all, mig-enabled: true, mig-devices: {1g.6gb: 2, 2g.12gb: 1}}\n"

# what went wrong: the wrong files, the rule, words of the finding or its help, the right files
MISTAKES = {
    "the node asks for a key that the map does not have (NVIDIA/gpu-operator issue 412)": (
        (release(sharing(any_of(FOUR))), nodes(**{"device-plugin.config": "a30"})),
        "node-label-values",
        "`any`",
        (release(sharing(any_of(FOUR))), nodes(**{"device-plugin.config": "any"})),
    ),
    "the default is not in the map (NVIDIA/gpu-operator issue 412)": (
        (release(sharing(any_of(FOUR), default="deflt")), nodes()),
        "device-plugin-config",
        "`any`",
        (release(sharing(any_of(FOUR))), nodes()),
    ),
    "renameByDefault below flags (NVIDIA/k8s-device-plugin issue 1433)": (
        (release(sharing(any_of(FOUR, "  flags: {renameByDefault: true}\n"))), nodes()),
        "misplaced-sharing",
        "sharing.timeSlicing",
        (release(sharing(any_of(FOUR).replace("resources", "renameByDefault: true\n      resources"))), nodes()),
    ),
    "one replica, to switch sharing off (NVIDIA/k8s-device-plugin issue 1022)": (
        (release(sharing(any_of("{name: nvidia.com/gpu, replicas: 1}"))), nodes()),
        "device-plugin-config",
        "or remove the resource",
        (release(sharing("any: |\n  version: v1\n")), nodes()),
    ),
    "layouts in another namespace (NVIDIA/gpu-operator issue 281)": (
        (release(OWN) + layouts(HALF, "default"), nodes()),
        "object-of-nobody",
        "namespace: gpu-operator",
        (release(OWN) + layouts(HALF), nodes()),
    ),
    "slices of two sizes and the strategy single (NVIDIA/gpu-operator issue 479)": (
        (release(OWN.replace("mixed", "single")) + layouts(SIZES), nodes(mig_config="mixed")),
        "mig-strategy",
        "strategy: mixed",
        (release(OWN) + layouts(SIZES), nodes(mig_config="mixed")),
    ),
    "a layout of another card (NVIDIA/gpu-operator issue 262)": (
        (release("mig: {strategy: single}\n"), nodes(mig_config="all-1g.10gb")),
        "node-label-values",
        "1g.6gb",
        (release("mig: {strategy: mixed}\n"), nodes(mig_config="all-1g.6gb")),
    ),
    "will this work before I try? (NVIDIA/mig-parted issue 100)": (
        (
            release(OWN)
            + layouts("a:\n  - {devices: [1, 2], mig-enabled: true, mig-devices: {3g.20gb: 2, 1g.5gb: 1}}\n"),
            nodes(A100),
        ),
        "mig-configuration",
        "do not fit",
        (
            release(OWN)
            + layouts("a:\n  - {devices: [1, 2], mig-enabled: true, mig-devices: {4g.20gb: 1, 3g.20gb: 1}}\n"),
            nodes(A100),
        ),
    ),
    "devices that are no list (NVIDIA/mig-parted issue 44)": (
        (release(OWN) + layouts(HALF.replace("[1]", "1")), nodes()),
        "mig-configuration",
        "neither `all` nor a list",
        (release(OWN) + layouts(HALF), nodes()),
    ),
    "a card for workstations, whose engines one slice takes (NVIDIA/gpu-operator issue 2249)": (
        (
            release(OWN)
            + layouts("a:\n  - {devices: all, mig-enabled: true, mig-devices: {1g.24gb+me.all: 1, 1g.24gb+gfx: 3}}\n"),
            nodes(MAX_Q, mig_config="a"),
        ),
        "mig-configuration",
        "engines",
        (
            release(OWN)
            + layouts("a:\n  - {devices: all, mig-enabled: true, mig-devices: {1g.24gb+me.all: 1, 1g.24gb-me: 3}}\n"),
            nodes(MAX_Q, mig_config="a"),
        ),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    wrong, rule, words, right = MISTAKES[name]
    found = {}
    for folder, (manifests, described) in {"wrong": wrong, "right": right}.items():
        root = write_files({f"{folder}/gpu/release.yaml": manifests, f"{folder}/nodes.yaml": described})
        arguments = ["--root", root, "--nodes", root / folder / "nodes.yaml", "--format", "json"]
        found[folder] = run_cli(["check", *arguments, root / folder / "gpu"]).diagnostics
    told = [item for item in found["wrong"] if item["name"] == rule]

    assert told, [item["name"] for item in found["wrong"]]
    assert any(words in f"{item['message']} {item.get('help', '')}" for item in told), told
    assert [item["message"] for item in found["right"] if item["name"] == rule] == []


POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: a}
spec:
  os: {id: ubuntu, version: "22.04"}
  runtime: {name: containerd, version: "2.1"}
  driver: {source: container}
"""
CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {name: prod}
spec:
  kubernetes: {version: "1.33", distribution: kubeadm}
  stack: {release: v26.3.3}
  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}
"""
GAP = "  gpu: {product: A30, count: 2, mig: {layout: half, devices: [{devices: [1], migDevices: {1g.6gb: 4}}]}}\n"


def test_a_list_of_gpus_with_a_gap(write_files, run_cli):
    """NVIDIA/mig-parted issue 157: a layout for GPU 1 alone fails, and GPU 0 keeps what an earlier one made of it."""
    root = write_files({"profiles/prod/cluster.yaml": CLUSTER, "profiles/prod/a.yaml": POOL + GAP})
    wrong = run_cli(["generate", "--root", root])
    fixed = GAP.replace("[{devices: [1]", "[{devices: [0], migEnabled: false}, {devices: [1]")
    (root / "profiles/prod/a.yaml").write_text(POOL + fixed)

    right = run_cli(["generate", "--root", root])

    assert "PSM150" in wrong.out + wrong.err
    assert "{devices: [0], migEnabled: false}" in wrong.out + wrong.err
    assert "PSM150" not in right.out + right.err


def test_a_change_of_sharing_reaches_the_plugin(write_files, run_cli):
    """NVIDIA/gpu-operator issue 1144: nothing restarts when a ConfigMap changes; its name has a hash of what it says."""
    names = []
    for replicas in (2, 3):
        shared = f"  gpu: {{product: A30, count: 2}}\n  sharing: {{timeSlicing: {{replicas: {replicas}}}}}\n"
        root = write_files({"profiles/prod/cluster.yaml": CLUSTER, "profiles/prod/a.yaml": POOL + shared})
        assert run_cli(["generate", "--root", root]).code == 0
        values = (root / "output/clusters/prod/platform/values/gpu-operator.yaml").read_text()
        names.append(next(line for line in values.splitlines() if "poolsmith-device-plugin-" in line))

    assert names[0] != names[1]
