"""Operand entries from a small repository of the operator: what is taken, what is left to people, hostile input."""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib
from dataclasses import dataclass

import pytest

from poolsmith.core.diagnostics import PoolsmithError, UsageError, WriteError
from poolsmith.core.facts import store
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.catalog.operands import whole
from poolsmith.gpu.importing import operator_repository
from poolsmith.gpu.importing.object_entry import compact_object
from poolsmith.kubernetes.schema.schemas import SchemaPack, read_pack
from tools.catalog_data import write_entries
from tools.import_operands import import_operands, main

RELEASE = "v30.1.0"
DATA = {
    "operands/overlay.yaml": """\
        states:
          - {name: state-driver, enabled: [driver]}
        behaviour:
          osTag:
            - {before: v31.0.0, value: of-first-node}
        """,
    "nvidia_driver/overlay.yaml": "behaviour: {owners: [{before: v31.0.0, value: true}]}\n",
    "gpu_cluster/overlay.yaml": """\
        states: [{name: state-dra, since: v30.1.0, base: gpucluster-dra.yaml}]
        sample: {namespace: test-operator, toleration: nvidia.com/gpu, variables: [OF_THE_TEST], filled: []}
        behaviour: {folder: [{since: v30.1.0, value: /run/nvidia}]}
        """,
    "chart_workloads/gpu_operator.yaml": "versions: {v26.7.0: {}}\n",
    "chart_workloads/node_feature_discovery.yaml": "versions: {0.19.0: {}}\n",
}
RIGHTS = "rules: [{apiGroups: [''], resources: [nodes], verbs: [get, patch]}]\n"
DAEMON_SET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: %s, namespace: "FILLED BY THE OPERATOR", labels: {app.kubernetes.io/component: nvidia-driver}}
spec:
  selector: {matchLabels: {app: %s}}
  updateStrategy: {type: OnDelete}
  template:
    metadata: {labels: {app: %s}, annotations: {a: b}}
    spec:
      serviceAccountName: nvidia-driver
      hostPID: true
      containers:
        - name: nvidia-driver-ctr
          image: "FILLED BY THE OPERATOR"
          securityContext: {privileged: true}
          env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: A, value: b}]
          volumeMounts: [{name: run, mountPath: /run/nvidia, mountPropagation: Bidirectional}]
%s
      volumes: [{name: run, hostPath: {path: /run/nvidia, type: DirectoryOrCreate}}, {name: dev, emptyDir: {}}]
