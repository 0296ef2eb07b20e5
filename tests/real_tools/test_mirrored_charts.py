"""The sample fleet behind mirrors, by the real helm: the charts name no image of any other registry."""

from __future__ import annotations

import re

import pytest

from control_plane.delivered import release_of
from interface.app.test_mirrored_fleet import MIRROR, copied, put_behind_mirrors
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app.generate import generate
from real_tools.test_helm_value_sets import COMMITTED, helm

__all__ = ["helm"]
_REFERENCE = re.compile(r"[a-z0-9.-]+\.[a-z]+(:\d+)?/[a-z0-9/._-]+(:[\w.-]+|@sha256:\w+)")


def references(node, key=""):
    """Whatever looks like an image, wherever it stands."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from references(value, name)
    elif isinstance(node, list):
        for item in node:
            yield from references(item, key)
    elif isinstance(node, str) and key in ("image", "value", "repository") and _REFERENCE.fullmatch(node):
        yield node


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    root = copied(tmp_path_factory.mktemp("mirrored"))
    put_behind_mirrors(root)
    generate(root)
    return root


@pytest.mark.real("Helm renders every chart of a fleet")
@pytest.mark.tool("helm")
@pytest.mark.parametrize("name", [path.parts[-4] for path in COMMITTED])
def test_no_chart_names_an_image_of_another_registry(helm, fleet, name):
    folder = fleet / "output/clusters" / name
    values = read_documents((folder / "platform/values/gpu-operator.yaml").read_text("utf-8"))[0]

    found = set(references(list(helm(release_of(folder), values, ()).values())))

    assert found
    assert {image for image in found if not image.startswith(f"{MIRROR}/")} == set()
