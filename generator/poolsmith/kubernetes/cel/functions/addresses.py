"""IP addresses and CIDRs as Go's netip reads them: no zones, no IPv4 inside IPv6.

An address is `{IP: text}`, a CIDR `{CIDR: text}`, both in canonical text.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any, TypeAlias

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import CIDR, IP, marked, parses, text
from poolsmith.kubernetes.cel.printed_text import quoted

_BITS = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def _address(value: str) -> Address:
    if "%" in value or not value.isascii():
        raise ValueError(f"ParseAddr({quoted(value[:80])}): zones are not allowed")
    found = ipaddress.ip_address(value)
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        raise ValueError(f"IPv4-mapped IPv6 address {quoted(value[:80])} is not allowed")
    return found


def _prefix(value: str) -> tuple[Address, int]:
    before, slash, bits = value.rpartition("/")
    if not slash or _BITS.fullmatch(bits) is None:
        raise ValueError(f"netip.ParsePrefix({quoted(value[:80])}): no or bad bits after slash")
    found = _address(before)
    if int(bits) > found.max_prefixlen:
        raise ValueError(f"netip.ParsePrefix({quoted(value[:80])}): prefix length out of range")
    return found, int(bits)


def _known(value: Any) -> Address:
    return ipaddress.ip_address(marked(value, IP)[IP])


def _known_prefix(value: Any) -> tuple[Address, int]:
    return _prefix(marked(value, CIDR)[CIDR])


def _network(found: tuple[Address, int]) -> Network:
    return ipaddress.ip_network(f"{found[0]}/{found[1]}", strict=False)


def is_ip(value: Any) -> bool:
    return parses(_address, text(value))


def ip(value: Any) -> dict[int, str]:
    """Of text, or of a CIDR."""
    if isinstance(value, dict):
        return {IP: str(_known_prefix(value)[0])}
    try:
        return {IP: str(_address(text(value)))}
    except ValueError as error:
        raise CelError(f"IP Address {quoted(value[:80])} parse error during conversion from string: {error}") from None


def is_canonical(value: Any) -> bool:
    return bool(ip(text(value))[IP] == value)


def family(value: Any) -> int:
    return _known(value).version


def is_unspecified(value: Any) -> bool:
    return _known(value).is_unspecified


def is_loopback(value: Any) -> bool:
    return _known(value).is_loopback


def is_link_local_unicast(value: Any) -> bool:
    return _known(value).is_link_local


def is_link_local_multicast(value: Any) -> bool:
    found = _known(value)
    if isinstance(found, ipaddress.IPv4Address):
        return int(found) >> 8 == 0xE00000  # noqa: PLR2004
    return (int(found) >> 112) & 0xFF0F == 0xFF02  # noqa: PLR2004


def is_global_unicast(value: Any) -> bool:
    found = _known(value)
    broadcast = isinstance(found, ipaddress.IPv4Address) and int(found) == 0xFFFFFFFF  # noqa: PLR2004
    return not (broadcast or found.is_unspecified or found.is_loopback or found.is_multicast or found.is_link_local)


def is_cidr(value: Any) -> bool:
    return parses(_prefix, text(value))


def cidr(value: Any) -> dict[int, str]:
    try:
        found = _prefix(text(value))
    except ValueError as error:
        raise CelError(f"network address parse error during conversion from string: {error}") from None
    return {CIDR: f"{found[0]}/{found[1]}"}


def contains_ip(value: Any, other: Any) -> bool:
    given = ip(other) if isinstance(other, str) else other
    found, network = _known(given), _network(_known_prefix(value))
    return found.version == network.version and found in network


def contains_cidr(value: Any, other: Any) -> bool:
    given = cidr(other) if isinstance(other, str) else other
    outer, inner = _network(_known_prefix(value)), _network(_known_prefix(given))
    if outer.version != inner.version or outer.prefixlen > inner.prefixlen:
        return False
    return inner.network_address in outer


def masked(value: Any) -> dict[int, str]:
    return {CIDR: str(_network(_known_prefix(value)))}


def prefix_length(value: Any) -> int:
    return _known_prefix(value)[1]
