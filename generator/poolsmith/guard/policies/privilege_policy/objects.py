"""One ValidatingAdmissionPolicy and its binding that hold the pods of a cluster to what was granted.

The data stands in the policy itself: whoever may write ConfigMaps in those namespaces could write a parameter too,
and data and expressions must change at one time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.yaml_writer import comment, emit_all
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.guard.policies.admission_file import GRANTS_FILE
from poolsmith.guard.policies.privilege_policy import expressions
from poolsmith.guard.policies.privilege_policy.literals import list_literal, map_literals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.guard.ledger.claims.table import ClaimTable

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
    documents = (privilege_policy(table), privilege_binding(actions))
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


def privilege_policy(table: ClaimTable) -> dict[str, Any]:
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
            "matchConditions": [{"name": "changes-containers", "expression": expressions.CHANGES_CONTAINERS}],
            "variables": [*_data(table), *_variables()],
            "validations": [
                {
                    "expression": expressions.VALID,
                    "messageExpression": expressions.MESSAGE,
                    "message": "a container wants what no PrivilegeGrant gives it; see policies/privileges/",
                    "reason": "Forbidden",
                }
            ],
            "auditAnnotations": [{"key": "ungranted", "valueExpression": expressions.AUDIT}],
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
    return [
        _variable("pod", expressions.POD),
        _variable("account", expressions.ACCOUNT),
        _variable("whole", expressions.WHOLE),
        _variable("containers", expressions.CONTAINERS),
        _variable("volumes", expressions.VOLUMES),
        _variable("unmounted", expressions.UNMOUNTED),
        _variable("podWants", expressions.POD_WANTS),
        _variable("podHas", expressions.POD_HAS),
        _variable("holders", expressions.HOLDERS),
        _variable("asked", expressions.ASKED),
        _variable("reserved", expressions.RESERVED),
        _variable("problems", expressions.PROBLEMS),
    ]


def _variable(name: str, expression: str) -> dict[str, str]:
    return {"name": name, "expression": expression}
