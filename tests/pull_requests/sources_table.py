"""Hostile sources: each field that says where something comes from or goes to, with values from outside."""

from __future__ import annotations

from pull_requests.fleet import Change, both, document_edit, put
from support.yaml_edits import read_yaml, write_yaml

GIT = "https://git.example.com/gpu.git"
REPOSITORIES = (
    "https://git.evil.example/gpu.git",
    "https://git.example.com.evil.example/gpu.git",
    "https://git.example.com@evil.example/gpu.git",
    "https://git-example.com/gpu.git",
    "https://git.example.com:8443/gpu.git",
    "https://git.example.com/evil/gpu.git",
    "https://git.example.com/gpu.git.evil",
    "https://git.example.com/gpu2.git",
    "https://git.example.com/GPU.git",
    "https://git.example.com/gpu.git/../evil.git",
    "https://git.example.com//gpu.git",
    "https://GIT.example.com.evil.example/gpu.git",
    "ssh://git.example.com/gpu.git",
    "git@git.example.com:evil/gpu.git",
    "oci://git.example.com/gpu.git",
)
CHARTS = (
    "https://helm.evil.example/nvidia",
    "https://helm.ngc.nvidia.com.evil.example/nvidia",
    "https://helm.ngc.nvidia.com/nvidia/evil",
    "https://helm.ngc.nvidia.com/nvidia/../evil",
    "https://helm.ngc.nvidia.com/nvidia2",
    "https://helm-ngc.nvidia.com/nvidia",
    "oci://helm.ngc.nvidia.com/nvidia",
    "oci://registry.evil.example/charts",
)
REVISIONS = (
    "refs/heads/evil",
    "refs/tags/v1",
    "refs/heads/main2",
    "refs/heads/main/../evil",
    "0123456789012345678901234567890123456789",
    "refs/pull/1/head",
)
MIRRORS = (
    {"nvcr.io": "registry.evil.example/nvcr"},
    {"nvcr.io": "nvcr.io.evil.example"},
    {"nvcr.io": "nvcr.io/evil"},
    {"registry.k8s.io": "registry.evil.example"},
    {"nvcr.io": "registry.example.com.evil.example"},
)


def source_changes():
    """Of one cluster of each delivery engine, and of the whole fleet."""
    for cluster in ("prod-eu", "edge"):
        for number, url in enumerate(REPOSITORIES):
            yield _set(cluster, "delivery.repoURL", url, "evil|repoURL|gpu", f"repository {number}")
        for number, url in enumerate(CHARTS):
            yield _set(cluster, "delivery.chartRepo", url, "evil|chartRepo|nvidia", f"chart repository {number}")
        for revision in REVISIONS:
            yield _set(cluster, "delivery.revision", revision, "revision|evil", f"revision {revision}")
        for number, mirrors in enumerate(MIRRORS):
            yield _set(cluster, "registry.mirrors", mirrors, "mirror|evil", f"mirror {number}")
        yield _set(cluster, "delivery.path", "docs", "docs|path", "path")
        yield _set(cluster, "delivery.path", "output/clusters/prod-eu/smoke", "path|smoke", "path below the output")
        yield _set(cluster, "delivery.namespace", "kube-system", "kube-system|namespace", "namespace of the delivery")
        yield _set(cluster, "stack.namespace", "kube-system", "kube-system|namespace", "namespace of the stack")
        yield _set(
            cluster, "smokeTest.namespace", "kube-system", "kube-system|namespace", "namespace of the smoke test"
        )
        yield _set(cluster, "smokeTest.image", "registry.evil.example/smoke:1", "evil|image", "image of the smoke test")
        for name, token in TOKENS:
            yield _set(
                cluster, "delivery.repoURL", token, "token|password|secret|user|credential|\\*\\*\\*", f"token {name}"
            )
        yield _set(
            cluster,
            "delivery.chartRepo",
            "https://user:hunter2secret@helm.ngc.nvidia.com/nvidia",
            "token|password|user|credential|chartRepo",
            "token chart",
        )
    for destination in ({"name": "in-cluster"}, {"server": "https://evil.example:6443"}, {"name": "prod-rke2"}):
        yield _set(
            "prod-eu",
            "delivery.destination",
            destination,
            "destination|evil|in-cluster|cluster that the engine runs in",
            f"to {destination}",
        )
    yield _set("prod-eu", "delivery.project", "default", "project", "project")
    yield _set("lab-t4", "delivery.destination", {"name": "prod-eu"}, "destination|prod-eu", "to another cluster")
    yield _set("edge", "delivery.retiring", "remove", "retiring|given up|gone", "given up")
    yield _set("lab-t4", "delivery.retiring", "remove", "retiring|given up|gone", "given up")
    yield _set("lab-t4", "delivery.name", "prod-eu", "name|prod-eu|leaves", "the name of another cluster")
    yield _set("edge", "delivery.name", "other", "name|other|leaves", "another name of the delivery")
    for reference in (
        {"kind": "GitRepository", "name": "evil"},
        {"kind": "OCIRepository", "name": "flux-system"},
        {"kind": "Bucket", "name": "evil", "namespace": "default"},
    ):
        yield _set("edge", "delivery.sourceRef", reference, "sourceRef|evil|source", f"source {reference['kind']}")
    yield Change(
        "edge: engine",
        document_edit("profiles/edge/cluster.yaml", {"delivery.engine": "argocd"}),
        "engine|argocd|Application",
        "edge",
        "edge",
        kind="source",
    )
    yield Change(
        "all: a new cluster from elsewhere",
        _new_cluster(GIT.replace("example.com", "evil.example")),
        "evil",
        "lab-t5",
        kind="source",
    )
    yield Change(
        "all: a new cluster to the server of another",
        both(
            _new_cluster(GIT),
            document_edit("profiles/lab-t5/cluster.yaml", {"delivery.destination": {"name": "prod-eu"}}),
        ),
        "destination|prod-eu",
        "lab-t5",
        kind="source",
    )


TOKENS = (
    ("user", "https://oauth2:ghp_0123456789012345678901234567890123456@git.example.com/gpu.git"),
    ("alone", "https://glpat-01234567890123456789@git.example.com/gpu.git"),
    ("path", "https://git.example.com/glpat-01234567890123456789/gpu.git"),
)


def _set(cluster, field, value, gain, name):
    path = f"profiles/{cluster}/cluster.yaml"
    return Change(
        f"{cluster}: {name}",
        document_edit(path, {field: value}),
        gain,
        rf"(profiles|clusters)/{cluster}/",
        cluster,
        kind="source",
    )


def _new_cluster(url):
    def edit(root):
        for name in ("cluster.yaml", "t4.yaml"):
            document = read_yaml(root / "profiles/lab-t4" / name)
            if name == "cluster.yaml":
                document["metadata"]["name"] = "lab-t5"
                put(document["spec"], ["delivery", "repoURL"], url)
            write_yaml(root / "profiles/lab-t5" / name, document)

    return edit
