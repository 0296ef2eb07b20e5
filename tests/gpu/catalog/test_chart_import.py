"""A catalog entry from a small chart: folder and archive, templates read line by line, hostile archives."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

import pytest

from poolsmith.core.diagnostics import PoolsmithError, UsageError
from poolsmith.core.sources import chart_files
from poolsmith.core.sources.chart_files import read_chart_files
from poolsmith.gpu.importing.template_references import Write, references_in

CHART = {
    "Chart.yaml": """\
apiVersion: v2
name: small
version: v1.2.3
kubeVersion: ">= 1.25.0-0"
dependencies:
  - {name: node-feature-discovery, version: 0.18.3, repository: "oci://example.com/charts", condition: nfd.enabled}
""",
    "values.yaml": """\
nfd: {enabled: true}
driver:
  enabled: true
  version: "580"
  env: []
  rdma: {enabled: false}
  probe: {periodSeconds: 3, timeoutSeconds: 1}
daemonsets: {labels: {}, tolerations: []}
unused: {mps: /run}
""",
    "templates/policy.yaml": """\
{{- /* .Values.commented.out is read by nobody */ -}}
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata:
  name: policy
spec:
  driver:
    enabled: {{ .Values.driver.enabled }}
    {{- if .Values.driver.version }}
    version: {{ .Values.driver.version | quote }}
    {{- end }}
    {{- with .Values.driver.rdma }}
    rdma:
      enabled: {{ .enabled }}
      useHostMofed: {{ .useHostMofed }}
    {{- end }}
    env: {{ toYaml .Values.driver.env | nindent 6 }}
    startupProbe: {{ toYaml $.Values.driver.probe | nindent 6 }}
  daemonsets:
    tolerations: {{ toYaml .Values.daemonsets.tolerations | nindent 6 }}
    name: {{ index .Values "daemonsets" "hidden" }}
""",
    "templates/_helpers.tpl": '{{- define "small.labels" -}}{{ toYaml .Values.daemonsets.labels }}{{- end -}}\n',
    "crds/driver.yaml": """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nvidiadrivers.nvidia.com}
