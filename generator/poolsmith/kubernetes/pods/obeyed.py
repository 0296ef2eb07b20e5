"""What nodes and their container runtimes do for a pod, besides what its containers ask for: volumes, annotations."""

from __future__ import annotations

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
