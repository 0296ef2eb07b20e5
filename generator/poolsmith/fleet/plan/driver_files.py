"""Files that a driver container gets from ConfigMaps: package repositories, certificates, options of kernel modules.

The operator reads these ConfigMaps, and mounts each of their files by itself: which there are, the profile tells.
Source: NVIDIA/gpu-operator:internal/state/driver_volumes.go, controllers/object_controls.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.listing import listed
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.gpu.catalog.operator_behaviour import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import DriverPlan, PoolPlan
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
    """The ConfigMaps that pools name, as far as the operator looks at them. Somebody else delivers them."""
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
