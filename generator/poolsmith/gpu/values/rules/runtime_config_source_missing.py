"""Distributions whose containerd tells the toolkit something else than what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.container_toolkit import breaks_without_source
from poolsmith.gpu.catalog.platforms import fill_paths, owners, rule_of, standard
from poolsmith.gpu.values.effective_values import Environment, EnvironmentVariable, toolkit_environment, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM282")
_PATHS = ("CONTAINERD_CONFIG", "RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG", "CONTAINERD_SOCKET")
_NEEDED = ("RUNTIME_CONFIG_SOURCE", "RUNTIME_DROP_IN_CONFIG")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if env is None or uses_nri(document):
        return
    evidence = _evidence(env)
    if evidence is None:
        return
    variable, distribution = evidence
    rule = rule_of(distribution, document.release.tag)
    if rule is None:
        return
    wanted = {entry["name"]: entry["value"] for entry in rule.env if entry["name"] in _NEEDED}
    missing = [name for name in wanted if name not in env]
    if not missing:
        return
    reason = breaks_without_source(distribution)
    told = [f"`{name}: {fill_paths(wanted[name], rule.by_field)}`" for name in missing]
    yield Finding(
        place=(*variable.path, "value"),
        message=f"these are paths of {distribution}, which needs {listed(missing)} with {document.release.tag}"
        + (f": {reason}" if reason else "; users report it, its own guide does not say so"),
        help=f"add {' and '.join(told)} to `toolkit.env`",
        severity=Severity.ERROR if reason else Severity.WARNING,
    )


def _evidence(env: Environment) -> tuple[EnvironmentVariable, str] | None:
    """The one distribution that all known paths are of, and the first of them; nothing for what can't be told."""
    found = [(variable, owners(variable.value)) for name in _PATHS if (variable := env.get(name)) is not None]
    found = [(variable, names) for variable, names in found if names]
    if not found:
        return None
    together = frozenset.intersection(*(names for _, names in found))
    if len(together) != 1 or together & standard():
        return None
    return found[0][0], next(iter(together))
