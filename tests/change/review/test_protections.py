"""What protects a pool, line by line, and which changes lose a line; what pools name, and how their nodes boot."""

from __future__ import annotations

import shutil
from copy import deepcopy
from types import SimpleNamespace

import pytest
import yaml

from poolsmith.change.review.pool_settings import gained_by_pools
from poolsmith.change.review.protections import lost_protections, of_objects, of_pool
from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

CLUSTER = "sealed"


@pytest.fixture(scope="module")
def seen_with(repository, tmp_path_factory):
    """The cluster of the sample fleet after an edit of its profiles, by name."""

    def planned(edit=None):
        root = tmp_path_factory.mktemp("fleet")
        for name in ("_bases", CLUSTER):
            shutil.copytree(repository / "profiles" / name, root / "profiles" / name)
        folder = root / "profiles" / CLUSTER
        documents = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in folder.glob("*.yaml")}
        if edit is not None:
            edit(documents)
        for path in folder.glob("*.yaml"):
            path.unlink()
        for name, document in documents.items():
            (folder / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        project = open_project(root)
        (files,) = project.fleet.clusters
        found = plan_cluster(project, files)
        assert found.plan is not None, [item.message for item in found.loaded.problems]
        return SeenCluster(loaded=found.loaded, plan=found.plan, prediction=found.prediction)

    return planned


@pytest.fixture(scope="module")
def base(seen_with):
    return seen_with()


def nothing_accepted(_cluster, _key, _text):
    return False


def spec(pool, **fields):
    def edit(documents):
        documents[pool]["spec"] |= fields

    return edit


def with_arguments(pool, *arguments):
    return spec(pool, kernel={"args": list(arguments)})


def without_sandbox(documents):
    documents["untrusted"]["spec"] |= {
        "workload": "container",
        "driver": {"source": "container", "version": "580.126.20"},
    }


def taken_over(documents):
    """Its nodes go to a pool of another name."""
    other = deepcopy(documents["containers"])
    other["metadata"]["name"] = "more"
    other["spec"]["nodes"] = {"labelValue": "untrusted"}
    del documents["untrusted"]
    documents["more"] = other


def plain_kata(documents):
    documents["confidential"]["spec"] |= {"workload": "kata"}
    documents["confidential"]["spec"].pop("sandbox")


ACKNOWLEDGED = [
    {"fact": fact} for fact in ("iommu", "acs", "snp-host", "kubelet-request-timeout", "kubelet-image-runtime-class")
]
LOST = {
    "Kata": (without_sandbox, {"pool/untrusted: sandbox"}),
    "Kata by another pool": (taken_over, {"pool/more: sandbox", "pool/more: iommu"}),
    "memory of guests and GPUs": (
        plain_kata,
        {"pool/confidential: confidential memory", "pool/confidential: CC mode"},
    ),
    "the IOMMU": (
        spec("confidential", kernel={"args": ["modprobe.blacklist=nouveau"]}, acknowledge=ACKNOWLEDGED),
        {"pool/confidential: iommu"},
    ),
}
KEPT = {
    "nothing changes": lambda documents: None,
    "more memory": lambda documents: documents["confidential"]["spec"]["sandbox"].update(defaultMemory=65_536),
    "the IOMMU of another vendor": with_arguments("untrusted", "amd_iommu=on", "modprobe.blacklist=nouveau"),
    "a pool is gone": lambda documents: documents.pop("untrusted") and None,
    "more nodes": spec("untrusted", nodes={"count": 9}),
}


def losses(before, after, accepts=nothing_accepted):
    return list(lost_protections(ClusterChange(CLUSTER, before, after), accepts))


def said(found):
    """Keys and names, as the entries of the help have them."""
    entries = [entry for item in found for entry in yaml.safe_load("\n".join(item.help.splitlines()[1:]))]
    return {f"{item['workload']}: {item['setting'].removeprefix('no longer ')}" for item in entries}


@pytest.mark.parametrize("what", LOST)
def test_a_lost_protection_is_told_in_words_with_its_entry(base, seen_with, what):
    edit, expected = LOST[what]
    found = losses(base, seen_with(edit))

    assert said(found) == expected
    assert all(item.name == "switched-off" and "would lose a protection" in item.message for item in found)
    assert all(item.primary.span.path.startswith(f"profiles/{CLUSTER}/") for item in found)


@pytest.mark.parametrize("what", KEPT)
def test_what_keeps_its_protections_is_free(base, seen_with, what):
    assert losses(base, seen_with(KEPT[what])) == []


def test_a_loss_that_the_base_accepts_passes(base, seen_with):
    accepted = {(CLUSTER, "pool/untrusted", "no longer sandbox")}

    assert losses(base, seen_with(without_sandbox), lambda *key: key in accepted) == []


def test_to_gain_a_protection_is_free(base, seen_with):
    assert losses(seen_with(without_sandbox), base) == []


def test_each_sort_of_protection_of_a_pool_is_a_line(base):
    names = {pool.name: [item.name for item in of_pool(pool)] for pool in base.plan.pools}

    assert names == {
        "confidential": ["sandbox", "confidential memory", "CC mode", "iommu"],
        "containers": [],
        "untrusted": ["sandbox", "iommu"],
    }


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("selinux=1", "selinux"),
        ("enforcing=1", "selinux enforcing"),
        ("apparmor=1", "apparmor"),
        ("lockdown=integrity", "lockdown"),
        ("module.sig_enforce=1", "signed modules"),
        ("mitigations=auto", "mitigations"),
        ("lsm=landlock,lockdown", "security modules"),
        ("selinux=0", None),
        ("mitigations=off", None),
        ("intel_iommu=off", None),
    ],
)
def test_an_argument_of_the_kernel_protects_by_its_value(base, seen_with, argument, name):
    protected = seen_with(with_arguments("containers", argument))
    found = losses(protected, base)

    assert said(found) == ({f"pool/containers: {name}"} if name else set())


