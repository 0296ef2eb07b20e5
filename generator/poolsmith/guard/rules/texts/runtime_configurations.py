"""Configurations of containerd and of NVIDIA's runtime, and CDI specifications, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo.of("PSM339")
_IN_TOML = {Shape.CONTAINERD: "containerd", Shape.TOOLKIT: "toolkit"}


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    for item in texts:
        if item.shape in _IN_TOML or item.shape is Shape.CDI:
            from poolsmith.gpu.values.runtime_texts import cdi_mistakes, toml_mistakes  # on demand

            is_toml = item.shape in _IN_TOML
            yield from item.told(
                toml_mistakes(_IN_TOML[item.shape], item.text or "") if is_toml else cdi_mistakes(item.data)
            )
