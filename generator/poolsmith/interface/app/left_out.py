"""What a run over a repository did not judge, in a few lines: no file goes unmentioned."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.hygiene import BUILD_REFUSED
from poolsmith.core.diagnostics.listing import joined
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.record import record
from poolsmith.kubernetes.repository.file_forms import OTHER_LANGUAGES, Form, is_encrypted
from poolsmith.kubernetes.repository.gpu_stack import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.app.check_scope import Scope
    from poolsmith.kubernetes.repository.delivered import Unknown
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.repository_files import Listed, RepositoryFiles

_MOST_SKIPPED = 5
_ALWAYS = frozenset((reading.LINK_OUT_OF_TREE.code, reading.UNREADABLE_FILE.code))
"""Nobody can tell what such a file would say."""


def file_problems(paths: Iterable[str], files: RepositoryFiles, scope: Scope) -> Iterator[Diagnostic]:
    """What is wrong with files as such, of those that may be of the stack."""
    for path in paths:
        file = files.file(path)
        is_told = bool(file.problems) and scope.has_file(file)
        yield from (problem for problem in file.problems if is_told or problem.code in _ALWAYS)


def refused_builds(model: RepositoryModel, scope: Scope) -> Iterator[Diagnostic]:
    """Kustomizations of the stack at which kustomize stops."""
    for delivery in model.deliveries:
        for item in delivery.refused:
            if scope.has_unknown(item, model):
                why = item.what.partition("it stops here: ")[2] or item.what
                yield diagnose(BUILD_REFUSED, f"kustomize stops here: {why}", item.place, help=item.advice or None)


@record(kw_only=False)
class LeftOut:
    """`unknown`: how many things of the stack could not be evaluated. `named` are documents of files that the user
    named, and that are nothing to judge."""

    skipped: tuple[Skipped, ...]
    unknown: int
    others: int
    named: tuple[Skipped, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether there was something, and nothing of it could be judged."""
        return bool(self.named or self.others) and not self.unknown

    def nothing(self, release: str | None) -> str:
        """Of files that hold neither objects nor values: a green run over them would mislead."""
        if not self.named:
            return f"nothing of the GPU stack is in {self.others:,} objects; --all checks whatever is there"
        found = joined([f"{item.what}: {item.reason}" for item in self.named], _MOST_SKIPPED, "; ")
        values = "" if release else "; for Helm values of the gpu-operator chart, say which with --release"
        return f"nothing was checked: {found}{values}"


def left_out(
    model: RepositoryModel,
    listed: Listed,
    scope: Scope,
    judged: set[tuple[str, int]],
    told: set[tuple[str, int]],
) -> LeftOut:
    """`judged` are the objects that were judged, `told` further documents that were, by path and index."""
    named: list[Skipped] = []
    others = parts = no_objects = 0
    claimed = {layer.source.path for item in model.all_installations for layer in item.layers}
    for document in model.documents:
        place = (document.path, document.index)
        if place in judged or place in told or document.path in claimed or not scope.tells(document.path):
            continue
        if document.path in model.parts:
            parts += 1
        elif document.is_object:
            others += 1
        elif document.path in scope.named or scope.everything:
            named.append(Skipped(document.path, f"document {document.index + 1} has no apiVersion and kind"))
        else:
            no_objects += 1
    skipped = [*named, *_forms(model, listed, scope)]
    if others:
        skipped.append(Skipped(f"{others:,} objects", "not of the GPU stack; --all checks them too"))
    if no_objects:
        skipped.append(Skipped(f"{no_objects:,} documents", "no objects of Kubernetes", by_design=True))
    if parts:
        skipped.append(Skipped(f"{parts:,} documents", "patches and the like, judged where they are applied", True))
    unknown = tuple(_unknown(model, scope))
    skipped += [Skipped(str(item.place.span), f"unknown: {item.what}") for item in unknown]
    templates = sum(_is_template_of_stack(model, path, scope) for path in listed.yaml)
    if templates:
        what = f"{templates:,} {'template' if templates == 1 else 'templates'} with words of the GPU stack"
        skipped.append(Skipped(what, "only their tools render them; check what `helm template` prints"))
    return LeftOut(tuple(skipped), len(unknown) + templates, others + no_objects, tuple(named))


def _is_template_of_stack(model: RepositoryModel, path: str, scope: Scope) -> bool:
    file = model.files.file(path)
    return file.form in (Form.CHART_TEMPLATE, Form.TEMPLATE) and scope.has_file(file)


def _forms(model: RepositoryModel, listed: Listed, scope: Scope) -> Iterator[Skipped]:
    counted: Counter[str] = Counter()
    for path in listed.yaml:
        file = model.files.file(path)
        if file.form is not None:
            counted[file.form] += 1
        elif any(problem.code not in _ALWAYS for problem in file.problems) and not scope.has_file(file):
            counted["can't be read, and say nothing of the GPU stack"] += 1
        elif any(is_encrypted(document.data) for document in file.documents):
            counted["encrypted by SOPS"] += 1
    for path in listed.others:
        form = OTHER_LANGUAGES.get(posixpath.splitext(path)[1])
        if form is not None:
            counted[form] += 1
    for reason, count in sorted(counted.items()):
        yield Skipped(f"{count:,} {'file' if count == 1 else 'files'}", reason, by_design=True)


def _unknown(model: RepositoryModel, scope: Scope) -> Iterator[Unknown]:
    """What keeps something of the stack from being judged, each place once."""
    of_charts = (found for item in model.all_installations if item.chart in CHARTS for found in item.unknown)
    seen = {_key(item) for delivery in model.deliveries for item in delivery.refused}  # told as errors
    for item in (*of_charts, *(found for found in model.unknown if scope.has_unknown(found, model))):
        if _key(item) not in seen:
            seen.add(_key(item))
            yield item


def _key(item: Unknown) -> str:
    return f"{item.place.span} {item.what}"
