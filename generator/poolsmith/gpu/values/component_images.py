"""The images of an installation's components, as values and the chart's defaults name them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.gpu.catalog.chart_images import image_components, image_default
from poolsmith.gpu.values.switches import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import Steps, ValuesDocument

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
    repository: str = store.read_yaml("chart_workloads/node_feature_discovery.yaml")["defaults"]["image"]["repository"]
    return repository
