"""What the API server asks of built-in objects beyond their published definitions: in single fields and across fields.

Single fields: `data/api_server/validation.yaml`.

Across fields (one source of a volume, a selector that selects): from its validation code (pkg/apis/core/validation,
apps, batch and rbac), tested with kube-apiserver 1.34. What the server judges only with other objects in hand is not
here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.quantity import amount_of
from poolsmith.kubernetes.schema.violation import Violation, What, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.kubernetes.schema.scalars import Schema


_FILE = "api_server/validation.yaml"


def validated(name: str, schema: Schema) -> Schema:
    """A definition as the server validates it."""
    table = store.table(_FILE)
    fields, more, less = (table[part].get(name, {}) for part in ("fields", "demanded", "notDemanded"))
    if not (fields or more or less):
        return schema
    properties = dict(schema.get("properties", {}))
    for key, limits in fields.items():
        if key in properties:
            properties[key] = {**properties[key], **limits}
    required = [key for key in (*schema.get("required", ()), *more) if key not in less]
    return {**schema, "properties": properties, **({"required": required} if required or less else {})}


_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_GATED = ("image", "fileKeyRef")
"""Sources that a server drops where their feature gate is off."""
_LISTS = ("initContainers", "containers")


def _broken(message: str, *steps: str | int, help: str | None = None) -> Violation:
    violation = Violation(What.RULE, message, help=help)
    violation.steps.extend(reversed(steps))
    return violation


def _set(value: dict[str, Any], *keys: str) -> list[str]:
    return [key for key in keys or value if value.get(key) is not None]


def _volume(value: dict[str, Any]) -> Iterator[Violation]:
    sources = [key for key in _set(value) if key not in ("name", *_GATED)]
    if len(sources) > 1:
        yield _broken(f"has more than one source: {', '.join(sources)}", help="keep one of them")


def _one_handler(value: dict[str, Any]) -> Iterator[Violation]:
    found = _set(value, *_HANDLERS, "sleep")
    if len(found) != 1:
        yield _broken("needs exactly one handler: " + ", ".join(_HANDLERS))


_VARIABLE = pattern(r"[ -<>-~]*+")
"""Printable ASCII without `=`."""


def _environment(value: dict[str, Any]) -> Iterator[Violation]:
    name = value.get("name")
    if isinstance(name, str) and not _VARIABLE.fullmatch(name):
        yield _broken(f"is `{shown(name)}`, and a variable has printable ASCII without `=`", "name")
    if value.get("value") and value.get("valueFrom") is not None:
        yield _broken("has a `value`, so `valueFrom` can't be set", "valueFrom", help="keep one of the two")


def _environment_source(value: dict[str, Any]) -> Iterator[Violation]:
    if len([key for key in _set(value) if key not in _GATED]) != 1 and not any(key in value for key in _GATED):
        yield _broken("needs exactly one source", help="name a field, a resource, a ConfigMap key or a Secret key")


def _environment_list(value: dict[str, Any]) -> Iterator[Violation]:
    if len(_set(value, "configMapRef", "secretRef")) != 1:
        yield _broken("needs either `configMapRef` or `secretRef`")


def _toleration(value: dict[str, Any]) -> Iterator[Violation]:
    exists = value.get("operator") == "Exists"
    if not value.get("key") and not exists:
        yield _broken("has no `key`, so `operator` has to be Exists")
    if exists and value.get("value"):
        yield _broken("has `operator: Exists`, so `value` has to be empty", "value")
    if value.get("tolerationSeconds") is not None and value.get("effect") != "NoExecute":
        yield _broken("has `tolerationSeconds`, so `effect` has to be NoExecute")


def _requirement(value: dict[str, Any]) -> Iterator[Violation]:
    if value.get("operator") in ("In", "NotIn") and not value.get("values"):
        yield _broken(f"has `operator: {value['operator']}`, which needs `values`")
    if value.get("operator") in ("Exists", "DoesNotExist") and value.get("values"):
        yield _broken(f"has `operator: {value['operator']}`, which takes no `values`", "values")


def _privileges(value: dict[str, Any]) -> Iterator[Violation]:
    resources, urls = bool(value.get("resources")), bool(value.get("nonResourceURLs"))
    if urls and (resources or value.get("apiGroups")):
        yield _broken("has resources and `nonResourceURLs`; a rule has either", "nonResourceURLs")
    elif not urls:
        for key in ("apiGroups", "resources"):
            if not value.get(key):
                yield _broken(f"needs `{key}`, or `nonResourceURLs`")


def _cluster_binding(value: dict[str, Any]) -> Iterator[Violation]:
    subjects = value.get("subjects")
    for index, subject in enumerate(subjects if isinstance(subjects, list) else ()):
        if isinstance(subject, dict) and subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            yield _broken("is a ServiceAccount, which needs its `namespace` here", "subjects", index)


def _workload(value: dict[str, Any]) -> Iterator[Violation]:
    selector, template = value.get("selector"), value.get("template")
    if not isinstance(selector, dict) or not isinstance(template, dict):
        return
    wanted = selector.get("matchLabels") or {}
    if not wanted and not selector.get("matchExpressions"):
        yield _broken("is empty, and a selector of a workload has to select its pods", "selector")
    metadata = template.get("metadata")
    labels = (metadata.get("labels") if isinstance(metadata, dict) else None) or {}
    if isinstance(wanted, dict) and isinstance(labels, dict):
        for key, item in wanted.items():
            if labels.get(key) != item:
                yield _broken(
                    f"wants `{shown(item)}`, and the labels of the pod template have no such label",
                    *("selector", "matchLabels", key),
                    help="give `spec.template.metadata.labels` the same label",
                )
    spec = template.get("spec")
    if isinstance(spec, dict) and spec.get("restartPolicy") not in (None, "", "Always"):
        yield _broken("has to be Always in this kind", "template", "spec", "restartPolicy")


def _job(value: dict[str, Any]) -> Iterator[Violation]:
    template = value.get("template")
    spec = template.get("spec") if isinstance(template, dict) else None
    if isinstance(spec, dict) and spec.get("restartPolicy") not in ("OnFailure", "Never"):
        yield _broken("needs `restartPolicy` OnFailure or Never in a Job", "template", "spec")


def _pod_spec(value: dict[str, Any]) -> Iterator[Violation]:
    yield from _labels(value.get("nodeSelector"), "nodeSelector")
    seen: set[Any] = set()
    for listed in _LISTS:
        containers = value.get(listed)
        for index, container in enumerate(containers if isinstance(containers, list) else ()):
            if not isinstance(container, dict):
                continue
            name = container.get("name")
            if listed == "containers" and isinstance(name, str) and name in seen:
                yield _broken(f"is `{shown(name)}`, as an init container is named too", listed, index, "name")
            elif isinstance(name, str):
                seen.add(name)
            yield from _bidirectional(container, listed, index)


_PREFIX = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
_WORD = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_QUALIFIED = pattern(rf"(?:(?=[^/]{{1,253}}/){_PREFIX}/)?{_WORD}")
_LABEL_VALUE = pattern(rf"(?:{_WORD})?")
_ANNOTATIONS = 1 << 18
"""Bytes of all of them together."""


def _labels(value: Any, *place: str) -> Iterator[Violation]:
    """Keys and values of labels, or of what selects by them."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if not _QUALIFIED.fullmatch(str(key)):
            yield _broken(f"has the key `{shown(key)}`, which is no label key", *place, key)
        elif isinstance(item, str) and not _LABEL_VALUE.fullmatch(item):
            yield _broken(f"is `{shown(item)}`, which is no label value", *place, key)


