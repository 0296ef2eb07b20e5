"""The policy of the grants, under Deny, in a real API server: it takes what belongs to the cluster, and nothing more.

Pods are those that real controllers make of what Helm renders and of what the operator is predicted to create.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from control_plane import released_chart
from control_plane.delivered import coco_of, documents, release_of
from control_plane.granted_clusters import granted_clusters
from control_plane.guarded import Guarded, is_refused
from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.guard.ledger.privilege import PRIVILEGE_NAMES
from poolsmith.kubernetes.admission.pods import as_admitted_pod
from property.unlike_pools import fleets
from support.circles import DEEP, share
from support.one_privilege_more import NO_TOKEN, changes, names

pytestmark = pytest.mark.real("an API server, asked many times")

ROOT = Path(__file__).resolve().parents[2]
FILE = "platform/admission/privilege-grants.yaml"
HELD = [path.parents[2] for path in sorted((ROOT / "output/clusters").glob(f"*/{FILE}"))]
EACH = 1 if DEEP else 17
"""Every how many-th change of a pod is tried; pods begin at different ones."""
OF_THE_API = ("rbac",)
"""Privileges that no pod asks for."""
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [{"level": "Metadata", "resources": [{"group": "", "resources": ["pods"]}]}],
}


def workloads(folder, chart_objects=()):
    """Helm's objects, and of the predicted ones those that Helm does not render."""
    found = {}
    for item in (*chart_objects, *documents(folder / "expected/workloads.yaml")):
        if item["kind"] == "Pod" or pod_template_of(item) is not None:
            metadata = item["metadata"]
            found.setdefault((item["kind"], metadata.setdefault("namespace", "default"), metadata["name"]), item)
    return list(found.values())


@pytest.fixture
def chart_objects(checkouts, tmp_path):
    def render(folder):
        chart = released_chart.released(checkouts("POOLSMITH_CHARTS"), release_of(folder), tmp_path)
        return released_chart.rendered(chart, folder / "platform/values/gpu-operator.yaml")

    return render


@pytest.fixture
def guarded(control_plane):
    """A cluster that is held to its policy; it ends with the test."""
    servers = []

    def start(folder, *flags, **how):
        servers.append(control_plane.scenario(*flags))
        return Guarded(servers[-1], documents(folder / FILE), **how)

    yield start
    for server in servers:
        server.end()


def judged(cluster, pods, each=EACH):
    """What became of the pods with one privilege more, counted by kind; the sentences say what is wrong."""
    counts, wrong = Counter(), []
    for start, (name, pod) in enumerate(sorted(pods.items())):
        for number, change in enumerate(changes(pod)):
            if (number + start) % each:
                continue
            answer = cluster.say(change.pod, before=pod if change.ephemeral else None)
            counts[change.kind] += 1
            if not is_refused(answer):
                wrong.append(f"{name}: {change.place}: {change.kind} is not refused: {answer.message}")
            elif not names(answer.message, change):
                wrong.append(f"{name}: {change.place}: {change.gained} is not named: {answer.message}")
    return counts, wrong


@pytest.mark.parametrize("folder", share(HELD, 3, lambda folder: folder.name))
def test_predicted_pods_are_made_and_none_with_one_privilege_more(guarded, folder):
    cluster = guarded(folder)
    asked = workloads(folder)
    made, refused = cluster.run(asked)
    _, wrong = judged(cluster, made)

    assert refused == []
    assert len(made) == len(asked)
    assert wrong == []


