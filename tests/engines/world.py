"""A cluster with real engines that reads what is generated: from a folder of profiles to what stands in the API server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import yaml

from change.diff.projects import take_guards_off
from engines import argocd, charts, flux, k3s
from engines.kubelet import Kubelet
from engines.observed import Observed, Seen, observed, seen, states
from engines.served import Served
from poolsmith.interface.app.generate import generate
from support.api_client import ApiClient
from support.control_plane import ControlPlane
from support.git_repository import commit_all, git

RELEASES = ("v26.3.3", "v26.7.0")
HELD = "gpu"
"""What people create by hand: the Kustomization or Application that holds a cluster's delivery."""
DELIVERY = "output/clusters/{}/delivery"
_REPOSITORIES = ("gpu", "gpu-2")
_BRANCHES = ("main", "stable")
_FOLDERS = ("output", "out")
"""Where else a fleet may look: each place holds the same."""
_GIT = re.compile(r"https://git\.example\.com/([\w-]+\.git)")
_PUBLISHERS = re.compile(
    r"https://(?:helm\.ngc\.nvidia\.com/nvidia|nvidia\.github\.io/[\w/-]+|kubernetes-sigs\.github\.io/[\w/-]+)"
)
_MIRROR = "https://charts.example.com/mirror"
NAMESPACE = "gitops"
"""Another namespace for the objects of a delivery, beside the engines' own."""
_CONTROLLERS = ("namespace-controller", "garbage-collector-controller")
_MERGE = "application/merge-patch+json"
_SOURCES = ("GitRepository", "HelmRepository")
_SOURCE = "source.toolkit.fluxcd.io/v1"
_APPLICATION = ("argoproj.io/v1alpha1", "Application")
_SECONDS_OF_QUIET = {"flux": 12.0, "argocd": 20.0, "k3s": 12.0}
_SECONDS_AT_MOST = 150.0
_SECONDS_IN_PROGRESS = 30.0
"""So long nothing has to change where an engine says that it is at work."""
_AT_WORK = re.compile(
    r".*(Progressing|ArtifactFailed|DependencyNotReady|no word|Running|Missing)|OutOfSync, \w+, not synced$"
)
_ADMIN = "kubectl"


