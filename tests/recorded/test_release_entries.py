"""The catalog's entries are what the importer makes of the charts, and its tables are those of the collected facts."""

from __future__ import annotations

import json

import pytest
import yaml

from poolsmith.core.facts import store
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_workloads import version_of_release
from poolsmith.gpu.importing.chart_import import chart_entry
from poolsmith.interface.app import check_paths
from support.recordings import recording

CATALOG = Catalog()
FACTS = recording("facts")
WITH_FACTS = {
    tag
    for tag in store.names("charts/gpu-operator")
    if (line := CATALOG.releases.by_tag[tag].line) in FACTS["releases"]
    and tag.removeprefix("v") in FACTS["releases"][line]["patches"]
}
"""The collected facts begin with the line 24.9; nobody collected those of a release that came after."""
NOT_KEPT = ("customMetrics",)
OPERATOR_ONLY = ("nodeFeatureDiscoveryChart", "nvidiaDriverFields", "migLayouts")


def read(path):
    return yaml.safe_load(path.read_text("utf-8"))


def mig_config(folder):
    (config_map,) = yaml.safe_load_all((folder / "operands/state-mig-manager/0400_configmap.yaml").read_text("utf-8"))
    return yaml.safe_load(config_map["data"]["config.yaml"])


@pytest.mark.rows(5, "one of each line of releases")
@pytest.mark.parametrize("tag", sorted(store.names("charts/gpu-operator")))
def test_an_operator_entry_is_made_from_its_chart(upstream, tag):
    folder = upstream(f"gpu-operator/{tag}")
    recorded = recording("chart_values")[f"gpu-operator/{tag}"]
    entry = chart_entry(
        release=tag,
        values=read(folder / "values.yaml"),
        value_paths=recorded["paths"],
        kube_version=read(folder / "Chart.yaml")["kubeVersion"],
        nfd_chart=recorded["nodeFeatureDiscoveryChart"],
        source=recorded["source"],
        driver_crd=read(folder / "crds/nvidia.com_nvidiadrivers.yaml"),
        mig_config=mig_config(folder),
    )

    assert store.read_json(f"charts/gpu-operator/{tag}.json") == entry


@pytest.mark.parametrize("release", sorted(store.names("charts/dcgm-exporter")))
def test_an_exporter_entry_is_made_from_its_chart_without_its_prose(upstream, release):
    folder = upstream(f"dcgm-exporter/{release}")
    recorded = recording("chart_values")[f"dcgm-exporter/{release}"]
    entry = chart_entry(
        release=release,
        values={key: value for key, value in read(folder / "values.yaml").items() if key not in NOT_KEPT},
        value_paths=recorded["paths"],
        kube_version=recorded["kubeVersion"],
        nfd_chart=None,
        source=recorded["source"],
    )

    assert store.read_json(f"charts/dcgm-exporter/{release}.json") == {
        key: value for key, value in entry.items() if key not in OPERATOR_ONLY
    }
    assert version_of_release("dcgm-exporter", release) == read(folder / "Chart.yaml")["version"]


@pytest.mark.parametrize("tag", sorted(WITH_FACTS))
def test_default_components_are_those_that_the_charts_ship(compat, tag):
    components = compat["releases"][CATALOG.releases.by_tag[tag].line]["patches"][tag.removeprefix("v")]["components"]
    chart = CATALOG.chart("gpu-operator", tag)

    assert chart.default(("driver", "version")) == components["driver"]
    assert chart.default(("toolkit", "version")) == components["container_toolkit"]


@pytest.fixture(scope="module")
def compat():
    return recording("facts")


