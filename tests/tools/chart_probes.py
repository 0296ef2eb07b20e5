"""Ask Helm what each value path of a chart does, with values of every kind, and record the answers.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    PYTHONPATH=generator:tests python tests/tools/chart_probes.py CHARTS /tmp/chart-oracle [CHART-VERSION...]

`CHARTS` holds the charts as their projects publish them, in folders `<chart>-<version>`. `tests/recorded/README.md`
says what is in the recording.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.importing.template_references import References, references_in
from support.chart_objects import comparable, delta, shortened
from support.chart_probes import CHARTS, NAMESPACE, given, helm_release, probes, settings
from support.recordings import DATA, ENDING, packed, recording

NAME = "chart_probes"
_VALUE = re.compile(r"\.Values((?:\.[A-Za-z_]\w*)+)")
_TEMPLATES = (".yaml", ".yml", ".tpl")


def read_paths(chart: Path) -> list[str]:
    """The value paths that the templates of a chart read, without those that only lead to others."""
    found = References()
    for file in sorted((chart / "templates").iterdir()):
        if file.suffix in _TEMPLATES:
            text = file.read_text("utf-8")
            found.add(references_in(text))
            found.read |= {match[1].removeprefix(".") for match in _VALUE.finditer(text)}
    return sorted(found.read)


def answers(oracle: str, questions: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What Helm says to each question, in their order."""
    text = "".join(f"{json.dumps(question)}\n" for question in questions)
    run = subprocess.run([oracle], input=text, capture_output=True, text=True, check=True)
    yield from (json.loads(line) for line in run.stdout.splitlines())


def record(folder: Path, oracle: str, chart: str, version: str) -> dict[str, Any]:
    """Every setting and every probe of one version."""
    place = folder / f"{chart}-{version}"
    paths = read_paths(place)
    asked: list[tuple[str, str, str]] = []
    questions: list[dict[str, Any]] = []

    def ask(setting: str, path: str, name: str, values: dict[str, Any]) -> None:
        asked.append((setting, path, name))
        known = {"chart": str(place), "release": helm_release(chart), "namespace": NAMESPACE}
        questions.append({"id": str(len(asked)), "values": values, **known})

    for setting in settings(chart, version):
        ask(setting, "", "", given(chart, version, setting))
        for path, name, values in probes(chart, version, setting, paths):
            ask(setting, path, name, values)
    recorded: dict[str, Any] = {f"{chart}/{version}": paths}
    base: dict[str, Any] = {}
    for (setting, path, name), answer in zip(asked, answers(oracle, iter(questions)), strict=True):
        key = f"{chart}/{version}/{setting}"
        found = None if "error" in answer else comparable(answer.get("objects", ()), NAMESPACE)
        if not path:
            if found is None:
                raise ValueError(f"{key}: {answer['error']}")
            recorded[key] = base = found
            continue
        outcomes = recorded.setdefault(f"{key}/{path}", {})
        outcomes[name] = None if found is None else shortened(base, delta(base, found))
    return recorded


def main(charts: str, oracle: str, *only: str) -> None:
    recorded: dict[str, Any] = dict(recording(NAME)) if only else {}
    for chart in CHARTS:
        for version in chart_versions(chart):
            if not only or f"{chart}-{version}" in only:
                recorded |= record(Path(charts), oracle, chart, version)
                print(f"{chart} {version}: {len(recorded)} keys", flush=True)
    path = DATA / f"{NAME}{ENDING}"
    path.write_bytes(packed(recorded))
    print(f"{path.name}: {len(recorded)} keys, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
