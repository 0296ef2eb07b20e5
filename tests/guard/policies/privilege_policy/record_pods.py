"""Ask a real API server about the pods that real controllers make of what Helm renders.

    POOLSMITH_CHARTS=... PYTHONPATH=generator:tests python tests/guard/policies/privilege_policy/record_pods.py [EVERY]

Needs helm, etcd, kube-apiserver and kube-controller-manager (`make tools`). Under the policy that follows from the
prediction alone, with Deny: which pods are made, and how many of those with one privilege more are refused. Every how
many-th change is asked for, 5 by default. Writes tests/recorded/data/chart_pods.jsonl.xz.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from control_plane.guarded import Guarded, bare, is_refused
from control_plane.released_chart import released, rendered
from guard.policies.privilege_policy.chart_pods import CASES, RELEASES, table_of
from guard.policies.privilege_policy.record_verdicts import expressions_digest
from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.guard.policies.privilege_policy.validating_policy import _policy_document as privilege_policy
from poolsmith.guard.policies.privilege_policy.validating_policy import privilege_binding
from support.control_plane import KUBERNETES, ControlPlane, started
from support.one_privilege_more import changes, names
from support.recordings import DATA, ENDING, packed

ROOT = Path(__file__).resolve().parents[4]


def main() -> None:
    every = int((sys.argv[1:] or ["5"])[0])
    found = {}
    with tempfile.TemporaryDirectory() as text, started(Path(text)) as plane:
        for release in RELEASES:
            chart = released(Path(os.environ["POOLSMITH_CHARTS"]), release, Path(text) / "charts")
            for case, values in {**CASES, **_committed(release)}.items():
                found[f"{release}/{case}"] = _case(plane, chart, values, every)
                told = {
                    key: value for key, value in found[f"{release}/{case}"].items() if key not in ("pods", "values")
                }
                print(release, case, told, flush=True)
    (DATA / f"chart_pods{ENDING}").write_bytes(packed(found))


def _committed(release: str) -> dict[str, dict]:
    """The values of sample clusters of that release."""
    found = {}
    for path in sorted((ROOT / "output/clusters").glob("*/platform/values/gpu-operator.yaml")):
        name = path.parts[-4]
        if f"release: {release}\n" in (ROOT / "profiles" / name / "cluster.yaml").read_text("utf-8"):
            found[f"the sample's {name}"] = yaml.safe_load(path.read_text("utf-8"))
    return found


def _case(plane: ControlPlane, chart: Path, values: dict, every: int) -> dict:
    release = chart.parent.name
    policy = privilege_policy(table_of(release, json.dumps(values))), privilege_binding(("Deny", "Audit"))
    (chart.parent / "values.yaml").write_text(yaml.safe_dump(values), "utf-8")
    workloads = [item for item in rendered(chart, chart.parent / "values.yaml") if pod_template_of(item) is not None]
    server = plane.scenario()
    try:
        cluster = Guarded(server, policy)
        made, refused = cluster.run(workloads)
        assert not refused, refused
        counts: Counter[str] = Counter()
        for start, (_, pod) in enumerate(sorted(made.items())):
            for number, change in enumerate(changes(pod)):
                if (number + start) % every == 0:
                    answer = cluster.say(change.pod, before=pod if change.ephemeral else None)
                    assert is_refused(answer), (change.place, answer)
                    assert names(answer.message, change), (change.place, answer)
                    counts[change.kind] += 1
    finally:
        server.end()
    return {
        "kubernetes": KUBERNETES,
        "expressions": expressions_digest(policy),
        "values": values,
        "pods": {name: _undrawn(bare(pod)) for name, pod in sorted(made.items())},
        "refused": dict(sorted(counts.items())),
    }


def _undrawn(pod: dict) -> dict:
    """Without names that were drawn, so that a recording depends on nothing else: of token volumes and of nodes."""
    text = json.dumps(pod)
    for drawn in set(re.findall(r"kube-api-access-[a-z0-9]{5}", text)):
        text = text.replace(drawn, "kube-api-access-zzzzz")
    found = json.loads(text)
    for key in [key for key in found["metadata"].get("labels", {}) if key.endswith(("-hash", "controller-uid"))]:
        found["metadata"]["labels"][key] = "zzzzz"
    return found


if __name__ == "__main__":
    main()
