"""Container runtimes: what the operator's toolkit and the pools' own are told, who opts out, which runtime counts."""

from __future__ import annotations

import pytest

from poolsmith.fleet.plan.origin import profile_inputs

MIXED = {"acknowledge": "[{fact: mixed-runtimes, by: platform-team, date: 2026-11-20}]"}
CONTAINERD, CRIO, DOCKER = ({"runtime": f"{{name: {name}}}"} for name in ("containerd", "cri-o", "docker"))
PASSTHROUGH = {
    "driver": None,
    "workload": "vm-passthrough",
    "gpu": "{product: NVIDIA-A10, count: 1}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}
PREINSTALLED = {"toolkit": "{source: preinstalled}"}
OPT_OUT = "nvidia.com/gpu.deploy.container-toolkit"
CRIO_PATHS = "{name: cri-o, config: /opt/crio.toml, dropIn: /opt/crio.d/nvidia.conf}"
OWN_PATHS = "{name: containerd, config: /opt/c.toml}"


def stack(release, values=""):
    return {"stack": f"{{release: {release}{values and f', values: {values}'}}}"}


def toolkits(outcome):
    return {pool.name: pool.toolkit for pool in outcome.plan.pools}


def env_of(outcome, pool):
    return next(dict(item.env) for item in outcome.plan.toolkit_overlays if item.pool == pool)


def daemon_set(outcome, pool):
    objects = outcome.predicted.toolkit_overlays[pool]
    return next(item for item in objects if item["kind"] == "DaemonSet")


def main_env(workload):
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return {item["name"]: item.get("value") for item in container["env"]}


@pytest.mark.parametrize("release", ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"])
def test_a_pool_with_another_runtime_gets_a_toolkit_of_its_own_and_opts_out(resolve, release):
    outcome = resolve({**stack(release), **MIXED}, {"a": CONTAINERD, "b": CRIO, "c": {**CRIO, **PASSTHROUGH}})

    assert toolkits(outcome) == {"a": "operator", "b": "overlay", "c": "none"}
    assert [outcome.labels(pool).get(OPT_OUT) for pool in "abc"] == [None, "false", None]
    assert [(item.pool, item.runtime) for item in outcome.plan.toolkit_overlays] == [("b", "cri-o")]
    assert "toolkit.env" not in outcome.values


@pytest.mark.parametrize(("nodes", "writer"), [({}, "provisioner"), ({"nodes": "{names: [n1]}"}, "nfd")])
def test_the_opt_out_has_a_writer_that_can_tell_the_nodes_and_says_why(resolve, nodes, writer):
    outcome = resolve(MIXED, {"a": CONTAINERD, "b": {**CRIO, **nodes}})
    label = next(item for item in outcome.pool("b").labels if item.key == OPT_OUT)

    assert label.writer == writer
    assert "configures containerd" in label.origin.because
    assert [str(line) for line in profile_inputs(label.origin)] == ["profiles/prod/b.yaml#/spec/runtime/name"]


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ({"a": CRIO, "b": CRIO}, ("cri-o", {"a": "operator", "b": "operator"})),
        ({"a": DOCKER}, ("docker", {"a": "operator"})),
        ({"a": CRIO, "b": CONTAINERD}, ("containerd", {"a": "overlay", "b": "operator"})),
        ({"a": CRIO, "b": {**PASSTHROUGH, **CONTAINERD}}, ("containerd", {"a": "overlay", "b": "none"})),
        ({"a": CONTAINERD, "b": {**PASSTHROUGH, **CRIO}}, ("containerd", {"a": "operator", "b": "none"})),
    ],
)
def test_the_operators_runtime_is_containerd_as_soon_as_one_gpu_node_has_it(resolve, pools, expected):
    outcome = resolve(MIXED if len({str(pool["runtime"]) for pool in pools.values()}) > 1 else {}, pools)
    runtime = next(item.value for item in outcome.plan.singletons if item.name == "container runtime")

    assert (runtime, toolkits(outcome)) == expected


@pytest.mark.parametrize(
    ("release", "runtime", "env"),
    [
        ("v24.9.2", "{name: cri-o}", {"CRIO_CONFIG_MODE": "config"}),
        ("v25.3.4", "{name: docker}", {}),
        ("v26.3.3", "{name: cri-o}", {}),
        (
            "v26.3.3",
            CRIO_PATHS,
            {"CRIO_CONFIG": "/opt/crio.toml", "RUNTIME_DROP_IN_CONFIG": "/opt/crio.d/nvidia.conf"},
        ),
        (
            "v25.3.4",
            "{name: docker, config: /opt/docker.json, socket: /run/d.sock}",
            {"DOCKER_CONFIG": "/opt/docker.json", "DOCKER_SOCKET": "/run/d.sock"},
        ),
    ],
)
def test_an_overlay_is_told_about_its_own_runtime(resolve, release, runtime, env):
    outcome = resolve({**stack(release), **MIXED}, {"a": CONTAINERD, "b": {"runtime": runtime}})

    assert env_of(outcome, "b") == env


