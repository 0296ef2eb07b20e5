"""Delivery of Kata: by the Confidential Containers operator and the Kata manager, or by the chart kata-deploy.

The chart is a unit of its own, pinned, with the shims that pools here use and no other. The Kata manager brings the
guests of the other way.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import is_older
from poolsmith.core.record import replace
from poolsmith.fleet.plan.delivery.image_mirrors import MIRRORS, SECRETS, mirrored
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog, Origin
from poolsmith.fleet.plan.plan import GitSource, HelmChart, KubernetesObject, NamespacePlan, UnitPlan, ValueSetting
from poolsmith.fleet.plan.sandbox.confidential import is_confidential
from poolsmith.fleet.plan.taints import all_tolerations
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.gpu.catalog.node_labels import WORKLOAD
from poolsmith.gpu.catalog.sandboxes import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValuePath
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.gpu.catalog.platforms import Distribution
    from poolsmith.gpu.catalog.releases import Release
    from poolsmith.gpu.catalog.sandboxes import KataEra


def cc_runtime(facts: dict[str, Any], node_labels: dict[str, str]) -> dict[str, Any]:
    """A CcRuntime for nodes that carry `node_labels`, from the catalog's facts about the release.

    The RuntimeClasses that it names are made by the CoCo operator; nothing here makes them a second time.
    """
    hook = {
        "image": f"{facts['helperImage']}:{facts['helperTag']}",
        "volumeMounts": _mounts(facts["hookVolumes"]),
        "volumes": _volumes(facts["hookVolumes"]),
    }
    scripts = facts["scripts"]
    return {
        "apiVersion": "confidentialcontainers.org/v1beta1",
        "kind": "CcRuntime",
        "metadata": {"name": "ccruntime"},
        "spec": {
            "runtimeName": facts["runtimeName"],
            "ccNodeSelector": {"matchLabels": node_labels},
            "config": {
                "installType": "bundle",
                "payloadImage": f"{facts['payloadImage']}:{facts['payloadTag']}",
                "installDoneLabel": {"katacontainers.io/kata-runtime": "true"},
                "uninstallDoneLabel": {"katacontainers.io/kata-runtime": "cleanup"},
                "installerVolumeMounts": _mounts(facts["installerVolumes"]),
                "installerVolumes": _volumes(facts["installerVolumes"]),
                "installCmd": [scripts, "install"],
                "uninstallCmd": [scripts, "cleanup"],
                "cleanupCmd": [scripts, "reset"],
                "runtimeClassNames": list(facts["runtimeClassNames"]),
                "postUninstall": hook,
                "preInstall": hook,
                "environmentVariables": [
                    {
                        "name": "NODE_NAME",
                        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
                    },
                    {"name": "CONFIGURE_CC", "value": "yes"},
                ],
            },
        },
    }


def _mounts(volumes: dict[str, list[str]]) -> list[dict[str, str]]:
    return [{"name": name, "mountPath": path} for name, (path, _) in volumes.items()]


def _volumes(volumes: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"name": name, "hostPath": {"path": path, "type": kind}} for name, (path, kind) in volumes.items()]


def install_by_coco(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> ClusterPlan:
    """One runtime class for each name that pools have, with its guest; the operator's own objects as a unit."""
    classes: dict[str, tuple[str, dict[str, str]]] = {}
    for pool in kata:
        sandbox = pool.profile.spec.sandbox
        if sandbox.release is not None:
            facts.report_pool(
                codes.FIELD_WITHOUT_EFFECT,
                pool,
                _RELEASE,
                f"with {facts.need_release().tag} Kata comes by the Confidential Containers operator alone",
                help="remove it",
            )
        kind = sandbox.tee.value if is_confidential(pool) and sandbox.tee is not None else PLAIN
        guest = sandbox.artifacts or era.artifacts[kind], era.class_selectors.get(kind, {})
        name = pool.runtime_class or era.classes[kind]
        if classes.setdefault(name, guest) != guest:
            facts.report_pool(
                codes.SINGLETON_CONFLICT,
                pool,
                "/spec/sandbox/artifacts" if sandbox.artifacts else "/spec/sandbox",
                f"two pools give the runtime class `{name}` different guests",
                help="give one of them another `sandbox.runtimeClass`",
            )
    if facts.need_chart().default(("operator", "runtimeClass")) in classes:
        facts.report_pool(
            gpu_use.SANDBOX_CONTRADICTION,
            kata[0],
            "/spec/sandbox/runtimeClass",
            "the runtime class of Kata can't be the operator's own",
            help="choose another name, like kata-qemu-nvidia-gpu",
        )
    asked = tuple(facts.at_pool(pool, "/spec/workload") for pool in kata)
    source = FromCatalog(f"sandbox/{era.name}", era.source)
    origin = Derived(
        "sandbox", "Kata pools of this era get it from the Confidential Containers operator", (*asked, source)
    )
    setting = _classes(plan, kata, classes, source, facts)
    return replace(with_values(plan, setting), units=(*plan.units, _unit(facts, origin)))


