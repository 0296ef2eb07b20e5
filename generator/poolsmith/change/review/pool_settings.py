"""What a profile of a pool says that no predicted object shows: ConfigMaps and Secrets by name, and kernel arguments.

Whoever fills such a ConfigMap chooses what is compiled into the kernel; what boots a node with `selinux=0`, or with
another `init`, needs no container. The base has to know each of them, or to accept it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from poolsmith.change.review.acceptance import entries_for
from poolsmith.change.review.free_names import is_free_kernel_argument
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.change import UNACCEPTED_SETTING
from poolsmith.core.diagnostics.message_text import cut, joined, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.driver import DriverFiles
    from poolsmith.fleet.profiles.node_pool import PoolSpec

    Accepts = Callable[[str, str, str], bool]

_SHOWN = 4
_LONGEST = 160


class PoolSetting(NamedTuple):
    """The field that says it, as a pointer, and what it says in one line."""

    pointer: str
    text: str


def pool_settings_of(spec: PoolSpec) -> Iterator[PoolSetting]:
    """All of them, but for arguments of the kernel that anybody may set."""
    driver = spec.driver
    for field, files in (
        ("repoConfig", driver.repo_config),
        ("certConfig", driver.cert_config),
        ("kernelModuleConfig", driver.kernel_module_config),
    ):
        if files is not None:
            yield from _of_files(field, files)
    if driver.vgpu is not None:
        for field, name in (
            ("licensingSecret", driver.vgpu.licensing_secret),
            ("licensingConfigMap", driver.vgpu.licensing_config_map),
        ):
            if name is not None:
                yield PoolSetting(f"/spec/driver/vgpu/{field}", f"driver.vgpu.{field}={name}")
    for argument in spec.kernel.args:
        if not is_free_kernel_argument(argument):
            yield PoolSetting("/spec/kernel/args", f"kernel.args={argument}")


def _of_files(field: str, files: DriverFiles) -> Iterator[PoolSetting]:
    for name in files.files:
        yield PoolSetting(f"/spec/driver/{field}", f"driver.{field}={files.name}/{name}")


def gained_by_pools(
    change: ClusterChange, others: Callable[[], Iterable[SeenCluster]], accepts: Accepts
) -> Iterator[Diagnostic]:
    """What pools say and no pool of the cluster said in the base; of a new cluster, no pool of any."""
    after = change.after
    if after is None:
        return
    said = {loaded.pool.name: [*pool_settings_of(loaded.pool.spec)] for loaded in after.loaded.pools}
    known = [change.before] if change.before is not None else list(others()) if any(said.values()) else []
    if not known:
        return
    then = {item.text for one in known for pool in one.plan.pools for item in pool_settings_of(pool.profile.spec)}
    for loaded in after.loaded.pools:
        name = loaded.pool.name
        key = f"pool/{name}"
        by_field: dict[str, list[str]] = {}
        for item in said[name]:
            if item.text not in then and not accepts(change.name, key, item.text):
                by_field.setdefault(item.pointer, []).append(item.text)
        for pointer, texts in by_field.items():
            shown = joined([f"`{printable(cut(text, _LONGEST))}`" for text in texts], _SHOWN)
            yield diagnose(
                UNACCEPTED_SETTING,
                f"pool `{name}` of `{change.name}` would have what nobody has accepted: {shown}",
                loaded.layers.owner(pointer).locate(pointer),
                help=entries_for(change.name, [(key, text) for text in texts]),
                subject=change.name,
            )
