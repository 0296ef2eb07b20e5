"""What the operands of container nodes become: fields of the chart's values in, one field of a workload out.

Sources are paths in NVIDIA/gpu-operator; a release stands where they differ.
"""

from __future__ import annotations

import pytest

from fleet.operands import oracle, scenarios
from poolsmith.core.facts.versions import version_key
from poolsmith.fleet.operands.kube import pod_of
from poolsmith.fleet.operands.operator_expansion import expand
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.kubernetes.helm.go_template import folder_of, joined, name_of

TAGS = sorted(operand_releases(), key=version_key)
ENV_FIRST = [tag for tag in TAGS if version_key(tag) < version_key("v25.3.0")]
NEWEST = TAGS[-1]
GPU_NODE = {
    "feature.node.kubernetes.io/pci-10de.present": "true",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
    "feature.node.kubernetes.io/kernel-version.full": "5.15.0-1-generic",
}
TOOLKIT, PLUGIN, EXPORTER = (
    "nvidia-container-toolkit-daemonset",
    "nvidia-device-plugin-daemonset",
    "nvidia-dcgm-exporter",
)
MPS = "nvidia-device-plugin-mps-control-daemon"


def expansion(tag, values, *runtimes, monitors=False, **policy):
    """`policy` holds fields of the ClusterPolicy that no chart writes."""
    nodes = [
        {"name": f"n{number}", "labels": GPU_NODE, "runtime": runtime}
        for number, runtime in enumerate(runtimes or ("containerd://1.7.0",))
    ]
    inputs = {"values": values, "nodes": nodes, "crs": [], "objects": [], "osRelease": 'ID="ubuntu"\n'}
    recorded = {"tag": tag, "inputs": {**inputs, "serviceMonitorCRD": monitors}, "result": {"appliedCRs": []}}
    admitted = scenarios.admitted_resources(recorded)
    for component, fields in policy.items():
        admitted[0].resource["spec"][component] |= fields
    return expand(tag, scenarios.cluster_state(recorded, admitted, oracle.node_labels, oracle.NODE_ANNOTATIONS))


def found(made, name, kind="DaemonSet"):
    return next((item for item in made.objects if (item["kind"], item["metadata"]["name"]) == (kind, name)), None)


def pod(tag, name, values, *runtimes, **policy):
    return found(expansion(tag, values, *runtimes, **policy), name)["spec"]["template"]["spec"]


def env(container):
    return {variable["name"]: variable.get("value") for variable in container["env"]}


def host_paths(pod):
    return {item["name"]: item["hostPath"]["path"] for item in pod["volumes"] if "hostPath" in item}


# -- every DaemonSet: controllers/object_controls.go, applyCommonDaemonsetConfig


@pytest.mark.rows(47, "a row takes 0.011 s; each value of each column is seen first")
@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    ("written", "kept"),
    [("1024Mi", "1Gi"), ("0.5", "500m"), (2, "2"), ("2000m", "2"), ("100Mi", "100Mi"), ("1e3", "1e3")],
)
def test_amounts_are_written_anew(tag, written, kept):
    values = {"devicePlugin": {"resources": {"limits": {"cpu": written}}}}
    container = pod(tag, PLUGIN, values)["containers"][0]

    assert container["resources"] == {"limits": {"cpu": kept}}


@pytest.mark.parametrize("tag", TAGS)
def test_tolerations_of_the_user_replace_those_that_were_there(tag):
    values = {"daemonsets": {"tolerations": [{"key": "a", "operator": "Exists", "value": "", "effect": "NoExecute"}]}}

    assert pod(tag, TOOLKIT, values)["tolerations"] == [{"key": "a", "operator": "Exists", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("limit", "value"), [("2", 2), ("+2", 2), ("10%", "10%"), ("-1", -1), ("2147483647", 2147483647)]
)
def test_a_rolling_update_is_limited_by_a_number_or_a_share(limit, value):
    made = expansion(NEWEST, {"daemonsets": {"rollingUpdate": {"maxUnavailable": limit}}})

    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": value}}
    assert found(made, TOOLKIT)["spec"]["updateStrategy"] == strategy
    assert found(made, "nvidia-driver-daemonset")["spec"]["updateStrategy"] == {"type": "OnDelete"}


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    ("limit", "wrong"),
    [
        ("half", "invalid syntax"),
        ("--5", "invalid syntax"),
        ("1_0", "invalid syntax"),
        ("²", "invalid syntax"),
        ("2147483648", "value out of range"),
    ],
)
def test_what_is_no_limit_stops_the_first_daemon_set_but_the_driver(tag, limit, wrong):
    made = expansion(tag, {"daemonsets": {"rollingUpdate": {"maxUnavailable": limit}}})

    text = f'failed to apply rolling update config: strconv.ParseInt: parsing "{limit}": {wrong}'
    assert made.errors == (f"ClusterPolicy/cluster-policy: {text}",)
    assert found(made, "nvidia-driver-daemonset") is not None
    assert found(made, TOOLKIT) is None


@pytest.mark.parametrize("tag", TAGS)
def test_labels_of_the_user_leave_the_selector_of_pods_alone(tag):
    made = found(expansion(tag, {"daemonsets": {"labels": {"app": "mine", "team": "a"}}}), EXPORTER)
    on_pods = made["spec"]["template"]["metadata"]["labels"]

    assert (made["metadata"]["labels"]["app"], made["metadata"]["labels"]["team"]) == ("mine", "a")
    assert (on_pods["app"], on_pods["team"]) == (EXPORTER, "a")


# -- runtime files: controllers/object_controls.go, transformForRuntime


@pytest.mark.parametrize(
    ("path", "folder", "name"),
    [
        ("/etc/containerd/config.toml", "/etc/containerd", "config.toml"),
        ("/etc//containerd/./config.toml", "/etc/containerd", "config.toml"),
        ("/run/k3s/", "/run/k3s", "k3s"),
        ("/docker.sock", "/", "docker.sock"),
        ("//docker.sock", "/", "docker.sock"),
        ("config.toml", ".", "config.toml"),
        ("/", "/", "/"),
    ],
)
def test_paths_are_taken_apart_as_the_operator_does(path, folder, name):
    assert (folder_of(path), name_of(path)) == (folder, name)


def test_paths_are_joined_as_the_operator_does():
    assert joined("/host", "/etc/x") == "/host/etc/x"
    assert joined("/opt/x/", "toolkit") == "/opt/x/toolkit"
    assert joined("", "toolkit") == "toolkit"
    assert joined("", "") == ""
    assert joined("/host", "") == "/host"


