"""Codes are grouped by hundred; the second half of the first hundred goes on where PSM2 was full."""

from __future__ import annotations

from typing import Final

SHAPE: Final = ("PSM10", "PSM11")
COMPATIBILITY: Final = ("PSM2", "PSM12", "PSM13", "PSM14", "PSM15", "PSM16", "PSM17", "PSM18", "PSM19")
BESIDE: Final = ("PSM80", "PSM81", "PSM82", "PSM83", "PSM84")
LIVE: Final = ("PSM85", "PSM86")
FAMILIES: Final = (
    (("PSM0",), "Reading files"),
    (SHAPE, "Shape of profiles"),
    (COMPATIBILITY, "Compatibility"),
    (("PSM3",), "Helm values and schemas"),
    (("PSM4",), "Privileges"),
    (("PSM5",), "Output and GitOps hygiene"),
    (("PSM6",), "Policy files"),
    (("PSM7",), "What comes from elsewhere, and what is switched off"),
    (BESIDE, "What stands beside the GPU stack"),
    (LIVE, "The cluster that runs"),
    (("PSM9",), "Your own policies"),
)
"""Prefixes and titles, in the order of the page of rules."""
