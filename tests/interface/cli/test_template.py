"""`poolsmith template`: values in, custom resources out; what is wrong has a place and an exit code."""

from __future__ import annotations

import json

import pytest

from poolsmith.core.sources.yaml_reader import read_documents

RELEASE = ("--release", "v26.3.3")


@pytest.fixture
def run(run_cli, write_files):
    """Run `template` on files given by name and text."""

    def call(files, *flags, release=RELEASE):
        folder = write_files(files)
        named = [word for name in files for word in ("-f", name)]
        return run_cli(["template", *release, *named, *flags], cwd=folder)

    return call


def test_yaml_documents_are_whole_objects(run):
    result = run({"values.yaml": "driver: {nvidiaDriverCRD: {enabled: true}}\n"})
    policy, driver = read_documents(result.out)

    assert (result.code, result.err) == (0, "")
    assert (policy["apiVersion"], policy["kind"]) == ("nvidia.com/v1", "ClusterPolicy")
    assert (driver["apiVersion"], driver["kind"]) == ("nvidia.com/v1alpha1", "NVIDIADriver")
    assert policy["metadata"]["name"] == "cluster-policy"
    assert policy["spec"]["driver"]["useNvidiaDriverCRD"] is True


def test_json_is_the_same_in_its_envelope(run):
    files = {"values.yaml": "toolkit: {enabled: false}\n"}
    as_json = json.loads(run(files, "--format", "json").out)

    assert list(as_json) == ["version", "release", "objects", "errors"]
    assert (as_json["version"], as_json["release"], as_json["errors"]) == (1, "v26.3.3", [])
    assert as_json["objects"] == read_documents(run(files).out)


def test_later_files_and_set_come_on_top(run):
    files = {
        "a.yaml": "toolkit: {version: v1, env: [{name: A, value: '1'}]}\nmig: {strategy: mixed}\n",
        "b.yaml": "toolkit: {version: v2}\nmig: {strategy: null}\n",
    }
    result = run(files, "--set", "toolkit.env[0].value=x,dcgm.enabled=true", "--set", r"driver.version=570\,1")
    (policy,) = read_documents(result.out)

    assert policy["spec"]["toolkit"]["version"] == "v2"
    assert policy["spec"]["toolkit"]["env"] == [{"name": "A", "value": "x"}]
    assert policy["spec"]["mig"] is None
    assert policy["spec"]["dcgm"]["enabled"] is True
    assert policy["spec"]["driver"]["version"] == "570,1"


def test_names_of_the_helm_release(run):
    result = run({"values.yaml": ""}, "--namespace", "gpu", "--release-name", "prod")
    (policy,) = read_documents(result.out)

    assert policy["metadata"]["labels"]["app.kubernetes.io/instance"] == "prod"
    assert "namespace" not in policy["metadata"]


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("a: 1\na: 2\n", "values.yaml:2:1", "PSM004"),
        ("- a\n", "values.yaml:1:1", "PSM009"),
        ("a: [\n", "values.yaml:1:4", "PSM003"),
        ("\ufeffa: 1\n", "values.yaml:1:1", "PSM006"),
        ("a: 1\n---\nb: 1\n", "values.yaml", "PSM008"),
        ("a: .inf\n", "values.yaml:1:4", "PSM013"),
    ],
    ids=["duplicate", "list", "syntax", "byte-order mark", "two documents", "infinity"],
)
def test_a_bad_file_has_a_place(run, text, place, code):
    as_text = run({"values.yaml": text})
    as_json = run({"values.yaml": text}, "--format", "json")

    assert (as_text.code, as_text.out) == (1, "")
    assert as_text.err.startswith(f"{place}: error {code}")
    assert as_json.code == 1
    assert json.loads(as_json.out)["objects"] == []
    assert json.loads(as_json.out)["errors"][0].startswith(f"{place}: {code}")


def test_bytes_that_are_no_text(run_cli, tmp_path):
    (tmp_path / "values.yaml").write_bytes(b"a: 1\nb: \xff\n")
    result = run_cli(["template", *RELEASE, "-f", "values.yaml"], cwd=tmp_path)

    assert result.code == 1
    assert result.err.startswith("values.yaml:2:4: error PSM002")


def test_a_file_that_is_not_there(run_cli, tmp_path):
    result = run_cli(["template", *RELEASE, "-f", "values.yaml"], cwd=tmp_path)

    assert result.code == 1
    assert result.err.startswith("values.yaml: error PSM001")


def test_what_the_chart_refuses_is_an_error_of_the_result(run):
    files = {"values.yaml": "gpuCluster: {deployCR: true}\n"}
    message = "clusterPolicy.deployCR and gpuCluster.deployCR cannot both be true; only one CR can exist"
    release = ("--release", "v26.7.0")
    as_text = run(files, release=release)
    as_json = run(files, "--format", "json", release=release)

    assert (as_text.code, as_text.out) == (1, "")
    assert message in as_text.err
    assert as_json.code == 1
    assert json.loads(as_json.out)["errors"] == [message]


def test_the_apis_of_the_cluster(run):
    files = {
        "values.yaml": """\
            gpuCluster: {deployCR: true}
            clusterPolicy: {deployCR: false}
            driver: {nvidiaDriverCRD: {enabled: true}}
            """
    }
    release = ("--release", "v26.7.0")
    without = run(files, release=release)
    served = run(files, "--api-versions", "batch/v1,resource.k8s.io/v1/DeviceClass", release=release)

    assert without.code == 1
    assert "resource.k8s.io/v1/DeviceClass" in without.err
    assert [item["kind"] for item in read_documents(served.out)] == ["GPUCluster", "NVIDIADriver"]


def test_all_that_the_chart_installs_is_shown_in_its_namespace(run):
    values = {"values.yaml": "operator: {cleanupCRD: true}\n"}
    few = read_documents(run(values).out)
    shown = read_documents(run(values, "--all", "--namespace", "gpus", "--release-name", "prod").out)
    found = {(item["kind"], item["metadata"]["name"]): item for item in shown}

    assert shown[: len(few)] == [found[item["kind"], item["metadata"]["name"]] for item in few]
    assert found["Deployment", "gpu-operator"]["metadata"]["namespace"] == "gpus"
    assert found["Job", "gpu-operator-cleanup-crd"]["metadata"]["annotations"]["helm.sh/hook"] == "pre-delete"
    assert ("DaemonSet", "prod-node-feature-discovery-worker") in found


def test_nothing_rendered_is_said(run):
    result = run({"values.yaml": "clusterPolicy: {deployCR: false}\n"}, release=("--release", "v26.7.0"))

    assert (result.code, result.out) == (0, "")
    assert "no custom resource" in result.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--release", "v26.3.4", "-f", "values.yaml"], "did you mean `v26.3.3`?"),
        (["--release", "v26.3.3"], "Missing option '-f' / '--values'"),
        (["-f", "values.yaml"], "Missing option '--release'"),
        (["--release", "v26.3.3", "-f", "values.yaml", "--set", "a"], "--set a: key `a` has no value"),
        (["--release", "v26.3.3", "-f", "values.yaml", "--format", "xml"], "Invalid value for '--format'"),
    ],
    ids=["release", "no file", "no release", "set", "format"],
)
def test_bad_flags(run_cli, write_files, flags, message):
    result = run_cli(["template", *flags], cwd=write_files({"values.yaml": "{}\n"}))

    assert (result.code, result.out) == (2, "")
    assert message in result.err
