"""What is done to a cluster whose delivery the real engines read: each step as people do it, with care or without."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import yaml

from change.diff.projects import cluster, pool, project
from engines.argocd import NAMESPACE as ARGOCD_NAMESPACE
from engines.charts import UMBRELLA
from engines.flux import NAMESPACE as FLUX_NAMESPACE
from engines.k3s import NAMESPACE as K3S_NAMESPACE
from engines.observed import DRIFTED, Observed
from engines.world import DELIVERY, HELD, NAMESPACE, World, moved
from poolsmith.interface.app.generate import generate

Files = Mapping[str, str]
FLUX, ARGOCD = "flux", "argocd"
_LAB = "profiles/lab/cluster.yaml"
_OPERATOR = "gpu-operator"
_TRACKING = "argocd.argoproj.io/tracking-id"
_TRACKED = (
    ("v1", ("Namespace", "ServiceAccount", "ConfigMap", "Service")),
    ("apiextensions.k8s.io/v1", ("CustomResourceDefinition",)),
    ("apps/v1", ("Deployment", "DaemonSet")),
    ("rbac.authorization.k8s.io/v1", ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")),
    ("nvidia.com/v1", ("ClusterPolicy",)),
    ("nvidia.com/v1alpha1", ("NVIDIADriver",)),
)


@dataclass(frozen=True)
class Step:
    """One step: by hand first, then a merge of profiles (`files`, all of them), then what holds the delivery.

    `predicted`: whether `poolsmith diff` is asked about the merge.
    """

    name: str
    files: Files | None = None
    hold: str | None = None
    by_hand: Callable[[World], None] | None = None
    after: Callable[[World], None] | None = None
    """By hand too, once the merge and what holds the delivery are there."""
    beside: Callable[[World], Mapping[str, str]] | None = None
    """Files of the repository beside profiles and output, from this step on."""
    move: tuple[str, ...] = ()
    """Arguments of `poolsmith move`, which writes the profiles and the output of the merge."""
    unguarded: bool = False
    """The output of this merge has no guards, as it had none of earlier versions."""
    hold_by: str | None = None
    """The engine whose object holds the delivery, where it is not the first of the scenario."""


@dataclass(frozen=True)
class Merge:
    """The last of some commits, each of which writes profiles or moves them; `steps` are the merge, and those until
    whoever holds the delivery has read it."""

    scenario: str
    step: str
    commits: tuple[Step, ...]
    steps: tuple[str, ...]

    @property
    def before(self) -> Files:
        return _written(self.commits[:-1])

    @property
    def after(self) -> Files:
        return _written(self.commits)


@dataclass(frozen=True)
class Scenario:
    """`engine` is the one that the cluster's delivery begins with. `keeps`: it is done in a way that keeps every object, and
    ends well."""

    name: str
    engine: str
    what: str
    steps: tuple[Step, ...]
    engines: tuple[str, ...] = ()
    keeps: bool = False

    def run(self, world: World) -> list[Observed]:
        found = []
        for number, step in enumerate(self.steps):
            if step.by_hand is not None:
                step.by_hand(world)
            if step.files is not None:
                world.commit(step.files, unguarded=step.unguarded)
            if step.move:
                world.move(step.move)
            if number == 0:
                world.start()
            if step.beside is not None:
                world.beside = dict(step.beside(world))
            if step.files is not None or step.move or step.beside is not None:
                world.publish()
            if step.hold is not None:
                world.hold(step.hold, engines=(step.hold_by or self.engine,))
            if step.after is not None:
                step.after(world)
            world.settle()
            found.append(world.look(step.name))
        return found

    @property
    def merges(self) -> list[Merge]:
        """Each merge after the first, and the steps that it takes to be read."""
        found: list[Merge] = []
        commits: tuple[Step, ...] = ()
        for step in self.steps:
            if step.move or step.files is not None:
                commits += (step,)
                found += [Merge(self.name, step.name, commits, (step.name,))] if len(commits) > 1 else []
            elif step.hold is not None and step.by_hand is None and found:
                found[-1] = replace(found[-1], steps=(*found[-1].steps, step.name))
        return found


def _written(commits: tuple[Step, ...]) -> Files:
    """The profiles after some commits."""
    *earlier, last = commits
    if last.move:
        return _moved(tuple(sorted(_written(tuple(earlier)).items())), last.move)
    assert last.files is not None
    return last.files


@cache
def _moved(files: tuple[tuple[str, str], ...], arguments: tuple[str, ...]) -> Files:
    """The profiles that `poolsmith move` writes."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        assert generate(root).written
        moved(root, arguments)
        return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.glob("profiles/*/*.yaml"))}


def of(files: Files, engine: str) -> dict[str, str]:
    return {path: text.replace("engine: flux", f"engine: {engine}") for path, text in files.items()}


def edited(files: Files, old: str, new: str, path: str = _LAB) -> dict[str, str]:
    assert old in files[path], old
    return {**files, path: files[path].replace(old, new)}


def renamed(files: Files, name: str = "rome") -> dict[str, str]:
    """The cluster has another name, and nothing else changes."""
    return {
        path.replace("profiles/lab/", f"profiles/{name}/"): text.replace("name: lab", f"name: {name}")
        for path, text in files.items()
    }


def _with_oslo(files: Files) -> Files:
    """Beside another cluster, which Flux delivers elsewhere."""
    other = {path: text.replace("engine: flux", 'engine: "flux"') for path, text in INSTALLED.items()}
    return {**files, **renamed(other, "oslo")}


