"""The recorded pods of the reference implementation get the verdicts that it gives them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.kubernetes.pod_security.engine import CHECKS, judge_pod
from support.recordings import recording

REPLACED = {replaced: check.id for check in CHECKS for replaced in check.replaces}
FOLDERS = [(level, minor) for level in ("baseline", "restricted") for minor in range(24, 38)]


@pytest.fixture(scope="module")
def index():
    """Level, version, check, verdict and pod of each case."""
    return [(*case, entry) for entry in recording("pod_security").values() for case in entry["judged"]]


@pytest.mark.parametrize(("level", "minor"), FOLDERS)
def test_every_pod_of_a_level_and_a_version(index, level, minor):
    cases = [case for case in index if case[:2] == (level, f"v1.{minor}")]
    assert cases

    for _, version, check, expected, pod in cases:
        found = judge_pod(pod["metadata"], pod["spec"], level, version)
        checks = {item.check for item in found}
        named = {check, REPLACED.get(check)}
        assert not found if expected == "pass" else checks & named, (check, pod)
        assert all(SourceFile("", "", pod).has(item.pointer) for item in found), (check, pod)


def test_there_are_as_many_as_were_recorded(index):
    assert Counter(expected for _, _, _, expected, _ in index) == {"pass": 273, "fail": 602}


@pytest.mark.skipif(not os.environ.get("POD_SECURITY_FIXTURES"), reason="POD_SECURITY_FIXTURES names no folder")
def test_a_whole_checkout_of_the_reference_if_there_is_one():
    """POD_SECURITY_FIXTURES: the folder test/testdata of k8s.io/pod-security-admission, which has all checks."""
    ids = {check.id.lower(): check.id for check in CHECKS}
    seen = Counter()
    for path in sorted(Path(os.environ["POD_SECURITY_FIXTURES"]).glob("*/*/*/*.yaml")):
        level, version, expected, name = path.parts[-4:]
        check = ids.get(name.removesuffix(".yaml").rstrip("0123456789"))
        (pod,) = read_documents(path.read_text("utf-8"))
        found = {item.check for item in judge_pod(pod["metadata"], pod["spec"], level, version)}
        named = {check, REPLACED.get(check)}
        assert not found if expected == "pass" else found & named, str(path)
        seen[check] += 1

    assert set(ids.values()) <= set(seen)
