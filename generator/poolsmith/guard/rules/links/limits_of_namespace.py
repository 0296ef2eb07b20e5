"""Pods of the stack that a quota or a range of limits of their namespace refuses, whoever else is there."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join
from poolsmith.kubernetes.quantity import QuantityError, quantity_amount

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM783")
_PLAIN = ("cpu", "memory", "ephemeral-storage")
_SPECIFIED = ("cpu", "memory")
"""What each container has to say where a quota counts it: quota.enforcement of Kubernetes."""
_PARTS = ("requests", "limits")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    by_namespace: dict[str, list[SetupObject]] = defaultdict(list)
    for item in view.of_kind("ResourceQuota", "LimitRange"):
        by_namespace[word(item.metadata.get("namespace"))].append(item)
    for pod in view.pods if by_namespace else ():
        bounds = by_namespace.get(pod.namespace, ())
        if not bounds or not pod.asks_for_gpus:
            continue
        ranges = [item for item in bounds if item.kind == "LimitRange"]
        for item in bounds:
            yield from _of_range(pod, item) if item.kind == "LimitRange" else _of_quota(pod, item, ranges)


def _of_range(pod: LinkedPod, item: SetupObject) -> Iterator[Finding[Location]]:
    for bound in mappings(item.spec.get("limits")):
        for name, most in mapping(bound.get("max")).items() if bound.get("type") == "Container" else ():
            for at, container in pod.containers:
                asked = mapping(mapping(container.get("resources")).get("limits")).get(name)
                if _is_more(asked, most):
                    yield Finding(
                        message=f"{pod.owner.name} asks for {asked} of `{name}` in one container, and {item.name} of "
                        f"its namespace allows {most}",
                        place=pod.place(join(at, "resources", "limits", str(name))),
                        help=f"ask for {most} at most, or change the range",
                        related=(item.place("/spec/limits"),),
                    )


def _of_quota(pod: LinkedPod, item: SetupObject, ranges: list[SetupObject]) -> Iterator[Finding[Location]]:
    if item.spec.get("scopes") or item.spec.get("scopeSelector"):
        return
    for name, most in mapping(item.spec.get("hard")).items():
        part, resource = _counted(str(name))
        if not part:
            continue
        said = list(_said(pod, part, resource))
        total = sum((amount for _, amount in said if amount is not None), start=_ZERO)
        bound = _amount(most)
        if bound is not None and total > bound and said:
            yield Finding(
                message=f"{pod.owner.name} asks for {total.normalize():f} of `{resource}` in one pod, and "
                f"{item.name} of its namespace has {most} in all",
                place=pod.place(said[0][0]),
                help=f"ask for {most} at most, or raise the quota",
                related=(item.place(join("/spec/hard", str(name))),),
            )
        elif resource in _SPECIFIED and (at := _unsaid(pod, part, resource)) and not _is_given(ranges, part, resource):
            yield Finding(
                message=f"a container of {pod.owner.name} says no `{part}.{resource}`, which {item.name} of its "
                "namespace counts: the API server refuses the pod",
                place=pod.place(at),
                help=f"write `{part}: {{{resource}: ...}}`, or add a LimitRange with a default",
                related=(item.place(join("/spec/hard", str(name))),),
            )


_ZERO = quantity_amount("0")


def _counted(name: str) -> tuple[str, str]:
    """The part and the resource that an entry of a quota counts; nothing for numbers of objects."""
    for part in _PARTS:
        if name.startswith(f"{part}."):
            resource = name.removeprefix(f"{part}.")
            return ("", "") if resource == "storage" else (part, resource)
    return ("requests", name) if name in _PLAIN else ("", "")


def _said(pod: LinkedPod, part: str, resource: str) -> Iterator[tuple[str, Decimal | None]]:
    """Of the containers that run together; a request that nobody says is the limit."""
    for at, container in pod.containers:
        resources = mapping(container.get("resources"))
        for held in (part, "limits"):
            value = mapping(resources.get(held)).get(resource)
            if value is not None and at.startswith("/containers/"):
                yield join(at, "resources", held, resource), _amount(value)
                break


def _unsaid(pod: LinkedPod, part: str, resource: str) -> str:
    """The first container that says no amount; empty where each says one."""
    for at, container in pod.containers:
        resources = mapping(container.get("resources"))
        parts = ("requests", "limits") if part == "requests" else ("limits",)
        if not any(resource in mapping(resources.get(held)) for held in parts):
            return f"{at}/resources" if "resources" in container else at
    return ""


def _is_given(ranges: list[SetupObject], part: str, resource: str) -> bool:
    fields = ("default", "max") if part == "limits" else ("defaultRequest", "default", "max", "min")
    return any(
        resource in mapping(bound.get(field))
        for item in ranges
        for bound in mappings(item.spec.get("limits"))
        for field in fields
    )


def _is_more(asked: Any, most: Any) -> bool:
    one, other = _amount(asked), _amount(most)
    return one is not None and other is not None and one > other


def _amount(value: Any) -> Decimal | None:
    """None of what is no quantity."""
    try:
        return None if value is None or isinstance(value, dict | list) else quantity_amount(str(value))
    except QuantityError:
        return None
