"""The grants of a cluster as one ValidatingAdmissionPolicy and its binding, and what that policy can't hold.

The data stands in the policy itself: whoever may write ConfigMaps in those namespaces could write a parameter too,
and data and expressions must change at one time. It is written as CEL literals over several lines, in parts of bounded
size.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import privilege as codes
from poolsmith.core.diagnostics.message_text import listed, printable
from poolsmith.core.facts.versions import minor_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import comment, emit_all
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.guard.ledger.claims.claim_table import COST_LIMIT, granted_claims
from poolsmith.guard.policies.enforcement import DEFAULT_ENFORCEMENT
from poolsmith.guard.policies.policy_files import FIRST_SERVED, GRANTS_FILE
from poolsmith.guard.policies.privilege_policy.cel_expressions import expression

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Diagnostic, RuleInfo
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.claims.claim_table import ClaimTable
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.enforcement import EnforcementSpec


LONGEST = 60_000
"""Code points of one literal. The API server refuses an expression of more than 100,000."""

_NEEDS_ESCAPE = pattern(r"[^ -&(-\[\]-~]")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text_literal(text: str) -> str:
    """A string in single quotes; what is no printable ASCII is escaped."""
    return f"'{_NEEDS_ESCAPE.sub(_escaped, text)}'"


def list_literal(texts: Iterable[str], indent: str = "") -> str:
    """A list of strings, one on each line."""
    lines = [f"{indent}  {text_literal(text)}" for text in texts]
    # an empty literal has no type of its own
    return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "['']"


def map_literals(values: Mapping[str, str | tuple[str, ...]]) -> tuple[str, ...]:
    """One map or several, none longer than LONGEST unless a single entry is."""
    parts: list[list[str]] = [[]]
    size = 0
    for key, value in values.items():
        shown = text_literal(value) if isinstance(value, str) else list_literal(value, "  ")
        entry = f"  {text_literal(key)}: {shown}"
        if parts[-1] and size + len(entry) > LONGEST:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += len(entry) + 2
    return tuple("{\n" + ",\n".join(part) + "\n}" for part in parts)


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - the range of \u


NAME = "poolsmith-privileges"
FILE = f"admission/{GRANTS_FILE}"
LONGEST_DATA = 200_000
"""Code points of all literals. Of a longer policy, the copy that client-side apply keeps would not fit."""
LONGEST_EXPRESSION = 100_000
"""Code points of one expression that the API server takes."""

_REMEMBERED = 64
_API = "admissionregistration.k8s.io/v1"
_DESCRIPTION = (
    "Containers in these namespaces have the privileges that files of policies/privileges/ grant them, and no others. "
    "Made by poolsmith; changes here are lost."
)
_LINES = (
    "Holds the pods of these namespaces to the grants in policies/privileges/. The data is in the variables",
    "`identities` and `forms`; the expressions are the same for every cluster.",
)


def render_privilege_policy(
    table: ClaimTable, folder: str, actions: Iterable[str], header: tuple[str, ...]
) -> list[Manifest]:
    """The file below `folder`; nothing where no namespace is held. `actions` are validationActions of the binding."""
    if not table.namespaces:
        return []
    documents, text = _rendered(table, tuple(actions))
    return [Manifest(path=f"{folder}/{FILE}", documents=documents, text=comment((*header, "", *_LINES)) + text)]


@lru_cache(maxsize=_REMEMBERED)
def _rendered(table: ClaimTable, actions: tuple[str, ...]) -> tuple[tuple[dict[str, Any], ...], str]:
    """The objects, and as text; clusters that are installed alike have the same."""
    documents = (_policy_document(table), privilege_binding(actions))
    return documents, emit_all(documents)


def data_size(table: ClaimTable) -> int:
    """Code points of the literals."""
    return sum(_sizes(table))


def is_too_large(table: ClaimTable) -> bool:
    """Whether the policy could not be stored, applied or compiled for certain."""
    return data_size(table) > LONGEST_DATA or max(_sizes(table)) > LONGEST_EXPRESSION


@lru_cache(maxsize=_REMEMBERED)
def _sizes(table: ClaimTable) -> tuple[int, ...]:
    return tuple(len(item["expression"]) for item in _data(table))


def _policy_document(table: ClaimTable) -> dict[str, Any]:
    """The policy; works with the CEL of Kubernetes 1.30 and later."""
    selector = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(table.namespaces)}
    pods = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["pods"],
        "scope": "Namespaced",
    }
    subresources = {**pods, "operations": ["UPDATE"], "resources": ["pods/ephemeralcontainers", "pods/status"]}
    return {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": _metadata(),
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchExpressions": [selector]},
                "resourceRules": [pods, subresources],
            },
            "matchConditions": [{"name": "changes-containers", "expression": expression("changesContainers")}],
            "variables": [*_data(table), *_variables()],
            "validations": [
                {
                    "expression": expression("valid"),
                    "messageExpression": expression("message"),
                    "message": "a container wants what no PrivilegeGrant gives it; see policies/privileges/",
                    "reason": "Forbidden",
                }
            ],
            "auditAnnotations": [{"key": "ungranted", "valueExpression": expression("audit")}],
        },
    }


def privilege_binding(actions: Iterable[str]) -> dict[str, Any]:
    return {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": _metadata(),
        "spec": {"policyName": NAME, "validationActions": list(actions)},
    }


def _metadata() -> dict[str, Any]:
    return {
        "name": NAME,
        "labels": {"app.kubernetes.io/managed-by": "poolsmith", "app.kubernetes.io/part-of": "privilege-grants"},
        "annotations": {"kubernetes.io/description": _DESCRIPTION},
    }


def _data(table: ClaimTable) -> list[dict[str, str]]:
    names, forms = _forms(table)
    found = [
        _variable("accounts", list_literal(table.accounts) + "\n"),
        _variable("repositories", list_literal(table.repositories) + "\n"),
    ]
    for name, values in (("identities", names), ("forms", forms)):
        parts = map_literals(values)
        found += [_variable(f"{name}{number}", part + "\n") for number, part in enumerate(parts)]
        listed = ", ".join(f"variables.{name}{number}" for number in range(len(parts)))
        found.append(_variable(name, f"[{listed}]\n"))
    return found


def _forms(table: ClaimTable) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """What identities have in common stands once, under the name of the first container that has it."""
    by_texts: dict[tuple[str, ...], str] = {}
    used: dict[str, int] = {}
    names: dict[str, str] = {}
    for key, texts in table.identities.items():
        if texts not in by_texts:
            container = key.split("|")[2]
            used[container] = used.get(container, 0) + 1
            by_texts[texts] = container if used[container] == 1 else f"{container}/{used[container]}"
        names[key] = by_texts[texts]
    return names, {name: texts for texts, name in by_texts.items()}


def _variables() -> list[dict[str, str]]:
    """Each builds on those before it."""
    of_the_pod = ("pod", "account", "whole", "containers", "volumes", "unmounted", "podWants", "podHas")
    names = (*of_the_pod, "holders", "asked", "reserved", "problems")
    return [_variable(name, expression(name)) for name in names]


def _variable(name: str, text: str) -> dict[str, str]:
    return {"name": name, "expression": text}


SHARED_NAMESPACES = frozenset(("default", "kube-node-lease", "kube-public", "kube-system"))
"""What else runs there, no prediction knows: the policy would refuse it."""
_FEW = 4
_PRIVILEGED = "privileged"


@record
class PrivilegePolicy:
    """Manifests below platform/, and what has to be said. `enforced` is false where there is no policy."""

    manifests: tuple[Manifest, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    enforced: bool = False


def privilege_policy(
    prediction: Prediction,
    book: GrantBook,
    file: SourceFile,
    header: tuple[str, ...],
    enforcement: EnforcementSpec = DEFAULT_ENFORCEMENT,
) -> PrivilegePolicy:
    """Of one cluster, whose profile is `file`; while an upgrade rolls out, of both releases."""
    plan = prediction.plan
    if minor_key(plan.cluster.spec.kubernetes.version) < FIRST_SERVED:
        message = f"Kubernetes {plan.cluster.spec.kubernetes.version} of `{plan.name}` does not enforce the grants"
        place = file.locate("/spec/kubernetes/version")
        return PrivilegePolicy(diagnostics=(diagnose(codes.GRANTS_NOT_ENFORCED, message, place, subject=plan.name),))
    table = granted_claims(prediction, book, enforcement.scripts)
    if prediction.running is not None:
        table |= granted_claims(prediction.running, book, enforcement.scripts)
    problems = tuple(_problems(prediction, table, file))
    if any(item.code == codes.PRIVILEGE_POLICY_TOO_LARGE.code for item in problems):
        return PrivilegePolicy(diagnostics=problems)
    held = table.holding(tuple(name for name in table.namespaces if name not in SHARED_NAMESPACES))
    manifests = render_privilege_policy(held, "platform", map(str, enforcement.actions_for(plan.name)), header)
    return PrivilegePolicy(manifests=tuple(manifests), diagnostics=problems, enforced=bool(manifests))


def _unpredicted(plan: ClusterPlan, table: ClaimTable) -> list[str]:
    """Privileged namespaces of units that somebody else's manifests fill."""
    wanted = {item.name for item in plan.namespaces if item.level == _PRIVILEGED}
    wanted |= {unit.namespace for unit in plan.units if unit.source is not None and unit.source.level == _PRIVILEGED}
    return sorted(wanted.difference(table.namespaces))


