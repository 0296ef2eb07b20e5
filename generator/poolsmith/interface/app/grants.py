"""Use case: the smallest grants for what the clusters hold and nobody has granted yet."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, sorted_unique
from poolsmith.core.record import record
from poolsmith.guard.ledger.grant_check import GrantJudge
from poolsmith.guard.ledger.grants.grant import GRANT
from poolsmith.guard.ledger.grants.grant_proposal import Answers, free_name, named_proposals, proposal_text, proposals
from poolsmith.guard.ledger.grants.matching import label_of
from poolsmith.guard.policies.policy_files import POLICIES, PRIVILEGES
from poolsmith.interface.app.new_files import write_new_files
from poolsmith.interface.app.schemas import KINDS, schema_text
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.generated_folder import refuse_links
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.guard.ledger.grants.grant_proposal import Proposal
    from poolsmith.project.run.project import Project

_SCHEMAS = f"{POLICIES}/_schemas"
_SCHEMA = KINDS[GRANT].file
_HEADER = f"# yaml-language-server: $schema=../_schemas/{_SCHEMA}\n"
_SEPARATOR = "---\n"


@record
class MissingGrants:
    """Texts of new files by their paths; `written` says that they stand there. `granted` counts the lines that grants
    allow already. Without texts diagnostics may say why."""

    files: dict[str, str]
    grants: int = 0
    lines: int = 0
    granted: int = 0
    written: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)


def missing_grants(
    root: Path, clusters: Sequence[str] = (), *, write: bool = False, answers: Answers | None = None
) -> MissingGrants:
    """For the clusters named, or all, with the same answers in each. Files that exist are left alone: additions stand
    in new ones.

    Raises UsageError, NoInputError, WriteError.
    """
    project = open_project(root)
    policies = project.policies
    judge = GrantJudge(policies.book, are_kept=True)
    with rarely_collecting():
        runs = [plan_cluster(project, files) for files in project.select(clusters)]
        diagnostics = sorted_unique(
            (
                *policies.grants[1],
                *(item for run in runs for item in run.diagnostics if item.severity is Severity.ERROR),
            )
        )
        if diagnostics:
            return MissingGrants(files={}, diagnostics=diagnostics)
        predictions = [run.prediction for run in runs if run.prediction is not None]
        needs = [judge.needs(prediction) for prediction in predictions]
        found = proposals(needs, [files.name for files in project.fleet.clusters])
    taken = [loaded.grant.name for loaded in policies.grants[0]]
    texts = _files(project, named_proposals(found, taken), answers or Answers())
    if write:
        _write(project, texts)
    lines = sum(prediction.ledger.count for prediction in predictions)
    return MissingGrants(
        files=texts,
        grants=len(found),
        lines=lines,
        granted=lines - sum(len(item.lines) for item in needs),
        written=write and bool(texts),
        unknown=tuple(f"{prediction.plan.name}: {item}" for prediction in predictions for item in prediction.unknown),
    )


def _files(project: Project, named: Sequence[tuple[str, Proposal]], answers: Answers) -> dict[str, str]:
    """One file for each workload, under a name that is free."""
    by_workload: defaultdict[str, list[str]] = defaultdict(list)
    for name, item in named:
        by_workload[item.workload].append(proposal_text(item, name, answers))
    folder = project.root / PRIVILEGES
    taken = {path.stem for path in folder.iterdir()} if folder.is_dir() else set()
    texts: dict[str, str] = {}
    for workload, documents in sorted(by_workload.items()):
        name = free_name((label_of(workload),), taken)
        taken.add(name)
        texts[f"{PRIVILEGES}/{name}.yaml"] = _HEADER + _SEPARATOR.join(documents)
    return texts


def _write(project: Project, texts: dict[str, str]) -> None:
    """All of them or none; a file that exists is never touched. Raises WriteError."""
    refuse_links(project.root, (PRIVILEGES, _SCHEMAS))
    schema = f"{_SCHEMAS}/{_SCHEMA}"
    if texts and not os.path.lexists(project.root / schema):
        texts = {**texts, schema: schema_text(GRANT)}
    write_new_files(project.root, texts)