CONFINED = {
    "seccomp": ({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}, {}),
    "AppArmor": ({"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}}}, {}),
    "SELinux": ({"securityContext": {"seLinuxOptions": {"type": "container_t"}}}, {}),
    "user namespace": ({"hostUsers": False}, {}),
    "seccomp of container main": ({}, {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}),
    "AppArmor of container main": ({}, {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}),
    "SELinux of container main": ({}, {"securityContext": {"seLinuxOptions": {"type": "container_t"}}}),
    "digest of the image of container main": ({}, {"image": f"nvcr.io/x@sha256:{'0' * 64}"}),
}
LOOSE = (
    {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
    {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
    {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}},
    {"image": "nvcr.io/x:v1"},
)


def running(pod, container):
    body = {
        "kind": "DaemonSet",
        "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nvcr.io/x:v1", **container}], **pod}}},
    }
    made = SimpleNamespace(key="gpu-operator/DaemonSet/x", body=body)
    return SimpleNamespace(prediction=SimpleNamespace(installation=SimpleNamespace(made=(made,))))


@pytest.mark.parametrize("name", CONFINED)
def test_what_confines_a_pod_is_a_line(name):
    assert [item.name for item in of_objects(running(*CONFINED[name]))] == [name]


@pytest.mark.parametrize("container", LOOSE)
def test_what_confines_nothing_is_none(container):
    assert list(of_objects(running({"hostUsers": True}, container))) == []


FILES = {"name": "elsewhere", "files": ["x.conf"]}
CONTAINER = {"source": "container", "version": "580.126.20"}
GAINED = {
    "packages": (spec("containers", driver={**CONTAINER, "repoConfig": FILES}), "driver.repoConfig=elsewhere/x.conf"),
    "certificates": (
        spec("containers", driver={**CONTAINER, "repoConfig": FILES, "certConfig": FILES}),
        "driver.certConfig=elsewhere/x.conf",
    ),
    "modules": (
        spec("containers", driver={**CONTAINER, "kernelModuleConfig": FILES}),
        "driver.kernelModuleConfig=elsewhere/x.conf",
    ),
    "an argument": (with_arguments("containers", "init=/bin/sh"), "kernel.args=init=/bin/sh"),
}


@pytest.mark.parametrize("what", GAINED)
def test_what_a_pool_names_has_to_be_known(base, seen_with, what):
    edit, text = GAINED[what]
    after = seen_with(edit)
    change = ClusterChange(CLUSTER, base, after)
    found = list(gained_by_pools(change, lambda: (), nothing_accepted))

    assert any(text in item.message and text in item.help for item in found)
    assert list(gained_by_pools(ClusterChange(CLUSTER, after, after), lambda: (), nothing_accepted)) == []
    assert list(gained_by_pools(change, lambda: (), lambda *_key: True)) == []


def test_a_new_cluster_may_have_what_another_one_has(base, seen_with):
    edit, text = GAINED["an argument"]
    after = seen_with(edit)
    change = ClusterChange(CLUSTER, None, after)

    assert [item for item in gained_by_pools(change, lambda: (base,), nothing_accepted) if text in item.message]
    assert list(gained_by_pools(change, lambda: (base, after), nothing_accepted)) == []


def test_a_new_pool_like_others_has_nothing_new(seen_with):
    edit, _ = GAINED["packages"]

    def another(documents):
        edit(documents)
        documents["more"] = deepcopy(documents["containers"])
        documents["more"]["metadata"]["name"] = "more"

    change = ClusterChange(CLUSTER, seen_with(edit), seen_with(another))
    assert list(gained_by_pools(change, lambda: (), nothing_accepted)) == []
