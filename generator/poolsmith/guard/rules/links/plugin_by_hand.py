"""The device plugin without its chart: what somebody wrote by hand, and it can't work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.gpu.catalog.node_labels import DEPLOY
from poolsmith.guard.rules.links.plugin_containers import plugin_containers
from poolsmith.guard.rules.links.plugin_offers import parsed_configuration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView
    from poolsmith.guard.rules.links.plugin_containers import PluginContainer

RULE = RuleInfo.of("PSM787")
_FILE, _ROOT = ("CONFIG_FILE", "--config-file"), ("MPS_ROOT", "--mps-root")
_STRATEGY, _MONITOR = ("MIG_STRATEGY", "--mig-strategy"), "NVIDIA_MIG_MONITOR_DEVICES"
_RANCHER = "/var/lib/rancher/"
_SOCKET = ("KUBELET_SOCKET", "--kubelet-socket")
_PROGRAM = "nvidia-device-plugin"
_SOCKETS = "/var/lib/kubelet/device-plugins"
_STOPPED = f"{DEPLOY}device-plugin"
_SECTIONS = frozenset(("sharing", "flags", "resources"))


def check(view: LinkView) -> Iterator[Finding[Location]]:
    plugins = tuple(plugin_containers(view))
    if not plugins:
        return
    sets = {id(item.pod): item.pod for item in plugins if item.pod.owner.kind == "DaemonSet"}.values()
    yield from _not_stopped(view, sets)
    maps = {item.own_name: mapping(item.data.get("data")) for item in view.of_kind("ConfigMap")}
    for plugin in plugins:
        yield from _as_variables(plugin, maps)
        yield from _without_root(plugin, maps)
        yield from _without_monitor(plugin)
        if plugin.pod.owner.kind == "DaemonSet":
            yield from _without_kubelet(plugin)
    for pod in sets:
        yield from _kubelet_of_before(pod)
        yield from _waiting_for_itself(pod)


def _without_monitor(plugin: PluginContainer) -> Iterator[Finding[Location]]:
    """What looks at MIG devices has to be given those that tell of them."""
    if plugin.says(*_STRATEGY) not in ("single", "mixed"):
        return
    pod, container, said = plugin.pod, plugin.container, plugin.said
    is_given = _MONITOR in said or said.get("NVIDIA_VISIBLE_DEVICES", "").startswith("management.")
    if not is_given and mapping(container.get("securityContext")).get("privileged") is not True:
        yield Finding(
            message=f"{pod.owner.name} has the MIG strategy `{plugin.says(*_STRATEGY)}` and no `{_MONITOR}`: where a "
            "GPU has MIG on, the device plugin lacks the permission to look at it, and ends",
            place=pod.place(plugin.at + plugin.place_of(*_STRATEGY)),
            help=f"add the variable `{_MONITOR}: all` and the capability `SYS_ADMIN`, as its chart does",
        )


def _kubelet_of_before(pod: LinkedPod) -> Iterator[Finding[Location]]:
    for number, volume in enumerate(mappings(pod.spec.get("volumes"))):
        path = word(mapping(volume.get("hostPath")).get("path"))
        if path.startswith(_RANCHER) and "/kubelet/" in path:
            yield Finding(
                message=f"{pod.owner.name} mounts `{shorten(path)}`, where the kubelet of an early k3s had its folder: "
                "there is no socket today",
                place=pod.place(f"/volumes/{number}/hostPath/path"),
                help=f"write `{_SOCKETS}`",
            )


def _without_kubelet(plugin: PluginContainer) -> Iterator[Finding[Location]]:
    if not [*words(plugin.container.get("command")), _PROGRAM][0].endswith(_PROGRAM) or plugin.says(*_SOCKET):
        return
    paths = [word(mount.get("mountPath")) for mount in mappings(plugin.container.get("volumeMounts"))]
    if (paths or plugin.pod.spec.get("volumes")) and not any(map(_holds_sockets, paths)):
        yield Finding(
            message=f"nothing mounts {_SOCKETS} into {plugin.pod.owner.name}: the device plugin reaches no kubelet",
            place=plugin.pod.place(f"{plugin.at}/volumeMounts"),
            help=f"mount the folder {_SOCKETS} of the host there",
        )


def _holds_sockets(path: str) -> bool:
    return f"{_SOCKETS}/".startswith(f"{path.rstrip('/')}/")


def _not_stopped(view: LinkView, sets: Iterable[LinkedPod]) -> Iterator[Finding[Location]]:
    for pod in sets if any(map(_makes_slices, view.charts)) else ():
        if _STOPPED not in mapping(pod.spec.get("nodeSelector")):
            yield Finding(
                message=f"the MIG manager here does not stop {pod.owner.name}, which keeps the old devices",
                place=pod.place("/nodeSelector" if "nodeSelector" in pod.spec else ""),
                help=f"write `{_STOPPED}: 'true'` into its nodeSelector",
            )


def _waiting_for_itself(pod: LinkedPod) -> Iterator[Finding[Location]]:
    if pod.gpu_resources:
        asking = (at for at, container in pod.containers if pod.gpu_resources[0] in str(container.get("resources")))
        yield Finding(
            message=f"{pod.owner.name} asks for `{pod.gpu_resources[0]}`, which no node has before it runs: "
            "no pod of it is ever scheduled",
            place=pod.place(f"{next(asking, '/containers/0')}/resources"),
            help="remove the request: the device plugin needs none",
            severity=Severity.ERROR,
        )


def _makes_slices(chart: LinkedChart) -> bool:
    """Whether an operator's MIG manager acts, and leaves the plugin to others."""
    is_on = chart.is_operator and chart.value("migManager.enabled") is True and not chart.partial
    return is_on and chart.value("devicePlugin.enabled") is False and chart.says("mig.strategy")


def _as_variables(plugin: PluginContainer, maps: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding[Location]]:
    for number, source in enumerate(mappings(plugin.container.get("envFrom"))):
        name = word(mapping(source.get("configMapRef")).get("name"))
        if any(map(_configuration, maps.get(name, {}).values())):
            yield Finding(
                message=f"{plugin.pod.owner.name} gets the configurations of ConfigMap/{name} as variables, and the "
                "device plugin reads a file",
                place=plugin.pod.place(f"{plugin.at}/envFrom/{number}"),
                help=f"mount the ConfigMap, and name its file by the variable `{_FILE[0]}`",
            )


def _without_root(plugin: PluginContainer, maps: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding[Location]]:
    pod, path = plugin.pod, plugin.says(*_FILE)
    if path and not plugin.says(*_ROOT) and _shares_by_mps(pod, path, maps):
        yield Finding(
            message=f"{pod.owner.name} shares GPUs by MPS, and nothing names its root: the device plugin stops",
            place=pod.place(f"{plugin.at}/env" if "env" in plugin.container else plugin.at),
            help=f"install the chart, which brings the root and the control daemon; by hand add `{_ROOT[0]}`",
        )


def _configuration(text: object) -> Mapping[str, Any]:
    """Empty where a text is none."""
    found = mapping(parsed_configuration(text))
    return found if _SECTIONS & found.keys() else {}


def _shares_by_mps(pod: LinkedPod, path: str, maps: Mapping[str, Mapping[str, Any]]) -> bool:
    mounted = [word(mapping(item.get("configMap")).get("name")) for item in mappings(pod.spec.get("volumes"))]
    texts = [maps.get(name, {}).get(path.rpartition("/")[2]) for name in mounted]
    return any(mapping(_configuration(text).get("sharing")).get("mps") for text in texts)
