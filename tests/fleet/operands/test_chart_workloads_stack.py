"""What the charts of a hand-installed stack bring: the device plugin, MPS, feature discovery, dcgm-exporter."""

from __future__ import annotations

import json

import pytest
import yaml

from poolsmith.core.facts import store
from poolsmith.fleet.operands.chart.chart_objects import stack_objects
from poolsmith.gpu.catalog.chart_workloads import chart_releases, chart_versions

PLUGINS = ["0.15.1", "0.17.1", "0.20.0"]
EXPORTERS = ["4.0.4", "4.8.2"]
PLUGIN = "nvidia-device-plugin"
CONFIG = {"config": {"map": {"default": "version: v1"}}}
UNPRIVILEGED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
ADMINISTRATOR = {"capabilities": {"add": ["SYS_ADMIN"]}}
PRIVILEGED = {"privileged": True}


def plugin(version, values=None, namespace="nvidia"):
    return stack_objects(PLUGIN, version, values or {}, namespace)


def exporter(version, values=None):
    return stack_objects("dcgm-exporter", version, values or {}, "monitoring")


def one(rendered, kind, name):
    found = [item for item in rendered.objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} {kind}s {name}"
    return found[0]


def pod(rendered, name=PLUGIN):
    return one(rendered, "DaemonSet", name)["spec"]["template"]["spec"]


def container(spec, name):
    return next(item for item in (*spec.get("initContainers", ()), *spec["containers"]) if item["name"] == name)


def kinds(rendered):
    return sorted(item["kind"] for item in rendered.objects)


def environment(item):
    return {variable["name"]: variable.get("value", "") for variable in item["env"]}


def host_paths(spec):
    return {
        volume["name"]: (volume["hostPath"]["path"], volume["hostPath"].get("type", ""))
        for volume in spec["volumes"]
        if "hostPath" in volume
    }


def test_the_versions_are_those_that_a_cluster_without_operator_may_ask_for():
    assert tuple(f"v{version}" for version in chart_versions(PLUGIN)) == chart_releases(PLUGIN)
    assert set(chart_releases("dcgm-exporter")) == set(store.names("charts/dcgm-exporter"))


@pytest.mark.parametrize(("chart", "version"), [(PLUGIN, "v0.17.1"), ("dcgm-exporter", "4.5.3-4.8.2")])
def test_a_version_is_also_known_by_the_projects_release(chart, version):
    assert stack_objects(chart, version, {}, "nvidia").objects


@pytest.mark.parametrize("chart", ["cc-operator", "nothing"])
def test_workloads_of_another_chart_are_not_known(chart):
    rendered = stack_objects(chart, "1.0.0", {}, "nvidia")

    assert (rendered.objects, rendered.hooks) == ((), ())
    assert rendered.unknown == (f"workloads of {chart} are not known",)


@pytest.mark.parametrize("chart", [PLUGIN, "dcgm-exporter", "gpu-operator", "kata-deploy"])
def test_workloads_of_another_version_are_not_known(chart):
    assert stack_objects(chart, "9.9.9", {}, "nvidia").unknown == (f"workloads of {chart} 9.9.9 are not known",)


def by_default(version):
    """The chart of 0.15.1 asks its helper for `true`, which answers otherwise: without a strategy it takes any."""
    return ADMINISTRATOR if version == "0.15.1" else UNPRIVILEGED


@pytest.mark.parametrize("version", PLUGINS)
def test_the_plugin_is_unprivileged_by_default_since_0_17(version):
    spec = pod(plugin(version))

    assert container(spec, "nvidia-device-plugin-ctr")["securityContext"] == by_default(version)
    assert not {"hostPID", "hostNetwork", "hostIPC"} & spec.keys()
    assert plugin(version).unknown == ()