@pytest.mark.tool("helm")
@pytest.mark.parametrize("folder", share(HELD, 3, lambda folder: folder.name))
def test_what_helm_renders_is_made_and_no_pod_of_it_with_one_privilege_more(guarded, chart_objects, folder):
    cluster = guarded(folder)
    rendered = chart_objects(folder)
    asked = workloads(folder, rendered)
    made, refused = cluster.run(asked)
    of_chart = {f"{item['kind']}/{item['metadata']['name']}" for item in rendered}
    _, wrong = judged(cluster, {name: pod for name, pod in made.items() if name in of_chart}, max(1, EACH // 4))

    assert refused == []
    assert len(made) == len(asked)
    assert wrong == []


def test_every_kind_of_privilege_is_tried_at_every_sort_of_container():
    """Over all clusters, whatever is left out in a run that is not deep."""
    tried = {
        (change.kind, change.place.split()[0].strip(","))
        for folder in HELD
        for item in workloads(folder)
        for change in changes(as_admitted_pod(item))
    }
    of_pods = [kind for kind in (*PRIVILEGE_NAMES, *NO_TOKEN) if kind not in OF_THE_API]

    assert {kind for kind, _ in tried} == set(of_pods)
    for kind in ("privileged", "allow-escalation", "capability", "run-as-root", "seccomp", "apparmor", "selinux"):
        assert {(kind, "init"), (kind, "main"), (kind, "ephemeral")} <= tried
    for kind in ("host-path", "run-as-root", "seccomp", "apparmor", "selinux", "sysctl", "volume", "annotation"):
        assert (kind, "pod") in tried


def test_warnings_and_the_audit_log_name_the_missing_grant(guarded, tmp_path):
    folder = next(path for path in HELD if path.name == "lab-t4")
    log, policy = tmp_path / "audit.log", tmp_path / "audit.yaml"
    policy.write_text(yaml.dump(AUDIT_POLICY))
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={log}", "--audit-log-mode=blocking-strict")
    cluster = guarded(folder, *flags, actions=("Warn", "Audit"))
    item = next(item for item in workloads(folder) if item["metadata"]["name"] == "nvidia-dcgm-exporter")
    pod = as_admitted_pod(item)
    cluster.prepare(pod["metadata"], pod["spec"])
    unwarned, unlogged = [], []
    asked = [change for change in changes(pod) if not change.ephemeral][:: 1 if DEEP else 5]
    for change in asked:
        answer = cluster.say(change.pod)
        assert answer.taken, answer.message
        if not any(names(text.replace('\\"', '"'), change) for text in answer.warnings):
            unwarned.append(f"{change.place}: {change.gained}: {answer.warnings}")
    written = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    notes = [item["annotations"] for item in written if item["verb"] == "create" and "annotations" in item]
    said = [note["poolsmith-privileges/ungranted"] for note in notes if "poolsmith-privileges/ungranted" in note]
    failures = [note for note in notes if "validation.policy.admission.k8s.io/validation_failure" in note]
    unlogged = [change.place for change in asked if not any(names(text, change) for text in said)]

    assert (unwarned, unlogged) == ([], [])
    assert len(said) >= len(asked)
    assert len(failures) >= len(asked)


@pytest.mark.tool("helm")
@pytest.mark.parametrize("release", share(fleets.RELEASES, 2))
def test_pods_of_random_clusters_are_taken_with_the_grants_that_poolsmith_writes(
    control_plane, checkouts, tmp_path, release
):
    """The pods as the API server gets them from controllers; Helm's own and the predicted ones."""
    chart = released_chart.released(checkouts("POOLSMITH_CHARTS"), release, tmp_path / "charts")
    server = control_plane.scenario()
    refused, admitted, unrefused = [], 0, []
    try:
        for folder in granted_clusters(tmp_path / "clusters", release):
            if not (folder / FILE).exists() or coco_of(folder):
                continue
            cluster = Guarded(server, documents(folder / FILE))
            namespace = cluster.namespaces[0]
            values = folder / "platform/values/gpu-operator.yaml"
            objects = released_chart.rendered(chart, values, namespace) if values.exists() else ()
            for number, item in enumerate(workloads(folder, objects)):
                pod = as_admitted_pod(item)
                if pod is None or pod["metadata"]["namespace"] not in cluster.namespaces:
                    continue
                cluster.prepare(pod["metadata"], pod["spec"])
                answer = cluster.say(pod)
                admitted += answer.taken
                if not answer.taken:
                    refused.append(f"{folder.parts[-4]} {item['kind']}/{item['metadata']['name']}: {answer.message}")
                more = [change for change in changes(pod) if not change.ephemeral]
                change = more[number * 37 % len(more)]
                if not is_refused(cluster.say(change.pod)):
                    unrefused.append(f"{item['metadata']['name']}: {change.place}: {change.kind}")
            cluster.withdraw()
    finally:
        server.end()

    assert (refused, unrefused) == ([], [])
    assert admitted > 20
