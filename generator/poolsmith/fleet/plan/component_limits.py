"""Pass: components that are open to published attacks, whose support has ended, or that are older than others need.

What the catalog does not know of a version is unknown, and nothing is said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import support as codes
from poolsmith.core.diagnostics.codes.node_software import TOOLKIT_TOO_OLD
from poolsmith.core.facts.versions import is_older, version_key
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.profiles.node_pool import ToolkitSource
from poolsmith.gpu.catalog.limits import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.limits import Vulnerability

RELEASE = "/spec/stack/release"
TOOLKIT_VERSION = "/spec/toolkit/version"
DRIVER_VERSION = "/spec/driver/version"
_PINNED = ("toolkit", "version")
_PINNED_AT = "/spec/stack/values/toolkit/version"
_OURS = (ToolkitSource.OPERATOR, ToolkitSource.OVERLAY)


def tell_limits(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Of the release, of the toolkit that it brings or the values pin, and of what pools have themselves."""
    _tell_release(facts)
    _tell_kubernetes(plan, facts)
    if any(pool.toolkit in _OURS for pool in plan.pools):
        _tell_toolkit(plan, facts)
    for pool in plan.pools:
        tell_pool(pool, facts)
    return plan


def tell_pool(pool: PoolPlan, facts: Facts) -> None:
    """What the hosts have themselves, and the driver's branch."""
    version = pool.profile.spec.toolkit.version
    if pool.toolkit == ToolkitSource.PREINSTALLED and version is not None:
        found = limits().of_toolkit(_whole(version))
        if found:
            facts.report_pool(
                codes.VULNERABLE_STACK,
                pool,
                TOOLKIT_VERSION,
                f"the toolkit {version} of these nodes is open to {_names(found)}",
                help=f"install {found[-1].toolkit} or later on the nodes",
            )
    _tell_branch(pool, facts)


def check_plugin_needs(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """What the device plugin needs of nodes and cluster, where no operator brings it."""
    least = facts.catalog.device_plugin["devicePlugin"]["minimum"]
    kubernetes = plan.cluster.spec.kubernetes.version
    if is_older(kubernetes, str(least["kubernetes"])):
        facts.report_cluster(
            TOOLKIT_TOO_OLD,
            "/spec/kubernetes/version",
            f"the device plugin needs Kubernetes {least['kubernetes']} or later, and the cluster has {kubernetes}",
            help="upgrade the cluster",
        )
    for pool in plan.pools:
        version = pool.profile.spec.toolkit.version
        if version is not None and is_older(version, str(least["toolkit"])):
            facts.report_pool(
                TOOLKIT_TOO_OLD,
                pool,
                TOOLKIT_VERSION,
                f"the device plugin needs the toolkit {least['toolkit']} or later, and the pool has {version}",
                help=f"install the toolkit {least['toolkit']} or later on the nodes",
            )
        else:
            tell_pool(pool, facts)
    return plan


def _tell_release(facts: Facts) -> None:
    release, releases = facts.need_release(), facts.catalog.releases
    if releases.is_supported(release.tag):
        return
    facts.report_cluster(
        codes.SUPPORT_ENDED,
        RELEASE,
        f"support of the operator's line {release.line} has ended (as of {releases.supported_as_of})",
        help=f"upgrade to {' or '.join(releases.supported)} when you can",
    )


def _tell_toolkit(plan: ClusterPlan, facts: Facts) -> None:
    asked = value_at(plan.cluster.spec.stack.values, _PINNED, MISSING)
    default, tag = str(facts.need_chart().default(_PINNED)), facts.need_release().tag
    version = default if asked is MISSING else asked
    found = limits().of_toolkit(version) if isinstance(version, str) else ()
    if found:
        facts.report_cluster(
            codes.VULNERABLE_STACK,
            RELEASE if version == default else _PINNED_AT,
            f"{tag} installs the toolkit {version}, which is open to {_names(found)}",
            help=f"pin {found[-1].way_out} in `stack.values`",
            severity=None if any(item.critical for item in found) or version != default else Severity.NOTE,
        )


_FAR_MINORS = 5


def _tell_kubernetes(plan: ClusterPlan, facts: Facts) -> None:
    version = plan.cluster.spec.kubernetes.version
    ends = [end for matrix in facts.catalog.support_matrices.values() for end in matrix.ends]
    newest = max((version_key(end) for end in ends), default=None)
    if newest is not None and version_key(version)[1] > newest[1] + _FAR_MINORS:
        shown = f"{newest[0]}.{newest[1]}"
        facts.report_cluster(
            codes.UNKNOWN_VERSION,
            "/spec/kubernetes/version",
            f"there is no Kubernetes {version} yet; the newest that any support matrix names is {shown}",
            help="write what `kubectl version` prints for the server, without the `v`",
        )


def _tell_branch(pool: PoolPlan, facts: Facts) -> None:
    driver, told = pool.driver, pool.profile.spec.driver.version is not None
    if driver is None:
        return
    if told and (unlikely := limits().unlikely(driver.branch)) is not None:
        facts.report_pool(codes.UNKNOWN_VERSION, pool, DRIVER_VERSION, unlikely, help=codes.COMPARE)
    if (ended := limits().ended(driver.branch)) is not None:
        place = DRIVER_VERSION if told else "/spec/driver"
        facts.report_pool(codes.SUPPORT_ENDED, pool, place, ended, help=codes.MOVE)


def _whole(version: str) -> str:
    """`1.17` as `1.17.0`, without the revision of a package."""
    numbers = version.partition("-")[0].split(".")
    return ".".join([*numbers, "0", "0"][:3])


def _names(found: Iterable[Vulnerability]) -> str:
    return ", ".join(item.shown for item in found)