def test_cri_o_has_its_handler_also_where_cdi_is_switched_off(resolve):
    outcome = resolve({**stack("v26.3.3", "{cdi: {enabled: false}}"), **MIXED}, {"a": CONTAINERD, "b": CRIO})

    assert main_env(daemon_set(outcome, "b"))["CRIO_CONFIG_MODE"] == "config"


@pytest.mark.parametrize(
    ("runtime", "values"),
    [
        (CRIO_PATHS, {"CRIO_CONFIG": "/opt/crio.toml", "RUNTIME_DROP_IN_CONFIG": "/opt/crio.d/nvidia.conf"}),
        ("{name: docker, socket: /run/d.sock}", {"DOCKER_SOCKET": "/run/d.sock"}),
    ],
)
def test_paths_of_any_runtime_are_handed_to_the_operators_toolkit(resolve, runtime, values):
    outcome = resolve({}, {"a": {"runtime": runtime}})

    assert outcome.values["toolkit.env"] == [{"name": name, "value": value} for name, value in values.items()]


def test_variables_that_say_nothing_of_a_runtime_reach_every_toolkit(resolve):
    accept = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
    values = f'{{toolkit: {{env: [{{name: {accept}, value: "false"}}]}}}}'
    outcome = resolve({**stack("v26.3.3", values), **MIXED}, {"a": CONTAINERD, "b": CRIO})
    env = main_env(daemon_set(outcome, "b"))

    assert env[accept] == "false"
    assert "CONTAINERD_SOCKET" not in env
    assert env["RUNTIME"] == "crio"


@pytest.mark.parametrize(
    ("variable", "field"),
    [("CONTAINERD_SOCKET", "socket"), ("CONTAINERD_CONFIG", "config"), ("RUNTIME_DROP_IN_CONFIG", "dropIn")],
)
def test_where_a_runtime_lies_is_not_taken_from_values(resolve, variable, field):
    values = f"{{toolkit: {{env: [{{name: NVIDIA_REQUIRE, value: x}}, {{name: {variable}, value: /run/c}}]}}}}"
    outcome = resolve(stack("v26.3.3", values), {"a": CONTAINERD})
    (found,) = [item for item in outcome.diagnostics if item.code == "PSM302"]

    assert found.primary.pointer == "/spec/stack/values/toolkit/env/1"
    assert f"write `runtime.{field}`" in found.help


def test_feature_discovery_is_decided_by_its_provider(resolve):
    outcome = resolve(stack("v26.3.3", "{nfd: {enabled: false}}"), {"a": CONTAINERD})

    assert [item.help for item in outcome.diagnostics if item.code == "PSM302"] == [
        "remove it from stack.values, and write `nfd.provider` in the profiles"
    ]


@pytest.mark.parametrize(("release", "runtime"), [("v26.3.3", CRIO), ("v25.3.4", DOCKER)])
def test_the_handler_of_a_renamed_runtime_class_exists_on_every_runtime(resolve, release, runtime):
    values = "{operator: {runtimeClass: gpu}}"
    outcome = resolve({**stack(release, values), **MIXED}, {"a": CONTAINERD, "b": runtime})

    assert main_env(daemon_set(outcome, "b"))["NVIDIA_RUNTIME_NAME"] == "gpu"


