"""Ways to run other code with a privilege that somebody else was granted; one change or several."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.pointer import copied

UNPRIVILEGED = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
}


def test_a_plain_pod_of_somebody_else_passes(prod, plain):
    assert prod.judge.message(plain) == ""


@pytest.mark.parametrize(
    "wanted",
    [
        {"securityContext": {**UNPRIVILEGED, "privileged": True, "allowPrivilegeEscalation": True}},
        {"securityContext": {**UNPRIVILEGED, "allowPrivilegeEscalation": True}},
        {"securityContext": None},
        {"securityContext": {**UNPRIVILEGED, "capabilities": {"add": ["NET_ADMIN"]}}},
        {"securityContext": {**UNPRIVILEGED, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}},
        {"securityContext": {**UNPRIVILEGED, "capabilities": {"add": ["all"]}}},
        {"securityContext": {**UNPRIVILEGED, "runAsUser": 0, "runAsNonRoot": False}},
        {"securityContext": {**UNPRIVILEGED, "runAsNonRoot": False}},
        {"securityContext": {**UNPRIVILEGED, "procMount": "Unmasked"}},
        {"securityContext": {**UNPRIVILEGED, "seccompProfile": {"type": "Unconfined"}}},
        {"securityContext": {**UNPRIVILEGED, "appArmorProfile": {"type": "Unconfined"}}},
        {"securityContext": {**UNPRIVILEGED, "seLinuxOptions": {"type": "spc_t"}}},
        {"securityContext": {**UNPRIVILEGED, "windowsOptions": {"hostProcess": True}}},
        {"ports": [{"containerPort": 80, "hostPort": 80}]},
    ],
)
@pytest.mark.parametrize("sort", ["initContainers", "containers", "ephemeralContainers"])
def test_a_privilege_of_somebody_else_is_refused(prod, plain, wanted, sort):
    container = {**copied(plain["spec"]["containers"][0]), "name": "evil", **copied(wanted)}
    plain["spec"].setdefault(sort, []).append({key: value for key, value in container.items() if value is not None})
    message = prod.judge.message(plain)
    assert "container evil of service account gpu-operator/own wants " in message
    assert "which no PrivilegeGrant gives it" in message


@pytest.mark.parametrize(
    ("pod", "wants"),
    [
        ({"hostPID": True}, "host-pid"),
        ({"hostIPC": True}, "host-ipc"),
        ({"hostNetwork": True}, "host-network"),
        ({"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}, "host-path:/:rw:none"),
        ({"volumes": [{"name": "x", "nfs": {"server": "a", "path": "/"}}]}, "volume:nfs"),
        ({"volumes": [{"name": "x", "gitRepo": {"repository": "a"}}]}, "volume:gitRepo"),
        ({"volumes": [{"name": "x", "flexVolume": {"driver": "a/b"}}]}, "volume:flexVolume"),
        ({"volumes": [{"name": "x", "iscsi": {"targetPortal": "a", "iqn": "b", "lun": 0}}]}, "volume:iscsi"),
        ({"securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}]}}, "sysctl:kernel.shm"),
    ],
)
def test_a_privilege_of_the_whole_pod_is_refused(prod, plain, pod, wants):
    for field, value in pod.items():
        if isinstance(value, list):
            plain["spec"][field].extend(value)
        else:
            plain["spec"][field] = value
    assert f" wants {wants}" in prod.judge.message(plain)


@pytest.mark.parametrize(
    "key",
    [
        "io.kubernetes.cri-o.Devices",
        "devices.crio.io/x",
        "seccomp-profile.kubernetes.cri-o.io/POD",
        "devices.nri.io/container.main",
        "mounts.nri.io/container.main",
        "nvidia.cdi.k8s.io/container.main",
        "ulimits.nri.containerd.io/container.main",
        "devices.noderesource.dev/pod",
        "org.systemd.property.DeviceAllow",
        "run.oci.seccomp.plugins",
        "io.containers.trace-syscall",
        "dev.gvisor.flag.host-uds",
        "io.katacontainers.config.hypervisor.virtio_fs_extra_args",
    ],
)
def test_an_annotation_that_gives_devices_is_refused(prod, plain, key):
    plain["metadata"]["annotations"] = {key: "x"}
    assert f" wants annotation:{key}=x" in prod.judge.message(plain)


@pytest.mark.parametrize("subresource", ["", "status"])
@pytest.mark.parametrize("key", ["devices.nri.io/pod", "io.kubernetes.cri-o.Devices"])
def test_it_can_not_be_added_later(prod, plain, key, subresource):
    """To a pod that waits for its node, or a container that starts again."""
    how = {"old": plain, "operation": "UPDATE", "subresource": subresource}
    other = copied(plain)
    other["metadata"]["annotations"] = {key: "x"}
    assert f" wants annotation:{key}=x" in prod.judge.message(other, **how)
    again = copied(other)
    again["metadata"]["annotations"]["note"] = "y"
    assert prod.judge.verdict(again, **how | {"old": other}) == "skipped"
    again["metadata"]["annotations"][key] = "z"
    assert prod.judge.verdict(again, **how | {"old": other}) == "deny"


@pytest.mark.parametrize("own", [{}, {"level": "s0"}])
def test_selinux_of_the_pod_can_not_hide_behind_the_containers(prod, plain, own):
    plain["spec"]["securityContext"] = {"seLinuxOptions": {"type": "spc_t"}}
    plain["spec"]["containers"][0]["securityContext"]["seLinuxOptions"] = own
    assert " wants selinux:spc_t" in prod.judge.message(plain)


def test_a_host_process_can_not_hide_behind_the_containers_options(prod, plain):
    plain["spec"]["securityContext"] = {"windowsOptions": {"hostProcess": True}}
    plain["spec"]["containers"][0]["securityContext"]["windowsOptions"] = {"runAsUserName": "x"}
    assert " wants privileged" in prod.judge.message(plain)


@pytest.mark.rows(2, "a row takes 0.42 s; each value of each column is seen first")
@pytest.mark.parametrize(
    "sources",
    [
        [{"configMapRef": {"name": "extra"}}],
        [{"secretRef": {"name": "evil"}}],
        [{"secretRef": {"name": "extra"}}, {"configMapRef": {"name": "evil"}}],
        [{"secretRef": {"name": "extra"}, "prefix": "LD_"}],
    ],
)
def test_variables_of_a_secret_can_not_be_those_of_another(prod, helpers, sources):
    """The driver's `secretEnv`."""
    daemons = (item for item in prod.objects if item["kind"] == "DaemonSet")
    workload = copied(next(item for item in daemons if "gpu-driver" in item["metadata"]["name"]))
    own = workload["spec"]["template"]["spec"]["containers"][0]
    own["envFrom"] = [{"secretRef": {"name": "extra"}}]
    judge = helpers.Judge(helpers.claim_table([workload], lambda *_: True))
    assert judge.verdict(helpers.as_admitted_pod(workload)) == "allow"
    own["envFrom"] = sources
    assert " has env-from:" in judge.message(helpers.as_admitted_pod(workload))


