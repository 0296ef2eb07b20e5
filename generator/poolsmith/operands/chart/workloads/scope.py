"""Where the words of a chart's entry find their values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from poolsmith.operands.chart.go_template import look_up


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueScope:
    """`values` as templates see them; `variables` are asked for as `@name`, before the entry's own definitions."""

    values: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    define: dict[str, Any] = field(default_factory=dict)

    def value(self, path: str) -> Any:
        """`.Values.<path>`, null where there is nothing. Raises TemplateError."""
        return look_up(self.values, path.split("."))

    def with_item(self, item: Any) -> ValueScope:
        """The scope inside a loop over a list: the item is `@item`."""
        return ValueScope(values=self.values, variables={**self.variables, "item": item}, define=self.define)