def _metadata(value: dict[str, Any]) -> Iterator[Violation]:
    yield from _labels(value.get("labels"), "labels")
    annotations = value.get("annotations")
    size = 0
    for key, item in annotations.items() if isinstance(annotations, dict) else ():
        size += len(str(key).encode()) + (len(item.encode("utf-8", "replace")) if isinstance(item, str) else 0)
        if not _QUALIFIED.fullmatch(str(key).lower()):
            yield _broken(f"has the key `{shown(key)}`, which is no key of an annotation", "annotations", key)
    if size > _ANNOTATIONS:
        yield _broken(f"has {size:,} bytes; {_ANNOTATIONS:,} are allowed", "annotations")


def _resources(value: dict[str, Any]) -> Iterator[Violation]:
    limits, requests = value.get("limits"), value.get("requests")
    for name, amounts in (("limits", limits), ("requests", requests)):
        for key, amount in amounts.items() if isinstance(amounts, dict) else ():
            if (found := amount_of(amount)) is not None and found < 0:
                yield _broken(f"is `{shown(amount)}`; at least 0 is allowed", name, key)
    if not isinstance(limits, dict) or not isinstance(requests, dict):
        return
    for key, amount in requests.items():
        least, most = amount_of(amount), amount_of(limits.get(key))
        if least is not None and most is not None and least > most:
            message = f"is `{shown(amount)}`, which is more than the limit `{shown(limits[key])}`"
            yield _broken(message, "requests", key, help="request no more than the limit")