@pytest.mark.parametrize("annotation", ["unconfined"])
def test_apparmor_by_its_old_annotation_is_refused(prod, plain, annotation):
    plain["metadata"]["annotations"] = {"container.apparmor.security.beta.kubernetes.io/main": annotation}
    assert " wants apparmor:unconfined" in prod.judge.message(plain)


def test_the_account_of_an_operand_takes_no_plain_container(prod, plain):
    """Its token would be worth having: the operator's may write cluster roles."""
    for account in prod.table.accounts:
        plain["spec"]["serviceAccountName"] = account.partition("/")[2]
        message = prod.judge.message(plain)
        assert f"container main of service account {account} is not predicted: main|{account}|main|evil" in message


def test_the_image_of_an_operand_takes_no_other_account(prod, plain):
    for repository in prod.table.repositories:
        for image in (repository, f"{repository}:1", f"{repository}@sha256:{'0' * 64}", f"{repository}:1@sha256:0"):
            plain["spec"]["containers"][0]["image"] = image
            assert "is not predicted" in prod.judge.message(plain)


def test_containers_of_two_workloads_do_not_add_up(prod):
    """A pod of one account with a container of another of its workloads, and what only that one's pod may share."""
    validator = copied(prod.pods["DaemonSet/nvidia-operator-validator"])
    mig = prod.pods["DaemonSet/nvidia-mig-manager"]
    validator["spec"]["containers"] += copied(mig["spec"]["containers"])
    validator["spec"]["volumes"] += [
        copied(item)
        for item in mig["spec"]["volumes"]
        if item["name"] not in {volume["name"] for volume in validator["spec"]["volumes"]}
    ]
    assert "wants privileged, which no PrivilegeGrant gives to main|gpu-op" in prod.judge.message(validator)


def test_the_nodes_process_namespace_is_for_containers_that_all_have_it(prod):
    """cuda-validator shares an account with the validator; neither may have hostPID."""
    pod = copied(prod.pods["Pod/nvidia-cuda-validator-*"])
    pod["spec"]["hostPID"] = True
    assert "wants host-pid, which no PrivilegeGrant gives it" in prod.judge.message(pod)


def test_an_init_container_can_not_go_on_as_a_main_one(prod, driver):
    driver["spec"]["containers"].append(driver["spec"]["initContainers"].pop())
    assert "k8s-driver-manager of service account" in prod.judge.message(driver)


def test_a_debugging_container_on_a_standing_driver_is_refused(prod, driver):
    other = copied(driver)
    other["spec"]["ephemeralContainers"] = [{"name": "debugger", "image": "busybox", "securityContext": UNPRIVILEGED}]
    how = {"old": driver, "operation": "UPDATE", "subresource": "ephemeralcontainers"}
    assert "container debugger of service account" in prod.judge.message(other, **how)


