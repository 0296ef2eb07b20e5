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

RULE = RuleInfo(
    code="PSM281",
    name="runtime-config-template",
    applies_to="values",
    what="Helm values point the toolkit at a template of RKE2 or k3s, `config.toml.tmpl` or `config-v3.toml.tmpl`.",
    why="The toolkit can't read a template that has expressions. If it has none, RKE2 and k3s use what the toolkit "
    "writes as the whole configuration at their next start: CNI, registries and the sandbox image are gone, and "
    "the node does not come back.",
    fix="name the file that RKE2 or k3s generates from it, config.toml, or no configuration at all",
    bad="toolkit:\n  env:\n    - name: CONTAINERD_CONFIG\n"
    "      value: /var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl\n",
    good="toolkit:\n  env:\n    - name: CONTAINERD_CONFIG\n"
    "      value: /var/lib/rancher/rke2/agent/etc/containerd/config.toml\n"
    "    - {name: CONTAINERD_SOCKET, value: /run/k3s/containerd/containerd.sock}\n",
    symptom="unable to load config: (6, 21): unexpected token type in inline table: keys cannot contain { character",
    references=("NVIDIA/gpu-operator issues 992, 473, 623", "rancher/rke2 issue 3385"),
)
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
