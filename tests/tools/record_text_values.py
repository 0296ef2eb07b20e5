"""Record what a switch or a number that is written as text becomes: `data/values/texts.json`.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    PYTHONPATH=generator:tests python tests/tools/record_text_values.py CHARTS /tmp/chart-oracle RELEASE...

Helm renders each boolean and each integer of the operator's chart as itself and as a text of the same word, under the
settings with which it has an effect (`CHARTS` holds the charts as `<tag>/gpu-operator`). Only these releases are
recorded anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.text_values import PLACE, Becomes
from poolsmith.gpu.catalog.value_effects import at_release
from support.oracle_programs import Program
from tools.record_value_effects import Recorder, contexts, given, text_of_table, tree, variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VALUES: dict[str, tuple[Any, ...]] = {"boolean": (True, False), "integer": (7, 8)}
_SOURCE = "what Helm 3.19.4 renders of NVIDIA/gpu-operator's chart at each tag, and what its definitions take"


def become(recorder: Recorder, path: str, kind: str) -> Becomes | None:
    """What a text becomes; None where nothing shows it, whatever is set beside it."""
    known = variables(recorder, path)
    for position in contexts(known):
        settings = recorder.beside(path) | given(known, position)
        one, other = (_rendered(recorder, settings | {path: value}) for value in _VALUES[kind])
        if one is not None and other is not None and one != other:
            return _of_texts(recorder, settings, path, kind)
    return None


def _of_texts(recorder: Recorder, settings: Mapping[str, Any], path: str, kind: str) -> Becomes:
    found = Becomes.ITSELF
    for value in _VALUES[kind]:
        text = _rendered(recorder, {**settings, path: json.dumps(value)})
        if text != _rendered(recorder, {**settings, path: value}):
            if text is None or value is not False:
                return Becomes.REFUSED
            found = Becomes.TRUE
    return found


def _rendered(recorder: Recorder, settings: Mapping[str, Any]) -> str | None:
    part = recorder.part(tree(settings))
    if part.errors or part.unknown:
        return None
    return json.dumps([part.resources, [item.body for item in part.made]], sort_keys=True)


def _typed(recorder: Recorder) -> Iterator[tuple[str, str]]:
    for path in recorder.leaves:
        kind = recorder.schemas[path].get("type", "")
        if kind in _VALUES:
            yield path, kind


def record(recorder: Recorder) -> dict[str, str]:
    found = {path: become(recorder, path, kind) for path, kind in _typed(recorder)}
    return {path: word.value for path, word in found.items() if word is not None}


def main(charts: str, helm: str, *only: str) -> None:
    place, program = store.DATA / PLACE, Program([helm])
    table = json.loads(place.read_text("utf-8"))
    known = {tag: dict(at_release(table, tag)) for tag in table["releases"]}
    for release in only:
        known[release] = record(Recorder(release, Path(charts), program))
        print(release, len(known[release]), flush=True)
    place.write_text(text_of_table(known, [tag for tag in chart_versions(OPERATOR_CHART) if tag in known], _SOURCE))


if __name__ == "__main__":
    main(*sys.argv[1:])
