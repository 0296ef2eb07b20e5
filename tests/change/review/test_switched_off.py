"""What a line of a profile takes away of what protects the cluster in the base, and what it may change freely."""

from __future__ import annotations

import shutil

import pytest

from support.git_repository import commit_all, git


@pytest.fixture
def fleet(repository, tmp_path):
    """The profiles and policies of the sample fleet, committed."""
    root = tmp_path / "fleet"
    for name in ("profiles", "policies"):
        shutil.copytree(repository / name, root / name)
    commit_all(root)
    return root


LAB = "profiles/lab-t4/cluster.yaml"
RELEASE = "release: v24.6.1"
LABEL = "poolLabel: example.com/gpu-pool"


def changed(root, path, old, new):
    target = root / path
    text = target.read_text()
    assert old in text, text
    target.write_text(text.replace(old, new, 1))


@pytest.fixture
def losses(fleet, run_cli):
    def review(path, old, new):
        changed(fleet, path, old, new)
        cluster = path.split("/")[1]
        arguments = [
            "--root",
            fleet,
            "--cluster",
            cluster,
            "--policies-from",
            "HEAD",
            "--judge",
            "work-tree",
            "--format",
            "json",
        ]
        found = run_cli(["check", *arguments]).diagnostics
        assert found
        return [(item["primary"]["pointer"], item["message"]) for item in found if item["name"] == "switched-off"]

    return review


HOSTILE = {
    "a Kubernetes without policies": (LAB, 'version: "1.30"', 'version: "1.29"', "/spec/kubernetes/version"),
    "pods of a release that it does not run": (
        LAB,
        RELEASE,
        f"{RELEASE}\n    upgradingFrom: v24.9.2",
        "/spec/stack/upgradingFrom",
    ),
    "a namespace that nobody holds": (LAB, RELEASE, f"{RELEASE}\n    namespace: kube-system", "/spec/stack/namespace"),
    "a namespace that policies do not name": (LAB, RELEASE, f"{RELEASE}\n    namespace: gpu", "/spec/stack/namespace"),
    "a pool label that policies do not name": (LAB, LABEL, "poolLabel: example.com/other", "/spec/poolLabel"),
}
HARMLESS = {
    "an upgrade from what it runs": (LAB, RELEASE, "release: v26.3.3\n    upgradingFrom: v24.6.1"),
    "another Kubernetes with policies": (LAB, 'version: "1.30"', 'version: "1.31"'),
    "a comment": (LAB, RELEASE, f"{RELEASE} # the lab's"),
}


@pytest.mark.rows(3, "a fleet and two checks each")
@pytest.mark.parametrize("case", HOSTILE)
def test_what_protects_may_not_be_switched_off_by_a_profile(losses, case):
    path, old, new, pointer = HOSTILE[case]
    found = losses(path, old, new)
    assert pointer in [place for place, _ in found]


@pytest.mark.rows(2, "a fleet and two checks each")
@pytest.mark.parametrize("case", HARMLESS)
def test_what_takes_nothing_away_is_free(losses, case):
    assert losses(*HARMLESS[case]) == []


EDGE = "profiles/edge/cluster.yaml"
ADDRESS = "repoURL: https://git.example.com/gpu.git"
VERIFIED = f"{ADDRESS}\n    verify: {{secret: release-keys}}"


@pytest.mark.rows(2, "a fleet and two checks each")
@pytest.mark.parametrize(
    "new",
    [
        ADDRESS,
        f"{ADDRESS}\n    verify: {{secret: other-keys}}",
        f"{ADDRESS}\n    sourceRef: {{name: flux-system}}",
        "repoURL: oci://git.example.com/gpu\n    revision: refs/tags/a\n    verify: {secret: release-keys, provider: notation}",
    ],
)
def test_what_the_source_has_to_be_signed_with_is_not_changed_by_a_profile(fleet, losses, new):
    changed(fleet, EDGE, ADDRESS, VERIFIED)
    git(fleet, "commit", "-q", "-a", "-m", "verified")
    found = losses(EDGE, VERIFIED, new)
    assert [message for _, message in found if "is delivered from is" in message]


def test_to_demand_a_signature_is_free(losses):
    assert losses(EDGE, ADDRESS, VERIFIED) == []
