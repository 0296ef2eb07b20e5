"""Helm values judged by a release: what is told, where, with which way out, and what is left alone."""

from __future__ import annotations

import time

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import one_edit
from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE
from poolsmith.core.facts import store
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_values


@pytest.fixture
def judge():
    def run(text, release="v26.3.3", **options):
        (values,) = read_documents(text)
        return judge_values(values, value_paths().release(release), **options)

    return run


def told(judgement):
    """What is said of these values; not what old releases are open to by themselves."""
    return [item for item in judgement.findings if (item.rule.code, item.finding.place) != ("PSM427", ())]


def codes(judgement):
    return [(item.rule.code, ".".join(map(str, item.finding.place))) for item in told(judgement)]


def only(judgement):
    (item,) = told(judgement)
    return item


# values, release, code, words of the help
UNKNOWN = [
    ("mig: {Strategy: mixed}", "v26.3.3", "did you mean `mig.strategy`?"),
    ("driver: {use_precompiled: true}", "v26.3.3", "did you mean `driver.usePrecompiled`?"),
    ("useHostMofed: true", "v26.3.3", "it belongs under `driver.rdma`: `driver.rdma.useHostMofed`"),
    ("driver.version: '570'", "v26.3.3", "write `driver: {version: ...}`"),
    ("toolkit: {rdma: {enabled: true}}", "v26.3.3", "it belongs under `driver`"),
    ("zzz: 1", "v26.3.3", "remove it: Helm drops it silently"),
    (f"{'k' * 300}: 1", "v26.3.3", "remove it: Helm drops it silently"),
]


@pytest.mark.parametrize(("text", "release", "advice"), UNKNOWN, ids=[row[0][:30] for row in UNKNOWN])
def test_an_unknown_key_leads_to_the_one_that_was_meant(judge, text, release, advice):
    item = only(judge(text, release))

    assert item.rule.code == "PSM301"
    assert advice in item.finding.help


def test_a_parent_that_is_unknown_is_told_once(judge):
    assert codes(judge("sandboxWorloads: {enabled: true, defaultWorkload: container}")) == [
        ("PSM301", "sandboxWorloads")
    ]


FREE = [
    "operator: {labels: {a/b: c}, annotations: {x: y}, resources: {limits: {example.com/thing: 1}}}",
    "operator: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {a: 1}}}}",
    "daemonsets: {labels: {team: a}, annotations: {a: b}}",
    "devicePlugin: {env: [{name: A, value: 'b'}], config: {data: {any: 'version: v1'}}}",
    "draDriver: {featureGates: {Any: true}}",
    "node-feature-discovery: {topologyUpdater: {config: {at: all}, annotations: {a: b}, affinity: {a: {b: c}}}}",
    "extraObjects: [{apiVersion: v1, kind: ConfigMap, data: {a: b}}]",
    "driver: {startupProbe: {successThreshold: 1}, livenessProbe: {periodSeconds: 3}}",
    "driver: {version: null, env: null}",
    "global: {anything: 1}\nx-anchors: {a: 1}",
]


@pytest.mark.parametrize("text", FREE)
def test_what_users_name_themselves_stays_free(judge, text):
    assert codes(judge(text, "v26.7.0")) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("operator: {resources: {limitz: {}}}", "operator.resources.limitz"),
        ("driver: {startupProbe: {failureTreshold: 3}}", "driver.startupProbe.failureTreshold"),
        ("operator: {affinity: {nodeAfinity: {}}}", "operator.affinity.nodeAfinity"),
    ],
)
def test_structures_of_kubernetes_are_known_down_to_what_is_free(judge, text, place):
    assert codes(judge(text)) == [("PSM301", place)]


@pytest.mark.parametrize("release", ["v22.9.0", "v26.3.3"])
def test_the_values_of_a_chart_inside_are_judged_by_its_own_version(judge, release):
    judged = judge(
        "node-feature-discovery: {worker: {tolerations: []}, imagePullSecrets: [], gc: {x: {y: 1}}}", release
    )

    assert [place for _, place in codes(judged)][:1] == ["node-feature-discovery.gc" + ".x" * (release > "v23")]
    assert judged.not_evaluated == 0


