"""Programs of `tests/oracle` that answer line by line, kept running."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from poolsmith.fleet.operands.expansion import Node


class Program:
    """One question and one answer a line, both JSON."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        given = {**os.environ, **(environment or {})}
        self._run = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=given)

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        assert self._run.stdin is not None, "it is a pipe"
        assert self._run.stdout is not None, "it is a pipe"
        self._run.stdin.write(f"{json.dumps(question)}\n")
        self._run.stdin.flush()
        answer: dict[str, Any] = json.loads(self._run.stdout.readline())
        return answer


def chart_question(
    folder: Path, release: str, namespace: str, apis: list[str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """For `tests/oracle/charts`: what Helm makes of a chart that is installed by its own name."""
    named = {"id": "", "chart": str(folder), "release": folder.name, "namespace": namespace, "version": release}
    return {**named, "apis": apis, "values": values}


class OperatorProgram:
    """The controllers of a release (`tests/oracle/reconcile`)."""

    def __init__(self, folder: Path, release: str) -> None:
        self._assets = str(folder.resolve() / release / "assets")
        states = str(folder.resolve() / release / "controllers" / "state_manager.go")
        program = str(folder.resolve() / f"{release}.oracle")
        # A program of `go test` says things of its own on its standard output.
        shell = 'exec "$0" -test.run=TestOracle -test.timeout=0 3<&0 4>&1 >&2'
        self._program = Program(["sh", "-c", shell, program], {"ORACLE_STATES": states})

    def ask(
        self,
        resources: Iterable[Mapping[str, Any]],
        nodes: Iterable[Node],
        named: list[dict[str, Any]],
        chart: Iterable[Mapping[str, Any]],
        namespace: str,
    ) -> dict[str, Any]:
        """What they create for their resources, and the nodes and the namespace as they leave them. ConfigMaps and
        Secrets that are `named` are there before; `chart` is what Helm renders: the operator's own variables, and
        ConfigMaps."""
        chart, resources = [*chart], [*resources]
        before = [*_of_kind(named, "ConfigMap"), *_of_kind(chart, "ConfigMap")]
        names = {item["metadata"]["name"] for item in before}
        answer = self._program.ask(
            {
                "policies": _of_kind(resources, "ClusterPolicy"),
                "drivers": _of_kind(resources, "NVIDIADriver"),
                "clusters": _of_kind(resources, "GPUCluster"),
                "nodes": [_node(node) for node in nodes],
                "maps": list({item["metadata"]["name"]: item for item in before}.values()),
                "secrets": list({item["metadata"]["name"]: item for item in _of_kind(named, "Secret")}.values()),
                "env": _variables(chart),
                "namespace": namespace,
                "assets": self._assets,
                "monitors": True,
            }
        )
        made = [
            item
            for item in answer.get("objects", ())
            if item["kind"] != "ConfigMap" or item["metadata"].get("name") not in names
        ]
        return answer if "error" in answer else {"objects": made}


def _of_kind(objects: Iterable[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [item for item in objects if item["kind"] == kind]


def _node(node: Node) -> dict[str, Any]:
    status = {"nodeInfo": {"containerRuntimeVersion": node.runtime, "kernelVersion": "", "osImage": ""}}
    # Each real node has some annotation, and releases write more beside it.
    metadata = {"name": node.name, "labels": dict(node.labels), "annotations": {"is": "real"}}
    return {"metadata": metadata, "status": status}


def _variables(chart: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {
        item["name"]: str(item.get("value") or "")
        for workload in chart
        if workload["kind"] == "Deployment" and workload["metadata"]["name"] == "gpu-operator"
        for container in workload["spec"]["template"]["spec"]["containers"]
        for item in container.get("env") or ()
        if "value" in item
    }