@pytest.mark.parametrize("version", PLUGINS)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"migStrategy": "none"}, UNPRIVILEGED),
        ({"migStrategy": "mixed"}, ADMINISTRATOR),
        ({"deviceListStrategy": "envvar"}, by_default),
        (CONFIG, ADMINISTRATOR),
        ({**CONFIG, "migStrategy": "none", "deviceListStrategy": "envvar"}, UNPRIVILEGED),
        ({"compatWithCPUManager": True}, PRIVILEGED),
        ({"compatWithCPUManager": True, "securityContext": {"runAsUser": 0}}, {"runAsUser": 0}),
    ],
)
def test_the_plugins_privileges_follow_its_values(version, values, expected):
    spec = pod(plugin(version, values))
    expected = expected(version) if callable(expected) else expected

    assert container(spec, "nvidia-device-plugin-ctr")["securityContext"] == expected


@pytest.mark.parametrize("version", PLUGINS)
def test_volumes_as_a_way_to_hand_out_devices_need_an_administrator(version):
    spec = pod(plugin(version, {"deviceListStrategy": "volume-mounts"}))

    assert container(spec, "nvidia-device-plugin-ctr")["securityContext"] == ADMINISTRATOR


@pytest.mark.parametrize(("version", "expected"), [("0.15.1", UNPRIVILEGED), ("0.20.0", ADMINISTRATOR)])
def test_without_mig_volumes_need_an_administrator_since_0_17(version, expected):
    spec = pod(plugin(version, {"deviceListStrategy": "volume-mounts", "migStrategy": "none"}))

    assert container(spec, "nvidia-device-plugin-ctr")["securityContext"] == expected


@pytest.mark.parametrize("version", PLUGINS)
def test_the_plugin_writes_to_the_kubelets_plugins_to_cdi_and_to_mps(version):
    paths = host_paths(pod(plugin(version)))

    assert {path for path, _ in paths.values()} == {
        "/var/lib/kubelet/device-plugins",
        "/run/nvidia/mps",
        "/run/nvidia/mps/shm",
        "/var/run/cdi",
    }
    assert paths["mps-root"] == ("/run/nvidia/mps", "DirectoryOrCreate")
    mounts = container(pod(plugin(version)), "nvidia-device-plugin-ctr")["volumeMounts"]
    assert not [mount for mount in mounts if mount.get("readOnly")]


@pytest.mark.parametrize(
    ("version", "volume", "kind"),
    [
        ("0.15.1", "device-plugin", ""),
        ("0.17.1", "device-plugin", ""),
        ("0.20.0", "kubelet-device-plugins-dir", "Directory"),
    ],
)
def test_the_kubelets_folder_must_exist_since_0_20(version, volume, kind):
    assert host_paths(pod(plugin(version)))[volume] == ("/var/lib/kubelet/device-plugins", kind)


@pytest.mark.parametrize("version", PLUGINS)
def test_a_driver_elsewhere_is_read_through_a_folder_of_the_host(version):
    spec = pod(plugin(version, {"nvidiaDriverRoot": "/run/nvidia/driver"}))

    mounts = container(spec, "nvidia-device-plugin-ctr")["volumeMounts"]
    assert host_paths(spec)["driver-root"][0] == "/run/nvidia/driver"
    assert {"name": "driver-root", "mountPath": "/driver-root", "readOnly": True} in mounts


@pytest.mark.parametrize("version", PLUGINS)
def test_the_mps_daemon_is_privileged_and_waits_for_nodes_that_share_by_mps(version):
    rendered = plugin(version, {"nodeSelector": {"gpu": "yes"}})
    spec = pod(rendered, f"{PLUGIN}-mps-control-daemon")

    assert spec["nodeSelector"] == {"nvidia.com/mps.capable": "true", "gpu": "yes"}
    assert container(spec, "mps-control-daemon-ctr")["securityContext"] == PRIVILEGED
    mounting = container(spec, "mps-control-daemon-mounts")
    assert mounting["securityContext"] == PRIVILEGED
    assert mounting["volumeMounts"] == [{"name": "mps-root", "mountPath": "/mps", "mountPropagation": "Bidirectional"}]


@pytest.mark.parametrize(("version", "sees"), [("0.15.1", None), ("0.17.1", None), ("0.20.0", True)])
def test_the_mps_daemon_sees_processes_of_the_host_since_0_20(version, sees):
    assert pod(plugin(version), f"{PLUGIN}-mps-control-daemon").get("hostPID") is sees


