"""How a rule is to be taken in this repository."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poolsmith.diagnostics.severity import Severity  # noqa: TC001 - the shape reader resolves it
from poolsmith.policies.waiver import RULE_WORD
from poolsmith.shape.field import spec
from poolsmith.shape.review import PROSE

if TYPE_CHECKING:
    from poolsmith.diagnostics import RuleInfo

SETTINGS = "RuleSettings"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSetting:
    """What differs from the rule's defaults."""

    enabled: bool = spec("Whether the rule runs.", default=True)
    severity: Severity | None = spec("The severity of its findings.", default=None)
    reason: str = spec(
        "The reason; required if the rule is turned off or its severity is lowered.", pattern=PROSE, default=""
    )
    parameters: dict[str, int] = spec(
        "Parameters of the rule.", default={}, keys=r"[a-zA-Z]{1,40}", minimum=0, maximum=100_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettingsSpec:
    """What this repository expects of the rules."""

    rules: dict[str, RuleSetting] = spec("Settings by name or code of the rule.", default={}, keys=RULE_WORD)


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The sound settings, by code."""

    by_code: dict[str, RuleSetting]

    def parameter(self, rule: RuleInfo, name: str) -> int:
        """A number that the rule takes. Raises KeyError for a name that the rule does not declare."""
        default = dict(rule.parameters)[name]
        setting = self.by_code.get(rule.code)
        return default if setting is None else setting.parameters.get(name, default)