@pytest.mark.parametrize("path", ["workr", "worker.toleration", "gc.enabled"])
def test_a_key_of_the_subchart_one_letter_from_a_known_one_leads_to_it(judge, path):
    *above, key = path.split(".")
    judged = judge(f"node-feature-discovery: {'{' + ': {'.join([*above, key])}: 1{'}' * len(path.split('.'))}")

    (item,) = judged.findings
    assert (item.rule.code, item.severity) == ("PSM301", Severity.ERROR)
    assert "did you mean `node-feature-discovery." in item.finding.help


def test_a_known_key_of_the_subchart_has_its_type(judge):
    assert codes(judge("node-feature-discovery: {worker: {tolerations: {key: a}}}")) == [
        ("PSM303", "node-feature-discovery.worker.tolerations")
    ]


@pytest.mark.parametrize(
    ("release", "code"),
    [("v23.3.0", "PSM322"), ("v24.9.2", None), ("v25.3.0", "PSM320"), ("v26.7.0", "PSM320")],
)
def test_a_key_is_judged_by_its_own_release(judge, release, code):
    found = codes(judge("driver: {useOpenKernelModules: true}", release))

    assert found == ([(code, "driver.useOpenKernelModules")] if code else [])


def test_a_dead_key_says_since_when_and_what_replaces_it(judge):
    item = only(judge("driver: {useOpenKernelModules: true}"))

    assert "v25.3.0" in item.finding.message
    assert "the protection that it asked for is gone" in item.finding.message
    assert "driver.kernelModuleType" in item.finding.help
    assert item.severity == "error"
    assert only(judge("operator: {defaultRuntime: crio}")).finding.severity is None


def test_what_replaces_a_key_is_named_only_where_the_release_reads_it(judge):
    assert "psa.enabled" in only(judge("psp: {enabled: true}", "v24.3.0")).finding.help


@pytest.mark.parametrize("release", ["v22.9.0", "v24.6.1", "v26.7.0"])
@pytest.mark.parametrize("key", ["tolerations", "nodeSelector", "affinity", "priorityClassName", "securityContext"])
def test_scheduling_keys_of_a_component_are_ignored_in_every_release(judge, release, key):
    assert codes(judge(f"dcgmExporter: {{{key}: x}}", release)) == [("PSM321", f"dcgmExporter.{key}")]


def test_the_operators_own_tolerations_are_not(judge):
    assert codes(judge("operator: {tolerations: [], affinity: {}, priorityClassName: x}")) == []


def test_an_ignored_key_is_told_only_where_it_would_change_something(judge):
    assert codes(judge("kataManager: {enabled: true}", "v26.7.0")) == [("PSM321", "kataManager.enabled")]
    assert codes(judge("kataManager: {enabled: false}", "v26.7.0")) == []
    assert codes(judge("kataManager: {enabled: true}", "v25.10.1")) == []
    assert codes(judge("cdi: {default: true}", "v25.3.4")) == []
    assert codes(judge("cdi: {default: true}", "v25.10.1")) == [("PSM321", "cdi.default")]
    assert codes(judge("cdi: {default: true}", "v26.7.0")) == [("PSM320", "cdi.default")]


@pytest.mark.parametrize("release", ["v23.6.0", "v24.9.2", "v25.10.1", "v26.3.0", "v26.3.1", "v26.3.2", "v26.3.3"])
@pytest.mark.parametrize("config", ["artifactsDir: /opt/kata", "runtimeClasses: [{name: kata-qemu-nvidia-gpu}]"])
def test_the_kata_managers_configuration_is_read_up_to_the_release_that_drops_the_manager(judge, release, config):
    text = f"kataManager: {{enabled: true, config: {{{config}}}}}"

    assert "PSM320" not in {code for code, _ in codes(judge(text, release))}
    assert ("PSM320", f"kataManager.config.{config.partition(':')[0]}") in codes(judge(text, "v26.7.0"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("driver: {upgradePolicy: {maxUnavailable: true}}", "driver.upgradePolicy.maxUnavailable"),
        ("driver: 570", "driver"),
        ("driver: []", "driver"),
        ("toolkit: {env: {A: b}}", "toolkit.env"),
        ("dcgm: {args: [[a]]}", "dcgm.args.0"),
    ],
)
def test_a_value_of_another_type_is_told(judge, text, place):
    assert codes(judge(text)) == [("PSM303", place)]


