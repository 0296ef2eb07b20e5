"""The rules over values, listed by hand; those that say most come first. Floor: check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from poolsmith.check.values import (
    copied_defaults,
    dead_value,
    embedded_yaml,
    ignored_value,
    list_replaces,
    number_for_string,
    refused_values,
    unknown_value,
    value_enum,
    value_of_later_release,
    value_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.check.values.document import ValuesDocument
    from poolsmith.diagnostics import RuleInfo
    from poolsmith.model.value_finding import ValueFinding


class ValueRule(Protocol):
    """A module of this folder: its entry in the code book, and one generator function."""

    RULE: RuleInfo

    def check(self, document: ValuesDocument) -> Iterator[ValueFinding]: ...


VALUE_RULES: tuple[ValueRule, ...] = (
    copied_defaults,
    refused_values,
    dead_value,
    value_of_later_release,
    ignored_value,
    list_replaces,
    embedded_yaml,
    value_enum,
    number_for_string,
    value_type,
    unknown_value,
)
