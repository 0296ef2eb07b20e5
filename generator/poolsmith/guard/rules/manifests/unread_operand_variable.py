"""Variables of the operands' containers in workloads that somebody wrote, by the version of their image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import started_with, word, words
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.rules.operand_variable import OF_IMAGES, Unread, unread
from poolsmith.guard.rules.names.kept import kept_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM543")
_PROGRAMS = ("gpu-feature-discovery", "mps-control-daemon", "vfio-manage")
_IMAGE = pattern(rf"(?:^|/)({'|'.join(sorted(OF_IMAGES))})(?::([\w][\w.-]{{0,127}}+))?(?:@|$)")


@record(kw_only=False)
class OperandContainer:
    """A container at `pointer` whose image is an operand's; `version` is its tag, and `said` is equal where the operand
    is, and all that it is started with."""

    document: CheckedDocument
    pointer: str
    container: Mapping[str, Any]
    image: str
    version: str | None
    said: tuple[str, bytes]


@kept_all
def operand_containers(tree: CheckedTree) -> Iterator[OperandContainer]:
    known: dict[str, tuple[str, str | None] | None] = {}
    for document in tree.objects:
        for pointer, container in document.containers:
            image = word(container.get("image"))
            if image not in known:
                found = _IMAGE.search(image)
                known[image] = None if found is None else (found[1], found[2])
            if (operand := known[image]) is not None:
                said = operand[0], started_with(container)
                yield OperandContainer(document, pointer, container, *operand, said)


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    judged: dict[tuple[str, tuple[tuple[str, str], ...], str | None], tuple[Unread, ...]] = {}
    tags: dict[tuple[str, str | None], str | None] = {}
    alike: dict[tuple[str, bytes], tuple[str, dict[int, tuple[str, str]]]] = {}
    for item in operand_containers(tree):
        if item.said not in alike:
            alike[item.said] = _operand(item.image, item.container), _variables(item.container)
        operand, named = alike[item.said]
        if not named:
            continue
        if (operand, item.version) not in tags:
            tags[operand, item.version] = operand_inputs(operand).tag_of(item.version)
        case = operand, tuple(named.values()), tags[operand, item.version]
        if case not in judged:
            judged[case] = tuple(unread(*case))
        for found in judged[case]:
            where = item.document.source.locate(f"{item.pointer}/env/{tuple(named)[found.at]}/{found.field}")
            yield Finding(message=found.message, place=where, help=found.help, subject=item.document.name)


def _operand(image: str, container: Mapping[str, Any]) -> str:
    """Some images have several programs: the command says which of them runs."""
    said = (*words(container.get("command")), *words(container.get("args")))
    return OF_IMAGES[next((program for program in _PROGRAMS for item in said if program in item), image)]


def _variables(container: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
    """Names and values, by their place in the list; a value that is taken from elsewhere is empty."""
    env = container.get("env")
    return {
        index: (item["name"], word(item.get("value")))
        for index, item in enumerate(env if isinstance(env, list) else ())
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }
