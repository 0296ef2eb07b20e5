"""DCGM and its exporter beside a GPUCluster."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import expand_gpu_cluster
from poolsmith.gpu.catalog.operands import read_operands

DRIVER = {"repository": "registry.example.com", "image": "dra-driver", "version": "v1", "computeDomains": {}}
ENGINE = {"enabled": True, "repository": "registry.example.com", "image": "dcgm", "version": "4"}
EXPORTER = {"repository": "registry.example.com", "image": "dcgm-exporter", "version": "sha256:aa"}
DCGM = "DaemonSet/nvidia-dcgm-dra"
DCGM_EXPORTER = "DaemonSet/nvidia-dcgm-exporter-dra"
SERVICE = "Service/nvidia-dcgm-exporter-dra"
MONITOR = "ServiceMonitor/nvidia-dcgm-exporter-dra"


def expanded(spec, *, service_monitors=True):
    resource = {"apiVersion": "nvidia.com/v1alpha1", "kind": "GPUCluster", "metadata": {"name": "gpu-cluster"}}
    context = Context(
        entry=read_operands("v26.7.0"),
        policy=None,
        nodes=(),
        runtime="containerd",
        service_monitors=service_monitors,
    )
    return expand_gpu_cluster(
        context, resource | {"spec": {"draDriver": DRIVER, **spec}}, (), api_versions={"resource.k8s.io/v1/DeviceClass"}
    )


def objects(spec, **options):
    expansion = expanded(spec, **options)
    assert expansion.unknown == ()
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in expansion.objects}


def exporter(options, **spec):
    return objects({"dcgmExporter": {**EXPORTER, **options}, **spec})


def pod(item):
    return item["spec"]["template"]["spec"]


def env(item):
    (container,) = pod(item)["containers"]
    return {variable["name"]: variable.get("value") for variable in container.get("env", ())}


def mounts(item):
    (container,) = pod(item)["containers"]
    return {mount.pop("name"): mount for mount in container["volumeMounts"]}


def volumes(item):
    return {volume.pop("name"): volume for volume in pod(item)["volumes"]}


def error(expansion):
    (status,) = expansion.conditions
    return next(condition["message"] for condition in status.conditions if condition["type"] == "Error")


# -- what runs


@pytest.mark.parametrize(("block", "runs"), [(None, False), ({}, False), ({"enabled": False}, False), (ENGINE, True)])
def test_the_engine_is_off_unless_switched_on(block, runs):
    found = objects({} if block is None else {"dcgm": block})

    assert (DCGM in found) is runs
    assert ("Service/nvidia-dcgm-dra" in found) is runs
    assert ("ResourceClaimTemplate/nvidia-dcgm-admin" in found) is runs


@pytest.mark.parametrize(
    ("block", "runs"),
    [(None, False), (EXPORTER, True), ({**EXPORTER, "enabled": True}, True), ({**EXPORTER, "enabled": False}, False)],
)
def test_the_exporter_is_on_where_its_block_stands(block, runs):
    found = objects({} if block is None else {"dcgmExporter": block})

    assert (DCGM_EXPORTER in found) is runs
    assert (SERVICE in found) is runs


@pytest.mark.parametrize(("engine", "host"), [({}, None), ({"dcgm": ENGINE}, "nvidia-dcgm-dra:5555")])
def test_the_exporter_asks_the_engine_where_one_runs(engine, host):
    assert env(exporter({}, **engine)[DCGM_EXPORTER]).get("DCGM_REMOTE_HOSTENGINE_INFO") == host


def test_both_may_see_all_gpus_by_admin_access():
    found = objects({"dcgm": ENGINE, "dcgmExporter": EXPORTER})

    for name in ("nvidia-dcgm-admin", "nvidia-dcgm-exporter-admin"):
        (request,) = found[f"ResourceClaimTemplate/{name}"]["spec"]["spec"]["devices"]["requests"]
        assert request["exactly"] == {
            "adminAccess": True,
            "allocationMode": "All",
            "deviceClassName": "gpu.nvidia.com",
        }


# -- the engine


def test_the_settings_of_the_engine():
    more = {
        "imagePullPolicy": "Always",
        "imagePullSecrets": ["secret"],
        "args": ["--log-level", "DEBUG"],
        "env": [{"name": "A", "value": "b"}],
        "resources": {"limits": {"memory": "1024Mi"}},
        "hostNetwork": True,
    }
    found = pod(objects({"dcgm": {**ENGINE, **more}})[DCGM])
    (container,) = found["containers"]

    assert (container["image"], container["imagePullPolicy"]) == ("registry.example.com/dcgm:4", "Always")
    assert container["args"] == ["--log-level", "DEBUG"]
    assert container["env"] == [{"name": "A", "value": "b"}]
    assert container["resources"] == {"claims": [{"name": "admin-gpus"}], "limits": {"memory": "1Gi"}}
    assert found["imagePullSecrets"] == [{"name": "secret"}]
    assert (found["hostNetwork"], found["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")


def test_an_engine_without_an_image_leaves_the_rest_alone():
    expansion = expanded({"dcgm": {"enabled": True}, "dcgmExporter": EXPORTER})

    assert error(expansion).startswith(
        "Error syncing state state-dcgm: failed to create k8s objects from manifests: "
        "failed to construct state-dcgm image path: "
    )
    assert {item["metadata"]["name"] for item in expansion.objects if item["kind"] == "DaemonSet"} == {
        "nvidia-dra-driver-kubelet-plugin",
        "nvidia-dra-validator",
        "nvidia-dcgm-exporter-dra",
    }


# -- the exporter


def test_the_exporter_runs_without_the_host_unless_asked():
    found = pod(exporter({})[DCGM_EXPORTER])

    assert not {"hostPID", "hostNetwork", "dnsPolicy"} & set(found)


@pytest.mark.parametrize(
    ("option", "more"),
    [
        ({"hostPID": True}, {"hostPID": True}),
        ({"hostNetwork": True}, {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}),
        ({"hostPID": False, "hostNetwork": False}, {}),
    ],
)
def test_the_exporter_shares_of_the_host_what_it_is_told_to(option, more):
    found = pod(exporter(option)[DCGM_EXPORTER])

    assert found == {**pod(exporter({})[DCGM_EXPORTER]), **more}


def test_an_image_by_digest():
    (container,) = pod(exporter({})[DCGM_EXPORTER])["containers"]

    assert container["image"] == "registry.example.com/dcgm-exporter@sha256:aa"


@pytest.mark.parametrize(
    ("option", "variables"),
    [
        ({"enablePodLabels": True}, {"DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS": "true"}),
        ({"enablePodUID": True}, {"DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID": "true"}),
        ({"enablePodUID": False}, {}),
        (
            {"podLabelAllowlistRegex": ["^app$", "^team"]},
            {"DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX": "^app$,^team"},
        ),
        ({"env": [{"name": "DCGM_EXPORTER_LISTEN", "value": ":9500"}]}, {"DCGM_EXPORTER_LISTEN": ":9500"}),
    ],
)
def test_variables_of_the_exporter(option, variables):
    assert env(exporter(option)[DCGM_EXPORTER]) == {**env(exporter({})[DCGM_EXPORTER]), **variables}


def test_metrics_of_a_config_map():
    found = exporter({"config": {"name": "my-metrics"}})[DCGM_EXPORTER]
    path = "/etc/dcgm-exporter/dcgm-metrics.csv"

    assert env(found)["DCGM_EXPORTER_COLLECTORS"] == path
    assert mounts(found)["metrics-config"] == {"mountPath": path, "subPath": "dcgm-metrics.csv", "readOnly": True}
    items = [{"key": "dcgm-metrics.csv", "path": "dcgm-metrics.csv"}]
    assert volumes(found)["metrics-config"] == {"configMap": {"name": "my-metrics", "items": items}}


@pytest.mark.parametrize(
    ("jobs", "folder"),
    [
        ({"enabled": True}, "/var/lib/dcgm-exporter/job-mapping"),
        ({"enabled": True, "directory": "/run/jobs"}, "/run/jobs"),
        ({"enabled": False, "directory": "/run/jobs"}, None),
        ({"directory": "/run/jobs"}, None),
    ],
)
def test_jobs_of_a_workload_manager_are_read_from_the_node(jobs, folder):
    found = exporter({"hpcJobMapping": jobs})[DCGM_EXPORTER]

    assert env(found).get("DCGM_HPC_JOB_MAPPING_DIR") == folder
    if folder is None:
        assert "hpc-job-mapping" not in volumes(found)
    else:
        assert mounts(found)["hpc-job-mapping"] == {"mountPath": folder, "readOnly": True}
        assert volumes(found)["hpc-job-mapping"] == {"hostPath": {"path": folder, "type": "DirectoryOrCreate"}}


@pytest.mark.parametrize("root", ["/data/kubelet", "/data/kubelet/"])
def test_another_folder_of_the_kubelet_is_read_at_the_usual_place(root):
    found = exporter({}, hostPaths={"kubeletRootDir": root})[DCGM_EXPORTER]

    assert volumes(found)["pod-gpu-resources"] == {"hostPath": {"path": "/data/kubelet/pod-resources"}}
    assert mounts(found)["pod-gpu-resources"] == {"mountPath": "/var/lib/kubelet/pod-resources", "readOnly": True}


def test_annotations_of_the_exporter_win_over_those_of_all_and_stay_on_its_pods():
    spec = {"daemonsets": {"annotations": {"a": "all", "b": "all"}}, "dcgm": ENGINE}
    found = exporter({"annotations": {"a": "own"}}, **spec)

    assert found[DCGM_EXPORTER]["metadata"]["annotations"] == {"a": "all", "b": "all"}
    assert found[DCGM_EXPORTER]["spec"]["template"]["metadata"]["annotations"] == {"a": "own", "b": "all"}
    assert found[DCGM]["spec"]["template"]["metadata"]["annotations"] == {"a": "all", "b": "all"}


def test_the_priority_class_of_the_user_does_not_reach_the_exporter():
    found = exporter({}, daemonsets={"priorityClassName": "mine"})[DCGM_EXPORTER]

    assert pod(found)["priorityClassName"] == "system-node-critical"


# -- how it is scraped


def test_the_service_of_the_exporter():
    plain = exporter({})[SERVICE]["spec"]
    asked = exporter({"service": {"type": "NodePort", "internalTrafficPolicy": "Local"}})[SERVICE]["spec"]

    assert plain["type"] == "ClusterIP"
    assert asked == {**plain, "type": "NodePort", "internalTrafficPolicy": "Local"}


@pytest.mark.parametrize("enabled", [True, False, None])
@pytest.mark.parametrize("served", [True, False])
def test_a_service_monitor_needs_the_wish_and_the_api(enabled, served):
    block = {"dcgmExporter": {**EXPORTER, "serviceMonitor": {} if enabled is None else {"enabled": enabled}}}

    assert (MONITOR in objects(block, service_monitors=served)) is (served and enabled is True)


def test_the_smallest_service_monitor():
    assert exporter({"serviceMonitor": {"enabled": True}})[MONITOR]["spec"] == {
        "jobLabel": "app",
        "namespaceSelector": {"matchNames": ["gpu-operator"]},
        "selector": {"matchLabels": {"app": "nvidia-dcgm-exporter-dra"}},
        "endpoints": [{"port": "gpu-metrics", "path": "/metrics", "honorLabels": False}],
    }


def test_the_settings_of_a_service_monitor():
    rule = {"sourceLabels": ["__name__"], "targetLabel": "x", "regex": "", "action": "replace", "replacement": ""}
    wanted = {
        "enabled": True,
        "interval": "15s",
        "scrapeTimeout": "10s",
        "honorLabels": True,
        "additionalLabels": {"release": "prometheus"},
        "relabelings": [rule],
    }
    found = exporter({"serviceMonitor": wanted})[MONITOR]
    (endpoint,) = found["spec"]["endpoints"]

    assert found["metadata"]["labels"] == {
        "app": "nvidia-dcgm-exporter-dra",
        "release": "prometheus",
        "nvidia.com/gpu-operator.state": "state-dcgm-exporter",
    }
    assert found["spec"]["selector"] == {"matchLabels": {"app": "nvidia-dcgm-exporter-dra"}}
    assert endpoint == {
        "port": "gpu-metrics",
        "path": "/metrics",
        "honorLabels": True,
        "interval": "15s",
        "scrapeTimeout": "10s",
        "relabelings": [
            {"sourceLabels": ["__name__"], "targetLabel": "x", "action": "replace", "replacement": ""},
        ],
    }