def _problems(prediction: Prediction, table: ClaimTable, file: SourceFile) -> Iterator[Diagnostic]:
    name = prediction.plan.name

    def finding(rule: RuleInfo, message: str) -> Diagnostic:
        return diagnose(rule, message, file.locate("/spec"), subject=name)

    if is_too_large(table):
        message = (
            f"the privilege policy of `{name}` would have {data_size(table):,} letters of data; "
            f"the limit is {LONGEST_DATA:,}, and {LONGEST_EXPRESSION:,} in one expression"
        )
        yield finding(codes.PRIVILEGE_POLICY_TOO_LARGE, message)
    if table.costly:
        message = (
            f"the API server of `{name}` may be unable to judge the pods of "
            f"{listed(map(printable, table.costly), _FEW)}: more than {COST_LIMIT:,} units for the privilege policy"
        )
        yield finding(codes.POD_TOO_COSTLY, message)
    if table.unknown:
        shown = listed(
            (f"{printable(container)} of {printable(workload)}" for workload, container in table.unknown), _FEW
        )
        message = f"the privilege policy of `{name}` refuses containers whose script is not known: {shown}"
        yield finding(codes.SCRIPT_NOT_KNOWN, message)
    if shared := sorted(SHARED_NAMESPACES.intersection(table.namespaces)):
        message = f"the privilege policy of `{name}` leaves out namespaces that others share: {', '.join(shared)}"
        yield finding(codes.NAMESPACE_NOT_HELD, message)
    if unpredicted := _unpredicted(prediction.plan, table):
        message = (
            f"the privilege policy of `{name}` leaves out namespaces whose workloads are not predicted: "
            f"{', '.join(unpredicted)}"
        )
        yield finding(codes.NAMESPACE_NOT_HELD, message)
    if prediction.unknown:
        message = f"the prediction for `{name}` is not complete; the privilege policy refuses what is not predicted"
        yield finding(codes.INCOMPLETE_PRIVILEGE_POLICY, message)
