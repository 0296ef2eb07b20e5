"""What is offered at a cursor (`|`), in texts that are rarely whole while somebody types."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Position
from poolsmith.interface.app.editor.schema_words import field_at, words_at

POOL, CLUSTER, WAIVERS = "profiles/lab/gpu.yaml", "profiles/lab/cluster.yaml", "policies/waivers.yaml"
HEAD = "apiVersion: poolsmith/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n"
STACK = "apiVersion: poolsmith/v1\nkind: Cluster\nmetadata: {name: a}\nspec:\n  stack:\n"
AFTER = "\n  driver: {source: container}\n"
OFFERED = {
    "an empty file": (POOL, "|", {"apiVersion: ", "kind: ", "metadata:", "spec:"}, {"gpu:"}),
    "the kind, by the file's name": (POOL, "kind: |", {"NodePool"}, {"Cluster", "WaiverList"}),
    "the kind of a cluster's file": (CLUSTER, "kind: Cl|", {"Cluster"}, {"NodePool"}),
    "a kind of policies": ("policies/new.yaml", "kind: |", {"WaiverList", "PrivilegeGrant"}, {"NodePool"}),
    "a version": (POOL, "apiVersion: |\nkind: NodePool\n", {"poolsmith/v1"}, set()),
    "a field": (POOL, f"{HEAD}  g|{AFTER}", {"gpu:", "os:"}, {"driver:"}),
    "a field in braces": (POOL, f"{HEAD}  gpu: {{count: 1, |}}{AFTER}", {"product: ", "mig:"}, {"count: "}),
    "a field in braces that are open": (POOL, f"{HEAD}  gpu: {{count: 1, |{AFTER}", {"product: "}, {"count: "}),
    "a field whose colon is there": (POOL, f"{HEAD}  acknowledge:\n  - fa|: iommu\n", {"fact", "by"}, {"fact: "}),
    "a field of an item": (POOL, f"{HEAD}  acknowledge:\n  - |\n", {"fact: ", "date: "}, set()),
    "a value": (POOL, f"{HEAD}  gpu:\n    product: NV|{AFTER}", {"L40S"}, {"product"}),
    "a value of an item": (POOL, f"{HEAD}  acknowledge:\n  - fact: |\n", {"iommu", "acs"}, set()),
    "a value in quotes": (POOL, f'{HEAD}  os: {{id: ubuntu, version: "|"}}{AFTER}', {"22.04"}, {'"22.04"'}),
    "a value in a quote that is open": (POOL, f'{HEAD}  os: {{id: ubuntu, version: "2|', {"22.04"}, {'"22.04"'}),
    "a value that needs quotes": (POOL, f"{HEAD}  os: {{id: ubuntu, version: |}}{AFTER}", {'"22.04"'}, {"22.04"}),
    "yes or no": (POOL, f"{HEAD}  secureBoot: |{AFTER}", {"true", "false"}, set()),
    "a name of the project": (POOL, f"{HEAD}  extends: [|]{AFTER}", {"a100"}, set()),
    "a name of the project in a list": (POOL, f"{HEAD}  extends:\n    - |{AFTER}", {"a100"}, set()),
    "a release": (CLUSTER, f"{STACK}    release: v|\n", {"v26.3.3"}, set()),
    "a Helm value of the release": (
        CLUSTER,
        f"{STACK}    release: v26.3.3\n    values:\n      driver:\n        |\n",
        {"enabled: ", "rdma:"},
        {"source: "},
    ),
    "a Helm value of an older release": (
        CLUSTER,
        f"{STACK}    release: v25.3.4\n    values:\n      |\n",
        {"driver:"},
        {"spec:"},
    ),
    "a text with Windows' line ends": (POOL, f"{HEAD}  secureBoot: |{AFTER}".replace("\n", "\r\n"), {"true"}, set()),
    "a rule": (WAIVERS, "kind: WaiverList\nspec:\n  waivers:\n  - rule: |\n", {"host-network"}, set()),
    "of a kind that nobody has": (POOL, "kind: Pool\n|", {"spec:"}, set()),
    "in a comment": (POOL, f"{HEAD}  # g|{AFTER}", set(), {"true"}),
    "in a file of others": ("charts/values.yaml", "driver:\n  |\n", set(), {"spec:", "apiVersion: "}),
}


def names(field):
    return {"extends": ("a100",)}.get(field, ())


def placed(text):
    before, _, after = text.partition("|")
    return before + after, Position(before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)


@pytest.mark.parametrize("name", OFFERED)
def test_what_may_stand_at_the_cursor_is_offered(name):
    path, text, wanted, unwanted = OFFERED[name]
    offered = {word.text for word in words_at(path, *placed(text), names)}

    assert wanted <= offered
    assert unwanted & offered == set()


def test_what_is_taken_replaces_the_word_that_was_typed():
    text, place = placed(f"{HEAD}  gpu: {{product: NVI|DIA-L, count: 1}}\n")
    word = next(word for word in words_at(POOL, text, place, names) if word.label == "L40S")
    row = text.split("\n")[place.line - 1]

    assert row[: word.start - 1] + word.text + row[word.end - 1 :] == "  gpu: {product: L40S, count: 1}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}  secure|Boot: true\n", "`spec.secureBoot`"),
        (f"{HEAD}  gpu: {{product: NVIDIA-|L4}}\n", "`spec.gpu.product`"),
        (f"{HEAD}  gpu: {{bog|us: 1}}\n", None),
        (f"{HEAD}  gpu: {{product|\n", None),
        ("a: &a [*a, |]\n", None),
    ],
)
def test_a_field_is_explained_where_it_stands(text, said):
    found = field_at(POOL, *placed(text))

    assert (found and found[1].split("\n")[0]) == said
