"""Command lines of the operands' containers in workloads that somebody wrote, by the version of their image."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.values.device_plugin_config import wrong_word
from poolsmith.gpu.values.operand_flags import OF_PROGRAMS, undefined_flags
from poolsmith.guard.rules.manifests.unread_operand_variable import operand_containers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.manifests.unread_operand_variable import OperandContainer
    from poolsmith.kubernetes.repository.manifest_files import CheckedTree

RULE = RuleInfo.of("PSM544")
_PLUGIN = "nvidia-device-plugin"
_OF_IMAGES = {"k8s-device-plugin": _PLUGIN}


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    alike: dict[tuple[str, bytes], tuple[str, list[tuple[tuple[str, int], str]]]] = {}
    for item in operand_containers(tree):
        if item.said not in alike:
            alike[item.said] = _started(item)
        program, words = alike[item.said]
        if program not in OF_PROGRAMS:
            continue
        for found in undefined_flags(program, item.version, words):
            yield Finding(
                message=found.message,
                place=item.document.source.locate(join(item.pointer, *found.place)),
                help=found.help,
                subject=item.document.name,
                severity=None if found.is_certain else Severity.WARNING,
            )
        if program == _PLUGIN:
            for place, word in words:
                flag, _, value = word.partition("=")
                if flag.startswith("-") and value and (wrong := wrong_word(flag, value, item.version)) is not None:
                    yield Finding(
                        message=f"`{shorten(flag)}`: {wrong.message}",
                        place=item.document.source.locate(join(item.pointer, *place)),
                        help=wrong.help,
                        subject=item.document.name,
                    )


def _started(item: OperandContainer) -> tuple[str, list[tuple[tuple[str, int], str]]]:
    """The program, and the words behind it with their places."""
    command = _words(item.container.get("command"))
    words = [(("command", index), word) for index, word in enumerate(command)][1:]
    words += [(("args", index), word) for index, word in enumerate(_words(item.container.get("args")))]
    return posixpath.basename(command[0]) if command else _OF_IMAGES.get(item.image, item.image), words


def _words(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
