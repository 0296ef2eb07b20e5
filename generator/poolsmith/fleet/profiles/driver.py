"""The fields of a pool's NVIDIA driver and its upgrade, and kind DriverImageList: images seen in a registry."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.shape.field import ABSOLUTE_PATH, OBJECT_NAME, spec

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.input_tree import InputTree


_REPOSITORY = r"[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*){0,8}"


class DriverSource(StrEnum):
    CONTAINER = "container"
    PRECOMPILED = "precompiled"
    PREINSTALLED = "preinstalled"


class KernelModuleType(StrEnum):
    AUTO = "auto"
    OPEN = "open"
    PROPRIETARY = "proprietary"


@record
class Drain:
    """Draining a node before its driver is replaced."""

    enable: bool = spec("Drain the node.", default=False)
    force: bool = spec("Evict pods that no controller owns.", default=False)
    delete_empty_dir: bool = spec("Evict pods with emptyDir volumes.", default=False)
    timeout_seconds: int = spec("How long to wait, in seconds.", default=300, minimum=0, maximum=86_400)
    pod_selector: str = spec(
        "Label selector of the pods to evict.", default="", pattern=r"[ -~]{0,200}", form="a label selector"
    )


@record
class PodDeletion:
    """Deleting the pods that use GPUs before the driver is replaced."""

    force: bool = spec("Delete pods that no controller owns.", default=False)
    delete_empty_dir: bool = spec("Delete pods with emptyDir volumes.", default=False)
    timeout_seconds: int = spec("How long to wait, in seconds.", default=300, minimum=0, maximum=86_400)


@record
class WaitForCompletion:
    """Waiting for workloads before anything else is done to their node."""

    pod_selector: str = spec(
        "Label selector of the pods to wait for.", pattern=r"[ -~]{1,200}", form="a label selector"
    )
    timeout_seconds: int = spec(
        "How long to wait, in seconds; 0 is without limit.", default=0, minimum=0, maximum=2_592_000
    )


@record
class UpgradePolicy:
    """How driver pods are replaced."""

    auto_upgrade: bool = spec("Let the operator replace driver pods, node by node.", default=True)
    max_parallel_upgrades: int = spec(
        "How many nodes at a time; 0 is without limit.", default=1, minimum=0, maximum=10_000
    )
    max_unavailable: str = spec(
        "How many nodes may be unavailable.",
        default="25%",
        pattern=r"\d{1,4}|\d{1,3}%",
        form='a number or percentage, quoted, like "25%"',
    )
    wait_for_completion: WaitForCompletion | None = spec("Wait for workloads first.", default=None)
    pod_deletion: PodDeletion = spec("Deleting pods that use GPUs.", default=PodDeletion())
    drain: Drain = spec("Draining of the node.", default=Drain())


@record
class VgpuGuest:
    """The licence of a vGPU guest driver: `gridd.conf` and `client_configuration_token.tok` in one object."""

    licensing_secret: str | None = spec(
        "Secret with the licence's files, in the operator's namespace; from v25.10 on.",
        default=None,
        pattern=OBJECT_NAME,
        form="the name of a Secret",
        examples=("licensing-config",),
    )
    licensing_config_map: str | None = spec(
        "ConfigMap with the licence's files, in the operator's namespace; the only way before v25.10.",
        default=None,
        pattern=OBJECT_NAME,
        form="the name of a ConfigMap",
        examples=("licensing-config",),
    )


@record
class VgpuManager:
    """The driver of vGPU hosts: an image of one's own, for its licence forbids others to publish one."""

    repository: str = spec(
        "Repository that holds the image.",
        pattern=_REPOSITORY,
        form="a registry host with a path, without the image",
        examples=("registry.example.com/vgpu",),
    )
    version: str = spec(
        "Version of the host driver; the operator adds the system to it.",
        pattern=r"\d{1,4}(\.\d{1,6}){1,3}(-[A-Za-z0-9][A-Za-z0-9._-]{0,40})?|sha256:[0-9a-f]{64}",
        form='a version like "580.82.07", or a digest',
        examples=("580.82.07",),
    )
    image: str = spec(
        "Name of the image.", default="vgpu-manager", pattern=r"[a-z0-9]+([._-]+[a-z0-9]+)*", form="a name of an image"
    )


@record
class DriverFiles:
    """Files in a ConfigMap that the driver container gets; each is mounted by itself."""

    name: str = spec(
        "ConfigMap in the operator's namespace; somebody else delivers it.",
        pattern=OBJECT_NAME,
        form="the name of a ConfigMap",
        examples=("repo-config",),
    )
    files: tuple[str, ...] = spec(
        "Names of all its files: the operator mounts each of them.",
        pattern=r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}",
        form="the name of a file",
        examples=(("custom-repo.list",),),
    )


