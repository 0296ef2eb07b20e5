"""Record which values the charts beside the operator's read, at each tag: `data/stack_charts/<chart>.json`.

    PYTHONPATH=generator:tests python tests/tools/record_stack_charts.py REPOSITORIES [CHART...]

`REPOSITORIES` holds git repositories as `<owner>+<name>/repo`, bare ones too. A new tag of a chart is a row of the table
more: nothing else is kept by hand. What values.yaml and the templates say is read as for the operator's chart
(`gpu/importing`); a schema of the values is kept as the types by path that it takes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.importing.chart_entries import chart_values_text
from poolsmith.gpu.importing.stack_charts import stack_chart_entry


@record(kw_only=False)
class Source:
    """Where the tags of a chart are; `tags` has the chart's version as its group."""

    repository: str
    tags: str
    folders: tuple[str, ...]
    renumbered: str = ""
    """What the versions begin with that follow all others: counted anew."""

    def order(self, version: str) -> tuple[bool, object]:
        return bool(self.renumbered) and version.startswith(self.renumbered), version_key(version)


SOURCES: dict[str, Source] = {
    "nvidia-device-plugin": Source(
        "NVIDIA/k8s-device-plugin",
        r"v(0\.(?:1[4-9]|[2-9]\d)\.\d+)",
        ("deployments/helm/nvidia-device-plugin",),
    ),
    "node-feature-discovery": Source(
        "kubernetes-sigs/node-feature-discovery",
        r"v(0\.(?:1\d|[2-9]\d)\.\d+)",
        ("deployment/helm/node-feature-discovery",),
    ),
    "nvidia-dra-driver-gpu": Source(
        "kubernetes-sigs/dra-driver-nvidia-gpu",
        r"v(\d+\.\d+\.\d+)",
        (
            "deployments/helm/dra-driver-nvidia-gpu",
            "deployments/helm/nvidia-dra-driver-gpu",
            "deployments/helm/k8s-dra-driver-gpu",
            "deployments/helm/k8s-dra-driver",
        ),
        "0.",
    ),
    "dcgm-exporter": Source("NVIDIA/dcgm-exporter", r"[34]\.\d+\.\d+-(\d+\.\d+\.\d+)", ("deployment",)),
    "kata-deploy": Source(
        "kata-containers/kata-containers",
        r"([34]\.\d+\.\d+)",
        ("tools/packaging/kata-deploy/helm-chart/kata-deploy",),
    ),
    "network-operator": Source(
        "Mellanox/network-operator",
        r"v(2[3-9]\.\d+\.\d+)",
        ("deployment/network-operator",),
    ),
}
_CODE = ("*.go", "*.sh", "*.py", "*.cpp", "driver-manager")
_READ = ("Chart.yaml", "values.yaml", "values.schema.json", "templates/")


def main(repositories: str, *charts: str) -> None:
    folder = store.DATA / "stack_charts"
    folder.mkdir(exist_ok=True)
    for name, source in SOURCES.items():
        if not charts or name in charts:
            entry = recorded(Path(repositories), source)
            (folder / f"{name}.json").write_text(chart_values_text(entry))
            print(f"{name}: {len(entry['tags'])} tags, {len(entry['paths'])} paths")


def recorded(repositories: Path, source: Source) -> dict[str, Any]:
    git = Repository(repositories / source.repository.replace("/", "+") / "repo")
    found = {version: files for version, tag in git.tags(source.tags) if (files := git.chart(tag, source.folders))}
    charts = {tag: found[tag] for tag in sorted(found, key=source.order)}
    return stack_chart_entry(charts, source=f"{source.repository} at each tag:{source.folders[0]}")


class Repository:
    """A git repository that is only read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def tags(self, wanted: str) -> list[tuple[str, str]]:
        """The versions of the chart that the tags stand for, with their tags."""
        matches = pattern(f"(?:{wanted})")
        lines = self._git("tag").decode().split()
        return [(match[1], line) for line in lines if (match := matches.fullmatch(line))]

    def chart(self, tag: str, folders: tuple[str, ...]) -> dict[str, bytes]:
        """The chart's own files, by path in the first of the folders that the tag has; none of a tag without it."""
        listed = self._git("ls-tree", "-r", "--name-only", tag, *folders).decode().splitlines()
        folder = next((item for item in folders if f"{item}/values.yaml" in listed), None)
        names = [path for path in listed if folder and path.startswith(f"{folder}/")]
        inner = {path[len(folder or "") + 1 :]: path for path in names}
        return {name: self._git("show", f"{tag}:{path}") for name, path in inner.items() if name.startswith(_READ)}

    def texts(self, tag: str, folders: tuple[str, ...]) -> list[str]:
        """The code of some folders in Go, Python and C++, without tests and what is copied into them."""
        listed = self._git("ls-tree", "-r", "--name-only", tag, *folders).decode().splitlines()
        own = (path for path in listed if path.endswith((".go", ".py", ".cpp")) and not path.startswith("vendor/"))
        return [self.file(tag, path) for path in own if not path.endswith("_test.go") and "/tests/" not in path]

    def words(self, tag: str, names: frozenset[str], *files: str) -> frozenset[str]:
        """Those of the names that stand as words anywhere in its own code and scripts, or in these files."""
        where = (*(files or _CODE), ":!vendor", ":!*_test.go")
        found = self._git("grep", "-howE", "|".join(sorted(names)), tag, "--", *where)
        return names & set(found.decode().split())

    def file(self, tag: str, path: str) -> str:
        return self._git("show", f"{tag}:{path}").decode()

    def _git(self, *words: str) -> bytes:
        run = subprocess.run(["git", "--git-dir", self._folder, *words], capture_output=True, check=False)
        if run.returncode and not (words[0] == "grep" and run.returncode == 1):  # 1: it found nothing
            raise RuntimeError(run.stderr.decode())
        return run.stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