def test_a_mps_daemon_without_the_hosts_processes_shares_those_of_its_pod():
    spec = pod(plugin("0.20.0", {**CONFIG, "mps": {"enableHostPID": False}}), f"{PLUGIN}-mps-control-daemon")

    assert "hostPID" not in spec
    assert spec["shareProcessNamespace"] is True


@pytest.mark.parametrize("version", PLUGINS)
def test_the_place_of_mps_can_be_moved(version):
    paths = host_paths(pod(plugin(version, {"mps": {"root": "/var/mps"}}), f"{PLUGIN}-mps-control-daemon"))

    assert paths == {"mps-root": ("/var/mps", "DirectoryOrCreate"), "mps-shm": ("/var/mps/shm", "")}


@pytest.mark.parametrize("version", PLUGINS)
def test_configurations_bring_a_manager_that_reads_nodes_and_sees_the_plugins_processes(version):
    rendered = plugin(version, CONFIG)
    spec = pod(rendered)

    assert one(rendered, "ConfigMap", f"{PLUGIN}-configs")["data"] == {"default": "version: v1"}
    assert spec["shareProcessNamespace"] is True
    assert [item["name"] for item in spec["initContainers"]] == ["nvidia-device-plugin-init"]
    assert environment(container(spec, "nvidia-device-plugin-sidecar"))["SEND_SIGNAL"] == "true"
    assert environment(container(spec, "nvidia-device-plugin-init"))["FALLBACK_STRATEGIES"] == "named,single"
    assert one(rendered, "ClusterRole", f"{PLUGIN}-role")["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}
    ]
    assert spec["serviceAccountName"] == f"{PLUGIN}-service-account"


@pytest.mark.parametrize("version", PLUGINS)
def test_a_config_map_that_exists_is_taken_by_name(version):
    rendered = plugin(version, {"config": {"name": "mine"}})

    assert "ConfigMap" not in kinds(rendered)
    assert {"name": "available-configs", "configMap": {"name": "mine"}} in pod(rendered)["volumes"]


@pytest.mark.parametrize(("version", "exists"), [("0.15.1", False), ("0.17.1", False), ("0.20.0", True)])
def test_without_configurations_there_is_an_account_only_since_0_20(version, exists):
    rendered = plugin(version)

    assert ("ServiceAccount" in kinds(rendered)) is exists
    assert ("serviceAccountName" in pod(rendered)) is exists


@pytest.mark.parametrize("version", PLUGINS)
@pytest.mark.parametrize(
    ("values", "variable", "text"),
    [
        ({"failOnInitError": False}, "FAIL_ON_INIT_ERROR", "false"),
        ({"deviceIDStrategy": "index"}, "DEVICE_ID_STRATEGY", "index"),
        ({"gdsEnabled": True}, "GDS_ENABLED", "true"),
        ({"migStrategy": "single"}, "NVIDIA_MIG_MONITOR_DEVICES", "all"),
    ],
)
def test_values_become_variables_of_the_plugin(version, values, variable, text):
    assert environment(container(pod(plugin(version, values)), "nvidia-device-plugin-ctr"))[variable] == text
    none = {"migStrategy": "none"}
    assert variable not in environment(container(pod(plugin(version, none)), "nvidia-device-plugin-ctr"))


@pytest.mark.parametrize("version", PLUGINS)
def test_feature_discovery_is_asked_for_and_privileged(version):
    rendered = plugin(version, {"gfd": {"enabled": True}})
    spec = pod(rendered, f"{PLUGIN}-gpu-feature-discovery")

    assert container(spec, "gpu-feature-discovery-ctr")["securityContext"] == PRIVILEGED
    assert host_paths(spec)["output-dir"][0] == "/etc/kubernetes/node-feature-discovery/features.d"
    assert f"{PLUGIN}-gpu-feature-discovery" not in {item["metadata"]["name"] for item in plugin(version).objects}


