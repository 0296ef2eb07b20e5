"""Values that the API server would refuse in what the chart makes of them are told at their own lines."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.projections import projected_releases
from poolsmith.guard.rules.schema.rendered_values import refused_values
from poolsmith.interface.app.check import check_paths

CASES = {
    "variables of operands have no valueFrom": (
        {"toolkit": {"env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}},
        ("toolkit", "env", 0, "valueFrom"),
    ),
    "a misspelt toleration of the operator's pod": (
        {"operator": {"tolerations": [{"key": "a", "oprator": "Exists"}]}},
        ("operator", "tolerations", 0, "oprator"),
    ),
    "a misspelt toleration of the operands": (
        {"daemonsets": {"tolerations": [{"key": "a", "effct": "NoSchedule"}]}},
        ("daemonsets", "tolerations", 0, "effct"),
    ),
    "out of bounds": (
        {"driver": {"upgradePolicy": {"maxParallelUpgrades": -1}}},
        ("driver", "upgradePolicy", "maxParallelUpgrades"),
    ),
    "no quantity": (
        {"operator": {"resources": {"limits": {"cpu": "much"}}}},
        ("operator", "resources", "limits", "cpu"),
    ),
    "an affinity that no pod has": (
        {"operator": {"affinity": {"nodeAffinity": {"required": {}}}}},
        ("operator", "affinity", "nodeAffinity", "required"),
    ),
    "of the subchart": (
        {"node-feature-discovery": {"worker": {"tolerations": [{"kee": "a"}]}}},
        ("node-feature-discovery", "worker", "tolerations", 0, "kee"),
    ),
    "a null that the chart writes into a block which the values begin": (
        {"devicePlugin": {"config": {"name": "plugin-config"}}},
        ("devicePlugin", "config"),
    ),
}


@pytest.mark.parametrize("release", projected_releases())
def test_the_chart_alone_leads_to_nothing(release):
    assert list(refused_values(release, {}, {})) == []


@pytest.mark.parametrize("case", CASES)
def test_a_value_that_is_refused_is_told_at_its_place(case):
    values, place = CASES[case]

    assert [item.place for item in refused_values("v25.10.1", values, values)] == [place]


def test_what_others_write_is_no_finding_of_this_document():
    values = {**CASES["no quantity"][0], **CASES["a misspelt toleration of the operands"][0]}
    written = CASES["a misspelt toleration of the operands"][0]

    assert [item.place for item in refused_values("v26.3.3", values, written)] == [
        ("daemonsets", "tolerations", 0, "effct")
    ]


def test_helm_install_does_not_mind_a_null_and_an_engine_does(write_files):
    root = write_files({"values.yaml": "devicePlugin:\n  config:\n    name: plugin-config\n"})
    (found,) = (
        item
        for item in check_paths(root, [root / "values.yaml"], release="v25.10.1", everything=True).diagnostics
        if item.code == "PSM330"
    )

    assert (found.severity, str(found.primary.span)) == ("warning", "values.yaml:2:3")


def test_a_profile_names_its_own_line(sample_project, run_cli):
    path = sample_project / "profiles/edge/cluster.yaml"
    value = "{dcgmExporter: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]}}"
    path.write_text(path.read_text().replace("  stack:\n", f"  stack:\n    values: {value}\n"))
    line = path.read_text().splitlines().index(f"    values: {value}") + 1
    result = run_cli(["generate", "--root", sample_project, "--cluster", "edge", "--format", "json"])
    found = [item for item in result.diagnostics if item["code"] == "PSM330"]

    assert result.code == 1
    assert [(item["primary"]["path"], item["primary"]["line"]) for item in found] == [
        ("profiles/edge/cluster.yaml", line)
    ]
