"""Repositories with the sample fleet, one for each cut of it; tests take turns with them."""

import os
import zlib

import pytest

from pull_requests.fleet import Fleet

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


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


def parameters(first, rest, name):
    """All of them in a deep run; else the first ones, and a test that is skipped."""
    shown = [pytest.param(item, id=name(item)) for item in (*first, *(rest if DEEP else ()))]
    skipped = pytest.mark.skip(reason="runs with HYPOTHESIS_PROFILE=deep")
    return shown if DEEP or not rest else [*shown, pytest.param(None, id=f"{len(rest)} more", marks=skipped)]