@pytest.mark.parametrize(
    "text",
    ["dcgm: {enabled: 'true'}", "dcgm: {enabled: 'no'}", "nfd: {enabled: 'true'}", "driver: {enabled: 'False'}"],
)
def test_a_switch_in_quotes_is_let_alone_where_the_template_prints_what_it_says(judge, text):
    assert codes(judge(text)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nfd: {enabled: 'false'}", "every text is true"),
        ("dcgmExporter: {serviceMonitor: {honorLabels: 'true'}}", "the chart takes a boolean"),
        ("dcgm: {enabled: 'ture'}", "the chart takes a boolean"),
        ("dcgm: {enabled: ''}", "the chart takes a boolean"),
        ("dcgm: {enabled: '.inf'}", "the chart takes a boolean"),
    ],
)
def test_elsewhere_it_is_told(judge, text, said):
    (finding,) = [item.finding for item in judge(text).findings if item.finding.message]

    assert said in finding.message


def test_plain_pull_secrets_are_shown_as_the_chart_takes_them(judge):
    item = only(judge("driver: {imagePullSecrets: [{name: registry}]}"))

    assert "imagePullSecrets: [registry]" in item.finding.help


def test_a_whole_number_that_the_template_quotes_is_a_warning_and_a_float_an_error(judge):
    assert only(judge("dcgm: {version: 4}")).severity == "warning"
    assert only(judge("dcgm: {version: 4.10}")).severity == "error"
    assert only(judge("toolkit: {env: [{name: A, value: 1}]}")).severity == "error"


def test_enums_are_judged_where_the_definitions_are_known(judge):
    assert codes(judge("mig: {strategy: Mixed}", "v26.3.0")) == [("PSM323", "mig.strategy")]
    assert codes(judge("mig: {strategy: Mixed}", "v23.9.0")) == []


def test_a_text_with_template_actions_is_not_read_as_yaml(judge):
    assert codes(judge("devicePlugin: {config: {data: {a: 'x: {{ .Values.b }}'}}}")) == []


def test_a_list_of_metrics_is_no_yaml_and_is_fine(judge):
    assert codes(judge("dcgmExporter: {config: {data: {m: 'A, gauge, \"x: y: z'}}}")) == []


REFUSED = [
    ("cdi: {nriPluginEnabled: true, enabled: false}", "v26.3.0", 1),
    ("cdi: {nriPluginEnabled: true, enabled: false}", "v26.7.0", 1),
    ("cdi: {nriPluginEnabled: true}", "v26.3.3", 0),
    ("cdi: {nriPluginEnabled: true}\ntoolkit: {enabled: false}", "v26.7.0", 1),
    ("cdi: {nriPluginEnabled: true}\ntoolkit: {enabled: false}", "v26.3.3", 0),
    ("devicePlugin: {config: {create: true}}", "v26.7.0", 1),
    ("gpuCluster: {deployCR: true}\nclusterPolicy: {deployCR: false}", "v26.7.0", 1),
    ("clusterPolicy: {deployCR: true}", "v26.7.0", 0),
]


@pytest.mark.parametrize(("text", "release", "count"), REFUSED)
def test_what_the_chart_refuses_is_told_before_it_does(judge, text, release, count):
    assert [code for code, _ in codes(judge(text, release))] == ["PSM326"] * count


def test_nothing_is_said_of_missing_values_where_more_come_from_elsewhere(judge):
    text = "cdi: {nriPluginEnabled: true, enabled: false}"

    assert codes(judge(text, partial=True)) == []
    assert codes(judge("cdi: {nriPluginEnabled: true}", beneath={"cdi": {"enabled": False}})) != []


