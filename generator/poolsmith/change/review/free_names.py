"""What anybody may set by its exact name, each with the form of its value and its reason: lists that are closed.

A name that is in none of them needs `acceptSettings`, also one that looks like its neighbour: a variable that ends in
DEBUG may be a flag of one program and a file that another one writes as root. The names are those of the upstream
programs: dcgm-exporter and k8s-device-plugin (their command-line flags), nvidia-container-toolkit (its operator),
node-feature-discovery (its chart), and the well-known labels and annotations of Kubernetes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.scalars import text_of
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Mapping


class Free(NamedTuple):
    """The form of the whole value, in words or as all its spellings (`a|b`), and why it gives nothing."""

    form: str
    why: str


_BOOL, _SWITCH, _NUMBER, _COUNT = "true or false", "true, false, 0 or 1", "a number", "a number or a percentage"
_LEVEL, _DURATION, _NAME, _LINE = "a level of logs", "a duration", "a name", "one line"
_ZONE, _LOCALE, _TAG, _QUANTITY = "a time zone", "a locale", "a tag or a digest", "a quantity"
_SELECTOR, _MAYBE_NAME, _WEB_PATH = "a label selector", "a name, or nothing", "a path of a URL"
_PATTERNS: dict[str, re.Pattern[str]] = {
    form: re.compile(pattern)
    for form, pattern in {
        _SWITCH: r"(?i:true|false)|[01]",
        _NUMBER: r"[0-9]{1,9}",
        _COUNT: r"[0-9]{1,9}|[0-9]{1,3}%",
        _LEVEL: r"(?i:trace|debug|info|notice|warn|warning|error|fatal|panic)|[0-9]{1,2}",
        _DURATION: r"([0-9]{1,6}(ms|s|m|h)){1,4}|[0-9]{1,9}",
        _NAME: r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?",
        _MAYBE_NAME: r"([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)?",
        _LINE: r"[^\x00-\x1f\x7f]{0,500}",
        _ZONE: r"[A-Z][A-Za-z_]{1,30}(/[A-Z][A-Za-z0-9_+-]{1,30}){0,2}",
        _LOCALE: r"C|POSIX|(C|[a-z]{2}_[A-Z]{2})\.(?i:utf-?8)",
        _TAG: r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[0-9a-f]{64}",
        _QUANTITY: r"[0-9]{1,15}(\.[0-9]{1,9})?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?",
        _SELECTOR: r"([A-Za-z0-9!][A-Za-z0-9_./=,!() -]{0,500})?",
        _WEB_PATH: r"/[A-Za-z0-9/_.-]{0,200}",
    }.items()
}

_OFTEN, _LOGGED, _NAMED = "how often it works", "what is logged", "how GPUs are named or counted"

FREE_VARIABLES: dict[str, Free] = {
    "DCGM_EXPORTER_CLOCK_EVENTS_COUNT_WINDOW_SIZE": Free(_NUMBER, "what is counted"),
    "DCGM_EXPORTER_DEBUG": Free(_SWITCH, _LOGGED),
    "DCGM_EXPORTER_INTERVAL": Free(_NUMBER, _OFTEN),
    "DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE": Free("uid|device-name", _NAMED),
    "DCGM_EXPORTER_LOG_FORMAT": Free("text|json", _LOGGED),
    "DCGM_EXPORTER_NO_HOSTNAME": Free(_SWITCH, "labels of metrics"),
    "DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME": Free(_SWITCH, "labels of metrics"),
    "DCGM_EXPORTER_USE_OLD_NAMESPACE": Free(_SWITCH, "labels of metrics"),
    "DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE": Free(_NUMBER, "what is counted"),
    "DEVICE_ID_STRATEGY": Free("uuid|index", _NAMED),
    "FAIL_ON_INIT_ERROR": Free(_SWITCH, "whether it waits on a node without GPUs"),
    "GFD_FAIL_ON_INIT_ERROR": Free(_SWITCH, "whether it waits on a node without GPUs"),
    "GFD_NO_TIMESTAMP": Free(_SWITCH, "labels of nodes without a time"),
    "GFD_SLEEP_INTERVAL": Free(_DURATION, _OFTEN),
    "LANG": Free(_LOCALE, "the language of messages"),
    "LOG_FORMAT": Free("text|json", _LOGGED),
    "LOG_LEVEL": Free(_LEVEL, _LOGGED),
    "MIG_STRATEGY": Free("none|single|mixed", _NAMED),
    "NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL": Free(_LEVEL, _LOGGED),
    "TZ": Free(_ZONE, "the zone of times that are logged"),
    "VERBOSITY": Free(_NUMBER, _LOGGED),
}
"""Environment variables of containers."""

FREE_METADATA: dict[str, Free] = {
    "app.kubernetes.io/component": Free(_LINE, "says what it is; nobody acts on it"),
    "app.kubernetes.io/created-by": Free(_LINE, "says what it is; nobody acts on it"),
    "app.kubernetes.io/name": Free(_LINE, "says what it is; nobody acts on it"),
    "app.kubernetes.io/part-of": Free(_LINE, "says what it is; nobody acts on it"),
    "app.kubernetes.io/version": Free(_LINE, "says what it is; nobody acts on it"),
    "cost-center": Free(_LINE, "who pays; a name without a prefix is the user's own"),
    "environment": Free(_LINE, "a name without a prefix is the user's own"),
    "example.com/owner": Free(_LINE, "whose it is; RFC 2606 keeps the domain from any controller"),
    "example.com/team": Free(_LINE, "whose it is; RFC 2606 keeps the domain from any controller"),
    "kubectl.kubernetes.io/default-container": Free(_NAME, "which container kubectl shows first"),
    "kubectl.kubernetes.io/default-logs-container": Free(_NAME, "which container kubectl shows first"),
    "kubectl.kubernetes.io/restartedAt": Free(_LINE, "when pods were last replaced"),
    "kubernetes.io/change-cause": Free(_LINE, "a note for people"),
    "kubernetes.io/description": Free(_LINE, "a note for people"),
    "owner": Free(_LINE, "whose it is; a name without a prefix is the user's own"),
    "prometheus.io/path": Free(_WEB_PATH, "which metrics are read"),
    "prometheus.io/port": Free(_NUMBER, "which metrics are read"),
    "prometheus.io/scheme": Free("http|https", "which metrics are read"),
    "prometheus.io/scrape": Free(_SWITCH, "which metrics are read"),
    "team": Free(_LINE, "whose it is; a name without a prefix is the user's own"),
}
"""Labels and annotations of objects and pods. `app.kubernetes.io/instance` and `managed-by` are none of them: Argo CD
and Helm tell by them which objects are theirs."""

_CHOSEN = "which Prometheus reads it"
MONITOR_LABELS: dict[str, Free] = {"prometheus": Free(_NAME, _CHOSEN), "release": Free(_NAME, _CHOSEN)}
"""Labels of ServiceMonitors, PodMonitors and PrometheusRules besides."""

FREE_RESOURCES: tuple[str, ...] = (
    "cpu",
    "memory",
    "ephemeral-storage",
    "hugepages-64Ki",
    "hugepages-2Mi",
    "hugepages-32Mi",
    "hugepages-512Mi",
    "hugepages-1Gi",
    "hugepages-16Gi",
)
"""Shares of a node. Every other resource gives a device, or whatever its plugin mounts."""

FREE_ARGUMENTS: dict[str, Free] = {
    "-enable-leader-election": Free("|true|false", "one of several copies works at a time"),
    "-v": Free(_NUMBER, _LOGGED),
}
"""Arguments of containers."""

FREE_KERNEL_ARGUMENTS: dict[str, str] = {
    "amd_iommu=on": "the IOMMU keeps devices apart",
    "intel_iommu=on": "the IOMMU keeps devices apart",
    "iommu=on": "the IOMMU keeps devices apart",
    "modprobe.blacklist=nouveau": "a module that is not loaded",
    "nouveau.modeset=0": "a module that does nothing",
    "rd.driver.blacklist=nouveau": "a module that is not loaded",
    "rdblacklist=nouveau": "a module that is not loaded",
}
"""Arguments of the nodes' kernels."""

