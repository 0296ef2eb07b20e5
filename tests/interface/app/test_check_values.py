"""Where `check PATH` finds Helm values, by which release it judges them, and what it counts as skipped."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from poolsmith.core.diagnostics import NoInputError, UsageError
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app import check_paths

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
{chart}
  values:
    driver: {{enabeld: true}}
"""
CHART = '  chart: {{spec: {{chart: {chart}, version: "{version}", sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}'


def release(chart="gpu-operator", version="v26.3.3"):
    return RELEASE.format(chart=CHART.format(chart=chart, version=version))


@pytest.fixture
def judge(write_files):
    def run(files, *names, **options):
        root = write_files(files)
        return check_paths(root, [root / name for name in names] or [root], **options, everything=True)

    return run


def names(outcome):
    """What is said of the values; not what an old release is open to by itself, nor how its version is written."""
    others = ("vulnerable-toolkit", "floating-version")
    return [(item.name, str(item.primary.span)) for item in outcome.diagnostics if item.name not in others]


def reasons(outcome):
    return [item.reason for item in outcome.skipped]


@pytest.mark.parametrize("version", ["v26.3.3", "26.3.3", "v22.9.0"])
def test_a_helm_release_is_judged_by_its_chart_version(judge, version):
    outcome = judge({"a.yaml": release(version=version)})

    assert names(outcome) == [("unknown-value", "a.yaml:8:14")]
    assert outcome.checked["values documents"] == 1


@pytest.mark.parametrize("version", ["26.3.x", ">=26.0.0", "*", "${RELEASE}"])
def test_a_floating_or_unknown_release_is_judged_all_the_same(judge, version):
    outcome = judge({"a.yaml": release(version=version)})

    assert ("unknown-value", "a.yaml:8:14") in names(outcome)
    assert outcome.checked["values documents"] == 1


@pytest.mark.parametrize(("version", "age"), [("v99.0.0", "newer"), ("v1.11.1", "older")])
def test_a_release_beyond_all_known_ones_is_said_not_to_be_judged(judge, version, age):
    outcome = judge({"a.yaml": release(version=version)})

    assert ("not-judged", "a.yaml:7:3") in names(outcome)
    assert outcome.coverage.line.startswith(
        f"judged 0 of 1 GPU configuration; not judged: a.yaml:7:3, gpu-operator ({version}"
    )
    assert age in outcome.coverage.line
    assert outcome.checked["values documents"] == 0


def test_a_flag_says_the_release_of_what_does_not(judge):
    assert names(judge({"a.yaml": release(version="26.x")}, release="v26.3.3")) == [("unknown-value", "a.yaml:8:14")]


def test_a_patch_of_a_release_is_judged_by_all_releases_or_by_the_one_of_the_flag(judge):
    patch = RELEASE.replace("{chart}\n", "").format()

    assert ("unknown-value", "a.yaml:7:14") in names(judge({"a.yaml": patch}))
    assert ("unknown-value", "a.yaml:7:14") in names(judge({"a.yaml": patch}, release="v26.3.3"))


def test_another_chart_is_left_alone(judge):
    outcome = judge({"a.yaml": release(chart="gpu-operator-dashboards")})

    assert (names(outcome), "values documents" in outcome.checked) == ([], False)


def test_an_oci_repository_says_the_release_of_who_refers_to_it(judge):
    source = """\
    apiVersion: source.toolkit.fluxcd.io/v1
    kind: OCIRepository
    metadata: {name: gpu-operator, namespace: gpu-operator}
    spec: {interval: 1h, url: oci://registry.example.com/charts/gpu-operator, ref: {tag: v26.3.3}}
    """
    text = RELEASE.format(chart="  chartRef: {kind: OCIRepository, name: gpu-operator}")

    assert names(judge({"a.yaml": text, "b.yaml": source})) == [("unknown-value", "a.yaml:8:14")]


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: gpu-operator, namespace: argocd}}
spec:
  project: default
  destination: {{name: in-cluster, namespace: gpu-operator}}
  {source}
