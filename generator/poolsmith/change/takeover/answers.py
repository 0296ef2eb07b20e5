"""What only people know of a cluster to take over: given as flags, else assumed, with the assumption stated.

The destination of Argo CD is one that no other cluster is delivered to.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.draft import ClusterDraft, ProfileDraft
from poolsmith.change.takeover.found import application_of, source_of_flux
from poolsmith.core.facts.versions import line_of
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.shared_destinations import ArgoCluster
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE
from poolsmith.kubernetes.repository.argo_destination import IN_CLUSTER_SERVER, argo_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.takeover.effective import Path
    from poolsmith.change.takeover.found import Present
    from poolsmith.change.takeover.node_answers import TakeoverAnswers
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.project.run.surroundings import Surroundings


_ENGINE, _INSTANCE = ("delivery", "engine"), ("delivery", "instance")
_NAMESPACE = ("delivery", "namespace")
_NAME, _SERVER = ("delivery", "destination", "name"), ("delivery", "destination", "server")


def argo_cluster_of(cluster: ProfileDraft) -> ArgoCluster | None:
    """Of a draft; None of another engine."""
    fields = cluster.fields
    if fields.get(_ENGINE) != "argocd":
        return None
    target = argo_target(fields.get(_NAME), fields.get(_SERVER))
    namespace = fields.get(_NAMESPACE) or "argocd"
    return ArgoCluster(cluster.name, fields.get(_INSTANCE) or "", target, namespace, cluster.name)


def stand_apart(cluster: ProfileDraft, others: Iterable[ArgoCluster], *, is_told: bool) -> None:
    """Unless an object of Argo CD told the destination, a further cluster goes by its own name. Where one told a
    destination that another cluster has, two Argo CDs must be meant. Both are assumed."""
    found = argo_cluster_of(cluster)
    known = [item for item in others if item.cluster != cluster.name]
    if found is None or not known:
        return
    if not is_told and found.target.is_own_cluster:
        cluster.fields[_NAME] = cluster.name
        cluster.assumed.add(_NAME)
    elif any((item.instance, item.target) == (found.instance, found.target) for item in known):
        cluster.fields[_INSTANCE] = cluster.name
        cluster.assumed.add(_INSTANCE)


_ADDRESS = "https://git.example.com/gpu.git"
_SYSTEMS = ("ubuntu 24.04", "ubuntu 22.04")
_GPU = "NVIDIA-L40S"
_KERNELS = {"24.04": "6.8.0-60-generic", "22.04": "5.15.0-105-generic"}
_LABEL = "example.com/gpu-pool"


def possible_drafts(
    present: Present, tag: str, answers: TakeoverAnswers, around: Surroundings, catalog: Catalog
) -> Iterator[ClusterDraft]:
    """One for each kind of nodes that the release knows, the commonest first; all are alike in what is known."""
    distributions = [answers.distribution] if answers.distribution else _likely(present, catalog)
    for distribution in distributions:
        entry = catalog.distributions.get(distribution)
        runtimes = [answers.runtime] if answers.runtime else list(entry.rules) if entry is not None else [CONTAINERD]
        for runtime in runtimes:
            for system in [answers.system] if answers.system else _SYSTEMS:
                yield _draft(present, tag, answers, around, (distribution, runtime, system))


_OF_KINDS = {"HelmChart": ("k3s", "rke2")}
"""Distributions that have what such an object is for."""


def _likely(present: Present, catalog: Catalog) -> list[str]:
    """The commonest first; only those that can have what installs the chart."""
    if kinds := _OF_KINDS.get(present.installation.document.kind):
        return [name for name in kinds if name in catalog.distributions]
    return sorted(catalog.distributions, key=lambda name: (name != "kubeadm", name))


def folders_named(draft: ClusterDraft, values: dict[str, Any], catalog: Catalog, tag: str) -> int:
    """How many variables of the toolkit lead into folders where the distribution keeps its runtime's configuration."""
    distribution = catalog.distributions.get(str(draft.cluster.fields["kubernetes", "distribution"]))
    if distribution is None:
        return 0
    paths = distribution.paths(str(draft.pools[0].fields["runtime", "name"]), line_of(tag))
    known = {posixpath.dirname(path) for path in paths.by_field.values() if path} if paths is not None else set()
    given = (word(item.get("value")) for item in mappings(mapping(values.get("toolkit")).get("env")))
    return sum(path.startswith(tuple(f"{folder}/" for folder in known)) for path in given)


def _draft(
    present: Present, tag: str, answers: TakeoverAnswers, around: Surroundings, nodes: tuple[str, str, str]
) -> ClusterDraft:
    distribution, runtime, system = nodes
    selectors = [_selector(item.data) for item in present.drivers]
    label = selectors[0][0] if selectors and len({key for key, _ in selectors}) == 1 and selectors[0][0] else None
    cluster = cluster_profile(present, tag, answers, around, distribution, label)
    pools = []
    for name, value in _pools(present, selectors if label else []):
        pool = ProfileDraft(name)
        if value and value != name:
            pool.fields["nodes", "labelValue"] = value
        identity, _, version = system.partition(" ")
        _given(pool, ("os", "id"), answers.system and identity, identity)
        _given(pool, ("os", "version"), answers.system and version, version)
        if answers.kernel:
            pool.fields["kernel", "release"] = answers.kernel
        _given(pool, ("runtime", "name"), answers.runtime, runtime)
        _given(pool, ("gpu", "product"), answers.gpu, _GPU)
        _given(pool, ("gpu", "count"), None, 8)
        pools.append(pool)
    return ClusterDraft(cluster, pools)


