"""Labels of nodes that something writes which stands in no file: kubelets, clouds, provisioners, GPU software."""

from __future__ import annotations

_DOMAINS = (
    "nvidia.com/",
    "feature.node.kubernetes.io/",
    "kubernetes.io/",
    "k8s.io/",
    "cluster.x-k8s.io/",
    "amazonaws.com/",
    "eksctl.io/",
    "karpenter.sh/",
    "karpenter.k8s.aws/",
    "karpenter.azure.com/",
    "cloud.google.com/",
    "azure.com/",
)
"""Ends of the domains that they write under by themselves."""
_OTHER_CLOUDS = (
    "oraclecloud.com/",
    "digitalocean.com/",
    "scaleway.com/",
    "linode.com/",
    "vultr.com/",
    "ovh.net/",
    "alibabacloud.com/",
    "aliyun.com/",
    "coreweave.com/",
    "coreweave.cloud/",
    "nebius.com/",
    "openshift.io/",
    "kubevirt.io/",
    "harvesterhci.io/",
    "run.ai/",
    "gke.io/",
    "k0sproject.io/",
)
_NO_PREFIX = ("agentpool", "kubernetes.azure.com", "accelerator")
_ROLE = "node-role.kubernetes.io/"
_ROLES = ("control-plane", "master", "etcd", "worker", "agent", "infra", "edge")
"""What installers write; other roles are given by hand, for a kubelet may give itself none."""


def is_well_known(key: str) -> bool:
    return key in _NO_PREFIX or _is_below(key, _DOMAINS)


def is_given_by_hand(key: str) -> bool:
    """Whether nothing but files or people write it, as far as is known."""
    if key.startswith(_ROLE):
        return key.removeprefix(_ROLE) not in _ROLES
    return not is_well_known(key) and not _is_below(key, _OTHER_CLOUDS)


def _is_below(key: str, ends: tuple[str, ...]) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and f".{domain}/".endswith(tuple(f".{end}" for end in ends))
