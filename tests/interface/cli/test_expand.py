"""`poolsmith expand`: custom resources and nodes in, what the operator creates out."""

from __future__ import annotations

import json

import pytest

from poolsmith.core.sources.yaml_reader import read_documents

RELEASE = "v26.3.3"
NODES = """\
- name: gpu-1
  runtime: containerd://1.7.24
  labels:
    feature.node.kubernetes.io/pci-10de.present: "true"
    feature.node.kubernetes.io/kernel-version.full: 5.15.0-91-generic
    feature.node.kubernetes.io/system-os_release.ID: ubuntu
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "22.04"
- name: cpu-1
  runtime: containerd://1.7.24
  labels: {feature.node.kubernetes.io/kernel-version.full: 5.15.0-91-generic}
"""
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: a}
spec:
  driverType: gpu
  repository: nvcr.io/nvidia
  image: driver
  version: 580.126.20
  usePrecompiled: %s
"""

ALONE = ("--set", "driver.nvidiaDriverCRD.deployDefaultCR=false", "--resources", "driver.yaml")


@pytest.fixture
def run(run_cli, write_files):
    """Run `expand` beside files given by name and text; without --nodes among the flags, on NODES."""

    def call(*flags, files=None, release=RELEASE):
        folder = write_files({"nodes.yaml": NODES, "values.yaml": "{}\n", **(files or {})})
        nodes = [] if "--nodes" in flags else ["--nodes", "nodes.yaml"]
        return run_cli(["expand", "--release", release, *nodes, *flags], cwd=folder)

    return call


def by_name(documents):
    return {(item["kind"], item["metadata"]["name"]): item for item in documents}


def test_yaml_documents_are_what_the_operator_creates(run):
    result = run("-f", "values.yaml")
    objects = by_name(read_documents(result.out))
    driver = objects["DaemonSet", "nvidia-driver-daemonset"]["spec"]["template"]["spec"]

    assert (result.code, result.err) == (0, "poolsmith: ClusterPolicy/cluster-policy: ready\n")
    assert driver["containers"][0]["image"] == "nvcr.io/nvidia/driver:580.126.20-ubuntu22.04"
    assert ("ClusterRole", "nvidia-driver") in objects
    assert ("Deployment", "gpu-operator") not in objects
    assert ("ClusterPolicy", "cluster-policy") not in objects


def test_json_says_all_of_it(run):
    body = json.loads(run("-f", "values.yaml", "--format", "json").out)

    assert list(body) == ["version", "release", "objects", "nodeLabels", "images", "conditions", "errors", "unknown"]
    assert (body["version"], body["release"], body["errors"], body["unknown"]) == (1, RELEASE, [], [])
    assert body["objects"] == read_documents(run("-f", "values.yaml").out)
    assert body["nodeLabels"]["gpu-1"]["nvidia.com/gpu.deploy.driver"] == "true"
    assert body["nodeLabels"]["cpu-1"] == {"feature.node.kubernetes.io/kernel-version.full": "5.15.0-91-generic"}
    assert body["images"] == sorted(set(body["images"]))
    assert "nvcr.io/nvidia/driver:580.126.20-ubuntu22.04" in body["images"]
    assert body["conditions"][0]["state"] == "ready"
    assert set(body["conditions"][0]["conditions"][0]) == {"type", "status", "reason", "message"}


def test_the_same_whether_the_chart_or_a_file_brings_the_resources(run, run_cli, tmp_path):
    rendered = run("-f", "values.yaml", "--set", "toolkit.enabled=false")
    template = ["template", "--release", RELEASE, "-f", "values.yaml", "--set", "toolkit.enabled=false"]
    crs = run_cli(template, cwd=tmp_path).out

    assert run("--resources", "crs.yaml", files={"crs.yaml": crs}).out == rendered.out
    assert "nvidia-container-toolkit-daemonset" not in rendered.out


def test_the_order_of_nodes_and_files_does_not_matter(run):
    first, second = NODES.split("- name: cpu-1")
    files = {"a.yaml": "- name: cpu-1" + second, "b.yaml": first}
    two = run("-f", "values.yaml", "--nodes", "a.yaml", "--nodes", "b.yaml", files=files)

    assert two.out == run("-f", "values.yaml").out


def test_a_namespace_of_ones_own(run):
    objects = by_name(read_documents(run("-f", "values.yaml", "--namespace", "gpu").out))

    assert objects["DaemonSet", "nvidia-driver-daemonset"]["metadata"]["namespace"] == "gpu"


def test_a_resource_that_the_api_server_refuses_is_told_and_left_out(run):
    files = {"crs.yaml": DRIVER % "'no'"}
    result = run("-f", "values.yaml", "--resources", "crs.yaml", files=files)
    as_json = json.loads(run("-f", "values.yaml", "--resources", "crs.yaml", "--format", "json", files=files).out)

    assert result.code == 1
    assert result.err.startswith("crs.yaml:9:3: error PSM310 schema-violation: NVIDIADriver/a: `spec.usePrecompiled`")
    assert as_json["errors"][0].startswith(
        "crs.yaml:9:3: PSM310 schema-violation: NVIDIADriver/a: `spec.usePrecompiled`"
    )
    assert len(as_json["errors"]) == 1
    assert [item["kind"] for item in as_json["conditions"]] == ["ClusterPolicy"]
    assert by_name(as_json["objects"])["DaemonSet", "nvidia-driver-daemonset"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DRIVER.replace("v1alpha1", "v1") % "false", "gpu-operator v26.3.3 does not serve NVIDIADriver as nvidia.com/v1"),
        (DRIVER.replace("NVIDIADriver", "NVIDIADrivers") % "false", "does not serve nvidia.com/v1alpha1 NVIDIADrivers"),
        (f"{DRIVER}---\n{DRIVER}" % ("false", "false"), "NVIDIADriver/a is there already"),
        ("kind: NVIDIADriver\n", "the object lacks `apiVersion`"),
        ("[]\nb\n", ""),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: 1}}\n", "`metadata.labels.a`"),
        ("- " * 5000, ""),
        (f"apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {{name: a}}\nspec: {'[' * 90 + ']' * 90}\n", ""),
        ("a: &a [x]\nb: [*a, *a]\nc: {d: *b}\n", ""),
        ("\x00", ""),
        ("\x1b[31m: 1\n", ""),
    ],
    ids=["version", "kind", "twice", "no version", "syntax", "label", "deep", "nested", "alias", "null byte", "escape"],
)  # fmt: skip
def test_a_bad_file_of_resources_has_a_place_and_no_traceback(run, text, message):
    for flag in ("--resources", "--objects", "--nodes"):
        for form in ("yaml", "json"):
            result = run("-f", "values.yaml", flag, "crs.yaml", "--format", form, files={"crs.yaml": text})

            assert result.code == 1
            assert "internal error" not in result.err
            assert "crs.yaml" in (result.err if form == "yaml" else json.loads(result.out)["errors"][0])
            assert all(line.isprintable() for line in result.err.splitlines())
            if flag == "--resources":
                assert message in result.err + result.out


def test_unreadable_nodes_end_it(run):
    result = run("-f", "values.yaml", files={"nodes.yaml": "- {name: a, labels: {v: 22.04}}\n"})

    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("nodes.yaml:1:22: error PSM107 ambiguous-scalar")


def test_values_that_the_chart_refuses(run):
    flags = ("-f", "values.yaml", "--set", "cdi.enabled=false,cdi.nriPluginEnabled=true")
    message = "the NRI Plugin cannot be enabled when CDI is disabled"
    result = run(*flags)

    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"poolsmith: the chart renders nothing: {message}")
    assert json.loads(run(*flags, "--format", "json").out)["errors"] == [message]


def test_what_the_operator_reports_is_an_error_of_the_result(run):
    result = run("-f", "values.yaml", "--set", "driver.version=,sandboxWorkloads.enabled=true", release="v26.7.0")
    body = json.loads(run("-f", "values.yaml", "--set", "driver.version=", "--format", "json", release="v26.7.0").out)

    assert result.code == 1
    assert "poolsmith: error: ClusterPolicy/cluster-policy: " in result.err
    assert [error.partition(": ")[0] for error in body["errors"]] == ["ClusterPolicy/cluster-policy"]
    assert body["conditions"][0]["state"] == "notReady"


def test_what_the_api_server_drops_is_a_note(run):
    files = {"crs.yaml": (DRIVER % "false") + "  nodeSelecter: {a: b}\n"}
    result = run("-f", "values.yaml", "--resources", "crs.yaml", files=files)

    assert result.code == 0
    assert "note: crs.yaml:10:3: NVIDIADriver/a: `spec.nodeSelecter` is unknown" in result.err


def test_other_objects_are_what_exists_already(run):
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: gpu-operator}\ndata: {a: b}\n"
    result = run("-f", "values.yaml", "--objects", "own.yaml", files={"own.yaml": config})

    assert (result.code, result.out) == (0, run("-f", "values.yaml").out)


def test_what_else_the_cluster_has(run):
    monitor = ("ServiceMonitor", "nvidia-dcgm-exporter")
    flags = ("-f", "values.yaml", "--set", "dcgmExporter.serviceMonitor.enabled=true")

    assert monitor in by_name(read_documents(run(*flags, "--service-monitor-crd").out))
    assert monitor not in by_name(read_documents(run(*flags).out))


def test_the_system_of_the_node_that_runs_the_operator(run):
    def mounts(text):
        result = run("-f", "values.yaml", "--os-release", "os-release", files={"os-release": text}, release="v25.3.4")
        pod = by_name(read_documents(result.out))["DaemonSet", "nvidia-driver-daemonset"]["spec"]["template"]["spec"]
        return [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]]

    assert "/run/secrets/etc-pki-entitlement" in mounts('ID="rhel"\nVERSION_ID="9.4"\n')
    assert "/run/secrets/etc-pki-entitlement" not in mounts("ID=ubuntu\nVERSION_ID=22.04\n")


def test_what_is_unknown_is_said_and_fails_on_demand(run):
    files = {"driver.yaml": f"{DRIVER % 'false'}  args: ['~']\n"}
    flags = ("-f", "values.yaml", "--set", "driver.nvidiaDriverCRD.enabled=true", *ALONE)
    result = run(*flags, files=files)
    body = json.loads(run(*flags, "--format", "json", files=files).out)

    assert (result.code, run(*flags, "--strict", files=files).code) == (0, 1)
    assert f"poolsmith: unknown: {body['unknown'][0]}\n" in result.err
    assert "nvidia-gpu-driver" not in " ".join(name for _, name in by_name(body["objects"]))


def test_an_outcome_that_a_live_operator_may_reach_otherwise_is_a_note(run):
    other = NODES.replace("gpu-1", "gpu-2").replace('"22.04"', '"24.04"').split("- name: cpu-1", maxsplit=1)[0]
    result = run("-f", "values.yaml", "--nodes", "nodes.yaml", "--nodes", "more.yaml", files={"more.yaml": other})

    assert result.code == 0
    assert "poolsmith: note: the driver image: " in result.err


def test_nothing_to_expand_is_said(run):
    files = {"own.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: own}\n"}
    result = run("--resources", "own.yaml", files=files)

    assert (result.code, result.out) == (0, "")
    assert "there is no custom resource of the operator" in result.err


def test_no_nodes_is_said(run):
    result = run("-f", "values.yaml", files={"nodes.yaml": "[]\n"})

    assert "note: there are no nodes" in result.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--release", "v26.3.4", "-f", "values.yaml", "--nodes", "nodes.yaml"], "did you mean `v26.3.3`?"),
        (
            ["--release", "v26.3.3", "--nodes", "nodes.yaml"],
            "name values with -f, or custom resources with --resources",
        ),
        (["--release", "v26.3.3", "-f", "values.yaml"], "Missing option '--nodes'"),
        (["--release", "v26.3.3", "-f", "values.yaml", "--nodes", "nodes.yaml", "--set", "a"], "key `a` has no value"),
    ],
    ids=["release", "nothing", "no nodes", "set"],
)
def test_bad_flags(run_cli, write_files, flags, message):
    folder = write_files({"values.yaml": "{}\n", "nodes.yaml": NODES})
    result = run_cli(["expand", *flags], cwd=folder)

    assert (result.code, result.out) == (2, "")
    assert message in result.err