_COMPONENT = "a component of the release as it comes; its privileges have to be granted"
_SHARE, _REPLACED = "a share of the node's time and memory", "how pods are replaced"
_DRIVERS, _SHARING, _DIVIDED = "how driver pods are replaced", "how GPUs are shared and named", "how GPUs are divided"
_METRICS, _OFFERED, _START = "which metrics are read", "which metrics are offered", "how long a driver has to start"

_SWITCHES = (
    *("ccManager", "cdi", "dcgm", "dcgmExporter", "devicePlugin", "draDriver.computeDomains", "driver"),
    *("driver.nvidiaDriverCRD", "driver.rdma", "gdrcopy", "gds", "gfd", "kataManager", "kataSandboxDevicePlugin"),
    *("migManager", "nfd", "nodeStatusExporter", "sandboxDevicePlugin", "sandboxWorkloads", "toolkit"),
    *("vfioManager", "vgpuDeviceManager", "vgpuManager"),
)
_TAGGED = (
    *("ccManager", "dcgm", "dcgmExporter", "devicePlugin", "draDriver", "driver", "driver.manager", "gdrcopy", "gds"),
    *("gfd", "kataManager", "kataSandboxDevicePlugin", "migManager", "nodeStatusExporter", "operator"),
    *("operator.initContainer", "sandboxDevicePlugin", "toolkit", "validator", "vfioManager"),
    *("vfioManager.driverManager", "vgpuDeviceManager", "vgpuManager", "vgpuManager.driverManager"),
)
_UPGRADE, _PROBE = "driver.upgradePolicy", "driver.startupProbe"
FREE_VALUES: dict[str, Free] = {
    **{f"{name}.enabled": Free(_BOOL, _COMPONENT) for name in _SWITCHES},
    **{f"{name}.version": Free(_TAG, "a tag; the repository counts") for name in _TAGGED},
    "daemonsets.updateStrategy": Free("RollingUpdate|OnDelete", _REPLACED),
    "daemonsets.rollingUpdate.maxUnavailable": Free(_COUNT, _REPLACED),
    f"{_UPGRADE}.autoUpgrade": Free(_BOOL, _DRIVERS),
    f"{_UPGRADE}.drain.deleteEmptyDir": Free(_BOOL, _DRIVERS),
    f"{_UPGRADE}.drain.enable": Free(_BOOL, _DRIVERS),
    f"{_UPGRADE}.drain.force": Free(_BOOL, _DRIVERS),
    f"{_UPGRADE}.drain.podSelector": Free(_SELECTOR, _DRIVERS),
    f"{_UPGRADE}.drain.timeoutSeconds": Free(_NUMBER, _DRIVERS),
    f"{_UPGRADE}.gpuPodDeletion.deleteEmptyDir": Free(_BOOL, _DRIVERS),
    f"{_UPGRADE}.gpuPodDeletion.force": Free(_BOOL, _DRIVERS),
    f"{_UPGRADE}.gpuPodDeletion.timeoutSeconds": Free(_NUMBER, _DRIVERS),
    f"{_UPGRADE}.maxParallelUpgrades": Free(_NUMBER, _DRIVERS),
    f"{_UPGRADE}.maxUnavailable": Free(_COUNT, _DRIVERS),
    f"{_UPGRADE}.waitForCompletion.podSelector": Free(_SELECTOR, _DRIVERS),
    f"{_UPGRADE}.waitForCompletion.timeoutSeconds": Free(_NUMBER, _DRIVERS),
    f"{_PROBE}.failureThreshold": Free(_NUMBER, _START),
    f"{_PROBE}.initialDelaySeconds": Free(_NUMBER, _START),
    f"{_PROBE}.periodSeconds": Free(_NUMBER, _START),
    f"{_PROBE}.timeoutSeconds": Free(_NUMBER, _START),
    "devicePlugin.config.create": Free(_BOOL, _SHARING),
    "devicePlugin.config.default": Free(_MAYBE_NAME, _SHARING),
    "migManager.config.create": Free(_BOOL, _DIVIDED),
    "migManager.config.default": Free(_MAYBE_NAME, _DIVIDED),
    "mig.strategy": Free("none|single|mixed", _NAMED),
    "dcgmExporter.serviceMonitor.enabled": Free(_BOOL, _METRICS),
    "dcgmExporter.serviceMonitor.honorLabels": Free(_BOOL, _METRICS),
    "dcgmExporter.serviceMonitor.interval": Free(_DURATION, _METRICS),
    "dcgmExporter.serviceMonitor.scrapeTimeout": Free(_DURATION, _METRICS),
    "dcgmExporter.config.create": Free(_BOOL, _OFFERED),
    "operator.logging.develMode": Free(_BOOL, _LOGGED),
    "operator.logging.level": Free(_LEVEL, _LOGGED),
    "operator.logging.timeEncoding": Free(_NAME, _LOGGED),
    "ccManager.defaultMode": Free(
        "on|off|devtools|ppcie", "a mode of the GPUs; losing it is reported as a lost protection"
    ),
    "vgpuDeviceManager.config.default": Free(_MAYBE_NAME, "which vGPU types are offered"),
    "node-feature-discovery.worker.config.core.sleepInterval": Free(_DURATION, _OFTEN),
}
"""Helm values of the operator's chart, whole paths."""