"""


def an_object(kind, name, rest="", api_version="v1"):
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n{rest}"


def right(kind):
    return an_object(kind, "nvidia-driver", RIGHTS, "rbac.authorization.k8s.io/v1")


def daemon_set(name="nvidia-driver-daemonset", beside=()):
    containers = "".join(f"        - {{name: {item}, image: a}}\n" for item in beside)
    return DAEMON_SET % (name, name, name, containers.rstrip("\n"))


def rendered(*beside):
    return "---\n".join((right("Role"), right("ClusterRole"), daemon_set(beside=beside)))


BINDING = """\
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: nvidia-driver}
subjects: [{kind: ServiceAccount, name: nvidia-driver, namespace: "FILLED BY THE OPERATOR"}]
"""
DEFINITION = json.dumps(
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusterpolicies.nvidia.com"},
        "spec": {
            "group": "nvidia.com",
            "scope": "Cluster",
            "names": {"kind": "ClusterPolicy", "plural": "clusterpolicies"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
                        }
                    },
                }
            ],
        },
    }
)
STATE = "assets/state-driver"
GOLDEN = "internal/state/testdata/golden"
CRDS = "deployments/gpu-operator/crds"
REPOSITORY = {
    f"{STATE}/0100_service_account.yaml": an_object("ServiceAccount", "nvidia-driver"),
    f"{STATE}/0200_role.yaml": right("Role"),
    f"{STATE}/0300_rolebinding.yaml": an_object("RoleBinding", "b", BINDING, "rbac.authorization.k8s.io/v1"),
    f"{STATE}/0410_scc.openshift.yaml": "not: [read\n",
    f"{STATE}/0500_daemonset.yaml": daemon_set(),
    f"{GOLDEN}/driver-minimal.yaml": rendered(),
    f"{GOLDEN}/driver-vgpu-host-manager.yaml": rendered(),
    f"{GOLDEN}/driver-rdma.yaml": rendered("nvidia-peermem-ctr"),
    f"{GOLDEN}/driver-gds.yaml": rendered("nvidia-fs-ctr"),
    f"{GOLDEN}/driver-gdrcopy.yaml": rendered("nvidia-gdrcopy-ctr"),
    f"{GOLDEN}/driver-full-spec.yaml": "not: [read\n",
    f"{GOLDEN}/gpucluster-dra.yaml": daemon_set("dra"),
    f"{CRDS}/policies.yaml": DEFINITION,
    "deployments/gpu-operator/Chart.yaml": """\
        name: gpu-operator
        dependencies: [{name: node-feature-discovery, version: v0.20.0}]
        """,
}
PACK = "schemas/gpu-operator.schemas.z"


@pytest.fixture
def repository(write_files):
    return write_files({f"repository/{path}": text for path, text in REPOSITORY.items()}) / "repository"


@pytest.fixture
def data(write_files):
    folder = write_files({f"data/{path}": text for path, text in DATA.items()}) / "data"
    (folder / "schemas").mkdir()
    shutil.copy(store.DATA / PACK, folder / PACK)
    return folder


@dataclass(frozen=True)
class ToolResult:
    """How a run ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_tool(capsys):
    def run(arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return ToolResult(code, *capsys.readouterr())

    return run


@pytest.fixture
def run(repository, data, run_tool, contents):
    """Import into the data folder; a run that finds a mistake writes nothing, says so, and has no traceback."""

    def import_it(release=RELEASE, folder=repository, into=data):
        before = contents(data)
        result = run_tool([folder, "--release", release, "--into", into])
        assert "Traceback" not in result.out + result.err
        assert "internal error" not in result.err
        if result.code:
            assert contents(data) == before
            assert result.out == ""
            assert all(line.isprintable() and len(line) < 1000 for line in result.err.splitlines())
        return result

    return import_it


def entry(data, kind):
    return json.loads((data / kind / f"{RELEASE}.json").read_text("utf-8"))


def lines(result, title):
    return [line[10:] for line in result.out.splitlines() if line.startswith(title)]


# What is taken


def test_every_kind_of_entry_is_written(run, data):
    result = run()

    assert (result.code, result.err) == (0, "")
    kinds = ("operands", "nvidia_driver", "gpu_cluster", "crds")
    assert lines(result, "wrote") == [*(f"{kind}/{RELEASE}.json" for kind in kinds), PACK]
    assert [entry(data, kind)["release"] for kind in kinds] == [RELEASE] * 4
    assert entry(data, "operands")["source"] == f"NVIDIA/gpu-operator@{RELEASE}:assets/"
    assert entry(data, "operands")["behaviour"] == {"osTag": "of-first-node"}
    assert list(entry(data, "crds")["kinds"]) == ["ClusterPolicy"]
    (state,) = entry(data, "operands")["states"]
    assert [item["kind"] for item in state["objects"]] == ["ServiceAccount", "Role", "RoleBinding", "DaemonSet"]
    containers = entry(data, "nvidia_driver")["daemonSets"]["driver"]["containers"]
    assert [item["name"] for item in containers[1:]] == ["nvidia-peermem-ctr", "nvidia-fs-ctr", "nvidia-gdrcopy-ctr"]


def test_the_release_joins_those_whose_resources_are_validated(run, data):
    before = read_pack("gpu-operator")
    run()
    pack = SchemaPack(zlib.decompress((data / PACK).read_bytes()).decode())

    assert pack.versions == (*before.versions, RELEASE)
    assert pack.view(RELEASE).kinds == {"nvidia.com/v1 ClusterPolicy": "nvidia.com.v1.ClusterPolicy"}
    for version in before.versions:
        assert resolved(pack, version) == resolved(before, version)


def resolved(pack, version):
    """Every kind of a version without references."""
    view = pack.view(version)

    def whole_of(node):
        if isinstance(node, list):
            return [whole_of(item) for item in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            return whole_of(view.definition(node["$ref"]))
        return {key: whole_of(value) for key, value in node.items()}

    return {kind: whole_of(view.definition(name)) for kind, name in view.kinds.items()}


def test_a_folder_that_holds_the_parts_alone_gives_the_same(run, data, repository, contents, tmp_path):
    run()
    made = contents(data)
    parts = tmp_path / "parts"
    shutil.copytree(repository / "assets", parts / "operands")
    shutil.copytree(repository / GOLDEN, parts / "golden-driver")
    shutil.copytree(repository / CRDS, parts / "crds")
    shutil.copy(repository / "deployments/gpu-operator/Chart.yaml", parts)
    result = run(folder=parts)

    assert lines(result, "wrote") == ["nothing: all of it stands there already"]
    assert contents(data) == made


def test_without_a_data_folder_nothing_is_written(repository, run_tool, monkeypatch, data, contents):
    monkeypatch.setattr(store, "DATA", data)
    before = contents(data)
    result = run_tool([repository, "--release", RELEASE])

    assert result.code == 0
    assert lines(result, "took")
    assert lines(result, "wrote") == ["nothing: name a data folder with --into"]
    assert contents(data) == before


# What is not


def test_what_is_left_out_is_said(run, repository):
    (repository / "assets/state-driver/notes.txt").write_text("prose")

    assert lines(run(), "left out") == [
        "assets/: what is no YAML: `state-driver/notes.txt`",
        "assets/: what only OpenShift gets: `state-driver/0410_scc.openshift.yaml`",
        f"{GOLDEN}/: cases that no entry is made from: `driver-full-spec.yaml`",
    ]


def test_what_people_still_have_to_say_is_said(run):
    said = lines(run(), "by hand")

    for kind in ("operands", "nvidia_driver", "gpu_cluster"):
        assert any(line.startswith(f"{kind}/overlay.yaml: nobody has read yet whether {RELEASE}") for line in said)
    assert f"`{RELEASE}: {{appVersion: {RELEASE}, nodeFeatureDiscovery: 0.20.0}}`" in "".join(said)
    assert "chart_workloads/node_feature_discovery.yaml: under `versions` 0.20.0 is missing" in "".join(said)
    assert any(line.startswith(f"projection/{RELEASE}.json") for line in said)


def test_a_release_that_people_have_read_leaves_nothing_to_them(run, data):
    (data / "chart_workloads/gpu_operator.yaml").write_text(f"versions: {{{RELEASE}: {{}}}}\n")

    assert lines(run(), "by hand") == []


def test_a_state_without_manifests_is_for_people(run, data):
    (data / "operands/overlay.yaml").write_text(
        "states: [{name: state-driver, enabled: []}, {name: state-gone, enabled: []}]\nbehaviour: {}\n"
    )

    assert f"operands/overlay.yaml: state-gone is ordered for {RELEASE}" in "".join(lines(run(), "by hand"))


@pytest.mark.parametrize(
    ("overlay", "text", "message"),
    [
        ("operands", None, "operands: overlay.yaml: each behaviour needs one entry that covers v31.0.0; osTag has 0"),
        (
            "nvidia_driver",
            None,
            "nvidia_driver: overlay.yaml: each behaviour needs one entry that covers v31.0.0; owners has 0",
        ),
        ("operands", "states: []\nbehaviour: {}\n", "operand folders that the overlay does not order: state-driver"),
        ("operands", "states: 1\nbehaviour: {}\n", "operands/overlay.yaml has a form that the importer does not know"),
        ("gpu_cluster", "states: [1]\n", "gpu_cluster/overlay.yaml has a form that the importer does not know"),
        ("operands", "states: [\n", "operands/overlay.yaml:1:9: error PSM003 yaml-syntax"),
        ("operands", "- a\n", "operands/overlay.yaml:1:1: error PSM009 not-a-mapping"),
        (
            "gpu_cluster",
            "states: [{name: a, base: gpucluster-b.yaml}]\nsample: {}\nbehaviour: {}\n",
            "gpu_cluster: there is no gpucluster-b.yaml",
        ),
    ],
    ids=["no behaviour", "no behaviour of drivers", "no state", "form", "form of states", "syntax", "list", "no case"],
)
def test_a_release_that_an_overlay_does_not_cover_is_refused_and_the_overlay_named(run, data, overlay, text, message):
    if text is not None:
        (data / overlay / "overlay.yaml").write_text(text)
    result = run("v31.0.0")

    assert result.code == 1
    assert message in result.err
    assert result.err.endswith("nothing was written\n")


# Input that is broken, or meant ill

ROLE, SET, MINIMAL, CRD = (
    f"{STATE}/0200_role.yaml",
    f"{STATE}/0500_daemonset.yaml",
    f"{GOLDEN}/driver-minimal.yaml",
    f"{CRDS}/policies.yaml",
)
BROKEN = {
    "syntax": (ROLE, "a: [\n", f"{ROLE}:1:4: error PSM"),
    "key twice": (ROLE, "a: 1\na: 2\n", f"{ROLE}:2:1: error PSM"),
    "tab": (MINIMAL, "a:\n\tb: 1\n", f"{MINIMAL}:2:1: error PSM"),
    "null byte": (ROLE, "\x00", ROLE),
    "not UTF-8": (ROLE, b"a: \xff\n", f"{ROLE}:1:4: error PSM"),
    "empty": (ROLE, "# nothing\n", f"{ROLE}: error PSM"),
    "no object": (ROLE, "- 1\n- 2\n", f"{ROLE}:1:"),
    "deep": (ROLE, "- " * 5_000, "nested deeper than"),
    "aliases": (
        ROLE,
        "a: &a [x, x, x, x]\n"
        + "".join(f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        "aliases expand to more than",
    ),
    "escape": (ROLE, "kind: \x1b[31m\n", ROLE),
    "wrong type": (ROLE, right("Role").replace("[get, patch]", "get"), f"{ROLE}:4:"),
    "not of Kubernetes": (ROLE, right("Role").replace("Role", "Rolle"), "operand kind Rolle has no compact form"),
    "kind without a form": (ROLE, an_object("Secret", "a"), "operand kind Secret has no compact form"),
    "url": (
        ROLE,
        right("Role").replace("resources: [nodes]", "nonResourceURLs: [/a]"),
        "state-driver/0200_role.yaml:",
    ),
    "comma": (ROLE, right("Role").replace("[nodes]", "['a,b']"), "a word with `,` in it has no compact form"),
    "colon": (SET, daemon_set().replace("/run/nvidia,", "'/run:/nvidia',"), "a word with `:` in it"),
    "at": (SET, daemon_set().replace("value: b", "value: '@b'"), "variable A starts with @"),
    "field": (SET, daemon_set().replace("updateStrategy:", "minReadySeconds: 3\n  updateStrategy:"), "minReadySeconds"),
    "subject": (
        f"{STATE}/0300_rolebinding.yaml",
        REPOSITORY[f"{STATE}/0300_rolebinding.yaml"].replace("kind: ServiceAccount", "kind: Group"),
        "a subject of kind Group",
    ),
    "case without a container": (f"{GOLDEN}/driver-gds.yaml", rendered(), "no container nvidia-fs-ctr"),
    "case with two": (MINIMAL, f"{rendered()}---\n{daemon_set()}", "2 objects of kind DaemonSet"),
    "no definition": (CRD, an_object("ConfigMap", "a"), "0 definitions of 0 kinds"),
    "two definitions": (CRD, f"{DEFINITION}\n---\n{DEFINITION}\n", "2 definitions of 1 kinds"),
    "nothing stored": (
        CRD,
        DEFINITION.replace('"storage": true', '"storage": false'),
        f"{CRDS}/: a definition has a form that is not understood",
    ),
    "not structural": (CRD, DEFINITION.replace('"type": "string"', '"not": {}'), "not is not understood"),
}


@pytest.mark.rows(5, "each way to be broken once")
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_with_its_place(run, repository, name):
    path, content, message = BROKEN[name]
    (repository / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run()

    assert result.code == 1
    assert message in result.err


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("assets", "it has no assets/ (or operands/)"),
        (GOLDEN, "there is no internal/state/testdata/golden/ (or golden-driver/)"),
        (CRDS, "there is no deployments/gpu-operator/crds/ (or crds/)"),
        (f"{GOLDEN}/driver-rdma.yaml", "there is no driver-rdma.yaml"),
        (f"{GOLDEN}/gpucluster-dra.yaml", "there is no gpucluster-dra.yaml"),
    ],
)
def test_a_part_that_is_missing_is_named(run, repository, path, message):
    (repository / path).rename(repository / "elsewhere")
    result = run()

    assert result.code == (2 if path == "assets" else 1)
    assert message in result.err


@pytest.mark.parametrize(
    "path", ["assets", STATE, ROLE, "internal", MINIMAL, CRDS, CRD, "deployments/gpu-operator/Chart.yaml"]
)
def test_a_link_out_of_the_repository_is_not_followed(run, repository, tmp_path, path):
    outside = tmp_path / "outside"
    (repository / path).rename(outside)
    (repository / path).symlink_to(outside)
    result = run()

    assert result.code == 1
    assert "this symbolic link leads out of the project" in result.err


def test_a_circle_of_links_a_pipe_and_a_deep_folder_end(run, repository):
    (repository / STATE / "loop").symlink_to("..")
    (repository / STATE / "itself.yaml").symlink_to("itself.yaml")
    os.mkfifo(repository / STATE / "pipe.yaml")
    result = run()

    assert result.code == 1
    assert "folders nested deeper than 3 are not read" in result.err
    assert "pipe.yaml: error PSM" in result.err


def test_what_is_read_is_bounded(run, repository, monkeypatch):
    (repository / STATE / "9.yaml").write_text("#" * 5_000)
    monkeypatch.setattr(operator_repository, "MAX_FILE_BYTES", 4_000)
    assert "9.yaml: error PSM" in run().err
    (repository / STATE / "9.yaml").unlink()
    monkeypatch.setattr(operator_repository, "MAX_TOTAL_BYTES", 3_000)
    assert run().err.count("or 3,000 bytes are not read") == 1
    monkeypatch.setattr(operator_repository, "MAX_FILES", 3)
    assert run().err.count("more than 3 files") == 1


@pytest.mark.parametrize(
    "release", ["", "26.7.0", "v26.7", "../v26.7.0", "v26.7.0/../../x", "v1.2.3\n", "v1.2.3-rc.1", "latest"]
)
def test_a_tag_is_no_path(run, release):
    result = run(release)

    assert result.code == 2
    assert "is no tag of a release" in result.err


def test_folders_that_can_not_be_meant(run, tmp_path):
    assert "it has no assets/" in run(folder=tmp_path / "nothing").err
    assert "it has no operands/overlay.yaml" in run(into=tmp_path).err
    with pytest.raises(UsageError):
        import_operands(tmp_path, RELEASE)


def test_a_link_in_the_way_is_replaced_and_a_linked_folder_refused(run, data, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    (data / "operands" / f"{RELEASE}.json").symlink_to(outside / "mine")

    assert run().code == 0
    assert (outside / "mine").read_text() == "mine"
    (data / "crds").rename(tmp_path / "crds")
    (data / "crds").symlink_to(outside)
    (data / "nvidia_driver" / f"{RELEASE}.json").unlink()
    with pytest.raises(WriteError, match="symbolic link"):
        write_entries(data, {f"nvidia_driver/{RELEASE}.json": b"", f"crds/{RELEASE}.json": b""})
    assert sorted(path.name for path in (data / "nvidia_driver").iterdir()) == ["overlay.yaml"]
    assert [path.name for path in outside.iterdir()] == ["mine"]


def test_a_pack_that_is_none(run, data):
    (data / PACK).write_bytes(b"none")

    assert f"{PACK} is no pack of schemas" in run().err


@pytest.mark.rows(2, "random changes of one kind")
@pytest.mark.parametrize("seed", range(20))
def test_no_change_of_a_few_characters_ends_in_a_traceback(run, repository, seed):
    chance = random.Random(seed)
    for _ in range(3):
        path = chance.choice(sorted(REPOSITORY))
        text = (repository / path).read_text()
        at = chance.randrange(len(text))
        changed = (
            text[:at]
            + chance.choice(["", ": ", "- ", "[", "{}", "null", "'", "\n", "!!binary ", "&a ", "*a", "1"])
            + text[at + chance.randrange(6) :]
        )
        (repository / path).write_text(changed)
        assert run().code in (0, 1)


# The forms of objects

POD = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}
VOLUMES = [
    {"name": "a", "hostPath": {"path": "/a b"}},
    {"name": "b", "hostPath": {"path": "/b", "type": "Directory"}},
    {"name": "c", "emptyDir": {"medium": "Memory"}},
    {"name": "d", "emptyDir": {}},
    {"name": "e", "configMap": {"name": "e", "defaultMode": 0o700}},
    {"name": "f", "configMap": {"name": "f", "items": [{"key": "a", "path": "b"}]}},
]
CONTAINER = {
    "name": "a",
    "env": [
        {"name": "A", "value": "b"},
        {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName", "apiVersion": "v1"}}},
        {"name": "D", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}},
    ],
    "volumeMounts": [{"name": "a", "mountPath": "/a", "readOnly": True, "subPath": "b"}],
}


def test_a_form_unfolds_to_the_object_that_it_was_made_of():
    pod = {
        **POD,
        "spec": {"initContainers": [CONTAINER], "containers": [CONTAINER], "volumes": VOLUMES, "hostPID": True},
    }
    made = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod},
    }

    assert whole(json.loads(json.dumps(compact_object(json.loads(json.dumps(made))))), "n") == made


def test_what_a_form_would_lose_is_refused():
    (document,) = read_documents(right("ClusterRole") + "aggregationRule: {}\n")

    with pytest.raises(PoolsmithError, match="`aggregationRule` of ClusterRole/nvidia-driver has no compact form"):
        compact_object(document)
