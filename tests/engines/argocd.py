"""The parts of the real Argo CD on a scenario's API server, which is the cluster that it delivers to, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from engines.programs import define, program
from support.api_client import ApiClient
from support.control_plane import LOOPBACK, Scenario, free_port

NAMESPACE = "argocd"
_PART_OF = {"app.kubernetes.io/part-of": "argocd"}
_MAPS = (
    "argocd-cm",
    "argocd-rbac-cm",
    "argocd-cmd-params-cm",
    "argocd-tls-certs-cm",
    "argocd-ssh-known-hosts-cm",
    "argocd-gpg-keys-cm",
)
_SECONDS_BETWEEN_LOOKS = 10


def start(server: Scenario, health: Path | None, beside: str) -> None:
    """Definitions, configuration, and the programs; `health` is the generated patch of Argo CD's configuration, `beside`
    a further namespace with Applications."""
    binary, redis = program("argocd"), program("redis-server")
    client = server.client()
    define(client, "argoproj.io")
    _configure(client, health)
    folder = server.folder / "argocd"
    for name in ("tls", "ssh", "gpg", "tmp", "home"):
        (folder / name).mkdir(parents=True)
    (folder / "ssh/ssh_known_hosts").touch()
    environment = _environment(server, folder)
    ports = {name: free_port() for name in ("redis", "repo", *(f"free-{number}" for number in range(6)))}
    server.run(
        [redis, "--port", str(ports["redis"]), "--bind", LOOPBACK, "--save", "", "--dir", str(folder)], "redis-server"
    )
    own = [f"--redis={LOOPBACK}:{ports['redis']}"]
    repo = f"{LOOPBACK}:{ports['repo']}"
    parts = {
        "argocd-repo-server": [
            *own,
            *(f"--address={LOOPBACK}", f"--port={ports['repo']}", f"--metrics-address={LOOPBACK}"),
            f"--metrics-port={ports['free-0']}",
        ],
        "argocd-application-controller": [
            *own,
            *(f"--repo-server={repo}", f"--metrics-port={ports['free-1']}"),
            *(f"--app-resync={_SECONDS_BETWEEN_LOOKS}", "--app-resync-jitter=0", f"--application-namespaces={beside}"),
        ],
        "argocd-applicationset-controller": [
            *(f"--argocd-repo-server={repo}", f"--metrics-addr={LOOPBACK}:{ports['free-2']}"),
            *(f"--probe-addr={LOOPBACK}:{ports['free-3']}", f"--webhook-addr={LOOPBACK}:{ports['free-4']}"),
        ],
    }
    for name, flags in parts.items():
        server.run([binary, *flags], name, {**environment, "ARGOCD_BINARY_NAME": name})


def _environment(server: Scenario, folder: Path) -> dict[str, str]:
    config = json.loads(server.kubeconfig().read_text())
    config["contexts"][0]["context"]["namespace"] = NAMESPACE
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return {
        "KUBECONFIG": str(path),
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_TLS_DATA_PATH": str(folder / "tls"),
        "ARGOCD_SSH_DATA_PATH": str(folder / "ssh"),
        "ARGOCD_GNUPGHOME": str(folder / "gpg"),
        "TMPDIR": str(folder / "tmp"),
        "HOME": str(folder / "home"),
        "ARGOCD_RECONCILIATION_TIMEOUT": f"{_SECONDS_BETWEEN_LOOKS}s",
    }


def _configure(client: ApiClient, health: Path | None) -> None:
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    scripts = yaml.safe_load(health.read_text("utf-8"))["data"] if health else {}
    for name in _MAPS:
        data = {"data": scripts} if name == "argocd-cm" else {}
        _put(client, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(name), **data})
    key = {"server.secretkey": "bm90LWEtc2VjcmV0"}
    _put(client, {"apiVersion": "v1", "kind": "Secret", "metadata": _metadata("argocd-secret"), "data": key})
    project: dict[str, Any] = {
        "sourceRepos": ["*"],
        "sourceNamespaces": ["*"],
        "destinations": [{"namespace": "*", "server": "*"}],
        "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
    }
    metadata = {"name": "default", "namespace": NAMESPACE}
    _put(client, {"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": metadata, "spec": project})


def _metadata(name: str) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "labels": _PART_OF}


def _put(client: ApiClient, item: dict[str, Any]) -> None:
    assert (answer := client.apply(item)).taken, answer.message
