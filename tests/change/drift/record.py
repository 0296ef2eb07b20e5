"""Ask Argo CD's own code what it would report as different, of objects as a real API server stores them.

    PYTHONPATH=generator:tests python tests/change/drift/record.py ORACLE [sample]

With `sample`, only the sample clusters are asked for anew. ORACLE is the program of tests/oracle/argocd. Needs etcd and kube-apiserver (`make tools`). Writes
tests/recorded/data/argocd_diffs.jsonl.xz: for each probe of each release, and for what each sample cluster is delivered,
the fields that each diff reports, or `refused`. The status is left out: Argo CD ignores it since 3.0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import sleep
from typing import Any

from control_plane.delivered import ENGINES, MONITORING, coco_of, definitions, release_of
from poolsmith.gpu.catalog.projections import projected_releases
from support.api_client import ApiClient
from support.control_plane import started
from support.delivered_clusters import delivered, digest
from support.drift_probes import changes, defined_kinds, probes
from support.recordings import DATA, ENDING, packed, recording

ROOT = Path(__file__).resolve().parents[3]
_MANAGER = "argocd-controller"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_NAMESPACE = "gpu-operator"


def main() -> None:
    oracle = sys.argv[1]
    releases = projected_releases()
    found: dict[str, Any] = {}
    if sys.argv[2:] == ["sample"]:
        releases = ()
        found |= {key: value for key, value in recording("argocd_diffs").items() if not key.startswith("sample/")}
    with tempfile.TemporaryDirectory() as text, started(Path(text)) as plane:
        for release in releases:
            server = plane.scenario()
            asked = _Asked(server.client())
            asked.define(definitions(release, "").objects)
            for kind in defined_kinds(release):
                for name, body in probes(release, kind):
                    asked.add(f"{release}/{kind}/{name}", body)
            found |= asked.answers(oracle, Path(text))
            server.end()
            print(release, len(found), flush=True)
        for folder in sorted((ROOT / "output/clusters").iterdir()):
            server = plane.scenario()
            asked = _Asked(server.client())
            asked.define((*definitions(release_of(folder), coco_of(folder)).objects, *MONITORING.objects))
            objects, _ = delivered(ROOT, folder.name)
            bodies = [item.body for item in objects]
            asked.namespaces({*ENGINES, *(item["metadata"].get("namespace") or _NAMESPACE for item in bodies)})
            for body in bodies:
                asked.add(digest(body), _tracked(body))
            answers = asked.answers(oracle, Path(text))
            told = {key: value for key, value in answers.items() if any(value.values())}
            found[f"sample/{folder.name}"] = {"asked": sorted(answers), "told": told}
            server.end()
            print(folder.name, len(answers), told, flush=True)
    (DATA / f"argocd_diffs{ENDING}").write_bytes(packed(found))


def _tracked(body: dict[str, Any]) -> dict[str, Any]:
    """With the annotation that Argo CD gives to all that it applies; without a field of its own nothing is managed."""
    metadata = body["metadata"]
    annotations = {**(metadata.get("annotations") or {}), "argocd.argoproj.io/tracking-id": "unit"}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


class _Asked:
    """Objects that one server took or refused, and questions about them."""

    def __init__(self, client: ApiClient) -> None:
        self.client = client
        self.questions: list[dict[str, Any]] = []
        self.refused: dict[str, list[str]] = {}
        self.keys: list[str] = []

    def define(self, objects: Any) -> None:
        for item in objects:
            self.client.apply(item)

    def namespaces(self, names: set[str]) -> None:
        for name in sorted(names):
            self.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def add(self, key: str, body: dict[str, Any]) -> None:
        self.keys.append(key)
        api_version, kind, metadata = body["apiVersion"], body["kind"], body["metadata"]
        answer = self.client.apply(body, manager=_MANAGER, force=True)
        if answer.taken:
            again = self.client.apply(body, manager=_MANAGER, force=True, dry_run=True)
            live = self.client.get(api_version, kind, metadata["name"], metadata.get("namespace")).body
            self._ask(key, "structured-merge", body, live)
            self._ask(key, "server-side", body, live, again.body)
        else:
            self.refused.setdefault(key, []).extend(("structured-merge", "server-side"))
        if kind != "Namespace":
            self.client.delete(api_version, kind, metadata["name"], metadata.get("namespace"))
        self._legacy(key, body)

    def _legacy(self, key: str, body: dict[str, Any]) -> None:
        """As client-side apply leaves it: created, with what was applied in an annotation."""
        metadata = body["metadata"]
        annotations = {**(metadata.get("annotations") or {}), _LAST_APPLIED: json.dumps(body)}
        given = {**body, "metadata": {**metadata, "annotations": annotations}}
        if body["kind"] == "Namespace":
            live = self.client.get("v1", "Namespace", metadata["name"]).body
            live["metadata"].setdefault("annotations", {})[_LAST_APPLIED] = json.dumps(body)
            self._ask(key, "legacy", body, live)
            return
        answer = self.client.create(given)
        if answer.taken:
            self._ask(key, "legacy", body, answer.body)
            self.client.delete(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))
        else:
            self.refused.setdefault(key, []).append("legacy")

    def _ask(self, key: str, diff: str, config: Any, live: Any, predicted: Any = None) -> None:
        question = {"id": f"{key}|{diff}", "diff": diff, "manager": _MANAGER, "config": config, "live": live}
        self.questions.append(question | ({"predicted": predicted} if predicted else {}))

    def answers(self, oracle: str, folder: Path) -> dict[str, dict[str, Any]]:
        """By key: what each diff reports."""
        sleep(3)  # the server publishes what was defined a moment later
        openapi = folder / "openapi.json"
        openapi.write_text(json.dumps(self.client.request("GET", "/openapi/v2").body))
        lines = "".join(f"{json.dumps(question)}\n" for question in self.questions)
        run = subprocess.run([oracle, str(openapi)], input=lines, capture_output=True, text=True, check=True)
        found: dict[str, dict[str, Any]] = {key: {} for key in self.keys}
        for line in run.stdout.splitlines():
            answer = json.loads(line)
            key, _, diff = answer["id"].rpartition("|")
            if answer.get("error"):
                found[key][diff] = answer["error"]
            elif answer["modified"]:
                told = {pointer for _, pointer in changes(answer["predicted"], answer["live"])}
                if rest := sorted(pointer for pointer in told if not pointer.startswith("/status")):
                    found[key][diff] = rest
        for key, diffs in self.refused.items():
            found[key] |= dict.fromkeys(diffs, "refused")
        return found


if __name__ == "__main__":
    main()
