"""explain says why: a rule, a pool, a value, a file of values; and what was meant by what it does not know."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def explain(sample_project, run_cli):
    def run(what, *flags):
        return run_cli(["explain", what, "--root", sample_project, *flags])

    return run


def test_a_rule_needs_no_project(run_cli, tmp_path):
    result = run_cli(["explain", "PSM101"], cwd=tmp_path)

    assert (result.code, result.err) == (0, "")
    assert "PSM101" in result.out
    assert "unknown-field" in result.out
    assert "```yaml" in result.out


@pytest.mark.parametrize(
    "what", ["prod-eu/a100-mig", "a100-mig", "profiles/prod-eu/a100-mig.yaml", "./profiles/prod-eu/a100-mig.yaml"]
)
def test_a_pool_is_explained_with_the_lines_that_decide(explain, what):
    result = explain(what)

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("prod-eu/a100-mig\n")
    assert "profiles/prod-eu/a100-mig.yaml:16:5: spec.driver.source" in result.out
    assert "nvidia.com/mig.config=all-1g.10gb" in result.out


@pytest.mark.parametrize("what", ["prod-eu", "prod-eu/", "profiles/prod-eu/cluster.yaml"])
def test_a_cluster_is_explained_by_its_pools_and_values(explain, what):
    result = explain(what)

    assert "  a100-mig\n" in result.out
    assert "  driver.nvidiaDriverCRD.enabled\n" in result.out


def test_a_value_is_explained_by_its_default_and_its_origin(explain):
    result = explain("prod-eu:driver.nvidiaDriverCRD.enabled")

    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("driver.nvidiaDriverCRD.enabled = true\n  the chart's default: false\n")
    assert "profiles/prod-eu/cluster.yaml:15:5: spec.stack.driverMode" in result.out


def test_a_default_is_explained_by_the_chart(explain):
    assert "default of the chart gpu-operator v26.3.3" in explain("prod-eu:driver.version").out


@pytest.mark.parametrize("path", ["driver.nvidiaDriverCRD", "/driver/nvidiaDriverCRD"])
def test_a_part_of_the_values_is_explained_value_by_value(explain, path):
    result = explain(f"prod-eu:{path}")

    assert [line.split(" = ")[0] for line in result.out.splitlines() if not line.startswith(" ")] == [
        "driver.nvidiaDriverCRD.deployDefaultCR",
        "driver.nvidiaDriverCRD.enabled",
    ]


@pytest.mark.parametrize("start", ["", "./"])
@pytest.mark.parametrize("end", ["", ":driver", "#/driver"])
def test_a_file_of_values_is_explained(explain, start, end):
    result = explain(f"{start}output/clusters/prod-eu/platform/values/gpu-operator.yaml{end}", "--format", "json")
    values = json.loads(result.out)["values"]

    assert (result.code, result.err) == (0, "")
    assert {value["file"] for value in values} == {"platform/values/gpu-operator.yaml"}
    assert "driver.nvidiaDriverCRD.enabled" in {value["path"] for value in values}
    assert end == "" or all(value["path"].startswith("driver.") for value in values)


def test_json_names_the_line_that_a_value_comes_from(explain):
    (value,) = json.loads(explain("prod-eu:driver.nvidiaDriverCRD.enabled", "--format", "json").out)["values"]

    assert (value["value"], value["default"]) == (True, False)
    assert {"path": "profiles/prod-eu/cluster.yaml", "line": 15, "pointer": "/spec/stack/driverMode"}.items() <= value[
        "origin"
    ][-1].items()


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("PSM10", "did you mean `PSM"),
        ("prod-us", "did you mean `prod-eu`?"),
        ("prod-eu/a100-mgi", "did you mean `a100-mig`?"),
        ("prod-eu:driver.nvidiaDriverCRD.enable", "did you mean `driver.nvidiaDriverCRD.enabled`?"),
        ("prod-us/a100-mig", "did you mean `prod-eu`?"),
        ("zzz", "known: "),
        ("manual:nothing", "none is known"),
        ("output/clusters/prod-eu/README.md", "holds no Helm values"),
    ],
)
def test_what_is_unknown_is_told_with_what_was_meant(explain, what, words):
    result = explain(what)

    assert (result.code, result.out) == (2, "")
    assert words in result.err


def test_a_pool_that_two_clusters_have_is_asked_back(synthetic_fleet, run_cli):
    result = run_cli(["explain", "pool-0", "--root", synthetic_fleet(2, 1)])

    assert result.code == 2
    assert "c000/pool-0, c001/pool-0" in result.err


def test_a_cluster_may_be_called_like_a_rule(synthetic_fleet, run_cli):
    root = synthetic_fleet(1, 1)
    (root / "profiles/c000").rename(root / "profiles/psm-prod")
    cluster = root / "profiles/psm-prod/cluster.yaml"
    cluster.write_text(cluster.read_text().replace("c000", "psm-prod"))

    assert run_cli(["explain", "psm-prod/pool-0", "--root", root]).out.startswith("psm-prod/pool-0\n")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("path", ["profiles/prod-eu/a100-mig.yaml", "profiles/_bases/a100.yaml"])
def test_mistakes_are_told_instead(sample_project, explain, path, form):
    target = sample_project / path
    target.write_text(target.read_text() + "  diver: {}\n")
    result = explain("prod-eu/a100-mig", "--format", form)

    assert (result.code, result.err) == (1, "")
    assert "PSM101" in result.out
    assert path in result.out
