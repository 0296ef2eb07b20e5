"""Paths of a container runtime that a profile gives: whether they can have an effect, and be right."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.runtime import RUNTIME_PATH
from poolsmith.core.diagnostics.listing import listed
from poolsmith.fleet.plan.device_injection import leaves_configuration
from poolsmith.gpu.catalog.operator_behaviour import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.platforms import Distribution, RuntimePaths

PATH_FIELDS = ("config", "socket", "drop_in")
_OPERATORS = {"cri-o": "crio"}
"""The operator's own names of runtimes."""
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
                f"{distribution.name} keeps it at `{known}`, and the toolkit is told `{given}`",
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
    usual = set(behaviour["runtimeFiles"][_OPERATORS.get(name, name)].values())
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
