"""Compact forms of Kubernetes objects, and a release's operand entry made of the operator's own static manifests.

Facts only: paths, types, names, numbers, rules. Scripts are not kept: a long one is the marker `<script N chars>`.
What a form would lose is refused, so that nothing is left out silently; `operands.whole` unfolds the forms again. What
only OpenShift gets is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts.versions import covers
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.releases import behaviour_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


LONG_TEXT = 160
_PLACEHOLDERS = ("FILLED BY THE OPERATOR", "FILLED_BY_THE_OPERATOR", "FILLED_BY_OPERATOR")
_ACCESS = {True: "ro", False: "rw"}


def documents_of(path: str, content: bytes) -> list[Any]:
    """The documents of a file, but for empty ones. Raises PoolsmithError."""
    try:
        return [document for document in read_documents(content.decode("utf-8")) if document is not None]
    except UnicodeDecodeError:
        raise PoolsmithError(f"{path} is not UTF-8") from None
    except YamlProblem as problem:
        line = f":{problem.position.line}" if problem.position else ""
        raise PoolsmithError(f"{path}{line}: {problem.message}") from None


def compact_or_refuse(path: str, document: Any, compact: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """The compact form of a document in `path`. Raises PoolsmithError for a document that it does not fit."""
    try:
        return compact(document)
    except PoolsmithError as error:
        raise PoolsmithError(f"{path}: {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError):
        raise PoolsmithError(f"{path}: {_named(document)} has no compact form") from None


def _named(document: Any) -> str:
    """What a document calls itself, for messages."""
    if not isinstance(document, dict):
        return "a document that is no object"
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{document.get('kind')}/{name}"


def compact_object(document: dict[str, Any]) -> dict[str, Any]:
    """The compact form of one object. Raises PoolsmithError where it would lose something."""
    kind = document["kind"]
    metadata = document["metadata"]
    if kind not in _KINDS:
        raise PoolsmithError(f"operand kind {kind} has no compact form")
    hold_all(document, {"apiVersion", "kind", "metadata", *_HELD.get(kind, ("spec",))})
    entry: dict[str, Any] = {"kind": kind, "name": _filled(metadata["name"])}
    entry |= {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    return entry | _KINDS[kind](document)


def hold_all(node: dict[str, Any], held: set[str]) -> None:
    """Raises PoolsmithError for a key besides: nothing is left out silently."""
    lost = sorted(set(node) - held)
    if lost:
        of_whom = f" of {_named(node)}" if "kind" in node else ""
        raise PoolsmithError(f"`{', '.join(lost)}`{of_whom} has no compact form")


def _role(document: dict[str, Any]) -> dict[str, Any]:
    return {"rules": [_rule(rule) for rule in document.get("rules", ())]}


def _rule(rule: dict[str, Any]) -> list[str]:
    """apiGroups, resources, verbs and, where there are any, resourceNames, each joined by commas."""
    hold_all(rule, {"apiGroups", "resources", "verbs", "resourceNames"})
    words = [rule["apiGroups"], rule["resources"], rule["verbs"]]
    if rule.get("resourceNames"):
        words.append(rule["resourceNames"])
    return [joined(",", word) for word in words]


def _binding(document: dict[str, Any]) -> dict[str, Any]:
    role = document["roleRef"]
    others = sorted({item["kind"] for item in document["subjects"]} - {"ServiceAccount"})
    if others:
        raise PoolsmithError(f"a subject of kind {', '.join(others)} has no compact form")
    return {
        "role": f"{role['kind']}/{role['name']}",
        "subjects": [
            joined("/", [part for part in (_filled(item.get("namespace", "")), item["name"]) if part])
            for item in document["subjects"]
        ],
    }


def _config_map(document: dict[str, Any]) -> dict[str, Any]:
    return {"keys": {key: len(text) for key, text in sorted((document.get("data") or {}).items())}}


def _runtime_class(document: dict[str, Any]) -> dict[str, Any]:
    return {
        "handler": _filled(document["handler"]),
        **({"scheduling": document["scheduling"]} if "scheduling" in document else {}),
    }


def _service_account(document: dict[str, Any]) -> dict[str, Any]:
    return {key: document[key] for key in ("automountServiceAccountToken",) if key in document}


def _with_spec(document: dict[str, Any]) -> dict[str, Any]:
    return {"spec": document["spec"]}


def _daemon_set(document: dict[str, Any]) -> dict[str, Any]:
    spec = document["spec"]
    template = spec["template"]
    hold_all(spec, {"selector", "updateStrategy", "template"})
    pod = dict(template["spec"])
    entry: dict[str, Any] = {"selector": spec["selector"]["matchLabels"]}
    if "updateStrategy" in spec:
        entry["updateStrategy"] = spec["updateStrategy"]
    metadata = template["metadata"]
    entry |= {
        word: metadata[key]
        for key, word in (("labels", "podLabels"), ("annotations", "podAnnotations"))
        if key in metadata
    }
    volumes = pod.pop("volumes", [])
    groups = {word: pod.pop(key, []) for key, word in (("initContainers", "init"), ("containers", "containers"))}
    entry["pod"] = pod
    entry["volumes"] = {volume["name"]: _volume(volume) for volume in volumes}
    for word, containers in groups.items():
        entry[word] = [_container(item) for item in containers]
    return entry


def _volume(volume: dict[str, Any]) -> str | dict[str, Any]:
    """`/path`, `/path Type`, `configMap:NAME 0700`, `emptyDir`; anything else as it is."""
    source = {key: value for key, value in volume.items() if key != "name"}
    match source:
        case {"hostPath": {"path": str(path), **rest}} if set(rest) <= {"type"} and _is_plain_path(path):
            return f"{path} {rest['type']}" if rest.get("type") else path
        case {"configMap": {"name": str(name), **rest}} if set(rest) <= {"defaultMode"}:
            place = f"configMap:{_filled(name)}"
            return f"{place} 0{rest['defaultMode']:o}" if rest else place
    return "emptyDir" if source in ({"emptyDir": None}, {"emptyDir": {}}) else source


def _is_plain_path(path: str) -> bool:
    """Whether a path can be told from the other short forms of volumes."""
    return path.startswith("/") and " " not in path


def _container(container: dict[str, Any]) -> dict[str, Any]:
    entry = dict(container)
    if entry.get("image") in _PLACEHOLDERS:
        del entry["image"]
    for key in ("command", "args"):
        if key in entry:
            entry[key] = [_short(word) for word in entry[key]]
    if "env" in entry:
        entry["env"] = [_variable(item) for item in entry["env"]]
    if "volumeMounts" in entry:
        entry["mounts"] = [_mount(item) for item in entry.pop("volumeMounts")]
    shortened: dict[str, Any] = _shortened(entry)
    return shortened


def _variable(item: dict[str, Any]) -> list[Any]:
    """A name with its text, with `@fieldPath`, or with the whole valueFrom."""
    name = item["name"]
    match item:
        case {"valueFrom": {"fieldRef": {"fieldPath": path, **others}, **rest}} if not (others or rest):
            return [name, f"@{path}"]
        case {"valueFrom": source}:
            return [name, source]
    value = item.get("value", "")
    if value.startswith("@"):
        raise PoolsmithError(f"the value of variable {name} starts with @, which has no compact form")
    return [name] if value in _PLACEHOLDERS else [name, _short(value)]


def _mount(item: dict[str, Any]) -> str:
    """`volume:/path:rw`, then the propagation and the subPath where there are any."""
    hold_all(item, {"name", "mountPath", "readOnly", "mountPropagation", "subPath"})
    words = [item["name"], item["mountPath"], _ACCESS[bool(item.get("readOnly"))]]
    words += [item.get("mountPropagation", ""), item.get("subPath", "")]
    return joined(":", words).rstrip(":")


def joined(separator: str, words: list[str]) -> str:
    """Words that can be taken apart again."""
    if any(separator in word for word in words):
        raise PoolsmithError(f"a word with `{separator}` in it has no compact form: {' '.join(words)}")
    return separator.join(words)


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_shortened(child) for child in value]
    return _short(value) if isinstance(value, str) else value


def _short(text: str) -> str:
    return text if len(text) <= LONG_TEXT else f"<script {len(text)} chars>"


def _filled(text: str) -> str:
    return "" if text in _PLACEHOLDERS else text


_HELD = {
    "ServiceAccount": ("automountServiceAccountToken",),
    "Role": ("rules",),
    "ClusterRole": ("rules",),
    "RoleBinding": ("roleRef", "subjects"),
    "ClusterRoleBinding": ("roleRef", "subjects"),
    "ConfigMap": ("data",),
    "RuntimeClass": ("handler", "scheduling"),
}
"""What the forms hold beside metadata; that of other kinds holds their spec."""

_KINDS = {
    "ServiceAccount": _service_account,
    "Role": _role,
    "ClusterRole": _role,
    "RoleBinding": _binding,
    "ClusterRoleBinding": _binding,
    "ConfigMap": _config_map,
    "RuntimeClass": _runtime_class,
    "Service": _with_spec,
    "ServiceMonitor": _with_spec,
    "DaemonSet": _daemon_set,
}


def operand_entry(
    *, release: str, source: str, files: Mapping[str, bytes], overlay: Mapping[str, Any]
) -> dict[str, Any]:
    """The entry of one release.

    `files` maps `<state>/<file>` to its text, `overlay` holds what no manifest says: the order of the states, when
    each exists, and how the release behaves. Raises PoolsmithError for a state that the overlay does not know, and for
    an object without a compact form.
    """
    folders: dict[str, list[str]] = {}
    for path in sorted(files):
        if not is_for_openshift(path):
            folders.setdefault(path.partition("/")[0], []).append(path)
    order = [state for state in overlay["states"] if covers(state, release)]
    unknown = sorted(set(folders) - {state["name"] for state in order})
    if unknown:
        raise PoolsmithError(f"operand folders that the overlay does not order: {', '.join(unknown)}")
    return {
        "release": release,
        "source": source,
        "behaviour": behaviour_of(overlay["behaviour"], release),
        "states": [
            {
                "name": state["name"],
                "enabled": state["enabled"],
                "objects": [
                    compact_or_refuse(path, document, compact_object)
                    for path in folders[state["name"]]
                    for document in documents_of(path, files[path])
                ],
            }
            for state in order
            if state["name"] in folders
        ],
    }


def is_for_openshift(path: str) -> bool:
    """Whether the operator passes a manifest over where there is no OpenShift: its file name says so."""
    return "openshift" in path.partition("/")[2]


def states_text(entry: dict[str, Any], dump: Any) -> Iterable[str]:
    """The entry as JSON text, one operand object a line, so that a change of one is one line of a diff."""
    head = {key: value for key, value in entry.items() if key != "states"}
    yield dump(head)[:-1] + ',\n "states": [\n'
    states = entry["states"]
    for number, state in enumerate(states):
        rest = {key: value for key, value in state.items() if key != "objects"}
        yield "  " + dump(rest)[:-1] + ', "objects": [\n'
        yield ",\n".join("   " + dump(item) for item in state["objects"])
        yield "\n  ]}" + ("," if number + 1 < len(states) else "") + "\n"
    yield " ]}\n"
