"""Make a release's operand entry from the operator's own static manifests.

Facts only, in a compact form: paths, types, names, numbers, rules. Scripts are not kept: a long one is the marker
`<script N chars>`. What only OpenShift gets is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts.versions import covers
from poolsmith.gpu.catalog.operator_behaviour import behaviour_of
from poolsmith.gpu.importing.object_entry import compact_object, compact_or_refuse, documents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
