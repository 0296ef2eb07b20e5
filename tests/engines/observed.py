"""What became of objects between two looks, in words that another run says again: no ids, no times, no revisions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from poolsmith.core.sources.pointer import value_at
from support.api_client import ApiClient

STACK = (
    ("v1", "Namespace"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "DaemonSet"),
    ("nvidia.com/v1", "ClusterPolicy"),
    ("nvidia.com/v1alpha1", "NVIDIADriver"),
)
DELIVERY = (
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
    ("argoproj.io/v1alpha1", "Application"),
    ("argoproj.io/v1alpha1", "ApplicationSet"),
)
DRIFTED = "changed by hand"
"""The step after which fields are told."""
FIELDS = (
    ("apps/v1", "Deployment", "gpu-operator", "/spec/replicas"),
    ("nvidia.com/v1", "ClusterPolicy", "cluster-policy", "/spec/toolkit/enabled"),
    ("nvidia.com/v1", "ClusterPolicy", "cluster-policy", "/spec/operator/defaultRuntime"),
)
_ALWAYS_THERE = ("default", "kube-system", "kube-public", "kube-node-lease", "argocd", "flux-system", "gitops")
_DEFINITIONS = ("clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com")
_REVISIONS = re.compile(r"\b[0-9a-f]{40}\b|sha256:[0-9a-f]{8,64}|\b[0-9a-f]{7}\b|\+[0-9a-f]{12}")
_TIMES = re.compile(r"#\d+ at \d+:\d+[AP]M|\b\d{6,}\b|\b\d+(?:\.\d+)?(?:ms|s|m|h)\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z")
_LONGEST = 300


class Seen(NamedTuple):
    uid: str
    leaving: bool
    """Whether somebody asked for its deletion, and a finalizer holds it."""
    generation: int
    """How often what is asked of it has changed; 0 of an Application, which counts its status, too."""


@dataclass(frozen=True)
class Observed:
    """Objects are `Kind/name`, with the namespace between where a kind has some of a name in several.

    `changed` are those that are kept, and of which something else is asked. `fields` are those that somebody changes by hand. `states` is what the engines say of their objects; `releases` Helm's history, by namespace and name; `jobs` are those
    that somebody started; `said` what the engines say where not all is well.
    """

    name: str
    kept: tuple[str, ...]
    changed: tuple[str, ...]
    made: tuple[str, ...]
    deleted: tuple[str, ...]
    replaced: tuple[str, ...]
    leaving: tuple[str, ...]
    jobs: tuple[str, ...]
    states: Mapping[str, str]
    releases: Mapping[str, tuple[str, ...]]
    said: Mapping[str, str]
    fields: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """As a recording has it: lists, and no tuples."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return found


def seen(client: ApiClient) -> dict[str, Seen]:
    found = {}
    for version, kind in (*STACK, *DELIVERY):
        for item in client.listed(version, kind):
            metadata = item["metadata"]
            if _counts(kind, metadata["name"], metadata.get("namespace", "")):
                found[_named(kind, metadata)] = Seen(
                    metadata["uid"], "deletionTimestamp" in metadata, _generation(kind, metadata)
                )
    return found


def _generation(kind: str, metadata: Mapping[str, Any]) -> int:
    return 0 if kind == "Application" else int(metadata.get("generation", 0))


def _counts(kind: str, name: str, namespace: str) -> bool:
    if kind == "CustomResourceDefinition":
        return name in _DEFINITIONS
    return kind != "Namespace" or name not in _ALWAYS_THERE


def _named(kind: str, metadata: Mapping[str, Any]) -> str:
    is_delivery = any(kind == other for _, other in DELIVERY)
    namespace = metadata.get("namespace", "")
    return f"{kind}/{metadata['name']}" if is_delivery or not namespace else f"{kind}/{namespace}/{metadata['name']}"


