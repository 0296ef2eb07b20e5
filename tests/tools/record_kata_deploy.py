"""Record what Helm renders of the chart kata-deploy, for each set of values of `tests/support/kata_deploy.py`.

    PYTHONPATH=generator:tests python tests/tools/record_kata_deploy.py CHARTS HELM

`CHARTS` holds the charts as `<version>/kata-deploy`. `tests/recorded/README.md` says what is in the recording.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from poolsmith.gpu.catalog.chart_workloads import chart_versions
from support.kata_deploy import RELEASE, digests, refused_sets, value_sets
from support.kata_deploy_helm import chart_alone, rendered
from support.recordings import DATA, ENDING, packed


def record(helm: str, chart: Path, version: str) -> dict[str, Any]:
    """A hash of the objects of each set."""
    found: dict[str, Any] = {}
    for name, values in value_sets(version).items():
        made = rendered(helm, chart, values)
        if made is None:
            raise ValueError(f"{version}: {name} is refused")
        found[f"{version}/{name}"] = digests(made)
    for name, values in refused_sets(version).items():
        if rendered(helm, chart, values) is not None:
            raise ValueError(f"{version}: {name} is not refused")
    return found


def main(charts: str, helm: str) -> None:
    recorded: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for version in chart_versions(RELEASE):
            recorded |= record(helm, chart_alone(Path(charts), version, Path(folder)), version)
    path = DATA / f"kata_deploy{ENDING}"
    path.write_bytes(packed(recorded))
    print(f"{path.name}: {len(recorded)} keys, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
