"""Each field of a profile or a policy changes what is generated, or is listed here with what it does instead.

The fields are those of the records, so that a new one is tried as soon as it is declared.
"""

from __future__ import annotations

from itertools import islice

import pytest

from poolsmith.core.record import record
from poolsmith.core.shape.field import spec
from poolsmith.fleet.profiles.node_pool import PoolSpec, Sandbox
from poolsmith.interface.app.schemas import KINDS
from property.every_field.bases import BASES, PLACES
from property.every_field.model import leaves, texts, variants
from property.every_field.projects import Seen, differ, named
from support.circles import DEEP

VALUES = {
    "Cluster.ring": ("lab", "stable"),
    "Cluster.stack.release": ("v26.3.2", "v24.9.1"),
    "Cluster.stack.upgradingFrom": ("v26.3.2",),
    "Cluster.stack.values": ({"dcgmExporter": {"enabled": False}},),
    "Cluster.stack.dcgmExporter.release": ("4.5.3-4.8.2",),
    "Cluster.delivery.verify.identities[].issuer": ("^https://a.example.com$",),
    "Cluster.delivery.verify.identities[].subject": ("^https://a.example.com/x$",),
    "NodePool.extends": (["other"],),
    "NodePool.runtime.name": ("docker", "cri-o"),
    "NodePool.gpu.product": ("NVIDIA-A10",),
    "NodePool.gpu.mig.devices[].devices": ([1],),
    "NodePool.gpu.mig.devices[].migDevices": ({"1g.10gb": 1},),
    "NodePool.gpu.vgpu.devices[].vgpuDevices": ({"A40-24Q": 2},),
    "NodePool.sharing.timeSlicing.resource": ("nvidia.com/mig-2g.20gb",),
    "NodePool.sharing.timeSlicing.resources[].resource": ("nvidia.com/mig-2g.20gb",),
    "NodePool.acknowledge[].fact": ("acs",),
}
"""Values that the type of a field can't tell, mostly names of something that has to exist."""

ONLY_SAID = {
    "Cluster.acknowledge[].fact": ("driver objects", "invalid-value"),
    "Cluster.delivery.version": ("driver objects", "engine-version"),
    "Cluster.beside": ("driver objects", "nothing-beside"),
    "NodePool.arch": ("sandboxes", "sandbox-contradiction"),
    "NodePool.os.imageTag": ("a system that the catalog does not know", "unknown-operating-system"),
    "NodePool.gpu.architecture": ("GPUs that the catalog does not know", "unknown-gpu"),
    "NodePool.sandbox.ccMode": ("sandboxes", "sandbox-contradiction"),
    "NodePool.nic": ("one policy", "field-without-effect"),
    "NodePool.secureBoot": ("driver objects", "secure-boot"),
    "NodePool.acknowledge[].fact": ("sandboxes", "host-facts-undeclared"),
    "NodePool.driver.fabricManager": ("one policy", "field-without-effect"),
    "NodePool.driver.imex": ("one policy", "field-without-effect"),
    "NodePool.toolkit.version": ("a driver of the system", "vulnerable-stack"),
}
"""Fields that change no byte of a sound project: the base and the rule that show what they are for."""

ONLY_LISTED = {
    "Cluster.owner": "who answers for the cluster, for other tools",
    "NodePool.owner": "who answers for the nodes, for other tools",
    "NodePool.nodes.count": "how many nodes, for reports",
}
"""Fields that are seen in `poolsmith inventory` alone."""

_REVIEW = "names who has accepted it; git shows it to whoever reviews the change"
_UNKNOWN = (
    "matched with what can't be evaluated of a cluster, of which a sound one has nothing: tests/guard/policies/supply"
)
_SETTING = "matched with a setting that a change brings, which needs a base: tests/change/review"
NOTHING = {
    "NodePool.nodes.rollMinutes": "how long a roll-out takes, which `diff` alone tells: tests/change/diff/test_roll_minutes.py",
    "Cluster.acknowledge[].by": _REVIEW,
    "Cluster.acknowledge[].date": _REVIEW,
    "NodePool.acknowledge[].by": _REVIEW,
    "NodePool.acknowledge[].date": _REVIEW,
    "NodePool.driver.dmaBuf": "judged beside an old kernel or proprietary modules, of which the bases have none",
    "PrivilegeEnforcement.scripts": "for operands whose script is known by its length alone; here there are none",
    "SupplyPolicy.acceptUnknown[].unit": _UNKNOWN,
    "SupplyPolicy.acceptUnknown[].source": _UNKNOWN,
    "SupplyPolicy.acceptUnknown[].revision": _UNKNOWN,
    "SupplyPolicy.acceptSettings[].cluster": _SETTING,
    "SupplyPolicy.acceptSettings[].workload": _SETTING,
    "SupplyPolicy.acceptSettings[].setting": _SETTING,
}
"""Fields that do none of this, each with its reason."""

LISTED = ONLY_SAID.keys() | ONLY_LISTED.keys() | NOTHING.keys()
ELSEWHERE = {
    "NodePoolBase": "the fields of a pool, below",
    "PolicyTest": "judged by `policy test`, not by what is generated: tests/guard/policies",
    "CatalogPack": "read when packs are loaded: tests/gpu/catalog",
    "CatalogLock": "read when packs are loaded: tests/gpu/catalog",
    "Baseline": "read by `check` of repositories without profiles: tests/guard/policies",
    "TeamList": "read by `gather`: tests/interface/app",
    "ExternalNames": "read by `check` of repositories: tests/guard/policies/test_external_names.py",
}
PROFILES = ("Cluster", "NodePool")
FIELDS = {f"{kind}.{leaf.name}": (kind, leaf) for kind in PLACES for leaf in leaves(KINDS[kind].spec)}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return Seen(tmp_path_factory.mktemp("every-field"))


