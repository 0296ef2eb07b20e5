"""Each recorded rendering of the chart is what the projection gives; docs/projection.md says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import projected_releases, read_crds, read_projection
from poolsmith.gpu.importing.chart_entries import projection_entry
from poolsmith.gpu.importing.chart_import import crds_entry
from poolsmith.kubernetes.server.storing import stored
from support.recordings import recording

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs/projection.md"
RENDERINGS = recording("chart_renderings")
TAGS = sorted(projected_releases(), key=version_key)
CASES = list(RENDERINGS)
HEAD, TAIL = "<!-- cases:begin -->\n", "<!-- cases:end -->\n"


def expected(recorded):
    result = recorded["result"]
    if "error" in result:
        return {"error": result["error"]}
    checks = {
        kind: {key: [text.partition(":")[0] for text in texts] for key, texts in found.items()}
        for kind, found in result["crdCheck"].items()
    }
    return {"specs": result["specs"], "crdCheck": checks}


def actual(recorded):
    tag, inputs = recorded["tag"], recorded["inputs"]
    helm = HelmRelease(inputs["release"], inputs["apiVersions"])
    projected = project(read_projection(tag), read_chart("gpu-operator", tag).defaults, inputs["values"], helm)
    if projected.errors:
        return {"error": str(projected.errors[0])}
    specs, crd_check = {}, {}
    for item in projected.objects:
        metadata = item["metadata"]
        specs[item["kind"]] = {
            "name": metadata["name"],
            "labels": metadata.get("labels"),
            "annotations": metadata.get("annotations"),
            "spec": item["spec"],
        }
        definition = read_crds(tag)[item["kind"]]
        answer = stored(item, definition.checks)
        assert item["apiVersion"] == definition.api_version
        places = {
            "pruned": sorted(f".{one.dotted}" for one in answer.pruned),
            "schemaViolations": sorted(f".{one.dotted}" for one in answer.refused),
        }
        if any(places.values()):
            crd_check[item["kind"]] = places
    return {"specs": specs, "crdCheck": crd_check}


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_rendering_is_the_projection(case):
    recorded = RENDERINGS[case]

    assert actual(recorded) == expected(recorded)


@pytest.mark.rows(5, "one release of each line")
@pytest.mark.parametrize("tag", TAGS)
def test_an_entry_is_made_from_the_value_map_the_definitions_and_the_overlay(upstream, tag):
    folder = upstream(f"gpu-operator/{tag}") / "crds"
    definitions = [
        item for path in sorted(folder.glob("*.yaml")) for item in yaml.safe_load_all(path.read_text("utf-8")) if item
    ]
    source = f"NVIDIA/gpu-operator@{tag}:deployments/gpu-operator/crds/"
    crds = crds_entry(release=tag, source=source, definitions=definitions)
    recorded = recording("chart_values")[f"gpu-operator/{tag}"]

    assert store.read_json(f"crds/{tag}.json") == crds
    assert store.read_json(f"projection/{tag}.json") == projection_entry(
        release=tag,
        source=recorded["source"],
        value_paths=recorded["paths"],
        crds=crds["kinds"],
        overlay=store.read_yaml("projection/overlay.yaml"),
    )


def table(is_projected):
    """Cases by release: matched, differs, or not recorded."""
    names = sorted({case.rpartition("/")[2] for case in CASES})
    rows = [f"| case | {' | '.join(TAGS)} |", "| --- |" + " --- |" * len(TAGS)]
    totals = dict.fromkeys(TAGS, 0)
    for name in names:
        cells = []
        for tag in TAGS:
            case = f"{tag}/{name}"
            matched = case in RENDERINGS and is_projected(case)
            totals[tag] += matched
            cells.append("matched" if matched else "differs" if case in RENDERINGS else "-")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    counts = (f"{totals[tag]} of {len(RENDERINGS.below(tag))}" for tag in TAGS)
    return "\n".join([*rows, f"| all | {' | '.join(counts)} |"]) + "\n"


def test_the_page_has_the_table_of_all_cases():
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(HEAD)
    _, end, after = rest.partition(TAIL)
    assert end
    if os.environ.get("UPDATE_DOCS") == "1":
        if os.environ.get("TESTS_RUN_IN_CI"):
            pytest.fail("docs are not rewritten in CI")
        told = table(lambda case: actual(RENDERINGS[case]) == expected(RENDERINGS[case]))
        PAGE.write_text(f"{before}{HEAD}{told}{TAIL}{after}", "utf-8")
        return
    matched = table(lambda _: True)  # the first test of this file demands that of each

    assert page == f"{before}{HEAD}{matched}{TAIL}{after}", (
        "run `UPDATE_DOCS=1 python -m pytest tests/recorded/test_chart_oracle.py`"
    )
