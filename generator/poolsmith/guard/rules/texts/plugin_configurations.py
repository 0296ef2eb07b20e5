"""Configurations of the device plugin, wherever they stand, whoever reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.manifests.plugin_configuration import RULE, steps_of
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.texts.stack_text import StackText

__all__ = ("RULE", "check")

_OF_A_RESOURCE = ("name", "replicas")
"""What a resource needs, and people write one level further up."""


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    for item in texts:
        if item.shape is Shape.PLUGIN:
            yield from _of(item)


def _of(item: StackText) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.device_plugin_config import config_mistakes, passed_over, start_mistakes  # on demand

    mistakes = (*config_mistakes(item.data, item.version), *start_mistakes(item.data, item.version, None))
    one_level_up = {f"{mistake.path}.{key}" for mistake in mistakes for key in _OF_A_RESOURCE}
    for mistake in mistakes:
        where = f" at `{mistake.path}`" if mistake.path else ""
        yield Finding(
            message=f"{item.shown}: the device plugin stops{where}: {mistake.message}",
            place=item.locate(*steps_of(mistake.path)),
            help=mistake.help,
            subject=item.subject,
        )
    for path, advice in passed_over(item.data, item.version):
        if path in one_level_up:
            continue  # the help of the mistake there says where it belongs
        yield Finding(
            message=f"{item.shown}: the device plugin does not read `{path}`",
            place=item.locate(*steps_of(path)),
            help=advice,
            severity=Severity.WARNING,
            subject=item.subject,
        )
