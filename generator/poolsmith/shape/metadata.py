"""What every document of our own kinds begins with."""

from __future__ import annotations

from poolsmith.record import record
from poolsmith.shape.field import DNS_LABEL, spec

API_VERSION = "poolsmith/v1"


@record
class Metadata:
    """Metadata of a profile."""

    name: str = spec(
        "Name of the cluster, pool or base; a DNS label.",
        pattern=DNS_LABEL,
        form="a DNS label: lower-case letters, digits and `-`, at most 63",
        examples=("prod-eu",),
    )
