"""What the texts of a chart's entry may refer to: values, variables, definitions, and the item of a loop."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from poolsmith.core.record import record
from poolsmith.kubernetes.helm.go_template import look_up

ITEM = "item"


@record
class ValueScope:
    """`values` as templates see them; `variables` are asked for as `@name`, before the entry's own definitions.

    `typed` are values that no template writes, as those of the operator's code: they are what they are.
    """

    values: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    define: dict[str, Any] = field(default_factory=dict)
    typed: bool = False
    item_path: str = ""
    filled: dict[str, Any] = field(default_factory=dict)
    """Definitions that were asked for, outside of loops."""

    def value(self, path: str) -> Any:
        """`.Values.<path>`, null where there is nothing. Raises TemplateError."""
        return look_up(self.values, path.split("."))

    def with_item(self, item: Any, path: str) -> ValueScope:
        """The scope inside a loop over a list: the item is `@item`, and stands at `path`."""
        path = item.path if isinstance(item, Pair) else path
        return replace(self, variables={**self.variables, ITEM: item}, item_path=path)

    def shown(self, path: str) -> str:
        """The value path that a name stands for, as far as it is one."""
        name, _, inner = path.partition(".")
        if name != f"@{ITEM}":
            return path.removeprefix("@")
        if isinstance(self.variables.get(ITEM), Pair):
            inner = inner.partition(".")[2]
        return ".".join(filter(None, (self.item_path, inner)))


class Pair(dict[str, Any]):
    """`key` and `value` of a mapping that stands at `path` of the values."""

    def __init__(self, key: Any, value: Any, path: str) -> None:
        super().__init__(key=key, value=value)
        self.path = path


class Nothing:
    """What a false condition or an empty value leaves."""


NOTHING = Nothing()
