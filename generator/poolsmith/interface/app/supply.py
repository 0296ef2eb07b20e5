"""Use case: the supply policy for what the clusters take today."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, WriteError, sorted_unique
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.privilege_check import privilege_view
from poolsmith.guard.policies.policy_files import POLICIES
from poolsmith.guard.policies.policy_files import SUPPLY as FILE
from poolsmith.guard.policies.supply.supply_check import supply_claims
from poolsmith.guard.policies.supply.supply_kind import SUPPLY
from poolsmith.guard.policies.supply.supply_proposal import supply_proposal
from poolsmith.interface.app.cluster_judgement import judge_cluster
from poolsmith.interface.app.new_files import write_new_files
from poolsmith.interface.app.schemas import KINDS, schema_text
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.generated_folder import refuse_links
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Unevaluated
    from poolsmith.guard.policies.supply.supply_claims import SupplyClaims

_SCHEMAS = f"{POLICIES}/_schemas"
_HEADER = ("yaml-language-server: $schema=_schemas/supply-policy.schema.json",)


@record
class ProposedSupply:
    """The text of the file, and whether it was written. Without a text diagnostics say why.

    `unplaced` can't stand in a policy. `unknown` counts what somebody has to answer for.
    """

    text: str = ""
    written: bool = False
    unplaced: tuple[str, ...] = ()
    unknown: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


def proposed_supply(root: Path, *, write: bool = False) -> ProposedSupply:
    """For all clusters. A file that exists is never touched. Raises UsageError, NoInputError, WriteError."""
    project = open_project(root)
    if write and os.path.lexists(project.root / FILE):
        raise WriteError(f"{FILE} exists, and is not changed; compare it with `poolsmith supply`")
    fleet: dict[str, SupplyClaims] = {}
    unknown: list[Unevaluated] = []
    found: list[Diagnostic] = []
    with rarely_collecting():
        for files in project.select(()):
            run = run_cluster(project, files)
            found.extend(item for item in run.diagnostics if item.severity is Severity.ERROR)
            if run.prediction is not None:
                fleet[files.name] = supply_claims(run.prediction, privilege_view(run.prediction, run.loaded))
                unknown.extend(judge_cluster(project, run).unevaluated)
    if found:
        return ProposedSupply(diagnostics=sorted_unique(found))
    proposal = supply_proposal(fleet, unknown)
    text = emit(proposal.document, header=_HEADER)
    if write:
        _write(project.root, text)
    return ProposedSupply(text=text, written=write, unplaced=proposal.unplaced, unknown=len(unknown))


def _write(root: Path, text: str) -> None:
    refuse_links(root, (POLICIES, _SCHEMAS))
    schema = f"{_SCHEMAS}/{KINDS[SUPPLY].file}"
    texts = {FILE: text}
    if not os.path.lexists(root / schema):
        texts[schema] = schema_text(SUPPLY)
    write_new_files(root, texts)
