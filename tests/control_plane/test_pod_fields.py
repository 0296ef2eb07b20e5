"""The verdicts on words in pods are those of the API server of this run."""

from __future__ import annotations

import pytest

from support.pod_fields import words

pytestmark = pytest.mark.real("an API server, asked many times")


def test_the_server_says_what_is_written_down(control_plane):
    server = control_plane.scenario()
    try:
        client = server.client()
        differ = [
            name
            for name, body, verdict in words()
            if ("t" if client.apply(body, dry_run=True, force=True).taken else "r") != verdict
        ]
    finally:
        server.end()

    assert differ == []
