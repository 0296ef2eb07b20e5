"""Rights on the API server that nobody predicted: of the accounts of the stack, and by the roles of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import UNPREDICTED_PRIVILEGE
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog.left_overs import read_left_overs
from poolsmith.kubernetes.live.resources import CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.resources import Resource

_FEW = 4
_ROLES = ("ClusterRole", "Role")
_AS_IT_SIGNS_IN = {"User": "system:serviceaccount:", "Group": "system:serviceaccounts:"}
"""What an account is called where subjects are no accounts; its namespace follows.

Source: kubernetes/kubernetes@v1.34.1:staging/src/k8s.io/apiserver/pkg/authentication/serviceaccount/util.go.
"""


def judge_rights(view: LiveView) -> Iterator[Diagnostic]:
    """Bindings that nobody expects; those that an operator of another release has left are told elsewhere."""
    expected = ((item.resource.kind, item.namespace, item.pattern) for item in view.cluster.expected)
    roles = {key for key in expected if key[0] in _ROLES}
    former = read_left_overs()
    for resource in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
        for body in view.snapshot.items(resource):
            namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
            if (resource, namespace, name) in view.known or former.is_of_operator(name):
                continue
            role = mapping(body.get("roleRef"))
            kind, called = word(role.get("kind")), word(role.get("name"))
            is_ours = (kind, namespace if kind == "Role" else "", called) in roles
            subjects = [_subject(item, namespace) for item in mappings(body.get("subjects"))]
            ours = [text for text, of in subjects if is_ours or of in view.cluster.stack_namespaces]
            if ours:
                yield _finding(view, resource, (namespace, name), f"{kind} `{called}`", ours)


def _subject(item: Any, namespace: str) -> tuple[str, str]:
    """As it is shown, and the namespace of the account, or of all the accounts that a group stands for."""
    kind, name = word(item.get("kind")), word(item.get("name"))
    if kind == "ServiceAccount":
        where = word(item.get("namespace")) or namespace
        return f"{where}/{name}", where
    prefix = _AS_IT_SIGNS_IN.get(kind)
    where = name.removeprefix(prefix).partition(":")[0] if prefix and name.startswith(prefix) else ""
    return f"{kind} {name}", where


def _finding(view: LiveView, resource: Resource, place: tuple[str, str], role: str, subjects: list[str]) -> Diagnostic:
    namespace, name = place
    message = (
        f"{shown(resource.kind, name, namespace)} of cluster `{view.cluster.name}` gives {role} to "
        f"{listed(subjects, _FEW)}, and nobody predicted it"
    )
    where, subject = view.cluster.of_cluster("/spec/stack"), view.cluster.subject(resource.kind, name, namespace)
    return diagnose(UNPREDICTED_PRIVILEGE, message, where, subject=subject)