def bases_for(kind, name):
    """All that have the kind, the likeliest first."""
    return sorted(
        (base for base in BASES if kind in base.specs),
        key=lambda base: max((len(start) for start in base.best_for if name.startswith(start)), default=0),
        reverse=True,
    )


def projects(base, kind, leaf, most=None, cls=None):
    """A base with several values of one field, each made when it is asked for."""
    cls = cls or KINDS[kind].spec
    specs = variants(cls, base.specs[kind], leaf, VALUES.get(f"{kind}.{leaf.name}", ()))
    return (base.files(kind, item) for item in islice(specs, most))


def matters(seen, kind, leaf, cls=None):
    """Whether some base is generated otherwise with another value; a policy may change what is found instead."""
    ways = (seen.generated,) if kind in PROFILES else (seen.judged, seen.generated)
    return any(
        differ(see, projects(base, kind, leaf, cls=cls))
        for base in bases_for(kind, f"{kind}.{leaf.name}")
        for see in ways
    )


def test_each_kind_is_tried_or_proved_elsewhere():
    assert PLACES.keys() | ELSEWHERE.keys() == KINDS.keys()
    assert not PLACES.keys() & ELSEWHERE.keys()


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_a_base_is_sound(seen, base):
    assert seen.generated(base.files()) is not None


def test_lists_name_fields_that_there_are():
    assert FIELDS.keys() >= LISTED
    assert FIELDS.keys() >= VALUES.keys()
    assert len(LISTED) == len(ONLY_SAID) + len(ONLY_LISTED) + len(NOTHING)


@pytest.mark.rows(60, "fields, each tried with several values")
@pytest.mark.parametrize("name", [name for name in FIELDS if name not in LISTED])
def test_each_field_changes_what_is_generated_or_is_listed(seen, name):
    assert matters(seen, *FIELDS[name])


@pytest.mark.parametrize("name", ONLY_SAID)
def test_a_field_that_changes_no_byte_is_judged(seen, name):
    kind, leaf = FIELDS[name]
    base, rule = ONLY_SAID[name]
    (best,) = (item for item in BASES if item.name == base)

    assert rule in named(seen.judged, list(projects(best, kind, leaf, 4)))
    assert_changes_no_byte(seen, name)


@pytest.mark.parametrize("name", ONLY_LISTED)
def test_a_field_for_other_tools_is_in_the_inventory(seen, name):
    kind, leaf = FIELDS[name]
    made = list(projects(BASES[0], kind, leaf, 3))

    assert differ(seen.listed, made)
    assert not differ(seen.judged, made)
    assert_changes_no_byte(seen, name)


@pytest.mark.parametrize("name", NOTHING)
def test_a_field_that_is_listed_as_without_effect_has_none(seen, name):
    kind, leaf = FIELDS[name]
    made = list(projects(bases_for(kind, name)[0], kind, leaf, 3))

    assert not differ(seen.judged, made)
    assert not differ(seen.listed, made)
    assert_changes_no_byte(seen, name)


def assert_changes_no_byte(seen, name):
    """In no base, with the first values; every night in all of them."""
    kind, leaf = FIELDS[name]
    found = bases_for(kind, name)
    tried = found if DEEP else found[:2]

    assert [base.name for base in tried if differ(seen.generated, projects(base, kind, leaf, 3))] == []


@pytest.mark.parametrize("base", BASES[:3], ids=lambda base: base.name)
def test_a_base_says_what_a_pool_says(seen, base):
    apart = base.files("NodePool", {"extends": ["other"]})
    apart["profiles/_bases/other.yaml"]["spec"] = base.pool

    assert seen.generated(apart) == seen.generated(base.files())


@record
class ToySandbox(Sandbox):
    unread: bool = spec("Nothing reads it.", default=False)


@record
class ToyPool(PoolSpec):
    sandbox: ToySandbox = spec("With a field more.", default=ToySandbox())
    unread: bool = spec("Nothing reads it.", default=False)


def test_a_new_field_that_nothing_reads_is_found(seen, monkeypatch):
    monkeypatch.setattr("poolsmith.fleet.profiles.load_cluster.PoolSpec", ToyPool)
    monkeypatch.setattr("poolsmith.fleet.profiles.bases.PoolSpec", ToyPool)
    new = [leaf for leaf in leaves(ToyPool) if f"NodePool.{leaf.name}" not in FIELDS]
    known = [leaf for leaf in leaves(ToyPool) if leaf.name == "sandbox.defaultMemory"]

    assert sorted(leaf.name for leaf in new) == ["sandbox.unread", "unread"]
    assert [matters(seen, "NodePool", leaf, ToyPool) for leaf in (*new, *known)] == [False, False, True]


@pytest.mark.parametrize(
    ("pattern", "some"),
    [
        (r"v\d+\.\d+", "v0.0"),
        (r"a|b[0-9]{2}", "b11"),
        (r"(x/)?[a-z]{3,5}", "x/aaa"),
        (r"(?!refs/)[^/\s]{2}", "aa"),
    ],
)
def test_texts_are_made_from_patterns(pattern, some):
    assert some in texts(pattern)


def test_there_are_several_values_of_each_field():
    few = [
        name
        for name, (kind, leaf) in FIELDS.items()
        if all(len(list(projects(base, kind, leaf, 2))) < 2 for base in bases_for(kind, name))
    ]
    assert few == []
