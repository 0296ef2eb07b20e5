"""A toolkit that writes into the template from which RKE2 and k3s make containerd's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.values.effective_values import toolkit_environment, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM281")
_TEMPLATE = ".tmpl"
_NEWER, _GENERATED = "/config-v3.toml", "/config.toml"
"""A template of either name makes the one file. Source: docs.k3s.io, advanced, configuring containerd."""
_VARIABLES = ("CONTAINERD_CONFIG", "RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if env is None or uses_nri(document):
        return
    for name in _VARIABLES:
        variable = env.get(name)
        if variable is not None and variable.value.endswith(_TEMPLATE):
            made = variable.value.removesuffix(_TEMPLATE).replace(_NEWER, _GENERATED)
            yield Finding(
                place=(*variable.path, "value"),
                message=f"`{name}` is a template, `{shorten(variable.value)}`: the toolkit would write over it",
                help=f"write `{shorten(made)}`, or leave all paths of the runtime out where the "
                "distribution finds the toolkit's runtimes itself",
            )
