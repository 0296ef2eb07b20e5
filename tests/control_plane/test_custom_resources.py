"""What a real API server stores of a custom resource, and what it refuses."""

from __future__ import annotations

from time import sleep

import pytest

from support.custom_definition import ALWAYS, DEFINITION, KEPT, REFUSED, thing

pytestmark = pytest.mark.real("an API server, asked many times")
PATH = "/apis/example.com/v1/things?dryRun=All"


@pytest.fixture(scope="module")
def client(control_plane):
    server = control_plane.scenario()
    asked = server.client()
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert asked.request("POST", path, DEFINITION).taken
    while asked.request("POST", PATH, thing({})).status == 404:
        sleep(0.05)
    yield asked
    server.end()


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept(client, name):
    given, kept = KEPT[name]
    answer = client.request("POST", PATH, thing(given))

    assert answer.taken, answer.message
    assert answer.body["spec"] == ALWAYS | kept


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(client, name):
    given, place = REFUSED[name]
    answer = client.request("POST", PATH, thing(given))

    assert not answer.taken
    assert place in answer.message
