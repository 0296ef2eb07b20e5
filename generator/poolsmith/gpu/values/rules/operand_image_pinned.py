"""One image that is not of the set that the chart was tested with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.catalog.chart_contents import image_components, image_default, recorded_tags
from poolsmith.gpu.catalog.container_toolkit import numbers, unfit_toolkit
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.values.effective_values import uses_nri
from poolsmith.gpu.values.rules.mutable_image import is_moving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM521")
_CHOSEN = frozenset(("driver", "vgpuManager", "kataManager", "ccManager", "operator.initContainer"))
"""The user's to choose; of Kata and confidential computing, what their own guides pin."""
_OPERATOR = frozenset(("operator", "validator", "nodeStatusExporter"))
"""Images of the operator's own release; their default version is the chart's."""
_DIGEST = "sha256:"
_VENDOR = "nvcr.io/"
_NUMBERED = pattern(r"v?\d+\.\d", re.ASCII)


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    tag = document.release.tag
    for component in image_components(tag):
        path = (*component.split("."), "version")
        version = document.get(path)
        if not isinstance(version, str) or not version or version.startswith(_DIGEST):
            continue
        if (told := _never_published(path, version, document)) is not None and not _is_another(component, document):
            yield told
            continue
        if component in _CHOSEN or not document.release.is_chart:
            continue
        default = image_default(".".join(path), tag) or (tag if component in _OPERATOR else None)
        if default is None or _is_same(version, default) or is_moving(version) or _is_another(component, document):
            continue
        if component == "toolkit" and _is_told_elsewhere(version, default, document):
            continue
        yield Finding(
            place=path,
            message=f"`{dotted(path)}` is `{shorten(version)}`; {tag} was tested with {default}",
            help="remove it",
        )


def _never_published(path: tuple[str, ...], version: str, document: ValuesDocument) -> Finding[ValuePlace] | None:
    """A tag that lacks the `v` of the vendor's tags, or has one that they lack; a registry of one's own may have it."""
    repository, first = document.get((*path[:-1], "repository")), image_default(dotted(path), recorded_tags()[0])
    is_vendors = repository is None or str(repository).startswith(_VENDOR)
    number = numbers(version)
    if first is None or not is_vendors or number is None or not _NUMBERED.match(version):
        return None
    right, has_v = first.startswith("v"), version.startswith("v")
    if right == has_v or number < (numbers(first) or ()):
        return None
    return Finding(
        place=path,
        message=f"`{dotted(path)}` is `{shorten(version)}`, and tags of this image begin "
        + ("with `v`" if right else "without `v`"),
        help=f"write `{shorten(f'v{version}' if right else version.removeprefix('v'))}`, or remove it",
        severity=Severity.ERROR,
    )


def _is_told_elsewhere(version: str, default: str, document: ValuesDocument) -> bool:
    """Whether PSM283 or PSM427 speaks of this toolkit, or it is what PSM427 asks for."""
    unfit = unfit_toolkit(version, document.release.tag, nri=uses_nri(document))
    return unfit is not None or bool(limits().of_toolkit(version)) or bool(limits().of_toolkit(default))


def _is_same(version: str, default: str) -> bool:
    """The same release, perhaps built on another system."""
    number = numbers(version)
    return version == default or (number is not None and number == numbers(default))


def _is_another(component: str, document: ValuesDocument) -> bool:
    """Whether the image is not the chart's, so that its versions have another meaning."""
    image = document.get((*component.split("."), "image"))
    return isinstance(image, str) and image != image_default(f"{component}.image", document.release.tag)
