"""One configuration as a profile, as Helm values, as a ClusterPolicy and as a cluster that runs: the same facts are told
on each surface.

A fact is told by one rule on several surfaces, or by the rules that the table of surfaces pairs.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.app import check_paths
from poolsmith.interface.app.check_project import check_project
from poolsmith.interface.app.live.discover import discover
from poolsmith.interface.app.live.verify import Source
from poolsmith.kubernetes.live.api_resources import Reading
from property.surfaces import one_guest_pool as guests
from property.surfaces.one_pool import as_cluster, as_objects, as_profile, as_values, pools
from support.circles import DEEP

FACTS = {
    "the driver and the GPU": ("PSM214", "PSM215", "PSM239", "PSM268"),
    "what a driver can't have beside it": ("PSM213", "PSM292", "PSM261"),
    "sharing": ("PSM241", "PSM278"),
    "MIG": ("PSM240", "PSM299"),
    "the container runtime": ("PSM222", "PSM297"),
}
BY_WORDS = {
    # what the operator says of features beside a driver is the same fact, in its own words
    "not supported along with pre-compiled": "what a driver can't have beside it",
    "precompiled drivers exist for": "an image of the driver",
    "GPUDirect Storage needs the open kernel modules": "what a driver can't have beside it",
}
OF_GUESTS = {"what guests get": ("PSM231",), "vGPUs": ("PSM131",)}
EXAMPLES = 600 if DEEP else 25


CODE = re.compile(r"PSM\d{3}")


def facts_of(codes, messages):
    """What is told in somebody's own words counts as that, whatever its code."""
    known = {fact for fact, rules in (FACTS | OF_GUESTS).items() if not codes.isdisjoint(rules)}
    return frozenset(known | {fact for words, fact in BY_WORDS.items() if any(words in text for text in messages)})


def told(diagnostics, least=(Severity.ERROR,)):
    found = [item for item in diagnostics if item.severity in least]
    codes = {item.code for item in found if not any(words in item.message for words in BY_WORDS)}
    return facts_of(codes, [item.message for item in found])


def of_files(write, pool):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(pool, root)
        found = check_paths(root, [root / "g"], nodes=root / "nodes.yaml", release=pool.release, everything=True)
    return found.diagnostics


def of_profile(pool, write=as_profile):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(pool, root)
        return check_project(root, progress=lambda done, total: None).diagnostics


def of_cluster(pool):
    """What `discover` says: of its proposal, of what it had to leave out, and of the nodes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        bundle = as_cluster(pool, root)
        (root / "project").mkdir()
        found = discover(root / "project", "c", Source(reading=Reading(), file=bundle))
    return [*found.refused, *found.warned, *found.differences]


def told_of_cluster(lines):
    plain = [line for line in lines if not any(words in line for words in BY_WORDS)]
    return facts_of({code for line in plain for code in CODE.findall(line)}, lines)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pools())
def test_one_pool_is_judged_alike_on_each_surface(pool):
    profile, values, objects = of_profile(pool), of_files(as_values, pool), of_files(as_objects, pool)
    for name, found in (("profile", profile), ("values", values), ("objects", objects)):
        note(
            f"{name}: " + "; ".join(f"{item.code} {item.message}" for item in found if item.severity is Severity.ERROR)
        )

    assert told(profile) == told(values) == told(objects)
    live, told_somewhere = of_cluster(pool), (Severity.ERROR, Severity.WARNING)
    note("cluster: " + "; ".join(live))
    warned = frozenset().union(*(told(found, told_somewhere) for found in (profile, values, objects)))
    assert told(profile) <= told_of_cluster(live) <= warned


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(guests.guest_pools())
def test_one_pool_of_guests_is_judged_alike_on_each_surface(pool):
    profile = told(of_profile(pool, guests.as_profile)) & OF_GUESTS.keys()
    values, objects = (
        told(of_files(write, pool)) & OF_GUESTS.keys() for write in (guests.as_values, guests.as_objects)
    )

    assert profile == values == objects
