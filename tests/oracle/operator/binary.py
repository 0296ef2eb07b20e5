"""The operator's own binary of a release, run against an API server on loopback.

`POOLSMITH_OPERATOR_BINARIES` names a folder with one folder for each release: `<tag>/gpu-operator` is the program of
the release's image, `<tag>/assets` and `<tag>/manifests` are what the image has in /opt/gpu-operator. The program reads
fixed paths, so it runs in a root of its own with nothing else in it.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

VARIABLE = "POOLSMITH_OPERATOR_BINARIES"
NAMESPACE = "gpu-operator"
_LIBRARIES = ("lib", "lib64", "usr")
"""What a program that is not static needs of the machine."""
_KINDS = {
    "clusterpolicy-controller": "ClusterPolicy",
    "nvidia-driver-controller": "NVIDIADriver",
    "nvidiadriver": "NVIDIADriver",
    "gpucluster": "GPUCluster",
    "gpu-cluster-controller": "GPUCluster",
}
"""Whose resources a controller of the operator reconciles."""
_WORKING = "Starting workers"
_RUNTIME = "Using container runtime: "


def binaries() -> Path | None:
    """The folder that the environment names; None without one."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder and Path(folder).is_dir() else None


def program(tag: str) -> Path | None:
    """The folder of a release, if its program is in it."""
    folder = binaries()
    found = folder / tag if folder else None
    return found if found and (found / "gpu-operator").is_file() else None


def make_root(folder: Path, root: Path) -> None:
    """The file system that the program of `folder` sees."""
    shutil.copytree(folder / "assets", root / "opt/gpu-operator")
    shutil.copytree(folder / "manifests", root / "opt/gpu-operator/manifests")
    for name in ("host-etc", "tmp", "dev", *_LIBRARIES):
        (root / name).mkdir(parents=True)
    program_in_root = root / "gpu-operator"
    try:
        os.link(folder / "gpu-operator", program_in_root)
    except OSError:
        shutil.copy2(folder / "gpu-operator", program_in_root)


def command(root: Path) -> list[str]:
    """The arguments that start it in its root, in a user and mount namespace of its own; it listens nowhere."""
    binds = " && ".join(
        f"mount --rbind /{name} {root}/{name}" for name in (*_LIBRARIES, "dev") if Path(f"/{name}").is_dir()
    )
    words = ("/gpu-operator", "--metrics-bind-address=0", "--health-probe-bind-address=0")
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", f'{binds} && exec chroot {root} "$@"', "sh", *words]


def write_inputs(root: Path, kubeconfig: dict, authority: str, os_release: str) -> None:
    """The files that the program is given: its kubeconfig, the server's certificate, and the node's os-release."""
    (root / "authority.crt").write_bytes(Path(authority).read_bytes())
    (root / "kubeconfig").write_text(json.dumps(kubeconfig), "utf-8")
    (root / "host-etc/os-release").write_text(os_release, "utf-8")


def kubeconfig(url: str, token: str) -> dict:
    """A kubeconfig with paths of the root."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": "/authority.crt"}}],
        "users": [{"name": "operator", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "operator"}}],
    }


def environment(images: dict[str, str]) -> dict[str, str]:
    """The variables that the chart gives to the operator, with those that name images."""
    return {
        "KUBECONFIG": "/kubeconfig",
        "OPERATOR_NAMESPACE": NAMESPACE,
        "WATCH_NAMESPACE": "",
        **images,
    }


class Log:
    """What the program says: lines of JSON, and plain lines of its libraries."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(self) -> list[dict]:
        found = []
        for line in self._path.read_text("utf-8", "replace").splitlines():
            if line.startswith("{"):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue
        return found

    def works(self) -> bool:
        """Whether its controllers have begun: until then nothing changes, and nothing is settled."""
        return any(line.get("msg") == _WORKING for line in self.lines())

    def runtime(self) -> str:
        """The container runtime that the ClusterPolicy controller found last; empty if it never looked."""
        words = [line["msg"] for line in self.lines() if line.get("msg", "").startswith(_RUNTIME)]
        return words[-1].removeprefix(_RUNTIME) if words else ""

    def errors(self) -> tuple[str, ...]:
        """The last error of each custom resource, as `<Kind>/<name>: <text>`."""
        found = {}
        for line in self.lines():
            kind = _KINDS.get(line.get("controller", ""))
            if kind and line.get("msg") == "Reconciler error":
                found[f"{kind}/{line['name']}"] = line["error"]
        return tuple(f"{subject}: {text}" for subject, text in sorted(found.items()))

    def tail(self) -> str:
        return self._path.read_text("utf-8", "replace")[-4000:]