"""


def test_an_application_has_values_as_an_object_or_as_a_text(judge):
    head = "source: {repoURL: https://example.com, chart: gpu-operator, targetRevision: v26.3.3, helm: "
    as_object = APPLICATION.format(source=head + "{valuesObject: {mgi: {strategy: mixed}}}}")
    as_text = APPLICATION.format(source=head + '{values: "driver: {}\\nmgi: {}\\n"}}')
    as_sources = as_object.replace("source: {", "sources: [{").replace("}}}}", "}}}}]")

    assert names(judge({"a.yaml": as_object})) == [("unknown-value", "a.yaml:7:110")]
    (finding,) = judge({"a.yaml": as_text}).diagnostics
    assert "line 2 of the text" in finding.message
    assert [name for name, _ in names(judge({"a.yaml": as_sources}))] == ["unknown-value"]


def test_a_named_file_without_kind_is_a_values_file_when_the_release_is_given(judge):
    files = {"values.yaml": "anything: 1\n"}

    assert names(judge(files, "values.yaml", release="v26.3.3")) == [("unknown-value", "values.yaml:1:1")]
    with pytest.raises(NoInputError, match=r"document 1 has no apiVersion and kind; .* say which with --release"):
        judge(files, "values.yaml")


def test_helm_reads_only_the_first_document_of_a_values_file(judge):
    files = {"values.yaml": "mig: {strategy: none}\n---\ncdi: {enabled: true}\n---\n"}

    assert names(judge(files, "values.yaml", release="v26.3.3")) == [("several-documents", "values.yaml:3:1")]
    assert names(judge(files, release="v26.3.3")) == [("several-documents", "values.yaml:3:1")]


def test_an_object_before_a_document_without_kind_is_no_values_file(judge):
    files = {"values.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nmig: {strategy: none}\n"}

    assert names(judge(files, release="v26.3.3")) == [("schema-violation", "values.yaml:5:1")]


@pytest.mark.parametrize(("text", "what"), [("- driver: {}\n", "a list"), ("driver\n", "a single value")])
def test_a_values_file_that_is_named_is_a_mapping(judge, text, what):
    (finding,) = judge({"values.yaml": text}, "values.yaml", release="v26.3.3").diagnostics

    assert finding.message == f"the values are {what}, not a mapping"
    with pytest.raises(NoInputError, match="nothing was checked"):
        judge({"values.yaml": text}, release="v26.3.3")


def test_in_a_folder_a_file_has_to_look_like_values(judge):
    files = {"values.yaml": "driver: {enabeld: 1}\n", "other.yaml": "anything: 1\n", "Chart.yaml": "name: c\n"}
    outcome = judge(files, release="v26.3.3")

    assert names(outcome) == [("unknown-value", "values.yaml:1:10")]
    assert len([reason for reason in reasons(outcome) if "apiVersion" in reason]) == 2


def test_an_umbrella_charts_values_are_judged_below_the_charts_name(judge):
    outcome = judge({"values.yaml": "gpu-operator: {driver: {enabeld: true}}\nother: {}\n"}, release="v26.3.3")

    assert names(outcome) == [("unknown-value", "values.yaml:1:25")]


def test_a_release_that_only_the_values_table_has_is_no_mistake(judge):
    assert names(judge({"v.yaml": "driver: {usePrecompiled: true}\n"}, release="v22.9.0")) == [
        ("value-of-later-release", "v.yaml:1:10")
    ]
    with pytest.raises(UsageError, match="did you mean `v26"):
        judge({"v.yaml": "driver: {}\n"}, release="v26.3.33")


RKE2 = """\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: gpu-operator, namespace: kube-system}
spec:
  repo: https://helm.ngc.nvidia.com/nvidia
  chart: gpu-operator
  version: 24.9.2
  targetNamespace: gpu-operator
  valuesContent: |-
    toolkit:
      env:
      - name: CONTAINERD_CONFIG
        value: /var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl
      - name: CONTAINERD_SOCKET
        value: /run/k3s/containerd/containerd.sock
"""
CLUSTER_API = """\
apiVersion: addons.cluster.x-k8s.io/v1alpha1
kind: HelmChartProxy
metadata: {name: gpu-operator}
spec:
  chartName: gpu-operator
  repoURL: https://helm.ngc.nvidia.com/nvidia
  version: v26.3.3
  valuesTemplate: |
    driver:
      enabeld: true
