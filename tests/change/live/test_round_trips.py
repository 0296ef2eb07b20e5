"""A cluster of any shape that can be installed comes back from `discover` as itself, behind mirrors, too."""

from __future__ import annotations

import random
import shutil

import pytest
import yaml

from change.live.conftest import ROOT
from poolsmith.interface.app.live.discover import discover
from poolsmith.interface.app.live.verify import Source
from poolsmith.kubernetes.live.api_resources import Reading
from poolsmith.kubernetes.live.snapshot import to_text
from support.live_cluster import bundle_of, view

CLUSTERS = sorted(path.name for path in (ROOT / "output/clusters").iterdir())
HOSTS = ("nvcr.io", "registry.k8s.io")


def fleets():
    """Two of each sample cluster, at random behind mirrors and with secrets."""
    chance = random.Random(25)
    for name in CLUSTERS:
        for _ in range(2):
            mirrored = HOSTS if chance.random() < 0.7 else ()
            place = chance.choice(("registry.example.com", "mirror.example.com:5000/gpu"))
            secrets = chance.sample(["regcred", "ngc-secret"], chance.randint(0, 2))
            registry = {"mirrors": {host: f"{place}/{host.partition('.')[0]}" for host in mirrored}}
            yield name, registry | ({"pullSecrets": secrets} if secrets else {})


FLEETS = tuple(fleets())


@pytest.mark.rows(6, "each plans a whole cluster twice")
@pytest.mark.parametrize(("name", "registry"), FLEETS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_cluster_comes_back_as_it_is(tmp_path, name, registry):
    shutil.copytree(ROOT / "profiles", tmp_path / "fleet/profiles")
    path = tmp_path / "fleet/profiles" / name / "cluster.yaml"
    body = yaml.safe_load(path.read_text())
    body["spec"]["registry"] = registry
    path.write_text(yaml.safe_dump(body, sort_keys=False))
    saved = tmp_path / "saved.json"
    saved.write_text(to_text(bundle_of(view(tmp_path / "fleet", name))))
    found = discover(tmp_path / "empty", name, Source(reading=Reading(), file=saved))
    cluster = yaml.safe_load(found.profiles[0].text)["spec"]

    assert found.refused == ()
    assert [text for text in found.differences if "`Application/" not in text] == []  # of an Argo CD elsewhere
    seen = cluster.get("registry", {}).get("mirrors", {})
    assert (
        seen.items() <= registry["mirrors"].items()
    )  # a cluster without feature discovery has no image of its registry
    assert seen.keys() >= registry["mirrors"].keys() - {"registry.k8s.io"}
    assert sorted(cluster.get("registry", {}).get("pullSecrets", [])) == sorted(registry.get("pullSecrets", []))


def test_there_are_twenty():
    assert len(FLEETS) >= 20