@record
class Driver:
    """The pool's one source of the NVIDIA driver."""

    source: DriverSource | None = spec(
        "`container`: compiled in the driver container. `precompiled`: an image for each kernel. "
        "`preinstalled`: the operating system image contains it.",
        default=None,
    )
    version: str | None = spec(
        "Full version for a container, branch for a precompiled image, any tag for the image of a vGPU guest. Default: "
        "the release's.",
        default=None,
        pattern=r"\d{1,4}(\.\d{1,6}){0,3}(-[A-Za-z0-9][A-Za-z0-9._-]{0,40})?",
        form='a version like "550.90.07", or a branch like "535"',
        examples=("550.90.07", "535"),
    )
    repository: str | None = spec(
        "Repository of the driver image, without the image's name. Default: the chart's.",
        default=None,
        pattern=_REPOSITORY,
        form="a repository like registry.example.com/gpu",
        examples=("registry.example.com/gpu",),
    )
    kernel_module_type: KernelModuleType | None = spec(
        "Open or proprietary kernel modules. Default: the release's.", default=None
    )
    rdma: bool = spec("Load nvidia-peermem for GPUDirect RDMA.", default=False)
    use_host_mofed: bool = spec("The host itself has the Mellanox drivers.", default=False)
    dma_buf: bool = spec(
        "GPUDirect RDMA by DMA-BUF, without nvidia-peermem: open kernel modules, and a kernel from 5.12 on.",
        default=False,
    )
    fabric_manager: str | None = spec(
        "Version of nvidia-fabricmanager on the hosts of NVSwitch systems, beside a pre-installed driver.",
        default=None,
        pattern=r"\d{3}(\.\d{1,3}){1,2}(-\d{1,3})?",
        form='a version like "580.126.20"',
        examples=("580.126.20",),
    )
    imex: str | None = spec(
        "Version of nvidia-imex on the hosts, beside a pre-installed driver.",
        default=None,
        pattern=r"\d{3}(\.\d{1,3}){1,2}(-\d{1,3})?",
        form='a version like "580.126.20"',
        examples=("580.126.20",),
    )
    gds: bool = spec("GPUDirect Storage.", default=False)
    gdrcopy: bool = spec("GDRCopy.", default=False)
    install_dir: str | None = spec(
        "Folder of a pre-installed driver on the host, if it is not in the root file system.",
        default=None,
        pattern=ABSOLUTE_PATH,
        form="an absolute path without `..`",
    )
    upgrade_policy: UpgradePolicy | None = spec("How driver pods are replaced.", default=None)
    repo_config: DriverFiles | None = spec(
        "Package repositories that a driver is compiled from, where the system's are out of reach.", default=None
    )
    cert_config: DriverFiles | None = spec("Certificates of those repositories.", default=None)
    kernel_module_config: DriverFiles | None = spec(
        "Options of the kernel modules, a file for each, like nvidia.conf.", default=None
    )
    vgpu: VgpuGuest | None = spec(
        "The nodes are virtual machines with a vGPU: their driver is in a private repository, and needs a licence.",
        default=None,
    )
    vgpu_manager: VgpuManager | None = spec(
        "The nodes are vGPU hosts (`workload: vm-vgpu`): the driver that divides their GPUs.", default=None
    )


DRIVER_IMAGES = "DriverImageList"
REPOSITORY = r"[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*){1,8}"
TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"


@record
class KnownImages:
    """The tags that are known of one repository."""

    repository: str = spec(
        "Repository with the image's name and without a tag, as the nodes pull it: with the mirror's host.",
        pattern=REPOSITORY,
        form="a repository like nvcr.io/nvidia/driver",
        examples=("nvcr.io/nvidia/driver",),
    )
    tags: tuple[str, ...] = spec(
        "Tags that exist.",
        pattern=TAG,
        form="a tag like 580.126.20-ubuntu22.04",
        examples=(["580.126.20-ubuntu22.04", "580-5.15.0-105-generic-ubuntu22.04"],),
        unique=True,
    )


@record(slots=False)
class DriverImageListSpec:
    """Known images. A repository that is named here is known as a whole: a tag that is missing does not exist there.
    Of other repositories nothing is known."""

    images: tuple[KnownImages, ...] = spec("Repositories and their tags.")

    @cached_property
    def tags(self) -> dict[str, frozenset[str]]:
        """By repository."""
        return {item.repository: frozenset(item.tags) for item in self.images}


def load_driver_images(tree: InputTree, path: str) -> tuple[DriverImageListSpec | None, tuple[Diagnostic, ...]]:
    """The list when it is sound, and all that is wrong with it."""
    document, problems = load_kind_document(tree, path, DRIVER_IMAGES, DriverImageListSpec)
    if document is None:
        return None, problems
    first: dict[str, int] = {}
    twice = []
    for index, item in enumerate(document.spec.images):
        other = first.setdefault(item.repository, index)
        if other != index:
            message = f"the repository `{item.repository}` is listed here twice"
            related = (document.file.locate(f"/spec/images/{other}/repository", "the other one"),)
            place = document.file.locate(f"/spec/images/{index}/repository")
            advice = "put all its tags into one entry"
            twice.append(diagnose(codes.DUPLICATE_ITEM, message, place, help=advice, subject=path, related=related))
    return (None, tuple(twice)) if twice else (document.spec, ())
