"""Versions of container runtimes and of the toolkit: which of them understand each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.runtime import CONFIG_VERSION, NRI_MISSING, TOOLKIT_TOO_OLD
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.facts.versions import at_least, is_older, minor_key
from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.plan.device_injection import leaves_configuration, uses_cdi, uses_nri
from poolsmith.fleet.profiles.node_pool import ToolkitSource
from poolsmith.gpu.catalog.toolkit_facts import unfit_toolkit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.platforms import RuntimePaths
    from poolsmith.gpu.catalog.runtimes import RuntimeEntry

VERSION = "/spec/runtime/version"
CONFIG = "/spec/runtime/configVersion"
TOOLKIT = "/spec/stack/values/toolkit/version"
_TOOLKIT_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)(?![\d.])")
_OURS = (ToolkitSource.OPERATOR, ToolkitSource.OVERLAY)
_FROM_FILE = "RUNTIME_CONFIG_SOURCE"


def check_versions(plan: ClusterPlan, known: Mapping[str, RuntimePaths], facts: Facts) -> None:
    """`known` are the distribution's paths by runtime."""
    toolkit = _toolkit_version(plan, facts)
    untouched = leaves_configuration(plan, facts)
    for pool in plan.pools:
        entry = facts.catalog.runtimes.by_name[pool.profile.spec.runtime.name]
        paths = known[entry.name]
        _check_minimum(plan, pool, entry, paths, facts)
        if uses_nri(plan) and pool.toolkit in _OURS:
            _check_nri(pool, entry, facts)
        if pool.toolkit in _OURS and entry.config_versions and not untouched:
            _check_config_version(pool, entry, facts)
            _check_toolkit(plan, pool, entry, toolkit, facts)
        _note_range(plan, pool, entry, facts)
    _note_config_version(plan, known, facts)


def reads_file(pool: PoolPlan, entry: RuntimeEntry, facts: Facts) -> bool:
    """Whether the toolkit has to read the configuration file, because the runtime's own answer would be newer."""
    runtime = pool.profile.spec.runtime
    if runtime.config_version is None or not facts.need_release().drop_in or not entry.config_versions:
        return False
    newest = entry.config_version(runtime.version)
    return newest is None or runtime.config_version < newest


def _check_minimum(plan: ClusterPlan, pool: PoolPlan, entry: RuntimeEntry, paths: RuntimePaths, facts: Facts) -> None:
    version = pool.profile.spec.runtime.version
    release = facts.need_release()
    minima = [paths.minimum] if paths.minimum else []
    if uses_cdi(plan, facts):
        minima.append(entry.cdi_minimum)
    for minimum in minima:
        if version is not None and is_older(version, minimum):
            facts.report_pool(
                codes.RUNTIME_TOO_OLD,
                pool,
                VERSION,
                f"{entry.name} {version} is older than {minimum}, which {release.tag} needs here",
                help=f"upgrade {entry.name} to {minimum} or later",
            )
            return


def _check_nri(pool: PoolPlan, entry: RuntimeEntry, facts: Facts) -> None:
    version = pool.profile.spec.runtime.version
    if entry.nri and (version is None or entry.has_nri(version)):
        return
    facts.report_pool(
        NRI_MISSING,
        pool,
        VERSION if entry.nri else "/spec/runtime/name",
        f"`cdi.nriPluginEnabled` injects devices through NRI, and {entry.name} {version or ''}".rstrip()
        + " does not offer what the operator needs",
        help=f"use {entry.name} {entry.nri_ranges}"
        if entry.nri
        else "use containerd or cri-o, or leave `cdi.nriPluginEnabled` off",
    )


def _note_range(plan: ClusterPlan, pool: PoolPlan, entry: RuntimeEntry, facts: Facts) -> None:
    """What the documentation of the release names; others may work as well."""
    version = pool.profile.spec.runtime.version
    documented = entry.documented.get(plan.line)
    if version is None or documented is None:
        return
    low, high = documented
    if is_older(version, low) or minor_key(version) > minor_key(high):
        facts.report_pool(
            codes.NO_SUPPORT_ROW,
            pool,
            VERSION,
            f"the matrix of {plan.line} has {entry.name} {low} to {high}, and not {version}",
            help="nothing to do, if it works for you",
        )


