"""The recorded verdicts on damaged custom resources are those of the API server of this run."""

from __future__ import annotations

import pytest

from support.circles import DEEP
from support.recordings import recording
from support.server_verdicts import damaged_resources, definitions

pytestmark = pytest.mark.real("an API server, asked many times")

RECORDED = recording("server_verdicts")
KEYS = sorted(RECORDED) if DEEP else ["v26.7.0/NodeFeatureRule"]


@pytest.mark.parametrize("key", KEYS)
def test_the_server_says_what_is_recorded(control_plane, key):
    release, kind = key.split("/")
    server = control_plane.scenario()
    try:
        client = server.client()
        for item in definitions(release):
            if item["spec"]["names"]["kind"] == kind:
                assert client.apply(item).taken
        answers = [client.apply(body, dry_run=True, force=True) for _, body in damaged_resources(release, kind)]
    finally:
        server.end()

    assert "".join("t" if answer.taken else "r" for answer in answers) == RECORDED[key]
