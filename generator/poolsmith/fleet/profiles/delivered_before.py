"""What an engine delivers before the GPU stack."""

from __future__ import annotations

from enum import StrEnum

from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, OBJECT_NAME, spec


class DeliveryKind(StrEnum):
    APPLICATION = "Application"
    KUSTOMIZATION = "Kustomization"
    HELM_RELEASE = "HelmRelease"


@record
class DeliveredBefore:
    """An existing unit of the same engine, which somebody else writes."""

    kind: DeliveryKind = spec("Argo CD: Application. Flux: Kustomization or HelmRelease.")
    name: str = spec("Its name.", pattern=OBJECT_NAME, form="an object's name", examples=("network-operator",))
    namespace: str | None = spec(
        "Its namespace. Default: that of the delivery objects.", default=None, pattern=DNS_LABEL, form="a DNS label"
    )