@pytest.mark.parametrize("version", PLUGINS)
def test_feature_discovery_without_privileges_of_its_own_has_those_of_its_strategy(version):
    values = {"gfd": {"enabled": True, "securityContext": {"privileged": None}}}
    spec = pod(plugin(version, values), f"{PLUGIN}-gpu-feature-discovery")

    assert container(spec, "gpu-feature-discovery-ctr")["securityContext"] == by_default(version)


@pytest.mark.parametrize(
    ("version", "values", "writes"),
    [
        ("0.15.1", {"gfd": {"enabled": True}}, False),
        ("0.15.1", {"gfd": {"enabled": True}, "nfd": {"enableNodeFeatureApi": True}}, True),
        ("0.20.0", {"gfd": {"enabled": True}}, True),
        ("0.20.0", {}, False),
    ],
)
def test_feature_discovery_writes_features_where_it_uses_their_api(version, values, writes):
    assert ("nodefeatures" in json.dumps([item.get("rules") for item in plugin_roles(version, values)])) is writes


def plugin_roles(version, values):
    return [item for item in plugin(version, values).objects if item["metadata"]["name"] == f"{PLUGIN}-role"]


def test_feature_discovery_brings_node_feature_discovery_of_a_known_version():
    rendered = plugin("0.20.0", {"gfd": {"enabled": True}})

    worker = one(rendered, "DaemonSet", f"{PLUGIN}-node-feature-discovery-worker")
    assert worker["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":v0.19.0")
    assert rendered.unknown == ()


@pytest.mark.parametrize("version", ["0.15.1", "0.17.1"])
@pytest.mark.parametrize("values", [{"gfd": {"enabled": True}}, {"nfd": {"enabled": True}}])
def test_an_older_node_feature_discovery_is_not_known(version, values):
    assert plugin(version, values).unknown == ("workloads of node-feature-discovery 0.15.3 are not known",)


def test_feature_discovery_can_use_what_the_cluster_has():
    assert plugin("0.20.0", {"gfd": {"enabled": True}, "nfd": {"enabled": False}}).hooks == ()


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("devicePlugin", PLUGIN),
        ("mps", f"{PLUGIN}-mps-control-daemon"),
        ("gfd", f"{PLUGIN}-gpu-feature-discovery"),
    ],
)
@pytest.mark.parametrize(("version", "joins"), [("0.17.1", None), ("0.20.0", True)])
def test_each_part_can_join_the_hosts_network_since_0_20(part, name, version, joins):
    values = {"gfd": {"enabled": True}}
    values[part] = {**values.get(part, {}), "enableHostNetwork": True}

    assert pod(plugin(version, values), name).get("hostNetwork") is joins


@pytest.mark.parametrize("version", PLUGINS)
def test_the_plugins_image_and_scheduling_are_those_of_its_values(version):
    values = {
        "image": {"repository": "registry.example/plugin"},
        "imagePullSecrets": [{"name": "pull"}],
        "tolerations": [{"operator": "Exists"}],
        "runtimeClassName": "nvidia",
        "priorityClassName": "high",
    }
    spec = pod(plugin(version, values))

    assert {item["image"] for item in spec["containers"]} == {f"registry.example/plugin:v{version}"}
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert (spec["runtimeClassName"], spec["priorityClassName"]) == ("nvidia", "high")


@pytest.mark.parametrize(
    ("values", "namespace", "reason"),
    [
        ({}, "default", "allowDefaultNamespace"),
        ({"namespace": "gpus"}, "nvidia", "no longer taken"),
        ({"config": {"name": "mine", "map": {"a": "b"}}}, "nvidia", "exclude each other"),
        ({"config": "text"}, "nvidia", "config"),
    ],
)
def test_values_that_the_plugins_chart_refuses_install_nothing(values, namespace, reason):
    rendered = plugin("0.20.0", values, namespace)

    assert rendered.objects == ()
    assert "does not render" in rendered.errors[0].message
    assert reason in rendered.errors[0].message


