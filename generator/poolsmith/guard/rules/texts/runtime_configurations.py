"""Configurations of containerd and of NVIDIA's runtime, and CDI specifications, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo.of("PSM339")
_OF_K3S = pattern(r"rancher/(k3s|rke2)/agent/etc/containerd/config\.toml$")
_VERSION_3 = pattern(r"(?m)^ *version *= *3")
_IN_TOML = {Shape.CONTAINERD: "containerd", Shape.TOOLKIT: "toolkit"}


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    for item in texts:
        if item.shape in _IN_TOML or item.shape is Shape.CDI:
            from poolsmith.gpu.values.runtime_texts import cdi_mistakes, toml_mistakes  # on demand

            is_toml = item.shape in _IN_TOML
            yield from _written_over(item)
            yield from item.told(
                toml_mistakes(_IN_TOML[item.shape], item.text or "") if is_toml else cdi_mistakes(item.data)
            )


def _written_over(item: StackText) -> Iterator[Finding[Location]]:
    target, pointer = item.written_to if item.written_to[0] else (item.source.path, item.pointer)
    found = _OF_K3S.search(target)
    if found is not None and item.shape is Shape.CONTAINERD:
        name = "config-v3.toml.tmpl" if _VERSION_3.search(item.text or "") else "config.toml.tmpl"
        yield Finding(
            message=f"{found[1]} writes {shorten(target)} itself at each start: this is gone then",
            place=item.source.locate(pointer),
            help=f"write it as {name}, or leave it out: {found[1]} finds NVIDIA's runtime by itself",
            subject=item.subject,
        )
