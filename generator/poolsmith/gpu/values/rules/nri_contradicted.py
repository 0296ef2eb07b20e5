"""What has no meaning, or a wrong one, once devices are injected through NRI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.releases import behaviour_at
from poolsmith.gpu.values.effective_values import is_off, text, toolkit_environment, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM287")
_PATHS = (
    "RUNTIME_CONFIG",
    "RUNTIME_CONFIG_SOURCE",
    "RUNTIME_DROP_IN_CONFIG",
    "RUNTIME_SOCKET",
)
_CLASS = ("operator", "runtimeClass")
_INSTEAD = "instead"
"""Where NRI takes the place of the runtime's files."""
_DEEPEST = 40


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if not uses_nri(document):
        socket = env.get("NRI_SOCKET") if env is not None else None
        if socket is not None and is_off(document, "cdi.nriPluginEnabled"):
            message = "`NRI_SOCKET` has no effect without `cdi.nriPluginEnabled`"
            yield Finding(place=socket.path, message=message, help="turn the plugin on, or remove it")
        return
    name = text(document, ".".join(_CLASS)) if document.has(_CLASS) else ""
    if name and not document.repeats(_CLASS, name):
        yield Finding(
            place=_CLASS,
            message=f"`operator.runtimeClass` is `{shorten(name)}`, and under NRI there are no runtime classes",
            help="remove it",
        )
    paths = (*container_runtimes().path_variables, *_PATHS)
    if env is not None and behaviour_at(document.release.tag)["nri"] == _INSTEAD:
        for variable in env.entries:
            if variable.name in paths:
                message = f"`{variable.name}` has no effect: under NRI the toolkit does not touch the runtime's files"
                yield Finding(place=variable.path, message=message, help="remove it")
    for path, name in _classes(document.get(("extraObjects",)), document):
        yield Finding(
            place=path,
            message=f"the pod asks for the runtime class `{shorten(name)}`, which the operator deletes under NRI",
            help="remove `runtimeClassName`, and request a GPU",
            severity=Severity.ERROR,
        )


def _classes(objects: Any, document: ValuesDocument) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where objects that the chart brings ask for a class of the operator."""
    own = {"nvidia", "nvidia-cdi", "nvidia-legacy", text(document, "operator.runtimeClass")}
    pending: list[tuple[tuple[str | int, ...], Any]] = [(("extraObjects",), objects)]
    while pending:
        path, node = pending.pop()
        if len(path) > _DEEPEST:
            continue
        if isinstance(node, dict):
            name = node.get("runtimeClassName")
            if isinstance(name, str) and name in own:
                yield (*path, "runtimeClassName"), name
            pending.extend(((*path, key), value) for key, value in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend(((*path, index), value) for index, value in reversed(list(enumerate(node))))
