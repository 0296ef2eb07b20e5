"""Names of what is created for an NVIDIADriver, and texts that the operator writes into its manifests without quotes.

Source: NVIDIA/gpu-operator:internal/state/driver.go and internal/utils.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.fleet.operands.kube import NotModelled, fnv32a
from poolsmith.kubernetes.pods.names import SAFE_LETTERS

if TYPE_CHECKING:
    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool

_LABEL_LENGTH = 63
_NAME_LENGTH = 253


def hash_of(text: str) -> str:
    """FNV-1a of 32 bits, its decimal digits written with the letters that form no words."""
    return "".join(SAFE_LETTERS[ord(digit) % len(SAFE_LETTERS)] for digit in str(fnv32a(text.encode())))


def daemon_set_name(driver: NvidiaDriver, pool: DriverPool) -> str:
    """Type and operating system, then a hash over the resource and the kernel of precompiled drivers."""
    ending = "-" + hash_of(f"{driver.identity}-{pool.kernel}" if pool.kernel else driver.identity)
    return f"nvidia-{driver.kind}-driver-{pool.os_tag}"[: _LABEL_LENGTH - len(ending)] + ending


def account_name(driver: NvidiaDriver, pool: DriverPool) -> str:
    """The service account of a pool's pods, and all roles of it."""
    title = "vgpu-manager" if driver.manages_vgpus else f"{driver.kind}-driver"
    return f"nvidia-{title}-{driver.name}-{pool.os_tag}"[:_NAME_LENGTH]


_LEADING = re.compile(r"[,\[\]{}#&*!|>'\"%@`]|[-?:](?:\s|$)")
_WITHIN = re.compile(r":(?:\s|$)|\s#|[\x00-\x1f\x7f]")
_NO_TEXT = re.compile(
    r"|~|<<|=|null|Null|NULL|[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|---|\.\.\."
    r"|[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*(?::[0-9_]+)*)"
    r"|[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?(?::[0-9.]+)*"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"
)


def plain(text: str) -> str:
    """The text, where YAML reads just that. Raises NotModelled where it would read something else."""
    if text == text.strip() and not (_LEADING.match(text) or _WITHIN.search(text) or _NO_TEXT.fullmatch(text)):
        return text
    raise NotModelled(f"a text that means something else in YAML without quotes: {text!r}")
