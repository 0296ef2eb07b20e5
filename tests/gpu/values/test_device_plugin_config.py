"""Configurations of the device plugin, against verdicts of the plugin's own code at the versions that releases bring."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.values.device_plugin_config import config_mistakes
from support.recordings import recording

SINCE_0_16 = ("deviceDiscoveryStrategy", "nvidiaDevRoot")
"""Older plugins than those of the releases pass them over."""
PLUGINS = ["v0.16.2", "v0.17.0", "v0.17.4", "v0.18.1", "v0.19.3", "v0.20.0"]
RECORDED = recording("device_plugin_config")


def refused_by(words):
    """The versions that refuse a text: all, from one on, up to one, or none."""
    if words in ("", "all"):
        return PLUGINS if words else []
    word, _, plugin = words.partition(" ")
    index = PLUGINS.index(plugin)
    return PLUGINS[index:] if word == "from" else PLUGINS[: index + 1]


def is_refused(text, plugin):
    """Of two keys of a name the plugin takes the last one; `embedded-yaml` tells both."""
    duplicates = []
    try:
        documents = read_documents(text, duplicates)
    except YamlProblem:
        return True
    return bool(duplicates or config_mistakes(documents[0] if documents else None, plugin))


@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_the_plugin_refuses_is_told_and_nothing_else(plugin):
    wrong = [
        (text, words) for text, words in RECORDED.items() if is_refused(text, plugin) != (plugin in refused_by(words))
    ]

    assert wrong == []


def test_of_a_plugin_that_nobody_knows_only_what_all_refuse_is_told():
    assert [text for text, words in RECORDED.items() if words != "all" and is_refused(text, None)] == []
    missed = [text for text, words in RECORDED.items() if words == "all" and not is_refused(text, None)]
    assert [text for text in missed if not any(field in text for field in SINCE_0_16)] == []
