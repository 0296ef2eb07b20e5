"""The table of scenarios in docs/engine-runs.md: what `poolsmith diff` said of each step, and what the real engine did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from engines.fates import seen_fates
from engines.judged import Happened, Report, said_in_words
from engines.pairs import Pair
from engines.scenarios import ARGOCD, FLUX, Scenario, Step

_HEAD = ("| scenario | step | `diff` said | what the engine did |", "| --- | --- | --- | --- |")
_ENGINES = {FLUX: "Flux", ARGOCD: "Argo CD"}
_FIRST, _BY_HAND, _BESIDE = "nothing stood before", "nothing: it is done by hand", "nothing: it is not of the output"


def rows(
    scenarios: tuple[Scenario, ...],
    runs: Mapping[str, Mapping[str, object]],
    reports: Mapping[tuple[str, str], Report],
) -> Iterator[str]:
    yield from _HEAD
    for scenario in scenarios:
        for number, (step, seen) in enumerate(zip(scenario.steps, _steps(runs[scenario.name]), strict=True)):
            report = reports.get((scenario.name, step.name))
            said = said_in_words(report) if report is not None else _reason(number, step)
            yield f"| {f'{_ENGINES[scenario.engine]}: {scenario.what}' if number == 0 else ''} | {step.name} | {said} | {Happened(seen).words} |"


_OF_PAIRS = (
    "| engine | what is there | what changes | what `diff` says, and the engine did |",
    "| --- | --- | --- | --- |",
)


def rows_of_pairs(pairs: Iterable[Pair], runs: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    yield from _OF_PAIRS
    for pair in pairs:
        if pair.name in runs:
            _, fates = seen_fates(runs[pair.name])
            what = ", ".join(f"`{name}`" if "." in name else name for name in pair.what)
            yield f"| {_ENGINES[pair.base.engine]} | {pair.words} | {what} | {fates.words} |"


def _steps(run: Mapping[str, object]) -> list[Mapping[str, object]]:
    found = run["steps"]
    assert isinstance(found, list)
    return found


def _reason(number: int, step: Step) -> str:
    if number == 0:
        return _FIRST
    return _BESIDE if step.beside is not None else _BY_HAND
