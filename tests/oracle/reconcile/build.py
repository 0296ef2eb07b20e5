"""Build what answers as the operator of a release does: its own ClusterPolicy controller against a server in memory.

    python tests/oracle/reconcile/build.py REPOSITORY FOLDER [TAG...]

`REPOSITORY` is a git directory of NVIDIA/gpu-operator. `FOLDER` gets for each tag `<tag>.oracle`, the program,
`<tag>/assets`, what it creates things from, and `<tag>/controllers/state_manager.go`, from which it reads its states.
A checkout has its dependencies in it: nothing is downloaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_SHIM = """package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func oracleMetrics() *OperatorMetrics {{ return {metrics} }}

func oracleLabel(ctx context.Context, server client.Client) error {{
	{label}
}}
"""
_LABEL = """_, err := (&nodeLabelingController{client: server}).labelGPUNodes(ctx)
	return err"""
_METRICS = ("InitOperatorMetrics()", "initOperatorMetrics()", "initOperatorMetrics(&clusterPolicyCtrl)")
_SYSTEM = "/host-etc/os-release"
_DEFINED = ("func InitOperatorMetrics()", "func initOperatorMetrics()", "func initOperatorMetrics(n ")


def main(repository: str, folder: str, *tags: str) -> None:
    for tag in tags:
        build(repository, Path(folder), tag)
        print(tag, flush=True)


def build(repository: str, folder: Path, tag: str) -> None:
    checkout = folder / tag
    checkout.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "--git-dir", repository, "archive", tag], capture_output=True, check=True)
    subprocess.run(["tar", "x", "-C", checkout], input=archive.stdout, check=True)
    controllers = checkout / "controllers"
    for own in controllers.glob("*_test.go"):
        own.unlink()
    _on_ubuntu(controllers / "object_controls.go", folder / "os-release")
    (controllers / "oracle_test.go").write_text((_HERE / "oracle.go").read_text())
    (controllers / "oracle_shim_test.go").write_text(_shim(controllers))
    given = {**os.environ, "GOFLAGS": "-mod=vendor -buildvcs=false -trimpath", "GOTOOLCHAIN": "local"}
    program = folder.resolve() / f"{tag}.oracle"
    subprocess.run(
        ["go", "test", "-vet=off", "-c", "-o", program, "./controllers"], cwd=checkout, env=given, check=True
    )


def _on_ubuntu(source: Path, system: Path) -> None:
    """Some tags read the system of the operator's own node."""
    system.write_text('ID=ubuntu\nVERSION_ID="22.04"\n')
    source.write_text(source.read_text().replace(_SYSTEM, str(system.resolve())))


def _shim(controllers: Path) -> str:
    text = (controllers / "operator_metrics.go").read_text()
    metrics = next(call for call, defined in zip(_METRICS, _DEFINED, strict=True) if defined in text)
    label = _LABEL if (controllers / "nodelabeling_controller.go").exists() else "return nil"
    return _SHIM.format(metrics=metrics, label=label)


if __name__ == "__main__":
    main(*sys.argv[1:])
