"""Rule: configurations at which the device plugin stops, and a default that names none of them.

The configurations are the texts of the ConfigMap that the operator's device plugin is given.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import counted, did_you_mean
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.node_labels import DEVICE_PLUGIN_CONFIG
from poolsmith.guard.rules.setup.setup_view import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.guard.rules.setup.setup_view import Place, SetupObject, SetupView


NAME, CREATE, DATA, DEFAULT = (f"devicePlugin.config.{key}" for key in ("name", "create", "data", "default"))


@record
class PluginConfigs:
    """`texts` by their names, None where they stand elsewhere. `default` is empty where none is named.

    `place` takes pointers below what holds the texts; `named_at` is where the default or the name stands.
    """

    shown: str
    texts: Mapping[str, Any] | None
    place: Place
    named_at: Callable[[], Location]
    default: str = ""
    written: Callable[[str], tuple[SourceFile, str] | None] = lambda _: None
    """From a pointer below what holds the texts to what it is written in."""

    def inside(self, name: str, text: str, path: str) -> Location:
        """The line within a text that a dotted path leads to; the text itself where it has no lines of the file."""
        pointer = join("", name)
        found = self.written(pointer)
        if found is None:
            return self.place(pointer)
        source, at = found
        steps = path.replace("[", ".").replace("]", "").split(".") if path else []
        return InnerText(source, at, text, None).locate(join("", *steps))


def operator_configs(view: SetupView) -> PluginConfigs | None:
    """Those of the operator's device plugin; None where it has none, or nobody can tell."""
    if view.values is None or view.flag("devicePlugin.enabled") is False:
        return None
    name, data, default = view.value(NAME), view.value(DATA), view.value(DEFAULT)
    if not isinstance(name, str) or not name:
        return None
    named_at = partial(view.value_location, DEFAULT if view.is_set(DEFAULT) else NAME)
    default = default if isinstance(default, str) else ""
    if view.value(CREATE) is True:
        texts = data if isinstance(data, dict) and data else {}

        def place(pointer: str, note: str | None = None) -> Location:
            assert view.values is not None
            return view.values.place(f"/{DATA.replace('.', '/')}{pointer}", note)

        def written(pointer: str) -> tuple[SourceFile, str] | None:
            assert view.values is not None
            return view.values.written(f"/{DATA.replace('.', '/')}{pointer}")

        return PluginConfigs(
            shown=f"`{DATA}`", texts=texts, place=place, named_at=named_at, default=default, written=written
        )
    found = config_map(view, name)
    if found is None:
        return PluginConfigs(shown=f"ConfigMap/{name}", texts=None, place=_nowhere(named_at), named_at=named_at)
    source = found.source
    return PluginConfigs(
        shown=found.name,
        texts=_texts(found),
        place=found.below("/data"),
        named_at=named_at,
        default=default,
        written=lambda pointer: None if source is None else (source, f"/data{pointer}"),
    )


def config_map(view: SetupView, name: str) -> SetupObject | None:
    namespaces = (None, view.namespace)
    for item in view.of_kind("ConfigMap", ""):
        if item.own_name == name and (view.namespace is None or item.metadata.get("namespace") in namespaces):
            return item
    return None


def _texts(item: SetupObject) -> dict[str, Any]:
    """Each key is a file; those of binaryData hold no text that is read here."""
    found: dict[str, Any] = {}
    for field in ("binaryData", "data"):
        held = item.data.get(field)
        for key, text in held.items() if isinstance(held, dict) else ():
            found[str(key)] = text if field == "data" else None
    return found


def _nowhere(named_at: Callable[[], Location]) -> Place:
    def place(_pointer: str, _note: str | None = None) -> Location:
        return named_at()

    return place


