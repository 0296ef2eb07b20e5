"""Findings by rule, the worst first, each rule with what its page says."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from poolsmith.interface.report.html.element import Html, anchor, joined, tag, words
from poolsmith.interface.report.html.place import place
from poolsmith.interface.report.html.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.core.diagnostics import Diagnostic, RuleInfo
    from poolsmith.interface.report.layout import ReportContext

_SHOWN = 200
"""So many findings of one rule are listed; the number of all stands beside the rule."""
_FEW = 5


def findings_view(found: Sequence[Diagnostic], context: ReportContext, *, title: str) -> View:
    """Waived findings come last, and say so."""
    if not found:
        return View("findings", title, tag("p", "There are none.", class_="empty"), 0)
    from poolsmith.guard.rules.rule_book import rule_book  # on demand

    rules = {rule.code: rule for rule in rule_book()}
    by_rule = sorted(found, key=lambda item: item.code)
    groups = [tuple(group) for _, group in groupby(by_rule, key=lambda item: item.code)]
    groups.sort(key=lambda group: (min(_rank(item) for item in group), group[0].code))
    body = joined(_rule(group, rules.get(group[0].code), context) for group in groups)
    words_of = sorted({(_rank(item), _severity(item)) for item in found})
    kinds = tuple(dict.fromkeys(word for _, word in words_of))
    return View("findings", title, body, len(found), tuple((word, word) for word in kinds))


def _severity(item: Diagnostic) -> str:
    return "waived" if item.is_waived else item.severity.value


def _rank(item: Diagnostic) -> int:
    return item.severity.rank + (10 if item.is_waived else 0)


def _rule(found: Sequence[Diagnostic], rule: RuleInfo | None, context: ReportContext) -> Html:
    first = min(found, key=_rank)
    severity = _severity(first)
    heading = tag(
        "summary",
        tag("span", severity, class_=f"severity {severity}"),
        tag("h3", tag("span", first.code, class_="code"), f" {first.name}"),
        tag("span", f"{len(found):,}", class_="count"),
        *([tag("span", words(rule.what), class_="short")] if rule is not None else []),
    )
    items = [_finding(item, context) for item in sorted(found, key=_rank)[:_SHOWN]]
    if len(found) > _SHOWN:
        items.append(tag("li", f"{len(found) - _SHOWN:,} more are not listed here; the JSON report has all of them"))
    parts = [heading, *([_about(rule)] if rule is not None else []), tag("ol", joined(items), class_="points")]
    return tag(
        "details",
        *parts,
        id=anchor(first.code.lower()),
        class_=f"card {severity}",
        open=severity not in ("note", "waived"),
    )


def _about(rule: RuleInfo) -> Html:
    """What the page of the rule says."""
    parts = [("What it finds", rule.what), ("Why it matters", rule.why)]
    parts += [("What you see in the cluster", rule.symptom)] if rule.symptom else []
    parts += [("What to do", f"{rule.fix[:1].upper()}{rule.fix[1:]}.")] if rule.fix else []
    shown = [tag("p", tag("strong", f"{title}. "), words(body)) for title, body in parts]
    for title, example in (("Bad", rule.bad), ("Good", rule.good)):
        if example:
            shown += [
                tag("p", tag("strong", f"{title}:")),
                tag("pre", joined(example.splitlines(), Html("\n")), tabindex="0"),
            ]
    return tag("details", tag("summary", f"About {rule.code}"), *shown, class_="more about-rule")


def _help(text: str) -> list[Html]:
    """A sentence, and the piece of a file that may follow it."""
    sentence, _, piece = text.partition("\n")
    parts = [tag("p", tag("strong", "Do: "), words(sentence), class_="help")]
    if piece:
        parts.append(
            tag("pre", joined(piece.splitlines(), Html("\n")), tabindex="0", role="region", aria_label="To write")
        )
    return parts


def _finding(item: Diagnostic, context: ReportContext) -> Html:
    key = f"f-{item.fingerprint[:12]}"
    link = tag("a", "#", href=f"#{key}", class_="self", aria_label=f"Link to this finding of {item.code}")
    parts = [tag("p", place(item.primary, context), link, class_="about"), tag("p", words(item.message))]
    if item.help:
        parts.extend(_help(item.help))
    related = [
        tag("li", place(other, context), ": " if other.note else "", words(other.note or ""))
        for other in item.related[:_FEW]
    ]
    if len(item.related) > _FEW:
        related.append(tag("li", f"and {len(item.related) - _FEW:,} places more"))
    if related:
        parts.append(tag("ul", joined(related), class_="related"))
    waived = " waived" if item.is_waived else ""
    return tag("li", *parts, class_=f"hit{waived}", id=key, data_kind=f"findings-{_severity(item)}")