def _classes(
    plan: ClusterPlan,
    kata: list[PoolPlan],
    classes: dict[str, tuple[str, dict[str, str]]],
    source: FromCatalog,
    facts: Facts,
) -> ValueSetting:
    registry = plan.cluster.spec.registry
    pulled = [facts.at_cluster(MIRRORS)] if registry.mirrors else []
    pulled += [facts.at_cluster(SECRETS)] if registry.pull_secrets else []
    secret = next(iter(registry.pull_secrets), "")
    entries: list[dict[str, Any]] = [
        {
            "name": name,
            "nodeSelector": selector,
            "artifacts": {"url": mirrored(url, registry.mirrors), "pullSecret": secret},
        }
        for name, (url, selector) in sorted(classes.items())
    ]
    names = Derived(
        "sandbox",
        "the documented class names; the list replaces the chart's, and has the classes that pools here use",
        (*(facts.at_pool(pool, "/spec/sandbox") for pool in kata), *pulled, source),
    )
    return ValueSetting(("kataManager", "config", "runtimeClasses"), entries, names)


def _unit(facts: Facts, origin: Origin) -> UnitPlan:
    coco = facts.catalog.sandboxes.coco_operator
    return UnitPlan(
        name="coco-operator",
        folder="units/coco-operator",
        namespace=coco["namespace"],
        title=f"Confidential Containers operator {coco['release']}: installs Kata on the labelled nodes",
        objects=(
            KubernetesObject(
                file="ccruntime.yaml",
                body=cc_runtime(coco, {WORKLOAD: "vm-passthrough"}),
                origin=Derived("sandbox", "restricted to the nodes of the Kata pools", (origin,)),
            ),
        ),
        source=GitSource(
            repository=coco["repository"],
            revision=f"refs/tags/{coco['release']}",
            path=coco["path"],
            level="privileged",
            image_hosts=tuple(coco["imageHosts"]),
        ),
        before_platform=True,
    )


_OTHERS = "k8s"


def containerd_folder(distribution: Distribution, release: Release) -> str | None:
    """None where no source says."""
    paths = distribution.paths(CONTAINERD, release.line)
    return posixpath.dirname(paths.config) if paths is not None and paths.config else None


def containerd_folders(distribution: Distribution) -> set[str]:
    """At any release: what the chart looks for does not depend on the operator."""
    rules = distribution.rules.get(CONTAINERD, ())
    return {posixpath.dirname(paths.config) for _, paths in rules if paths.config}


def kata_distribution(distribution: Distribution, facts: Facts) -> str | None:
    """`k8sDistribution` of the chart; None for a distribution that it has no folder of."""
    known = facts.catalog.sandboxes.kata_deploy
    if distribution.name in known.distributions:
        return known.distributions[distribution.name]
    return _OTHERS if containerd_folder(distribution, facts.need_release()) == known.folder else None


_FOLDER = "units/kata-deploy"
_WORKLOAD = "/spec/workload"
_RELEASE = "/spec/sandbox/release"
_IMAGES = (("image", "reference"), ("kubectlImage", "reference"))
"""Of the DaemonSet, and of the job that takes Kata off the nodes again."""


def install_by_kata_deploy(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> ClusterPlan:
    """After the operator, whose NodeFeatureRule definition has to be there when the chart's pods start."""
    known = facts.catalog.sandboxes.kata_deploy
    version = _version(kata, era, facts)
    chart = facts.catalog.chart(known.chart, version) if version is not None else None
    if version is None or chart is None:
        return plan
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


def _version(kata: list[PoolPlan], era: KataEra, facts: Facts) -> str | None:
    """The chart's version: one for the cluster, and known. None where that is not so, which is reported."""
    asking = [pool for pool in kata if pool.profile.spec.sandbox.release is not None]
    if not asking:
        return str(era.installer_version)
    first, version = asking[0], str(asking[0].profile.spec.sandbox.release)
    other = next((pool for pool in asking if pool.profile.spec.sandbox.release != version), None)
    known = chart_versions(facts.catalog.sandboxes.kata_deploy.chart)
    if other is not None:
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            other,
            _RELEASE,
            f"kata-deploy is installed once for a cluster, and pool `{first.name}` asks for {version}",
            help="write one `sandbox.release` for all Kata pools",
            related=((first, _RELEASE, "asks for another one"),),
        )
    elif version not in known:
        facts.report_pool(
            codes.UNKNOWN_RELEASE,
            first,
            _RELEASE,
            f"the catalog does not know kata-deploy {version}",
            help=f"known: {listed(known)}; `poolsmith catalog import --pack` makes the facts of another one from its "
            "chart (see `docs/catalog-packs.md`)",
        )
    elif is_older(version, str(era.installer_version)):
        facts.report_pool(
            codes.NO_SUPPORT_ROW,
            first,
            _RELEASE,
            f"the documentation of {facts.need_release().line} goes with kata-deploy {era.installer_version} or later",
            help="nothing to do, if it works for you",
        )
    return version if other is None and version in known else None


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
    rules = ("nodeFeatureRules", "create")
    if confidential and chart.default(rules) is not None:
        offline = "rendered without a cluster, the chart can't see that it knows NodeFeatureRule"
        yield rules, "true", Derived("sandbox", offline, (*asked, source))
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
