"""Strategic merge patches as kustomize applies them.

Source: kyaml/yaml/merge2 and kustomize's use of it: items that a patch brings come first in a list that is merged;
lists of kinds that Kubernetes itself does not have are replaced as a whole.
"""

from __future__ import annotations

from typing import Any

from poolsmith.sources.nested import copied

DIRECTIVE = "$patch"
_KEYS: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "volumes": ("name",),
    "env": ("name",),
    "ports": ("containerPort", "port", "protocol"),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "webhooks": ("name",),
    "resourceClaims": ("name",),
    "claims": ("name",),
    "volumeClaimTemplates": (),
    "ownerReferences": ("uid",),
    "conditions": ("type",),
}
"""By the name of a list in kinds of Kubernetes, what tells its items apart."""
_SETS = frozenset(("finalizers",))
_GROUPS = frozenset(
    (
        "",
        "apps",
        "batch",
        "autoscaling",
        "policy",
        "extensions",
        "events.k8s.io",
        "networking.k8s.io",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
        "admissionregistration.k8s.io",
        "scheduling.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "discovery.k8s.io",
        "certificates.k8s.io",
        "apiregistration.k8s.io",
        "apiextensions.k8s.io",
        "resource.k8s.io",
        "flowcontrol.apiserver.k8s.io",
    )
)


def is_built_in(api_version: str) -> bool:
    """Whether Kubernetes itself has the kinds of a group, so that their lists have keys."""
    group, slash, _ = api_version.partition("/")
    return (group if slash else "") in _GROUPS


def merge(base: Any, patch: Any, *, built_in: bool) -> Any:
    """`patch` on `base`, which stays as it is. None: the patch deletes it."""
    if not isinstance(patch, dict):
        return copied(patch)
    directive = patch.get(DIRECTIVE)
    if directive == "delete":
        return None
    if directive == "replace" or not isinstance(base, dict):
        return _bare(patch)
    result = dict(base)
    for key, value in patch.items():
        if key == DIRECTIVE or key.startswith("$"):
            continue
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = merge(result.get(key, {}), value, built_in=built_in)
            if below is None:
                result.pop(key, None)
            else:
                result[key] = below
        elif isinstance(value, list) and built_in and isinstance(result.get(key), list):
            result[key] = _list(key, result[key], value)
        else:
            result[key] = copied(value)
    return result


def _list(name: str, base: list[Any], patch: list[Any]) -> list[Any]:
    if any(isinstance(item, dict) and item.get(DIRECTIVE) == "replace" for item in patch):
        return [copied(item) for item in patch if not (isinstance(item, dict) and DIRECTIVE in item)]
    if name in _SETS:
        return [*patch, *(item for item in base if item not in patch)]
    keys = [key for key in _KEYS.get(name, ()) if any(isinstance(item, dict) and key in item for item in patch)]
    if not keys or not all(isinstance(item, dict) for item in (*base, *patch)):
        return [copied(item) for item in patch]
    if name == "ports":
        keys = [key for key in keys if key != "protocol"] or keys
    left = list(base)
    result: list[Any] = []
    for item in patch:
        index = next((at for at, other in enumerate(left) if _same(other, item, keys)), None)
        old = left.pop(index) if index is not None else None
        new = merge(old, item, built_in=True) if old is not None else (None if item.get(DIRECTIVE) else _bare(item))
        if new is not None:
            result.append(new)
    return [*result, *left]


def _same(one: dict[str, Any], other: dict[str, Any], keys: list[str]) -> bool:
    return all(one.get(key) == other.get(key) for key in keys)


def _bare(value: Any) -> Any:
    """Without directives and nulls, as what a patch adds is."""
    if isinstance(value, dict):
        return {
            key: _bare(item) for key, item in value.items() if item is not None and not str(key).startswith("$patch")
        }
    return [_bare(item) for item in value] if isinstance(value, list) else value
