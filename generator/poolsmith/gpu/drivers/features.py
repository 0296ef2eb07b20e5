"""What runs beside a driver, and what the operator refuses beside it.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go and controllers/object_controls.go.
"""

from __future__ import annotations

import re

from poolsmith.core.facts.versions import version_key

BESIDE_COMPILED = {"gds": "GPUDirect Storage", "gdrcopy": "GDRCopy"}
"""By the field: the operator refuses them beside a precompiled driver."""
_IDENTIFIER = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    r"v(0|[1-9]\d*)(?:\.(0|[1-9]\d*)(?:\.(0|[1-9]\d*)"
    rf"(-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)?)?",
    re.ASCII,
)


def needs_open_modules(version: str, first: str) -> bool:
    """Whether nvidia-fs of a version loads beside open kernel modules only. `first`: the behaviour of the release."""
    return version.startswith("sha256") or _is_from(f"v{version.removeprefix('v')}", first)


def _is_from(version: str, minimum: str) -> bool:
    """Semantic versions; one that is none comes before all, a pre-release before what it prepares."""
    found, least = _VERSION.fullmatch(version), _VERSION.fullmatch(minimum)
    if found is None or least is None:
        return False
    numbers, least_numbers = (
        version_key(".".join(match[group] or "0" for group in (1, 2, 3))) for match in (found, least)
    )
    return numbers > least_numbers or (numbers == least_numbers and not found[4])
