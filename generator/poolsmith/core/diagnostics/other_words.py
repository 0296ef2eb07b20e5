"""Other spellings of the field's own words: what people write who know another tool, and what is meant here.

A word may be meant in several ways; only the one that a field knows is suggested there.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.flat_words import flatten

if TYPE_CHECKING:
    from collections.abc import Iterable

_OTHERS = {
    # distributions
    "kubeadm": "vanilla upstream k8s kubernetes kubespray cluster-api capi capz plain bare-metal kubekey",
    "rke2": "rke2-server rke2-agent rancher rke rancher-rke2 rancher-government",
    "k3s": "k3s-server k3s-agent k3s.io k3d",
    "microk8s": "microk8 canonical-kubernetes",
    "k0s": "k0smotron",
    "eks": "aws amazon amazon-eks aws-eks eksctl",
    "gke": "gcp google google-gke gke-standard google-kubernetes-engine",
    "aks": "azure az azure-aks microsoft-aks",
    "oke": "oci oracle",
    "vks": "tkg tanzu vsphere-kubernetes-service",
    "nkp": "dkp konvoy nutanix",
    "talos": "talos-linux talosctl",
    # delivery engines and stacks
    "flux": "fluxcd flux2 flux-cd gotk weave",
    "argocd": "argo argo-cd",
    "operator": "gpu-operator nvidia-gpu-operator",
    "device-plugin": "plugin nvidia-device-plugin k8s-device-plugin without-operator manual",
    "gpu-cluster": "dra gpucluster nvidia-dra-driver-gpu dra-driver",
    "nvidia-driver": "nvidiadriver crd driver-crd per-pool nvidiadrivers",
    "cluster-policy": "clusterpolicy policy",
    # runtimes
    "containerd": "cri-containerd containerd.io nerdctl",
    "cri-o": "crio",
    "docker": "docker-ce moby dockershim cri-dockerd docker-engine docker.io",
    # systems
    "ubuntu": "ubuntu-server canonical jammy focal noble resolute",
    "rhel": "redhat red-hat red-hat-enterprise-linux",
    "rocky": "rockylinux rocky-linux",
    "rhcos": "coreos red-hat-coreos scos",
    "amzn": "amazon-linux al2 al2023 amazonlinux amazon",
    "bottlerocket": "bottlerocket-os aws-bottlerocket",
    "cos": "container-optimized-os cos-containerd",
    "flatcar": "flatcar-linux flatcar-container-linux",
    "azurelinux": "azure-linux mariner cbl-mariner",
    "sles": "suse suse-linux-enterprise-server sle",
    # drivers and toolkits
    "container": "operator image compiled compile containerised containerized docker-image containers pod pods",
    "precompiled": "prebuilt precompile signed",
    "preinstalled": "host node none-needed dkms ami baked baked-in native host-driver installed runfile",
    "overlay": "kustomize own",
    # processors, adapters, workloads, confidential computing
    "amd64": "x86_64 x64 x86 x86-64 intel amd",
    "arm64": "aarch64 arm arm64v8 armv8 sbsa",
    "mellanox": "mlnx connectx connectx-4 connectx-5 connectx-6 connectx-7 connectx-8 bluefield infiniband ib rdma "
    "roce mofed cx5 cx6 cx7",
    "vm-passthrough": "passthrough pci-passthrough vfio vfio-pci gpu-passthrough",
    "vm-vgpu": "vgpu vgpu-host",
    "kata": "kata-containers kata-qemu kata-qemu-nvidia-gpu katacontainers",
    "kata-confidential": "confidential coco confidential-containers kata-cc kata-qemu-nvidia-gpu-snp cc",
    "snp": "sev-snp sevsnp amd-sev-snp sev amd",
    "tdx": "intel-tdx intel",
    # rules' severities
    "error": "fatal critical blocker high err",
    "warning": "warn medium",
    "note": "info notice information informational hint low",
    # privileges
    "run-as-root": "root uid-0 runasuser-0",
    "host-path": "volume mount",
    "allow-escalation": "allow-privilege-escalation privilege-escalation",
    # taints
    "NoSchedule": "no-sched",
    "NoExecute": "no-exec noexec evict-all",
    "PreferNoSchedule": "prefer",
    # keys of profiles
    "release": "version chart-version chart tag operator-version target-revision",
    "repoURL": "repo url repository git git-url repo-url source",
    "revision": "branch target-revision ref git-ref tag",
    "distribution": "distro flavour flavor platform provider",
    "kubernetes": "k8s kube cluster",
    "stack": "operator gpu-operator gpu-stack",
    "delivery": "gitops git-ops argocd flux",
    "layout": "profile config mig-profile mig-config strategy",
    "product": "model type gpu-product gpu name gpu-type gpu-model",
    "count": "gpus number quantity num replicas-per-node size amount",
    "values": "helm-values chart-values set overrides",
    "driverMode": "driver-mode mode",
    "replicas": "replica slices shares count",
    "timeSlicing": "slicing timeslice",
    "os": "operating-system system osimage os-image image distro",
    "kernel": "kernel-version uname",
    "arch": "architecture cpu platform",
    "runtime": "container-runtime cri",
    "workload": "workload-type workload-config mode",
    "extends": "inherits base bases from parent parents uses",
    "severity": "level",
    "reason": "why comment justification description",
    "owner": "team by responsible",
    "expires": "expiry until expiry-date valid-until expire end",
    "taints": "tolerations",
    "version": "tag",
}
"""By what is meant; the others stand between blanks."""


def other_word(word: str, known: Iterable[str]) -> str | None:
    """The one of `known` that people mean by `word`; None where it is of no other spelling of it."""
    meant = meanings(word)
    return next((candidate for candidate in known if candidate in meant), None)


def meanings(word: str) -> frozenset[str]:
    """All that people mean by a word, whatever the field."""
    return _meant().get(flatten(word), frozenset())


@cache
def _meant() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word, others in _OTHERS.items():
        for other in others.split():
            found.setdefault(flatten(other), set()).add(word)
    return {other: frozenset(words) for other, words in found.items()}