INSTALLED = project("a", "b")
LATER = {path: text.replace("v26.3.3", "v26.7.0") for path, text in INSTALLED.items()}
ONE_POOL = project("a")
RENAMED_POOL = {**project("a"), "profiles/lab/c.yaml": pool("c")}
MOVED = edited(INSTALLED, "{release: v26.3.3,", "{namespace: gpu-stack, release: v26.3.3,")
_AT_LAB, _AT_ROME = DELIVERY.format("lab"), DELIVERY.format("rome")


def install(engine: str, files: Files = INSTALLED) -> Step:
    return Step("installed", of(files, engine), hold=_AT_LAB)


def suspend(*objects: tuple[str, str], state: bool = True) -> Callable[[World], None]:
    """`flux suspend` of objects in flux-system."""

    def by_hand(world: World) -> None:
        for kind, name in objects:
            group = "helm.toolkit.fluxcd.io/v2" if kind == "HelmRelease" else "kustomize.toolkit.fluxcd.io/v1"
            metadata = {"name": name, "namespace": FLUX_NAMESPACE}
            world.patch({"apiVersion": group, "kind": kind, "metadata": metadata}, {"spec": {"suspend": state}})

    return by_hand


def resume(*objects: tuple[str, str]) -> Callable[[World], None]:
    """`flux resume` of objects in flux-system."""
    return suspend(*objects, state=False)


def delete(*objects: tuple[str, str, str, str]) -> Callable[[World], None]:
    def by_hand(world: World) -> None:
        for item in objects:
            world.delete(*item)

    return by_hand


def by_both(*parts: Callable[[World], None]) -> Callable[[World], None]:
    def by_hand(world: World) -> None:
        for part in parts:
            part(world)

    return by_hand


def strip_tracking(world: World) -> None:
    """Take Argo CD's annotation off everything that has it."""
    for version, kinds in _TRACKED:
        for kind in kinds:
            for item in world.client.listed(version, kind):
                if _TRACKING in item["metadata"].get("annotations", {}):
                    world.patch(item, {"metadata": {"annotations": {_TRACKING: None}}})


def drift(world: World) -> None:
    """Somebody scales the operator to nothing, gives the ClusterPolicy other values, and deletes what discovers nodes.

    The chart writes one of the values, and not the other.
    """
    for version, kind, name, change in _DRIFTS:
        for item in world.client.listed(version, kind):
            if item["metadata"]["name"] == name:
                world.patch(item, change)
    world.delete("apps/v1", "DaemonSet", f"{_OPERATOR}-node-feature-discovery-worker", _OPERATOR)


_DRIFTS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("apps/v1", "Deployment", _OPERATOR, {"spec": {"replicas": 0}}),
    (
        "nvidia.com/v1",
        "ClusterPolicy",
        "cluster-policy",
        {"spec": {"toolkit": {"enabled": False}, "operator": {"defaultRuntime": "crio"}}},
    ),
)

# What somebody had before poolsmith: the same chart with the same values.
_OLD = "old"
_HELM_RELEASE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: gpu-operator
  annotations:
    kustomize.toolkit.fluxcd.io/prune: disabled
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: nvidia
  namespace: gpu-operator
spec:
  interval: 24h
  url: https://helm.ngc.nvidia.com/nvidia
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: gpu-operator
  namespace: gpu-operator
spec:
  suspend: {suspend}
  interval: 1h
  chart:
    spec:
      chart: gpu-operator
      version: v26.3.3
      sourceRef:
        kind: HelmRepository
        name: nvidia
  values: {values}
"""
_APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: gpu-operator
  namespace: argocd{finalizers}
spec:
  project: default
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: gpu-operator
    targetRevision: v26.3.3
    helm:
      releaseName: gpu-operator
      valuesObject: {values}
  destination:
    server: https://kubernetes.default.svc
    namespace: gpu-operator
  syncPolicy:
    {automated}
    syncOptions:
      - CreateNamespace=true
      - ServerSideApply=true
"""
_KEPT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  namespace: default\n"
_UMBRELLA_RELEASE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: gpu-operator
  annotations:
    kustomize.toolkit.fluxcd.io/prune: disabled
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: own
  namespace: gpu-operator
spec:
  interval: 24h
  url: https://helm.ngc.nvidia.com/nvidia
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: platform
  namespace: gpu-operator
spec:
  interval: 1h
  chart:
    spec:
      chart: platform
      version: 1.0.0
      sourceRef:
        kind: HelmRepository
        name: own
  values: {values}
"""
_UMBRELLA_APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: platform
  namespace: argocd
spec:
  project: default
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: platform
    targetRevision: 1.0.0
    helm:
      releaseName: platform
      valuesObject: {values}
  destination:
    server: https://kubernetes.default.svc
    namespace: gpu-operator
  syncPolicy:
    automated: {{prune: {prunes}, selfHeal: true}}
    syncOptions:
      - CreateNamespace=true
      - ServerSideApply=true
"""
_OTHER_VALUES = {
    _LAB: cluster(mode="cluster-policy", values="{dcgmExporter: {enabled: false}}"),
    "profiles/lab/a.yaml": pool("a"),
}
_LESS = {**INSTALLED, _LAB: cluster(values="{dcgmExporter: {enabled: false}}")}
_WITHOUT_DRIVERS = {_LAB: cluster(mode="cluster-policy"), "profiles/lab/a.yaml": pool("a")}


