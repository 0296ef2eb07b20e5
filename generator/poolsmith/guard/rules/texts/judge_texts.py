"""What the rules over texts say of a repository, beside what others have said of the same lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.record import record
from poolsmith.guard.rules.texts.registry import TEXT_RULES, TOLD_BEFORE
from poolsmith.guard.rules.texts.stack_text import FILE_ENDINGS, may_be_text, texts_of, texts_of_file
from poolsmith.kubernetes.repository.delivered import Delivered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.rules.texts.stack_text import StackText
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree
    from poolsmith.kubernetes.repository.model import RepositoryModel


@record(kw_only=False)
class TextsResult:
    """`files` are those that hold texts."""

    diagnostics: tuple[Diagnostic, ...]
    files: frozenset[str]


def judge_texts(trees: Iterable[CheckedTree], model: RepositoryModel, told: Iterable[Diagnostic]) -> TextsResult:
    """`trees` are what is judged, with their patches on them; of the rest each file is taken as it stands."""
    texts = (*texts_of(_documents(trees, model), model.all_installations), *_of_files(model))
    lines = {_line(item) for item in told if item.code in TOLD_BEFORE}
    found = (item for item in run_rules(TEXT_RULES, texts, by_file=True) if _line(item) not in lines)
    return TextsResult(tuple(found), frozenset(item.source.path for item in texts))


def _documents(trees: Iterable[CheckedTree], model: RepositoryModel) -> Iterator[CheckedDocument]:
    values = {layer.source.path for item in model.all_installations for layer in item.layers}
    judged: set[tuple[str, int]] = set()
    for tree in trees:
        for document in tree.objects:
            judged.add((document.path, document.index))
            yield document
    made_by_tasks = (item for item in model.loose.documents if isinstance(item, Delivered))
    yield from made_by_tasks
    for document in model.documents:
        if (document.path, document.index) not in judged and (document.is_object or document.path not in values):
            yield document


def _of_files(model: RepositoryModel) -> Iterator[StackText]:
    """Those that nothing takes into an object."""
    for path in model.others:
        content = model.files.content(path) if path.endswith(FILE_ENDINGS) and path not in model.parts else b""
        if isinstance(content, bytes) and may_be_text(path, content):
            yield from texts_of_file(path, content.decode("utf-8", "replace"))


def _line(item: Diagnostic) -> tuple[str, int]:
    start = item.primary.span.start
    return item.primary.span.path, start.line if start is not None else 0
