"""What values turn on and off after the chart's defaults, variables of a component, and the images that are pulled.

A default that is not recorded is unknown: neither on nor off.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.gpu.catalog.chart_contents import image_components, image_default

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import Steps, ValuesDocument


def _at(document: ValuesDocument, dotted: str) -> Any:
    """The effective value; None for a key that this release does not read."""
    node = document.release.root
    keys = dotted.split(".")
    for key in keys:
        if node.free:
            break
        if key not in node.children:
            return None
        node = node.children[key]
    return document.effective(tuple(keys))


def is_on(document: ValuesDocument, dotted: str) -> bool:
    """Whether a switch is known to be on; with `partial` values a default may be overridden elsewhere."""
    if document.partial and not document.has(tuple(dotted.split("."))):
        return False
    return _at(document, dotted) is True


def is_off(document: ValuesDocument, dotted: str) -> bool:
    if document.partial and not document.has(tuple(dotted.split("."))):
        return False
    return _at(document, dotted) is False


def uses_nri(document: ValuesDocument) -> bool:
    return is_on(document, "cdi.nriPluginEnabled")


def uses_driver_objects(document: ValuesDocument) -> bool:
    """Whether drivers come from NVIDIADriver objects rather than from the ClusterPolicy."""
    return is_on(document, "driver.nvidiaDriverCRD.enabled")


def text(document: ValuesDocument, dotted: str) -> str:
    """An effective text; empty where there is none, or where it is no text."""
    value = _at(document, dotted)
    return value if isinstance(value, str) else ""


MOST = 1000


@record(kw_only=False)
class EnvironmentVariable:
    """`path` leads to the entry. A value that is taken from elsewhere, or is no text, is empty."""

    name: str
    value: str
    path: tuple[str | int, ...]
    own: bool


class Environment:
    """The variables of one component, the last of two of a name; `own` ones stand in the document itself."""

    def __init__(self, document: ValuesDocument, component: Steps, listed: str = "env") -> None:
        path = (*component, listed)
        own = document.has(path)
        entries = document.effective(path)
        self.entries: list[EnvironmentVariable] = []
        for index, entry in enumerate(entries[:MOST] if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                value = entry.get("value")
                text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else ""
                self.entries.append(EnvironmentVariable(entry["name"], text, (*path, index), own))
        self._by_name = {variable.name: variable for variable in self.entries}

    def get(self, *names: str) -> EnvironmentVariable | None:
        """The first of `names` that is set to something."""
        return next((found for name in names if (found := self._by_name.get(name)) and found.value), None)

    def says(self, name: str, *values: str) -> bool:
        """Whether a variable has one of these values, whatever its case."""
        found = self.get(name)
        return found is not None and found.value.strip().lower() in values

    def __contains__(self, name: str) -> bool:
        return name in self._by_name


def toolkit_environment(document: ValuesDocument) -> Environment | None:
    """What the toolkit gets; None where these values say nothing of it, or where the toolkit is off."""
    if not document.has(("toolkit", "env")) or document.effective(("toolkit", "enabled")) is False:
        return None
    return Environment(document, ("toolkit",))


_SANDBOX = frozenset(
    (
        "vfioManager",
        "vgpuManager",
        "vgpuDeviceManager",
        "sandboxDevicePlugin",
        "kataSandboxDevicePlugin",
        "ccManager",
        "kataManager",
    )
)
_OFF_BY_DEFAULT = frozenset(("dcgm", "gds", "gdrcopy", "nodeStatusExporter", "vgpuManager", "kataManager"))
_NEVER_PULLED = frozenset(("operator.initContainer",))
"""Only on OpenShift, where the chart is not used."""
_NFD = ("node-feature-discovery", "image", "repository")


@record(kw_only=False)
class ComponentImage:
    """`path` leads to the repository in the values; `default` is the chart's, `repository` what holds."""

    path: Steps
    repository: str
    default: str

    @property
    def is_moved(self) -> bool:
        """Whether it comes from another registry than the chart's."""
        return registry_of(self.repository) != registry_of(self.default)


def pulled_images(document: ValuesDocument) -> Iterator[ComponentImage]:
    """Of the components that are on."""
    tag = document.release.tag
    for component in image_components(tag):
        path = (*component.split("."), "repository")
        default = image_default(f"{component}.repository", tag)
        if default and component not in _NEVER_PULLED and _is_pulled(path[0], document):
            yield ComponentImage(path, text(document, ".".join(path)) or default, default)
    if document.effective(("nfd", "enabled")) is not False:
        yield ComponentImage(_NFD, text(document, ".".join(_NFD)) or _discovery(), _discovery())


def registry_of(repository: str) -> str:
    """The host of a reference, as container runtimes read it."""
    first, slash, _ = repository.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else "docker.io"


def _is_pulled(component: str, document: ValuesDocument) -> bool:
    if component == "draDriver":
        return document.effective(("gpuCluster", "deployCR")) is True
    if component in _SANDBOX and document.effective(("sandboxWorkloads", "enabled")) is not True:
        return False
    enabled = document.effective((component, "enabled"))
    return enabled is True if component in _OFF_BY_DEFAULT else enabled is not False


@cache
def _discovery() -> str:
    repository: str = store.table("chart_workloads/node_feature_discovery.yaml")["defaults"]["image"]["repository"]
    return repository
