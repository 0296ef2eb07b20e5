"""The toolkit on GKE from Kubernetes 1.33 on, which must read containerd's configuration from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import is_older
from poolsmith.core.sources.pod_template import mappings
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.gpu.catalog.platforms import distributions, rule_of
from poolsmith.gpu.values.rules.runtime_config_source_missing import RULE as OF_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = OF_VALUES
NEEDS = ("values",)
_PATHS = ("toolkit.installDir", "hostPaths.driverInstallDir")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None, "a need of this rule"
    if view.flag("toolkit.enabled") is False or view.values.partial:
        return
    path, name = next(((path, name) for path in _PATHS if (name := _owner(view.value(path)))), ("", ""))
    for variable in _variables(name, view) if name else ():
        wanted = variable["fromKubernetes"]
        env = mappings(view.value("toolkit.env"))
        said = [item.get("value") for item in env if item.get("name") == variable["name"]]
        is_later = view.kubernetes is not None and is_older(view.kubernetes, wanted)
        if not is_later and not any(str(value).partition("=")[0] == variable["value"] for value in said):
            yield _finding(view, "toolkit.env" if said else path, name, variable)


def _owner(folder: object) -> str:
    """The platform whose own installer puts drivers and toolkits into a folder."""
    wanted = str(folder).rstrip("/")
    return next((name for name, entry in distributions().items() if wanted in entry.host_folders.values()), "")


def _variables(name: str, view: SetupView) -> Iterator[dict[str, str]]:
    """Those that the toolkit needs from a version of Kubernetes on; of a release that nobody knows, the last one's."""
    rules = distributions()[name].rules.get(CONTAINERD, ())
    paths = rule_of(name, view.tag) if view.tag else rules[-1][1] if rules else None
    return (item for item in (paths.env if paths is not None else ()) if "fromKubernetes" in item)


def _finding(view: SetupView, place: str, name: str, variable: dict[str, str]) -> Finding[Location]:
    known, key, value = view.kubernetes, variable["name"], variable["value"]
    when = f"with Kubernetes {known}" if known else f"from {variable['fromKubernetes']} on"
    return Finding(
        message=f"{name.upper()} {when} needs `{key}: {value}` for the toolkit: it writes a configuration that "
        "containerd can't use otherwise",
        place=view.value_location(place),
        help=f"write `toolkit: {{env: [{{name: {key}, value: {value}}}]}}`",
        severity=None if known else Severity.NOTE,
    )
