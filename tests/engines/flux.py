"""The three controllers of the real Flux on a scenario's API server."""

from __future__ import annotations

from engines.programs import FLUX, define, program
from support.control_plane import LOOPBACK, Scenario, free_port, listens

NAMESPACE = "flux-system"
_QUIET = (
    "--events-addr=",
    f"--metrics-addr={LOOPBACK}:0",
    f"--health-addr={LOOPBACK}:0",
    "--enable-leader-election=false",
)
_SOON = "--requeue-dependency=2s"


def start(server: Scenario) -> None:
    """Definitions, the namespace, and the controllers; they end with the scenario."""
    programs = {name: program(name) for name in FLUX}
    client = server.client()
    define(client, "toolkit.fluxcd.io")
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    port = free_port()
    storage = f"{LOOPBACK}:{port}"
    for name, path in programs.items():
        folder = server.folder / name
        folder.mkdir()
        flags = (
            (f"--storage-path={folder}", f"--storage-addr={storage}", f"--storage-adv-addr={storage}")
            if name == "source-controller"
            else (_SOON,)
        )
        environment = {
            "KUBECONFIG": str(server.kubeconfig()),
            "RUNTIME_NAMESPACE": NAMESPACE,
            "TMPDIR": str(folder),
            "HOME": str(folder),
        }
        process = server.run([path, *_QUIET, *flags], name, environment)
        if name == "source-controller":
            process.await_(lambda: listens(port), name)
