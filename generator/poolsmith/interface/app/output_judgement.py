"""Findings on a generated folder as it is committed, and on the fleet once all clusters have been looked at.

Findings on the fleet are about grants, and about policies that applied to nothing.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.record import record
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.guard.ledger.grant_check import judge_grants
from poolsmith.guard.ledger.rules import expiring_grant
from poolsmith.guard.rules.committed_secrets import committed_secrets, policy_texts
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.schema.object_schemas import Against, judge_schemas
from poolsmith.interface.app.cluster_judgement import of_grants
from poolsmith.kubernetes.repository.manifest_files import YAML_ENDINGS, CheckedDocument, CheckedTree, parse_documents
from poolsmith.project.run.generated_folder import (
    FolderFindings,
    FolderResult,
    GeneratedFolder,
    against_disk,
    result_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.diagnostics.outcome import Skipped, Unevaluated
    from poolsmith.fleet.operands.manifest import ManifestTree
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.guard.policies.policies import Policies
    from poolsmith.interface.app.cluster_judgement import Judgement
    from poolsmith.project.output.comparison import Comparison
    from poolsmith.project.run.project import Project


@record
class FleetJudgement:
    """Findings about policy files, and what the run has to say of them."""

    diagnostics: tuple[Diagnostic, ...] = ()
    facts: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    not_evaluated: int = 0
    unevaluated: tuple[Unevaluated, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)
    was_stopped: bool = False


def judge_fleet(
    project: Project, judgements: Mapping[str, Judgement], judging: JudgingOptions, *, complete: bool
) -> FleetJudgement:
    """Of what each cluster came to. Only a `complete` run, over all clusters, can tell what nobody needs."""
    policies = project.judging_policies
    grants = judge_grants(
        policies.grants[0],
        policies.book,
        [item.grant_use for item in judgements.values() if item.grant_use is not None],
        are_kept=policies.files.has_privileges,
        today=judging.today,
        complete=complete,
        expiring_days=policies.settings[0].parameter(expiring_grant.RULE, expiring_grant.DAYS),
    )
    facts: list[str] = []
    details: tuple[str, ...] = ()
    if policies.files.has_privileges:
        facts.append(
            f"{grants.granted:,} of {grants.lines:,} lines of the ledgers are granted, by {grants.grants} grants"
        )
    diagnostics = [*grants.diagnostics, *committed_secrets(policy_texts(project.policies))]
    if policies.files.admission:
        from poolsmith.guard.policies.admission_check import saw_nothing, sight_facts  # on demand

        sights = [item.sights for item in judgements.values()]
        details = sight_facts(sights)
        diagnostics.extend(saw_nothing(policies.admission[0], sights) if complete else ())
    judgement = FleetJudgement(
        diagnostics=tuple(diagnostics),
        facts=tuple(facts),
        details=details,
        skipped=grants.skipped,
        unevaluated=tuple(of_grants(grants)),
        checked={"grants": grants.grants} if grants.grants else {},
    )
    return _with_policy_tests(judgement, policies) if complete and policies.files.admission else judgement


def _with_policy_tests(judgement: FleetJudgement, policies: Policies) -> FleetJudgement:
    from poolsmith.interface.app.policy_test import project_policy_tests  # on demand

    result = project_policy_tests(policies.tree, policies.files)
    tested = result.outcome
    return replace(
        judgement,
        diagnostics=(*judgement.diagnostics, *tested.diagnostics),
        skipped=(*judgement.skipped, *tested.skipped),
        not_evaluated=judgement.not_evaluated + tested.not_evaluated,
        checked=judgement.checked | {name: count for name, count in tested.checked.items() if count},
        was_stopped=result.was_stopped,
    )


def judge_folder(folder: GeneratedFolder, against: Against) -> FolderResult:
    """How it differs from what is generated, and what rules and schemas say of what is there."""
    return judge_compared(folder, against_disk(folder.root, folder.path, folder.files, folder.subject), against)


Faultless = dict[bytes, FolderFindings]
"""What was said of folders without a finding, by what they hold but for the name of their cluster."""


def judge_compared(
    folder: GeneratedFolder,
    comparison: Comparison | Diagnostic,
    against: Against,
    *,
    together: bool = False,
    known: Faultless | None = None,
) -> FolderResult:
    """The same of what was compared already; `together`: one finding on all files that are merely out of date. What is
    `known` of folders that are alike is not judged again.
    """
    result = result_of(folder, comparison, together=together)
    if isinstance(comparison, Diagnostic):
        return result
    key = None if known is None or result.changed else _alike(comparison, folder, against)
    if known is not None and key is not None and key in known:
        return replace(result, findings=known[key])
    found = _findings(comparison, folder.tree, against)
    if known is not None and key is not None and not (found.diagnostics or found.schemas.half):
        known[key] = found
    return replace(result, findings=found)


_SHAPE = str.maketrans("abcdefghijklmnopqrstuvwxyz0123456789", "a" * 26 + "0" * 10)


def _alike(comparison: Comparison, folder: GeneratedFolder, against: Against) -> bytes | None:
    """The same of folders that differ in nothing but the names of their clusters, which have the same shape. None where
    a file is none of those that are generated.
    """
    if not comparison.present.keys() <= comparison.generated.keys():
        return None
    name = folder.subject
    held = [
        (item.path, comparison.generated[item.path].replace(name.encode(), b"\0") if item.documents else b"")
        for item in folder.tree.manifests
    ]
    return tree_digest((held, name.translate(_SHAPE), against.kubernetes, against.operator, against.coco))


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