def _check_config_version(pool: PoolPlan, entry: RuntimeEntry, facts: Facts) -> None:
    runtime = pool.profile.spec.runtime
    newest = entry.config_version(runtime.version)
    if runtime.config_version is not None and newest is not None and runtime.config_version > newest:
        facts.report_pool(
            CONFIG_VERSION,
            pool,
            CONFIG,
            f"{entry.name} {runtime.version} reads configurations up to version {newest}",
            help=f"write `configVersion: {newest}`, or correct `runtime.version`",
            severity=Severity.ERROR,
        )


def _note_config_version(plan: ClusterPlan, known: Mapping[str, RuntimePaths], facts: Facts) -> None:
    """Once for all pools whose toolkit will ask the runtime, and not read the file."""
    if not facts.need_release().drop_in or leaves_configuration(plan, facts):
        return
    entries = {pool.name: facts.catalog.runtimes.by_name[pool.profile.spec.runtime.name] for pool in plan.pools}
    told = {
        pool.toolkit if pool.toolkit == ToolkitSource.OPERATOR else pool.name
        for pool in plan.pools
        if reads_file(pool, entries[pool.name], facts)
    }
    asking = [
        pool
        for pool in plan.pools
        if pool.toolkit in _OURS
        and _may_be_newer(pool, entries[pool.name])
        and told.isdisjoint((pool.toolkit, pool.name))
        and not any(item["name"] == _FROM_FILE for item in known[entries[pool.name].name].env)
    ]
    if asking:
        runtime = asking[0].profile.spec.runtime
        newest = entries[asking[0].name].config_version(runtime.version)
        facts.report_pool(
            CONFIG_VERSION,
            asking[0],
            VERSION,
            f"the toolkit will write a drop-in file of version {newest} on {listed(pool.name for pool in asking)}, and "
            f"{runtime.name} {runtime.version} does not start with it if its own file has a lower `version`",
            help="declare the `version` in that file: `runtime.configVersion`",
        )


def _may_be_newer(pool: PoolPlan, entry: RuntimeEntry) -> bool:
    """Whether the runtime knows configurations that its own file need not have yet, and nobody says which it has."""
    runtime = pool.profile.spec.runtime
    newest = entry.config_version(runtime.version)
    return runtime.config_version is None and newest is not None and newest > entry.config_versions[0][1]


def _check_toolkit(plan: ClusterPlan, pool: PoolPlan, entry: RuntimeEntry, toolkit: str | None, facts: Facts) -> None:
    if toolkit is None:
        return
    runtimes = facts.catalog.runtimes
    runtime = pool.profile.spec.runtime
    seen = entry.config_version(runtime.version)
    if runtime.config_version is not None and (seen is None or not at_least(toolkit, runtimes.toolkit_asks_runtime)):
        seen = runtime.config_version
    needed = runtimes.toolkit_needed(seen) if seen is not None else None
    if needed is None or at_least(toolkit, needed):
        return
    message = f"toolkit {toolkit} does not read the configuration of version {seen} of pool `{pool.name}`"
    if facts.file.has(TOOLKIT):
        if unfit_toolkit(toolkit, facts.need_release().tag, nri=uses_nri(plan)) is not None:
            return  # told of any values, whatever runs on the nodes
        help_text = f"write {needed} or later, or remove the value"
        facts.report_cluster(TOOLKIT_TOO_OLD, TOOLKIT, message, help=help_text)
    else:
        facts.report_pool(
            TOOLKIT_TOO_OLD,
            pool,
            VERSION if runtime.version is not None else CONFIG,
            f"{message}; it comes with {facts.need_release().tag}",
            help=f"take a release with toolkit {needed} or later, or pin one in `stack.values.toolkit.version`",
        )


def _toolkit_version(plan: ClusterPlan, facts: Facts) -> str | None:
    """The version that a tag begins with; None for a digest, or a tag of somebody's own."""
    asked = value_at(plan.cluster.spec.stack.values, ("toolkit", "version"))
    tag = asked if asked is not None else facts.need_chart().default(("toolkit", "version"))
    found = _TOOLKIT_VERSION.match(tag) if isinstance(tag, str) else None
    return found.group(1) if found is not None else None
