"""The image of a component from repository, image and version.

Source: NVIDIA/gpu-operator:api/nvidia/v1 and internal/image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.gpu.drivers.image_tag import DIGEST

if TYPE_CHECKING:
    from collections.abc import Mapping


def image_path(
    spec: Mapping[str, Any], variable: str, *, partly: str = "joined", kind: str = "ClusterPolicy CR"
) -> str:
    """`repository/image:version`, or `@` before a digest; an image alone is the whole reference.

    `variable` is the operator's own environment variable that would step in; it is empty in a chart's installation.
    `partly` says what a release does with a reference of which parts are missing: `joined` or `refused`.
    Raises OperatorError.
    """
    repository, image, version = (str(spec.get(key) or "") for key in ("repository", "image", "version"))
    if not repository and not version:
        if image:
            return image
        raise OperatorError(f"empty image path provided through both {kind} and ENV {variable}")
    if partly == "refused" and not (repository and image and version):
        raise OperatorError(_incomplete(repository, image, version))
    return f"{repository}/{image}{'@' if version.startswith(DIGEST) else ':'}{version}"


def _incomplete(repository: str, image: str, version: str) -> str:
    return (
        "invalid image specification: repository, image and version must all be set "
        f"(repository={repository}, image={image}, version={version})"
    )
