"""From one owner of the objects to another: the old one is suspended first, and leaves in the next step without them.

A cluster that is removed is given up in the same way, with or without what runs there.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from poolsmith.change.moves.look import let_go, namespaces_of, removed, taken_over
from poolsmith.change.moves.step import Done, Moving, Step, moving, named, new_name, one_of, put
from poolsmith.change.upgrade_edits import Editor
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.record import record
from poolsmith.fleet.profiles.acknowledged_facts import DELIVERY, gone_fact
from poolsmith.fleet.profiles.cluster import Engine, Retiring, StackKind
from poolsmith.fleet.profiles.fleet import PROFILES

if TYPE_CHECKING:
    from poolsmith.fleet.profiles.cluster import Delivery
    from poolsmith.project.run.project import Project

_ENGINE, _NAMESPACE, _RETIRING = "/spec/delivery/engine", "/spec/delivery/namespace", "/spec/delivery/retiring"
_ENGINES = tuple(item.value for item in Engine)
_OF_ONE_ENGINE = {
    Engine.FLUX: ("sourceRef", "verify"),
    Engine.ARGOCD: ("destination", "project", "instance", "hydrate"),
}
"""Fields of a delivery that the other engine has no use for."""


@record
class NewOwner:
    """What the other engine is told: the namespace of its objects; of Argo CD the name of the cluster there, and which
    Argo CD it is. None: its defaults."""

    namespace: str | None = None
    destination: str | None = None
    instance: str | None = None


def change_engine(project: Project, name: str, engine: str, owner: NewOwner) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, name)
    delivery = there.plan.cluster.spec.delivery
    if one_of(engine, _ENGINES, "engine") == delivery.engine.value:
        return _settled(there, Editor(), f"`{name}` is delivered by {engine}")
    _refuse(there, delivery, engine, owner)
    if delivery.retiring is not Retiring.KEEP:
        return _suspended(there, _again(name, engine, owner))
    editor = Editor()
    editor.set(there.file, _ENGINE, engine)
    for field in ("retiring", *_OF_ONE_ENGINE[delivery.engine]):
        if there.file.has(f"/spec/delivery/{field}"):
            editor.remove(there.file, f"/spec/delivery/{field}")
    if owner.namespace is not None:
        put(editor, there.file, _NAMESPACE, _ENGINE, new_name(owner.namespace, "a namespace"))
    if owner.instance is not None:
        put(editor, there.file, "/spec/delivery/instance", _ENGINE, new_name(owner.instance, "an instance"))
    if owner.destination is not None:
        editor.add_first_mapping(there.file, "/spec/delivery", "destination", {"name": owner.destination})
    return Step(
        title=f"`{name}` is delivered by {engine} from now on",
        names={name: name},
        edits=editor.edits((name,)),
        before=_SUSPENDED_FIRST,
        look=taken_over(there.plan, Engine(engine)),
    )


def _again(name: str, engine: str, owner: NewOwner) -> str:
    flags = {"namespace": owner.namespace, "destination": owner.destination, "instance": owner.instance}
    return f"poolsmith move engine {name} {engine}" + "".join(
        f" --{flag} {shlex.quote(value)}" for flag, value in flags.items() if value
    )


_SUSPENDED_FIRST = ("see that the step before is applied on the cluster, and that its points are done",)


def _refuse(there: Moving, delivery: Delivery, engine: str, owner: NewOwner) -> None:
    """What the tool can't know. Raises UsageError."""
    if delivery.namespace is not None and owner.namespace is None:
        raise UsageError(
            f"{there.file.path} says `delivery.namespace: {delivery.namespace}`, which may be the old engine's: say "
            "where the objects of the new one go, with `--namespace`; nothing was changed"
        )
    if delivery.after:
        raise UsageError(
            f"{there.file.path} says `delivery.after`, and the other engine can't wait for that: take it out first, in "
            "a change of its own; nothing was changed"
        )
    if engine == Engine.FLUX.value and (owner.destination or owner.instance):
        raise UsageError("`--destination` and `--instance` are for Argo CD; nothing was changed")


def change_delivery_namespace(project: Project, name: str, namespace: str) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, name)
    delivery = there.plan.cluster.spec.delivery
    if new_name(namespace, "a namespace") == delivery.objects_namespace:
        return _settled(there, Editor(), f"the objects of the delivery of `{name}` are in `{namespace}`")
    if delivery.retiring is not Retiring.KEEP:
        stays = delivery.engine is Engine.FLUX
        return _suspended(there, f"poolsmith move delivery-namespace {name} {namespace}", holder_stays=stays)
    editor = Editor()
    put(editor, there.file, _NAMESPACE, _ENGINE, namespace)
    editor.remove(there.file, _RETIRING)
    return Step(
        title=f"the objects of the delivery of `{name}` are in `{namespace}` from now on",
        names={name: name},
        edits=editor.edits((name,)),
        before=_SUSPENDED_FIRST,
        look=taken_over(there.plan, delivery.engine),
    )


def _suspended(there: Moving, then: str, *, holder_stays: bool = False) -> Step:
    """The first step of each: the engine's hands are taken off."""
    editor = Editor()
    put(editor, there.file, _RETIRING, _ENGINE, Retiring.KEEP.value)
    return Step(
        title=f"the delivery of `{there.name}` is suspended: all of it keeps running, and nothing updates it",
        names={there.name: there.name},
        edits=editor.edits((there.name,)),
        look=let_go(there.plan, holder_stays=holder_stays),
        then=then,
    )


