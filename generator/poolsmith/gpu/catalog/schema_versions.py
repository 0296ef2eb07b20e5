"""Which definitions objects are judged by: of Kubernetes, of the operator's release, of Confidential Containers'."""

from __future__ import annotations

from poolsmith.kubernetes.schema.schemas import Release, Versions, releases_of

_OPERATOR = "gpu-operator"
_CONFIDENTIAL_CONTAINERS = "confidential-containers"


def schema_versions(*, kubernetes: str, operator: str | None = None, coco: str | None = None) -> Versions:
    """None for a release that nobody named: then nothing of the operator can be judged."""
    of_operator = Release(family=_OPERATOR, version=operator, decides=True)
    return Versions(
        kubernetes=kubernetes, releases=(of_operator, Release(family=_CONFIDENTIAL_CONTAINERS, version=coco))
    )


def operator_releases() -> tuple[str, ...]:
    return releases_of(_OPERATOR)
