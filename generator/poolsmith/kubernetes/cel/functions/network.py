"""IP addresses and CIDRs as Go's netip reads them, and URLs as Go's `url.ParseRequestURI` reads them.

Addresses have no zones, and no IPv4 inside IPv6.
An address is `{IP: text}`, a CIDR `{CIDR: text}`, both in canonical text.
A URL is `{URL: [scheme, host, path, query]}`, the path escaped.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes

from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import CIDR, IP, URL, marked, parses, text
from poolsmith.kubernetes.cel.go_text import quoted

_BITS = pattern(r"0|[1-9][0-9]{0,2}", re.ASCII)
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


_SCHEME = pattern(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_PORT = pattern(r"(?::[0-9]*)?", re.ASCII)
_USER = pattern(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_BAD_ESCAPE = pattern(r"%(?![0-9A-Fa-f]{2})")
_HOST = pattern(r"[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"\x80-\U0010ffff]*")
_ENCODED_PATH = pattern(r"[A-Za-z0-9\-_.~$&+,/:;=@!'()*\[\]%]*", re.ASCII)
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@")


def parsed(value: str) -> dict[Any, Any]:
    """Raises ValueError."""
    shown = f"parse {quoted(value[:80])}: "
    if any(one < " " or one == "\x7f" for one in value):
        raise ValueError(f"{shown}net/url: invalid control character in URL")
    if not value:
        raise ValueError(f"{shown}empty url")
    if value == "*":
        return {URL: ["", "", "*", ""]}
    found = _SCHEME.match(value)
    if found is None and value[0] == ":":
        raise ValueError(f"{shown}missing protocol scheme")
    scheme = found.group()[:-1].lower() if found is not None else ""
    rest, _, query = value[len(scheme) + 1 if found is not None else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return {URL: [scheme, "", "", query]}
        raise ValueError(f"{shown}invalid URI for request")
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _host(authority, shown)
    return {URL: [scheme, host, _path(rest, shown), query]}


def _host(authority: str, shown: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and _USER.fullmatch(user) is None:
        raise ValueError(f"{shown}net/url: invalid userinfo")
    if at and _BAD_ESCAPE.search(user):
        raise ValueError(f"{shown}invalid URL escape")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise ValueError(f"{shown}missing ']' in host")
        port = host[end + 1 :]
    else:
        colon = host.rfind(":")
        port = host[colon:] if colon >= 0 else ""
    if _PORT.fullmatch(port) is None:
        raise ValueError(f"{shown}invalid port {quoted(port[:40])} after host")
    if "%" in host:
        if _BAD_ESCAPE.search(host) or not host.startswith("["):
            raise ValueError(f"{shown}invalid URL escape")
        return host.replace("%25", "%")
    if _HOST.fullmatch(host) is None:
        raise ValueError(f"{shown}invalid character in host name")
    return host


def _path(path: str, shown: str) -> str:
    if _BAD_ESCAPE.search(path):
        raise ValueError(f"{shown}invalid URL escape")
    if _ENCODED_PATH.fullmatch(path) is not None:
        return path
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in unquote_to_bytes(path))


def is_url(value: Any) -> bool:
    return parses(parsed, text(value))


def url(value: Any) -> dict[Any, Any]:
    try:
        return parsed(text(value))
    except ValueError as error:
        raise CelError(f"URL parse error during conversion from string: {error}") from None


def part(value: Any, place: int) -> str:
    return str(marked(value, URL)[URL][place])


def hostname(value: Any) -> str:
    return _split(part(value, 1))[0]


def port(value: Any) -> str:
    return _split(part(value, 1))[1]


def _split(host: str) -> tuple[str, str]:
    colon = host.rfind(":")
    number = ""
    if colon >= 0 and _PORT.fullmatch(host[colon:]) is not None:
        host, number = host[:colon], host[colon + 1 :]
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, number


def query(value: Any) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for one in part(value, 3).split("&"):
        if not one or ";" in one or _BAD_ESCAPE.search(one):
            continue
        name, _, held = one.partition("=")
        out.setdefault(_unescaped(name), []).append(_unescaped(held))
    return out


def _unescaped(value: str) -> str:
    return unquote_to_bytes(value.replace("+", " ")).decode("utf-8", "replace")
