"""Build what answers as the operator of a release does: its own controllers against a server in memory.

    python tests/oracle/reconcile/build.py REPOSITORY FOLDER [TAG...]

`REPOSITORY` is a git directory of NVIDIA/gpu-operator. `FOLDER` gets for each tag `<tag>.oracle`, the program,
`<tag>/assets` and `<tag>/manifests`, what it creates things from, and `<tag>/controllers/state_manager.go`, from which it reads its states.
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

	"github.com/go-logr/logr"
	{imports}
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nvidiav1alpha1 "github.com/NVIDIA/gpu-operator/api/nvidia/v1alpha1"
	"github.com/NVIDIA/gpu-operator/internal/conditions"
	"github.com/NVIDIA/gpu-operator/internal/state"
)

var _ = logr.Discard

var oracleKinds = []func(*runtime.Scheme) error{{{kinds}}}

func oracleMetrics() *OperatorMetrics {{ return {metrics} }}

func oracleManager(kind, namespace string, server client.Client) (state.Manager, error) {{
	return state.NewManager({manager})
}}

func oracleLabel(ctx context.Context, server client.Client, namespace string) error {{
	{label}
	return nil
}}

func oracleCluster() client.Object {{ return {cluster} }}

func oracleClusterController(manager state.Manager, seen conditions.Updater, server client.Client) reconcile.Reconciler {{
	return {controller}
}}
"""
# The first pass labels the nodes, the second assigns drivers to them.
_LABEL = """labelling := &NodeLabelingReconciler{Client: server, Scheme: server.Scheme(), Namespace: namespace, Log: logr.Discard()}
	for range 2 {
		if _, err := labelling.Reconcile(ctx, reconcile.Request{}); err != nil {
			return err
		}
	}"""
_CLUSTER = """&GPUClusterReconciler{
		Client: server, Scheme: server.Scheme(), ClusterInfo: cluster{}, stateManager: manager, conditionUpdater: seen,
	}"""
_CLAIMS = 'resourcev1 "k8s.io/api/resource/v1"'
_DRIVER_OBJECT = "&nvidiav1alpha1.NVIDIADriver{}"
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
    _at_home(checkout / "internal" / "state" / "manager.go", checkout)
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


def _at_home(source: Path, checkout: Path) -> None:
    """What the image has in /opt/gpu-operator is read from the checkout."""
    source.write_text(source.read_text().replace("/opt/gpu-operator/", f"{checkout.resolve()}/"))


def _shim(controllers: Path) -> str:
    text = (controllers / "operator_metrics.go").read_text()
    labels, clusters = ((controllers / f"{name}_controller.go").exists() for name in ("nodelabeling", "gpucluster"))
    state = (controllers.parent / "internal" / "state" / "manager.go").read_text()
    namespaced = "namespace, " if "func NewManager(crdKind string, namespace string" in state else ""
    return _SHIM.format(
        metrics=next(call for call, defined in zip(_METRICS, _DEFINED, strict=True) if defined in text),
        manager=f"kind, {namespaced}server, server.Scheme()",
        label=_LABEL if labels else "",
        imports=_CLAIMS if clusters else "",
        kinds="resourcev1.AddToScheme" if clusters else "",
        cluster="&nvidiav1alpha1.GPUCluster{}" if clusters else _DRIVER_OBJECT,
        controller=_CLUSTER if clusters else "nil",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