def test_every_gpu_of_the_facts_is_in_the_catalog_as_they_say(compat):
    for fact in compat["gpus"]["list"]:
        entry = CATALOG.gpus.find(fact["product"])
        ids = [str(device) for device in fact["pci_device_ids"] if device != "unknown"]
        resources = fact.get("passthrough_resource")

        assert (fact["product"], entry.architecture) == (fact["product"], fact["arch"])
        assert [device.id for device in entry.devices] == ids
        assert entry.mig == fact["mig_capable"], fact["product"]
        if isinstance(resources, dict):
            assert {device.id: device.resource for device in entry.devices if device.resource} == {
                str(key): value.split(" ")[0] for key, value in resources.items() if value != "unknown"
            }


def test_architectures_have_the_kernel_modules_of_the_facts(compat):
    facts = compat["kernel_module_type"]["by_architecture"]

    assert set(CATALOG.gpus.architectures) == {*facts, "kepler", "maxwell"}  # which the vendor's matrix has beside them
    for name, fact in facts.items():
        architecture = CATALOG.gpus.architectures[name]
        last = fact["last_driver_branch"]
        assert architecture.open == fact["open"].split(",")[0]
        assert architecture.proprietary == fact["proprietary"]
        assert architecture.last_branch == (None if last == "ongoing" else int(last.removeprefix("R")))


def test_layouts_have_the_geometry_of_the_newest_static_file(upstream):
    assert CATALOG.mig_geometry == mig_config(upstream("gpu-operator/v26.7.0"))["mig-configs"]


