"""With a driver object for each pool most values about drivers reach nobody, and are refused at their lines."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import generate

CLUSTER = "profiles/prod-eu/cluster.yaml"


@pytest.fixture
def said(sample_project):
    """What is said of which values."""

    def run(*lines):
        path = sample_project / CLUSTER
        text = path.read_text()
        assert "driverMode: nvidia-driver" in text
        head, separator, tail = text.partition("    values:\n")
        path.write_text(head + separator + "".join(f"      {line}\n" for line in lines) + tail)
        found = generate(sample_project, clusters=["prod-eu"]).outcome.diagnostics
        here = (item for item in found if item.primary.span.path == CLUSTER and "`" in item.message)
        return {(item.message.split("`")[1], item.name) for item in here}

    return run


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("driver: {image: other}", "driver.image"),
        ("driver: {env: [{name: A, value: b}]}", "driver.env"),
        ("driver: {startupProbe: {failureThreshold: 200}}", "driver.startupProbe.failureThreshold"),
        ("gds: {version: v2.20.6}", "gds.version"),
    ],
)
def test_what_no_driver_listens_to_is_refused(said, value, name):
    assert (name, "field-without-effect") in said(value)


@pytest.mark.parametrize(
    "value",
    [
        "driver: {manager: {version: v0.9.0}}",  # the operator gives it to every driver pod
        "driver: {upgradePolicy: {autoUpgrade: false}}",  # the operator goes by it itself
    ],
)
def test_what_the_operator_goes_by_is_taken(said, value):
    assert "field-without-effect" not in {rule for _, rule in said(value)}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("driver: {version: 570.86.15}", "driver.version"),
        ("driver: {repository: registry.example.com/nvidia}", "driver.repository"),
        ("gds: {enabled: true}", "gds.enabled"),
        ("driver: {rdma: {enabled: true}}", "driver.rdma.enabled"),
    ],
)
def test_what_profiles_decide_is_not_taken_from_values(said, value, name):
    assert (name, "value-taken") in said(value)
