"""Folders of driver and toolkit on the hosts, of which a cluster has one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.fleet.plan.facts import agreed, with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValueSetting
from poolsmith.fleet.profiles.node_pool import ToolkitSource

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.origin import Origin

INSTALL_DIR = "/spec/driver/installDir"
_OS = "/spec/os/id"
_DRIVER_VALUE = ("hostPaths", "driverInstallDir")
_TOOLKIT_VALUE = ("toolkit", "installDir")


def agree_on_folders(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """As declared or as the operating systems have them; pools that differ are refused with both lines."""
    return _toolkit_folder(_driver_folder(plan, facts), facts)


def _driver_folder(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    with_driver = [pool for pool in plan.pools if pool.driver is not None]
    if not any(pool.driver and pool.driver.install_dir for pool in with_driver):
        return plan
    value, first, other = agreed(with_driver, lambda pool: pool.driver and pool.driver.install_dir)
    if other is not None:
        with_dir = first if value else other
        without = other if with_dir is first else first
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            with_dir,
            INSTALL_DIR if with_dir.profile.spec.driver.install_dir else _OS,
            f"pools `{with_dir.name}` and `{without.name}` have their driver in different folders; a cluster has one",
            help="move one of the pools to a cluster of its own",
            related=((without, "/spec/driver", "the other pool"),),
        )
    plan = with_singleton(plan, "driver folder", str(value), with_driver, "hostPaths.driverInstallDir")
    return with_values(plan, ValueSetting(_DRIVER_VALUE, value, _origin(first, facts)))


def _origin(pool: PoolPlan, facts: Facts) -> Origin:
    if pool.profile.spec.driver.install_dir is not None:
        return facts.at_pool(pool, INSTALL_DIR)
    os_id = pool.profile.spec.os.id
    known = facts.catalog.operating_systems.get(os_id)
    if known is None or known.driver_folder is None:
        name = facts.distribution.name if facts.distribution is not None else ""
        at = facts.at_cluster("/spec/kubernetes/distribution")
        return Derived("driver_folders", f"the driver installer of {name} puts it there", (at,))
    return Derived("driver_folders", f"{os_id} has its driver there", (facts.at_pool(pool, _OS),))


def _toolkit_folder(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Where a read-only system lets the toolkit write; others take any folder."""
    by_operator = [pool for pool in plan.pools if pool.toolkit == ToolkitSource.OPERATOR]
    bound = [pool for pool in by_operator if _known_folder(pool, facts) is not None]
    if not bound or plan.setting(*_TOOLKIT_VALUE) is not None:
        return plan
    value, first, other = agreed(bound, lambda pool: _known_folder(pool, facts))
    if other is not None:
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            other,
            _OS,
            f"pools `{first.name}` and `{other.name}` can have the toolkit in different folders; a cluster has one",
            help="move one of the pools to a cluster of its own",
            related=((first, _OS, "the other pool"),),
        )
        return plan
    why = f"{first.profile.spec.os.id} can be written to there"
    plan = with_singleton(plan, "toolkit folder", str(value), by_operator, "toolkit.installDir")
    return with_values(
        plan, ValueSetting(_TOOLKIT_VALUE, value, Derived("driver_folders", why, (facts.at_pool(first, _OS),)))
    )


def _known_folder(pool: PoolPlan, facts: Facts) -> str | None:
    entry = facts.catalog.operating_systems.get(pool.profile.spec.os.id)
    if entry is not None and entry.toolkit_folder is not None:
        return entry.toolkit_folder
    folders = facts.distribution.host_folders if facts.distribution is not None else {}
    by_installer = pool.driver is not None and pool.driver.install_dir == folders.get("driver")
    return folders.get("toolkit") if by_installer else None