@dataclass
class World:
    """`project` has profiles and output as people commit them; `published` is what the engines read."""

    plane: ControlPlane
    folder: Path
    engines: tuple[str, ...]
    kubelet: Kubelet = field(init=False)
    client: ApiClient = field(init=False)
    before: dict[str, Seen] = field(init=False, default_factory=dict)
    beside: dict[str, str] = field(init=False, default_factory=dict)
    """Further files of the published repository, by path."""

    def __post_init__(self) -> None:
        self.served = Served(self.folder / "served")
        self.address = f"{self.served.url}/git/gpu.git"
        self.server = self.plane.scenario()
        self.client = self.server.client()
        self.project, self.published = self.folder / "project", self.folder / "published"
        bare = {name: self.served.repository(name) for name in _REPOSITORIES}
        for path in (self.project, self.published):
            git(path.parent, "init", "-q", "-b", "main", str(path))
        for name, path in bare.items():
            git(self.published, "remote", "add", name, str(path))
        charts.packages(RELEASES, self.served.folder / "charts")
        (self.served.folder / "mirror").symlink_to("charts")
        self.server.start_controllers(*_CONTROLLERS)
        self.kubelet = Kubelet(self.server.client())

    def start(self) -> None:
        """The engines, once what they are configured with is generated."""
        self.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        if "flux" in self.engines:
            flux.start(self.server)
        if "k3s" in self.engines:
            k3s.start(self.server)
        if "argocd" in self.engines:
            health = self.project / "output/fleet/argocd/argocd-cm-health.patch"
            argocd.start(self.server, health if health.is_file() else None, NAMESPACE)

    def end(self) -> None:
        self.kubelet.end()
        self.server.end()
        self.served.end()

    def commit(self, files: Mapping[str, str], *, unguarded: bool = False) -> None:
        """The profiles from now on, and what is generated from them."""
        shutil.rmtree(self.project / "profiles", ignore_errors=True)
        for path, text in files.items():
            target = self.project / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        result = generate(self.project)
        assert result.written, [item.message for item in result.outcome.diagnostics]
        if unguarded:
            take_guards_off(self.project)
        commit_all(self.project, "change")

    def move(self, arguments: Sequence[str]) -> None:
        """`poolsmith move`: the next commit, with what is generated from it."""
        moved(self.project, arguments)
        commit_all(self.project, "change")

    def publish(self) -> None:
        """What is generated with loopback's addresses, and what lies beside it; then the engines are told."""
        for path in self.published.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name in _FOLDERS:
            shutil.copytree(self.project / "output", self.published / name)
            for path in (self.published / name).rglob("*.yaml"):
                path.write_text(self.located(path.read_text("utf-8")), "utf-8")
        for name, text in self.beside.items():
            target = self.published / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.located(text), "utf-8")
        commit_all(self.published, "change")
        for name in _REPOSITORIES:
            git(self.published, "push", "-q", "--force", name, *(f"main:{branch}" for branch in _BRANCHES))
        self.tell(sources=True)

    def located(self, text: str) -> str:
        """With loopback's addresses."""
        text = _GIT.sub(rf"{self.served.url}/git/\1", text)
        return _PUBLISHERS.sub(f"{self.served.url}/charts", text).replace(_MIRROR, f"{self.served.url}/mirror")

    def tell(self, *, sources: bool = False) -> None:
        """Ask for what an engine would look at by itself, later."""
        now = {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": str(monotonic())}}}
        for kind in _SOURCES if sources else ():
            for item in self.client.listed(_SOURCE, kind):
                self.patch(item, now)
        for item in self.client.listed(*_APPLICATION):
            self.patch(item, {"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}})

    def patch(self, item: Mapping[str, Any], change: Mapping[str, Any]) -> None:
        """Merge a change into an object, as `kubectl patch` and `kubectl annotate` do."""
        place = self.client.resource(item["apiVersion"], item["kind"])
        assert place is not None, item["kind"]
        path = place.path(item["metadata"].get("namespace"), item["metadata"]["name"])
        self.client.request("PATCH", path, dict(change), content_type=_MERGE)

    def apply(self, *objects: Mapping[str, Any]) -> None:
        """By hand."""
        for item in objects:
            assert (answer := self.client.apply(dict(item), manager=_ADMIN, force=True)).taken, answer.message

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> None:
        """As `kubectl delete --ignore-not-found`."""
        answer = self.client.delete(api_version, kind, name, namespace)
        assert answer.taken or "not found" in answer.message, answer.message

    def hold(self, path: str, name: str = HELD, engines: Iterable[str] | None = None) -> None:
        """By hand: what reads a folder of the repository."""
        for engine in engines or self.engines[:1]:
            self.apply(
                *(
                    _kustomization(self.address, path, name)
                    if engine == "flux"
                    else _application(self.address, path, name)
                )
            )

    def settle(self) -> None:
        """Wait until nothing has changed for a while."""
        begun = quiet_since = monotonic()
        quiet = max(_SECONDS_OF_QUIET[engine] for engine in self.engines)
        last: object = None
        told = begun
        while monotonic() - begun < _SECONDS_AT_MOST:
            found = (seen(self.client), states(self.client))
            if found != last:
                last, quiet_since = found, monotonic()
            at_work = any(map(_AT_WORK.match, found[1].values()))
            if monotonic() - quiet_since > (_SECONDS_IN_PROGRESS if at_work else quiet):
                return
            if monotonic() - told > 5:
                self.tell()
                told = monotonic()
            sleep(1)

    def look(self, name: str) -> Observed:
        """What has become of everything since the last look."""
        jobs, self.kubelet.jobs = self.kubelet.jobs, set()
        after = seen(self.client)
        found = observed(name, self.before, after, jobs, self.client, (self.served.url, str(self.server.folder)))
        self.before = after
        return found

    def files(self, text: str) -> list[dict[str, Any]]:
        return [item for item in yaml.safe_load_all(self.located(text)) if item]


def moved(project: Path, arguments: Sequence[str]) -> None:
    """Let `poolsmith move` write the next step of a project. New findings are for people to settle."""
    command = [sys.executable, "-m", "poolsmith", "move", *arguments]
    run = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
    assert "wrote the step: " in run.stdout, run.stdout + run.stderr


def _kustomization(address: str, path: str, name: str) -> tuple[dict[str, Any], ...]:
    metadata = {"name": name, "namespace": flux.NAMESPACE}
    return (
        {
            "apiVersion": _SOURCE,
            "kind": "GitRepository",
            "metadata": metadata,
            "spec": {"interval": "1h", "url": address, "ref": {"branch": "main"}},
        },
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": metadata,
            "spec": {
                "interval": "1h",
                "retryInterval": "10s",
                "prune": True,
                "path": f"./{path}",
                "sourceRef": {"kind": "GitRepository", "name": name},
            },
        },
    )


def _application(address: str, path: str, name: str) -> tuple[dict[str, Any], ...]:
    return (
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": name, "namespace": argocd.NAMESPACE},
            "spec": {
                "project": "default",
                "source": {"repoURL": address, "targetRevision": "refs/heads/main", "path": path},
                "destination": {"server": "https://kubernetes.default.svc", "namespace": argocd.NAMESPACE},
                "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
            },
        },
    )