@pytest.mark.parametrize("tag", ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"])
def test_layouts_have_the_geometry_of_their_release(upstream, tag):
    shipped = mig_config(upstream(f"gpu-operator/{tag}"))["mig-configs"]

    assert {name: CATALOG.mig_layout(name, tag) for name in shipped} == shipped


@pytest.mark.parametrize("tag", ["v24.6.1", "v25.3.4", "v26.7.0"])
def test_nothing_is_found_in_the_layouts_that_the_operator_ships(upstream, tag, tmp_path):
    body = {"version": "v1", **mig_config(upstream(f"gpu-operator/{tag}"))}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own"}}
    (tmp_path / "layouts.yaml").write_text(json.dumps({**made, "data": {"config.yaml": json.dumps(body)}}))

    assert "mig-configuration" not in {
        item.name for item in check_paths(tmp_path, [tmp_path], everything=True).diagnostics
    }


def test_layout_names_grow_line_by_line_as_the_facts_say(compat):
    known = set()
    for line, added in compat["mig"]["static_config_names_added_by_line"].items():
        known |= set(added)
        tag = [tag for tag, release in CATALOG.releases.by_tag.items() if release.line == line][-1]
        assert set(CATALOG.chart("gpu-operator", tag).mig_layouts) == known, tag


COLUMNS = ("kubernetes", "rke2", "k3s", "k0s", "vks")
RAISED = {"26.7": ("1.36", "1.37")}
"""Since the facts were collected: NVIDIA/cloud-native-docs pull 488."""


def raised(line, bound):
    before, after = RAISED.get(line, (None, None))
    return after if bound == before else bound


def test_support_rows_are_those_of_the_documentation(compat):
    for line, facts in compat["platforms"]["by_release"].items():
        rows = {
            (row["os"], version, column, bounds["min"], raised(line, bounds["max"]))
            for row in facts["rows"]
            for version in row["versions"]
            for column in COLUMNS
            if isinstance(bounds := row.get(column), dict)
        }
        held = {
            (row.os, version, column, *row.columns[column])
            for row in CATALOG.support_matrices[line].rows
            for version in row.versions
            for column in COLUMNS
            if column in row.columns
        }
        wanted = {row for row in rows if row[0] in CATALOG.operating_systems}
        assert held == wanted, line
        own = {
            (row["os"], version, tuple(row["nkp"]))
            for row in facts["rows"]
            for version in row["versions"]
            if "nkp" in row
        }
        assert own == {
            (row.os, version, row.own["nkp"])
            for row in CATALOG.support_matrices[line].rows
            for version in row.versions
            if "nkp" in row.own
        }


def test_toolkit_environments_are_those_of_the_distributions_pages(compat):
    distros = compat["runtimes"]["distros"]
    rke2, k0s, microk8s = (CATALOG.distributions[name] for name in ("rke2", "k0s", "microk8s"))

    def env(distribution, line):
        paths = distribution.paths("containerd", line)
        chosen = {"config": paths.config, "socket": paths.socket, "dropIn": paths.drop_in}
        return {item["name"]: item["value"].format(**chosen) for item in paths.env}

    assert env(rke2, "25.3") == distros["rke2"]["25.3"]["toolkit.env"]
    assert env(rke2, "25.10") == distros["rke2"]["25.10"]["toolkit.env"]
    assert env(rke2, "26.3") == distros["rke2"]["26.3+"]["toolkit.env"]
    assert env(k0s, "24.9") == distros["k0s"]["values_for_24.9.2"]
    assert env(k0s, "25.10") == distros["k0s"]["values_for_25.10.0"]
    shared_env = {key: distros["microk8s"][key] for key in ("CONTAINERD_CONFIG", "CONTAINERD_SOCKET")}
    assert env(microk8s, "24.9") == shared_env | distros["microk8s"]["24.9-25.3_extra"]
    assert env(microk8s, "26.7") == shared_env | distros["microk8s"]["25.10+_extra"]


def test_the_ccruntime_is_the_sample_of_its_release_on_other_nodes(upstream):
    from poolsmith.fleet.plan.sandbox.kata_delivery import cc_runtime

    folder = upstream("confidential-containers/v0.7.0")
    sample = read(folder / "ccruntime-base.yaml")
    overlay = read(folder / "ccruntime-default-kustomization.yaml")
    tags = {image["name"]: image["newTag"] for image in overlay["images"]}
    config = sample["spec"]["config"]
    config["runtimeClassNames"] = yaml.safe_load(overlay["patches"][0]["patch"])[0]["value"]
    for node, key in ((config, "payloadImage"), (config["preInstall"], "image"), (config["postUninstall"], "image")):
        name = node[key].partition(":")[0]
        node[key] = f"{name}:{tags[name]}"
    generated = cc_runtime(CATALOG.sandboxes.coco_operator, {"nvidia.com/gpu.workload.config": "vm-passthrough"})
    sample["spec"]["ccNodeSelector"] = generated["spec"]["ccNodeSelector"]

    assert generated == sample


@pytest.mark.parametrize("release", ("v0.15.1", "v0.17.1", "v0.20.0"))
def test_the_device_plugin_is_the_one_of_its_static_manifest(upstream, release):
    from poolsmith.fleet.plan.hand_installed.device_plugin_install import plain_daemon_set

    (manifest,) = [
        document
        for path in (upstream(f"k8s-device-plugin/{release}") / "static").glob("nvidia-device-plugin.y*ml")
        for document in yaml.safe_load_all(path.read_text("utf-8"))
        if document
    ]
    theirs = manifest["spec"]["template"]["spec"]
    generated = plain_daemon_set(
        image=f"{CATALOG.device_plugin['devicePlugin']['image']}:{release}",
        namespace="kube-system",
        folder="/var/lib/kubelet/device-plugins",
        affinity={},
        tolerations=theirs["tolerations"],
        secrets=[],
        runtime_class=None,
    )
    ours = generated["spec"]["template"]["spec"]

    def mounts(pod):
        paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
        return [(paths[mount["name"]], mount["mountPath"]) for mount in pod["containers"][0]["volumeMounts"]]

    assert ours["containers"][0]["image"] == theirs["containers"][0]["image"]
    assert ours["priorityClassName"] == theirs["priorityClassName"]
    assert ours["containers"][0]["securityContext"] == theirs["containers"][0]["securityContext"]
    assert mounts(ours) == mounts(theirs)
    assert generated["metadata"]["name"] == manifest["metadata"]["name"]
    assert generated["spec"]["selector"] == manifest["spec"]["selector"]
