"""The least that a reader of a cluster must be allowed: one role for what has no namespace, one for namespaces.

`list` is the only verb: nothing is watched, nothing is read by its name, and no verb that writes is among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.live.resources import OF_NAMESPACES, SECRETS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from poolsmith.kubernetes.live.resources import Resource

READER = "poolsmith-reader"
_GROUP = "rbac.authorization.k8s.io"


def reading_roles(
    resources: Collection[Resource],
    namespaces: Iterable[str],
    subject: tuple[str, str],
    of_namespaces: Collection[Resource] = OF_NAMESPACES,
    *,
    everywhere: bool = False,
) -> tuple[dict[str, Any], ...]:
    """Roles and their bindings for `subject`, the namespace and name of a service account. `everywhere`: of all
    namespaces, for who does not know yet which ones matter."""
    wide = [item for item in resources if everywhere or item not in of_namespaces]
    narrow = [item for item in resources if item not in wide]
    subjects = [{"kind": "ServiceAccount", "name": subject[1], "namespace": subject[0]}]
    inside = f"{READER}-of-namespaces"
    found = [_role(READER, wide), _binding("ClusterRoleBinding", READER, "", subjects)]
    if narrow:
        found.insert(1, _role(inside, narrow))
    return (*found, *(_binding("RoleBinding", inside, name, subjects) for name in sorted(set(namespaces))))


def reading_of_secrets(namespace: str, subject: tuple[str, str]) -> tuple[dict[str, Any], ...]:
    """A role for the Secrets of one namespace, and its binding: for Helm's own records of its releases."""
    name = f"{READER}-of-helm-records"
    subjects = [{"kind": "ServiceAccount", "name": subject[1], "namespace": subject[0]}]
    role = {**_role(name, [SECRETS]), "kind": "Role", "metadata": {"name": name, "namespace": namespace}}
    binding = _binding("RoleBinding", name, namespace, subjects)
    return role, {**binding, "roleRef": {**binding["roleRef"], "kind": "Role"}}


def _role(name: str, resources: Collection[Resource]) -> dict[str, Any]:
    by_group: dict[str, set[str]] = {}
    for item in resources:
        by_group.setdefault(item.group, set()).add(item.plural)
    rules = [
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": ["list"]}
        for group, plurals in sorted(by_group.items())
    ]
    return {"apiVersion": f"{_GROUP}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}


def _binding(kind: str, role: str, namespace: str, subjects: list[dict[str, str]]) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": kind,
        "metadata": {"name": role, **place},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    }
