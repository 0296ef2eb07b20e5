"""Names of what is created for an NVIDIADriver.

Source: NVIDIA/gpu-operator:internal/state/driver.go and internal/utils.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.operands.nvidia_driver.node_pools import DriverPool

_SAFE = "bcdfghjklmnpqrstvwxz2456789"
_LABEL_LENGTH = 63
_NAME_LENGTH = 253
_OFFSET, _PRIME, _BITS = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def hash_of(text: str) -> str:
    """FNV-1a of 32 bits, its decimal digits written with the letters that form no words."""
    value = _OFFSET
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & _BITS
    return "".join(_SAFE[ord(digit) % len(_SAFE)] for digit in str(value))


def daemon_set_name(driver: NvidiaDriver, pool: DriverPool) -> str:
    """Type and operating system, then a hash over the resource and the kernel of precompiled drivers."""
    ending = "-" + hash_of(f"{driver.identity}-{pool.kernel}" if pool.kernel else driver.identity)
    return f"nvidia-{driver.kind}-driver-{pool.os_tag}"[: _LABEL_LENGTH - len(ending)] + ending


def account_name(driver: NvidiaDriver, pool: DriverPool) -> str:
    """The service account of a pool's pods, and all roles of it."""
    title = "vgpu-manager" if driver.manages_vgpus else f"{driver.kind}-driver"
    return f"nvidia-{title}-{driver.name}-{pool.os_tag}"[:_NAME_LENGTH]