def cluster_profile(
    present: Present, tag: str, answers: TakeoverAnswers, around: Surroundings, distribution: str, label: str | None
) -> ProfileDraft:
    """What is the same for all nodes; `label` tells pools apart."""
    cluster = ProfileDraft(present.name)
    put = cluster.fields
    _given(cluster, ("kubernetes", "version"), answers.kubernetes, "1.34")
    _given(cluster, ("kubernetes", "distribution"), answers.distribution, distribution)
    by_claims = value_at(present.installation.values, ("gpuCluster", "deployCR")) is True
    put["stack", "kind"], put["stack", "release"] = "gpu-cluster" if by_claims else "operator", tag
    namespace = present.installation.namespace
    if namespace and namespace != OPERATOR_NAMESPACE:
        put["stack", "namespace"] = namespace
    _given(cluster, ("poolLabel",), label, _LABEL)
    _delivery(cluster, present, answers, around)
    return cluster


def _given(profile: ProfileDraft, path: Path, answer: Any, otherwise: Any) -> None:
    profile.fields[path] = answer or otherwise
    if not answer:
        profile.assumed.add(path)


def drivers_are_precompiled(pools: Iterable[ProfileDraft]) -> None:
    """An image of a precompiled driver is named by the kernel."""
    for pool in pools:
        pool.fields["driver", "source"] = "precompiled"
        if ("kernel", "release") not in pool.fields:
            version = str(pool.fields["os", "version"])
            _given(pool, ("kernel", "release"), None, _KERNELS.get(version, _KERNELS["24.04"]))


def _pools(present: Present, selectors: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names of pools with the values of their label: one for each driver object, else one."""
    if not selectors:
        return [(pool_name(item.data), "") for item in present.drivers] or [("gpu", "")]
    return [(pool_name(item.data), value) for item, (_, value) in zip(present.drivers, selectors, strict=True)]


def pool_name(driver: Any) -> str:
    """Of an NVIDIADriver; what the generator would put behind it is left out."""
    name = word(mapping(mapping(driver).get("metadata")).get("name")) or "gpu"
    for kind in ("gpu", "vgpu"):
        for how in ("compiled", "precompiled"):
            name = name.removesuffix(f"-{kind}-{how}")
    return name


def _selector(driver: Any) -> tuple[str, str]:
    """The one label that a driver object selects nodes by; empty where there are several or none."""
    selector = mapping(mapping(driver).get("spec")).get("nodeSelector")
    pairs = list(mapping(selector).items())
    return (str(pairs[0][0]), str(pairs[0][1])) if len(pairs) == 1 else ("", "")


def _delivery(cluster: ProfileDraft, present: Present, answers: TakeoverAnswers, around: Surroundings) -> None:
    detected = around.engine.value if around.engine is not None else None
    engine = answers.engine or present.engine or detected
    _given(cluster, ("delivery", "engine"), engine, "argocd")
    _given(cluster, ("delivery", "repoURL"), around.address.value if around.address else None, _ADDRESS)
    branch = around.branch.value if around.branch else None
    _given(cluster, ("delivery", "revision"), branch and f"refs/heads/{branch}", "refs/heads/main")
    if around.prefix:
        cluster.fields["delivery", "path"] = f"{around.prefix}output"
    if present.engine == "argocd" and engine == "argocd":
        _argo_cd(cluster, present)
        stand_apart(cluster, around.argo_clusters, is_told=True)
    elif (engine or "argocd") == "argocd":
        stand_apart(cluster, around.argo_clusters, is_told=False)
    elif engine == "flux" and (source := source_of_flux(present)) not in (
        None,
        ("GitRepository", f"{present.name}-poolsmith"),
    ):
        kind, name = source
        if kind != "GitRepository":
            cluster.fields["delivery", "sourceRef", "kind"] = kind
        cluster.fields["delivery", "sourceRef", "name"] = name
    repository = present.installation.repository
    if repository and repository.rstrip("/") != "https://helm.ngc.nvidia.com/nvidia" and _is_address(repository):
        cluster.fields["delivery", "chartRepo"] = repository


def _is_address(repository: str) -> bool:
    return repository.startswith(("https://", "oci://"))


def _argo_cd(cluster: ProfileDraft, present: Present) -> None:
    spec = application_of(present)
    put = cluster.fields
    if (project := word(spec.get("project"))) and project != "default" and "{{" not in project:
        put["delivery", "project"] = project
    namespace = word(present.installation.document.metadata.get("namespace"))
    if namespace and namespace != "argocd":
        put["delivery", "namespace"] = namespace
    destination = mapping(spec.get("destination"))
    for field in ("name", "server"):
        value = word(destination.get(field))
        if "{{" in value:  # each cluster of a generator has one
            _given(cluster, ("delivery", "destination", "name"), None, cluster.name)
            break
        if value and value != IN_CLUSTER_SERVER:
            put["delivery", "destination", field] = value
