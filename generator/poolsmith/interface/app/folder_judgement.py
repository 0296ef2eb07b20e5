"""What rules and schemas say of a generated folder as it is committed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.schema.object_schemas import Against, judge_schemas
from poolsmith.interface.app.folder import FolderFindings, FolderResult, GeneratedFolder, against_disk, result_of
from poolsmith.kubernetes.repository.manifest_files import YAML_ENDINGS, CheckedDocument, CheckedTree, parse_documents

if TYPE_CHECKING:
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.project.output.comparison import Comparison


def judge_folder(folder: GeneratedFolder, against: Against) -> FolderResult:
    """How it differs from what is generated, and what rules and schemas say of what is there."""
    return judge_compared(folder, against_disk(folder.root, folder.path, folder.files, folder.subject), against)


def judge_compared(
    folder: GeneratedFolder, comparison: Comparison | Diagnostic, against: Against, *, together: bool = False
) -> FolderResult:
    """The same of what was compared already; `together`: one finding on all files that are merely out of date."""
    result = result_of(folder, comparison, together=together)
    if isinstance(comparison, Diagnostic):
        return result
    return replace(result, findings=_findings(comparison, folder.tree, against))


def _findings(comparison: Comparison, tree: ManifestTree, against: Against) -> FolderFindings:
    """Files that are as generated need not be parsed again; they are judged all the same.

    Of a prediction that is out of date, only that is told: nothing of it is ever applied.
    """
    generated = {manifest.path: manifest.documents for manifest in tree.manifests}
    predictions = {manifest.path for manifest in tree.manifests if not manifest.applied and manifest.text is not None}
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
        elif path not in predictions:
            found, problem = parse_documents(shown, content)
            documents.extend(found)
            diagnostics.extend([problem] if problem is not None else [])
    checked = CheckedTree(tuple(documents), frozenset(paths))
    diagnostics.extend(run_rules(RULES, checked, by_file=True))
    schemas = judge_schemas(checked, against)
    diagnostics.extend(schemas.diagnostics)
    objects = len(checked.objects)
    return FolderFindings(tuple(diagnostics), len(paths), objects, len(documents) - objects, schemas)