_PERCENT = pattern(r"[0-9]+%", re.ASCII)
_ALL = 100


def _replacement(value: dict[str, Any]) -> Iterator[Violation]:
    """How many nodes at once: numbers of them, or percentages."""
    rolling = value.get("rollingUpdate")
    if value.get("type") not in (None, "", "RollingUpdate") or not isinstance(rolling, dict):
        return
    none = []
    for key, otherwise in (("maxUnavailable", 1), ("maxSurge", 0)):
        item = rolling.get(key)
        item = otherwise if item is None else item
        if (why := _no_share(item)) is not None:
            yield _broken(f"is `{shown(item)}`, {why}", "rollingUpdate", key)
        none.append(str(item).strip("0") in ("", "%"))
    if all(none):
        yield _broken("is 0, and so is `maxSurge`: no pod could be replaced", "rollingUpdate", "maxUnavailable")
    elif not any(none):
        yield _broken("is only allowed where `maxUnavailable` is 0", "rollingUpdate", "maxSurge")


def _no_share(item: Any) -> str | None:
    """Why it is no number of nodes and no percentage; None for a type that another check refuses."""
    if isinstance(item, str):
        if not _PERCENT.fullmatch(item):
            return "and has to be a number or a percentage like `10%`"
        return "which is more than 100%" if int(item[:-1][:9]) > _ALL else None
    return "and can't be negative" if isinstance(item, int) and item < 0 else None


def _host_path(value: dict[str, Any]) -> Iterator[Violation]:
    path = value.get("path")
    if isinstance(path, str) and ".." in path.split("/"):
        yield _broken(f"is `{shown(path)}`, and must not contain `..`", "path")


def _bidirectional(container: dict[str, Any], *place: str | int) -> Iterator[Violation]:
    context, mounts = container.get("securityContext"), container.get("volumeMounts")
    if isinstance(context, dict) and context.get("privileged") is True:
        return
    for index, mount in enumerate(mounts if isinstance(mounts, list) else ()):
        if isinstance(mount, dict) and mount.get("mountPropagation") == "Bidirectional":
            message = "is Bidirectional, which only a privileged container may have"
            yield _broken(message, *place, "volumeMounts", index, "mountPropagation")


RULES: dict[str, Callable[[dict[str, Any]], Iterator[Violation]]] = {
    "apps.v1.DaemonSetUpdateStrategy": _replacement,
    "apps.v1.DaemonSetSpec": _workload,
    "apps.v1.DeploymentSpec": _workload,
    "apps.v1.StatefulSetSpec": _workload,
    "batch.v1.JobSpec": _job,
    "core.v1.EnvFromSource": _environment_list,
    "core.v1.EnvVar": _environment,
    "core.v1.EnvVarSource": _environment_source,
    "core.v1.HostPathVolumeSource": _host_path,
    "core.v1.LifecycleHandler": _one_handler,
    "core.v1.NodeSelectorRequirement": _requirement,
    "core.v1.PodSpec": _pod_spec,
    "core.v1.Probe": _one_handler,
    "core.v1.ResourceRequirements": _resources,
    "core.v1.Toleration": _toleration,
    "core.v1.Volume": _volume,
    "meta.v1.ObjectMeta": _metadata,
    "meta.v1.LabelSelectorRequirement": _requirement,
    "rbac.v1.ClusterRoleBinding": _cluster_binding,
    "rbac.v1.PolicyRule": _privileges,
}
"""Definition to its rule, which is asked of each mapping of that definition."""
