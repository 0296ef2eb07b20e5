"""Another place: of the source, of the charts, of the stack; another mode of the driver. One step each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.moves.look import holder_reads
from poolsmith.change.moves.step import Done, Step, moving, new_name, one_of, put
from poolsmith.change.upgrade_edits import Editor
from poolsmith.core.diagnostics import UsageError
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.project.run.project import Project

_ENGINE, _RELEASE = "/spec/delivery/engine", "/spec/stack/release"
_NAMESPACE, _MODE = "/spec/stack/namespace", "/spec/stack/driverMode"
_MODES = tuple(item.value for item in DriverMode)
_DRAIN = "drain the nodes: every driver is removed, and installed again"


def change_source(project: Project, name: str, wanted: Mapping[str, str]) -> Step | Done:
    """`wanted` are new values by fields of `delivery`, those of its source. Raises UsageError, NoInputError."""
    there = moving(project, name)
    editor, delivery = Editor(), there.plan.cluster.spec.delivery
    now = {
        "repoURL": delivery.repo_url,
        "path": delivery.path,
        "revision": delivery.revision,
        "chartRepo": delivery.chart_repo,
    }
    for field, value in wanted.items():
        if now[field] != value:
            put(editor, there.file, f"/spec/delivery/{field}", _ENGINE, value)
    edits = editor.edits((name,))
    if not edits.lines:
        return Done()
    return Step(
        title=f"`{name}` is delivered from another place",
        names={name: name},
        edits=edits,
        before=_before(wanted),
        look=holder_reads(there.plan, path=wanted.get("path", ""))
        if wanted.keys() - {"chartRepo"}
        else (_READY.format(name=name),),
    )


_READY = "`poolsmith verify {name}` finds nothing that differs, and the release has the same chart and values"


def _before(wanted: Mapping[str, str]) -> tuple[str, ...]:
    found = []
    if wanted.keys() - {"chartRepo"}:
        found.append(
            "the new place has to hold the same output, this step with it, and the engine the right to read it: what "
            "is not there is deleted once the engine reads there"
        )
        found.append("what holds the delivery may go on reading the old place until this step is applied from there")
    if "chartRepo" in wanted:
        found.append("the other repository has to have the same versions of all charts, with the same content")
    return tuple(found)


def change_stack_namespace(project: Project, name: str, namespace: str) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, name)
    old = there.plan.namespace
    if new_name(namespace, "a namespace") == old:
        return Done(
            look=(
                f"delete the old namespace once it is empty, such as `kubectl delete namespace {OPERATOR_NAMESPACE}`",
            )
            if namespace != OPERATOR_NAMESPACE
            else ()
        )
    editor = Editor()
    put(editor, there.file, _NAMESPACE, _RELEASE, namespace)
    return Step(
        title=f"the stack of `{name}` is in namespace `{namespace}`, and no longer in `{old}`",
        names={name: name},
        edits=editor.edits((name,)),
        before=(_DRAIN,),
        look=(
            (
                "see that the old release is gone, and the new one ready: "
                f"`poolsmith verify {name}` finds nothing that differs"
            ),
            f"delete the old namespace once it is empty: `kubectl delete namespace {old}`",
        ),
        is_outage=True,
    )


def change_driver_mode(project: Project, name: str, mode: str) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, name)
    stack = there.plan.cluster.spec.stack
    if one_of(mode, _MODES, "mode of the driver") == stack.driver_mode.value:
        return Done()
    if not stack.by_operator:
        raise UsageError(f"`{name}` runs no gpu-operator, and has no mode of the driver; nothing was changed")
    release = project.catalog.releases.near(stack.release)
    hands_over = release is not None and release.driver_object.hands_over and mode == DriverMode.NVIDIA_DRIVER.value
    editor = Editor()
    put(editor, there.file, _MODE, _RELEASE, mode)
    return Step(
        title=f"the drivers of `{name}` are described by {'one object for each pool' if hands_over else mode}",
        names={name: name},
        edits=editor.edits((name,)),
        before=(
            "see that each node has its pool's label: a node that no object selects has no driver afterwards",
            *(() if hands_over else (_DRAIN,)),
        ),
        look=(f"`poolsmith verify {name}` finds nothing that differs, once all driver pods are replaced",),
        is_outage=not hands_over,
    )


BY_HAND = {
    "split-pool": "the nodes of the new pool need a label of their own, and with driver objects a driver of their own: "
    "write its profile, drain the nodes, and change their label one after the other; `poolsmith diff` shows what "
    "restarts",
    "merge-pools": "the nodes of one of the pools get the label of the other, and with driver objects its driver: "
    "drain them, change their label one after the other, and remove the empty pool's profile; `poolsmith diff` shows "
    "what is removed",
}
"""Moves that no commit can make, and what people do in their place."""
