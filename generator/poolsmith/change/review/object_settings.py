"""Settings of a predicted object, one line each, and fields that need no acceptance: the table of docs/ledger.md.

What is in none of the tables of this module counts, so that a field that Kubernetes has yet to invent is a
setting until somebody has decided what it means.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from poolsmith.change.review.free_names import free_fields, free_names, is_free
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.pod_template import mapping, pod_template_of
from poolsmith.guard.ledger.grants.grant import repository_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject


_COUNTS_IN_PROBES = ("exec", "host")

JUDGED_BY_OPERANDS = frozenset(("ClusterPolicy", "NVIDIADriver", "GPUCluster"))
"""What the operator makes of them is looked at, and whether there are more of them."""

_CONTROL_PLANE = compiled_later(
    r"node-role\.kubernetes\.io/(master|control-?plane|controlplane|etcd|infra)|node\.cloudprovider\.kubernetes\.io/.*"
    r"|CriticalAddonsOnly"
)


def reaches_control_plane(toleration: Any) -> bool:
    """Whether it tolerates what keeps pods away from the control plane. One without a key tolerates everything."""
    if not isinstance(toleration, dict):
        return False
    key = toleration.get("key") or ""
    return not key or not isinstance(key, str) or is_of_control_plane(key)


def is_of_control_plane(key: str) -> bool:
    """Whether nodes of the control plane have labels or taints with this key."""
    return _CONTROL_PLANE.fullmatch(key) is not None


_RESTRICTING: dict[str, tuple[Any, ...]] = {
    "runAsNonRoot": (True,),
    "readOnlyRootFilesystem": (True,),
    "allowPrivilegeEscalation": (False,),
    "privileged": (False,),
    "capabilities.drop": ("ALL", "all"),
    "seccompProfile.type": ("RuntimeDefault",),
    "appArmorProfile.type": ("RuntimeDefault",),
    "procMount": ("Default",),
}
_RESTRICTING_POD: dict[str, tuple[Any, ...]] = {
    "spec.automountServiceAccountToken": (False,),
    "spec.hostUsers": (False,),
    "spec.hostNetwork": (False,),
    "spec.hostPID": (False,),
    "spec.hostIPC": (False,),
    "spec.shareProcessNamespace": (False,),
    "spec.container.volumeMounts.readOnly": (True,),
    "spec.container.volumeMounts.recursiveReadOnly": ("Enabled",),
}


def restricts_variable(name: str, value: Any) -> bool:
    """Whether it keeps containers from choosing GPUs that nobody gave them."""
    return name.startswith("ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR") and value == "false"


def is_placement(plain: str) -> bool:
    """Whether it says on which nodes a pod may run."""
    return plain.startswith("spec.nodeSelector.") or plain == "spec.affinity.nodeAffinity"


def restricts(plain: str, value: Any) -> bool:
    """Whether a pod with this field can do less than one without it."""
    if plain in _RESTRICTING_POD:
        return json.dumps(value) in [json.dumps(one) for one in _RESTRICTING_POD[plain]]
    if is_placement(plain):
        return True
    _, found, field = plain.partition("securityContext.")
    if not found:
        return False
    if field == "runAsUser":
        return type(value) is int and value > 0
    return field in _RESTRICTING and json.dumps(value) in [json.dumps(one) for one in _RESTRICTING[field]]


def probe_counts(plain: str) -> bool:
    """Whether a field of a probe runs a program or asks another host."""
    _, found, field = plain.partition("Probe.")
    return bool(found) and any(word in field.split(".") for word in _COUNTS_IN_PROBES)


Path = tuple[str, ...]

_ARGUMENT_NAME = compiled_later(r"--?[A-Za-z]")
_CONTAINERS = frozenset(("initContainers", "containers", "ephemeralContainers"))
_WHOLE = frozenset(("command", "nodeAffinity", "rules"))
"""Lists and blocks whose parts mean nothing by themselves."""
_KEYS = {"volumeMounts": "mountPath", "volumeDevices": "devicePath"}
_NAMED = frozenset((*_CONTAINERS, "env", "volumes", "volumeMounts", "ports"))
"""Lists whose items say what they are besides their names."""
_META = ("metadata",)
_PLACES = ("nodeSelector", "tolerations")
_LABELS = frozenset(("labels", "annotations"))
_MONITORS = frozenset(("ServiceMonitor", "PodMonitor", "PrometheusRule"))
_LONGEST_TEXT = 1200
_ARGUMENT = 5
"""Words of the path of an argument: spec, containers, name of the container, args, name of the argument."""


def settings_of(item: KubernetesObject) -> Iterator[str]:
    """Of one object, but for what nobody needs to accept. Those of pods begin at the pod."""
    kind = item["kind"]
    yield f"kind={kind}"
    if kind in JUDGED_BY_OPERANDS:
        return
    template = pod_template_of(item)
    for path, value in _leaves((), item):
        if not path or path[0] in ("apiVersion", "kind", "status") or _is_identity(path):
            continue
        if template is not None and _in_template(path):
            continue
        if not _is_free_of_object(kind, path, value):
            yield _said(path, value)
    if template is not None:
        pod = {"metadata": mapping(template.get("metadata")), "spec": mapping(template.get("spec"))}
        for path, value in _leaves((), pod):
            if not _is_identity(path) and not is_free_of_pod(path, value):
                yield _said(path, value)


def protections_of(item: KubernetesObject) -> Iterator[str]:
    """The settings of pods that take something away from them: who loses one gains.

    Which value it is counts for nodes only: any user but root is as good as another.
    """
    template = pod_template_of(item)
    if template is None:
        return
    for path, value in _leaves((), {"spec": mapping(template.get("spec"))}):
        plain = _plain(path)
        if _is_argument(path) and path[-1].strip("[]") not in free_names("arguments"):
            yield _said(path, None)
        elif restricts(plain, value) or (path[-1] == "value" and restricts_variable(path[-2].strip("[]"), value)):
            yield _said(path, value if is_placement(plain) else None)


def ways_to_control_plane(item: KubernetesObject) -> Iterator[str]:
    """What leads pods to the nodes of the control plane: tolerations of their taints, or a choice of their labels."""
    template = pod_template_of(item)
    spec = mapping(mapping(template).get("spec"))
    for path, value in _leaves((), {"spec": {key: spec[key] for key in _PLACES if key in spec}}):
        chosen = path[:2] == ("spec", "nodeSelector") and is_of_control_plane(path[2])
        if chosen or (_is_toleration(path) and reaches_control_plane(value)):
            yield _said(path, value)


def is_free_of_pod(path: Path, value: Any) -> bool:
    """Whether nobody has to accept that a pod has this field."""
    plain = _plain(path)
    if value in ({}, []):
        return True
    if _is_metadata(path):
        return is_free("metadata", path[2], value)
    if _is_argument(path):
        return is_free("arguments", path[4].strip("[]"), value)
    if _is_toleration(path):
        return not reaches_control_plane(value)
    if "env" in path and path[0] == "spec" and len(path) > 4 and path[1] in _CONTAINERS:  # noqa: PLR2004 - the place of a variable
        return path[5:] == ("name",) or (path[5:] == ("value",) and is_free("variables", path[4].strip("[]"), value))
    if restricts(plain, value) or (path[-1] == "name" and path[-3] in _NAMED and path[-2].startswith("[")):
        return True
    return _matches(plain, free_fields("podFields")) and not probe_counts(plain)


def _is_free_of_object(kind: str, path: Path, value: Any) -> bool:
    if _is_metadata(path):
        is_chosen = kind in _MONITORS and path[1] == "labels" and is_free("monitorLabels", path[2], value)
        return is_chosen or is_free("metadata", path[2], value)
    return _matches(_plain(path), free_fields("objectFields", kind))


def _is_metadata(path: Path) -> bool:
    return len(path) > len(_META) + 1 and path[0] == "metadata" and path[1] in _LABELS


def _is_identity(path: Path) -> bool:
    return path[:1] == _META and path[1:2] not in (("labels",), ("annotations",), ("finalizers",))


def _is_argument(path: Path) -> bool:
    """Whether it is an argument that has a name."""
    return len(path) == _ARGUMENT and path[0] == "spec" and path[1] in _CONTAINERS and path[3] == "args"


def _is_toleration(path: Path) -> bool:
    return path[:2] == ("spec", "tolerations")


def _in_template(path: Path) -> bool:
    return path[:2] == ("spec", "template") or path[:4] == ("spec", "jobTemplate", "spec", "template")


def _matches(plain: str, patterns: Mapping[str, str] | tuple[str, ...]) -> bool:
    return any(plain == pattern or (pattern.endswith("*") and plain.startswith(pattern[:-1])) for pattern in patterns)


def _plain(path: Path) -> str:
    """The path without the names of list items, and with one word for all sorts of containers."""
    words = ("container" if word in _CONTAINERS else word for word in path if not word.startswith("["))
    return ".".join(words)


def _said(path: Path, value: Any) -> str:
    text = ""
    for word in path:
        text += word if word.startswith("[") or not text else f".{word}"
    text = text if text.isprintable() else json.dumps(text)
    return text if value is None else f"{text}={_text(value)}"


def _text(value: Any) -> str:
    """One line that can be written into a policy, however long the value is and whatever is in it."""
    is_line = isinstance(value, str) and value.isprintable()
    text = value if is_line else json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _leaves(path: Path, node: Any) -> Iterator[tuple[Path, Any]]:
    word = path[-1] if path else ""
    if word == "args":
        yield from _arguments(path, node)
    elif word in _WHOLE:
        yield path, node
    elif isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _leaves((*path, str(key)), value)
    elif isinstance(node, list) and node:
        yield from _items(path, node)
    elif word == "image" and isinstance(node, str):
        yield path, repository_of(node)
    else:
        yield path, node


def _arguments(path: Path, node: Any) -> Iterator[tuple[Path, Any]]:
    """One by one where each has a name, with the word behind it that has none: its value. Else all of them as a whole.

    Of several with one name the place among them counts, for of most the last one holds.
    """
    words = node if isinstance(node, list) else []
    named: list[tuple[str, str]] = []
    for word in words:
        if not isinstance(word, str) or word == "--" or (not named and _ARGUMENT_NAME.match(word) is None):
            yield path, node
            return
        name, is_given, value = word.partition("=")
        if _ARGUMENT_NAME.match(word) is not None:
            named.append((name, value if is_given else ""))
        else:
            last, given = named.pop()
            if given:
                yield path, node
                return
            named.append((last, word))
    if not words:
        yield path, node
    seen: dict[str, int] = {}
    for name, value in named:
        seen[name] = seen.get(name, 0) + 1
        yield (*path, f"[{name}]" if seen[name] == 1 else f"[{name}#{seen[name]}]"), value


def _items(path: Path, items: list[Any]) -> Iterator[tuple[Path, Any]]:
    """By name where they have one. Of two with one name the last counts, as it does for variables."""
    key = _KEYS.get(path[-1], "name")
    named: dict[str, Any] = {}
    for index, item in enumerate(items):
        if isinstance(item, dict) and isinstance(item.get(key), str) and path[-1] != "tolerations":
            place = f"[{item[key]}]"
            if place in named and path[-1] != "env":
                place = f"[{item[key]}#{index}]"
            named[place] = item
        else:
            yield (*path, "[]"), item
    for place, item in named.items():
        yield from _leaves((*path, place), item)
