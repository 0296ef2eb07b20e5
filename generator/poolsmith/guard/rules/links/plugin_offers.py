"""What the device plugins of a cluster offer by their configurations: resources, and the product that nodes are called.

A node takes the default configuration, or the one that its label names: what is offered is what any of them offers.
Source: NVIDIA/k8s-device-plugin@v0.17.4:api/config/v1/resources.go, replicas.go, internal/lm/resource.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS
from poolsmith.guard.rules.links.machine_images import known_images, makes_gpu_nodes
from poolsmith.guard.rules.names.kept import kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView, Machines

_LARGEST = 1 << 20
_EVERY_MIG = f"{MIG}*"
_NO_MIG = "none"
_WHOLE = (GPU, f"{GPU}{SHARED}")
_SHARING = "device-sharing-strategy"


@record
class PluginOffers:
    """`resources` may end with a star. `is_shared`: each, none (False) or some (None) of the configurations gives a GPU
    to several pods under its own name. `strategies` of MIG are empty where nobody knows them. `unnamed` are names that
    a configuration gives and the plugin passes over; of `singly` no container may have two. `place` is where the
    configuration is named."""

    resources: frozenset[str]
    is_shared: bool | None
    strategies: frozenset[str]
    place: Location
    unnamed: frozenset[str] = frozenset()
    singly: frozenset[str] = frozenset()

    def __contains__(self, resource: object) -> bool:
        return resource in self.resources or (str(resource).startswith(MIG) and _EVERY_MIG in self.resources)


@kept
def plugin_offers(view: LinkView) -> PluginOffers | None:
    """Of all device plugins of the view; None where there is none, or nobody can tell what one of them offers."""
    found = []
    for chart in view.charts:
        if chart.is_operator or chart.name in DEVICE_PLUGIN_CHARTS:
            if (offers := _offers(view, chart)) is None:
                return None
            found += [offers] if offers.resources else []
    if not found:
        return _of_the_image(view)
    shared = {item.is_shared for item in found}
    return PluginOffers(
        resources=frozenset(name for item in found for name in item.resources),
        is_shared=shared.pop() if len(shared) == 1 else None,
        strategies=frozenset(name for item in found for name in item.strategies),
        unnamed=frozenset(name for item in found for name in item.unnamed),
        singly=frozenset.intersection(*(item.singly for item in found)),
        place=found[0].place,
    )


def _of_the_image(view: LinkView) -> PluginOffers | None:
    """Of the plugin in the one image of all nodes with GPUs that are described, which knows one strategy of MIG, and
    shares GPUs as the user data of each node class says."""
    images = view.machines.images if view.is_alone else {}
    row = known_images()[next(iter(images))] if len(images) == 1 else {}
    names = _shared_by_image(view.machines) if "strategy" in row else None
    if names is None:
        return None
    plugins = any("k8s-device-plugin" in word(item.get("image")) for pod in view.pods for _, item in pod.containers)
    others = [item for item in view.machines.whole if item.tool != "karpenter" and makes_gpu_nodes(item)]
    if plugins or others:
        return None
    (place,) = images.values()
    return PluginOffers(
        resources=names,
        is_shared=None,
        strategies=frozenset((row["strategy"],)),
        place=place,
    )


def _shared_by_image(machines: Machines) -> frozenset[str] | None:
    """What its plugin calls GPUs, by the settings of all node classes; None where they stand elsewhere. Source:
    bottlerocket-os/bottlerocket pull request 4230, settings.kubelet-device-plugins.nvidia."""
    from poolsmith.gpu.values.runtime_texts import parsed_toml  # on demand

    documents = machines.tree.documents
    classes = [mapping(item.data) for item in documents if item.kind == "EC2NodeClass"]
    if any(_SHARING in item.text and item.kind != "EC2NodeClass" for item in documents):
        return None
    names = set()
    for text in (word(mapping(item.get("spec")).get("userData")) for item in classes):
        if (settings := parsed_toml(text)) is None:
            return None
        plugin = mapping(value_at(settings, ("settings", "kubelet-device-plugins", "nvidia")))
        renames = mapping(plugin.get("time-slicing")).get("rename-by-default") in (True, "true")
        names.add(f"{GPU}{SHARED}" if renames and plugin.get(_SHARING) == "time-slicing" else GPU)
    return frozenset(names or {GPU})


def _offers(view: LinkView, chart: LinkedChart) -> PluginOffers | None:
    from poolsmith.gpu.values.device_plugin_config import unnamed  # on demand

    if chart.partial:
        return None
    if chart.is_operator and chart.value("devicePlugin.enabled") is False:
        return PluginOffers(resources=frozenset(), is_shared=False, strategies=frozenset(), place=chart.declared_at)
    texts = _texts(view, chart)
    if texts is None or (chart.is_operator and chart.value("sandboxWorkloads.enabled") is True):
        return None
    strategy = chart.value("mig.strategy" if chart.is_operator else "migStrategy")
    configs = [parsed_configuration(text) for text in texts] or [{}]
    if any(config is None for config in configs):
        return None
    known = [config for config in configs if config is not None]
    shared = {_shares_by_its_name(config) for config in known}
    plugin = word(chart.known("devicePlugin.version")) if chart.is_operator else f"v{chart.version}"
    return PluginOffers(
        resources=frozenset(name for config in known for name in _resources(config, strategy)),
        is_shared=shared.pop() if len(shared) == 1 else None,
        strategies=frozenset(_strategy(config, strategy) for config in known),
        unnamed=frozenset(name for config in known for name in unnamed(config, plugin).values()),
        singly=frozenset(name for name in _WHOLE if all(name in _singly(config) for config in known)),
        place=chart.place("devicePlugin.config" if chart.is_operator else "config"),
    )


def _texts(view: LinkView, chart: LinkedChart) -> tuple[Any, ...] | None:
    """The configurations; none where the plugin has none; None where they stand elsewhere."""
    if not chart.is_operator:
        if chart.says("config.name"):
            return _of_config_map(view, word(chart.value("config.name")))
        held = chart.value("config.map")
        return tuple(mapping(held).values()) if held is not MISSING else ()
    name = chart.value("devicePlugin.config.name")
    if name in (MISSING, None, ""):
        return ()
    if chart.value("devicePlugin.config.create") is True:
        return tuple(mapping(chart.value("devicePlugin.config.data")).values())
    return _of_config_map(view, word(name))


def shares_by(view: LinkView, chart: LinkedChart, way: str) -> bool:
    """Whether a configuration of the plugin here shares GPUs so."""
    configs = map(parsed_configuration, _texts(view, chart) or ())
    return any(way in mapping(mapping(config).get("sharing")) for config in configs)


def _of_config_map(view: LinkView, name: str) -> tuple[Any, ...] | None:
    found = view.texts_of(name)
    return None if found is None else tuple(found.values())


def parsed_configuration(text: Any) -> Mapping[str, Any] | None:
    """A configuration of the plugin; None where it is no text, or something still fills it in."""
    if not isinstance(text, str) or len(text) > _LARGEST or "{{" in text or "${" in text:
        return None
    try:
        documents = list(read_documents(text))
    except YamlProblem:
        return None
    return mapping(documents[0]) if documents else {}


def _strategy(config: Mapping[str, Any], strategy: Any) -> str:
    """What the chart gives by a variable counts for more; an empty text where nobody knows."""
    said = strategy or mapping(config.get("flags")).get("migStrategy")
    return "" if strategy is MISSING else str(said or _NO_MIG)


def _resources(config: Mapping[str, Any], strategy: Any) -> Iterator[str]:
    from poolsmith.gpu.values.device_plugin_config import renamed  # on demand

    names = renamed(config)
    yield names.get(GPU, GPU)
    if _strategy(config, strategy) in ("mixed", ""):
        yield _EVERY_MIG
        yield from (new for old, new in names.items() if old.startswith(MIG))


def _singly(config: Mapping[str, Any]) -> frozenset[str]:
    """What a container gets one of at most: parts by MPS, or by time where the configuration says so; and names that
    it does not give at all. Source: internal/rm/rm.go, ValidateRequest."""
    from poolsmith.gpu.values.device_plugin_config import renamed, replicated, resource_of  # on demand

    sharing = mapping(config.get("sharing"))
    by_time, by_mps = (mapping(sharing.get(way)).get("failRequestsGreaterThanOne") for way in ("timeSlicing", "mps"))
    is_refused = by_time is True or ("mps" in sharing and by_mps is not False)
    is_shared = GPU in (resource_of(item.get("name")) for item in mappings(replicated(config)))
    given = renamed(config).get(GPU, GPU)
    return frozenset(name for name in _WHOLE if name != given or (is_shared and is_refused))


def _shares_by_its_name(config: Mapping[str, Any]) -> bool:
    from poolsmith.gpu.values.device_plugin_config import renamed, replicated, resource_of  # on demand

    names = [resource_of(item.get("name")) for item in mappings(replicated(config))]
    return GPU in names and GPU not in renamed(config)
