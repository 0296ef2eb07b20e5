"""What a cluster will hold, to read and to review; nothing of it is applied."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.latest import Latest
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.core.sources.yaml_writer import comment, emit
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.guard.ledger.privilege import privilege
from poolsmith.guard.ledger.reach import Reach
from poolsmith.project.output.helm_values import origin_text
from poolsmith.project.output.readme import Predicted, order_table, workload_table

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.pulled_images import ImageUse
    from poolsmith.guard.ledger.ledger import LineOrigins
    from poolsmith.guard.ledger.prediction import Prediction, Shared
    from poolsmith.guard.ledger.workload_ledger import ClusterLedger, ContainerLedger, HeldPrivilege, WorkloadLedger

LEDGER = "privileges.yaml"
IMAGES = "images.yaml"
WORKLOADS = "expected/workloads.yaml"
_API = "poolsmith/v1"
_MOST_TEXTS = 4096
_REMEMBERED = 32
"""Installations whose texts are kept; a fleet of many clusters that differ must not grow without bound."""
_LEDGER_LINES = (
    "What each workload may do to a pool's nodes and to the cluster, and what causes it.",
    "Files without a folder are in the folder of these profiles.",
)
_IMAGES_LINE = "Every image that the nodes will pull, for mirrors and scanners."
_WORKLOADS_LINE = "What charts, operator and operands will create: to read and to compare with, never applied."


def prediction_manifests(cluster: str, predicted: Predicted, header: tuple[str, ...]) -> list[Manifest]:
    """privileges.yaml, images.yaml and expected/workloads.yaml."""
    return [
        _manifest(LEDGER, _named("PrivilegeLedger", cluster) + predicted.ledger, (*header, "", *_LEDGER_LINES)),
        _manifest(IMAGES, _named("ImageList", cluster) + predicted.images, (*header, "", _IMAGES_LINE)),
        _manifest(WORKLOADS, predicted.workloads, (*header, "", _WORKLOADS_LINE)),
    ]


def _manifest(path: str, text: str, header: tuple[str, ...]) -> Manifest:
    return Manifest(path=path, text=comment(header) + text, applied=False)


def _named(kind: str, cluster: str) -> str:
    return emit({"apiVersion": _API, "kind": kind, "metadata": {"name": cluster}})


def ledger_text(ledger: ClusterLedger) -> str:
    """What runs on each pool, what each workload holds and why, what their accounts may do."""
    comments: dict[str, tuple[str, ...]] = {}
    body: dict[str, Any] = {"release": ledger.release}
    for name in ("errors", "unknown", "notes"):
        if found := getattr(ledger, name):
            body[name] = list(found)
    body["pools"] = _pools(ledger)
    writer = _Workloads(f"profiles/{ledger.cluster}/", comments)
    body["workloads"] = {_key(item): writer.workload(item) for item in ledger.workloads}
    body["accounts"] = _accounts(ledger)
    return emit(body, comments=comments)


def images_text(uses: tuple[ImageUse, ...], unknown: tuple[str, ...]) -> str:
    """Each image with the pools that pull it; of what is unknown, there may be more."""
    body: dict[str, Any] = {"unknown": list(unknown)} if unknown else {}
    return emit(body | {"images": [image_entry(use) for use in uses]})


def image_entry(use: ImageUse) -> dict[str, Any]:
    """One image as every list of images has it."""
    entry = {"image": use.image, "workloads": list(use.workloads), "pools": list(use.pools)}
    return entry | ({"systems": list(use.systems)} if use.systems else {})


class ObjectTexts:
    """Predicted objects as text. What several clusters share is the same object, and written once.

    Without their owners: Kubernetes knows one by a uid, which only the cluster gives.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[KubernetesObject, str]] = {}

    def stream(self, objects: Iterable[KubernetesObject]) -> str:
        """The objects as one stream."""
        return "---\n".join(map(self._text, objects))

    def _text(self, item: KubernetesObject) -> str:
        known = self._known.get(id(item))
        if known is None:
            if len(self._known) >= _MOST_TEXTS:
                self._known.clear()
            # the object is kept: as long as it lives, no other has its identity
            known = self._known[id(item)] = item, emit(_without_owner(item))
        return known[1]


