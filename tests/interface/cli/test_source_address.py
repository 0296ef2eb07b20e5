"""Lines of profiles are links where the build server says where the repository is read."""

from __future__ import annotations

import pytest

from poolsmith.interface.cli.reports import source_address

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "example/gpu",
    "GITHUB_SHA": "4f1c2ab",
}
GITLAB = {"GITLAB_CI": "true", "CI_PROJECT_URL": "https://gitlab.com/example/gpu", "CI_COMMIT_SHA": "4f1c2ab"}
OWN = "https://git.example.com/gpu/src/branch/main"


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({}, ""),
        (GITHUB, "https://github.com/example/gpu/blob/4f1c2ab"),
        (GITLAB, "https://gitlab.com/example/gpu/-/blob/4f1c2ab"),
        (GITHUB | {"GITHUB_ACTIONS": ""}, ""),
        (GITHUB | {"GITHUB_SHA": ""}, ""),
        (GITHUB | {"GITHUB_SERVER_URL": "http://github.example.com"}, ""),
        (GITHUB | {"POOLSMITH_SOURCE": OWN + "/"}, OWN),
        (GITHUB | {"POOLSMITH_SOURCE": ""}, ""),
        ({"POOLSMITH_SOURCE": "javascript:alert(1)"}, ""),
        ({"POOLSMITH_SOURCE": 'https://x" onclick="y'}, ""),
        ({"POOLSMITH_SOURCE": "https://example.com/a b"}, ""),
    ],
)
def test_the_address_of_the_files(monkeypatch, said, address):
    for name in (*GITHUB, *GITLAB, "POOLSMITH_SOURCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)

    assert source_address() == address
