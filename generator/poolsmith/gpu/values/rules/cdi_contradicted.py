"""Variables and class names of the time before CDI, with CDI on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.releases import behaviour_at
from poolsmith.gpu.values.effective_values import Environment, is_off, is_on, text, toolkit_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument
    from poolsmith.gpu.values.effective_values import EnvironmentVariable

RULE = RuleInfo.of("PSM286")
_STRATEGY = "DEVICE_LIST_STRATEGY"
_ENVVAR = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
_MOUNTS = "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS"
_MODE = "NVIDIA_CONTAINER_RUNTIME_MODE"
_OWN_CLASSES = ("nvidia-cdi", "nvidia-legacy")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    on, off = is_on(document, "cdi.enabled"), is_off(document, "cdi.enabled")
    if not on and not off:
        return
    native = _is_native(document.release.tag)
    if document.has(("devicePlugin", "env")) and not is_off(document, "devicePlugin.enabled"):
        strategy = Environment(document, ("devicePlugin",)).get(_STRATEGY)
        if strategy is not None:
            yield from _strategy(strategy, document, on=on, native=native)
    env = toolkit_environment(document)
    mode = env.get(_MODE) if env is not None else None
    if on and native and mode is not None and mode.value not in ("cdi", "auto"):
        yield _told(mode, f"`{_MODE}` is `{shorten(mode.value)}`, and `cdi.enabled` is on", "remove it")
    runtime_class = text(document, "operator.runtimeClass")
    if on and runtime_class in _OWN_CLASSES and document.has(("operator", "runtimeClass")):
        yield Finding(
            place=("operator", "runtimeClass"),
            message=f"`operator.runtimeClass` is `{runtime_class}`, a class that the operator makes beside it",
            help="write `nvidia`, or remove the line: under CDI the class `nvidia` uses CDI",
        )


def _strategy(
    strategy: EnvironmentVariable, document: ValuesDocument, *, on: bool, native: bool
) -> Iterator[Finding[ValuePlace]]:
    words = [word.strip() for word in strategy.value.split(",")]
    uses_cdi = any(word.startswith("cdi-") for word in words)
    if on:
        message = (
            f"`{_STRATEGY}` is set by hand to `{shorten(strategy.value)}`; with `cdi.enabled` the operator sets it"
        )
        severity = Severity.NOTE if uses_cdi else Severity.WARNING
        if native and not uses_cdi and not _is_documented(words, document):
            severity = Severity.ERROR
        yield _told(strategy, message, "remove it, or write `cdi.enabled: false`", severity)
    elif uses_cdi:
        message = (
            f"`{_STRATEGY}` is `{shorten(strategy.value)}`, and `cdi.enabled` is off: nothing prepares the node for CDI"
        )
        yield _told(strategy, message, "remove it, and write `cdi.enabled: true`")


def _is_native(release: str) -> bool:
    """Whether CDI is the only way under `cdi.enabled`, and not one beside the variable of the image."""
    return "envvar" not in behaviour_at(release)["devicePluginCdi"]["strategy"].split(",")


def _is_documented(words: list[str], document: ValuesDocument) -> bool:
    """The three that keep pods from GPUs which they did not ask for: a page names them without a word on CDI."""
    toolkit = Environment(document, ("toolkit",))
    return words == ["volume-mounts"] and toolkit.says(_ENVVAR, "false") and toolkit.says(_MOUNTS, "true")


def _told(
    variable: EnvironmentVariable, message: str, help_text: str, severity: Severity | None = None
) -> Finding[ValuePlace]:
    return Finding(place=(*variable.path, "value"), message=message, help=help_text, severity=severity)
