"""Record what values of the charts beside the operator's do to what Helm renders: `stack_effects` of `tests/recorded/`.

    (cd tests/oracle/charts && go build -o /tmp/chart-oracle .)
    PYTHONPATH=generator:tests python tests/tools/record_stack_effects.py REPOSITORIES /tmp/chart-oracle [CHART...]

Each path that `data/stack_charts/` says a tag reads gets values of its type, with the chart's defaults, with its own
switches on, and with all switches on. A tag whose templates and values are those of the one before is not asked again.
Charts beneath it are left out: their values are those of charts of their own.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.value_paths import value_paths
from support.oracle_programs import Program, chart_question
from support.recordings import DATA, ENDING, packed, recording
from support.value_sets import _of_default, _value
from tools.record_stack_charts import SOURCES, Repository
from tools.record_value_effects import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.record_stack_charts import Source

RECORDING = "stack_effects"
WORKS, ALONE, NOTHING, REFUSED = "changes", "with its switches", "nothing", "refused"
_APIS = ["monitoring.coreos.com/v1/ServiceMonitor", "resource.k8s.io/v1", "resource.k8s.io/v1/DeviceClass"]
_NAMESPACE, _KUBERNETES = "gpu", "v1.34.0"
_SWITCHES = ("enabled", "enable", "create", "deploy", "deployCR")
_NEEDED: dict[str, dict[str, Any]] = {"nvidia-dra-driver-gpu": {"gpuResourcesEnabledOverride": True}}
_TRIES, _MOST = 8, 3
_GENERATED = pattern(r'"LS0tLS1CRUdJTi[^"]*+"')
"""Keys and certificates that Helm makes anew at each rendering, in base64: the mark of their first line."""


class StackChart:
    """One tag of a chart, in a folder of its own."""

    def __init__(self, name: str, version: str, folder: Path, helm: Program) -> None:
        self.name, self.version, self._folder, self._helm = name, version, folder, helm
        self._values = yaml.safe_load((folder / "values.yaml").read_text("utf-8")) or {}
        read = value_paths(name).read_paths(version)
        above = {path.rpartition(".")[0] for path in read}
        self.leaves = tuple(path for path in sorted(read) if path not in above)
        self._switches = {path for path in read if path.rpartition(".")[2] in _SWITCHES}
        self._known: dict[str, Any] = {}

    def rendered(self, settings: Mapping[str, Any]) -> Any:
        """None where the chart refuses the values."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self._known:
            values = tree({**_NEEDED.get(self.name, {}), **settings})
            asked = chart_question(self._folder, self.version, _NAMESPACE, _APIS, values)
            answer = self._helm.ask({**asked, "release": self.name, "kubernetes": _KUBERNETES})
            texts = (json.dumps(item, sort_keys=True) for item in answer.get("objects") or ())
            found = sorted(_GENERATED.sub('""', text) for text in texts)
            self._known[key] = None if "error" in answer else found
        return self._known[key]

    def _contexts(self, path: str) -> Iterator[dict[str, Any]]:
        yield {}
        keys = path.split(".")
        above = {".".join((*keys[:length], last)) for length in range(1, len(keys)) for last in _SWITCHES}
        yield dict.fromkeys((above & self._switches) - {path}, True)
        yield dict.fromkeys(self._switches - {path}, True)

    def _candidates(self, path: str) -> Iterator[Any]:
        default, draw = value_at(self._values, path.split(".")), random.Random(path)
        if isinstance(default, bool):
            yield not default
            return
        seen: list[Any] = [default, "", [], {}, None]
        schemas = [_of_default(default)] if default is not None else [{"type": kind} for kind in ("object", "string")]
        for value in (_value(path, schema, draw) for _ in range(_TRIES) for schema in schemas):
            if value not in seen:
                seen.append(value)
                yield value

    def effect(self, path: str) -> str:
        best = REFUSED
        for number, settings in enumerate(self._contexts(path)):
            before = self.rendered(settings)
            for value in islice(self._candidates(path), _MOST) if before is not None else ():
                after = self.rendered({**settings, path: value})
                self._known.pop(json.dumps({**settings, path: value}, sort_keys=True), None)
                if after not in (None, before):
                    return ALONE if number else WORKS
                best = best if after is None else NOTHING
        return best


def recorded(repositories: Path, name: str, source: Source, helm: Program) -> dict[str, dict[str, str]]:
    """By tag, oldest first; tags that are the same as the one before have what it has."""
    git = Repository(repositories / source.repository.replace("/", "+") / "repo")
    charts = {version: git.chart(tag, source.folders) for version, tag in git.tags(source.tags)}
    found: dict[str, dict[str, str]] = {}
    seen: tuple[str, dict[str, str]] = ("", {})
    for version in (item for item in value_paths(name).tags if charts.get(item)):
        digest = _digest(charts[version])
        if digest != seen[0]:
            with tempfile.TemporaryDirectory() as folder:
                _write(Path(folder) / name, charts[version])
                chart = StackChart(name, version, Path(folder) / name, helm)
                seen = digest, {path: chart.effect(path) for path in chart.leaves}
        found[version] = seen[1]
        print(name, version, len(seen[1]), flush=True)
    return found


def _digest(files: Mapping[str, bytes]) -> str:
    kept = {name: text for name, text in files.items() if name != "Chart.yaml"}
    return hashlib.sha256(repr(sorted(kept.items())).encode()).hexdigest()


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)


def main(repositories: str, oracle: str, *charts: str) -> None:
    helm, old = Program([oracle]), recording(RECORDING) if (DATA / f"{RECORDING}{ENDING}").exists() else {}
    kept = {key: old[key] for key in old}
    for name, source in SOURCES.items():
        if not charts or name in charts:
            found = recorded(Path(repositories), name, source, helm)
            kept |= {f"{name}/{version}": effects for version, effects in found.items()}
            (DATA / f"{RECORDING}{ENDING}").write_bytes(packed(kept))


if __name__ == "__main__":
    main(*sys.argv[1:])
