"""The helm-controller of k3s and RKE2. It starts jobs, which nobody runs here: that one is started is what is seen."""

from __future__ import annotations

from engines.programs import K3S, define, program
from support.control_plane import Scenario

NAMESPACE = "kube-system"


def start(server: Scenario) -> None:
    """Definitions and the controller; it ends with the scenario."""
    path = program(K3S)
    define(server.client(), "helm.cattle.io")
    server.run([path, "--job-resources={}"], K3S, {"KUBECONFIG": str(server.kubeconfig()), "NODE_NAME": "stand-in"})
