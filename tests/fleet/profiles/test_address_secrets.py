"""A profile with a secret in an address is refused, wherever the address stands, and the secret is never printed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.sample("edge", "lab-t4")

SECRET = "s3cr3tT0ken"
PLACES = {
    "the repository": ("repoURL: https://git.example.com/gpu.git", "repoURL: https://git:{}@git.example.com/gpu.git"),
    "a user alone": ("repoURL: https://git.example.com/gpu.git", "repoURL: https://{}@git.example.com/gpu.git"),
    "its query": ("repoURL: https://git.example.com/gpu.git", "repoURL: https://git.example.com/gpu.git?t={}"),
    "the chart's": ("engine: argocd", "engine: argocd\n    chartRepo: https://a:{}@charts.example.com"),
    "escaped signs": (
        "repoURL: https://git.example.com/gpu.git",
        'repoURL: "https:\\u002f\\x2Fgit:{}@git.example.com/gpu.git"',
    ),
    "two lines": (
        "repoURL: https://git.example.com/gpu.git",
        'repoURL: "https:\\\n      //git:{}@git.example.com/gpu.git"',
    ),
    "a value": (
        "  poolLabel:",
        "    values:\n      driver:\n        env: [{{name: HTTPS_PROXY, value: 'http://a:{}@p.example.com'}}]\n  poolLabel:",
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("output_format", ["text", "json", "github"])
def test_it_is_refused_and_not_printed(sample_project, run_cli, place, output_format):
    old, new = PLACES[place]
    profile = sample_project / "profiles/lab-t4/cluster.yaml"
    text = profile.read_text()
    assert old in text
    profile.write_text(text.replace(old, new.format(SECRET), 1))
    arguments = ["--root", sample_project, "--cluster", "lab-t4", "--format", output_format]
    for verb in ("check", "generate"):
        result = run_cli([verb, *arguments])
        assert result.code == 1
        assert "secret-in-address" in result.out
        assert SECRET not in result.out + result.err
    assert not any(SECRET in path.read_text() for path in (sample_project / "output").rglob("*") if path.is_file())
