"""The table of docs/mutations.md: which circle of tests notices which fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tools.mutation.places import Place
from tools.mutation.trial import Result

BEGIN, END = "<!-- mutations:begin -->\n", "<!-- mutations:end -->\n"
_LONGEST = 60
_SILENT = {
    "not there": "the place is not there",
    "not reached": "**not noticed**: no test reaches it",
    "not noticed": "**not noticed**",
}


def table(
    places: Sequence[Place],
    results: Mapping[str, Result],
    reasons: Mapping[str, str],
    earlier: Mapping[str, Result] | None = None,
    commit: str = "",
) -> str:
    """A row for each place that was tried, and a line that counts."""
    tried = [place for place in places if place.id in results]
    head = ["package", "place", "fault", "noticed by", "why not"]
    if earlier is not None:
        head.insert(4, f"before ({commit[:8]})")
    lines = [_row(head), _row(["---"] * len(head))]
    for place in tried:
        result = results[place.id]
        reason = "" if result.by else reasons.get(place.id, f"not known (`{place.id}`)")
        cells = [place.package, _where(place), f"{place.kind}: {_change(place)}", _noticed(result), reason]
        if earlier is not None:
            cells.insert(4, _noticed(earlier[place.id]) if place.id in earlier else "")
        lines.append(_row(cells))
    return "\n".join([summary(tried, results, earlier), "", *lines]) + "\n"


def summary(places: Sequence[Place], results: Mapping[str, Result], earlier: Mapping[str, Result] | None = None) -> str:
    """One line."""
    circles = Counter(results[place.id].circle for place in places)
    told = ", ".join(
        f"{circles[circle]} by the circle `{circle}`"
        for circle in ("test", "real", "deep", "before")
        if circles[circle]
    )
    cut = sum(bool(results[place.id].capped) and not results[place.id].by for place in places)
    text = f"{len(places)} faults in {len({place.package for place in places})} packages: {told or 'none noticed'}, {circles['']} not noticed"
    if cut:
        text += f" ({cut} of them before all tests that reach them had run)"
    if earlier:
        late = [place.id for place in places if place.id in earlier]
        lost = sum(bool(earlier[one].by) and not results[one].by for one in late)
        text += (
            f". Of the {len(late)} that the first circle does not notice, {sum(bool(earlier[one].by) for one in late)} were "
            f"noticed before; {lost} of these by nothing now"
        )
    return f"{text}."


def put(page: str, text: str) -> str:
    """The page with the table between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, marker, after = rest.partition(END)
    if not marker:
        raise SystemExit("the page has no `<!-- mutations:begin -->` with its end")
    return before + BEGIN + text + END + after


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _where(place: Place) -> str:
    return f"`{place.file}` {place.name and _code(place.name)}".strip()


def _change(place: Place) -> str:
    text = "".join(place.lines)
    old = " ".join(text[slice(*place.span)].split())
    return f"{_code(old)} gone" if not place.new else f"{_code(old)} → {_code(place.new)}"


def _code(text: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    fence = "``" if "`" in short else "`"
    space = " " if "`" in short else ""
    return f"{fence}{space}{short}{space}{fence}".replace("|", "\\|")


def _noticed(result: Result) -> str:
    if not result.by:
        cut = f"; not all tests of {', '.join(result.capped)} ran" if result.capped else ""
        return _SILENT[result.how] + cut
    path, _, name = result.by.partition("::")
    test = f"{path}::{name.partition('[')[0]}" if name else path
    return f"{result.circle}: `{test}`"
