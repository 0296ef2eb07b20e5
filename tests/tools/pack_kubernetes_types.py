"""Make the table of Kubernetes' Go types.

The input is a folder with `<minor>.json` for each minor of Kubernetes 1.x: what `tests/oracle/normalise` prints for
the argument `types`, built with k8s.io/api and k8s.io/apimachinery of that minor (its README says how).

    PYTHONPATH=generator python -m tools.pack_kubernetes_types FOLDER

Of `defaults.json` in it, what `tests/oracle/defaults` prints, the table of defaults is made.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from poolsmith.core.facts.store import DATA
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, pod_template_pointer
from poolsmith.kubernetes.server.kubernetes_types import ALWAYS, DEFAULTS, NAME, UNLESS_ZERO

_MARKS = {"e": "", "": ALWAYS, "ez": UNLESS_ZERO}
"""By the options of the JSON tag: left out when empty is what most fields are."""


def table_text(by_minor: dict[int, dict[str, Any]]) -> str:
    minors = sorted(by_minor)
    kinds = {
        kind: [
            min(minor for minor in minors if kind in by_minor[minor]["roots"]),
            by_minor[minors[-1]]["roots"].get(kind),
        ]
        for kind in sorted({kind for minor in minors for kind in by_minor[minor]["roots"]})
    }
    fields: dict[str, dict[str, list[list[Any]]]] = {}
    for minor in minors:
        for name, listed in by_minor[minor]["types"].items():
            known = fields.setdefault(name, {})
            now = {field: code + _MARKS[options] for field, options, code in listed or ()}
            for field in [*now, *(field for field in known if field not in now)]:
                steps = known.setdefault(field, [])
                if (steps[-1][1] if steps else None) != now.get(field):
                    steps.append([minor, now.get(field)])
    types = {
        name: {
            field: _short(steps, min(steps[0][0] for steps in known.values())) for field, steps in sorted(known.items())
        }
        for name, known in sorted(fields.items())
    }
    table = {
        "source": f"Go modules k8s.io/api and k8s.io/apimachinery, v0.{minors[0]}.0 to v0.{minors[-1]}.0",
        "minors": [minors[0], minors[-1]],
        "kinds": {kind: entry for kind, entry in kinds.items() if entry[1] is not None},
        "types": types,
    }
    return json.dumps(table, separators=(",", ":")).replace('},"', '},\n"') + "\n"


def _short(steps: list[list[Any]], first: int) -> Any:
    """A field that was the same as long as its type is there is a text; others are steps, each from a minor on."""
    return steps[0][1] if len(steps) == 1 and steps[0][0] == first else steps


def defaults_text(values: dict[str, dict[str, Any]]) -> str:
    """By kind, as dotted paths with `*` for the items of lists, each with what is filled in, or null where that depends
    on the object; those of pods and of their containers once for all, and which of them no template gets."""
    pod: dict[str, Any] = {}
    container: dict[str, Any] = {}
    kinds: dict[str, dict[str, Any]] = {}
    of_templates: set[str] = set()
    for full, filled in values.items():
        kind = full.rpartition(" ")[2]
        pointer = pod_template_pointer({"kind": kind})
        prefix = None if pointer is None else ".".join((*pointer.split("/")[1:], "spec."))
        for path, value in filled.items():
            whole = _whole(path)
            known = _EMPTY if value == "{}" else None if whole != path or _TIME.match(str(value)) else value
            below = None if prefix is None or not whole.startswith(prefix) else whole.removeprefix(prefix)
            if below is None:
                _put(kinds.setdefault(kind, {}), whole, known)
                continue
            of_container = below.partition(".")[0] in CONTAINER_FIELDS
            short = below.split(".", 2)[2] if of_container else below
            _put(container if of_container else pod, short, known)
            if kind != "Pod":
                of_templates.add(short)
    table = {
        "source": "Go module k8s.io/kubernetes v1.37.0: what its defaulting adds",
        "container": container,
        "pod": pod,
        "no template": sorted({*container, *pod} - of_templates),
        "kinds": kinds,
    }
    return json.dumps(table, indent=1, sort_keys=True) + "\n"


_EMPTY: dict[str, Any] = {}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT")


def _put(found: dict[str, Any], path: str, value: Any) -> None:
    """What two kinds fill in otherwise depends on the object."""
    found[path] = value if found.get(path, value) == value else None


def _whole(path: str) -> str:
    """A list or a set of resources is defaulted as a whole; the programs put the resource `cpu` into each set."""
    return path.removesuffix(".*").removesuffix(".cpu")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    dumps = {int(path.stem): json.loads(path.read_bytes()) for path in folder.glob("[0-9]*.json")}
    (DATA / NAME).parent.mkdir(exist_ok=True)
    (DATA / NAME).write_text(table_text(dumps), "utf-8")
    (DATA / DEFAULTS).write_text(defaults_text(json.loads((folder / "defaults.json").read_bytes())), "utf-8")
