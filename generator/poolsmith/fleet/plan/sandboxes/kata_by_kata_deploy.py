"""Kata by the chart kata-deploy: a unit of its own, pinned, with the shims that pools here use and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import HelmChart, NamespacePlan, UnitPlan, ValueSetting
from poolsmith.fleet.plan.registry import MIRRORS, SECRETS, mirrored
from poolsmith.fleet.plan.sandboxes.confidential import is_confidential
from poolsmith.fleet.plan.sandboxes.containerd_folder import kata_distribution
from poolsmith.fleet.plan.scheduling import all_tolerations
from poolsmith.gpu.catalog.node_labels import WORKLOAD
from poolsmith.gpu.catalog.sandboxes import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValuePath
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.gpu.catalog.sandboxes import KataEra

_FOLDER = "units/kata-deploy"
_WORKLOAD = "/spec/workload"
_IMAGES = (("image", "reference"), ("kubectlImage", "reference"))
"""Of the DaemonSet, and of the job that takes Kata off the nodes again."""


def install_by_kata_deploy(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> ClusterPlan:
    """After the operator, whose NodeFeatureRule definition has to be there when the chart's pods start."""
    known = facts.catalog.sandboxes.kata_deploy
    version = str(era.installer_version)
    chart = facts.catalog.chart(known.chart, version)
    assert chart is not None, "the catalog has the chart of each era"
    for pool in kata:
        if pool.profile.spec.sandbox.artifacts is not None:
            facts.report_pool(
                codes.FIELD_WITHOUT_EFFECT,
                pool,
                "/spec/sandbox/artifacts",
                f"the guests of {known.chart} {version} come with it, and `sandbox.artifacts` has no effect",
                help="remove it",
            )
    asked = tuple(facts.at_pool(pool, _WORKLOAD) for pool in kata)
    source = FromCatalog(f"sandbox/{era.name}", era.source)
    settings = (
        ValueSetting(path, value, origin)
        for path, value, origin in _values(plan, kata, chart, (asked, source), facts)
        if chart.default(path) != value
    )
    unit = UnitPlan(
        name=known.chart,
        folder=_FOLDER,
        namespace=known.namespace,
        title=f"{known.chart} {version}: installs Kata on the labelled nodes",
        values=tuple(sorted(settings, key=lambda setting: setting.path)),
        chart=HelmChart(
            name=known.chart,
            version=version,
            repository=plan.cluster.spec.delivery.chart_repo or known.repository,
            publisher=known.repository,
            values_file=f"{_FOLDER}/values/{known.chart}.yaml",
        ),
        catalog_release=version,
    )
    because = "kata-deploy is privileged, and writes on hosts; Pod Security admission would refuse it"
    namespace = NamespacePlan(name=known.namespace, level="privileged", origin=Derived("sandbox", because, asked))
    return replace(plan, units=(*plan.units, unit), namespaces=(*plan.namespaces, namespace))


def _values(
    plan: ClusterPlan,
    kata: list[PoolPlan],
    chart: Chart,
    from_where: tuple[tuple[Origin, ...], FromCatalog],
    facts: Facts,
) -> Iterator[tuple[ValuePath, Any, Origin]]:
    asked, source = from_where
    known, spec = facts.catalog.sandboxes.kata_deploy, plan.cluster.spec
    distribution = facts.distribution
    if distribution is not None and (name := kata_distribution(distribution, facts)) is not None:
        because = "where containerd's configuration is"
        yield (
            ("k8sDistribution",),
            name,
            Derived("sandbox", because, (facts.at_cluster("/spec/kubernetes/distribution"),)),
        )
    labelled = Derived("sandbox", "else Kata is installed, and containerd restarted, on every node", (*asked, source))
    yield ("nodeSelector",), {WORKLOAD: "vm-passthrough"}, labelled
    if tolerations := all_tolerations(taint for pool in kata for taint in pool.taints_of_new_nodes):
        taints = tuple(facts.at_pool(pool, "/spec/nodes") for pool in kata)
        yield ("tolerations",), tolerations, Derived("sandbox", "taints of the Kata pools", taints)
    yield from _shims(
        kata, chart, Derived("sandbox", "the shims that pools here use, and no other", (*asked, source)), facts
    )
    confidential = [pool for pool in kata if is_confidential(pool)]
    pulls = [known.guest_pull] if _pulls_in_guest(confidential, chart, facts) else []
    because = "images of confidential pods are pulled inside of the guest" if pulls else "no pool here is confidential"
    yield ("snapshotter", "setup"), pulls, Derived("sandbox", because, (*asked, source))
    at_mirrors = Derived("registry", "pulled from the mirror of its host", (facts.at_cluster(MIRRORS),))
    for image in _IMAGES:
        if (reference := chart.default(image)) is not None:
            yield image, mirrored(str(reference), spec.registry.mirrors), at_mirrors
    if spec.registry.pull_secrets:
        secrets = [{"name": name} for name in spec.registry.pull_secrets]
        yield ("imagePullSecrets",), secrets, facts.at_cluster(SECRETS)


def _shims(kata: list[PoolPlan], chart: Chart, origin: Origin, facts: Facts) -> Iterator[tuple[ValuePath, Any, Origin]]:
    """Older charts have no switch for all of them: each that is on by default is turned off."""
    names = facts.catalog.sandboxes.kata_deploy.shims
    wanted = {
        names[pool.profile.spec.sandbox.tee.value if is_confidential(pool) and pool.profile.spec.sandbox.tee else PLAIN]
        for pool in kata
    }
    default = names[PLAIN] if names[PLAIN] in wanted else min(wanted)
    one_switch = ("shims", "disableAll")
    if chart.default(one_switch) is not None:
        yield one_switch, True, origin
    for name, shim in chart.default(("shims",)).items():
        if isinstance(shim, dict) and (name in wanted or chart.default(one_switch) is None):
            yield ("shims", name, "enabled"), name in wanted, origin
    for arch in {pool.profile.spec.arch.value for pool in kata}:
        yield ("defaultShim", arch), default, origin


def _pulls_in_guest(confidential: list[PoolPlan], chart: Chart, facts: Facts) -> bool:
    names = facts.catalog.sandboxes.kata_deploy
    used = {names.shims[pool.profile.spec.sandbox.tee.value] for pool in confidential if pool.profile.spec.sandbox.tee}
    return any(chart.default(("shims", name, "containerd", "snapshotter")) == names.guest_pull for name in used)
