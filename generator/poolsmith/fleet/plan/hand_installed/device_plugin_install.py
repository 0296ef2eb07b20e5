"""Pass: the device plugin without the operator, as a plain DaemonSet, or by its chart where something needs more.

The hosts bring a driver, a toolkit and a container runtime; pods get GPUs by a RuntimeClass or by the runtime's
default. The plain DaemonSet has one host folder and no more privileges than that needs. The stack runs on the nodes of
the pools, whatever their taints. docs/decisions.md says why there are two forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.plan.delivery.image_mirrors import mirrored
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, KubernetesObject, UnitPlan, ValueSetting
from poolsmith.fleet.plan.sharing.mig import MIG_STRATEGY
from poolsmith.fleet.plan.taints import missing_tolerations
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.gpu.catalog.container_runtimes import container_runtimes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.gpu.catalog.chart_workloads import ChartEntry


_KUBELET = "/var/lib/kubelet"


def kubelet_root(facts: Facts) -> str:
    """Where the kubelet of the distribution keeps its files."""
    root = facts.distribution.kubelet_root if facts.distribution is not None else None
    return root or _KUBELET


def runtime_class(facts: Facts) -> tuple[KubernetesObject, ...]:
    """The object, where the distribution does not bring it."""
    distribution = facts.distribution
    if distribution is None or distribution.runtime_class is None or distribution.makes_runtime_class:
        return ()
    name = distribution.runtime_class
    body = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
    because = f"{distribution.name} brings the runtime `{name}`, and no class for it"
    origin = Derived("hand_installed", because, (facts.at_cluster("/spec/kubernetes/distribution"),))
    return (KubernetesObject(file="runtime-class.yaml", body=body, origin=origin),)


def host_notes(plan: ClusterPlan, facts: Facts) -> Iterator[str]:
    """What nothing here installs and no file shows."""
    least = facts.catalog.device_plugin["devicePlugin"]["minimum"]
    yield (
        f"Nothing here installs a driver or a toolkit: before a node joins, it needs NVIDIA's driver "
        f"({least['driver']} or later) and the container toolkit ({least['toolkit']} or later)."
    )
    wanted = facts.host_runtime_class
    for runtime, pools in _by_runtime(plan).items():
        names = ", ".join(pool.name for pool in pools)
        if wanted is None:
            yield (
                f"The default runtime of the nodes' container runtime must be `nvidia` (pools {names}), as "
                f"`nvidia-ctk runtime configure --runtime={runtime} --set-as-default` makes it: neither the device "
                "plugin nor pods that ask for GPUs name a runtime class."
            )
        else:
            yield (
                f"Pods that ask for GPUs name the runtime class `{wanted}` (pools {names}): its runtime comes with the "
                f"toolkit of the hosts, and {_found(facts)}."
            )
    for pool in plan.pools:
        if (mig := pool.profile.spec.gpu.mig) is not None:
            yield (
                f"The hosts of pool {pool.name} make the MIG layout `{mig.layout}` themselves, as `nvidia-mig-parted "
                "apply` does, before the kubelet starts; where it changes later, restart the device plugin's pod there."
            )


def _found(facts: Facts) -> str:
    assert facts.distribution is not None, "it has a runtime class"
    name = facts.distribution.name
    if facts.distribution.makes_runtime_class:
        return f"{name} finds it when it starts: restart {name} on nodes that got the toolkit later"
    return f"{name} has it where its image has the toolkit"


def _by_runtime(plan: ClusterPlan) -> dict[str, list[PoolPlan]]:
    found: dict[str, list[PoolPlan]] = {}
    for pool in plan.pools:
        word = container_runtimes().operators(pool.profile.spec.runtime.name)
        found.setdefault(word, []).append(pool)
    return found


_SOCKETS = "/var/lib/kubelet/device-plugins"
"""Where the plugin looks in its own container, wherever the kubelet of the host keeps its files."""


def plain_daemon_set(
    *,
    image: str,
    namespace: str,
    folder: str,
    affinity: dict[str, Any],
    tolerations: list[dict[str, Any]],
    secrets: list[str],
    runtime_class: str | None,
) -> dict[str, Any]:
    """It reads no configuration: what shares or partitions needs the chart."""
    selected = {"name": "nvidia-device-plugin-ds"}  # as in the manifest that people applied by hand: it is immutable
    labels = {"app.kubernetes.io/name": "nvidia-device-plugin", **selected}
    pod: dict[str, Any] = {
        "priorityClassName": "system-node-critical",
        "affinity": affinity,
        "tolerations": tolerations,
        "containers": [
            {
                "name": "nvidia-device-plugin-ctr",
                "image": image,
                "env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": "device-plugin", "mountPath": _SOCKETS}],
            }
        ],
        "volumes": [{"name": "device-plugin", "hostPath": {"path": folder}}],
    }
    if runtime_class is not None:
        pod["runtimeClassName"] = runtime_class
    if secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in secrets]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": selected},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


GPU_TOLERATION: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def pool_affinity(plan: ClusterPlan) -> dict[str, Any]:
    """By the label that tells pools apart."""
    values = sorted(pool.label_value for pool in plan.pools)
    expression = {"key": plan.cluster.spec.pool_label, "operator": "In", "values": values}
    terms = [{"matchExpressions": [expression]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def tolerations_over(plan: ClusterPlan, present: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`present`, and what the taints of the pools need beside it."""
    taints = [taint for pool in plan.pools for taint in pool.taints_of_new_nodes]
    return [*present, *missing_tolerations(taints, present)]


