"""A finding that somebody has looked at and accepted, for a while."""

from __future__ import annotations

from dataclasses import dataclass

from poolsmith.shape.field import spec
from poolsmith.shape.review import DATE, PROSE

WAIVERS = "WaiverList"
RULE_WORD = r"[A-Za-z0-9-]{1,80}"
_SUBJECT = r"[^\x00-\x1f\x7f]{1,400}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """One rule on one subject, and why that is accepted."""

    rule: str = spec("Name or code of the rule.", pattern=RULE_WORD, examples=("host-network", "PSM403"))
    subject: str = spec(
        "Exactly the `subject` of the finding, as `poolsmith check --format json` shows it; no wildcards.",
        pattern=_SUBJECT,
        examples=("prod-eu/gpu-operator/DaemonSet/nvidia-dcgm-exporter",),
    )
    reason: str = spec("Why the finding is accepted.", pattern=PROSE, default="")
    owner: str = spec("The team that is responsible.", pattern=PROSE, default="", examples=("gpu-platform",))
    expires: str = spec(
        "The last day on which it is valid.", pattern=DATE, form="a day such as 2027-06-30", examples=("2027-06-30",)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverListSpec:
    """Everything that is waived in this repository."""

    waivers: tuple[Waiver, ...] = spec("The waivers.", default=())
