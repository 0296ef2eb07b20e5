"""Kind PrivilegeEnforcement: what happens to pods that request more than was granted."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.shape.field import spec
from poolsmith.guard.ledger.grants.grant import NAME_GLOB

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.input_tree import InputTree

ENFORCEMENT = "PrivilegeEnforcement"


class EnforcementAction(StrEnum):
    """The validation actions of Kubernetes, in the order in which they are written."""

    DENY = "Deny"
    WARN = "Warn"
    AUDIT = "Audit"


DEFAULT_ACTIONS = (EnforcementAction.WARN, EnforcementAction.AUDIT)


@record
class EnforcementSpec:
    """Where pods are held to the grants, and how. Without it: Warn and Audit, everywhere."""

    clusters: tuple[str, ...] = spec(
        "Names of clusters for the actions; `*` stands for any letters, `?` for one. Other clusters warn and audit.",
        default=("*",),
        pattern=NAME_GLOB,
        form="the name of a cluster, or a pattern with `*` and `?`",
        examples=(["lab-*"],),
        unique=True,
    )
    actions: tuple[EnforcementAction, ...] = spec(
        "What the API server does with a pod that asks for more than was granted. Deny and Warn exclude each other.",
        default=DEFAULT_ACTIONS,
        examples=(["Deny", "Audit"],),
        unique=True,
    )
    scripts: tuple[str, ...] = spec(
        "Texts of inline scripts of operands that the catalog does not have. A container whose script is known only by "
        "its length is refused until the text is here.",
        default=(),
        unique=True,
    )

    def actions_for(self, cluster: str) -> tuple[EnforcementAction, ...]:
        """In their own order."""
        from poolsmith.guard.ledger.grants.matching import glob_matches  # on demand

        chosen = self.actions if any(glob_matches(item, cluster) for item in self.clusters) else DEFAULT_ACTIONS
        return tuple(action for action in EnforcementAction if action in chosen)


DEFAULT_ENFORCEMENT = EnforcementSpec()


def load_enforcement(tree: InputTree, path: str) -> tuple[EnforcementSpec | None, tuple[Diagnostic, ...]]:
    """What it says when it is sound, and all that is wrong with it."""
    document, problems = load_kind_document(tree, path, ENFORCEMENT, EnforcementSpec)
    if document is None:
        return None, problems
    actions = document.spec.actions
    message = None
    if EnforcementAction.DENY in actions and EnforcementAction.WARN in actions:
        message = "`spec.actions` has both Deny and Warn, which the API server does not take"
    elif not actions:
        message = "`spec.actions` is empty"
    if message is not None:
        place = document.file.locate("/spec/actions")
        advice = "write [Deny, Audit], or [Warn, Audit]"
        return None, (diagnose(codes.INVALID_VALUE, message, place, help=advice, subject=path),)
    return document.spec, ()
