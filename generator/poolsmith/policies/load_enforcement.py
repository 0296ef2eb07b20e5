"""The file `policies/enforcement.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes import shape as codes
from poolsmith.policies.enforcement import ENFORCEMENT, EnforcementAction, EnforcementSpec
from poolsmith.shape.kind_document import load_kind_document

if TYPE_CHECKING:
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.sources.input_tree import InputTree


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
