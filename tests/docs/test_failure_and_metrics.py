"""The pages on the first failure and on metrics say what the data and the rules say."""

from __future__ import annotations

import re

import pytest

from poolsmith.core.facts import store
from poolsmith.gpu.catalog.operands import read_readiness
from poolsmith.guard.rules.rule_book import rule_book
from support.walks import ROOT

FAILURE, METRICS = ROOT / "docs/first-failure.md", ROOT / "docs/metrics.md"
STEPS = (
    ("the node is not seen", r"pci-10de|No GPU node|any nodes to match"),
    ("`DESIRED 0`: no pods on the node", r"DESIRED [01]|no driver pod|no nodes matching"),
    ("pods are refused", r"violates PodSecurity|is forbidden|insufficient quota|field not declared|is invalid"),
    ("an image is not there", r"ImagePull|manifest unknown|InvalidImageName|pulling image"),
    (
        "the driver does not load",
        r"driver pods? (?:in|that|.*restart)|nvidia-driver-ctr|No devices were found|RmInit|Key was",
    ),
    (
        "the toolkit or the runtime",
        r"no runtime for|RuntimeClass|containerd|unsupported config version|unable to load config",
    ),
    ("the validator does not end", r"validator stays|driver-validation|CUDA"),
    ("a layout fails", r"mig\.config\.state|vgpu\.config\.state|MIG-INVALID"),
    ("GPUs are not advertised, or pods wait", r"Insufficient nvidia|allocatable|untolerated taint|node affinity"),
)
"""In the order of the page, with what a symptom of each says."""


def test_what_a_validation_waits_for(assert_table):
    known = read_readiness()
    needs = {name: f"the file `{file}`" for name, file in known.needed_files.items()}
    needs |= {name: ", ".join(f"`{pod}`" for pod in pods) for name, pods in known.needed_workloads.items()}
    rows = [f"| `{name}` | {needs.get(name, '')} | `{known.folder}/{file}` |" for name, file in known.files.items()]

    assert_table(FAILURE, "validations", ["| validation | needs | leaves |", "| --- | --- | --- |", *rows])


def test_what_is_seen_and_which_finding_it_is(assert_table):
    rows = []
    for step, words in STEPS:
        found = sorted({rule.code: rule for rule in rule_book() if re.search(words, rule.symptom or "")}.items())
        links = ", ".join(f"[{code}](rules.md#{code.lower()}-{rule.name}) {rule.name}" for code, rule in found)
        assert links, step
        rows.append(f"| {step} | {links} |")

    assert_table(FAILURE, "seen", ["| what you see | findings |", "| --- | --- |", *rows])


def test_series_of_the_page_are_exported():
    known = store.read_yaml("exporter_lists.yaml")["series"]
    named = set(re.findall(r"\bDCGM_FI_[A-Z0-9_]+", METRICS.read_text("utf-8")))

    assert len(named) > 10
    assert named <= set(known)


@pytest.mark.parametrize("code", ["PSM759", "PSM279"])
def test_the_findings_of_the_page_are_about_metrics(code):
    rule = next(rule for rule in rule_book() if rule.code == code)

    assert re.search("metrics|series", f"{rule.symptom}{rule.what}")
