"""URLs as Go's `url.ParseRequestURI` reads them.

A URL is `{URL: [scheme, host, path, query]}`, the path escaped.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_to_bytes

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import URL, marked, parses, text
from poolsmith.kubernetes.cel.printed_text import quoted

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_PORT = re.compile(r"(?::[0-9]*)?", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(r"[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"\x80-\U0010ffff]*")
_ENCODED_PATH = re.compile(r"[A-Za-z0-9\-_.~$&+,/:;=@!'()*\[\]%]*", re.ASCII)
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
