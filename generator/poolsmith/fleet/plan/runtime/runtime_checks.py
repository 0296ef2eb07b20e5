"""Container runtimes against the toolkit: which versions work together, and whether given paths are right and used."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.node_software import CONFIG_VERSION, NRI_MISSING, RUNTIME_PATH, TOOLKIT_TOO_OLD
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import at_least, is_older, minor_key
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.plan.runtime.device_injection import leaves_configuration, uses_cdi, uses_nri
from poolsmith.fleet.profiles.node_pool import ToolkitSource
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.container_toolkit import unfit_toolkit
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.container_runtimes import RuntimeEntry
    from poolsmith.gpu.catalog.platforms import Distribution, RuntimePaths


VERSION = "/spec/runtime/version"
CONFIG = "/spec/runtime/configVersion"
TOOLKIT = "/spec/stack/values/toolkit/version"
_TOOLKIT_VERSION = pattern(r"v?(\d+\.\d+\.\d+)(?![\d.])")
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
        else f"use {facts.catalog.runtimes.with_nri}, or leave `cdi.nriPluginEnabled` off",
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


PATH_FIELDS = ("config", "socket", "drop_in")
_TEMPLATE = ".tmpl"


def pointer_of(field: str) -> str:
    return f"/spec/runtime/{yaml_name(field)}"


def check_paths(
    plan: ClusterPlan, pool: PoolPlan, paths: RuntimePaths, distribution: Distribution, facts: Facts
) -> None:
    """Of one pool whose runtime a toolkit of ours configures."""
    runtime = pool.profile.spec.runtime
    variables = facts.catalog.runtimes.by_name[runtime.name].variables
    if leaves_configuration(plan, facts):
        _report_untouched(pool, facts)
        return
    half = _half_of_pair(pool, paths, distribution, facts)
    for field in PATH_FIELDS:
        given = getattr(runtime, field)
        if given is None:
            continue
        if field not in variables or (field == "drop_in" and not facts.need_release().drop_in):
            _report_idle(pool, field, facts)
        elif given.endswith(_TEMPLATE):
            facts.report_pool(
                RUNTIME_PATH,
                pool,
                pointer_of(field),
                f"`{given}` is a template, from which {distribution.name} makes the configuration; the toolkit can't "
                "read it, and what it writes there keeps the node from coming back",
                help=f"remove `runtime.{yaml_name(field)}`" + (f", and get {paths.config}" if paths.config else ""),
            )
        elif (known := getattr(paths, field)) is not None and given != known and paths.env and field != half:
            facts.report_pool(
                RUNTIME_PATH,
                pool,
                pointer_of(field),
                f"{distribution.name} keeps it at `{known}`, and the toolkit is configured with `{given}`",
                help=f"remove `runtime.{yaml_name(field)}`, unless {distribution.name} was set up with other folders",
                severity=Severity.WARNING,
            )


def _half_of_pair(pool: PoolPlan, paths: RuntimePaths, distribution: Distribution, facts: Facts) -> str | None:
    """Where the runtime's own configuration reads a folder beside it, both have to move together.

    The field that was moved alone, which is reported.
    """
    runtime = pool.profile.spec.runtime
    if not paths.pairs or paths.config is None or paths.drop_in is None:
        return None
    folder = posixpath.dirname(paths.config)
    beside = posixpath.relpath(paths.drop_in, folder)
    if beside.startswith("../") or (runtime.config is None) == (runtime.drop_in is None):
        return None
    if runtime.config is not None:
        field, moved = "config", posixpath.dirname(runtime.config)
        advice, other = f"add `dropIn: {posixpath.join(moved, beside)}`", f"drop-in file stays `{paths.drop_in}`"
    else:
        field, moved = "drop_in", posixpath.dirname(posixpath.dirname(runtime.drop_in or ""))
        advice = f"add `config: {posixpath.join(moved, posixpath.basename(paths.config))}`"
        other = f"configuration stays `{paths.config}`"
    if moved == folder:
        return None
    facts.report_pool(
        RUNTIME_PATH,
        pool,
        pointer_of(field),
        f"half of a pair: the {other}, where the {runtime.name} of {distribution.name} would not look",
        help=advice,
    )
    return field


def _report_untouched(pool: PoolPlan, facts: Facts) -> None:
    for field in PATH_FIELDS:
        if getattr(pool.profile.spec.runtime, field) is not None:
            facts.report_pool(
                codes.FIELD_WITHOUT_EFFECT,
                pool,
                pointer_of(field),
                f"with `cdi.nriPluginEnabled` the toolkit of {facts.need_release().tag} leaves the runtime's "
                "configuration alone",
                help=f"remove `runtime.{yaml_name(field)}`",
            )


def _report_idle(pool: PoolPlan, field: str, facts: Facts) -> None:
    name = pool.profile.spec.runtime.name
    reasons = {
        "socket": f"the toolkit has no use for a socket of {name}",
        "drop_in": f"the toolkit of {facts.need_release().tag} knows no drop-in file for {name}; "
        "it edits the configuration itself",
        "config": f"the toolkit takes no path of {name}",
    }
    facts.report_pool(
        codes.FIELD_WITHOUT_EFFECT,
        pool,
        pointer_of(field),
        reasons[field],
        help=f"remove `runtime.{yaml_name(field)}`",
    )


def yaml_name(field: str) -> str:
    """A field of `runtime` as profiles spell it."""
    return "dropIn" if field == "drop_in" else field


def check_heeded(pool: PoolPlan, env: Mapping[str, str], facts: Facts) -> None:
    """A release that mounts the runtime's files before it reads the toolkit's variables mounts the usual ones.

    Source: NVIDIA/gpu-operator@v25.3.3:controllers/object_controls.go TransformToolkit.
    """
    behaviour = behaviour_at(facts.need_release().tag)
    if not behaviour["runtimeFilesFirst"]:
        return
    name = pool.profile.spec.runtime.name
    usual = set(behaviour["runtimeFiles"][container_runtimes().operators(name)].values())
    variables = facts.catalog.runtimes.by_name[name].variables.values()
    moved = [variable for variable in variables if env.get(variable, "") not in ("", *usual)]
    if moved:
        facts.report_pool(
            RUNTIME_PATH,
            pool,
            "/spec/runtime",
            f"{facts.need_release().tag} mounts {name}'s files from their usual place before it reads "
            + listed(f"`{variable}`" for variable in moved),
            help="take a later release",
        )
