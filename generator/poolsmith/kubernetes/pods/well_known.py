"""Names that Kubernetes itself gives: the token's path, harmless volumes, annotations of runtimes and AppArmor.

AppArmor profiles stood in annotations before pods had a field for them.

Rules: kubernetes/kubernetes:pkg/registry/core/pod/strategy.go (what is copied), pkg/api/pod/util.go (what can be read)
and pkg/security/apparmor/helpers.go (what the kubelet takes).
"""

from __future__ import annotations

from typing import Any

SAFE_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Of generated names: no vowels, and no digits like letters, so that they form no words."""
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - where the API server mounts the token


VOLUMES_WITHOUT_PRIVILEGE = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)
"""What the restricted Pod Security Standard takes. Any other but a host path is wanted as `volume:<type>`."""
PRIVILEGED_ANNOTATIONS = (
    "cri-o",
    "crio.io",
    "dev.gvisor",
    "io.containers.",
    "katacontainers.config.hypervisor.path",
    "katacontainers.config.hypervisor.virtio_fs",
    "noderesource.dev",
    "nri.containerd.io",
    "nri.io",
    "nvidia.cdi.k8s.io",
    "org.systemd.property",
    "run.oci.",
)
"""What is in the names of annotations that give devices, mounts or confinement: wanted as a privilege is."""
RUNTIME_ANNOTATIONS = (
    "cdi.k8s.io/",
    "container.apparmor",
    "container.seccomp",
    "io.containerd",
    "io.katacontainers",
    "seccomp.security",
)
"""What is in the names of others that container runtimes act on: known containers have those that are predicted."""


ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
"""Before the name of a container."""

_LONGEST_NAME = 4095
_TYPES = {"runtime/default": "RuntimeDefault", "unconfined": "Unconfined"}
_LOCALHOST = "localhost/"


def profile_of_annotation(text: Any) -> dict[str, str] | None:
    """The field that means the same; None of what the API server can't read, which it leaves out of account."""
    if not isinstance(text, str):
        return None
    if text in _TYPES:
        return {"type": _TYPES[text]}
    name = text.removeprefix(_LOCALHOST)
    if name != text and name and name == name.strip() and len(name.encode(errors="replace")) <= _LONGEST_NAME:
        return {"type": "Localhost", "localhostProfile": name}
    return None


def annotation_of_profile(profile: Any) -> str | None:
    """The annotation that means the same as a field; None of a field that the API server refuses."""
    if not isinstance(profile, dict):
        return None
    texts = (*_TYPES, f"{_LOCALHOST}{profile.get('localhostProfile')}")
    return next((text for text in texts if profile_of_annotation(text) == profile), None)
