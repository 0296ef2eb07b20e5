"""Facts are found under the words that profiles use, and data files refer only to what exists."""

from __future__ import annotations

import json
import re

import pytest

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least, minor_between, version_key
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_workloads import chart_releases

RELEASES = tuple(Catalog().releases.by_tag)


def test_releases_stand_in_their_order(catalog):
    assert tuple(catalog.releases.by_tag) == tuple(sorted(catalog.releases.by_tag, key=version_key))
    lines = [release.line for release in catalog.releases.by_tag.values()]
    assert tuple(dict.fromkeys(lines)) == catalog.releases.lines


@pytest.mark.parametrize("tag", RELEASES)
def test_every_release_has_its_chart(catalog, tag):
    chart = catalog.chart("gpu-operator", tag)

    assert (chart.release, chart.default(("operator", "runtimeClass"))) == (tag, "nvidia")


@pytest.mark.parametrize(
    ("name", "release"), [("gpu-operator", "v26.9.9"), ("gpu-operator", ""), ("nothing", "v26.3.3")]
)
def test_an_unknown_chart_is_none(catalog, name, release):
    assert catalog.chart(name, release) is None


@pytest.mark.parametrize(
    ("os_id", "version", "known"),
    [
        ("ubuntu", "22.04", True),
        ("ubuntu", "22.10", False),
        ("rhel", "9.99", True),
        ("rhel", "7.9", False),
        ("talos", "v1.9.0", True),
        ("talos", "1.9.0", True),
        ("cos", "anything", True),
        ("rhel", "nine", False),
    ],
)
def test_systems_know_their_versions(catalog, os_id, version, known):
    assert catalog.operating_systems[os_id].knows(version) is known


@pytest.mark.parametrize(
    ("said", "product"),
    [
        ("NVIDIA-A100-SXM4-80GB", "A100 80GB"),
        ("nvidia a100 sxm4 80gb", "A100 80GB"),
        ("A100 SXM4 80GB", "A100 80GB"),
        ("Tesla T4", "T4"),
        ("Tesla-T4", "T4"),
        ("NVIDIA-A10", "A10"),
        ("NVIDIA-H100-80GB-HBM3", "H100 SXM5 80GB"),
        ("NVIDIA-L40S", "L40S"),
        ("NVIDIA-GH200-480GB", "GH200 96GB (120/480GB)"),
    ],
)
def test_gpus_are_found_by_label_pci_name_and_product(catalog, said, product):
    assert catalog.gpus.find(said).product == product


@pytest.mark.parametrize("said", ["", "A101", "NVIDIA", "H1000"])
def test_an_unknown_gpu_is_none(catalog, said):
    assert catalog.gpus.find(said) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("NVIDIA-H200-141GB-HBM3", ("H200 SXM 141GB",)),
        ("NVIDIA-GH200-96GB-HBM3", ("GH200 96GB (120/480GB)",)),
        ("GB200-NVL72", ("GB200",)),
        ("L40-48GB", ("L40",)),
        ("Tesla-V100-32GB", ("V100",)),
        ("L4S", ("L40S",)),
        ("A100", ("A100 40GB", "A100 80GB", "A100 64GB")),
        (
            "RTX PRO 6000 Blackwell",
            (
                "RTX PRO 6000 Blackwell Server Edition",
                "RTX PRO 6000 Blackwell Workstation Edition",
                "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            ),
        ),
    ],
)
def test_what_is_like_an_unknown_gpu_is_of_its_model(catalog, said, meant):
    assert catalog.gpus.similar(said) == meant


def test_every_gpu_is_found_by_its_own_name_and_its_pci_names(catalog):
    gpus = catalog.gpus

    assert [entry.product for entry in gpus.entries if gpus.find(entry.product) is not entry] == []
    assert [entry.product for entry in gpus.entries if entry.architecture not in gpus.architectures] == []


