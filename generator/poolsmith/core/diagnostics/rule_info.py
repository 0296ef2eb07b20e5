"""An entry of the code book: what one PSM code means."""

from __future__ import annotations

from poolsmith.core.diagnostics.severity import Severity
from poolsmith.core.record import record


@record
class RuleInfo:
    """Code and name are public and never reused; the rest is the documentation of the rule.

    `bad` and `good` are short YAML examples. `applies_to` is profile, values, manifest, policy, output or live.
    `parameters` are numbers that a repository may set, with their defaults. `releases` says for which releases of the
    gpu-operator it holds, where not for all; `symptom` what people see who have the mistake in a cluster: a line of a
    log, an event. Without `to_do` its findings tell something about which nothing has to be done; only who asks for
    all of them reads those that are notes.
    """

    code: str
    name: str
    severity: Severity = Severity.ERROR
    to_do: bool = True
    applies_to: str = "profile"
    what: str
    why: str
    fix: str = ""
    bad: str = ""
    good: str = ""
    releases: str = ""
    symptom: str = ""
    references: tuple[str, ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