def _values(world: World) -> dict[str, Any]:
    """Those that are generated, so that nothing differs."""
    text = (world.project / "output/clusters/lab/platform/values/gpu-operator.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def old_release(*, suspend: bool = False) -> Callable[[World], Mapping[str, str]]:
    def beside(world: World) -> Mapping[str, str]:
        text = _HELM_RELEASE.format(values=json.dumps(_values(world)), suspend=json.dumps(suspend))
        return {f"{_OLD}/release.yaml": text}

    return beside


def old_application(
    *, automated: bool = True, finalizer: bool = False, hook: bool = True
) -> Callable[[World], Mapping[str, str]]:
    def beside(world: World) -> Mapping[str, str]:
        values = _values(world) | ({} if hook else {"node-feature-discovery": {"postDeleteCleanup": False}})
        text = _APPLICATION.format(
            values=json.dumps(values),
            automated="automated: {prune: true, selfHeal: true}" if automated else "",
            finalizers="\n  finalizers: [resources-finalizer.argocd.argoproj.io]" if finalizer else "",
        )
        return {f"{_OLD}/application.yaml": text, f"{_OLD}/kept.yaml": _KEPT}

    return beside


def umbrella(engine: str, *, enabled: bool = True, prunes: bool = True) -> Callable[[World], Mapping[str, str]]:
    """The operator's chart inside of another one, of which something else stays."""

    def beside(world: World) -> Mapping[str, str]:
        values = json.dumps({_OPERATOR: {**_values(world), "enabled": enabled}})
        text = _UMBRELLA_RELEASE if engine == FLUX else _UMBRELLA_APPLICATION
        return {f"{_OLD}/platform.yaml": text.format(values=values, prunes=json.dumps(prunes))}

    return beside


def keep_released(world: World, release: str = UMBRELLA, policy: str | None = "keep") -> None:
    """`kubectl annotate` of each object of a release: Helm leaves it where it is, once its chart has it no more."""
    change_released(world, release, {_RESOURCE_POLICY: policy})


def change_released(world: World, release: str, annotations: Mapping[str, str | None]) -> None:
    """`kubectl annotate` of each object of a release."""
    for version, kinds in _TRACKED:
        for kind in kinds:
            for item in world.client.listed(version, kind):
                if item["metadata"].get("annotations", {}).get(_RELEASE_NAME) == release:
                    world.patch(item, {"metadata": {"annotations": dict(annotations)}})


_RESOURCE_POLICY, _RELEASE_NAME = "helm.sh/resource-policy", "meta.helm.sh/release-name"
_OTHER_NAME = "gpu"


def hand_over(world: World) -> None:
    """The objects of a release of another name are given to the generated one, and its record is deleted."""
    change_released(world, _OTHER_NAME, {_RELEASE_NAME: _OPERATOR})
    for item in world.client.listed("v1", "Secret"):
        if item["metadata"].get("labels", {}).get("name") == _OTHER_NAME:
            world.delete("v1", "Secret", item["metadata"]["name"], _OPERATOR)


def nothing_old(namespace: bool = False) -> Callable[[World], Mapping[str, str]]:
    """The old object is removed from git; the namespace stays."""
    kept = _HELM_RELEASE.partition("---")[0] if namespace else _KEPT
    return lambda _: {f"{_OLD}/kept.yaml": kept}


def hold_old(world: World) -> None:
    world.hold(_OLD, name=_OLD)


def hold_fleet(world: World) -> None:
    """What the generated folder of the fleet is for: its ApplicationSets make what holds each delivery."""
    world.hold("output/fleet/argocd", name="fleet")


def refuse_policy(world: World) -> None:
    """An admission policy refuses each change of the ClusterPolicy."""
    match = {
        "apiGroups": ["nvidia.com"],
        "apiVersions": ["*"],
        "resources": ["clusterpolicies"],
        "operations": ["UPDATE"],
    }
    world.apply(
        {
            "apiVersion": _ADMISSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": _REFUSES},
            "spec": {
                "matchConstraints": {"resourceRules": [match]},
                "validations": [{"expression": "object.spec == oldObject.spec", "message": "not today"}],
            },
        },
        {
            "apiVersion": _ADMISSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": _REFUSES},
            "spec": {"policyName": _REFUSES, "validationActions": ["Deny"]},
        },
    )
    sleep(_SECONDS_TO_NOTICE)


def take_policy(world: World) -> None:
    world.delete(_ADMISSION, "ValidatingAdmissionPolicyBinding", _REFUSES)
    sleep(_SECONDS_TO_NOTICE)


_ADMISSION, _REFUSES = "admissionregistration.k8s.io/v1", "refuses"


def look_now(world: World) -> None:
    """`flux reconcile helmrelease`: in place of the hour that it waits between looks. Argo CD looks by itself."""
    now = str(monotonic())
    for item in world.client.listed(_RELEASE, "HelmRelease"):
        world.patch(item, {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": now}}})
    ends = monotonic() + _SECONDS_TO_LOOK
    while monotonic() < ends and not all(
        item.get("status", {}).get("lastHandledReconcileAt") == now
        for item in world.client.listed(_RELEASE, "HelmRelease")
    ):
        sleep(0.5)


def _phase(world: World, name: str) -> str:
    """Of what an Application does at the moment, or did last."""
    found = (item for item in world.client.listed(_ARGOCD_VERSION, "Application") if item["metadata"]["name"] == name)
    return next((str(item.get("status", {}).get("operationState", {}).get("phase", "")) for item in found), "")


def helm_install_other(world: World) -> None:
    helm_install(world, _OTHER_NAME)


def helm_install(world: World, name: str = _OPERATOR) -> None:
    """A release by hand."""
    values = world.folder / "values.json"
    values.write_text(json.dumps(_values(world)))
    chart = world.served.folder / "charts/gpu-operator-v26.3.3.tgz"
    flags = ("--namespace", _OPERATOR, "--create-namespace", "--values", str(values))
    command = ["helm", "install", name, str(chart), *flags, "--kubeconfig", str(world.server.kubeconfig())]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


_HELM_CHART = ("helm.cattle.io/v1", "HelmChart", _OPERATOR, K3S_NAMESPACE)


def helm_chart(world: World) -> None:
    """The HelmChart of the release that stands, as k3s has it."""
    version, kind, name, namespace = _HELM_CHART
    spec = {
        "repo": f"{world.served.url}/charts",
        "chart": _OPERATOR,
        "version": "v26.3.3",
        "targetNamespace": _OPERATOR,
        "valuesContent": json.dumps(_values(world)),
    }
    metadata = {"name": name, "namespace": namespace}
    world.apply({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


def let_helm_chart_go(world: World) -> None:
    """Its controller looks away first."""
    version, kind, name, namespace = _HELM_CHART
    item = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
    world.patch(item, {"metadata": {"annotations": {"helmcharts.helm.cattle.io/unmanaged": "true"}}})
    sleep(_SECONDS_TO_NOTICE)
    world.patch(item, {"metadata": {"finalizers": None}})
    world.delete(*_HELM_CHART)


def define_later(world: World) -> None:
    """`kubectl apply --server-side --force-conflicts` of the definitions that the next release's chart carries."""
    chart = world.served.folder / "charts/gpu-operator-v26.7.0.tgz"
    run = subprocess.run(["helm", "show", "crds", str(chart)], check=True, capture_output=True, text=True, timeout=60)
    world.apply(*(item for item in yaml.safe_load_all(run.stdout) if item))


def _named(names: tuple[str, ...]) -> list[dict[str, Any]]:
    metadata = ({"name": name, "namespace": ARGOCD_NAMESPACE} for name in names)
    return [{"apiVersion": _ARGOCD_VERSION, "kind": "Application", "metadata": item} for item in metadata]


def look_away(*names: str) -> Callable[[World], None]:
    """Argo CD leaves these Applications alone from now on."""

    def by_hand(world: World) -> None:
        for item in _named(names):
            world.patch(item, {"metadata": {"annotations": {"argocd.argoproj.io/skip-reconcile": "true"}}})
        sleep(_SECONDS_TO_NOTICE)

    return by_hand


def let_go(*names: str) -> Callable[[World], None]:
    """Old Applications go while Argo CD does not look at them: no hook of their charts starts."""

    def by_hand(world: World) -> None:
        look_away(*names)(world)
        for item in _named(names):
            world.patch(item, {"metadata": {"finalizers": None}})
            world.delete(_ARGOCD_VERSION, "Application", item["metadata"]["name"], ARGOCD_NAMESPACE)

    return by_hand


def _metadata(world: World, name: str) -> dict[str, Any]:
    """Of an Application; empty where there is none."""
    found = (item["metadata"] for item in world.client.listed(_ARGOCD_VERSION, "Application"))
    return next((item for item in found if item["name"] == name), {})


def _until(world: World, name: str, is_so: Callable[[dict[str, Any]], bool]) -> None:
    """Raises AssertionError."""
    ends = monotonic() + _SECONDS_AT_MOST
    while not is_so(found := _metadata(world, name)):
        assert monotonic() < ends, found
        world.tell()
        sleep(2)


def until_no_finalizer(name: str) -> Callable[[World], None]:
    """`kubectl get application NAME -o jsonpath={.metadata.finalizers}` until it says nothing."""
    return lambda world: _until(world, name, lambda found: not found.get("finalizers"))


def until_deleted(name: str) -> Callable[[World], None]:
    """`kubectl get application NAME -o jsonpath={.metadata.deletionTimestamp}` until it says something, or is not there."""
    return lambda world: _until(world, name, lambda found: not found or "deletionTimestamp" in found)


def sync_once(*names: str, namespace: str = ARGOCD_NAMESPACE) -> Callable[[World], None]:
    """`argocd app terminate-op NAME`, and one sync without FailOnSharedResource: `argocd app sync NAME --server-side`."""

    def by_hand(world: World) -> None:
        for name in names:
            metadata = {"name": name, "namespace": namespace}
            item = {"apiVersion": _ARGOCD_VERSION, "kind": "Application", "metadata": metadata}
            if _phase(world, name) == "Running":
                world.patch(item, {"status": {"operationState": {"phase": "Terminating"}}})
            ends = monotonic() + _SECONDS_TO_LOOK
            while _phase(world, name) in ("Running", "Terminating") and monotonic() < ends:
                sleep(0.2)
            world.patch(item, {"operation": {"sync": {"syncOptions": ["ServerSideApply=true"]}}})

    return by_hand


_ARGOCD_VERSION = "argoproj.io/v1alpha1"
_SECONDS_TO_NOTICE, _SECONDS_TO_LOOK, _SECONDS_AT_MOST = 3, 60, 120
_KUSTOMIZATION, _RELEASE = "kustomize.toolkit.fluxcd.io/v1", "helm.toolkit.fluxcd.io/v2"
_CAREFUL_FLUX = suspend(
    ("Kustomization", HELD),
    ("Kustomization", "lab-platform"),
    ("Kustomization", "lab-pools"),
    ("HelmRelease", "lab-gpu-operator"),
)
_OLD_RELEASE_GOES = delete((_RELEASE, "HelmRelease", "lab-gpu-operator", FLUX_NAMESPACE))
_TWO = {
    **edited(INSTALLED, "engine: flux,", "engine: argocd, instance: one,"),
    **edited(renamed(INSTALLED), "engine: flux,", "engine: argocd, instance: two,", "profiles/rome/cluster.yaml"),
}


def both(engine: str) -> tuple[Scenario, ...]:
    """What is done under either engine."""
    other = ARGOCD if engine == FLUX else FLUX
    holder = (
        (_KUSTOMIZATION, "Kustomization", HELD, FLUX_NAMESPACE)
        if engine == FLUX
        else (_ARGOCD_VERSION, "Application", HELD, ARGOCD_NAMESPACE)
    )
    return (
        Scenario(
            f"{engine}-pools",
            engine,
            "a pool comes, another one is renamed, one is removed",
            (
                install(engine, ONE_POOL),
                Step("a pool added", of(INSTALLED, engine)),
                Step("a pool renamed", of(RENAMED_POOL, engine)),
                Step("a pool removed", of(ONE_POOL, engine)),
            ),
        ),
        Scenario(
            f"{engine}-engine",
            engine,
            f"the engine becomes {other}, without care: what holds the delivery stays",
            (install(engine), Step("engine changed", of(INSTALLED, other))),
            engines=(engine, other),
        ),
        Scenario(
            f"{engine}-namespace",
            engine,
            "`stack.namespace` becomes another one, without care",
            (install(engine), Step("moved", of(MOVED, engine))),
        ),
        Scenario(
            f"{engine}-drift",
            engine,
            "somebody changes and deletes objects of the stack by hand",
            (install(engine), Step(DRIFTED, by_hand=drift, after=look_now)),
        ),
        Scenario(
            f"{engine}-failed",
            engine,
            "an upgrade fails, since the API server refuses an object of the chart; later it takes it",
            (
                install(engine),
                Step("other values, refused", of(_LESS, engine), by_hand=refuse_policy),
                Step("taken", by_hand=take_policy, after=look_now),
            ),
        ),
        Scenario(
            f"{engine}-removed",
            engine,
            "what holds the delivery is deleted by hand",
            (install(engine), Step("deleted", by_hand=delete(holder))),
        ),
        Scenario(
            f"{engine}-from-helm-of-another-name",
            engine,
            "takeover from a Helm release of another name, as Terraform, Helmfile or Ansible leave one",
            (
                Step("installed by hand", of(_WITHOUT_DRIVERS, engine), after=helm_install_other),
                Step("handed over", by_hand=hand_over),
                Step("taken over", hold=_AT_LAB),
            ),
            keeps=True,
        ),
        Scenario(
            f"{engine}-from-helm",
            engine,
            "takeover from a Helm release by hand",
            (
                Step("installed by hand", of(_WITHOUT_DRIVERS, engine), after=helm_install),
                Step("taken over", hold=_AT_LAB),
            ),
            keeps=True,
        ),
    )


_MERGED, _READ = "merged", "what holds the delivery reads the new folder"
_FLUX_ALONE = (
    Scenario(
        "flux-renamed",
        FLUX,
        "the cluster gets another name, without care",
        (
            install(FLUX),
            Step(_MERGED, renamed(INSTALLED)),
            Step(_READ, hold=_AT_ROME),
            Step("the old HelmRelease deleted as it is", by_hand=_OLD_RELEASE_GOES),
        ),
    ),
    Scenario(
        "flux-upgraded",
        FLUX,
        "the release goes from v26.3.3 to v26.7.0",
        (install(FLUX), Step("upgraded", LATER)),
        keeps=True,
    ),
    Scenario(
        "flux-renamed-by-steps",
        FLUX,
        "the cluster gets another name, by the steps of docs/rename.md",
        (
            install(FLUX),
            Step("suspended", by_hand=_CAREFUL_FLUX),
            Step("renamed", renamed(INSTALLED), hold=_AT_ROME, after=resume(("Kustomization", HELD))),
            Step("old HelmRelease deleted", by_hand=_OLD_RELEASE_GOES),
        ),
        keeps=True,
    ),
    Scenario(
        "flux-from-helmrelease",
        FLUX,
        "takeover from a HelmRelease, by the steps of docs/takeover.md",
        (
            Step("under the old HelmRelease", _WITHOUT_DRIVERS, beside=old_release(), after=hold_old),
            Step("suspended in git", beside=old_release(suspend=True)),
            Step("removed from git", beside=nothing_old(namespace=True)),
            Step("taken over", hold=_AT_LAB),
        ),
        keeps=True,
    ),
)
_UMBRELLA = "takeover from an umbrella chart, of which the rest stays"
_UNDER, _SWITCHED_OFF = "under the umbrella chart", "switched off in git"
_FROM_UMBRELLA = (
    Scenario(
        "flux-from-umbrella",
        FLUX,
        _UMBRELLA,
        (
            Step(_UNDER, _WITHOUT_DRIVERS, beside=umbrella(FLUX), after=hold_old),
            Step("its objects are to be kept", by_hand=keep_released),
            Step(_SWITCHED_OFF, beside=umbrella(FLUX, enabled=False)),
            Step("taken over", hold=_AT_LAB),
            Step("no longer kept", by_hand=lambda world: keep_released(world, _OPERATOR, None)),
        ),
        keeps=True,
    ),
    Scenario(
        "flux-from-umbrella-careless",
        FLUX,
        "the same, switched off as it is",
        (
            Step(_UNDER, _WITHOUT_DRIVERS, beside=umbrella(FLUX), after=hold_old),
            Step(_SWITCHED_OFF, beside=umbrella(FLUX, enabled=False)),
        ),
    ),
    Scenario(
        "argocd-from-umbrella",
        ARGOCD,
        _UMBRELLA,
        (
            Step(_UNDER, of(_WITHOUT_DRIVERS, ARGOCD), beside=umbrella(ARGOCD), after=hold_old),
            Step("prunes no more", beside=umbrella(ARGOCD, prunes=False)),
            Step(_SWITCHED_OFF, beside=umbrella(ARGOCD, enabled=False, prunes=False)),
            Step("tracking taken off", by_hand=strip_tracking),
            Step("what holds the delivery is created", hold=_AT_LAB),
            Step("prunes again", beside=umbrella(ARGOCD, enabled=False)),
        ),
        keeps=True,
    ),
)
_FROM_HELM_CHART = (
    Scenario(
        "flux-from-helmchart",
        FLUX,
        "takeover from a HelmChart of k3s, by the steps of docs/takeover.md",
        (
            Step("under the HelmChart", _WITHOUT_DRIVERS, after=by_both(helm_install, helm_chart)),
            Step("let go", by_hand=let_helm_chart_go),
            Step("taken over", hold=_AT_LAB),
        ),
        engines=(FLUX, "k3s"),
        keeps=True,
    ),
    Scenario(
        "flux-from-helmchart-careless",
        FLUX,
        "the HelmChart of k3s is deleted as it is (the job that uninstalls is started, and nobody runs it here)",
        (
            Step("under the HelmChart", _WITHOUT_DRIVERS, after=by_both(helm_install, helm_chart)),
            Step("deleted", by_hand=delete(_HELM_CHART)),
        ),
        engines=(FLUX, "k3s"),
    ),
)
_ARGOCD_ALONE = (
    Scenario(
        "argocd-renamed",
        ARGOCD,
        "the cluster gets another name, without care",
        (
            install(ARGOCD),
            Step(_MERGED, of(renamed(INSTALLED), ARGOCD)),
            Step(_READ, hold=_AT_ROME),
            Step("tracking taken off", by_hand=strip_tracking),
        ),
    ),
    Scenario(
        "argocd-fleet-renamed",
        ARGOCD,
        "the cluster gets another name, without care; the generated ApplicationSet holds the delivery",
        (
            Step("installed", of(INSTALLED, ARGOCD), after=hold_fleet),
            Step(_MERGED, of(renamed(INSTALLED), ARGOCD)),
        ),
    ),
    Scenario(
        "argocd-fleet-removed",
        ARGOCD,
        "the profile of the only cluster in the generated ApplicationSet is removed, without care",
        (
            Step("installed", _with_oslo(of(INSTALLED, ARGOCD)), after=hold_fleet),
            Step("removed", _with_oslo({})),
        ),
    ),
    Scenario(
        "argocd-fleet-project",
        ARGOCD,
        "`delivery.project` becomes another one, without care: another ApplicationSet has the cluster",
        (
            Step("installed", of(INSTALLED, ARGOCD), after=hold_fleet),
            Step("project changed", edited(of(INSTALLED, ARGOCD), "engine: argocd", "engine: argocd, project: gpu")),
        ),
    ),
    Scenario(
        "argocd-upgraded",
        ARGOCD,
        "the release goes from v26.3.3 to v26.7.0",
        (
            install(ARGOCD),
            Step("upgraded", of(LATER, ARGOCD)),
            Step("the release's definitions applied by hand", by_hand=define_later),
        ),
        keeps=True,
    ),
    Scenario(
        "argocd-upgraded-too-early",
        ARGOCD,
        "the same, with the definitions applied by hand before the merge: Argo CD puts the old ones back",
        (
            install(ARGOCD),
            Step("definitions applied", by_hand=define_later),
            Step("upgraded", of(LATER, ARGOCD)),
        ),
    ),
    Scenario(
        "argocd-from-application",
        ARGOCD,
        "takeover from an Application, by the steps of docs/takeover.md",
        (
            Step("under the old Application", of(_WITHOUT_DRIVERS, ARGOCD), beside=old_application(), after=hold_old),
            Step(
                "not automated, and without its hook",
                beside=old_application(automated=False, hook=False),
                after=until_no_finalizer(_OPERATOR),
            ),
            Step("removed from git", beside=nothing_old()),
            Step("what holds the delivery is created", hold=_AT_LAB),
            Step("synced once without FailOnSharedResource", by_hand=sync_once("lab-gpu-operator")),
            Step("other values", of(_OTHER_VALUES, ARGOCD)),
        ),
        keeps=True,
    ),
    Scenario(
        "argocd-from-application-let-go",
        ARGOCD,
        "takeover from an Application whose controller looks away first (`skip-reconcile`)",
        (
            Step("under the old Application", of(_WITHOUT_DRIVERS, ARGOCD), beside=old_application(), after=hold_old),
            Step("Argo CD looks away", by_hand=look_away(_OPERATOR)),
            Step(
                "removed from git, then let go",
                beside=nothing_old(),
                after=by_both(until_deleted(_OPERATOR), let_go(_OPERATOR)),
            ),
            Step("what holds the delivery is created", hold=_AT_LAB),
            Step("synced once without FailOnSharedResource", by_hand=sync_once("lab-gpu-operator")),
            Step("other values", of(_OTHER_VALUES, ARGOCD)),
        ),
        keeps=True,
    ),
    Scenario(
        "argocd-from-application-careless",
        ARGOCD,
        "takeover from an Application: removed from git as it is",
        (
            Step("under the old Application", of(_WITHOUT_DRIVERS, ARGOCD), beside=old_application(), after=hold_old),
            Step("removed from git", beside=nothing_old()),
            Step("taken over", hold=_AT_LAB),
        ),
    ),
    Scenario(
        "argocd-renamed-by-steps",
        ARGOCD,
        "the cluster gets another name: the old Applications are let go, their tracking is taken off",
        (
            install(ARGOCD),
            Step(
                "let go", by_hand=by_both(let_go(HELD, "lab-platform", "lab-gpu-operator", "lab-pools"), strip_tracking)
            ),
            Step("renamed", of(renamed(INSTALLED), ARGOCD), hold=_AT_ROME),
        ),
        keeps=True,
    ),
    Scenario(
        "argocd-two-clusters",
        ARGOCD,
        "two clusters with one destination, of Argo CDs that are one",
        (
            Step("installed", _TWO, hold=_AT_LAB),
            Step("the other one, too", after=lambda world: world.hold(_AT_ROME, name="other")),
        ),
    ),
)


def take_finalizers_off(*names: str) -> Callable[[World], None]:
    """Of Applications, and then delete what holds the delivery."""

    def by_hand(world: World) -> None:
        for name in names:
            metadata = {"name": name, "namespace": ARGOCD_NAMESPACE}
            item = {"apiVersion": _ARGOCD_VERSION, "kind": "Application", "metadata": metadata}
            world.patch(item, {"metadata": {"finalizers": None}})
        world.delete(_ARGOCD_VERSION, "Application", HELD, ARGOCD_NAMESPACE)

    return by_hand


_SUSPENDED, _LETS_GO, _HANDED, _TAKES = (
    "suspended",
    "what holds the delivery goes",
    "handed over",
    "the other engine reads it",
)
_TO_ARGOCD, _TO_FLUX = ("engine", "lab", "argocd"), ("engine", "lab", "flux")


def moves(engine: str) -> tuple[Scenario, ...]:
    """By `poolsmith move`, and what it says is to be done between its steps."""
    return (
        Scenario(
            f"{engine}-move-cluster",
            engine,
            "`poolsmith move rename-cluster`",
            (
                install(engine),
                Step("moved", move=("rename-cluster", "lab", "rome")),
                Step(_READ, hold=_AT_ROME),
            ),
            keeps=True,
        ),
        Scenario(
            f"{engine}-move-pool",
            engine,
            "`poolsmith move rename-pool`",
            (install(engine), Step("moved", move=("rename-pool", "lab/b", "c"))),
            keeps=True,
        ),
    )


_BY = ("--accept-outage-by", "platform", "--today", "2026-11-20")
_GIVEN_UP, _OUT = "given up", "the cluster is out of the fleet"
_PLACES = ("--repo", "https://git.example.com/gpu-2.git", "--path", "out", "--revision", "refs/heads/stable")
_CHARTS = ("--charts", "https://charts.example.com/mirror")


def take_all_along(world: World) -> None:
    """What holds the delivery is deleted with the finalizer that deletes what it applied, too."""
    metadata = {"name": HELD, "namespace": ARGOCD_NAMESPACE}
    item = {"apiVersion": _ARGOCD_VERSION, "kind": "Application", "metadata": metadata}
    world.patch(item, {"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}})
    world.delete(_ARGOCD_VERSION, "Application", HELD, ARGOCD_NAMESPACE)


def further_moves(engine: str) -> tuple[Scenario, ...]:
    """Those that give the delivery or its objects another place, or an end."""
    is_flux = engine == FLUX
    left = (_RELEASE, _KUSTOMIZATION) if is_flux else (_ARGOCD_VERSION, _ARGOCD_VERSION)
    kinds = ("HelmRelease", "Kustomization") if is_flux else ("Application", "Application")
    namespace = FLUX_NAMESPACE if is_flux else ARGOCD_NAMESPACE
    old = tuple(
        (left[number > 0], kinds[number > 0], f"lab-{unit}", namespace)
        for number, unit in enumerate(("gpu-operator", "platform", "pools"))
    )
    names = [name for *_, name, _ in old]
    holder = (_KUSTOMIZATION, "Kustomization", HELD, FLUX_NAMESPACE)
    to_gitops = ("delivery-namespace", "lab", NAMESPACE)
    remove = ("remove-cluster", "lab")
    lets_go = Step(_LETS_GO, by_hand=take_finalizers_off(*names))
    synced = Step("synced once without FailOnSharedResource", by_hand=sync_once(*names, namespace=NAMESPACE))
    return (
        Scenario(
            f"{engine}-move-delivery-namespace",
            engine,
            "`poolsmith move delivery-namespace`",
            (
                install(engine),
                Step(_SUSPENDED, move=to_gitops),
                *(() if is_flux else (lets_go,)),
                Step(_HANDED, move=to_gitops, hold=None if is_flux else _AT_LAB),
                *(() if is_flux else (synced,)),
                Step(_LEFT_DELETED, by_hand=delete(*old)),
            ),
            keeps=True,
        ),
        Scenario(
            f"{engine}-move-source",
            engine,
            "`poolsmith move source`: repository, path, revision and charts at once",
            (
                install(engine),
                Step("moved", move=("source", "lab", *_PLACES, *_CHARTS)),
                Step(_READ, hold=_AT_LAB.replace("output/", "out/", 1)),
            ),
            keeps=True,
        ),
        Scenario(
            f"{engine}-move-mode",
            engine,
            "`poolsmith move driver-mode` on v26.7.0: drivers are handed over",
            (
                install(
                    engine, {path: text.replace("nvidia-driver", "cluster-policy") for path, text in LATER.items()}
                ),
                Step("moved", move=("driver-mode", "lab", "nvidia-driver")),
            ),
            keeps=True,
        ),
        Scenario(
            f"{engine}-move-removed",
            engine,
            "`poolsmith move remove-cluster`",
            (
                install(engine, _with_oslo(INSTALLED)),
                Step(_GIVEN_UP, move=(*remove, *_BY)),
                Step(_OUT, move=remove),
                Step("what held the delivery is deleted", by_hand=delete(holder) if is_flux else take_all_along),
            ),
        ),
        Scenario(
            f"{engine}-move-removed-running",
            engine,
            "`poolsmith move remove-cluster --keep-running`",
            (
                install(engine, _with_oslo(INSTALLED)),
                Step(_SUSPENDED, move=(*remove, "--keep-running")),
                Step(
                    _LETS_GO,
                    by_hand=by_both(suspend(("Kustomization", HELD)), delete(holder))
                    if is_flux
                    else take_finalizers_off(*names),
                ),
                Step(_OUT, move=(*remove, "--keep-running")),
                Step(_LEFT_DELETED, by_hand=delete(*old)),
            ),
            keeps=True,
        ),
    )


_LEFT_DELETED = "what is left of the old delivery is deleted"
_PREINSTALLED = "{source: preinstalled, version: 580.126.20}"
_BY_OPERATOR = {_LAB: cluster(mode="cluster-policy"), "profiles/lab/a.yaml": pool("a", driver=_PREINSTALLED)}
_BY_PLUGIN = edited(
    _BY_OPERATOR,
    "{release: v26.3.3, driverMode: cluster-policy}",
    "{kind: device-plugin, release: v0.20.0, gpuFeatureDiscovery: true}",
)
_WITH_C = {
    path.replace("/b.yaml", "/c.yaml"): text.replace("{name: b}", "{name: c}")
    for path, text in _with_oslo(INSTALLED).items()
    if path not in {"profiles/oslo/a.yaml", "profiles/lab/b.yaml"}
}


def moves_of_machines(engine: str) -> tuple[Scenario, ...]:
    """Pools that go to another cluster, seen from the one that the engine delivers; and another kind of stack."""
    to_rome = ("split-cluster", "lab", "rome", "b")
    into_lab = ("merge-clusters", "oslo", "lab")
    kinds = (("device-plugin", "v0.20.0", _BY_OPERATOR), ("operator", "v26.3.3", _BY_PLUGIN))
    return (
        Scenario(
            f"{engine}-move-split",
            engine,
            "`poolsmith move split-cluster`, in the cluster that gives the pool away",
            (
                install(engine),
                Step(
                    "the other one has it, too", move=(*to_rome, *(() if engine == FLUX else ("--destination", "rome")))
                ),
                Step("given away", move=to_rome),
            ),
        ),
        Scenario(
            f"{engine}-move-merge",
            engine,
            "`poolsmith move merge-clusters`, in the cluster that gets the pools",
            (
                install(engine, _WITH_C),
                Step("it has them, too", move=into_lab),
                Step(_GIVEN_UP, move=(*into_lab, *_BY)),
                Step(_OUT, move=into_lab),
            ),
            keeps=True,
        ),
        *(
            Scenario(
                f"{engine}-move-kind-{kind}",
                engine,
                f"`poolsmith move stack-kind` to `{kind}`",
                (
                    install(engine, files),
                    Step(_GIVEN_UP, move=("stack-kind", "lab", kind, "--release", release, *_BY)),
                    Step("of another kind", move=("stack-kind", "lab", kind, "--release", release)),
                ),
            )
            for kind, release, files in kinds
        ),
    )


_MOVES = (
    *further_moves(FLUX),
    *further_moves(ARGOCD),
    *moves_of_machines(FLUX),
    *moves_of_machines(ARGOCD),
    *moves(FLUX),
    Scenario(
        "flux-move-engine",
        FLUX,
        "`poolsmith move engine`, from Flux to Argo CD",
        (
            install(FLUX),
            Step(_SUSPENDED, move=_TO_ARGOCD),
            Step(
                _LETS_GO,
                by_hand=by_both(
                    suspend(("Kustomization", HELD)), delete((_KUSTOMIZATION, "Kustomization", HELD, FLUX_NAMESPACE))
                ),
            ),
            Step(_HANDED, move=_TO_ARGOCD),
            Step(_TAKES, hold=_AT_LAB, hold_by=ARGOCD),
            Step(
                _LEFT_DELETED,
                by_hand=delete(
                    (_RELEASE, "HelmRelease", "lab-gpu-operator", FLUX_NAMESPACE),
                    (_KUSTOMIZATION, "Kustomization", "lab-platform", FLUX_NAMESPACE),
                    (_KUSTOMIZATION, "Kustomization", "lab-pools", FLUX_NAMESPACE),
                ),
            ),
        ),
        engines=(FLUX, ARGOCD),
        keeps=True,
    ),
    *moves(ARGOCD),
    Scenario(
        "argocd-move-engine",
        ARGOCD,
        "`poolsmith move engine`, from Argo CD to Flux",
        (
            install(ARGOCD),
            Step(_SUSPENDED, move=_TO_FLUX),
            Step(_LETS_GO, by_hand=take_finalizers_off("lab-gpu-operator", "lab-platform", "lab-pools")),
            Step(_HANDED, move=_TO_FLUX),
            Step(_TAKES, hold=_AT_LAB, hold_by=FLUX),
        ),
        engines=(ARGOCD, FLUX),
        keeps=True,
    ),
)
SCENARIOS = (*both(FLUX), *_FLUX_ALONE, *both(ARGOCD), *_ARGOCD_ALONE, *_FROM_UMBRELLA, *_FROM_HELM_CHART, *_MOVES)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
