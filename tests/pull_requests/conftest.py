"""Repositories with the sample fleet, one for each cut of it; tests take turns with them."""

import zlib

import pytest

from pull_requests.fleet import Fleet
from support.circles import parameters


@pytest.fixture(scope="session")
def fleets(tmp_path_factory):
    """The fleet that a change is made to."""
    known = {}

    def find(change):
        if change.cluster not in known:
            root = tmp_path_factory.mktemp(change.cluster or "fleet")
            known[change.cluster] = Fleet(root, [change.cluster] if change.cluster else None)
        return known[change.cluster]

    return find


def some_of(changes, each):
    """Of every kind in every cluster some, always the same ones; one parameter stands for those of the deep run."""
    taken = {}
    first, rest = [], []
    for change in sorted(changes, key=lambda change: zlib.crc32(change.name.encode())):
        kind = (change.kind, change.cluster)
        taken[kind] = taken.get(kind, 0) + 1
        (rest if taken[kind] > each.get(change.kind, 1) else first).append(change)
    return parameters(first, rest, lambda change: change.name)
