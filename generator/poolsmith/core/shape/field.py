"""How a field of a profile is declared, once for loading, JSON Schema and people, and the head of all documents."""

from __future__ import annotations

from dataclasses import MISSING, field
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as expression_of
from poolsmith.core.record import record

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

DNS_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
OBJECT_NAME = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"
FULL_LABEL_VALUE = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_VALUE = rf"({FULL_LABEL_VALUE})?"
QUALIFIED_NAME = r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
PREFIXED_NAME = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
ABSOLUTE_PATH = r"(/[A-Za-z0-9_@+=-][A-Za-z0-9_.@+=-]*|/\.[A-Za-z0-9_@+=-][A-Za-z0-9_.@+=-]*)+"
RELATIVE_PATH = r"([A-Za-z0-9_@+=-][A-Za-z0-9_.@+=-]*)(/[A-Za-z0-9_@+=-][A-Za-z0-9_.@+=-]*)*"
TOKEN = r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,127}"  # noqa: S105 - a version, kernel or product, no secret
IMAGE = r"[a-z0-9][A-Za-z0-9.:_/@-]{0,254}"
REGISTRY = r"[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._/-]*)?"
TEXT = r"[^\x00-\x1f\x7f]{1,200}"


@record
class Shape:
    """What one field takes, beyond its Python type.

    `pattern` must match the whole string. `minimum` and `maximum` bound numbers; `keys` is the pattern of a
    map's keys. `name` is the spelling in YAML where camelCase of the attribute is not it. `several_of` is the field
    that a list stands in the place of: one of the two is given, and that field then is the first of the list. `known`
    tells the words that are known, the newest last, where profiles or packs may add others.
    """

    doc: str
    name: str | None = None
    pattern: str | None = None
    form: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    keys: str | None = None
    examples: tuple[Any, ...] = ()
    unique: bool = False
    several_of: str | None = None
    known: Callable[[], tuple[str, ...]] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What is known of the field, else its examples."""
        return self.known() if self.known is not None else tuple(filter(_is_text, self.examples))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def spec(
    doc: str,
    *,
    default: Any = MISSING,
    name: str | None = None,
    pattern: str | None = None,
    form: str | None = None,
    minimum: int | None = None,
    maximum: int | None = None,
    keys: str | None = None,
    examples: tuple[Any, ...] = (),
    unique: bool = False,
    several_of: str | None = None,
    known: Callable[[], tuple[str, ...]] | None = None,
) -> Any:
    """A dataclass field with its Shape. Without `default` it is required."""
    for text in filter(None, (pattern, keys)):
        expression(text)
    shape = Shape(
        doc=doc,
        name=name,
        pattern=pattern,
        form=form,
        minimum=minimum,
        maximum=maximum,
        keys=keys,
        examples=examples,
        unique=unique,
        several_of=several_of,
        known=known,
    )
    if default is MISSING:
        return field(metadata={"shape": shape})
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={"shape": shape})
    return field(default=default, metadata={"shape": shape})


def camel_case(attribute: str) -> str:
    head, *rest = attribute.split("_")
    return head + "".join(word.capitalize() for word in rest)


def matches(pattern: str, text: str) -> bool:
    return expression(pattern).fullmatch(text) is not None


@cache
def expression(text: str) -> re.Pattern[str]:
    """Made where a field is declared, so that the table of those that are compiled already has it."""
    return expression_of(text)


BASE_NAME = rf"{DNS_LABEL}(@[0-9A-Za-z]([-.0-9A-Za-z]{{0,30}}[0-9A-Za-z])?)?"
BASE_NAME_FORM = "a DNS label, with a version behind `@` where it has one"
API_VERSION = "poolsmith/v1"


@record
class Metadata:
    """Metadata of a profile."""

    name: str = spec(
        "Name of the cluster, pool or base; a DNS label.",
        pattern=DNS_LABEL,
        form="a DNS label: lower-case letters, digits and `-`, at most 63",
        examples=("prod-eu",),
    )


@record
class BaseMetadata:
    """Metadata of a base, which may be one of several versions."""

    name: str = spec(
        "Name of the base; a DNS label, with a version behind `@` where it has one.",
        pattern=BASE_NAME,
        form=BASE_NAME_FORM,
        examples=("h100@2026-11",),
    )
