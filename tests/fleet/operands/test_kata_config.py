"""The Kata manager's configuration, as sigs.k8s.io/yaml writes the operator's structure of it."""

from __future__ import annotations

from poolsmith.fleet.operands.daemon_sets.managers import kata_config_text


def test_empty_fields_are_left_out_but_the_address_of_artifacts_is_not():
    config = {
        "artifactsDir": "/opt/kata",
        "runtimeClasses": [
            {
                "name": "kata-a",
                "nodeSelector": {"b": "true", "a": "x"},
                "artifacts": {"url": "r.io/a:1", "pullSecret": ""},
            },
            {"name": "kata-b", "nodeSelector": {}, "artifacts": {"url": "", "pullSecret": "s"}},
        ],
    }

    assert kata_config_text(config) == (
        "artifactsDir: /opt/kata\n"
        "runtimeClasses:\n"
        '- artifacts:\n    url: r.io/a:1\n  name: kata-a\n  nodeSelector:\n    a: x\n    b: "true"\n'
        '- artifacts:\n    pullSecret: s\n    url: ""\n  name: kata-b\n'
    )


def test_no_configuration_is_null():
    assert (kata_config_text(None), kata_config_text({})) == ("null\n", "{}\n")
