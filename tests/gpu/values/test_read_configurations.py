"""Layouts of MIG and configurations of feature discovery, against the verdicts of the software that reads them."""

from __future__ import annotations

import json

import pytest

from oracle.configurations.texts import texts
from poolsmith.core.diagnostics import Severity
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.discovery_config import WORKER, discovery_mistakes, field_kinds
from poolsmith.guard.rules.texts.mig_layouts import mistakes_of
from support.recordings import recording

OF_GPUS = ("compute slices", "no profile of a GPU instance")
"""What mig-parted reads, and no GPU has: it stops when it is to make it."""
WITHOUT_KIND = {"worker.core.ownerRefs", "worker.sources.fake.instanceFeatures", "worker.sources.local.hooksEnabled"}
PASSED = {"master.autoDefaultNs", "master.resourceLabels", "master.restrictions.nodeFeatureNamespaceSelector"}


def of_gpus(message):
    return any(word in message for word in OF_GPUS)


def of_mig(body):
    return [item.message for item in mistakes_of(body) if item.severity is None]


def of_discovery(body):
    return [item.message for item in discovery_mistakes(WORKER, body, "v0.19.0") if item.severity is Severity.ERROR]


JUDGES = {"mig_layouts": of_mig, "discovery_config": of_discovery}


@pytest.mark.parametrize("name", JUDGES)
def test_what_the_software_refuses_is_told_and_nothing_else(name):
    told = {text: JUDGES[name](json.loads(text)) for text in recording(name)}
    refused = {text for text, said in recording(name).items() if said == "refused"}

    assert [text for text in refused if not told[text]] == []
    assert [text for text in told.keys() - refused if not all(map(of_gpus, told[text]))] == []


@pytest.mark.parametrize("name", JUDGES)
def test_all_texts_that_are_made_are_recorded(name):
    assert set(recording(name)) == set(texts(name))


def test_each_field_that_discovery_reads_has_its_kind():
    known = {name for name in operand_inputs("discovery").names if name.startswith(("worker.", "master."))}

    assert known - set(field_kinds()) == WITHOUT_KIND | PASSED


def test_master_stops_at_values_of_another_kind():
    wrong = {"resyncPeriod": "an hour", "extraLabelNs": "nvidia.com", "enableTaints": "yes", "nfdApiParallelism": "9"}

    stops = [item.steps for item in discovery_mistakes("master", wrong, None) if item.severity is Severity.ERROR]

    assert stops == [(key,) for key in wrong]
