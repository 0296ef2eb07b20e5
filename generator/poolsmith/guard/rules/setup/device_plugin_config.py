"""Configurations at which the device plugin stops, and defaults that none of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.finding import Finding
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.guard.rules.setup.plugin_configs import CREATE, DATA, NAME, operator_configs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.plugin_configs import PluginConfigs
    from poolsmith.guard.rules.setup.view import SetupView

RULE = RuleInfo(
    code="PSM278",
    name="device-plugin-config",
    applies_to="setup",
    what="A configuration of the device plugin, in values or in the ConfigMap that they name, is one at which the "
    "plugin stops: fewer than 2 replicas or none, no resources or no name of one, a wrong version or type, MPS under "
    "`mig.strategy: mixed`. Or the default that values name is not among the configurations.",
    why="The text is checked by nobody before the plugin reads it. It stops on each node that takes the "
    "configuration, and the node advertises no GPUs.",
    symptom="`unable to load config: unable to finalize config: unable to parse config file: ... number of replicas "
    "must be >= 2`; `specified config ... does not exist`; `Insufficient nvidia.com/gpu`",
    fix="correct the configuration, or name one that exists",
    bad="devicePlugin:\n  config:\n    create: true\n    name: sharing\n    default: any\n    data:\n"
    "      any: |\n        version: v1\n        sharing:\n          timeSlicing:\n"
    "            resources: [{name: nvidia.com/gpu, replicas: 1}]\n",
    good="devicePlugin:\n  config:\n    create: true\n    name: sharing\n    default: any\n    data:\n"
    "      any: |\n        version: v1\n        sharing:\n          timeSlicing:\n"
    "            resources: [{name: nvidia.com/gpu, replicas: 4}]\n",
    references=("NVIDIA/k8s-device-plugin:api/config/v1/replicas.go, cmd/config-manager/main.go",),
)
NEEDS = ()
_LARGEST = 1 << 20
_TEMPLATED = ("{{", "${")
"""A text that something else still fills in."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    found = operator_configs(view)
    if found is not None:
        yield from _made(view, found)
        yield from _judged(view, found, _version(view))


def _made(view: SetupView, configs: PluginConfigs) -> Iterator[Finding[Location]]:
    assert view.values is not None, "there are configurations"
    if view.value(CREATE) is True and not configs.texts and not (view.values.partial and not view.is_set(DATA)):
        yield Finding(
            message=f"`{CREATE}` is true and `{DATA}` is empty: the chart makes no ConfigMap, and pods of the device "
            "plugin wait for it",
            place=view.value_location(CREATE),
            help=f"write configurations into `{DATA}`, or remove `{CREATE}` and `{NAME}`",
        )


def _judged(view: SetupView, configs: PluginConfigs, plugin: str | None) -> Iterator[Finding[Location]]:
    if not configs.texts:
        return
    if configs.default and configs.default not in configs.texts:
        yield Finding(
            message=f"the default configuration `{configs.default}` is not in {configs.shown}",
            place=configs.named_at,
            help=f"{did_you_mean(configs.default, configs.texts)} It has {listed(configs.texts)}",
            related=(configs.place("", "the configurations"),),
        )
    from poolsmith.gpu.values.device_plugin_config import config_mistakes, shares_by_mps  # on demand

    for name, text in configs.texts.items():
        if not isinstance(text, str) or len(text) > _LARGEST or any(mark in text for mark in _TEMPLATED):
            continue
        duplicates: list[YamlProblem] = []
        place = configs.place(join("", str(name)))
        try:
            documents: list[Any] = list(read_documents(text, duplicates))
        except YamlProblem as problem:
            if not configs.shown.startswith("`"):  # the text of a value is told by the rule on values
                yield Finding(message=f"configuration `{name}` is no YAML: {problem.message}", place=place)
            continue
        config = documents[0] if documents else None
        for mistake in config_mistakes(config, plugin):
            where = f" at `{mistake.path}`" if mistake.path else ""
            yield Finding(
                message=f"the device plugin stops at configuration `{name}`{where}: {mistake.message}",
                place=configs.inside(str(name), text, mistake.path),
                help=mistake.help,
            )
        if view.value("mig.strategy") == "mixed" and shares_by_mps(config):
            yield Finding(
                message=f"the device plugin stops at configuration `{name}`: MPS does not go with "
                "`mig.strategy: mixed`",
                place=place,
                help="share these GPUs by time slicing, or partition all GPUs of a node alike",
                related=(view.value_location("mig.strategy", "one for the cluster"),),
            )


def _version(view: SetupView) -> str | None:
    """The plugin's version, where it is one."""
    version = view.value("devicePlugin.version")
    return version if isinstance(version, str) else None
