"""The manifest rules on what a cluster's output holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from poolsmith.repository.manifest_files import YAML_ENDINGS, CheckedDocument, CheckedTree, parse_documents
from poolsmith.rules.engine import run_rules
from poolsmith.rules.registry import RULES
from poolsmith.rules.schema.object_schemas import Against, SchemaResult, judge_schemas

if TYPE_CHECKING:
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.operands.manifest import ManifestTree
    from poolsmith.output.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules found, and how much they looked at."""

    diagnostics: tuple[Diagnostic, ...] = ()
    files: int = 0
    objects: int = 0
    others: int = 0
    schemas: SchemaResult = field(default_factory=SchemaResult)


def judge_output(comparison: Comparison, tree: ManifestTree, against: Against) -> Judged:
    """Files that are as generated need not be parsed again; they are judged all the same."""
    generated = {manifest.path: manifest.documents for manifest in tree.manifests}
    documents: list[CheckedDocument] = []
    diagnostics: list[Diagnostic] = []
    paths: set[str] = set()
    for path, content in sorted(comparison.present.items()):
        if not path.endswith(YAML_ENDINGS) or content is None:
            continue
        shown = f"{comparison.folder}/{path}"
        paths.add(shown)
        if path in generated and content == comparison.generated[path]:
            text = content.decode()
            documents.extend(CheckedDocument(shown, index, data, text) for index, data in enumerate(generated[path]))
        else:
            found, problem = parse_documents(shown, content)
            documents.extend(found)
            if problem is not None:
                diagnostics.append(problem)
    checked = CheckedTree(tuple(documents), frozenset(paths))
    diagnostics.extend(run_rules(RULES, checked))
    schemas = judge_schemas(checked, against)
    diagnostics.extend(schemas.diagnostics)
    objects = len(checked.objects)
    return Judged(tuple(diagnostics), len(paths), objects, len(documents) - objects, schemas)
