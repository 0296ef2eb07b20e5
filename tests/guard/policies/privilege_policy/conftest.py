"""The sample fleet's predicted pods, and the policy that holds them, evaluated as the API server would."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from guard.policies.privilege_policy import pod_mutations
from poolsmith.core.sources.pointer import copied
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.guard.ledger.claims.claim_table import claim_table
from poolsmith.guard.ledger.claims.pod_claims import claims_of  # noqa: F401 - tests take it from here
from poolsmith.guard.policies.privilege_policy.validating_policy import _policy_document as privilege_policy
from poolsmith.guard.policies.privilege_policy.validating_policy import privilege_binding
from poolsmith.kubernetes.admission.evaluate import Surroundings, evaluate
from poolsmith.kubernetes.admission.pods import as_admitted_pod
from poolsmith.kubernetes.admission.policy_expressions import compile_policy
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.request import Subject, User, make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.cel import engine_problem
from poolsmith.kubernetes.objects_file import placed_objects
from poolsmith.kubernetes.server.normalise import as_stored  # noqa: F401 - tests take it from here
from support.circles import DEEP

LOWEST = "1.30"
"""What the policy is compiled for."""
KUBERNETES = "1.34"
"""What reads the pods: it knows more fields than the lowest does."""
CLUSTERS = Path(__file__).resolve().parents[4] / "output/clusters"
EACH = 4 if DEEP else 127
"""Every how many-th mutation of a pod is tried; pods begin at different ones. The engine keeps memory for each."""
EACH_GRANT = 1 if DEEP else 7
"""Every how many-th privilege of a driver is taken away."""
SOMEBODY = User(name="system:serviceaccount:kube-system:daemon-set-controller", groups=("system:authenticated",))


class Judge:
    """One policy with its binding."""

    def __init__(self, table, actions=("Deny", "Audit")):
        self.documents = (privilege_policy(table), privilege_binding(actions))
        objects = placed_objects("privilege-grants.yaml", emit_all(self.documents))
        policies, problems = read_policies(objects, LOWEST)
        assert not problems
        self.compiled = compile_policy(policies.policies[0], LOWEST)
        self.resources = Resources(KUBERNETES)
        self.around = Surroundings(policies, self.resources)

    def evaluation(self, pod, *, old=None, operation="CREATE", subresource=""):
        request = make_request(
            pod,
            self.resources,
            old=old,
            operation=operation,
            subresource=subresource,
            user=SOMEBODY,
            namespaces=lambda name: {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        )
        return evaluate(self.compiled, Subject(request), self.around)

    def verdict(self, pod, **how):
        """`allow`, `deny`, `error`, `notEvaluated`; `skipped` where the policy does not match."""
        results = self.evaluation(pod, **how).results
        return str(results[0].verdict) if results else "skipped"

    def message(self, pod, **how):
        """Of the refusal; empty where there is none."""
        results = self.evaluation(pod, **how).results
        return results[0].message if results else ""


@dataclass(frozen=True)
class Predicted:
    """What is predicted for one cluster."""

    name: str
    objects: tuple

    @cached_property
    def table(self):
        return claim_table(self.objects, lambda *_: True)

    @cached_property
    def judge(self):
        return Judge(self.table)

    @cached_property
    def pods(self):
        """By Kind/name of the workload."""
        classes = [item for item in self.objects if item["kind"] == "RuntimeClass"]
        made = {f"{item['kind']}/{item['metadata']['name']}": as_admitted_pod(item, classes) for item in self.objects}
        return {name: pod for name, pod in made.items() if pod is not None}


def predicted(name):
    text = (CLUSTERS / name / "expected/workloads.yaml").read_text()
    return Predicted(name, tuple(read_documents(text, [])))


@pytest.fixture
def helpers():
    """This module."""
    return sys.modules[__name__]


@pytest.fixture(autouse=True)
def _engine():
    if (problem := engine_problem()) is not None:
        pytest.skip(problem)


FLEET = tuple(sorted(path.parts[-3] for path in CLUSTERS.glob("*/expected/workloads.yaml")))
_known = {}


@pytest.fixture(params=FLEET)
def cluster(request):
    """Each cluster of the sample fleet."""
    return _cluster(request.param)


@pytest.fixture
def prod():
    return _cluster("prod-eu")


def _cluster(name):
    if name not in _known:
        _known[name] = predicted(name)
    return _known[name]


@pytest.fixture
def driver(prod):
    """A pod of a driver, which may do nearly everything."""
    return copied(next(pod for name, pod in prod.pods.items() if "gpu-driver" in name))


@pytest.fixture
def plain():
    """A pod of somebody else that wants nothing."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "own", "namespace": "gpu-operator"},
        "spec": {"serviceAccountName": "own", "containers": [{**copied(pod_mutations.EVIL), "name": "main"}]},
    }
    return as_admitted_pod(pod)