"""


@pytest.mark.parametrize(
    ("text", "rule", "line"), [(RKE2, "runtime-config-template", 4), (CLUSTER_API, "unknown-value", 2)]
)
def test_values_of_k3s_rke2_and_cluster_api_are_found(judge, text, rule, line):
    outcome = judge({"a.yaml": text})
    (finding,) = [item for item in outcome.diagnostics if item.name == rule]

    held = next(at for at, row in enumerate(text.splitlines(), 1) if row.rstrip().endswith(("|", "|-", "|2")))
    assert (finding.primary.span.start.line, "of the text" in finding.message) == (held + line, False)
    assert outcome.checked["values documents"] == 1


def test_a_template_of_cluster_api_is_skipped_and_counted(judge):
    outcome = judge({"a.yaml": CLUSTER_API.replace("true", "{{ .Cluster.spec.paused }}")})

    assert "unknown: values of a template" in reasons(outcome)


def test_values_from_elsewhere_keep_what_is_missing_unsaid(judge):
    text = release().replace("  values:\n", "  valuesFrom: [{kind: ConfigMap, name: more}]\n  values:\n")
    text = text.replace("driver: {enabeld: true}", "cdi: {nriPluginEnabled: true, enabled: false}")

    assert names(judge({"a.yaml": text})) == []


@pytest.mark.deep("a file of megabytes")
def test_fifty_thousand_unknown_keys_in_a_file_end_soon_with_a_bounded_report(judge):
    text = "".join(f"unknown{number}: {number}\n" for number in range(50_000))
    start = time.perf_counter()
    outcome = judge({"values.yaml": text}, "values.yaml", release="v26.7.0")

    assert time.perf_counter() - start < 60
    assert len(outcome.diagnostics) == 51
    assert "49,950 more findings" in " ".join(item.message for item in outcome.diagnostics)


def test_a_file_of_ten_thousand_lines_is_judged_whole(judge):
    labels = "".join(f"    label{number}: x\n" for number in range(10_000))
    outcome = judge({"v.yaml": f"operator:\n  labels:\n{labels}dcgm: {{enabled: 1}}\n"}, "v.yaml", release="v26.7.0")

    assert names(outcome) == [("value-type", "v.yaml:10003:8")]


def test_nesting_that_no_values_have_ends_as_a_finding(judge):
    text = "driver: " + "{a: " * 5_000 + "1" + "}" * 5_000 + "\n"

    assert [name for name, _ in names(judge({"v.yaml": text}, "v.yaml", release="v26.7.0"))] == ["input-limit"]


def test_the_findings_of_several_documents_of_a_file_share_its_bound(judge):
    text = "---\n".join("".join(f"u{number}: 1\n" for number in range(40)) for _ in range(3))
    outcome = judge({"v.yaml": text}, "v.yaml", release="v26.7.0")

    assert names(outcome).count(("several-documents", "v.yaml:42:1")) == 1
    assert len([item for item in outcome.diagnostics if item.name == "unknown-value"]) == 51
    assert "30 more findings" in " ".join(item.message for item in outcome.diagnostics)


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_documents_that_helm_does_not_read_are_not_judged_one_by_one(judge):
    start = time.perf_counter()
    outcome = judge({"v.yaml": "---\na: 1\n" * 5_000}, "v.yaml", release="v26.7.0")

    assert [name for name, _ in names(outcome)] == ["unknown-value", "several-documents", "unknown-value"]
    assert time.perf_counter() - start < 60


def test_the_sample_fleets_values_are_sound_by_their_own_releases(repository):
    judged = 0
    for values in sorted((repository / "output/clusters").glob("*/platform/values/gpu-operator.yaml")):
        cluster = values.parts[-4]
        profile = (repository / "profiles" / cluster / "cluster.yaml").read_text("utf-8")
        release = read_documents(profile)[0]["spec"]["stack"]["release"]
        outcome = check_paths(repository, [values], release=release, everything=True)
        assert names(outcome) == [], cluster
        judged += outcome.checked["values documents"]

    assert judged >= 3


def test_a_run_without_values_reads_no_table_and_imports_no_rule_over_values(repository, synthetic_fleet):
    program = (
        "import sys; from poolsmith.interface.cli.main import _run; code = _run(sys.argv[1:]);"
        "print(code, [name for name in sys.modules if 'values.judge' in name or 'value_paths' in name], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "generate", "--root", str(synthetic_fleet(1, 1))]
    environment = {**os.environ, "PYTHONPATH": str(repository / "generator")}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    assert run.stderr.splitlines()[-1] == "0 []"