FREE_IN_ANY: dict[str, Free] = {
    "*.imagePullPolicy": Free("Always|IfNotPresent|Never", "when an image is pulled; which one it is counts"),
    **{
        f"*.resources.{part}.{name}": Free(_QUANTITY, _SHARE)
        for part in ("limits", "requests")
        for name in FREE_RESOURCES
    },
}
"""The same for whatever component comes before the star."""

FREE_TEXTS: dict[str, str] = {
    "devicePlugin.config.data": "how GPUs are shared and named, in fields of the list below only",
    "migManager.config.data": _DIVIDED,
    "dcgmExporter.config.data": _OFFERED,
}
"""Files of components, each a text below its name."""
_PLUGIN_DATA = "devicePlugin.config.data"

PLUGIN_FIELDS: tuple[str, ...] = (
    "version",
    "flags.migStrategy",
    "flags.failOnInitError",
    "flags.plugin.deviceIDStrategy",
    "flags.gfd.oneshot",
    "flags.gfd.noTimestamp",
    "flags.gfd.sleepInterval",
    "resources",
    "sharing",
)
"""Fields of the device plugin's configuration. Others name files that root writes, or hand out devices."""

_DATA_KEY = compiled_later(r"[A-Za-z0-9._-]{1,253}")
_LARGEST_TEXT = 1 << 20


