"""What the chart itself says is no mistake: at each tag, by the tag's own rules; and what the catalog recorded of it."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.chart_contents import image_components, image_default
from poolsmith.gpu.catalog.chart_workloads import operator_rights
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.container_toolkit import known_variables, unfit_toolkit
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.catalog.platforms import distributions
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_values
from support.recordings import recording

TAGS = value_paths().tags
RECORDED = store.names("charts/gpu-operator")


def images_of(tag):
    """The images of a tag as values that pin each of them."""
    values = {}
    for component in image_components(tag):
        node = values
        for key in component.split("."):
            node = node.setdefault(key, {})
        for key in ("repository", "image", "version"):
            if (default := image_default(f"{component}.{key}", tag)) is not None:
                node[key] = default
    return values


def worse_than_notes(judgement):
    """But for the toolkit of an old release, which is open to attacks whatever the values say."""
    found = [item for item in judgement.findings if item.rule.code not in ("PSM328", "PSM427")]
    return [item.finding.message for item in found if item.severity is not Severity.NOTE]


@pytest.mark.parametrize("tag", TAGS)
def test_no_values_are_no_mistake(tag):
    assert judge_values({}, value_paths().release(tag)).findings == ()


@pytest.mark.parametrize("tag", TAGS)
def test_the_images_of_a_tag_written_out_are_no_mistake(tag):
    assert worse_than_notes(judge_values(images_of(tag), value_paths().release(tag))) == []


@pytest.mark.parametrize("tag", RECORDED)
def test_the_whole_values_file_of_a_tag_is_no_mistake_but_for_what_the_chart_itself_never_reads(tag):
    release = value_paths().release(tag)
    judged = judge_values(release.defaults, release)
    own = [item for item in judged.findings if item.rule.code[:4] != "PSM3"]

    open_to = {"PSM427"} if any(item.critical for item in limits().of_operator(tag)) else set()
    assert {item.rule.code for item in own if item.severity is not Severity.NOTE} == open_to


def paths_of(tag, distribution):
    """Where it keeps containerd; None where no source says so."""
    paths = distributions()[distribution].paths("containerd", ".".join(tag.removeprefix("v").split(".")[:2]))
    return None if paths is None or paths.unknown else paths


KNOWN = [(tag, name) for tag in RECORDED for name in sorted(distributions()) if paths_of(tag, name)]


def test_no_source_says_where_some_distributions_keep_containerd():
    unknown = {(name, tag) for tag in RECORDED for name in distributions() if (tag, name) not in KNOWN}

    assert {name for name, tag in unknown if all((name, other) in unknown for other in RECORDED)} == {
        "openshift",
        "talos",
    }
    lines = {(name, tag.rpartition(".")[0]) for name, tag in unknown if name not in ("openshift", "talos")}
    assert lines == {("k0s", "v24.6"), ("k0s", "v25.3"), ("rke2", "v24.6"), ("rke2", "v24.9")}


@pytest.mark.parametrize(("tag", "distribution"), KNOWN)
def test_what_the_catalog_says_of_a_distribution_is_no_mistake(tag, distribution):
    """Nothing is said of the environment that is generated for a cluster of it."""
    paths = paths_of(tag, distribution)
    places = {"{config}": paths.config, "{socket}": paths.socket, "{dropIn}": paths.drop_in}
    env = [{"name": entry["name"], "value": filled(entry["value"], places)} for entry in paths.env]
    own = [dict(entry) for entry in paths.device_plugin_env]
    if own:  # beside the chart's list, as they are generated
        named = {entry["name"] for entry in own}
        listed = read_chart("gpu-operator", tag).default(("devicePlugin", "env")) or []
        own = [*(entry for entry in listed if entry["name"] not in named), *own]
    values = {"toolkit": {"env": env}, "devicePlugin": {"env": own}}

    assert worse_than_notes(judge_values(values, value_paths().release(tag))) == []
    assert {entry["name"] for entry in env} <= known_variables().keys()


def filled(text, places):
    for placeholder, path in places.items():
        text = text.replace(placeholder, path or "")
    return text


@pytest.mark.parametrize("tag", TAGS)
def test_images_are_those_of_the_charts_values(tag):
    paths = recording("chart_values")[f"gpu-operator/{tag}"]["paths"]
    stated = {
        name: fact["default"]
        for name, fact in paths.items()
        if name.rpartition(".")[2] in ("repository", "image", "version") and fact.get("declared") and "default" in fact
    }
    stated = {name: default for name, default in stated.items() if "." in name and isinstance(default, str)}

    assert {name: image_default(name, tag) for name in stated} == stated
    assert {f"{name}.repository" for name in image_components(tag)} <= stated.keys()


@pytest.mark.parametrize("tag", TAGS)
def test_the_fixed_releases_are_those_whose_toolkit_has_the_fixes(tag):
    assert limits().of_toolkit(image_default("toolkit.version", tag)) == limits().of_operator(tag)


@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag not in ("v24.9.0", "v25.10.0")])
def test_the_toolkit_of_a_chart_fits_it_but_for_two_that_were_mended(tag):
    assert unfit_toolkit(image_default("toolkit.version", tag), tag, nri=at_least(tag, "v26.3.0")) is None


@pytest.mark.parametrize("tag", RECORDED)
@pytest.mark.parametrize("kind", ["ClusterRole", "Role"])
def test_the_rights_of_the_operator_are_those_that_the_chart_is_predicted_to_give(tag, kind):
    for cleanup in (False, True):
        defaults = value_paths().release(tag).defaults
        values = {**defaults, "operator": {**defaults["operator"], "cleanupCRD": cleanup}}
        made = operator_chart_objects(tag, values, "gpu-operator").objects
        (role,) = [item for item in made if item["kind"] == kind and item["metadata"]["name"] == "gpu-operator"]
        given = {
            (group, resource, verb)
            for rule in role["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }

        assert given <= operator_rights(kind, tag)
    assert given == operator_rights(kind, tag)