LISTS = [
    ("daemonsets: {tolerations: [{key: a, operator: Exists}]}", "v22.9.0", 1),
    ("daemonsets: {tolerations: [{operator: Exists}]}", "v22.9.0", 0),
    ("daemonsets: {tolerations: []}", "v26.7.0", 0),
    ("daemonsets: {tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoExecute}]}", "v26.7.0", 1),
    ("daemonsets: {tolerations: [{key: nvidia.com/gpu, value: x, effect: NoSchedule}]}", "v26.7.0", 1),
    ("validator: {plugin: {env: [{name: OTHER, value: 'x'}]}}", "v24.9.2", 1),
    ("validator: {plugin: {env: [{name: OTHER, value: 'x'}]}}", "v26.3.3", 0),
]


def test_a_list_that_nothing_acts_on_is_told_once(judge):
    text = "ccManager: {env: [{name: OTHER, value: 'x'}]}"

    assert {code for code, _ in codes(judge(text, "v25.10.0"))} >= {"PSM321"}
    assert "PSM327" not in {code for code, _ in codes(judge(text, "v25.10.0"))}


@pytest.mark.parametrize(("text", "release", "count"), LISTS)
def test_a_list_that_loses_the_charts_own_entries_is_told(judge, text, release, count):
    assert [code for code, _ in codes(judge(text, release)) if code != "PSM295"] == ["PSM327"] * count


def test_a_copied_file_is_told_and_a_small_one_is_not(judge):
    defaults = store.read_json("charts/gpu-operator/v26.3.3.json")["defaults"]
    found = [item.rule.code for item in judge_values(defaults, value_paths().release("v26.3.3")).findings]

    assert found[0] == "PSM328"
    assert codes(judge("driver: {enabled: false}")) == []


def test_fifty_thousand_unknown_keys_end_in_a_bounded_report():
    values = {"driver": {f"unknown{number}": number for number in range(50_000)}}
    start = time.perf_counter()
    judged = judge_values(values, value_paths().release("v26.7.0"))

    assert time.perf_counter() - start < 10
    assert len(judged.findings) == MOST_OF_ONE_RULE + 1
    assert judged.findings[-1].finding.message == "49,950 more findings of `unknown-value` are not shown"


def test_a_long_file_of_sound_values_is_judged_whole():
    values = {"operator": {"labels": {f"l{number}": "x" for number in range(10_000)}}, "dcgm": {"enabled": 1}}
    judged = judge_values(values, value_paths().release("v26.7.0"))

    assert codes(judged) == [("PSM303", "dcgm.enabled")]


def test_deep_nesting_ends():
    values = node = {}
    for _ in range(2_000):
        node["driver"] = {}
        node = node["driver"]

    assert codes(judge_values(values, value_paths().release("v26.7.0"))) == [("PSM301", "driver.driver")]


@pytest.mark.parametrize(
    ("left", "right", "near"),
    [
        ("gfd", "gds", False),
        ("gfd", "gdf", True),
        ("env", "en", True),
        ("env", "envs", True),
        ("env", "anv", True),
        ("env", "env", False),
        ("abcd", "badc", False),
    ],
)
def test_one_edit_is_a_letter_dropped_added_replaced_or_swapped(left, right, near):
    assert one_edit(left, right) == one_edit(right, left) == near


@pytest.mark.parametrize(
    ("values", "place", "advice"),
    [
        ({"nfd": {"worker": {"tolerations": []}}}, ("nfd", "worker"), "`node-feature-discovery.worker`"),
        ({"nfd": {"tolerations": [1]}}, ("nfd", "tolerations"), "`node-feature-discovery.worker.tolerations`"),
        ({"master": {"config": {}}}, ("master",), "`node-feature-discovery.master`"),
        (
            {"node-feature-discovery": {"nodeSelector": {"a": "b"}}},
            ("node-feature-discovery", "nodeSelector"),
            "`node-feature-discovery.worker.nodeSelector`",
        ),
        ({"gpu-operator": {"driver": {"enabled": False}}}, ("gpu-operator",), "one level further up"),
    ],
)
def test_a_key_at_the_wrong_level_is_told_where_it_belongs(values, place, advice):
    (found,) = judge_values(values, value_paths().release("v26.3.3")).findings

    assert (found.rule.code, found.finding.place, found.severity.name) == ("PSM301", place, "ERROR")
    assert advice in found.finding.help
