"""Where drivers lie that the system of nodes carries, against the folder that the operator looks in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.drivers.driver_support import DECLARED, UNKNOWN, driver_folder
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.setup_view import named, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM266")
NEEDS = ("nodes", "values")
_VALUE = "hostPaths.driverInstallDir"
_DEFAULT = "/run/nvidia/driver"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    folder = view.value(_VALUE)
    if not isinstance(folder, str):
        return
    setup = driver_setup(view)
    by_folder: dict[str, list[SetupNode]] = {}
    for node in setup.nodes:
        if setup.brings_own(node) is not None and not setup.is_sandboxed(node):
            wanted = node.install_dir or driver_folder(view.catalog.operating_systems.get(node.os_id), node.os_version)
            if wanted not in (None, UNKNOWN) and wanted.rstrip("/") != folder.rstrip("/"):
                by_folder.setdefault(wanted, []).append(node)
    for wanted, nodes in by_folder.items():
        if wanted == DECLARED and folder != _DEFAULT:
            continue
        where = f"in `{wanted}`" if wanted != DECLARED else "in a folder that depends on its version and flavour"
        yield Finding(
            message=f"{nodes[0].os_id} has its driver {where}, and the operator looks in `{folder}` ({named(nodes)})",
            place=view.value_location(_VALUE),
            help=f"set `{_VALUE}: {wanted}`" if wanted != DECLARED else f"set `{_VALUE}` to the folder of your version",
            related=places(nodes, "/spec/os", "its driver is elsewhere"),
            severity=Severity.WARNING if wanted == DECLARED else None,
        )
