"""Labels of the nodes that `expand` is given, by the rule of `check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Location, Span
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.rules.setup import node_label_values
from poolsmith.guard.rules.setup.needs import run_setup_rules
from poolsmith.guard.rules.setup.view import SetupObject, SetupView
from poolsmith.guard.rules.setup.views import policy_values
from poolsmith.interface.app.setup_nodes import setup_nodes

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.app.expand_input import ExpandInput


def judge_labels(release: str, namespace: str, found: ExpandInput) -> tuple[Diagnostic, ...]:
    """What nothing of the operator knows; nothing where there is no ClusterPolicy, or more than one."""
    catalog = Catalog()
    objects = tuple(SetupObject(item, _nowhere) for item in (*found.resources, *found.objects))
    values = policy_values(list(objects))
    if values is None:
        return ()
    view = SetupView(
        catalog=catalog,
        tag=release,
        operator=catalog.releases.near(release),
        nodes=tuple(node for read in found.node_files for node in setup_nodes(read, catalog)),
        values=values,
        objects=objects,
        namespace=namespace,
    )
    return run_setup_rules((node_label_values,), view).diagnostics


def _nowhere(_pointer: str, note: str | None = None) -> Location:
    """What the chart renders stands in no file."""
    return Location(span=Span(path="values"), note=note)
