"""Each field of a profile that can hold an address, a registry, an image or a revision is judged, or said to be none.

The fields are those of the records, so that a new one is found here.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
from typing import Any, get_args

import pytest

from poolsmith.core.shape.reader import fields_of
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.profiles.cluster import ClusterSpec
from poolsmith.fleet.profiles.node_pool import PoolSpec
from poolsmith.guard.ledger.privilege_check import privilege_view
from poolsmith.guard.policies.supply.supply_check import judge_supply
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import open_project

pytestmark = pytest.mark.sample

PROBES = (
    "https://evil.example/x",
    "oci://evil.example/x",
    "registry.evil.example/x",
    "evil.example",
    "evil.example/x:1",
    "refs/heads/evil",
    "a" * 40,
)
JUDGED = {
    "/delivery/repoURL": ("lab-t4/cluster", "https://evil.example/x.git", "unknown-source"),
    "/delivery/revision": ("lab-t4/cluster", "refs/heads/evil", "unknown-source"),
    "/delivery/path": ("lab-t4/cluster", "evil", "unknown-source"),
    "/delivery/namespace": ("lab-t4/cluster", "evil", "unknown-delivery"),
    "/delivery/project": ("lab-t4/cluster", "evil", "unknown-delivery"),
    "/delivery/destination/name": ("lab-t4/cluster", "evil", "unknown-delivery"),
    "/delivery/destination/server": ("lab-t4/cluster", "https://evil.example:6443", "unknown-delivery"),
    "/delivery/instance": ("lab-t4/cluster", "evil", "unknown-delivery"),
    "/delivery/chartRepo": ("lab-t4/cluster", "oci://evil.example/x", "unknown-source"),
    "/delivery/sourceRef/name": ("edge/cluster", "evil", "unknown-delivery"),
    "/delivery/sourceRef/namespace": ("edge/cluster", "evil", "unknown-delivery"),
    "/delivery/hydrate/branch": ("lab-t4/cluster", "evil", "unknown-source"),
    "/registry/mirrors": ("lab-t4/cluster", {"nvcr.io": "registry.evil.example/x"}, "unknown-mirror"),
    "/smokeTest/image": ("lab-t4/cluster", "registry.evil.example/x:1", "unknown-image-source"),
    "/stack/values": ("lab-t4/cluster", {"toolkit": {"repository": "evil.example"}}, "unknown-image-source"),
    "/driver/repository": ("prod-eu/l40s-shared", "evil.example", "unknown-image-source"),
    "/driver/vgpuManager/repository": ("machines/desktops", "evil.example", "unknown-image-source"),
    "/sandbox/artifacts": ("kata-a10/kata", "evil.example/x:1", "unknown-image-source"),
}
TOGETHER = {"/delivery/sourceRef/namespace": {"name": "flux-system"}}
NO_SOURCE = {
    "/kubernetes/distribution": "a name of the catalog",
    "/delivery/name": "of our own objects in the cluster; two of one name are refused, and what it takes is reviewed",
    "/objectName": "of the pool's own objects in the cluster; two of one name are refused",
    "/stack/namespace": "where the stack runs; privileges are granted there, not sources",
    "/stack/draDriver/featureGates": "names of feature gates",
    "/stack/dcgmExporter/release": "a release of the catalog; its chart and images are judged",
    "/poolLabel": "the key of a label",
    "/delivery/hydrate/stageBranch": "where Argo CD writes to; what it syncs from is judged",
    "/delivery/verify/secret": "the name of a Secret",
    "/delivery/verify/identities/issuer": "who has to have signed; an address that nothing is taken from",
    "/delivery/verify/identities/subject": "who has to have signed",
    "/registry/pullSecrets": "names of secrets",
    "/smokeTest/namespace": "where the job runs",
    "/delivery/after/name": "the name of an object that is waited for",
    "/delivery/after/namespace": "where that object is",
    "/beside": "files of the repository that are read and never applied from here",
    "/ring": "the name of a ring; the revision that it brings is judged as that of the delivery",
    "/owner": "text for people",
    "/acknowledge/fact": "a word",
    "/acknowledge/by": "text for people",
    "/extends": "names of bases",
    "/nodes/labelValue": "the value of a label",
    "/nodes/names": "names of nodes",
    "/nodes/provisionedBy/name": "the name of an object that describes nodes",
    "/nodes/provisionedBy/template": "the name of an object that describes nodes",
    "/nodes/taints/key": "the key of a taint",
    "/nodes/taints/value": "the value of a taint",
    "/nodes/startupTaints/key": "the key of a taint",
    "/nodes/startupTaints/value": "the value of a taint",
    "/os/id": "a name of the catalog",
    "/os/versions": "versions of the catalog",
    "/os/version": "a version of the catalog",
    "/os/imageTag": "the end of an image's tag",
    "/kernel/releases": "the end of an image's tag",
    "/kernel/release": "the end of an image's tag",
    "/kernel/args": "arguments of the host's kernel",
    "/runtime/name": "a name of the catalog",
    "/gpu/product": "a name of the catalog",
    "/gpu/architecture": "a name of the catalog",
    "/gpu/mig/layout": "the name of a layout",
    "/gpu/mig/devices/devices": "numbers of GPUs",
    "/gpu/mig/devices/migDevices": "names of MIG profiles",
    "/gpu/vgpu/layout": "the name of a layout",
    "/gpu/vgpu/devices/devices": "numbers of GPUs",
    "/gpu/vgpu/devices/vgpuDevices": "names of types of vGPUs",
    "/driver/vgpuManager/image": "the name of an image; the repository before it is judged",
    "/driver/upgradePolicy/waitForCompletion/podSelector": "a selector",
    "/driver/upgradePolicy/drain/podSelector": "a selector",
    **{
        f"/driver/{field}/{part}": what
        for field in ("repoConfig", "certConfig", "kernelModuleConfig")
        for part, what in (("name", "the name of a ConfigMap"), ("files", "names of files"))
    },
    "/driver/vgpu/licensingSecret": "the name of a Secret",
    "/driver/vgpu/licensingConfigMap": "the name of a ConfigMap",
    "/sandbox/runtimeClass": "the name of a RuntimeClass",
    "/sandbox/resourceAlias": "the name of a resource",
}


def leaves(cls, path=""):
    for name, field in fields_of(cls).items():
        inner = [hint for hint in (field.hint, *get_args(field.hint)) if dataclasses.is_dataclass(hint)]
        if inner:
            yield from leaves(inner[0], f"{path}/{name}")
        else:
            yield f"{path}/{name}", field.hint, field.shape


def could_hold_a_source(hint, shape):
    if hint is Any or Any in get_args(hint):
        return True
    if str not in (hint, *get_args(hint)):
        return False
    return any(shape.pattern is None or re.fullmatch(shape.pattern, probe) for probe in PROBES)


FIELDS = sorted(
    {path for cls in (ClusterSpec, PoolSpec) for path, hint, shape in leaves(cls) if could_hold_a_source(hint, shape)}
)


def test_every_field_that_could_hold_a_source_is_judged_or_is_none():
    assert set(FIELDS) == JUDGED.keys() | NO_SOURCE.keys()


def judged(root, cluster):
    project = open_project(root)
    files = next(item for item in project.select(()) if item.name == cluster)
    run = run_cluster(project, files)
    assert run.prediction is not None, run.diagnostics
    return judge_supply(project.policies.supply.spec, run.prediction, privilege_view(run.prediction, run.loaded))


@pytest.mark.parametrize("path", sorted(JUDGED))
def test_a_source_that_the_policy_does_not_know_is_an_error_at_its_line(sample_project, repository, path):
    (sample_project / "policies").mkdir()
    shutil.copy(repository / "policies/supply.yaml", sample_project / "policies")
    profile, value, name = JUDGED[path]
    cluster = profile.partition("/")[0]
    target = sample_project / f"profiles/{profile}.yaml"
    body = read_documents(target.read_text(), [])[0]
    node = body["spec"]
    *steps, last = path.split("/")[1:]
    for step in steps:
        node = node.setdefault(step, {})
    node |= TOGETHER.get(path, {}) | {last: value}
    target.write_text(emit(body))

    found = [item for item in judged(sample_project, cluster) if item.name == name]
    assert found
    assert any(
        item.primary.span.path == f"profiles/{profile}.yaml" and path.startswith(_parent(item)) for item in found
    )
    assert all(item.severity.value == "error" for item in found)


def _parent(item):
    """The field, or the part of the profile that it stands in: a default has no line."""
    pointer = item.primary.pointer.removeprefix("/spec")
    return "/".join(pointer.split("/")[:3]) if pointer else ""


@pytest.mark.deep("a whole run, 1.0 s; its parts have tests of their own")
def test_the_sample_fleet_takes_nothing_else(repository):
    project = open_project(repository)
    assert [item.message for files in project.select(()) for item in judged(repository, files.name)] == []


@pytest.mark.parametrize("called", ["{name: in-cluster}", "{server: 'https://kubernetes.default.svc:443/'}"])
def test_the_cluster_that_argo_cd_runs_in_is_allowed_however_a_profile_calls_it(repository, tmp_path, called):
    for folder in ("profiles", "policies"):
        shutil.copytree(repository / folder, tmp_path / folder)
    path = tmp_path / "profiles/lab-t4/cluster.yaml"
    path.write_text(path.read_text("utf-8") + f"    destination: {called}\n")

    assert judged(tmp_path, "lab-t4") == ()
