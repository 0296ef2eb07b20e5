"""The rules over privileges run where a project is checked, and nowhere else; what is not known is counted."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from poolsmith.guard.ledger.privilege_check import PRIVILEGE_RULES
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.interface.app import check_project, compare, generate

CODES = {rule.RULE.code for rule in PRIVILEGE_RULES}
OF_OTHERS = "what https://github.com/confidential-containers/operator at refs/tags/v0.7.0 brings"


def check(root, *clusters, jobs=1):
    return check_project(root, clusters=clusters, jobs=jobs, progress=lambda done, total: None)


def codes(outcome):
    return {item.code for item in outcome.diagnostics} & CODES


@pytest.mark.parametrize("work", [generate, compare])
def test_generate_leaves_privileges_alone(sample_project, work):
    outcome = work(sample_project).outcome

    assert codes(outcome) == set()
    assert "rules" not in outcome.checked
    assert outcome.not_evaluated == 0


def test_generate_does_not_even_load_the_rules(sample_project):
    script = f"""
import sys
from pathlib import Path
from poolsmith.interface.app import generate
generate(Path({str(sample_project)!r}))
sys.exit(sorted(name for name in sys.modules if name.startswith(("poolsmith.guard.ledger.privilege_check", "poolsmith.guard.ledger.rules"))) != [])
"""

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_without_policies_check_does_not_even_load_their_language(sample_project):
    script = f"""
import sys
from pathlib import Path
from poolsmith.interface.app import check_project
check_project(Path({str(sample_project)!r}), clusters=["edge"], progress=lambda done, total: None)
sys.exit(sorted(name for name in sys.modules if name.startswith(("poolsmith.kubernetes.cel", "cel_expr_python", "re2"))) != [])
"""

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_check_counts_the_rules_and_names_the_cluster(sample_project):
    outcome = check(sample_project, "edge")

    assert codes(outcome) == {"PSM402", "PSM404", "PSM405"}
    assert {item.subject for item in outcome.diagnostics if item.code in CODES} == {"edge"}
    assert outcome.checked["rules"] == len(RULES) + len(PRIVILEGE_RULES) + len(SETUP_RULES)


@pytest.mark.sample
def test_what_a_prediction_leaves_unknown_is_not_evaluated(sample_project, monkeypatch):
    monkeypatch.setattr("poolsmith.fleet.operands.cc_runtime.brought_objects", lambda *_: None)
    outcome = check(sample_project, "kata-a10")
    (skipped,) = [item for item in outcome.skipped if item.what.startswith("operand expansion")]
    (note,) = [item for item in outcome.diagnostics if item.name == "no-grants"]
    reviewed_by_nobody = int(re.search(r"[\d,]+", note.message)[0].replace(",", ""))

    assert outcome.not_evaluated == 1 + reviewed_by_nobody
    assert skipped.what == "operand expansion of cluster kata-a10"
    assert skipped.reason.startswith(f"not known: {OF_OTHERS}")


def test_a_stack_without_an_operator_has_nothing_to_tell(sample_project):
    assert codes(check(sample_project, "manual")) == set()


def test_a_cluster_whose_profiles_have_errors_is_not_judged(sample_project):
    path = sample_project / "profiles/edge/cluster.yaml"
    path.write_text(path.read_text().replace("release: v26", "release: v62"))

    assert codes(check(sample_project, "edge")) == set()


def test_two_clusters_on_one_base_have_findings_of_their_own(write_files, sample_project):
    cluster = (sample_project / "profiles/edge/cluster.yaml").read_text()
    files = {"profiles/_bases/h100.yaml": BASE}
    for name in ("one", "two"):
        files[f"profiles/{name}/cluster.yaml"] = cluster.replace("name: edge", f"name: {name}")
        files[f"profiles/{name}/gpu.yaml"] = POOL
    found = [item for item in check(write_files(files)).diagnostics if item.code == "PSM401"]

    assert {str(item.primary.span) for item in found} == {"profiles/_bases/h100.yaml:8:9"}
    assert len({item.fingerprint for item in found}) == len(found) == 2


BASE = """\
apiVersion: poolsmith/v1
kind: NodePoolBase
metadata:
  name: h100
spec:
  os: {id: ubuntu, version: "24.04"}
  runtime: {name: containerd, version: "2.1"}
  gpu: {product: NVIDIA-H100-80GB-HBM3, count: 8}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {name: gpu}
spec: {extends: [h100], driver: {source: container}}
"""
