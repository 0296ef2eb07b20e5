"""The manifest rules on what a cluster's output holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from poolsmith.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.diagnostics.codes import reading
from poolsmith.repository.manifest_files import CheckedDocument, CheckedTree
from poolsmith.rules.engine import run_rules
from poolsmith.rules.registry import RULES
from poolsmith.rules.schema.object_schemas import Against, SchemaResult, judge_schemas
from poolsmith.sources.input_tree import yaml_diagnostic
from poolsmith.sources.stream_places import StreamPlaces
from poolsmith.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from poolsmith.operands.manifest import ManifestTree
    from poolsmith.output.comparison import Comparison

YAML_ENDINGS = (".yaml", ".yml")


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


def parse_documents(shown: str, content: bytes) -> tuple[list[CheckedDocument], Diagnostic | None]:
    """The documents of a file, or why it can't be read."""
    try:
        text = content.decode("utf-8")
        documents = read_documents(text)
    except UnicodeDecodeError:
        return [], diagnose(reading.NOT_UTF8, "the file is not UTF-8", whole_file(shown))
    except YamlProblem as problem:
        return [], yaml_diagnostic(shown, text, problem)
    stream = StreamPlaces(shown, text)
    found = enumerate(documents)
    return [CheckedDocument(shown, index, data, text, stream) for index, data in found if data is not None], None