spec:
  group: nvidia.com
  scope: Cluster
  names: {kind: NVIDIADriver, plural: nvidiadrivers}
  versions:
    - name: v1alpha1
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {image: {type: string, description: prose}}
""",
    "charts/node-feature-discovery/values.yaml": "worker: {tolerations: []}\n",
    "charts/node-feature-discovery/templates/worker.yaml": "tolerations: {{ .Values.worker.hidden }}\n",
}


@pytest.fixture
def folder(write_files):
    return write_files({f"small/{path}": text for path, text in CHART.items()}) / "small"


@pytest.fixture
def archive(tmp_path):
    """Write a .tgz of members: a name with bytes, or a TarInfo."""

    def write(members, name="chart.tgz"):
        target = tmp_path / name
        with tarfile.open(target, "w:gz") as tar:
            for member, content in members:
                info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        return target

    return write


def test_a_folder_and_an_archive_of_it_give_the_same_entry(folder, archive, run_cli):
    packed = archive((f"small/{path}", text.encode()) for path, text in CHART.items())
    from_folder, from_archive = (run_cli(["catalog", "import", path]) for path in (folder, packed))

    assert (from_folder.code, from_archive.code) == (0, 0)
    assert from_folder.out == from_archive.out


def test_the_entry_says_what_is_read_what_is_dead_and_where_values_go(folder, run_cli):
    entry = json.loads(run_cli(["catalog", "import", folder]).out)

    assert (entry["release"], entry["kubeVersion"]) == ("v1.2.3", ">= 1.25.0-0")
    assert entry["nodeFeatureDiscoveryChart"] == "0.18.3"
    assert entry["nvidiaDriverFields"] == ["image"]
    assert entry["defaults"]["driver"]["version"] == "580"
    assert entry["dead"] == ["unused", "unused.mps"]
    paths = entry["paths"]
    assert paths["driver.version"] == "string"
    assert paths["driver.rdma.useHostMofed"] == "any"
    assert paths["driver.probe.periodSeconds"] == "integer"
    assert {"nfd.enabled", "daemonsets.labels", "daemonsets.hidden"} <= paths.keys()
    assert {"node-feature-discovery.worker.tolerations", "node-feature-discovery.worker.hidden"} <= paths.keys()
    assert "commented.out" not in paths
    assert entry["writes"]["driver.version"] == [
        {"kind": "ClusterPolicy", "field": "spec.driver.version", "quoted": True, "guarded": True}
    ]
    assert entry["writes"]["driver.rdma.enabled"] == [
        {"kind": "ClusterPolicy", "field": "spec.driver.rdma.enabled", "quoted": False, "guarded": False}
    ]
    assert "description" not in json.dumps(entry["crds"])


def test_without_templates_every_declared_path_counts_and_the_entry_says_so(write_files, run_cli):
    root = write_files({"c/Chart.yaml": "name: c\nversion: 1.0.0\n", "c/values.yaml": "a: {b: 1}\n"})
    entry = json.loads(run_cli(["catalog", "import", root / "c", "--release", "v9"]).out)

    assert (entry["release"], entry["paths"], entry["templates"]) == ("v9", {"a": "object", "a.b": "integer"}, False)


def test_the_entry_can_be_written_to_a_file(folder, tmp_path, run_cli):
    target = tmp_path / "entry.json"

    assert run_cli(["catalog", "import", folder, "--output", target]).code == 0
    assert json.loads(target.read_text("utf-8"))["release"] == "v1.2.3"
    assert run_cli(["catalog", "import", folder, "--output", tmp_path / "no/such/folder.json"]).code == 1


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("{{ .Values.a.b }}", {"a.b"}),
        ("{{ $.Values.a }}", {"a"}),
        ('{{ index .Values "a-b" "c" }}', {"a-b.c"}),
        ("{{ if and .Values.a (not .Values.b.c) }}x{{ end }}", {"a", "b.c"}),
        ("{{ with .Values.a }}{{ .b }}{{ end }}{{ .c }}", {"a", "a.b"}),
        ("{{ range .Values.a }}{{ .name }}{{ end }}", {"a"}),
        ("{{ .Release.Name }} {{ .Chart.Version }}", set()),
        ("{{/* .Values.a */}}", set()),
    ],
)
def test_references_are_found_in_actions(text, read):
    assert references_in(text).read == read


def test_a_write_is_a_field_of_an_object():
    text = 'kind: A\nspec:\n  b:\n    c: "{{ .Values.d }}"\n---\nkind: E\nspec:\n  f: {{ .Values.d }}\n'

    assert references_in(text).writes == {
        "d": [Write("A", "spec.b.c", quoted=True, guarded=False), Write("E", "spec.f", quoted=False, guarded=False)]
    }


def link(kind):
    info = tarfile.TarInfo("small/values.yaml")
    info.type, info.linkname = kind, "/etc/passwd"
    return info


HOSTILE = [
    ([("../values.yaml", b"")], "may not leave its folder"),
    ([("small/../../x", b"")], "may not leave its folder"),
    ([("/etc/x", b"")], "may not leave its folder"),
    ([("small\\..\\x", b"")], "may not leave its folder"),
    ([(link(tarfile.SYMTYPE), b"")], "link or device"),
    ([(link(tarfile.LNKTYPE), b"")], "link or device"),
    ([(link(tarfile.FIFOTYPE), b"")], "link or device"),
    ([("small/Chart.yaml", b"a"), ("other/Chart.yaml", b"a")], "one folder"),
    ([("Chart.yaml", b"a")], "one folder"),
    ([("small/Chart.yaml", b"a"), ("small/Chart.yaml", b"b")], "twice"),
    ([("small/" + "a" * 600, b"")], "may not leave its folder"),
]


@pytest.mark.parametrize(("members", "words"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_archive_is_refused(archive, run_cli, members, words):
    result = run_cli(["catalog", "import", archive(members)])

    assert result.code == 1
    assert words in result.err


def test_a_bomb_ends_where_a_chart_would(tmp_path, archive, monkeypatch):
    monkeypatch.setattr(chart_files, "MAX_TOTAL_BYTES", 1 << 20)
    with pytest.raises(PoolsmithError, match="expands to more than"):
        read_chart_files(archive([(f"small/{number}", bytes(1 << 18)) for number in range(8)]))
    monkeypatch.setattr(chart_files, "MAX_FILE_BYTES", 1 << 10)
    with pytest.raises(PoolsmithError, match="is larger than"):
        read_chart_files(archive([("small/a", bytes(1 << 11))]))
    monkeypatch.setattr(chart_files, "MAX_FILES", 3)
    with pytest.raises(PoolsmithError, match="more than 3 entries"):
        read_chart_files(archive([(f"small/{number}", b"") for number in range(9)]))


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", gzip.compress(b"no tar", mtime=0), gzip.compress(b"x" * 5_000, mtime=0)[:-9]],
    ids=["nothing", "a text", "no tar inside", "cut short"],
)
def test_what_is_no_archive_is_said_to_be_none(tmp_path, run_cli, content):
    target = tmp_path / "chart.tgz"
    target.write_bytes(content)

    assert run_cli(["catalog", "import", target]).code == 1


def test_a_folder_with_a_link_is_refused(folder):
    (folder / "templates/link.yaml").symlink_to("/etc/hostname")

    with pytest.raises(PoolsmithError, match="not a regular file"):
        read_chart_files(folder)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"c/values.yaml": "a: 1\n"}, "no Chart.yaml"),
        ({"c/Chart.yaml": "- a\n"}, "not a mapping"),
        ({"c/Chart.yaml": "name: [\n"}, "can't be read"),
        ({"c/Chart.yaml": "name: c\n"}, "--release"),
        ({"c/Chart.yaml": "name: c\nversion: 1\n", "c/values.yaml": "a: 1\na: 2\n"}, "twice"),
        (
            {"c/Chart.yaml": "name: c\nversion: 1\n", "c/crds/a.yaml": "kind: CustomResourceDefinition\n"},
            "without names",
        ),
    ],
)
def test_a_chart_that_can_not_be_read_is_told_in_one_line(write_files, run_cli, files, words):
    result = run_cli(["catalog", "import", write_files(files) / "c"])

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert words in result.err


def test_a_path_that_is_not_there_is_a_mistake_of_the_command(tmp_path):
    with pytest.raises(UsageError):
        read_chart_files(tmp_path / "nothing")


def test_releases_are_listed_and_shown(run_cli):
    listed = run_cli(["catalog", "list"])
    shown = run_cli(["catalog", "show", "26.7.0"])

    assert len(listed.out.splitlines()) == 31
    assert "comes  draDriver" in shown.out
    assert "dead   driver.nvidiaDriverCRD.nodeSelector" in shown.out
    assert len(json.loads(run_cli(["catalog", "list", "--format", "json"]).out)["releases"]) == 31
    assert json.loads(run_cli(["catalog", "show", "v25.3.0", "--format", "json"]).out)["goes"] == [
        "driver.useOpenKernelModules",
        "operator.defaultRuntime",
    ]
    assert run_cli(["catalog", "show", "v1"]).code == 2
