"""The views of findings and of a change, and the first lines of the page.

Findings are grouped by rule, the worst first, with what the page of the rule says. A change has the sections that all
formats show.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_sections import Part, Weight
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted, one_line
from poolsmith.interface.report.html.change_pictures import hunks
from poolsmith.interface.report.html.page import Html, View, anchor, joined, place, tag, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.change.diff.change_sections import ChangeView, Point, Section
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.rules.rule_book import RulePage
    from poolsmith.interface.report.formats import ReportContext


_SHOWN = 200
"""So many findings of one rule are listed; the number of all stands beside the rule."""
_FEW = 5
_FEW_LINES = 4


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


def _rule(found: Sequence[Diagnostic], rule: RulePage | None, context: ReportContext) -> Html:
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


def _about(rule: RulePage) -> Html:
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
        lines = piece.splitlines()
        shown = tag("pre", joined(lines, Html("\n")), tabindex="0", role="region", aria_label="To write")
        is_long = len(lines) > _FEW_LINES
        parts.append(tag("details", tag("summary", "What to write"), shown, class_="more") if is_long else shown)
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


_OPEN = frozenset((Part.LEAVES, Part.ENGINE, Part.UNKNOWN, Part.OTHERS, Part.RELEASE))
"""What is shown at once, since no picture shows it; the rest opens on demand."""
_WEIGHTS = {Weight.GRAVE: "to be decided", Weight.NOTABLE: "disturbs, or may do more", Weight.PLAIN: "the rest"}
_FEW_SHOWN = 6


def diff_views(change: ChangeView, context: ReportContext) -> tuple[View, ...]:
    """What was written, and what comes of it by kind; new findings have a view of their own."""
    written = [item for item in change.sections if item.part is Part.WRITTEN]
    rest = [item for item in change.sections if item.part not in (Part.WRITTEN, Part.NEW)]
    if not written and not rest:
        return (View("change", "Change", tag("p", "The change does nothing to any cluster.", class_="empty"), 0),)
    parts = (("change", "What was written", written), ("effects", "What comes of it", rest))
    return tuple(_sections(key, title, found, context) for key, title, found in parts if found)


def _sections(key: str, title: str, found: Sequence[Section], context: ReportContext) -> View:
    if key == "change":
        body = joined(_points(item, context) for item in found)
    else:
        body = joined(_section(item, context) for item in found)
    weights = {point.weight for section in found for point in section.points}
    kinds = tuple((weight.value, _WEIGHTS[weight]) for weight in Weight if weight in weights)
    return View(key, title, body, sum(len(item.points) for item in found), kinds)


_FEW_WRITTEN = 6
_SHORT = 110


def _points(section: Section, context: ReportContext) -> Html:
    """The first few lines that a person wrote; the rest is folded."""
    shown, rest = section.points[:_FEW_WRITTEN], section.points[_FEW_WRITTEN:]
    parts = [tag("ol", joined(_point(item, context, "change") for item in shown), class_="points")]
    if rest:
        more = tag("ol", joined(_point(item, context, "change") for item in rest), class_="points")
        parts.append(tag("details", tag("summary", f"{len(rest):,} more"), more, class_="more box"))
    return tag("div", *parts, class_="card")


def _section(section: Section, context: ReportContext) -> Html:
    key = anchor("change", section.part.name.lower())
    heading = tag(
        "summary",
        tag("h3", section.title[:1].upper() + section.title[1:]),
        tag("span", f"{len(section.points):,}", class_="count"),
        tag("span", one_line(masked(section.in_short).replace("`", ""), _SHORT), class_="short"),
    )
    points = tag("ol", joined(_point(item, context, "effects") for item in section.points), class_="points")
    return tag("details", heading, points, id=key, class_=f"card {section.weight.value}", open=section.part in _OPEN)


def _point(point: Point, context: ReportContext, view: str) -> Html:
    parts = [tag("p", *_mark(point.weight), words(masked(point.words)))]
    about = [*_clusters(point), *(place(item, context) for item in point.places[:_FEW_SHOWN])]
    if len(point.places) > _FEW_SHOWN:
        about.append(tag("span", f"and {len(point.places) - _FEW_SHOWN:,} places more", class_="faint"))
    if about:
        parts.append(tag("p", joined(about, " "), class_="about"))
    if point.details:
        shown = joined(tag("li", words(masked(item))) for item in point.details)
        parts.append(tag("details", tag("summary", "Details"), tag("ul", shown), class_="more"))
    parts.extend(hunks(point.hunks))
    return tag("li", *parts, class_=f"hit {point.weight.value}", data_kind=f"{view}-{point.weight.value}")


def _mark(weight: Weight) -> list[Html]:
    """What matters is marked by a sign too, and said to who hears the page."""
    if weight is Weight.PLAIN:
        return []
    sign = "!" if weight is Weight.GRAVE else "~"
    label = tag("span", f"{_WEIGHTS[weight]}: ", class_="hidden-label")
    return [tag("span", sign, class_=f"mark {weight.value}", aria_hidden="true", title=_WEIGHTS[weight]), label]


def _clusters(point: Point) -> list[Html]:
    shown = [tag("span", name, class_="chip") for name in point.clusters[:_FEW_SHOWN]]
    rest = point.clusters[_FEW_SHOWN:]
    if rest:
        names = tag("span", ", ".join(rest))
        shown.append(tag("details", tag("summary", f"{len(rest):,} clusters more"), names, class_="inline"))
    return shown


def check_summary(outcome: Outcome, context: ReportContext) -> Html:
    errors, warnings, notes = (outcome.count(severity) for severity in Severity)
    weight = "grave" if errors else "notable" if warnings else "good"
    verdict = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}, {counted(notes, 'note')}"
    checked = ", ".join(f"{count:,} {kind}" for kind, count in outcome.checked.items()) or "nothing"
    rest = f"{outcome.waived} waived, {outcome.not_evaluated} not evaluated, {len(outcome.skipped)} skipped"
    skipped = [f"skipped {item.what}: {item.reason}" for item in outcome.skipped]
    facts = [tag("li", words(masked(item))) for item in (*outcome.facts, *skipped)]
    if context.fleet is not None and (unsound := [item.name for item in context.fleet.clusters if not item.pools]):
        facts.append(tag("li", f"nothing can be shown of {', '.join(unsound)}: their profiles have errors"))
    return _banner(weight, verdict, f"Checked {checked}; {rest}.", tag("ul", joined(facts)) if facts else None)


def diff_summary(change: ChangeView, *, is_empty: bool) -> Html:
    weight = change.weight.value if not is_empty else "good"
    return _banner(weight, masked(change.verdict), masked(change.scope), None)


def _banner(weight: str, verdict: str, scope: str, more: Html | None) -> Html:
    parts = [tag("p", words(verdict), class_="verdict"), tag("p", words(scope), class_="scope")]
    return tag("div", *parts, *([more] if more is not None else []), class_=f"banner {weight}")
