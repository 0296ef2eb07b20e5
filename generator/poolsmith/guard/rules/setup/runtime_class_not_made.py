"""Pods that ask for a runtime class that the operator does not make here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import (
    WORKLOAD_KINDS,
    mapping,
    mappings,
    pod_template_of,
    pod_template_pointer,
    word,
)
from poolsmith.guard.rules.names.need import Need, State, Supply, judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView

RULE = RuleInfo.of("PSM296")
NEEDS = ("values", "release")
_NVIDIA, _CLASS = "nvidia", "RuntimeClass"
_OF_CDI = ("nvidia-cdi", "nvidia-legacy")
BRINGS_ITS_OWN = ("k3s", "rke2")
NVIDIAS_OWN = ("nvidia", "nvidia-experimental")
"""What these distributions make by themselves. Source: k3s-io/docs@05051a0af773:docs/advanced.md"""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.distribution in BRINGS_ITS_OWN:
        return
    made = made_by_operator(view.value, is_known=view.values is not None and not view.values.partial)
    if made is None:
        return
    there = {item.own_name for item in view.of_kind("RuntimeClass")}
    yield from _of_kata(view, there)
    own = {_NVIDIA, *_OF_CDI, word(view.value("operator.runtimeClass"))}
    for need in _lacking(view, made | there, own.__contains__):
        has = f"it makes {listed(sorted(made))}" if made else "under NRI it makes none"
        yield Finding(
            message=f"{need.who} asks for the runtime class `{need.name}`, which the operator does not make: {has}",
            place=need.place,
            help=f"write `runtimeClassName: {min(made)}`" if made else "remove `runtimeClassName`",
            severity=Severity.WARNING if view.distribution is None else None,
            subject=need.who,
        )


def _lacking(view: SetupView, there: set[str], owns: Callable[[str], bool]) -> Iterator[Need]:
    """Needs of classes that nothing else than what is known here can supply."""
    for item, name in _asking(view):
        at = f"{pod_template_pointer(item.data)}/spec/runtimeClassName"
        need = Need(kind=_CLASS, name=name, where=at, who=item.name, locate=item.place, pointer=at)
        if name and judged(need, (), Supply(known=there, owns=owns, spelled=lambda _: None)).state is State.UNDEFINED:
            yield need


def _of_kata(view: SetupView, there: set[str]) -> Iterator[Finding[Location]]:
    """The Kata manager makes the classes of its list, and nobody else here makes any."""
    named = view.value("kataManager.config.runtimeClasses")
    if view.flag("kataManager.enabled") is not True or view.flag("sandboxWorkloads.enabled") is not True:
        return
    made = {word(item.get("name")) for item in mappings(named)}
    if not made or any("kata" in chart.name for _, chart in view.installed_charts()):
        return
    for need in _lacking(view, made | there, lambda name: name.startswith("kata") and _NVIDIA in name):
        yield Finding(
            message=f"{need.who} asks for the runtime class `{need.name}`, and the Kata manager makes "
            f"{listed(sorted(made))}",
            place=need.place,
            help=f"write one of these, or add `{need.name}` to `kataManager.config.runtimeClasses`",
            subject=need.who,
            severity=Severity.WARNING,
        )


def _asking(view: SetupView) -> Iterator[tuple[SetupObject, str]]:
    """Workloads, each with the runtime class that its pods name, or an empty text."""
    for kind in WORKLOAD_KINDS:
        for item in view.of_kind(kind):
            yield item, word(mapping(mapping(pod_template_of(item.data)).get("spec")).get("runtimeClassName"))


def made_by_operator(value: Callable[[str], Any], *, is_known: bool) -> set[str] | None:
    """The classes that the operator makes by its values; None where they do not tell."""
    if value("cdi.nriPluginEnabled") is True:
        return set()
    own, cdi = word(value("operator.runtimeClass")) or (_NVIDIA if is_known else ""), value("cdi.enabled")
    if not own or not isinstance(cdi, bool):
        return None
    return {own, *(_OF_CDI if cdi else ())}
