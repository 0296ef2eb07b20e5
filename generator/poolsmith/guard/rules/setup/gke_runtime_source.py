"""The toolkit on GKE from Kubernetes 1.33 on, which must read containerd's configuration from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import is_older
from poolsmith.core.sources.pod_template import mappings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM764",
    name="gke-runtime-source",
    applies_to="setup",
    what="On GKE with Kubernetes 1.33 or later the toolkit takes containerd's configuration from its command line, "
    "since `RUNTIME_CONFIG_SOURCE` is not `file`. A note where nobody says the version of Kubernetes.",
    why="What the command line prints there is not what containerd reads: the toolkit writes a configuration with "
    "which containerd starts no pod of the node.",
    fix="write `toolkit: {env: [{name: RUNTIME_CONFIG_SOURCE, value: file}]}`",
    bad="toolkit: {installDir: /home/kubernetes/bin/nvidia}\n",
    good="toolkit:\n  installDir: /home/kubernetes/bin/nvidia\n  env: [{name: RUNTIME_CONFIG_SOURCE, value: file}]\n",
    references=("NVIDIA/cloud-native-docs@52dcb7b8:gpu-operator/google-gke.rst, release-notes.rst",),
)
NEEDS = ("values",)
_FOLDER, _FROM, _VARIABLE = "/home/kubernetes/bin/nvidia", "1.33", "RUNTIME_CONFIG_SOURCE"
_PATHS = ("toolkit.installDir", "hostPaths.driverInstallDir")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None, "a need of this rule"
    if view.flag("toolkit.enabled") is False or view.values.partial:
        return
    path = next((path for path in _PATHS if str(view.value(path)).rstrip("/") == _FOLDER), None)
    if path is None or (view.kubernetes is not None and is_older(view.kubernetes, _FROM)):
        return
    said = [item.get("value") for item in mappings(view.value("toolkit.env")) if item.get("name") == _VARIABLE]
    if any(str(value).partition("=")[0] == "file" for value in said):
        return
    known = view.kubernetes is not None
    yield Finding(
        message=f"GKE {f'with Kubernetes {view.kubernetes}' if known else f'from {_FROM} on'} needs "
        f"`{_VARIABLE}: file` for the toolkit: it writes a configuration that containerd can't use otherwise",
        place=view.value_location("toolkit.env" if said else path),
        help=f"write `toolkit: {{env: [{{name: {_VARIABLE}, value: file}}]}}`",
        severity=None if known else Severity.NOTE,
    )