def _settled(there: Moving, editor: Editor, title: str) -> Step | Done:
    """It is there already; what a move to elsewhere has begun is taken back."""
    if there.plan.cluster.spec.delivery.retiring is None:
        return Done()
    _take_back(editor, there)
    return Step(
        title=f"{title}, and goes on to be",
        names={there.name: there.name},
        edits=editor.edits((there.name,)),
        look=(f"`poolsmith verify {there.name}` finds nothing that differs",),
    )


def _take_back(editor: Editor, there: Moving) -> None:
    """What gives a delivery up, with what somebody has acknowledged for that alone."""
    editor.remove(there.file, _RETIRING)
    known = [item.fact for item in there.plan.cluster.spec.acknowledge]
    if known == [gone_fact(DELIVERY, there.plan.delivery_name)]:
        editor.remove(there.file, "/spec/acknowledge")


def remove_cluster(project: Project, name: str, *, keeps: bool) -> Step | Done:
    """Raises UsageError, NoInputError."""
    if name not in {files.name for files in project.fleet.clusters} and not (project.root / PROFILES / name).exists():
        return Done()
    there = moving(project, name)
    delivery, asked = there.plan.cluster.spec.delivery, Retiring.KEEP if keeps else Retiring.REMOVE
    then = f"poolsmith move remove-cluster {name}" + (" --keep-running" if keeps else "")
    if delivery.retiring is not asked:
        if keeps:
            return _suspended(there, then)
        return _given_up(there, then)
    others = any(files.name != name for files in project.fleet.clusters)
    if not others:
        raise UsageError(
            f"`{name}` is the last cluster, and a project without any generates nothing: remove profiles/{name} and "
            f"output/clusters/{name} by hand, or the whole project; nothing was changed"
        )
    return Step(
        title=f"`{name}` is no cluster of the fleet any more",
        names={name: None},
        edits=Editor().edits((name,)),
        removed=(f"{PROFILES}/{name}",),
        before=_SUSPENDED_FIRST,
        look=removed(there.plan, keeps=keeps),
    )


_OF_KIND = {
    StackKind.OPERATOR: ("values", "driverMode", "upgradingFrom"),
    StackKind.GPU_CLUSTER: ("values", "draDriver", "upgradingFrom"),
    StackKind.DEVICE_PLUGIN: ("dcgmExporter", "gpuFeatureDiscovery"),
}
"""Fields of a stack that only this kind reads."""
_KINDS = tuple(item.value for item in StackKind)
_KIND, _RELEASE = "/spec/stack/kind", "/spec/stack/release"


def change_stack_kind(project: Project, name: str, kind: str, release: str | None) -> Step | Done:
    """Raises UsageError, NoInputError."""
    there = moving(project, name)
    stack, asked = there.plan.cluster.spec.stack, StackKind(one_of(kind, _KINDS, "kind of stack"))
    if stack.kind is asked:
        return _settled(there, Editor(), f"the stack of `{name}` is of kind {kind}")
    release = _checked(there, asked, release)
    if there.plan.cluster.spec.delivery.retiring is not Retiring.REMOVE:
        return _given_up(there, f"poolsmith move stack-kind {name} {kind} --release {shlex.quote(release)}")
    editor = Editor()
    put(editor, there.file, _KIND, _RELEASE, kind)
    editor.set(there.file, _RELEASE, release)
    idle = (f"/spec/stack/{field}" for field in _OF_KIND[stack.kind] if field not in _OF_KIND[asked])
    for pointer in filter(there.file.has, idle):
        editor.remove(there.file, pointer)
    _take_back(editor, there)
    return Step(
        title=f"the stack of `{name}` is of kind {kind}, and no longer {stack.kind.value}",
        names={name: name},
        edits=editor.edits((name,)),
        before=_SUSPENDED_FIRST,
        look=(
            (
                "see that the old stack is gone, and the new one ready: "
                f"`poolsmith verify {name}` finds nothing that differs"
            ),
            *(() if there.file.has("/spec/stack/namespace") else namespaces_of(there.plan)),
        ),
    )


def _checked(there: Moving, asked: StackKind, release: str | None) -> str:
    """The release, where the kind can follow. Raises UsageError."""
    stack = there.plan.cluster.spec.stack
    if stack.by_operator and asked is not StackKind.DEVICE_PLUGIN:
        raise UsageError(
            f"no migration between `{stack.kind.value}` and `{asked.value}` is supported: the operator serves neither "
            f"while the objects of both exist. Remove `{there.name}` with `poolsmith move "
            "remove-cluster`, and write a new cluster; nothing was changed"
        )
    if not release:
        raise UsageError("the release of the other stack is another one: say which, with `--release`")
    managed = sorted(pool.name for pool in there.plan.pools if pool.driver is not None and pool.driver.managed)
    if asked is StackKind.DEVICE_PLUGIN and managed:
        raise UsageError(
            f"no driver is installed by the kind `{asked.value}`, and pools {named(managed)} have theirs from "
            "the operator: bring it with the nodes, and write `driver: {source: preinstalled, version: ...}` for each "
            "of them first, in changes of their own; nothing was changed"
        )
    return release


def _given_up(there: Moving, then: str) -> Step:
    editor = Editor()
    put(editor, there.file, _RETIRING, _ENGINE, Retiring.REMOVE.value)
    name = there.name
    return Step(
        title=f"the delivery of `{name}` is given up: it runs on, and goes with its objects",
        names={name: name},
        edits=editor.edits((name,)),
        look=(
            f"`poolsmith verify {name}` finds nothing that differs: the objects of the delivery have lost their guards",
            "drain the nodes, and see that nothing needs a GPU any more",
        ),
        then=then,
        is_outage=True,
        facts=(gone_fact(DELIVERY, there.plan.delivery_name),),
    )
