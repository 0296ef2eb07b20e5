"""What Helm values of a change bring about, held against a base: in real repositories."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy

import pytest
import yaml

from poolsmith.interface.app import generate
from support.git_repository import commit_all, git

CLUSTER = "edge"
FILE = f"profiles/{CLUSTER}/cluster.yaml"
TODAY = "2026-11-20"
LABELS = {"team": "gpu"}
PRELOAD = [{"name": "LD_PRELOAD", "value": "/x.so"}]
EXPORTER = "gpu-operator/DaemonSet/nvidia-dcgm-exporter"


@pytest.fixture(scope="module")
def base(tmp_path_factory, repository):
    """A repository with one cluster of the sample fleet, committed."""
    root = tmp_path_factory.mktemp("fleet")
    for folder in (f"profiles/{CLUSTER}", "profiles/_bases", "policies"):
        shutil.copytree(repository / folder, root / folder)
    assert generate(root).written
    commit_all(root)
    return root


@pytest.fixture
def judge(base, tmp_path, run_cli):
    root = tmp_path / "change"
    shutil.copytree(base, root)

    def judged(edit, *, commit_first=None, supply=None):
        document = yaml.safe_load((root / FILE).read_text("utf-8"))
        if commit_first is not None:
            _write(root, commit_first(deepcopy(document)))
            git(root, "commit", "-qam", "base")
        if supply is not None:
            path = root / "policies/supply.yaml"
            policy = yaml.safe_load(path.read_text("utf-8"))
            policy["spec"]["acceptSettings"] = supply
            path.write_text(yaml.safe_dump(policy), "utf-8")
            git(root, "commit", "-qam", "accepted")
        _write(root, edit(document))
        generate(root)
        flags = [
            "--policies-from",
            "HEAD",
            "--judge",
            "work-tree",
            "--today",
            TODAY,
            "--cluster",
            CLUSTER,
            "--jobs",
            "1",
            "--format",
            "json",
        ]
        found = json.loads(run_cli(["check", "--root", root, *flags]).out)["diagnostics"]
        return [item for item in found if item["name"] in ("unaccepted-setting", "unseen-value")]

    return judged


def _write(root, document):
    (root / FILE).write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")


def values(tree):
    def edit(document):
        stack = document["spec"]["stack"]
        stack["values"] = {**stack.get("values", {}), **tree}
        return document

    return edit


GAINS = {
    "a library that is loaded first": ({"devicePlugin": {"env": PRELOAD}}, "env[LD_PRELOAD].value=/x.so"),
    "other arguments": ({"dcgmExporter": {"args": ["-d", "f"]}}, "args[-d]=f"),
    "a file that root writes": (
        {"devicePlugin": {"env": [{"name": "NVIDIA_CONTAINER_RUNTIME_DEBUG", "value": "/etc/cron.d/x"}]}},
        "env[NVIDIA_CONTAINER_RUNTIME_DEBUG].value=/etc/cron.d/x",
    ),
    "a device": (
        {"devicePlugin": {"resources": {"limits": {"devices.kubevirt.io/kvm": 1}}}},
        "resources.limits.devices.kubevirt.io/kvm=1",
    ),
    "an annotation that runtimes obey": (
        {"daemonsets": {"annotations": {"io.katacontainers.config.hypervisor.kernel": "/x"}}},
        "metadata.annotations.io.katacontainers.config.hypervisor.kernel=/x",
    ),
    "another repository": ({"toolkit": {"image": "cuda"}}, "image=nvcr.io/nvidia/k8s/cuda"),
    "a class of its own": ({"daemonsets": {"priorityClassName": "system-cluster-critical"}}, "priorityClassName"),
    "an object of its own": (
        {"extraObjects": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}]},
        "kind=Namespace",
    ),
}
FREE = {
    "memory": {"dcgmExporter": {"resources": {"limits": {"memory": "1Gi"}}}},
    "memory of a subchart": {"node-feature-discovery": {"worker": {"resources": {"requests": {"memory": "64Mi"}}}}},
    "labels": {"daemonsets": {"labels": LABELS}},
    "what is logged": {"devicePlugin": {"env": [{"name": "LOG_LEVEL", "value": "debug"}]}},
    "two masters of NFD": {"node-feature-discovery": {"master": {"replicaCount": 2}}},
    "how drivers are replaced": {"driver": {"upgradePolicy": {"maxParallelUpgrades": 3}}},
    "a tag": {"dcgmExporter": {"version": "4.9.0-4.9.1-distroless"}},
}


@pytest.mark.rows(3, "a repository and two checks each")
@pytest.mark.parametrize("what", GAINS)
def test_what_nobody_has_accepted_is_named_at_the_line_of_its_value(judge, what):
    tree, gained = GAINS[what]
    found = judge(values(tree))

    assert {item["name"] for item in found} == {"unaccepted-setting"}
    assert any(gained in item["message"] for item in found)
    assert {item["primary"]["path"] for item in found} == {FILE}
    assert all(item["primary"]["pointer"].startswith("/spec/stack/values/") for item in found)


@pytest.mark.rows(2, "a repository and two checks each")
@pytest.mark.parametrize("what", FREE)
def test_what_gives_nothing_needs_nobody(judge, what):
    assert judge(values(FREE[what])) == []


def test_what_the_base_has_stays(judge):
    with_args = values({"dcgmExporter": {"args": ["-d", "f"]}})

    assert judge(with_args, commit_first=with_args) == []


def test_what_is_taken_back_is_free(judge):
    assert judge(lambda document: document, commit_first=values({"devicePlugin": {"env": PRELOAD}})) == []


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
def test_what_kept_a_pod_in_its_place_is_missed(judge):
    kept = [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}]
    (found,) = judge(lambda document: document, commit_first=values({"devicePlugin": {"env": kept}}))

    assert "no longer spec.containers[nvidia-device-plugin].env[ACCEPT_NVIDIA" in found["message"]


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_what_sleeps_is_refused(judge):
    (found,) = judge(values({"gds": {"image": "of-somebody"}}))

    assert found["name"] == "unseen-value"
    assert "gds.image" in found["message"]


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
@pytest.mark.parametrize(("expires", "passes"), [("2027-01-31", True), ("2026-11-19", False)])
def test_a_setting_that_the_base_accepts_passes_until_its_day(judge, expires, passes):
    accepted = {
        "cluster": CLUSTER,
        "workload": EXPORTER,
        "setting": "spec.containers[nvidia-dcgm-exporter].args[-d]=f",
        "reason": "one device only",
        "owner": "gpu-platform",
        "expires": expires,
    }

    assert (judge(values({"dcgmExporter": {"args": ["-d", "f"]}}), supply=[accepted]) == []) is passes


@pytest.mark.deep("a whole run, 2 s; its parts have tests of their own")
def test_what_a_finding_prints_is_all_that_has_to_be_accepted(judge):
    """Also of what several objects gain; and it is no more than a screen."""
    tree = values({"daemonsets": {"annotations": {"gpu.example.org/team": "vision"}}})
    (found,) = judge(tree)
    _, *entries = found["help"].splitlines()
    accepted = yaml.safe_load("\n".join(entries))
    for item in accepted:
        item |= {"reason": "whose it is", "owner": "gpu-platform", "expires": "2027-01-31"}

    assert len(entries) <= 9
    assert judge(tree, supply=accepted) == []