def is_free(table: Mapping[str, Free], name: str, value: Any) -> bool:
    """Whether a name is in a table, and its value has the form of that table."""
    found = table.get(name)
    return found is not None and has_form(found.form, value)


def has_form(form: str, value: Any) -> bool:
    """Whether a value of YAML is of a form; a text that looks like a number or a switch is one."""
    if form == _BOOL:
        return isinstance(value, bool)
    text = _scalar(value)
    if text is None:
        return False
    pattern = _PATTERNS.get(form)
    return pattern.fullmatch(text) is not None if pattern is not None else text in form.split("|")


def is_free_variable(name: str, value: Any) -> bool:
    return is_free(FREE_VARIABLES, name, value)


def is_free_value(path: tuple[str, ...], value: Any) -> bool:
    """Whether a Helm value may be set without anybody's leave: by its whole path, and only in its form."""
    dotted = ".".join(path)
    if value is None or value == {}:
        return path[-1:] == ("resources",) and len(path) > 1
    if is_free(FREE_VALUES, dotted, value):
        return True
    if len(path) > 1 and any(
        len(path) > pattern.count(".") and dotted.endswith(pattern[1:]) and has_form(free.form, value)
        for pattern, free in FREE_IN_ANY.items()
    ):
        return True
    return _is_free_text(dotted, value)


def _is_free_text(dotted: str, value: Any) -> bool:
    place = next((one for one in FREE_TEXTS if dotted.startswith(f"{one}.")), None)
    if place is None or not isinstance(value, str) or _DATA_KEY.fullmatch(dotted[len(place) + 1 :]) is None:
        return False
    return place != _PLUGIN_DATA or _is_free_plugin_config(value)


def _is_free_plugin_config(text: str) -> bool:
    if len(text) > _LARGEST_TEXT:
        return False
    try:
        documents = read_documents(text)
    except YamlProblem:
        return False
    allowed = {tuple(field.lower().split(".")) for field in PLUGIN_FIELDS}
    return all(_is_within(document, (), allowed) for document in documents)


def _is_within(node: Any, path: tuple[str, ...], allowed: set[tuple[str, ...]]) -> bool:
    """Whether all of a tree lies at or below allowed places. Letter case does not matter to the reader of it."""
    if path in allowed:
        return True
    if not isinstance(node, dict):
        return not path and node is None
    return all(_is_within(below, (*path, str(key).lower()), allowed) for key, below in node.items())


def _scalar(value: Any) -> str | None:
    """As a line of a manifest would have it."""
    return text_of(value) if isinstance(value, int | float | str) else None
