"""The CcRuntime that makes the Confidential Containers operator install Kata, and where it can't."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics.codes import gpu_use
from poolsmith.diagnostics.listing import listed

if TYPE_CHECKING:
    from poolsmith.plan.facts import Facts
    from poolsmith.plan.plan import ClusterPlan, PoolPlan

_CONTAINERD = "containerd"
_CONFIGURATION = "containerd-conf"
_OTHER_CLUSTER = "leave the pool out, or move it to a cluster of kubeadm, or of another distribution with "


def refuse_unfit(plan: ClusterPlan, kata: list[PoolPlan], era: dict[str, Any], facts: Facts) -> None:
    """Hosts whose containerd is configured elsewhere, processors without images, and upgrades."""
    for pool in kata:
        _refuse_folder(pool, facts)
        arch = pool.profile.spec.arch
        if arch not in era["arch"]:
            facts.report_pool(
                gpu_use.SANDBOX_CONTRADICTION,
                pool,
                "/spec/arch",
                f"the images that install Kata with {facts.need_release().tag} are none for {arch}",
                help=f"run Kata on nodes of {listed(era['arch'])}, or leave the pool out",
            )
    before = plan.cluster.spec.stack.upgrading_from
    if before is not None and era["firstInstallationOnly"]:
        facts.report_cluster(
            gpu_use.SANDBOX_CONTRADICTION,
            "/spec/stack/upgradingFrom",
            f"pool `{kata[0].name}` runs Kata, which is supported with {facts.need_release().tag} for a first "
            f"installation only, not for an upgrade from {before}",
            help="leave the Kata pools out, or install the release in a new cluster",
        )


def _refuse_folder(pool: PoolPlan, facts: Facts) -> None:
    """The installer mounts one folder of the host, and looks for containerd's configuration nowhere else."""
    distribution, runtime = facts.distribution, pool.profile.spec.runtime
    if distribution is None or runtime.name != _CONTAINERD:
        return  # each is reported elsewhere
    mounted = facts.catalog.sandbox["cocoOperator"]["installerVolumes"][_CONFIGURATION][0]
    paths = distribution.paths(_CONTAINERD, facts.need_release().line)
    known = paths.config if paths is not None else None
    given = runtime.config or known
    if all(path is not None and posixpath.dirname(path) == posixpath.normpath(mounted) for path in (known, given)):
        return
    where = f"in {posixpath.dirname(given or known or '')}" if given or known else "elsewhere"
    facts.report_pool(
        gpu_use.SANDBOX_CONTRADICTION,
        pool,
        "/spec/runtime/config" if runtime.config else "/spec/workload",
        f"Kata with {facts.need_release().tag} is installed into {mounted}, and containerd is configured "
        f"{where} on the {distribution.name} nodes of pool `{pool.name}`",
        help=_OTHER_CLUSTER + f"its containerd in {mounted}",
    )


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