def test_no_pci_id_belongs_to_two_gpus(catalog):
    ids = [device.id for entry in catalog.gpus.entries for device in entry.devices]

    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize(
    ("distribution", "runtime", "line", "config"),
    [
        ("kubeadm", "containerd", "24.6", "/etc/containerd/config.toml"),
        ("kubeadm", "docker", "26.7", "/etc/docker/daemon.json"),
        ("k3s", "containerd", "26.7", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"),
        ("rke2", "containerd", "26.3", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"),
        ("rke2", "containerd", "26.7", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"),
        ("rke2", "containerd", "24.9", None),
        ("k0s", "containerd", "24.9", "/etc/k0s/containerd.d/nvidia.toml"),
        ("k0s", "containerd", "26.3", "/run/k0s/containerd-cri.toml"),
        ("microk8s", "containerd", "25.3", "/var/snap/microk8s/current/args/containerd-template.toml"),
    ],
)
def test_paths_follow_from_distribution_runtime_and_line(catalog, distribution, runtime, line, config):
    paths = catalog.distributions[distribution].paths(runtime, line)

    assert (paths.config, paths.unknown) == (config, config is None)


@pytest.mark.parametrize(("distribution", "runtime"), [("k3s", "docker"), ("openshift", "containerd")])
def test_a_runtime_that_a_distribution_lacks_has_no_paths(catalog, distribution, runtime):
    assert catalog.distributions[distribution].paths(runtime, "26.3") is None


def test_every_runtime_of_a_distribution_has_a_rule_for_each_line(catalog):
    missing = [
        (distribution.name, runtime, line)
        for distribution in catalog.distributions.values()
        for runtime in distribution.rules
        for line in catalog.releases.lines
        if distribution.paths(runtime, line) is None
    ]

    assert missing == []


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        ("driver.version", True),
        ("driver.upgradePolicy.drain.enable", True),
        ("driver", True),
        ("daemonsets.tolerations", True),
        ("daemonsets.labels.team", True),
        ("operator.resources.limits.cpu", True),
        ("node-feature-discovery.worker.anything", True),
        ("dcgmExporter.serviceMonitor.enabled", True),
        ("drivr", False),
        ("driver.verzion", False),
        ("driver.version.major", False),
        ("toolkit.enabled.really", False),
    ],
)
def test_a_chart_accepts_what_reaches_a_template(catalog, path, accepted):
    assert catalog.chart("gpu-operator", "v26.3.3").accepts(tuple(path.split("."))) is accepted


@pytest.mark.parametrize(
    ("path", "default", "value_type"),
    [
        ("toolkit.installDir", "/usr/local/nvidia", "string"),
        ("driver.usePrecompiled", False, "boolean"),
        ("driver.upgradePolicy.maxParallelUpgrades", 1, "integer"),
        ("devicePlugin.env", [], "array"),
        ("no.such.path", None, "any"),
    ],
)
def test_a_chart_knows_default_and_type(catalog, path, default, value_type):
    chart = catalog.chart("gpu-operator", "v26.3.3")

    assert chart.default(tuple(path.split("."))) == default
    assert chart.paths.get(path, "any") == value_type


@pytest.mark.parametrize("tag", RELEASES)
def test_a_dead_path_is_not_accepted(catalog, tag):
    chart = catalog.chart("gpu-operator", tag)

    assert [path for path in chart.dead if path in chart.paths] == []


@pytest.mark.parametrize(
    ("matrix", "os_id", "version", "column", "kubernetes", "covered"),
    [
        ("26.3", "ubuntu", "22.04", "kubernetes", "1.33", True),
        ("26.3", "ubuntu", "22.04", "kubernetes", "1.33.4", True),
        ("26.3", "ubuntu", "22.04", "kubernetes", "1.37", False),
        ("26.3", "ubuntu", "20.04", "kubernetes", "1.33", False),
        ("26.3", "rocky", "9.7", "rke2", "1.33", False),
        ("24.9", "ubuntu", "22.04", "microk8s", "1.26", True),
    ],
)
def test_a_support_row_covers_system_distribution_and_version(
    catalog, matrix, os_id, version, column, kubernetes, covered
):
    found = catalog.support_matrices[matrix].covers(
        os_id=os_id, os_version=version, column=column, kubernetes=kubernetes
    )

    assert found is covered


@pytest.mark.parametrize(
    ("low", "high"),
    [("1.9", "1.10"), ("25.3", "25.10"), ("v25.10.1", "v26.3.3"), ("1.7.2", "1.7.16"), ("1.7", "1.7.0")],
)
def test_versions_compare_as_numbers(low, high):
    assert version_key(low) < version_key(high)
    assert at_least(high, low)
    assert not at_least(low, high)


def test_a_range_of_minors_includes_its_bounds():
    assert [minor_between(version, "1.30", "1.32") for version in ("1.29", "1.30", "1.32.9", "1.33")] == [
        False,
        True,
        True,
        False,
    ]


def data_files():
    """All but the packs of schemas, whose header names the source (tests/recorded/test_schema_packs.py), and what is
    made for one interpreter."""
    files = (path.relative_to(store.DATA).as_posix() for path in store.DATA.rglob("*") if path.is_file())
    return sorted(name for name in files if name.endswith((".yaml", ".json")))


OUR_OWN = re.compile(r"(compiled/)?(rules|rules.\dxx|setup_needs|answers.\w+|privileges.reach|review.\w+)\.(json|yaml)")
"""What poolsmith says or holds by itself: these files tell no facts about others."""


@pytest.mark.parametrize("name", [name for name in data_files() if not OUR_OWN.fullmatch(name)])
def test_every_data_file_parses_and_names_a_source(name):
    text = (store.DATA / name).read_text("utf-8")
    data = json.loads(text) if name.endswith(".json") else read_documents(text)[0]
    if store.LIKE in data:
        data = store.read_json(name)

    def sources(node):
        if isinstance(node, dict):
            return any(
                (key.endswith("ource") and isinstance(value, str) and value)
                or (
                    key == "sources"
                    and isinstance(value, list)
                    and all(isinstance(one, str) for one in value)
                    and value
                )
                or sources(value)
                for key, value in node.items()
            )
        return isinstance(node, list) and any(sources(item) for item in node)

    assert sources(data)


def lines_in(node, key=""):
    if isinstance(node, dict):
        for name, value in node.items():
            yield from [value] if name == "line" and isinstance(value, str) else lines_in(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from [value] if key == "lines" and isinstance(value, str) else lines_in(value)


@pytest.mark.parametrize(
    "name", [name for name in data_files() if name.endswith(".yaml") and not OUR_OWN.fullmatch(name)]
)
def test_data_files_refer_to_lines_that_exist(catalog, name):
    data = read_documents((store.DATA / name).read_text("utf-8"))[0]
    named = set(lines_in(data))
    if isinstance(data.get("lines"), dict):
        named |= set(data["lines"])

    assert named <= set(catalog.releases.lines)


def test_charts_and_eras_are_those_of_releases(catalog):
    assert set(store.names("charts/gpu-operator")) == set(catalog.releases.by_tag)
    assert set(store.names("charts/dcgm-exporter")) == set(chart_releases("dcgm-exporter"))
    assert {release.sandbox_era for release in catalog.releases.by_tag.values()} <= set(catalog.sandboxes.eras)
    charts = {era.installer_version for era in catalog.sandboxes.eras.values() if era.installer == "kata-deploy"}
    assert charts <= set(store.names("charts/kata-deploy"))


def test_every_layout_of_a_release_has_a_geometry(catalog):
    missing = {
        (tag, layout)
        for tag in RELEASES
        for layout in catalog.chart("gpu-operator", tag).mig_layouts
        if layout not in catalog.mig_geometry
    }

    assert missing == set()


def test_the_digest_is_one_for_the_whole_catalog(catalog):
    assert catalog.digest == store.digest()
    assert catalog.digest.startswith("sha256:")


def test_a_number_of_any_length_is_compared():
    assert version_key("9" * 5_000) > version_key("9999.9")
    assert version_key("1." + "9" * 5_000) < version_key("2")
