"""Who may ask for GPUs by a variable of its image: everybody, or nobody any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.values.effective_values import Environment, is_off

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM426")
_ENVVAR = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
_MOUNTS = "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS"
_STRATEGY = "DEVICE_LIST_STRATEGY"
_TRUE, _FALSE = ("true", "1", "t"), ("false", "0", "f")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "toolkit.enabled"):
        return
    toolkit, plugin = Environment(document, ("toolkit",)), Environment(document, ("devicePlugin",))
    envvar, mounts, strategy = toolkit.get(_ENVVAR), toolkit.get(_MOUNTS), plugin.get(_STRATEGY)
    own = [found for found in (envvar, mounts, strategy) if found is not None and found.own]
    if not own:
        return
    if envvar is not None and envvar.own and toolkit.says(_ENVVAR, *_TRUE):
        yield Finding(
            place=(*envvar.path, "value"),
            message=f"`{_ENVVAR}` is on: a pod without a GPU request sees all GPUs when its image says so",
            help="write `false` where more than one team uses the nodes, or remove it",
            severity=Severity.WARNING,
        )
    if document.partial or is_off(document, "devicePlugin.enabled"):
        return
    words = [word.strip() for word in strategy.value.split(",")] if strategy is not None else []
    by_mounts, accepts_mounts = words == ["volume-mounts"], toolkit.says(_MOUNTS, *_TRUE)
    if by_mounts and not accepts_mounts:
        yield Finding(
            place=(*own[-1].path, "value"),
            message=f"the device plugin lists devices as volume mounts, and the toolkit does not accept them: "
            f"`{_MOUNTS}` is not on",
            help=f"add `{_MOUNTS}: 'true'` to `toolkit.env`",
        )
    elif by_mounts and envvar is None:
        yield Finding(
            place=(*own[-1].path, "value"),
            message="devices are listed as volume mounts, and the toolkit still believes the variable of any image",
            help=f"add `{_ENVVAR}: 'false'` to `toolkit.env`",
        )
    elif toolkit.says(_ENVVAR, *_FALSE) and is_off(document, "cdi.enabled") and words in ([], ["envvar"]):
        yield Finding(
            place=(*own[0].path, "value"),
            message=f"`{_ENVVAR}` is off, and the device plugin lists devices by this variable alone: only a "
            "privileged pod gets its GPU",
            help=f"add `{_STRATEGY}: volume-mounts` to `devicePlugin.env` and `{_MOUNTS}: 'true'` to `toolkit.env`",
        )
