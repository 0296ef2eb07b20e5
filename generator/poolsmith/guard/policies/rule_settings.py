"""What a repository expects of the rules: read, judged, and laid upon findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes import policy
from poolsmith.core.diagnostics.codes.outside import RETIRED_RULE
from poolsmith.core.diagnostics.codes.shape import DUPLICATE_ITEM
from poolsmith.core.diagnostics.known_rules import COMPATIBILITY, FROM_ELSEWHERE, LINKS, SHAPE, retired_code
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.record import record
from poolsmith.core.shape.field import spec
from poolsmith.core.shape.review import PROSE, is_placeholder
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.core.diagnostics import Location, RuleInfo
    from poolsmith.core.shape.documents import KindDocument

SETTINGS = "RuleSettings"
RULE_WORD = r"[A-Za-z0-9-]{1,80}"


@record
class RuleSetting:
    """What differs from the rule's defaults."""

    @staticmethod
    def meant_by(value: object) -> dict[str, object] | None:
        """`off`, or a severity alone."""
        return {"enabled": value} if isinstance(value, bool) else None

    enabled: bool = spec("Whether the rule runs.", default=True)
    severity: Severity | None = spec("The severity of its findings.", default=None)
    reason: str = spec(
        "The reason; required if the rule is turned off or its severity is lowered.", pattern=PROSE, default=""
    )
    parameters: dict[str, int] = spec(
        "Parameters of the rule.", default={}, keys=r"[a-zA-Z]{1,40}", minimum=0, maximum=100_000
    )


@record
class RuleSettingsSpec:
    """What this repository expects of the rules."""

    rules: dict[str, RuleSetting] = spec("Settings by name or code of the rule.", default={}, keys=RULE_WORD)


@record(kw_only=False)
class RuleSettings:
    """The sound settings, by code."""

    by_code: dict[str, RuleSetting]

    def parameter(self, rule: RuleInfo, name: str) -> int:
        """A number that the rule takes. Raises KeyError for a name that the rule does not declare."""
        default = dict(rule.parameters)[name]
        setting = self.by_code.get(rule.code)
        return default if setting is None else setting.parameters.get(name, default)


NO_SETTINGS = RuleSettings({})
_RULES = "/spec/rules"
_FIXED = ("PSM0", *SHAPE, "PSM6", *FROM_ELSEWHERE)


def is_fixed(code: str, severity: Severity) -> bool:
    """Whether findings of this code and severity hold whatever anybody says."""
    return code.startswith(_FIXED) or (code.startswith((*COMPATIBILITY, *LINKS)) and severity is Severity.ERROR)


def find_in(book: Mapping[str, RuleInfo], word: str) -> RuleInfo | None:
    """The rule of a code or a name; the book has both as keys."""
    return book.get(word) or book.get(word.upper()) or book.get(word.lower())


def unknown_rule(word: str, book: Mapping[str, RuleInfo], where: Location) -> Diagnostic:
    is_code = word.upper().replace(" ", "").startswith("PSM")
    names = sorted({rule.code if is_code else rule.name for rule in book.values()})
    return diagnose(policy.UNKNOWN_RULE, f"no rule is named `{shorten(word)}`", where, help=did_you_mean(word, names))


def note_retired(word: str, rule: RuleInfo, where: Location) -> tuple[Diagnostic, ...]:
    """A note where a word is that of a rule which is a part of another now."""
    old = retired_code(word)
    message = f"{old} is a part of {rule.code} {rule.name} now, and counts as that"
    return (diagnose(RETIRED_RULE, message, where, help=f"write `{rule.name}`"),) if old else ()


def sound_settings(
    document: KindDocument[RuleSettingsSpec], book: Mapping[str, RuleInfo]
) -> tuple[RuleSettings, tuple[Diagnostic, ...]]:
    """The settings that can hold, and what is wrong with the others. `book` has each rule by code and by name."""
    problems: list[Diagnostic] = []
    by_code: dict[str, RuleSetting] = {}
    for word, setting in document.spec.rules.items():
        where = document.file.locate(join(_RULES, word))
        rule = find_in(book, word)
        if rule is None:
            problems.append(unknown_rule(word, book, where))
            continue
        problems.extend(note_retired(word, rule, where))
        found = list(_problems(rule, setting, document, join(_RULES, word)))
        problems.extend(found)
        if rule.code in by_code:
            message = f"{rule.name} ({rule.code}) is set twice"
            problems.append(diagnose(DUPLICATE_ITEM, message, where, help="keep one of the two"))
        elif not found:
            by_code[rule.code] = setting
    return RuleSettings(by_code), tuple(problems)


def _problems(
    rule: RuleInfo, setting: RuleSetting, document: KindDocument[RuleSettingsSpec], pointer: str
) -> Iterable[Diagnostic]:
    weaker = setting.severity is not None and setting.severity.rank > rule.severity.rank
    if (weaker or not setting.enabled) and is_fixed(rule.code, rule.severity):
        message = f"{rule.name} can't be turned off or made less severe"
        yield diagnose(policy.FIXED_RULE, message, document.file.locate(pointer), subject=rule.name)
    elif (weaker or not setting.enabled) and is_placeholder(setting.reason):
        how = "is turned off" if not setting.enabled else f"is made a {setting.severity} without being one"
        message = f"{rule.name} {how}, and no reason is given"
        yield diagnose(policy.UNEXPLAINED_SETTING, message, document.file.locate(pointer), subject=rule.name)
    known = dict(rule.parameters)
    for name in setting.parameters:
        if name not in known:
            yield diagnose(
                policy.UNKNOWN_PARAMETER,
                f"{rule.name} takes no parameter `{shorten(name)}`",
                document.file.locate(f"{pointer}/parameters/{name}"),
                help=did_you_mean(name, known) if known else "remove it: the rule takes none",
                subject=rule.name,
            )


def apply_settings(
    diagnostics: Iterable[Diagnostic], settings: RuleSettings
) -> tuple[tuple[Diagnostic, ...], dict[str, int]]:
    """Findings at the severities that are set; those of rules that are off are left out, and counted by rule."""
    kept: list[Diagnostic] = []
    off: dict[str, int] = {}
    for item in diagnostics:
        setting = settings.by_code.get(item.code)
        if setting is None or is_fixed(item.code, item.severity):
            kept.append(item)
        elif not setting.enabled:
            off[item.name] = off.get(item.name, 0) + 1
        elif setting.severity is None:
            kept.append(item)
        else:
            kept.append(replace(item, severity=setting.severity))
    return tuple(kept), off