@pytest.mark.parametrize("release", ["v0.15.1", "v0.17.1", "v0.20.0"])
def test_defaults_of_the_plugin_are_those_of_its_chart(upstream, release):
    own = yaml.safe_load((upstream(f"k8s-device-plugin/{release}") / "values.yaml").read_text("utf-8"))
    same = stack_objects(PLUGIN, release, own, "nvidia")

    assert same == stack_objects(PLUGIN, release, {}, "nvidia")


@pytest.mark.parametrize("release", ["v0.15.1", "v0.17.1", "v0.20.0"])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("nvidia-device-plugin", {}),
        ("nvidia-device-plugin-compat-with-cpumanager", {"compatWithCPUManager": True}),
    ],
)
def test_the_plugin_has_the_privileges_of_its_static_manifests(upstream, release, name, values):
    path = upstream(f"k8s-device-plugin/{release}") / f"static/{name}.yml"
    static = yaml.safe_load(path.read_text("utf-8"))["spec"]["template"]["spec"]

    # Without MIG, as the manifests are: the chart of 0.15.1 gives more where no strategy is named.
    ours = container(pod(plugin(release, {"migStrategy": "none", **values})), "nvidia-device-plugin-ctr")
    assert ours["securityContext"] == static["containers"][0]["securityContext"]


@pytest.mark.parametrize("version", EXPORTERS)
def test_the_exporter_is_an_administrator_that_reads_the_kubelets_socket(version):
    rendered = exporter(version)
    spec = pod(rendered, "dcgm-exporter")
    item = container(spec, "exporter")

    assert item["securityContext"]["capabilities"]["add"] == ["SYS_ADMIN"]
    assert item["securityContext"]["runAsUser"] == 0
    assert host_paths(spec) == {"pod-gpu-resources": ("/var/lib/kubelet/pod-resources", "")}
    assert [mount for mount in item["volumeMounts"] if mount["name"] in host_paths(spec)] == [
        {"name": "pod-gpu-resources", "mountPath": "/var/lib/kubelet/pod-resources", "readOnly": True}
    ]
    assert rendered.unknown == ()


@pytest.mark.parametrize(("version", "dropped"), [("4.0.4", None), ("4.8.2", ["ALL"])])
def test_the_exporter_drops_other_capabilities_since_4_8(version, dropped):
    security = container(pod(exporter(version), "dcgm-exporter"), "exporter")["securityContext"]

    assert security["capabilities"].get("drop") == dropped
    assert ("allowPrivilegeEscalation" in security) is (dropped is not None)


@pytest.mark.parametrize(
    ("version", "image"),
    [("4.0.4", "4.1.1-4.0.4-ubuntu22.04"), ("4.8.2", "4.5.3-4.8.2-distroless")],
)
def test_the_exporters_image_is_that_of_its_release(version, image):
    item = container(pod(exporter(version), "dcgm-exporter"), "exporter")

    assert item["image"] == f"nvcr.io/nvidia/k8s/dcgm-exporter:{image}"


@pytest.mark.parametrize("version", EXPORTERS)
def test_the_exporter_reads_one_config_map_and_nothing_else(version):
    rendered = exporter(version)

    assert one(rendered, "Role", "dcgm-exporter-read-cm")["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "verbs": ["get"],
            "resourceNames": ["exporter-metrics-config-map"],
        }
    ]
    assert "ClusterRole" not in kinds(rendered)


@pytest.mark.parametrize("version", EXPORTERS)
def test_the_exporter_takes_folders_of_the_host_from_values(version):
    values = {
        "extraHostVolumes": [{"name": "tools", "hostPath": "/opt/tools"}],
        "extraVolumeMounts": [{"name": "tools", "mountPath": "/tools", "readOnly": True}],
        "extraEnv": [{"name": "A", "value": "b"}],
        "kubeletPath": "/data/kubelet/pod-resources",
    }
    spec = pod(exporter(version, values), "dcgm-exporter")

    assert host_paths(spec) == {"pod-gpu-resources": ("/data/kubelet/pod-resources", ""), "tools": ("/opt/tools", "")}
    item = container(spec, "exporter")
    assert item["volumeMounts"][-1] == {"name": "tools", "mountPath": "/tools", "readOnly": True}
    assert environment(item)["A"] == "b"