class PredictionTexts:
    """The texts of predictions, written once for all clusters that are installed alike."""

    def __init__(self) -> None:
        self._objects = ObjectTexts()
        self._known = Latest(_REMEMBERED)

    def of(self, prediction: Prediction) -> Predicted:
        """The same where the same lines of the same files say the same."""
        shared = prediction.shared
        # what clusters share is kept: as long as it lives, no other has its identity
        known = self._known.of(
            id(shared), lambda: _SharedTexts(shared, self._objects.stream(shared.installation.objects))
        )
        key = known.keys.get(prediction.alike)
        if key is None:
            key = prediction.origins.signature(), prediction.smoke_images()
            if prediction.alike and len(known.keys) < _REMEMBERED:
                known.keys[prediction.alike] = key
        if key not in known.texts:
            ledger = prediction.cluster_ledger()
            known.texts[key] = Predicted(
                ledger=ledger_text(ledger),
                images=images_text(prediction.images(), (*prediction.unknown, *prediction.unpublished())),
                workloads=known.objects,
                summary=workload_table(ledger),
                order=order_table(ledger, shared.installation.objects),
                unknown=ledger.unknown,
                toolkit_overlays=dict(prediction.installation.toolkit_overlays),
            )
            while len(known.texts) > _REMEMBERED:
                del known.texts[next(iter(known.texts))]
        return known.texts[key]


@record(frozen=False, kw_only=False)
class _SharedTexts:
    """`objects` is expected/workloads.yaml without its header; `texts` by where the lines stand that cause them."""

    shared: Shared
    objects: str
    texts: dict[Hashable, Predicted] = field(default_factory=dict)
    keys: dict[bytes, Hashable] = field(default_factory=dict)
    """Of `texts`, for clusters that are alike."""


def _without_owner(item: KubernetesObject) -> KubernetesObject:
    metadata = {key: value for key, value in item["metadata"].items() if key != "ownerReferences"}
    return {**item, "metadata": metadata}


def _pools(ledger: ClusterLedger) -> dict[str, Any]:
    found: dict[str, list[WorkloadLedger]] = {}
    for workload in ledger.workloads:
        for pool in workload.pools:
            found.setdefault(pool, []).append(workload)
    return {
        pool: {
            "reach": str(min((item.reach for item in found[pool]), default=Reach.NONE)),
            "workloads": [_key(item) for item in found[pool]],
        }
        for pool in sorted(found)
    }


def _key(workload: WorkloadLedger) -> str:
    return f"{workload.namespace}/{workload.workload}"


@record(kw_only=False)
class _Workloads:
    """Writes workloads; `own` is the folder that needs no mention, `comments` collects what is above a key."""

    own: str
    comments: dict[str, tuple[str, ...]]

    def workload(self, workload: WorkloadLedger) -> dict[str, Any]:
        path = ("workloads", _key(workload))
        body: dict[str, Any] = {
            "reach": str(workload.reach),
            "madeBy": workload.maker,
            "because": self._shown(workload.origins),
            "account": workload.account,
        }
        if workload.pool_origins:
            body["onPoolsBecause"] = {pool: self._shown(origins) for pool, origins in workload.pool_origins}
        for container in workload.containers:
            if container.name:
                where = (*path, "containers", container.name)
                body.setdefault("containers", {})[container.name] = self._held(container, where)
                self._tell(where, container.origins)
            elif held := self._held(container, (*path, "pod")):
                body["pod"] = held
        return body

    def _held(self, container: ContainerLedger, path: tuple[str, ...]) -> dict[str, str]:
        held = {}
        for item in container.held:
            if item.privilege.name != "rbac":
                token = str(item.privilege)
                held[token] = str(item.reach)
                self._tell((*path, token), item.origins)
        return held

    def _tell(self, path: tuple[str, ...], origins: LineOrigins) -> None:
        if origins:
            self.comments[join("", *path)] = tuple(f"from {origin}" for origin in self._shown(origins))

    def _shown(self, origins: LineOrigins) -> list[str]:
        return list(dict.fromkeys(origin_text(origin).removeprefix(self.own) for origin in origins))


def _accounts(ledger: ClusterLedger) -> dict[str, dict[str, str]]:
    """The rights of each account, once; verbs that reach equally far stand together, each a token of its own."""
    accounts: dict[str, dict[str, str]] = {}
    for workload in ledger.workloads:
        name = f"{workload.namespace}/{workload.account}"
        rights = [
            item
            for container in workload.containers
            for item in container.held
            if not container.name and item.privilege.name == "rbac"
        ]
        if rights:
            accounts[name] = _rights(rights)
    return dict(sorted(accounts.items()))


def _rights(rights: list[HeldPrivilege]) -> dict[str, str]:
    verbs: dict[tuple[str, str, str, str, Reach], list[str]] = {}
    for item in rights:
        group, resource, verb, scope, name = item.privilege.arguments
        verbs.setdefault((group, resource, scope, name, item.reach), []).append(verb)
    return {
        str(privilege("rbac", group, resource, ",".join(found), scope, name)): str(reach)
        for (group, resource, scope, name, reach), found in verbs.items()
    }
