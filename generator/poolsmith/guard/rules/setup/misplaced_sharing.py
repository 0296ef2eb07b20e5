"""Settings of sharing that the device plugin passes over, because they stand in another place than it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.guard.rules.setup.device_plugin_config import operator_configs, plugin_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.device_plugin_config import PluginConfigs
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM152")
NEEDS = ()
_LARGEST = 1 << 20


def check(view: SetupView) -> Iterator[Finding[Location]]:
    found = operator_configs(view)
    if found is not None:
        yield from _of(found, plugin_version(view))


def _of(configs: PluginConfigs, plugin: str | None) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.device_plugin_config import passed_over  # on demand

    for name, text in (configs.texts or {}).items():
        if not isinstance(text, str) or len(text) > _LARGEST or "{{" in text or "${" in text:
            continue
        try:
            documents = read_documents(text)
        except YamlProblem:
            continue
        for path, help in passed_over(documents[0] if documents else None, plugin):
            yield Finding(
                message=f"configuration `{name}`: the device plugin does not read `{path}`",
                place=configs.inside(str(name), text, path),
                help=help,
            )