K3S = [
    {"name": "CONTAINERD_CONFIG", "value": "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"},
    {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"},
    {"name": "CONTAINERD_RUNTIME_CLASS", "value": "other"},
]


@pytest.mark.parametrize("tag", TAGS)
def test_files_of_another_containerd_are_mounted_instead(tag):
    toolkit = pod(tag, TOOLKIT, {"toolkit": {"env": K3S}})
    variables, paths = env(toolkit["containers"][0]), host_paths(toolkit)

    if tag == "v25.3.3":  # it mounts first, and then sets the variables over its own
        assert (paths["containerd-config"], paths["containerd-socket"]) == ("/etc/containerd", "/run/containerd")
        assert variables["CONTAINERD_CONFIG"] == "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"
        return
    assert paths["containerd-config"] == "/var/lib/rancher/k3s/agent/etc/containerd"
    assert paths["containerd-socket"] == "/run/k3s/containerd"
    assert variables["CONTAINERD_CONFIG"] == "/runtime/config-dir/config.toml"
    assert variables["CONTAINERD_SOCKET"] == "/runtime/sock-dir/containerd.sock"
    assert variables["CONTAINERD_RUNTIME_CLASS"] == "nvidia"


@pytest.mark.parametrize("tag", TAGS)
def test_sources_of_a_configuration_are_read_below_the_mounted_root(tag):
    values = {"toolkit": {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file=/etc//a.toml,command,file"}]}}
    source = env(pod(tag, TOOLKIT, values)["containers"][0])["RUNTIME_CONFIG_SOURCE"]

    reads = version_key(tag) >= version_key("v25.10.0")
    assert source == ("file=/host/etc/a.toml,command,file" if reads else "file=/etc//a.toml,command,file")


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    ("runtimes", "runtime"),
    [
        (("cri-o://1.30", "containerd://1.7", "docker://24"), "containerd"),
        (("rkt://1", "cri-o://1.30"), "crio"),
        (("rkt://1",), "containerd"),
    ],
)
def test_one_runtime_is_assumed_for_all_nodes(tag, runtimes, runtime):
    made = expansion(tag, {}, *runtimes)

    assert made.runtime == runtime
    assert env(found(made, TOOLKIT)["spec"]["template"]["spec"]["containers"][0])["RUNTIME"] == runtime


@pytest.mark.parametrize("tag", TAGS)
def test_the_toolkit_is_installed_and_called_elsewhere(tag):
    values = {"toolkit": {"installDir": "/opt/x/"}, "cdi": {"enabled": True}}
    toolkit, plugin = pod(tag, TOOLKIT, values), pod(tag, PLUGIN, values)

    assert host_paths(toolkit)["toolkit-install-dir"] == "/opt/x/"
    assert env(toolkit["containers"][0])["ROOT"] == "/opt/x/"
    assert env(plugin["containers"][0])["NVIDIA_CDI_HOOK_PATH"] == "/opt/x/toolkit/nvidia-cdi-hook"


@pytest.mark.parametrize("tag", TAGS)
def test_another_root_of_the_host_is_mounted_and_told(tag):
    toolkit = pod(tag, TOOLKIT, {"hostPaths": {"rootFS": "/host-root/"}})

    assert host_paths(toolkit)["host-root"] == "/host-root/"
    assert host_paths(toolkit)["host-dev-char"] == "/host-root/dev/char"
    assert env(toolkit["containers"][0])["HOST_ROOT"] == "/host-root/"


@pytest.mark.parametrize("tag", TAGS)
def test_mps_keeps_its_files_elsewhere(tag):
    moved = {"mps": {"root": "/data/mps/"}}

    for name in (PLUGIN, MPS):
        assert host_paths(pod(tag, name, {}, devicePlugin=moved))["mps-shm"] == "/data/mps/shm"
    assert env(pod(tag, PLUGIN, {}, devicePlugin=moved)["containers"][0])["MPS_ROOT"] == "/data/mps/"
    assert host_paths(pod(tag, MPS, {"devicePlugin": moved}))["mps-shm"] == "/run/nvidia/mps/shm"


# -- DCGM exporter: controllers/object_controls.go, TransformDCGMExporter


@pytest.mark.parametrize("tag", ENV_FIRST)
def test_an_engine_on_the_host_is_reached_through_its_network(tag):
    values = {"dcgmExporter": {"env": [{"name": "DCGM_REMOTE_HOSTENGINE_INFO", "value": "localhost:5555"}]}}
    exporter = pod(tag, EXPORTER, values)

    assert exporter["hostNetwork"] is True
    assert "dnsPolicy" not in exporter


@pytest.mark.parametrize("tag", ["v26.3.3", "v26.7.0"])
def test_variables_that_come_last_do_not_move_the_exporter_into_the_network_of_the_host(tag):
    values = {"dcgmExporter": {"env": [{"name": "DCGM_REMOTE_HOSTENGINE_INFO", "value": "localhost:5555"}]}}
    exporter = pod(tag, EXPORTER, values)

    assert "hostNetwork" not in exporter
    assert env(exporter["containers"][0])["DCGM_REMOTE_HOSTENGINE_INFO"] == "localhost:5555"


def test_the_exporter_finds_the_kubelet_elsewhere():
    exporter = pod("v26.7.0", EXPORTER, {"hostPaths": {"kubeletRootDir": "/data/kubelet/"}})

    assert host_paths(exporter)["pod-gpu-resources"] == "/data/kubelet/pod-resources"
    (mount,) = [item for item in exporter["containers"][0]["volumeMounts"] if item["name"] == "pod-gpu-resources"]
    assert mount["mountPath"] == "/var/lib/kubelet/pod-resources"


def test_annotations_of_the_exporter_reach_its_pods_only():
    made = found(expansion("v26.3.3", {"dcgmExporter": {"annotations": {"a": "b"}}}), EXPORTER)

    assert made["spec"]["template"]["metadata"]["annotations"]["a"] == "b"
    assert "a" not in made["metadata"].get("annotations", {})


@pytest.mark.parametrize("tag", TAGS)
def test_variables_of_the_exporter_move_it_into_the_hosts_network_are_ignored_or_only_set(tag):
    # NVIDIA/gpu-operator:controllers/object_controls.go TransformDCGMExporter
    env = [{"name": "DCGM_REMOTE_HOSTENGINE_INFO", "value": "localhost:5555"}, {"name": "OWN", "value": "1"}]
    pod = pod_of(found(expansion(tag, {"dcgm": {"enabled": False}, "dcgmExporter": {"env": env}}), EXPORTER))
    own = [item["value"] for item in pod["containers"][0]["env"] if item["name"] == "OWN"]

    assert own == ([] if tag in ("v25.3.3", "v25.3.4") else ["1"])
    assert pod.get("hostNetwork", False) is (version_key(tag) < version_key("v25.3.3"))


@pytest.mark.parametrize("tag", TAGS)
def test_the_mps_daemon_follows_the_device_plugin_into_the_hosts_network(tag):
    made = expansion(tag, {"devicePlugin": {"hostNetwork": True}})
    follows = version_key(tag) >= version_key("v26.3.1")

    for name in ("nvidia-device-plugin-daemonset", "nvidia-device-plugin-mps-control-daemon"):
        pod = pod_of(found(made, name))
        assert (pod.get("hostNetwork", False), "dnsPolicy" in pod) == (follows, follows)


@pytest.mark.parametrize("tag", TAGS)
def test_resources_hold_for_init_containers_from_26_7_on(tag):
    few, more = ({"limits": {"cpu": number}} for number in ("1", "2"))
    values = {name: {"resources": few} for name in ("validator", "driver", "gfd")}
    made = expansion(tag, {**values, "devicePlugin": {"resources": more, "config": {"name": "c"}}})

    def held(name, container):
        pod = pod_of(found(made, name))
        return next(item.get("resources") for item in pod["initContainers"] if container in item["name"])

    new = version_key(tag) >= version_key("v26.7.0")
    assert held("nvidia-operator-validator", "cuda-validation") == (few if new else None)
    assert held("nvidia-driver-daemonset", "k8s-driver-manager") == (few if new else None)
    assert held("gpu-feature-discovery", "config-manager-init") == (few if new else None)
    assert held("nvidia-device-plugin-daemonset", "config-manager-init") == (more if new else None)
    assert held("nvidia-device-plugin-daemonset", "toolkit-validation") == (few if new else None)


def test_variables_of_the_exporter_that_read_pods_bring_the_rights_in_26_7():
    labels = {"name": "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS", "value": "True"}
    config_map = {"name": "DCGM_EXPORTER_CONFIGMAP_DATA", "value": "a:b"}

    def told(tag, *env):
        made = expansion(tag, {"dcgmExporter": {"env": list(env)}})
        roles = [item for item in made.objects if item["metadata"]["name"] == "nvidia-dcgm-exporter-read-pods"]
        return pod_of(found(made, EXPORTER))["automountServiceAccountToken"], len(roles)

    assert told("v26.7.0", labels) == (True, 2)
    assert told("v26.7.0", config_map) == (True, 0)
    assert told("v26.7.0", {**config_map, "value": "none"}) == told("v26.3.3", labels) == (False, 0)


def test_a_value_beside_a_reference_is_refused_by_the_api_server():
    env = [{"name": "NODE_NAME", "value": "a"}]
    (error,) = expansion("v25.3.0", {"dcgmExporter": {"env": env}}).errors

    assert 'DaemonSet.apps "nvidia-dcgm-exporter" is invalid' in error
    assert error.endswith("may not be specified when `value` is not empty")


@pytest.mark.parametrize("honours", [True, False])
def test_labels_that_are_not_honoured_are_left_out_of_a_monitor(honours):
    monitor = {"dcgmExporter": {"serviceMonitor": {"enabled": True, "honorLabels": honours}}}
    (endpoint,) = found(expansion("v26.3.3", monitor, monitors=True), EXPORTER, "ServiceMonitor")["spec"]["endpoints"]

    assert endpoint.get("honorLabels") is (True if honours else None)


def test_the_monitor_of_the_operator_can_not_be_switched_off():
    off = {"operator": {"metrics": {"serviceMonitor": {"enabled": False}}}}

    assert found(expansion("v26.7.0", off, monitors=True), "gpu-operator", "ServiceMonitor")


@pytest.mark.parametrize("release", ["v24.6.1", "v25.3.4", "v26.7.0"])
def test_a_monitor_that_honors_no_labels_says_nothing_of_it(release):
    settings = {"enabled": True, "honorLabels": False, "relabelings": [{"targetLabel": "x", "regex": "", "action": ""}]}
    monitor = found(
        expansion(release, {"dcgmExporter": {"serviceMonitor": settings}}, monitors=True),
        "nvidia-dcgm-exporter",
        "ServiceMonitor",
    )

    (endpoint,) = monitor["spec"]["endpoints"]
    assert "honorLabels" not in endpoint
    assert endpoint["relabelings"] == [{"targetLabel": "x"}]


def test_the_monitor_of_the_operator_has_settings_of_its_own():
    settings = {"interval": "15s", "scrapeTimeout": "5s", "honorLabels": True, "additionalLabels": {"team": "a"}}
    made = expansion("v26.7.0", {"operator": {"metrics": {"serviceMonitor": settings}}}, monitors=True)
    monitor = found(made, "gpu-operator", "ServiceMonitor")

    assert monitor["metadata"]["labels"]["team"] == "a"
    (endpoint,) = monitor["spec"]["endpoints"]
    assert (endpoint["interval"], endpoint["scrapeTimeout"], endpoint["honorLabels"]) == ("15s", "5s", True)


def test_a_monitor_that_honours_no_labels_does_not_say_so():
    # seen of the binary: Go leaves the field out of what it sends
    monitor = {"enabled": True, "honorLabels": False}
    made = expansion(NEWEST, {"dcgmExporter": {"serviceMonitor": monitor}}, monitors=True)

    assert "honorLabels" not in found(made, EXPORTER, "ServiceMonitor")["spec"]["endpoints"][0]