@pytest.mark.parametrize(
    ("version", "values", "expected"),
    [
        (
            "4.0.4",
            {"hostNetwork": True, "hostPID": True},
            {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"},
        ),
        ("4.8.2", {"hostPID": True}, {"hostPID": True}),
        (
            "4.8.2",
            {"hostNetwork": True},
            {"hostNetwork": True, "hostPID": False, "dnsPolicy": "ClusterFirstWithHostNet"},
        ),
    ],
)
def test_the_exporter_joins_namespaces_of_the_host_where_values_say_so(version, values, expected):
    spec = pod(exporter(version, values), "dcgm-exporter")

    assert {key: spec[key] for key in ("hostNetwork", "hostPID", "hostIPC", "dnsPolicy") if key in spec} == expected


def test_the_exporter_writes_dumps_to_the_host_where_values_say_so():
    spec = pod(exporter("4.8.2", {"debugDump": {"enabled": True}}), "dcgm-exporter")
    item = container(spec, "exporter")

    assert host_paths(spec)["debug-dumps"] == ("/tmp/dcgm-exporter-debug", "DirectoryOrCreate")
    assert {"name": "debug-dumps", "mountPath": "/tmp/dcgm-exporter-debug"} in item["volumeMounts"]
    assert item["args"][-1] == "--dump-compression"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"kubernetes": {"enablePodLabels": True}}, "ClusterRole"),
        ({"kubernetes": {"enablePodUID": True}}, "ClusterRoleBinding"),
        ({"kubernetesDRA": {"enabled": True}}, "ClusterRole"),
        ({"tlsServerConfig": {"enabled": True}}, "Secret"),
        ({"basicAuth": {"users": {"a": "b"}}}, "ConfigMap"),
    ],
)
def test_what_the_exporters_values_bring_is_told(values, kind):
    brought, before = kinds(exporter("4.8.2", values)), kinds(exporter("4.8.2"))

    assert list(brought).count(kind) == list(before).count(kind) + 1


def test_a_container_before_the_exporter_is_told_as_it_is():
    first = {"name": "a", "securityContext": {"privileged": True}}
    spec = pod(exporter("4.8.2", {"initContainers": [first]}), "dcgm-exporter")

    assert spec["initContainers"] == [first]


def test_a_name_that_the_chart_runs_as_a_template_is_refused():
    values = {"tlsServerConfig": {"enabled": True, "existingSecret": "{{ .Release.Name }}"}}

    assert "existingSecret" in exporter("4.8.2", values).errors[0].message


@pytest.mark.parametrize("version", EXPORTERS)
def test_the_exporter_runs_under_an_account_of_ones_own(version):
    rendered = exporter(version, {"serviceAccount": {"create": False, "name": "mine"}})

    assert "ServiceAccount" not in kinds(rendered)
    assert pod(rendered, "dcgm-exporter")["serviceAccountName"] == "mine"


@pytest.mark.parametrize("version", EXPORTERS)
@pytest.mark.parametrize(
    ("key", "switch", "kind"), [("service", "enable", "Service"), ("serviceMonitor", "enabled", "ServiceMonitor")]
)
def test_the_exporters_service_and_its_monitor_can_be_switched_off(version, key, switch, kind):
    assert kind in kinds(exporter(version))
    assert kind not in kinds(exporter(version, {key: {switch: False}}))


@pytest.mark.parametrize("release", ["4.1.1-4.0.4", "4.5.3-4.8.2"])
def test_the_exporter_has_the_privileges_of_its_static_manifest(upstream, release):
    path = upstream(f"dcgm-exporter/{release}") / "dcgm-exporter.yaml"
    static = next(iter(yaml.safe_load_all(path.read_text("utf-8"))))["spec"]["template"]["spec"]
    spec = pod(exporter(release), "dcgm-exporter")

    assert container(spec, "exporter")["securityContext"] == static["containers"][0]["securityContext"]
    assert host_paths(spec) == host_paths(static)
