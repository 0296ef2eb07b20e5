"""An entry that is written as the changes of another one reads as the whole entry."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.facts import store
from tools.entry_changes import changes, changes_text

SCALARS = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)
ENTRIES = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(ENTRIES, ENTRIES)
def test_changes_make_the_one_of_the_other(old, new):
    told = json.loads(changes_text("v1.0.0", old, new))

    assert told["like"] == "v1.0.0"
    made = store.changed(json.loads(json.dumps(old)), told["changes"])
    assert json.dumps(made, sort_keys=True) == json.dumps(new, sort_keys=True)


@given(ENTRIES)
def test_an_entry_changes_nothing_of_itself(entry):
    assert list(changes(entry, entry)) == []


def test_patch_releases_stand_as_changes_of_a_whole_entry_of_their_line():
    for folder in ("charts/gpu-operator", "crds", "nvidia_driver", "operands", "projection"):
        for tag in store.names(folder):
            written = json.loads((store.DATA / folder / f"{tag}.json").read_text("utf-8"))
            if store.LIKE in written:
                other = json.loads((store.DATA / folder / f"{written[store.LIKE]}.json").read_text("utf-8"))
                assert store.LIKE not in other
                assert written[store.LIKE].rpartition(".")[0] == tag.rpartition(".")[0]
            assert store.read_json(f"{folder}/{tag}.json")["release"] == tag
