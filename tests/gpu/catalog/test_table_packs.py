"""Rows of tables from packs: each by one command from what a vendor publishes, pinned, and judged like what is built in."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys

import pytest

from poolsmith.core.diagnostics import PoolsmithError, UsageError
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import using
from poolsmith.core.facts.table_merge import TABLES, rows_of
from poolsmith.core.sources.source_file import digest
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.gpu.catalog.pack_tables import FORMS, table_problem
from poolsmith.interface.app import check_paths, check_project, generate
from poolsmith.interface.app.catalog_outdated import outdated
from poolsmith.interface.app.catalog_packs import import_pack, pin_packs
from poolsmith.project.run.facts import packs_of
from support.clusters import CLUSTER, POOL, profile
from support.git_repository import commit_all

NAME = "vendor"
KATA = {
    "workload": "kata",
    "driver": None,
    "sandbox": "{release: 4.2.0}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}, {fact: kubelet-pod-resources}, "
    "{fact: kubelet-request-timeout}]",
}
V26_7 = {"stack": "{release: v26.7.0}"}
MANUAL = {"driver": "{source: preinstalled}", "toolkit": "{source: preinstalled}"}
CVE = {
    "dataType": "CVE_RECORD",
    "cveMetadata": {"cveId": "CVE-2027-10001", "datePublished": "2027-01-02T00:00:00.000Z"},
    "containers": {
        "cna": {
            "affected": [
                {
                    "product": "Container Toolkit",
                    "versions": [
                        {
                            "status": "affected",
                            "version": "NVIDIA Container Toolkit All versions up to and including 1.20.0 (CDI mode only "
                            "for versions prior to 1.17.5)",
                        },
                        {
                            "status": "affected",
                            "version": "NVIDIA GPU Operator All versions up to and including 26.7.0",
                        },
                    ],
                }
            ],
            "metrics": [{"cvssV3_1": {"baseSeverity": "CRITICAL"}}],
        }
    },
}
OSV = {
    "id": "GHSA-1111-2222-3333",
    "aliases": ["CVE-2027-10002"],
    "published": "2027-01-03T00:00:00Z",
    "affected": [
        {
            "package": {"ecosystem": "Go", "name": "github.com/NVIDIA/nvidia-container-toolkit"},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.20.1"}]}],
        },
        {
            "package": {"ecosystem": "Go", "name": "github.com/NVIDIA/gpu-operator"},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "26.7.1"}]}],
        },
    ],
}


def rows(table, entries, **more):
    return {"table": table, "source": "the vendor's page", "entries": entries, **more}


@pytest.fixture
def project(tmp_path):
    """A cluster with one pool, written by fields as text; and what generating it says."""
    root = tmp_path / "project"

    def made(cluster=None, pool=None):
        folder = root / "profiles/lab"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cluster.yaml").write_text(profile("Cluster", "lab", {**CLUSTER, **(cluster or {})}))
        (folder / "a.yaml").write_text(profile("NodePool", "a", {**POOL, **(pool or {})}))
        return root, generate(root).outcome

    return made


def taken(root, source):
    made, pinned = import_pack(root, source, None, name=NAME)
    assert not made.failed
    assert pinned.problems == ()
    return made


def written(tmp_path, content, name="source.json"):
    path = tmp_path / name
    path.write_text(json.dumps(content))
    return path


def chart(tmp_path, name, version, values, **more):
    folder = tmp_path / name
    folder.mkdir()
    about = {"apiVersion": "v2", "name": name, "version": version, "appVersion": version, **more}
    (folder / "Chart.yaml").write_text(emit(about))
    (folder / "values.yaml").write_text(emit(values))
    return folder


def codes(outcome):
    return {item.code for item in outcome.diagnostics if item.severity != "note"}


def known_values(name, version):
    return store.read_json(f"charts/{name}/{version}.json")["defaults"]


def test_a_new_kata_deploy_comes_by_its_chart(project, tmp_path):
    root, before = project(V26_7, KATA)
    taken(root, chart(tmp_path, "kata-deploy", "4.2.0", known_values("kata-deploy", "4.1.0")))
    _, after = project(V26_7, KATA)

    assert "PSM201" in codes(before)
    assert codes(after) == set()
    release = (root / "output/clusters/lab/units/kata-deploy").rglob("*.yaml")
    assert any("4.2.0" in path.read_text() for path in release)


def test_a_new_device_plugin_comes_by_its_chart(project, tmp_path):
    cluster = {"stack": "{kind: device-plugin, release: v0.21.0, namespace: gpu}"}
    root, before = project(cluster, MANUAL)
    brought = [{"name": "node-feature-discovery", "version": "0.19.0"}]
    taken(root, chart(tmp_path, "nvidia-device-plugin", "0.21.0", {}, dependencies=brought))
    _, after = project(cluster, MANUAL)

    assert "PSM201" in codes(before)
    assert codes(after) == set()
    assert any("v0.21.0" in path.read_text() for path in (root / "output/clusters/lab").rglob("*.yaml"))


def test_a_new_exporter_comes_by_its_chart(project, tmp_path):
    cluster = {"stack": "{kind: device-plugin, release: v0.20.0, namespace: gpu, dcgmExporter: {release: 4.6.0-4.8.3}}"}
    root, before = project(cluster, MANUAL)
    values = known_values("dcgm-exporter", "4.5.3-4.8.2")
    values["image"]["tag"] = "4.6.0-4.8.3-distroless"
    taken(root, chart(tmp_path, "dcgm-exporter", "4.8.3", values))
    _, after = project(cluster, MANUAL)

    assert "PSM201" in codes(before)
    assert codes(after) == set()
    assert any("4.8.3" in path.read_text() for path in (root / "output/clusters/lab").rglob("*.yaml"))


DRIVER_VALUES = {"nvidiaDriverRoot": "/", "kubeletPlugin": {"priorityClassName": "x", "newSwitch": False}}
DRIVER_TEMPLATE = """\
apiVersion: apps/v1
kind: DaemonSet
spec:
  root: {{ .Values.nvidiaDriverRoot }}
  class: {{ .Values.kubeletPlugin.priorityClassName }}
  switch: {{ .Values.kubeletPlugin.newSwitch }}