def test_an_overlay_tolerates_its_pool_is_mirrored_and_installs_where_all_do(resolve):
    cluster = {
        **stack("v26.3.3", "{toolkit: {installDir: /opt/nvidia}, daemonsets: {labels: {team: gpu}}}"),
        **MIXED,
        "registry": "{mirrors: {nvcr.io: registry.example.com}, pullSecrets: [ngc]}",
    }
    taints = "{taints: [{key: team, value: ml, effect: NoExecute}]}"
    outcome = resolve(cluster, {"a": CONTAINERD, "b": {**CRIO, "nodes": taints}})
    workload = daemon_set(outcome, "b")
    pod = workload["spec"]["template"]["spec"]

    assert {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoExecute"} in pod["tolerations"]
    assert pod["containers"][0]["image"].startswith("registry.example.com/nvidia/k8s/container-toolkit:")
    assert pod["initContainers"][0]["image"].startswith("registry.example.com/nvidia/")
    assert pod["imagePullSecrets"] == [{"name": "ngc"}]
    assert main_env(workload)["ROOT"] == "/opt/nvidia"
    assert workload["metadata"]["labels"]["team"] == "gpu"
    assert "ownerReferences" not in workload["metadata"]


def test_selectors_meet_no_other_daemon_set(resolve):
    outcome = resolve(MIXED, {"a": CONTAINERD, "b": CRIO, "c": CRIO})
    selectors = [daemon_set(outcome, pool)["spec"]["selector"]["matchLabels"] for pool in "bc"]

    assert selectors == [{"app": "poolsmith-toolkit-b"}, {"app": "poolsmith-toolkit-c"}]


def test_containerd_pools_with_unlike_paths_can_ask_for_a_toolkit_each(resolve):
    outcome = resolve({}, {"a": CONTAINERD, "b": {"runtime": OWN_PATHS, "toolkit": "{source: overlay}"}})

    assert toolkits(outcome) == {"a": "operator", "b": "overlay"}
    assert env_of(outcome, "b") == {"CONTAINERD_CONFIG": "/opt/c.toml"}
    assert "toolkit.env" not in outcome.values


def test_a_release_that_mounts_before_it_reads_variables_is_refused_where_paths_are_others(resolve):
    k3s = {"kubernetes": '{version: "1.33", distribution: k3s}'}
    found = {
        release: [item for item in resolve({**k3s, **stack(release)}, {"a": CONTAINERD}).findings if "path" in item[0]]
        for release in ("v25.3.3", "v25.3.4")
    }

    assert found == {"v25.3.3": [("runtime-path", "a.yaml:6:3")], "v25.3.4": []}
    assert resolve(stack("v25.3.3"), {"a": CONTAINERD}).plan is not None


@pytest.mark.parametrize(
    ("cluster", "pools", "finding"),
    [
        (
            MIXED,
            {"a": CONTAINERD, "b": {**CRIO, "toolkit": "{source: operator}"}},
            ("toolkit-contradiction", "b.yaml:9:13"),
        ),
        (
            {},
            {"a": CONTAINERD, "b": {**CONTAINERD, "toolkit": "{source: overlay}"}},
            ("toolkit-contradiction", "b.yaml:9:13"),
        ),
        ({}, {"a": {"runtime": OWN_PATHS, "toolkit": "{source: overlay}"}}, ("toolkit-contradiction", "a.yaml:9:13")),
        (
            {**MIXED, "stack": "{release: v26.3.3, values: {cdi: {enabled: true}}}"},
            {"a": CONTAINERD, "b": CRIO, "c": {**CRIO, **PREINSTALLED}},
            ("toolkit-contradiction", "c.yaml:9:13"),
        ),
        (
            {"kubernetes": '{version: "1.33", distribution: k3s}', **MIXED},
            {"a": CONTAINERD, "b": CRIO},
            ("unknown-runtime", "b.yaml:6:13"),
        ),
        ({}, {"a": {**CONTAINERD, "acknowledge": "[{fact: mixed-runtimes}]"}}, ("invalid-value", "a.yaml:9:18")),
    ],
)
def test_what_contradicts_itself_is_refused(resolve, cluster, pools, finding):
    outcome = resolve(cluster, pools)

    assert outcome.plan is None
    assert finding in outcome.findings


def test_before_cdi_a_pre_installed_toolkit_may_stand_beside_one_of_ours(resolve):
    outcome = resolve({**stack("v25.3.4"), **MIXED}, {"a": CONTAINERD, "b": CRIO, "c": {**CRIO, **PREINSTALLED}})

    assert toolkits(outcome) == {"a": "operator", "b": "overlay", "c": "preinstalled"}
    assert [outcome.labels(pool).get(OPT_OUT) for pool in "abc"] == [None, "false", "false"]


NRI = "{cdi: {nriPluginEnabled: true}}"


@pytest.mark.parametrize("distribution", ["rke2", "talos"])
def test_where_the_toolkit_touches_no_configuration_nobody_has_to_know_it(resolve, distribution):
    kubernetes = {"kubernetes": f'{{version: "1.33", distribution: {distribution}}}'}
    outcome = resolve({**kubernetes, **stack("v26.7.0", NRI)}, {"a": CONTAINERD})

    assert outcome.plan is not None
    assert "toolkit.env" not in outcome.values


def test_paths_are_idle_where_the_toolkit_touches_no_configuration(resolve):
    outcome = resolve(stack("v26.7.0", NRI), {"a": {"runtime": OWN_PATHS}})

    assert ("field-without-effect", "a.yaml:6:31") in outcome.findings


def test_a_release_with_nri_that_still_writes_the_configuration_needs_its_paths(resolve):
    kubernetes = {"kubernetes": '{version: "1.33", distribution: talos}'}

    assert "paths-unknown" in resolve({**kubernetes, **stack("v26.3.3", NRI)}, {"a": CONTAINERD}).names


def test_under_nri_each_toolkit_is_a_plugin_of_its_own_runtime(resolve):
    pools = {"a": {"runtime": '{name: containerd, version: "2.1"}'}, "b": {"runtime": '{name: cri-o, version: "1.34"}'}}
    env = main_env(daemon_set(resolve({**stack("v26.7.0", NRI), **MIXED}, pools), "b"))

    assert (env["RUNTIME"], env["ENABLE_NRI_PLUGIN"]) == ("crio", "true")
    assert "CRIO_CONFIG" not in env


def test_pools_whose_configuration_nobody_declares_are_noted_once(resolve):
    newer = {"runtime": '{name: containerd, version: "2.1"}'}
    said = {"runtime": '{name: containerd, version: "2.1", configVersion: 2}'}
    outcome = resolve({}, {"a": newer, "b": newer, "c": {"runtime": '{name: containerd, version: "1.7.27"}'}})
    (note,) = [item for item in outcome.diagnostics if item.name == "containerd-config-version"]

    assert "on `a`, `b`, and" in note.message
    assert "containerd-config-version" not in resolve({}, {"a": newer, "b": said}).names


@pytest.mark.parametrize(
    ("release", "version", "noted"),
    [("v24.9.2", "1.7.27", False), ("v24.9.2", "2.0", True), ("v26.7.0", "2.3.2", False), ("v24.6.1", "1.3", False)],
)
def test_a_version_that_no_matrix_names_is_noted(resolve, release, version, noted):
    outcome = resolve(stack(release), {"a": {"runtime": f'{{name: containerd, version: "{version}"}}'}})

    assert (("no-support-row", "a.yaml:6:31") in outcome.findings) is noted


def test_an_acknowledgement_of_nothing_is_noted(resolve):
    outcome = resolve(MIXED, {"a": CONTAINERD})

    assert outcome.plan is not None
    assert ("field-without-effect", "cluster.yaml:8:18") in outcome.findings


def test_a_script_starts_from_a_config_map_that_the_pod_mounts(resolve):
    outcome = resolve(MIXED, {"a": CONTAINERD, "b": CRIO})
    objects = {item["kind"]: item for item in outcome.predicted.toolkit_overlays["b"]}
    pod = objects["DaemonSet"]["spec"]["template"]["spec"]

    assert objects["ConfigMap"]["metadata"]["name"] == "poolsmith-toolkit-entrypoint-b"
    assert {"name": "poolsmith-toolkit-entrypoint-b", "defaultMode": 0o700} in [
        volume.get("configMap") for volume in pod["volumes"]
    ]
    assert pod["serviceAccountName"] == objects["ServiceAccount"]["metadata"]["name"] == "poolsmith-toolkit-b"


def test_only_clusters_with_a_second_toolkit_read_about_it(render):
    plain = render()
    mixed = render(MIXED, {"a": CONTAINERD, "b": CRIO})

    assert "## Container runtimes" not in plain.text("README.md")
    assert not [path for path in plain.content if path.startswith("toolkit-base/")]
    assert "install Node Feature Discovery first, label the nodes" in mixed.text("README.md")
    assert sorted(path for path in mixed.content if "toolkit" in path) == [
        "pools/b/toolkit/kustomization.yaml",
        "toolkit-base/config-map.yaml",
        "toolkit-base/daemon-set.yaml",
        "toolkit-base/kustomization.yaml",
        "toolkit-base/role-binding.yaml",
        "toolkit-base/role.yaml",
        "toolkit-base/service-account.yaml",
    ]


def test_privileges_of_an_overlay_go_back_to_the_pools_runtime(render):
    ledger = render(MIXED, {"a": CONTAINERD, "b": {"runtime": CRIO_PATHS}}).text("privileges.yaml")
    _, _, entry = ledger.partition("gpu-operator/DaemonSet/poolsmith-toolkit-b:\n")

    assert "host-path:/opt/crio.d:rw:none" in entry
    assert "b.yaml: spec.runtime.name" in entry
