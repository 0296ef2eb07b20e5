"""What every document of our own kinds begins with."""

from __future__ import annotations

from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, spec

BASE_NAME = rf"{DNS_LABEL}(@[0-9A-Za-z]([-.0-9A-Za-z]{{0,30}}[0-9A-Za-z])?)?"
BASE_NAME_FORM = "a DNS label, with a version behind `@` where it has one"
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


@record
class BaseMetadata:
    """Metadata of a base, which may be one of several versions."""

    name: str = spec(
        "Name of the base; a DNS label, with a version behind `@` where it has one.",
        pattern=BASE_NAME,
        form=BASE_NAME_FORM,
        examples=("h100@2026-11",),
    )
