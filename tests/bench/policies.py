"""Prints the seconds of processor time that 20 policies take on 1,000 predicted workloads, in one process.

The workloads are those of the sample fleet, renamed until there are enough; each is judged as the pod that it comes to.
Compiling counts as well; reading the policies and predicting the workloads does not.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.kubernetes.admission.pods import as_admitted_pod
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.request import make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission_run.process import Limits
from poolsmith.kubernetes.admission_run.run import run_policies
from poolsmith.kubernetes.objects_file import placed_objects
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.project import open_project

KUBERNETES = "1.34"
WORKLOADS, POLICIES = 1_000, 20
_EVERY_CONTAINER = (
    "object.spec.containers.all(c, {}) && (!has(object.spec.initContainers) || object.spec.initContainers.all(c, {}))"
)
_EXPRESSIONS = (
    "c.image.startsWith('nvcr.io/') || c.image.startsWith('registry.k8s.io/') || c.image.startsWith('ghcr.io/')",
    "c.image.matches('^[a-z0-9./_-]+(:[A-Za-z0-9._-]+)?(@sha256:[0-9a-f]{64})?$')",
    "!c.image.endsWith(':latest')",
    "!has(c.securityContext) || !has(c.securityContext.privileged) || c.securityContext.privileged in [true, false]",
    "!has(c.securityContext) || !has(c.securityContext.capabilities) || !has(c.securityContext.capabilities.drop)",
    "!has(c.env) || c.env.all(e, e.name != 'LD_PRELOAD')",
    "!has(c.volumeMounts) || c.volumeMounts.all(m, m.mountPath != '/etc/shadow')",
    "!has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort != 22)",
    "c.?securityContext.?procMount.orValue('Default') == 'Default'",
    "!has(c.resources.limits) || c.resources.limits.all(k, k != 'example.com/gpu')",
)
_WHOLE = (
    "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath) || v.hostPath.path != '/etc')",
    "!has(object.spec.hostPID) || object.metadata.namespace in ['gpu-operator', 'kube-system']",
    "has(object.spec.serviceAccountName) && object.spec.serviceAccountName != ''",
    "!has(object.spec.tolerations) || object.spec.tolerations.size() < 50",
    "object.metadata.?labels['forbidden'].orValue('') == ''",
    "request.operation != 'DELETE' || oldObject == null",
    "namespaceObject == null || namespaceObject.metadata.name == request.namespace",
    "!has(object.spec.nodeSelector) || object.spec.nodeSelector.all(k, k.size() < 200)",
    "variables.images.all(i, i.size() < 300)",
    "variables.images.filter(i, i.contains('evil')).size() == 0",
)


def expressions() -> list[str]:
    return [*(_EVERY_CONTAINER.format(text, text) for text in _EXPRESSIONS), *_WHOLE]


def policies() -> str:
    return "---\n".join(_policy(index, text) for index, text in enumerate(expressions()[:POLICIES]))


def _policy(index: int, text: str) -> str:
    return f"""\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: bench-{index}}}
spec:
  matchConstraints:
    resourceRules: [{{operations: [CREATE, UPDATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}}]
  matchConditions: [{{name: not-excluded, expression: "!object.metadata.name.startsWith('excluded-')"}}]
  variables:
    - {{name: images, expression: "object.spec.containers.map(c, c.image)"}}
  validations:
    - expression: >-
        {text}
      messageExpression: "'refused: ' + object.metadata.name"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: bench-{index}}}
spec: {{policyName: bench-{index}, validationActions: [Deny]}}
"""


def workloads(root: Path) -> list[dict]:
    project = open_project(root)
    predictions = Predictions(project.catalog)
    found = []
    for files in project.select(()):
        loaded = load_cluster(project.tree, files, project.bases)
        plan = resolve_cluster(loaded, project.catalog).plan
        if plan is not None:
            found.extend(predictions.of(plan, loaded).installation.objects)
    made = [item for item in found if as_admitted_pod(item) is not None]
    return [_renamed(made[index % len(made)], index) for index in range(WORKLOADS)]


def _renamed(body: dict, index: int) -> dict:
    return body | {"metadata": body["metadata"] | {"name": f"{body['metadata']['name']}-{index}"}}


def namespace(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "gpu"}}}


def main() -> None:
    bodies = workloads(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])
    placed, _ = read_policies(placed_objects("bench.yaml", policies()), KUBERNETES)
    resources = Resources(KUBERNETES)
    with rarely_collecting():
        start = time.perf_counter()
        requests = [make_request(as_admitted_pod(body), resources, namespaces=namespace) for body in bodies]
        between = time.perf_counter()
        run = run_policies(placed, requests, resources, imply_bindings=False, limits=Limits(whole=600))
        end = time.perf_counter()
    verdicts = [item for evaluation in run.evaluations for item in evaluation.results]
    if len(verdicts) != WORKLOADS * POLICIES or any(run.issues.values()) or run.stopped:
        sys.exit(
            f"{len(verdicts)} verdicts, {run.stopped}, {[item for found in run.issues.values() for item in found]}"
        )
    undecided = sum(1 for item in verdicts if item.verdict.value in ("error", "notEvaluated"))
    print(end - between, between - start, undecided)


if __name__ == "__main__":
    main()