CHART = "nvidia-device-plugin"
_UNIT = "device-plugin"
_CONFIG = ("devicePlugin", "config")
"""Where the operator's chart has what this one has at `config`."""
_NO_STRATEGY = "none"
_BY_ENVIRONMENT = "envvar"
_STEP = "hand_installed"


def plan_device_plugin(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One unit, whichever form it has."""
    asking = _asks_for_chart(plan, facts)
    unit = _chart(plan, facts, asking) if asking else _plain(plan, facts)
    config = tuple(setting for setting in plan.values if setting.path[:2] == _CONFIG)
    kept = tuple(setting for setting in plan.values if setting not in config)
    return replace(plan, values=kept, units=(*plan.units, unit), notes=(*plan.notes, *host_notes(plan, facts)))


def _asks_for_chart(plan: ClusterPlan, facts: Facts) -> tuple[Origin, ...]:
    """What the plain DaemonSet can't do: it reads no configuration, and advertises whole GPUs."""
    found = [facts.at_pool(pool, "/spec/sharing") for pool in plan.pools if pool.device_plugin_config is not None]
    found += [facts.at_pool(pool, "/spec/gpu/mig") for pool in plan.pools if pool.mig_strategy is not None]
    if plan.cluster.spec.stack.gpu_feature_discovery:
        found.append(facts.at_cluster("/spec/stack/gpuFeatureDiscovery"))
    return tuple(found)


def _plain(plan: ClusterPlan, facts: Facts) -> UnitPlan:
    data = facts.catalog.device_plugin["devicePlugin"]
    release = plan.cluster.spec.stack.release
    source = FromCatalog(f"device_plugin/{release}", data["source"])
    origin = Derived(_STEP, "the hand-installed device plugin", (facts.at_cluster("/spec/stack/kind"), source))
    body = plain_daemon_set(
        image=f"{mirrored(data['image'], plan.cluster.spec.registry.mirrors)}:{release}",
        namespace=plan.namespace,
        folder=f"{kubelet_root(facts)}/device-plugins",
        affinity=pool_affinity(plan),
        tolerations=tolerations_over(plan, [GPU_TOLERATION]),
        secrets=list(plan.cluster.spec.registry.pull_secrets),
        runtime_class=facts.host_runtime_class,
    )
    return UnitPlan(
        name=_UNIT,
        folder=f"units/{_UNIT}",
        namespace=plan.namespace,
        title=f"NVIDIA device plugin {release}",
        objects=(KubernetesObject(file="daemonset.yaml", body=body, origin=origin), *runtime_class(facts)),
    )


def _chart(plan: ClusterPlan, facts: Facts, asking: tuple[Origin, ...]) -> UnitPlan:
    data = facts.catalog.device_plugin["devicePlugin"]
    release = plan.cluster.spec.stack.release
    entry = read_chart_workloads(CHART, release)
    assert entry is not None, "look_up knows the release"
    if facts.distribution is not None and facts.distribution.kubelet_root is not None:
        facts.report_cluster(
            codes.STACK_CONTRADICTION,
            "/spec/kubernetes/distribution",
            f"the kubelet of {facts.distribution.name} keeps its files in {facts.distribution.kubelet_root}, and the "
            "chart of the device plugin has no value for that: sharing, MIG and GPU feature discovery need the chart",
            help="remove these from the cluster, or write `stack: {kind: operator}`",
        )
    settings = tuple(_values(plan, facts, entry, asking))
    defaults = entry.defaults or {}
    return UnitPlan(
        name=_UNIT,
        folder=f"units/{_UNIT}",
        namespace=plan.namespace,
        title=f"NVIDIA device plugin {release}",
        objects=runtime_class(facts),
        values=tuple(setting for setting in settings if value_at(defaults, setting.path) != setting.value),
        chart=HelmChart(
            name=CHART,
            version=entry.version,
            repository=plan.cluster.spec.delivery.chart_repo or data["repository"],
            publisher=data["repository"],
            values_file=f"units/{_UNIT}/values/{CHART}.yaml",
        ),
        catalog_release=release,
    )


def _values(plan: ClusterPlan, facts: Facts, entry: ChartEntry, asking: tuple[Origin, ...]) -> Iterator[ValueSetting]:
    spec, defaults = plan.cluster.spec, entry.defaults or {}
    pools = facts.at_cluster("/spec/poolLabel")
    yield ValueSetting(("affinity",), pool_affinity(plan), Derived(_STEP, "runs where GPUs are", (pools,)))
    because = "nodes of tainted pools need it; the list replaces the chart's, so it starts with those entries"
    tolerations = tolerations_over(plan, list(defaults["tolerations"]))
    yield ValueSetting(("tolerations",), tolerations, Derived(_STEP, because, (pools,)))
    yield from _strategy(plan, facts, asking)
    if (name := facts.host_runtime_class) is not None:
        yield ValueSetting(("runtimeClassName",), name, facts.at_cluster("/spec/kubernetes/distribution"))
    if spec.stack.gpu_feature_discovery:
        wanted = facts.at_cluster("/spec/stack/gpuFeatureDiscovery")
        yield ValueSetting(("gfd", "enabled"), True, wanted)
        own = Derived(_STEP, "Node Feature Discovery is a unit of its own, or somebody else's", (wanted,))
        yield ValueSetting(("nfd", "enabled"), False, own)
    image = str(defaults["image"]["repository"])
    yield ValueSetting(
        ("image", "repository"), mirrored(image, spec.registry.mirrors), facts.at_cluster("/spec/registry/mirrors")
    )
    if spec.registry.pull_secrets:
        secrets = [{"name": name} for name in spec.registry.pull_secrets]
        yield ValueSetting(("imagePullSecrets",), secrets, facts.at_cluster("/spec/registry/pullSecrets"))
    if plan.namespace == "default":
        yield ValueSetting(("allowDefaultNamespace",), True, facts.at_cluster("/spec/stack/namespace"))


def _strategy(plan: ClusterPlan, facts: Facts, asking: tuple[Origin, ...]) -> Iterator[ValueSetting]:
    """What of MIG there is to see. Where it is not said, the chart gives SYS_ADMIN, for there might be any."""
    found = next((item.value for item in plan.singletons if item.name == MIG_STRATEGY), _NO_STRATEGY)
    because = "one for the cluster; unless it is set, the chart gives the capability to see partitions"
    partitioned = tuple(facts.at_pool(pool, "/spec/gpu/mig") for pool in plan.pools if pool.mig_strategy is not None)
    yield ValueSetting(("migStrategy",), found, Derived(_STEP, because, partitioned or asking))
    config = [setting for setting in plan.values if setting.path[:2] == _CONFIG]
    for setting in config:
        yield ValueSetting(setting.path[1:], setting.value, setting.origin)
    if config and found == _NO_STRATEGY:
        because = "the plugin's own default; unless it is set, the chart gives the capability to mount"
        yield ValueSetting(("deviceListStrategy",), _BY_ENVIRONMENT, Derived(_STEP, because, asking))