RULE = RuleInfo.of("PSM278")
NEEDS = ()
_LARGEST = 1 << 20
_TEMPLATED = ("{{", "${")
"""A text that something else still fills in."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    found = operator_configs(view)
    yield from _unnamed(view)
    if found is not None:
        yield from _made(view, found)
        yield from _unasked(view, found)
        yield from _judged(view, found, plugin_version(view))


def _unnamed(view: SetupView) -> Iterator[Finding[Location]]:
    """Source: NVIDIA/gpu-operator:deployments/gpu-operator/templates/clusterpolicy.yaml, devicePlugin.config."""
    is_known = view.values is not None and (view.values.of_policy or not view.values.partial)
    if is_known and view.is_set(DEFAULT) and view.value(DEFAULT) and not view.value(NAME):
        yield Finding(
            message=f"`{DEFAULT}` has no effect without `{NAME}`: the device plugin reads no configuration",
            place=view.value_location(DEFAULT),
            help=f"write `{NAME}`, the ConfigMap with the configurations, or remove this",
            severity=Severity.WARNING,
        )


def _made(view: SetupView, configs: PluginConfigs) -> Iterator[Finding[Location]]:
    assert view.values is not None, "there are configurations"
    if view.value(CREATE) is True and not configs.texts and not (view.values.partial and not view.is_set(DATA)):
        yield Finding(
            message=f"`{CREATE}` is true and `{DATA}` is empty: the chart makes no ConfigMap, and pods of the device "
            "plugin wait for it",
            place=view.value_location(CREATE),
            help=f"write configurations into `{DATA}`, or remove `{CREATE}` and `{NAME}`",
        )


def _unasked(view: SetupView, configs: PluginConfigs) -> Iterator[Finding[Location]]:
    """Of several configurations none is the default, and nodes are given that ask for none."""
    nodes = [node for node in view.nodes or () if DEVICE_PLUGIN_CONFIG not in node.labels]
    if configs.texts and len(configs.texts) > 1 and not configs.default and nodes and not view.is_generated:
        yield Finding(
            message=f"{configs.shown} has {counted(len(configs.texts), 'configuration')} and none is the default: the "
            f"device plugin takes none on {named(nodes)}",
            place=configs.named_at(),
            help=f"write `{DEFAULT}`, or the label `{DEVICE_PLUGIN_CONFIG}` for these nodes",
            severity=Severity.WARNING,
        )


def _judged(view: SetupView, configs: PluginConfigs, plugin: str | None) -> Iterator[Finding[Location]]:
    if not configs.texts:
        return
    if configs.default and configs.default not in configs.texts:
        yield Finding(
            message=f"the default configuration `{configs.default}` is not in {configs.shown}",
            place=configs.named_at(),
            help=did_you_mean(configs.default, configs.texts),
            related=(configs.place("", "the configurations"),),
        )
    from poolsmith.gpu.values.device_plugin_config import config_mistakes, start_mistakes  # on demand

    for name, text in configs.texts.items():
        if not isinstance(text, str) or len(text) > _LARGEST or any(mark in text for mark in _TEMPLATED):
            continue
        duplicates: list[YamlProblem] = []
        place = configs.place(join("", str(name)))
        try:
            documents: list[Any] = list(read_documents(text, duplicates))
        except YamlProblem as problem:
            if not configs.shown.startswith("`"):  # the text of a value is told by the rule on values
                yield Finding(message=f"configuration `{name}` is no YAML: {problem.in_text}", place=place)
            continue
        config = documents[0] if documents else None
        started = start_mistakes(config, plugin, _strategy(view), _capabilities(view, configs, str(name)))
        for mistake in (*config_mistakes(config, plugin), *started):
            where = f" at `{mistake.path}`" if mistake.path else ""
            yield Finding(
                message=f"the device plugin stops at configuration `{name}`{where}: {mistake.message}",
                place=configs.inside(str(name), text, mistake.path),
                help=mistake.help,
            )


def _strategy(view: SetupView) -> str | None:
    """The operator sets it by a variable.

    Source: NVIDIA/gpu-operator:controllers/object_controls.go, TransformDevicePlugin.
    """
    found = view.value("mig.strategy")
    return found if isinstance(found, str) else None


def _capabilities(view: SetupView, configs: PluginConfigs, name: str) -> set[str]:
    """Compute capabilities of the GPUs of the nodes that take a configuration, as far as they are known."""
    known = view.catalog.gpus.architectures
    taking = [node for node in view.nodes or () if node.labels.get(DEVICE_PLUGIN_CONFIG, configs.default) == name]
    found = (known[node.architecture].capability for node in taking if node.architecture in known)
    return {capability for capability in found if capability is not None}


def plugin_version(view: SetupView) -> str | None:
    """The plugin's version, where it is one."""
    version = view.value("devicePlugin.version")
    return version if isinstance(version, str) else None
