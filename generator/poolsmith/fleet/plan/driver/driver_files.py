"""Files that a driver container gets from ConfigMaps, and the hosts' folders of driver and toolkit.

The files are package repositories, certificates, and options of kernel modules. The operator reads the ConfigMaps and
mounts each of their files by itself; the profile says which files there are. A cluster has one folder for the driver
and one for the toolkit.
Source: NVIDIA/gpu-operator:internal/state/driver_volumes.go, controllers/object_controls.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.fleet.plan.facts import agreed, with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValueSetting
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import ToolkitSource
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import DriverPlan
    from poolsmith.fleet.profiles.driver import Driver, DriverFiles


_DRIVER = "/spec/driver"
_VALUES = {"repoConfig": "configMapName", "certConfig": "name", "kernelModuleConfig": "name"}
"""Field of a profile, of an NVIDIADriver and below `driver`: how values call its ConfigMap. An NVIDIADriver: `name`."""
_FOLDERS = {"repoConfig": "packageFolders", "certConfig": "certificateFolders"}
"""Those that only a driver which is compiled on the node gets, on systems where the operator knows the folder."""


def file_fields(asked: Driver) -> dict[str, Any]:
    """As an NVIDIADriver has them."""
    return {field: {"name": files.name} for field, files in _given(asked)}


def file_values(asked: Driver) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """As values of the chart have them: path, value, and the pointer of the field."""
    for field, files in _given(asked):
        yield ("driver", field, _VALUES[field]), files.name, f"{_DRIVER}/{field}"


def check_files(pool: PoolPlan, driver: DriverPlan, facts: Facts) -> None:
    """Refuse files that the operator would not mount, or for whose sake it would mount none at all."""
    behaviour = behaviour_at(facts.need_release().tag)
    system = pool.profile.spec.os.id
    for field, _ in _given(pool.profile.spec.driver):
        pointer = f"{_DRIVER}/{field}"
        if not driver.managed:
            facts.report_pool(
                codes.FIELD_WITHOUT_EFFECT,
                pool,
                pointer,
                f"`driver.{field}` has no effect: this pool's driver is not the operator's",
                help="remove it",
            )
        elif field in _FOLDERS and driver.source == DriverSource.PRECOMPILED:
            facts.report_pool(
                codes.FIELD_WITHOUT_EFFECT,
                pool,
                pointer,
                f"`driver.{field}` has no effect: a precompiled driver fetches no packages",
                help="remove it",
            )
        elif field in _FOLDERS and system not in (known := behaviour[_FOLDERS[field]]):
            facts.report_pool(
                codes.DRIVER_CONTRADICTION,
                pool,
                pointer,
                f"the operator of {facts.need_release().tag} takes no `{field}` for {system}, only for "
                f"{listed(sorted(known))}",
                help="remove it, and bring the files with the nodes' own configuration",
            )


def brought_files(pools: Iterable[PoolPlan], facts: Facts) -> tuple[dict[str, Any], ...]:
    """The ConfigMaps that pools name and the operator reads. Somebody else delivers them."""
    found: dict[str, tuple[PoolPlan, str, DriverFiles]] = {}
    for pool in pools:
        for field, files in _given(pool.profile.spec.driver):
            other, told, first = found.setdefault(files.name, (pool, field, files))
            if set(first.files) != set(files.files):
                facts.report_pool(
                    codes.DRIVER_CONTRADICTION,
                    pool,
                    f"{_DRIVER}/{field}/files",
                    f"the ConfigMap `{files.name}` has other files in `driver.{told}` of pool `{other.name}`, and a "
                    "namespace has one of that name",
                    help="list the same files, or name another ConfigMap",
                    related=((other, f"{_DRIVER}/{told}/files", "the other list"),),
                )
    return tuple(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name},
            "data": dict.fromkeys(sorted(files.files), ""),
        }
        for name, (_, _, files) in sorted(found.items())
    )


def files_note(pool: PoolPlan, namespace: str) -> str | None:
    """What has to be in the namespace before the driver starts; nothing generated holds it."""
    needs = [f"{files.name} ({listed(files.files)})" for _, files in _given(pool.profile.spec.driver)]
    if not needs:
        return None
    return f"Pool {pool.name}: its driver needs these ConfigMaps in the namespace {namespace}: {', '.join(needs)}."


def _given(asked: Driver) -> Iterator[tuple[str, DriverFiles]]:
    for field, files in (
        ("repoConfig", asked.repo_config),
        ("certConfig", asked.cert_config),
        ("kernelModuleConfig", asked.kernel_module_config),
    ):
        if files is not None:
            yield field, files


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
