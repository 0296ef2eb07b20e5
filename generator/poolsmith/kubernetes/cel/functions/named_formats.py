"""The format library: names, labels, times and the like, with the reasons that Kubernetes gives.

A format is `{FORMAT: name}`.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.kubernetes.cel.functions.network import parsed
from poolsmith.kubernetes.cel.functions.values import FORMAT, marked, no_overload, text
from poolsmith.kubernetes.cel.go_text import is_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

_LABEL = compiled_later(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = compiled_later(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_LABEL_1035 = compiled_later(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", re.ASCII)
_NAME = compiled_later(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_UUID = compiled_later(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII)
_BASE64 = compiled_later(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})", re.ASCII)
_DATE = compiled_later(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_LABEL_WORDS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_WORDS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_1035_WORDS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_NAME_WORDS = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_WORDS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_SHORT, _LONG = 63, 253


def _size(value: str) -> int:
    return len(value.encode("utf-8", "surrogatepass"))


def _shaped(value: str, pattern: re.Pattern[str], words: str, longest: int) -> list[str]:
    out = (
        [f"must be no more than {longest} {'bytes' if longest == 0 else 'characters'}"]
        if _size(value) > longest
        else []
    )
    return out if pattern.fullmatch(value) else [*out, words]


def _prefix(value: str) -> str:
    return value[:-1] + "a" if len(value) > 1 and value.endswith("-") else value


def _qualified(value: str) -> list[str]:
    prefix, slash, name = value.partition("/")
    if "/" in name:
        return [
            "a qualified name "
            + _NAME_WORDS.removeprefix("name part ")
            + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    out: list[str] = []
    if not slash:
        name = prefix
    elif not prefix:
        out.append("prefix part must be non-empty")
    else:
        out += ["prefix part " + one for one in _shaped(prefix, _SUBDOMAIN, _SUBDOMAIN_WORDS, _LONG)]
    if not name:
        out.append("name part must be non-empty")
    elif _size(name) > _SHORT:
        out.append(f"name part must be no more than {_SHORT} characters")
    return out if _NAME.fullmatch(name) else [*out, _NAME_WORDS]


def _label_value(value: str) -> list[str]:
    out = [f"must be no more than {_SHORT} characters"] if _size(value) > _SHORT else []
    return out if not value or _NAME.fullmatch(value) else [*out, _VALUE_WORDS]


def _uri(value: str) -> list[str]:
    try:
        parsed(value)
    except ValueError as error:
        return [str(error)]
    return []


def _is_date(value: str) -> bool:
    found = _DATE.fullmatch(value)
    if found is None:
        return False
    try:
        dt.date(*map(int, found.groups()))
    except ValueError:
        return False
    return True


def _told(test: Callable[[str], Any], words: str) -> Callable[[str], list[str]]:
    return lambda value: [] if test(value) else [words]


_FORMATS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": lambda value: _shaped(value, _LABEL, _LABEL_WORDS, _SHORT),
    "dns1123LabelPrefix": lambda value: _shaped(_prefix(value), _LABEL, _LABEL_WORDS, _SHORT),
    "dns1123Subdomain": lambda value: _shaped(value, _SUBDOMAIN, _SUBDOMAIN_WORDS, _LONG),
    "dns1123SubdomainPrefix": lambda value: _shaped(_prefix(value), _SUBDOMAIN, _SUBDOMAIN_WORDS, _LONG),
    "dns1035Label": lambda value: _shaped(value, _LABEL_1035, _LABEL_1035_WORDS, _SHORT),
    "dns1035LabelPrefix": lambda value: _shaped(_prefix(value), _LABEL_1035, _LABEL_1035_WORDS, _SHORT),
    "qualifiedName": _qualified,
    "labelValue": _label_value,
    "uri": _uri,
    "uuid": _told(_UUID.fullmatch, "does not match the UUID format"),
    "byte": _told(_BASE64.fullmatch, "invalid base64"),
    "date": _told(_is_date, "invalid date"),
    "datetime": _told(lambda value: is_timestamp(value.upper()), "invalid datetime"),
}
NAMES = tuple(_FORMATS)


def named(name: Any) -> dict[int, str] | None:
    """The format, or None."""
    return {FORMAT: name} if text(name) in _FORMATS else None


def validate(value: Any, given: Any) -> list[str] | None:
    """Why the text is not of the format, or None."""
    check = _FORMATS.get(marked(value, FORMAT)[FORMAT])
    if check is None:
        raise no_overload()
    return check(text(given)) or None
