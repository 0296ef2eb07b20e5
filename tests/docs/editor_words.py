"""What completes in an editor: the same questions for the real yaml-language-server and for ours."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from interface.app.editor.client import Editor
from poolsmith.core.facts import store
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.interface.app.catalog_verbs import values_schema_text

RELEASE = "v26.3.3"
TOOL = "yaml-language-server"
_HEAD = (
    "# yaml-language-server: $schema=../_schemas/{schema}.schema.json\n"
    "apiVersion: poolsmith/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n"
)
_POOL, _CLUSTER = _HEAD.format(schema="node-pool", kind="NodePool"), _HEAD.format(schema="cluster", kind="Cluster")
_VALUES = f"{_CLUSTER}  stack:\n    release: {RELEASE}\n    values:\n      driver:\n        |\n"
THEIRS = {
    "fields of a pool": 17,
    "GPU products": 61,
    "systems": 12,
    "releases": 5,
    "`driver.*` of a cluster's Helm values": 0,
    "`driver.*` of a values file": 25,
}
"""What yaml-language-server offers of these words; test_editor.py asks it, where it is installed (make tools)."""
VALUES_SCHEMA = "profiles/_schemas/values.schema.json"


@dataclass(frozen=True)
class Question:
    """A text with the cursor (`|`) in it; `known` are all words that would be right."""

    what: str
    path: str
    text: str
    known: frozenset[str]

    @property
    def place(self):
        before = self.text.partition("|")[0]
        return before.count("\n"), len(before.rpartition("\n")[2])


def questions():
    catalog = Catalog()
    products = {entry["product"] for entry in store.read_yaml("gpus.yaml")["gpus"]}
    systems = {entry["id"] for entry in store.read_yaml("operating_systems.yaml")["operating_systems"]}
    releases = {tag for tag in catalog.releases.by_tag if catalog.releases.is_supported(tag)}
    driver = frozenset(value_paths().release(RELEASE).root.children["driver"].children)
    fields = json.loads(schema("node-pool"))["$defs"]["PoolSpec"]["properties"]
    return (
        Question("fields of a pool", "profiles/lab/fields.yaml", f"{_POOL}  |\n", frozenset(fields)),
        Question("GPU products", "profiles/lab/gpus.yaml", f"{_POOL}  gpu:\n    product: |\n", frozenset(products)),
        Question("systems", "profiles/lab/systems.yaml", f"{_POOL}  os:\n    id: |\n", frozenset(systems)),
        Question("releases", "profiles/rel/cluster.yaml", f"{_CLUSTER}  stack:\n    release: |\n", frozenset(releases)),
        Question("`driver.*` of a cluster's Helm values", "profiles/val/cluster.yaml", _VALUES, driver),
        Question(
            "`driver.*` of a values file",
            "profiles/lab/values.yaml",
            "# yaml-language-server: $schema=../_schemas/values.schema.json\ndriver:\n  |\n",
            driver,
        ),
    )


def schema(name):
    return (Path(__file__).parents[2] / f"profiles/_schemas/{name}.schema.json").read_text("utf-8")


def write_schemas(root):
    folder = root / "profiles/_schemas"
    folder.mkdir(parents=True)
    for name in ("node-pool", "cluster"):
        (folder / f"{name}.schema.json").write_text(schema(name), "utf-8")
    (root / VALUES_SCHEMA).write_text(values_schema_text(RELEASE), "utf-8")


def answered(root, command):
    """How many of the right words a language server offers, by question."""
    with Editor(root, command) as editor:
        editor.open_folder()
        found = {}
        for one in questions():
            text = one.text.replace("|", "")
            document = editor.document(one.path) | {"languageId": "yaml", "version": 1, "text": text}
            editor.tell("textDocument/didOpen", textDocument=document)
            answer = editor.ask("textDocument/completion", **editor.at(one.path, *one.place))
            items = answer["items"] if isinstance(answer, dict) else answer or ()
            labels = {re.sub(r'^"|"$', "", item["label"]) for item in items}
            found[one.what] = len(labels & one.known)
        return found