"""


def driver_chart(tmp_path, version="0.9.0"):
    folder = chart(tmp_path, "dra-driver-nvidia-gpu", version, DRIVER_VALUES)
    (folder / "templates").mkdir()
    (folder / "templates/plugin.yaml").write_text(DRIVER_TEMPLATE)
    return folder


def told_of_values(root, values, version="0.9.0"):
    (root / "apps").mkdir(exist_ok=True)
    chart_of = {
        "chart": "dra-driver-nvidia-gpu",
        "version": version,
        "sourceRef": {"kind": "HelmRepository", "name": "n"},
    }
    release = {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "dra", "namespace": "dra"},
        "spec": {"interval": "1h", "chart": {"spec": chart_of}, "values": values},
    }
    (root / "apps/dra.yaml").write_text(emit(release))
    found = check_paths(root, [root / "apps"]).diagnostics
    return {item.code: f"{item.message}; {item.help}" for item in found}


def test_a_new_dra_driver_comes_by_its_chart(project, tmp_path):
    root, _ = project(V26_7)
    values = {"nvidiaDriverRoot": "/run/nvidia/driver", "kubeletPlugin": {"newSwich": True}}
    before = told_of_values(root, values)
    taken(root, driver_chart(tmp_path))
    after = told_of_values(root, values)

    assert "PSM301" not in before
    assert "newSwitch" in after["PSM301"]
    assert "PSM301" not in told_of_values(root, {"kubeletPlugin": {"newSwitch": True}})
    assert "PSM322" in told_of_values(root, {"kubeletPlugin": {"newSwitch": True}}, "0.4.1")


def test_a_new_feature_discovery_comes_by_its_chart(project, tmp_path):
    root, before = project({"stack": "{release: v26.7.0, values: {nfd: {enabled: true}}}"})
    folder = chart(tmp_path, "node-feature-discovery", "0.20.0", {"master": {"enable": True}})
    (folder / "templates").mkdir()
    (folder / "templates/master.yaml").write_text("a: {{ .Values.master.enable }}\n")
    made = taken(root, folder)

    assert {path.partition(":")[0] for path in made.taken} == {
        "tables/node-feature-discovery.json",
        "stack_charts/node-feature-discovery/0.20.0.json",
    }
    newer = {item.table: item.newest for item in ages_of(root)}
    assert newer["node-feature-discovery"] == "0.20.0"
    assert not codes(before)


def ages_of(root):
    with using(packs_of(root)[0]):
        return outdated(TODAY).tables


@pytest.mark.parametrize(
    "change",
    [
        {"paths": {}},
        {"paths": {"a..b": {"read": "all"}}},
        {"paths": {"a": {"read": "0.4.0..9"}}},
        {"paths": {"a": {"type": 7}}},
        {"paths": {"a": {"read": "all", "exec": "rm"}}},
        {"paths": {"a": ["all"]}},
        {"tags": ["0.4.1"]},
        {"tags": ["0.9.0", "1.0.0"]},
        {"subcharts": {"x": {"chart": "y"}}},
        {"subcharts": {"x": {"chart": "y", "versions": {"0.9.0": {}}}}},
        {"subcharts": []},
        {"source": 1},
        {"schemaSince": "0.1.0"},
    ],
)
def test_values_of_another_form_are_refused(project, tmp_path, change):
    root, _ = project(V26_7)
    taken(root, driver_chart(tmp_path))
    edited(root, "stack_charts/nvidia-dra-driver-gpu/0.9.0.json", change)

    assert {item.code for item in pin_packs(root).problems} == {"PSM021"}
    assert {item.code for item in packs_of(root)[1]} == {"PSM021"}


def test_values_of_no_version_are_refused(project, tmp_path):
    root, _ = project(V26_7)
    import_pack(root, driver_chart(tmp_path, "latest"), None, name=NAME)

    assert {item.code for item in packs_of(root)[1]} <= {"PSM020", "PSM021"}
    assert packs_of(root)[0].packs == ()


def test_a_record_that_is_built_in_corrects_nothing(project, tmp_path):
    root, _ = project(V26_7)
    record = json.loads(json.dumps(CVE).replace("CVE-2027-10001", "CVE-2026-24260").replace("1.20.0", "1.19.0"))
    record["containers"]["cna"]["affected"][0]["versions"].pop()
    record["containers"]["cna"]["metrics"] = []
    with pytest.raises(PoolsmithError, match="already"):
        import_pack(root, written(tmp_path, record), None, name=NAME)


def edited(root, path, change):
    """A file of the pack with other fields, and its new hash in the manifest."""
    file, manifest = root / f"profiles/_catalog/{NAME}/{path}", root / f"profiles/_catalog/{NAME}/pack.yaml"
    old = digest(file.read_bytes())
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    manifest.write_text(manifest.read_text().replace(old, digest(file.read_bytes())))


def test_values_that_are_built_in_come_in_no_pack(project, tmp_path):
    root, _ = project(V26_7)
    with pytest.raises(PoolsmithError, match="already"):
        import_pack(root, driver_chart(tmp_path, "0.4.1"), None, name=NAME)


@pytest.mark.parametrize(("record", "identifier"), [(CVE, "CVE-2027-10001"), (OSV, "CVE-2027-10002")])
def test_a_new_vulnerability_comes_by_its_record(project, tmp_path, record, identifier):
    root, before = project(V26_7)
    taken(root, written(tmp_path, record))
    _, after = project(V26_7)

    assert "PSM170" not in codes(before)
    (found,) = [item for item in after.diagnostics if item.code == "PSM170"]
    assert identifier in found.message
    assert "v26.7.1" in found.help
    assert "1.20.1" in found.help
    assert "PSM170" not in codes(project({"stack": "{release: v26.7.0, values: {toolkit: {version: v1.20.1}}}"})[1])


def test_a_vulnerability_that_no_release_mends_yet_is_told_of_all(project, tmp_path):
    of_toolkit = {**OSV, "affected": [{**OSV["affected"][0], "ranges": [{"events": [{"fixed": "9.9.9"}]}]}]}
    root, _ = project(V26_7)
    taken(root, written(tmp_path, of_toolkit))
    (found,) = [item for item in project(V26_7)[1].diagnostics if item.code == "PSM170"]

    assert "CVE-2027-10002" in found.message
    assert found.help == "pin `toolkit.version` v9.9.9 or later in `stack.values`"


def test_a_new_gpu_of_a_new_generation_comes_by_rows(project, tmp_path):
    pool = {"gpu": "{product: R100, count: 8}", "driver": "{source: container, version: 595.91.07}"}
    root, before = project(V26_7, pool)
    content = rows(
        "architectures",
        {"rubin": {"open": "required", "proprietary": "unsupported", "lastBranch": None, "firstBranch": "620"}},
    )
    import_pack(root, written(tmp_path, content), None, name="rubin")
    content = rows("gpus", {"R100": {"architecture": "blackwell", "mig": True, "minDriver": "620.10"}})
    taken(root, written(tmp_path, content))
    _, after = project(V26_7, pool)

    assert "PSM204" in codes(before)
    assert codes(after) == {"PSM239"}
    assert codes(project(V26_7, {**pool, "driver": "{source: container, version: 620.20.01}"})[1]) == set()
    declared = {**pool, "gpu": "{product: R200, count: 8, architecture: rubin}"}
    assert codes(project(V26_7, declared)[1]) == {"PSM239"}


def test_a_newer_kubernetes_of_a_known_line_comes_by_rows(project, tmp_path):
    cluster = {**V26_7, "kubernetes": '{version: "1.38", distribution: kubeadm}'}
    root, before = project(cluster)
    taken(root, written(tmp_path, rows("kubernetes", {"26.7": ["1.33", "1.38"]})))
    _, after = project(cluster)

    assert "PSM208" in {item.code for item in before.diagnostics}
    assert "PSM208" not in {item.code for item in after.diagnostics}


def test_a_new_distribution_is_like_a_known_one(project, tmp_path):
    cluster = {"kubernetes": '{version: "1.33", distribution: vendor-os}'}
    root, before = project(cluster)
    content = rows(
        "distributions", {"vendor-os": {"like": "k3s", "source": "its page", "containerd": {"config": "/etc/v/c.toml"}}}
    )
    taken(root, written(tmp_path, content))
    _, after = project(cluster)

    assert "PSM203" in codes(before)
    assert codes(after) == set()
    assert any("/etc/v/c.toml" in path.read_text() for path in (root / "output/clusters/lab").rglob("*.yaml"))


def test_branches_come_by_the_vendors_list(project, tmp_path):
    pool = {"driver": "{source: container, version: 700.10.01}"}
    root, _ = project(V26_7, pool)
    made = taken(
        root, written(tmp_path, {"700": {"type": "production branch", "driver_info": []}, "580": {"type": "lts"}})
    )

    assert "`700`" in made.taken[0]
    assert made.unknown
    content = rows("driver-branches", {"700": {"designation": None, "ends": "2020-01"}})
    import_pack(root, written(tmp_path, content), None, name=NAME)
    found = [item for item in project(V26_7, pool)[1].diagnostics if item.code == "PSM171"]
    assert [item.primary.span.path for item in found] == ["profiles/lab/a.yaml"]


def test_a_correction_is_told_and_holds(project, tmp_path):
    pool = {"gpu": "{product: B200, count: 8}", "driver": "{source: container, version: 570.133.20}"}
    root, before = project(V26_7, pool)
    taken(root, written(tmp_path, rows("gpus", {"B200": {"minDriver": "570.148.08"}})))
    _, after = project(V26_7, pool)

    assert "PSM239" not in codes(before)
    assert "PSM239" in codes(after)
    for outcome in (after, check_project(root)):
        (note,) = [item for item in outcome.diagnostics if item.code == "PSM022"]
        assert "570.148.08" in note.message
        assert "570.133.20" in note.message


def test_a_row_that_is_built_in_is_not_changed_in_silence(project, tmp_path):
    root, _ = project(V26_7)
    taken(root, written(tmp_path, rows("gpus", {"B200": {"minDriver": "570.148.08"}})))
    edited(root, "tables/gpus.json", {"corrects": []})

    assert [item.code for item in pin_packs(root).problems] == ["PSM021"]
    assert {item.code for item in packs_of(root)[1]} == {"PSM021"}


def test_clusters_name_the_pack_behind_them(project, tmp_path):
    root, _ = project(V26_7)
    taken(root, written(tmp_path, rows("gpus", {"R100": {"architecture": "blackwell", "mig": False}})))
    project(V26_7)

    assert "_catalog/vendor/pack.yaml" in (root / "output/clusters/lab/poolsmith.lock.json").read_text()


def test_what_the_catalog_has_already_makes_no_pack(project, tmp_path):
    root, _ = project(V26_7)
    with pytest.raises(PoolsmithError, match="already"):
        import_pack(root, written(tmp_path, rows("gpus", {"B200": {"architecture": "blackwell"}})), None, name=NAME)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({"x": 1}, "no CVE record"),
        (rows("gpu", {"R100": {}}), "rows need"),
        (rows("gpus", {"R100": {"mig": True}}), "lacks"),
        (rows("gpus", {"R100": {"architecture": "blackwell", "mig": "yes"}}), "`mig`"),
        (rows("gpus", {"R100": {"architecture": "blackwell", "mig": True, "minDriver": 620}}), "`minDriver`"),
        (rows("gpus", {"R100": {"architecture": "blackwell", "mig": True, "exec": "rm"}}), "no field"),
        (rows("vulnerabilities", {"GHSA-1": {"toolkit": "1.0.0", "operator": "v1.0.0", "source": "x"}}), "no key"),
        (rows("kubernetes", {"27.1": ["1.33", "1.38"]}), "no built-in line"),
        (rows("kubernetes", {"26.7": ["1.33"]}), "not what"),
        (rows("distributions", {"xx": {"like": "y", "source": "z"}}), "names no built-in"),
        (rows("gpus", {"NVIDIA-B 200": {"architecture": "ampere", "mig": False}}), "by another name"),
        (rows("product-labels", {"Tesla-B200": "A30"}), "by another name"),
        *(
            (rows("kubernetes", {"26.7": ["1.33", "1.38"]}, asOf=day), "no day")
            for day in ("2026-11-31", "2026-13", 20261120)
        ),
        (rows("architectures", {"rubin": {"firstBranch": 620}}), "another row has '"),
        ({**OSV, "affected": []}, "names no version of the container toolkit"),
        ({**CVE, "containers": []}, "names no version"),
    ],
)
def test_what_says_too_little_or_another_thing_is_refused(project, tmp_path, content, why):
    root, _ = project(V26_7)
    with pytest.raises((PoolsmithError, UsageError), match=why):
        import_pack(root, written(tmp_path, content), None, name=NAME)
    assert not (root / "profiles/_catalog").exists()


@pytest.mark.parametrize("table", sorted(TABLES))
def test_what_is_built_in_has_the_form_that_packs_have_to_have(table):
    """Of the fields that a pack may have; a hostile value in any of them is refused."""
    form, known = FORMS[table], rows_of(table, store.read_own_yaml(TABLES[table].file))

    assert known
    for key, facts in known.items():
        if facts is None:
            continue  # a line without support
        if not isinstance(facts, dict):
            content = {"source": "x", "entries": {key: facts}, "corrects": [key]}
            assert table_problem(table, content) is None, key
            continue
        given = {field: value for field, value in facts.items() if field in form.fields}
        content = {"source": "x", "entries": {key: given}, "corrects": [key]}
        assert table_problem(table, content) is None, key
        for field in form.fields:
            for hostile in (7, 1.5, ["x"], {"x": "y"}, "\n", "9" * 9999, ""):
                content = {"source": "x", "entries": {key: {field: hostile}}, "corrects": [key]}
                assert table_problem(table, content) is None or table_problem(table, content)


TODAY = dt.date(2026, 11, 27)


def test_each_table_says_its_age_and_what_it_was_read_from():
    found = {item.table: item for item in outdated(TODAY).tables}

    assert found.keys() == {"releases", *TABLES}
    assert all(item.rows and item.source and dt.date.fromisoformat(item.as_of) <= TODAY for item in found.values())
    assert found["driver-branches"].days == (TODAY - dt.date(2026, 9, 15)).days
    assert found["driver-branches"].newest == "615"


def test_a_folder_of_vendors_says_what_is_newer(tmp_path):
    folder = tmp_path / "vendors"
    folder.mkdir()
    chart(folder, "kata-deploy", "4.9.0", {})
    chart(folder, "node-feature-discovery", "0.17.3", {})
    written(folder, CVE, "cve.json")
    written(folder, {"700": {"type": "production branch"}}, "releases.json")
    index = {"entries": {"gpu-operator": [{"version": "v27.1.0"}, {"version": "v26.7.0"}, {"version": "v27.3.0-rc.1"}]}}
    (folder / "index.yaml").write_text(emit(index))
    (folder / "notes.txt").write_text("x")
    (folder / "empty").mkdir()
    (folder / "broken.json").write_text("{")
    found = outdated(TODAY, folder)

    assert {(item.table, item.what) for item in found.newer} == {
        ("kata-deploy", "4.9.0"),
        ("vulnerabilities", "CVE-2027-10001"),
        ("driver-branches", "700"),
        ("releases", "v27.1.0"),
    }
    assert found.unread == ("broken.json", "empty", "notes.txt")


def test_rows_that_need_each_other_come_in_one_pack(project, tmp_path):
    pool = {"gpu": "{product: R100, count: 8}", "driver": "{source: container, version: 595.91.07}"}
    root, _ = project(V26_7, pool)
    tables = {
        "architectures": {
            "rubin": {"open": "required", "proprietary": "unsupported", "lastBranch": None, "firstBranch": "620"}
        },
        "gpus": {"R100": {"architecture": "rubin", "mig": True}},
    }
    taken(root, written(tmp_path, {"source": "the vendor's page", "tables": tables}))

    assert codes(project(V26_7, pool)[1]) == {"PSM239"}


def test_a_change_that_corrects_a_built_in_fact_says_so(project, tmp_path):
    root, _ = project(V26_7)
    commit_all(root)
    taken(root, written(tmp_path, rows("gpus", {"B200": {"minDriver": "570.148.08"}})))
    command = [sys.executable, "-m", "poolsmith", "diff", "--base", "HEAD", "--root", str(root)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "it corrects built-in facts: `B200 (gpus)`" in told


def test_a_line_that_is_supported_again_is_a_correction(project, tmp_path):
    root, before = project({"stack": "{release: v25.10.1, values: {toolkit: {version: v1.19.1}}}"})
    taken(root, written(tmp_path, rows("supported-lines", {"25.10": "v25.10.1"})))
    _, after = project({"stack": "{release: v25.10.1, values: {toolkit: {version: v1.19.1}}}"})

    assert "PSM171" in {item.code for item in before.diagnostics}
    assert "PSM171" not in {item.code for item in after.diagnostics}
    assert "PSM022" in {item.code for item in after.diagnostics}