def test_a_debugging_container_with_a_privilege_on_a_plain_pod_is_refused(prod, plain):
    other = copied(plain)
    other["spec"]["ephemeralContainers"] = [
        {"name": "debugger", "image": "busybox", "securityContext": {"privileged": True}}
    ]
    how = {"old": plain, "operation": "UPDATE", "subresource": "ephemeralcontainers"}
    assert "container debugger of service account gpu-operator/own wants privileged" in prod.judge.message(other, **how)


def test_an_image_can_not_be_changed_later(prod, driver, plain):
    other = copied(driver)
    other["spec"]["containers"][0]["image"] = "evil.example/driver:1"
    assert prod.judge.verdict(other, old=driver, operation="UPDATE") == "deny"
    other = copied(plain)
    other["spec"]["containers"][0]["image"] = f"{prod.table.repositories[0]}:1"
    assert prod.judge.verdict(other, old=plain, operation="UPDATE") == "deny"


def test_pods_from_before_the_policy_can_be_labelled_and_deleted(prod, driver):
    driver["spec"]["containers"][0]["args"] = ["whatever it was"]
    driver["spec"]["hostIPC"] = True
    assert prod.judge.verdict(driver) == "deny"
    other = copied(driver)
    other["metadata"].update(finalizers=["example.com/x"], labels={"x": "y"}, annotations={"x": "y"})
    other["spec"]["tolerations"] = [{"operator": "Exists"}]
    other["spec"]["activeDeadlineSeconds"] = 1
    assert prod.judge.verdict(other, old=driver, operation="UPDATE") == "skipped"
    assert prod.judge.verdict(None, old=driver, operation="DELETE") == "skipped"


def test_a_known_command_can_not_be_told_otherwise(prod):
    """`sh -c <script>`: words that are joined, cut or moved give another key."""
    pod = copied(prod.pods["DaemonSet/nvidia-operator-validator"])
    own = pod["spec"]["containers"][0]
    assert own["command"] == ["sh", "-c"]
    for command, args in (
        (["sh", "-c", *own["args"]], []),
        ([], ["sh", "-c", *own["args"]]),
        (["sh"], ["-c", *own["args"]]),
        (["sh", f"-c|a:{own['args'][0]}"], []),
        (["sh", "-c"], [own["args"][0] + " "]),
        (["sh", "-c"], ["", *own["args"]]),
        (["sh", "-c", ""], own["args"]),
        (["sh", "-c"], own["args"] + own["args"]),
    ):
        other = copied(pod)
        other["spec"]["containers"][0].update(command=command, args=args)
        assert prod.judge.verdict(other) == "deny"


def test_a_part_of_a_path_can_not_hide_in_a_mount_path(prod, helpers):
    """`at /x subPath y` as the path itself would mount the whole volume."""
    cluster = helpers._cluster("kata-a10")
    pod = copied(cluster.pods["DaemonSet/gpu-feature-discovery"])
    init = next(item for item in pod["spec"]["initContainers"] if item["name"] == "gpu-feature-discovery-imex-init")
    mount = next(item for item in init["volumeMounts"] if item["mountPath"] == "/host/etc")
    assert mount.pop("subPath") == "etc"
    assert cluster.judge.verdict(pod) == "deny"
    mount["mountPath"] = "/host/etc subPath etc"
    assert cluster.judge.verdict(pod) == "deny"


def test_a_message_is_one_bounded_line(prod, plain):
    evil = plain["spec"]["containers"][0]
    evil["securityContext"] = {
        "capabilities": {"add": [f"X\n\r\x1b[31m{'y' * 1500}"]},
        "allowPrivilegeEscalation": False,
    }
    plain["spec"]["initContainers"] = [{**copied(evil), "name": f"c{index}"} for index in range(30)]
    message = prod.judge.message(plain)
    assert "\n" not in message
    assert "\r" not in message
    assert len(message) < 1200
    assert "and 29 more containers" in message
    assert message.endswith("; see policies/privileges/")


def test_a_pod_of_many_parts_is_refused_and_never_passed(prod, plain):
    """Whether by the policy or by a limit of the engine."""
    evil = {**copied(plain["spec"]["containers"][0]), "securityContext": {"privileged": True}}
    plain["spec"]["containers"] = [{**copied(evil), "name": f"c{index}"} for index in range(400)]
    plain["spec"]["volumes"] = [{"name": f"v{index}", "emptyDir": {}} for index in range(400)]
    assert prod.judge.verdict(plain) in ("deny", "error", "notEvaluated")


def test_the_audit_annotation_tells_what_is_missing(prod, plain, driver):
    plain["spec"]["hostPID"] = True
    (annotation,) = prod.judge.evaluation(plain).audit_annotations
    assert annotation.key == "poolsmith-privileges/ungranted"
    assert "wants host-pid" in annotation.value
    assert prod.judge.evaluation(driver).audit_annotations == ()
