"""Secrets in addresses: found, and never shown. A user name, a password, a query or a fragment may hold one."""

from __future__ import annotations

import re

_SCHEME = "://"
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)([^\s/?#\"'`<>\\]*)@")
_AFTER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s?#\"'`<>\\]+[?#])([^\s\"'`<>\\]+)")
_WHOLE = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30})://(?P<authority>[^\s/?#]*)(?P<path>[^\s?#]*)(?P<rest>\S*)"
)
_VARIABLE = re.compile(r"\$\([A-Za-z_][A-Za-z0-9_.-]*\)|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_SSH = "ssh"
_USER, _PASSWORD, _QUERY, _FRAGMENT = "a user name", "a password", "a query", "a fragment"


def without_secrets(text: str) -> str:
    """The text with each such part of an address starred out, letter by letter: columns stay where they are."""
    if _SCHEME not in text:
        return text
    starred = _AUTHORITY.sub(lambda found: f"{found[1]}{'*' * len(found[2])}@", text)
    return _AFTER.sub(lambda found: f"{found[1]}{'*' * len(found[2])}", starred)


def secret_in_address(text: str) -> str | None:
    """What part of an address may be a secret, in words; None where there is none.

    A password counts in any text, the other parts where the text is an address and nothing else. Variables are no
    secrets, and SSH has to have a user name.
    """
    if _SCHEME not in text:
        return None
    if any(_has_password(found[2]) for found in _AUTHORITY.finditer(text)):
        return _PASSWORD
    whole = _WHOLE.fullmatch(text.strip())
    if whole is None:
        return None
    user, at, _ = whole["authority"].rpartition("@")
    if at and whole["scheme"].lower() != _SSH and not _is_variable(user.partition(":")[0]):
        return _USER
    if whole["rest"].startswith("?"):
        return _QUERY
    return _FRAGMENT if whole["rest"].startswith("#") else None


def _has_password(authority: str) -> bool:
    password = authority.partition(":")[2]
    return bool(password) and not _is_variable(password)


def _is_variable(text: str) -> bool:
    return _VARIABLE.fullmatch(text) is not None
