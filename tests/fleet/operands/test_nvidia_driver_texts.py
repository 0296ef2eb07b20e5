"""Texts and quantities of NVIDIADriver objects, as they read once the operator wrote them anew."""

from __future__ import annotations

import pytest

from fleet.operands import nvidia_driver_cases as cases
from poolsmith.fleet.operands.kube import NotModelled
from poolsmith.fleet.operands.nvidia_driver.node_pools import plain
from poolsmith.fleet.operands.operand_containers import canonical

driver, expanded = cases.driver, cases.expanded


@pytest.mark.parametrize(
    "text", ["--foo=bar", "a:b", "1.2.3", "v1", "r.io/a@sha256:0", "x-y_z", "5.14.0-427.el9", "-v"]
)
def test_texts_that_yaml_reads_as_they_are(text):
    assert plain(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "Off",
        "n",
        "~",
        "null",
        "1",
        "1.0",
        "1e3",
        "0x1f",
        "12:30",
        "- a",
        "a: b",
        "a #b",
        "[a",
        "*a",
        " a",
        "a\n",
    ],
)
def test_texts_that_mean_something_else_are_not_guessed(text):
    with pytest.raises(NotModelled):
        plain(text)


def test_an_argument_that_yaml_reads_as_a_number_is_unknown():
    assert expanded([driver(args=["8080"])]).unknown == (
        "NVIDIADriver/pool: a text that means something else in YAML without quotes: '8080'",
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1, "1"),
        ("1", "1"),
        ("0", "0"),
        ("0Mi", "0"),
        ("0.5", "500m"),
        ("100m", "100m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        (".1", "100m"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("1500e3", "1500e3"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("2G", "2G"),
        ("2000M", "2G"),
        ("1E", "1E"),
        ("-5n", "-5n"),
        ("0.0000000001", "1n"),
    ],
)
def test_quantities_are_written_anew(value, written):
    assert canonical(value) == written


@pytest.mark.parametrize("value", ["", "a", "1x", "1ee3", "99E", "1e99999999999", "12Zi"])
def test_a_quantity_that_cannot_be_read_is_not_guessed(value):
    with pytest.raises(NotModelled):
        canonical(value)
