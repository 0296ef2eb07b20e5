"""Make a release's operand entry from the operator's own static manifests. Floor: catalog.

Facts only, in a compact form: paths, types, names, numbers, rules. Scripts are not kept: a long one is the marker
`<script N chars>`. What only OpenShift gets is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.versions import covers
from poolsmith.diagnostics import PoolsmithError
from poolsmith.sources.yaml_reader import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONG_TEXT = 160
_PLACEHOLDERS = ("FILLED BY THE OPERATOR", "FILLED_BY_THE_OPERATOR", "FILLED_BY_OPERATOR")
_ACCESS = {True: "ro", False: "rw"}


def operand_entry(
    *, release: str, source: str, files: Mapping[str, bytes], overlay: Mapping[str, Any]
) -> dict[str, Any]:
    """The entry of one release.

    `files` maps `<state>/<file>` to its text, `overlay` holds what no manifest says: the order of the states, when
    each exists, and how the release behaves. Raises PoolsmithError for a state that the overlay does not know.
    """
    folders: dict[str, list[str]] = {}
    for path in sorted(files):
        state, _, name = path.partition("/")
        if "openshift" not in name:
            folders.setdefault(state, []).append(path)
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
                    _compact(document)
                    for path in folders[state["name"]]
                    for document in read_documents(files[path].decode("utf-8"))
                    if document
                ],
            }
            for state in order
            if state["name"] in folders
        ],
    }


def behaviour_of(rules: Mapping[str, Any], release: str) -> dict[str, Any]:
    """Each behaviour with the value that holds for a release: the one entry of its list that covers it."""
    result: dict[str, Any] = {}
    for name, entries in sorted(rules.items()):
        found = [entry["value"] for entry in entries if covers(entry, release)]
        if len(found) != 1:
            raise PoolsmithError(f"behaviour {name}: {len(found)} entries cover {release}, one has to")
        result[name] = found[0]
    return result


def _compact(document: dict[str, Any]) -> dict[str, Any]:
    kind = document["kind"]
    metadata = document["metadata"]
    entry: dict[str, Any] = {"kind": kind, "name": _filled(metadata["name"])}
    if kind not in _KINDS:
        raise PoolsmithError(f"operand kind {kind} has no compact form")
    entry |= {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    return entry | _KINDS[kind](document)


def _role(document: dict[str, Any]) -> dict[str, Any]:
    return {"rules": [_rule(rule) for rule in document.get("rules", ())]}


def _rule(rule: dict[str, Any]) -> list[str]:
    """apiGroups, resources, verbs and, where there are any, resourceNames, each joined by commas."""
    words = [rule["apiGroups"], rule["resources"], rule["verbs"]]
    if rule.get("resourceNames"):
        words.append(rule["resourceNames"])
    return [",".join(word) for word in words]


def _binding(document: dict[str, Any]) -> dict[str, Any]:
    role = document["roleRef"]
    return {
        "role": f"{role['kind']}/{role['name']}",
        "subjects": [
            "/".join(part for part in (_filled(item.get("namespace", "")), item["name"]) if part)
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
        case {"hostPath": {"path": path, **rest}} if set(rest) <= {"type"}:
            return f"{path} {rest['type']}" if rest.get("type") else str(path)
        case {"configMap": {"name": name, **rest}} if set(rest) <= {"defaultMode"}:
            place = f"configMap:{_filled(name)}"
            return f"{place} 0{rest['defaultMode']:o}" if rest else place
        case {"emptyDir": None} | {"emptyDir": {}}:
            return "emptyDir"
    return source


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
    if "valueFrom" not in item:
        value = item.get("value", "")
        return [item["name"]] if value in _PLACEHOLDERS else [item["name"], _short(value)]
    field = item["valueFrom"].get("fieldRef", {})
    if field.get("apiVersion"):
        return [item["name"], item["valueFrom"]]
    return [item["name"], f"@{field['fieldPath']}"]


def _mount(item: dict[str, Any]) -> str:
    """`volume:/path:rw`, then the propagation and the subPath where there are any."""
    words = [item["name"], item["mountPath"], _ACCESS[bool(item.get("readOnly"))]]
    words += [item.get("mountPropagation", ""), item.get("subPath", "")]
    return ":".join(words).rstrip(":")


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
