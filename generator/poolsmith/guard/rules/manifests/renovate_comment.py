"""A comment for Renovate that looks for a chart of the GPU stack where it can't be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Location, RuleInfo
from poolsmith.core.diagnostics.diagnostic import Position, Span, position_in
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.stack_objects import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

RULE = RuleInfo.of("PSM582")
_COMMENT = pattern(r"^[ \t]*#[ \t]*renovate:[ \t]*(?P<fields>[^\n]*)", re.MULTILINE)
_FIELD = pattern(r"(?<![A-Za-z])(?P<key>[A-Za-z]++)=(?P<value>\S+)")
_NAMES = ("depName", "packageName", "lookupName", "chart")
_REPOSITORY = pattern(r"https?://(?:www\.)?github\.com/[^/?#]+/[^/?#]+(?:\.git)?(?:/tree/[^?#]*)?/?")
_PAGES = pattern(
    r"https?://(?:catalog\.ngc\.nvidia\.com|ngc\.nvidia\.com|docs\.nvidia\.com|artifacthub\.io|hub\.docker\.com)(?:/.*)?"
)
_INDEXES = pattern(r"https?://(?:helm\.ngc\.nvidia\.com|nvidia\.github\.io|kubernetes-sigs\.github\.io)(?:/.*)?")


def check(tree: CheckedTree) -> Iterator[Finding[Location]]:
    seen: set[str] = set()
    for document in tree.documents:
        if document.path in seen:
            continue
        seen.add(document.path)
        if "renovate:" in document.text:
            yield from _in_file(document)


def _in_file(document: CheckedDocument) -> Iterator[Finding[Location]]:
    for match in _COMMENT.finditer(document.text):
        fields = {found["key"]: found["value"] for found in _FIELD.finditer(match["fields"])}
        chart = next((fields[key].rpartition("/")[2] for key in _NAMES if key in fields), "")
        if chart not in CHARTS:
            continue
        why = _why(fields)
        if why is not None:
            message, help_text = why
            yield Finding(
                message=f"Renovate can't find the chart {chart}: {message}",
                place=_place(document, match.start("fields"), match.end("fields")),
                help=help_text,
            )


def _why(fields: dict[str, str]) -> tuple[str, str] | None:
    """What is wrong for certain with where it looks, and what to write."""
    url = fields.get("registryUrl", "")
    source = fields.get("datasource", "helm" if "chart" in fields else "")
    if source == "helm" and url.startswith("oci://"):
        return (
            f"`{shorten(url)}` is an OCI registry, and the datasource `helm` reads an index.yaml",
            "write `datasource=docker`, and registry and name of the chart as `packageName`",
        )
    if source == "helm" and (_REPOSITORY.fullmatch(url) or _PAGES.fullmatch(url)):
        return (
            f"`{shorten(url)}` is a page for people, not a Helm repository with an index.yaml",
            "write the address of the Helm repository, such as `https://helm.ngc.nvidia.com/nvidia`",
        )
    if source == "docker" and _INDEXES.fullmatch(url):
        return f"`{shorten(url)}` is a Helm repository, and no registry of images", "write `datasource=helm`"
    return None


def _place(document: CheckedDocument, start: int, end: int) -> Location:
    first = position_in(document.text, start)
    last = Position(first.line, first.column + end - start)
    return Location(span=Span(path=document.path, start=first, end=last), source_line=document.source.line(first.line))