def states(client: ApiClient) -> dict[str, str]:
    """What the engines say of each of their objects, in a few words."""
    return {f"{item['kind']}/{item['metadata']['name']}": _state(item) for item in _delivered(client)}


def _delivered(client: ApiClient) -> list[dict[str, Any]]:
    return [item for version, kind in DELIVERY for item in client.listed(version, kind)]


def _state(item: Mapping[str, Any]) -> str:
    status = item.get("status", {})
    suspended = "suspended " if item.get("spec", {}).get("suspend") else ""
    if item["kind"] == "Application":
        words = [
            status.get("sync", {}).get("status", "Unknown"),
            status.get("health", {}).get("status", "Unknown"),
            status.get("operationState", {}).get("phase", "not synced"),
            *sorted({condition["type"] for condition in status.get("conditions", ())}),
        ]
        return ", ".join(words)
    ready = next((one for one in status.get("conditions", ()) if one["type"] in ("Ready", "ResourcesUpToDate")), None)
    return suspended + (f"{ready['type']} {ready['status']}, {ready['reason']}" if ready else "no word")


def _said(client: ApiClient, hidden: Iterable[str]) -> dict[str, str]:
    texts = {f"{item['kind']}/{item['metadata']['name']}": _words(item) for item in _delivered(client)}
    return {name: _normal("; ".join(words), hidden) for name, words in texts.items() if words}


def _words(item: Mapping[str, Any]) -> list[str]:
    """Why not all is well."""
    status = item.get("status", {})
    conditions = status.get("conditions", ())
    if item["kind"] == "Application":
        operation = status.get("operationState", {})
        failed = [operation.get("message", "")] if operation.get("phase") != "Succeeded" else []
        return sorted({*(one["message"] for one in conditions), *filter(None, failed)})
    return sorted({one["message"] for one in conditions if one["type"] == "Ready" and one["status"] != "True"})


def _normal(text: str, hidden: Iterable[str]) -> str:
    for word in hidden:
        text = text.replace(word, "LOOPBACK" if "://" in word else "FOLDER")
    text = _TIMES.sub("TIME", _REVISIONS.sub("REVISION", text))
    return text[:_LONGEST]


def _releases(client: ApiClient) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for item in client.listed("v1", "Secret"):
        if item.get("type") == "helm.sh/release.v1":
            labels = item["metadata"]["labels"]
            key = f"{item['metadata']['namespace']}/{labels['name']}"
            found.setdefault(key, []).append((int(labels["version"]), labels["status"]))
    return {key: tuple(f"{number} {status}" for number, status in sorted(rows)) for key, rows in sorted(found.items())}


def _fields(client: ApiClient) -> Iterator[tuple[str, Any]]:
    for version, kind, name, path in FIELDS:
        for item in client.listed(version, kind):
            if item["metadata"]["name"] == name:
                yield f"{kind}/{name} {path}", value_at(item, path.strip("/").split("/"))


def observed(
    name: str,
    before: Mapping[str, Seen],
    after: Mapping[str, Seen],
    jobs: Iterable[str],
    client: ApiClient,
    hidden: Iterable[str],
) -> Observed:
    both = before.keys() & after.keys()
    kept = sorted(key for key in both if after[key][:2] == before[key][:2])
    return Observed(
        name=name,
        kept=tuple(kept),
        changed=tuple(key for key in kept if after[key].generation != before[key].generation),
        made=tuple(sorted(after.keys() - before.keys())),
        deleted=tuple(sorted(before.keys() - after.keys())),
        replaced=tuple(sorted(key for key in both if after[key].uid != before[key].uid)),
        leaving=tuple(sorted(key for key in after if after[key].leaving)),
        jobs=tuple(sorted(jobs)),
        states=dict(sorted(states(client).items())),
        releases=_releases(client),
        said=dict(sorted(_said(client, hidden).items())),
        fields=dict(_fields(client)) if name == DRIFTED else {},
    )
