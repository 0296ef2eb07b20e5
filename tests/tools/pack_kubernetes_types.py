"""Make the table of Kubernetes' Go types.

The input is a folder with `<minor>.json` for each minor of Kubernetes 1.x: what `tests/oracle/normalise` prints for
the argument `types`, built with k8s.io/api and k8s.io/apimachinery of that minor (its README says how).

    PYTHONPATH=generator python -m tools.pack_kubernetes_types FOLDER

Of `defaults.json` in it, what `tests/oracle/defaults` prints, the list of defaulted fields is made.
"""

from __future__ import annotations

import json
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


def defaults_text(paths: dict[str, list[str]]) -> str:
    """By kind, as dotted paths with `*` for the items of lists; those of pods and of their containers once for all."""
    pod: set[str] = set()
    container: set[str] = set()
    kinds: dict[str, set[str]] = {}
    for full, listed in paths.items():
        kind = full.rpartition(" ")[2]
        pointer = pod_template_pointer({"kind": kind})
        prefix = None if pointer is None else ".".join((*pointer.split("/")[1:], "spec."))
        for path in map(_whole, listed):
            below = None if prefix is None or not path.startswith(prefix) else path.removeprefix(prefix)
            if below is None:
                kinds.setdefault(kind, set()).add(path)
            elif below.partition(".")[0] in CONTAINER_FIELDS:
                container.add(below.split(".", 2)[2])
            else:
                pod.add(below)
    table = {
        "source": "Go module k8s.io/kubernetes v1.37.0: what its defaulting adds",
        "container": sorted(container),
        "pod": sorted(pod),
        "kinds": {kind: sorted(found) for kind, found in sorted(kinds.items())},
    }
    return json.dumps(table, indent=1) + "\n"


def _whole(path: str) -> str:
    """A list or a set of resources is defaulted as a whole; the programs put the resource `cpu` into each set."""
    return path.removesuffix(".*").removesuffix(".cpu")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    dumps = {int(path.stem): json.loads(path.read_bytes()) for path in folder.glob("[0-9]*.json")}
    (DATA / NAME).parent.mkdir(exist_ok=True)
    (DATA / NAME).write_text(table_text(dumps), "utf-8")
    (DATA / DEFAULTS).write_text(defaults_text(json.loads((folder / "defaults.json").read_bytes())), "utf-8")
