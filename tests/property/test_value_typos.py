"""One wrong letter in any key that a release reads is found, and the right key is the first that is suggested."""

from __future__ import annotations

import re

import pytest

from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE
from poolsmith.core.facts import store
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_values

TAGS = store.names("charts/gpu-operator")
WANTED = 0.99
TOGETHER = MOST_OF_ONE_RULE // 2
"""Typos of one key that stand side by side in one document."""


def keys_of(release):
    """The path of each key that the release reads, without what users name themselves."""
    pending = [((), release.root)]
    while pending:
        path, node = pending.pop()
        for key, child in node.children.items():
            yield (*path, key), node
            if not (child.free and key not in ("resources", "affinity")):
                pending.append(((*path, key), child))


def typos_of(key):
    for index, letter in enumerate(key):
        yield key[:index] + key[index + 1 :]
        yield key[:index] + ("x" if letter != "x" else "y") + key[index + 1 :]
        yield key[:index] + "q" + key[index:]
        if index + 1 < len(key) and letter != key[index + 1]:
            yield key[:index] + key[index + 1] + letter + key[index + 2 :]
    yield key[:1].upper() + key[1:]
    yield re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), key)
    yield re.sub(r"([A-Z])", lambda match: "-" + match[1].lower(), key)
    yield key.lower()


def nested(path, value):
    for key in reversed(path):
        value = {key: value}
    return value


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
@pytest.mark.rows(2, "releases whose values differ most; a typo in each key of each")
@pytest.mark.parametrize("tag", TAGS)
def test_a_typo_in_any_key_is_found_and_the_right_key_suggested_first(tag):
    release = value_paths().release(tag)
    found = right = 0
    wrong = []
    for path, parent in keys_of(release):
        typos = sorted(set(typos_of(path[-1])) - parent.children.keys() - {""})
        told = {}
        for first in range(0, len(typos), TOGETHER):
            values = nested(path[:-1], dict.fromkeys(typos[first : first + TOGETHER]))
            for item in judge_values(values, release).findings:
                told.setdefault(item.finding.place, item.finding.help or "")
        for typo in typos:
            misspelt = (*path[:-1], typo)
            assert misspelt in told, f"{'.'.join(misspelt)} is not found with {tag}"
            found += 1
            if f"did you mean `{'.'.join(path)}`?" in told[misspelt]:
                right += 1
            else:
                wrong.append(f"{'.'.join(misspelt)}: {told[misspelt]}")
    print(f"{tag}: {right} of {found} typos lead to the right key, {right / found:.2%}")

    assert found > 5_000
    assert right / found >= WANTED, wrong[:40]
