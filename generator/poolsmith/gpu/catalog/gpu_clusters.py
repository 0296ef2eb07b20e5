"""What a release's operator creates for a GPUCluster without settings, and the feature gates of its DRA driver.

An entry is made by `gpu_cluster_entry`. Compact forms are unfolded into whole Kubernetes objects on demand, fresh each
time: callers may change what they get.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import at_least, version_key
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import copied
from poolsmith.gpu.catalog.operands import whole, with_scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_ADMISSION = "admissionregistration.k8s.io/v1"
_CLAIM_TEMPLATE = "ResourceClaimTemplate"


@record
class GpuClusterState:
    """One step of the operator."""

    name: str
    objects: tuple[dict[str, Any], ...]


@record
class GpuClusterEntry:
    """One release. `behaviour` holds what no rendered object shows."""

    release: str
    source: str
    behaviour: dict[str, Any]
    states: tuple[GpuClusterState, ...]


@record
class ObjectPlacement:
    """Where objects come to stand: the operator's namespace, and the version of resource.k8s.io that is served.

    `flat` is for the version whose device requests have no `exactly`.
    """

    namespace: str
    dra_version: str
    flat: bool


def gpu_cluster_releases() -> tuple[str, ...]:
    """The releases that know a GPUCluster, oldest first."""
    return tuple(sorted(store.names("gpu_cluster"), key=version_key))


@remembered
def read_gpu_cluster(release: str) -> GpuClusterEntry | None:
    """The entry of a release, or None when the catalog has none."""
    if release not in gpu_cluster_releases():
        return None
    entry = store.read_json(f"gpu_cluster/{release}.json")
    return GpuClusterEntry(
        release=release,
        source=entry["source"],
        behaviour=entry["behaviour"],
        states=tuple(
            GpuClusterState(name=state["name"], objects=tuple(state["objects"]))
            for state in with_scripts(entry["states"])
        ),
    )


def served_by(release: str, kubernetes: str | None) -> frozenset[str]:
    """The APIs of device claims that a Kubernetes version serves without being told, as Helm names them; of no version
    all that the release takes."""
    entry = read_gpu_cluster(release)
    first = {} if entry is None else entry.behaviour["draVersions"]["servedFrom"]
    return frozenset(
        f"resource.k8s.io/{version}/DeviceClass"
        for version, minor in first.items()
        if kubernetes is None or at_least(kubernetes, minor)
    )


def objects_of(
    state: GpuClusterState, place: ObjectPlacement, holds: Callable[[str], bool]
) -> Iterator[dict[str, Any]]:
    """The whole objects of a state. `holds` says whether a field below spec.draDriver is true."""
    for compact in state.objects:
        if "when" not in compact or holds(compact["when"]):
            yield _whole(compact, place, holds)


def _whole(compact: dict[str, Any], place: ObjectPlacement, holds: Callable[[str], bool]) -> dict[str, Any]:
    kind = compact["kind"]
    if kind in ("DaemonSet", "Deployment"):
        return _workload(compact, place.namespace, holds)
    if kind in _BODIES:
        return {"kind": kind, "metadata": {"name": compact["name"]}, **_BODIES[kind](compact, place)}
    if kind == _CLAIM_TEMPLATE:
        metadata = {"name": compact["name"], "namespace": place.namespace}
        return {"kind": kind, "metadata": metadata, **_claim_template(compact, place)}
    return whole({key: value for key, value in compact.items() if key != "when"}, place.namespace)


def _workload(compact: dict[str, Any], namespace: str, holds: Callable[[str], bool]) -> dict[str, Any]:
    """A Deployment unfolds like a DaemonSet."""
    rest = copied({key: value for key, value in compact.items() if key not in ("when", "with", "replicas")})
    for condition, more in compact.get("with", {}).items():
        if holds(condition):
            _add(rest, copied(more))
    workload = whole({**rest, "kind": "DaemonSet"}, namespace)
    workload["kind"] = compact["kind"]
    if "replicas" in compact:
        workload["spec"]["replicas"] = compact["replicas"]
    pod = workload["spec"]["template"]["spec"]
    if not pod["volumes"]:
        del pod["volumes"]
    return workload


def _add(compact: dict[str, Any], more: dict[str, Any]) -> None:
    compact["containers"] += more.get("containers", [])
    compact["volumes"] |= more.get("volumes", {})
    for container in compact["containers"]:
        container["mounts"] = container.get("mounts", []) + more.get("mounts", {}).get(container["name"], [])


def _device_class(compact: dict[str, Any], place: ObjectPlacement) -> dict[str, Any]:
    driver = compact["driver"]
    attributes = f"device.attributes['{driver}']"
    terms = [f"device.driver == '{driver}'", f"{attributes}.type == '{compact['type']}'"]
    if "id" in compact:
        terms.append(f"{attributes}.id == {compact['id']}")
    selector = {"cel": {"expression": " && ".join(terms)}}
    return {"apiVersion": _dra_api(place), "spec": {"selectors": [selector]}}


def _claim_template(compact: dict[str, Any], place: ObjectPlacement) -> dict[str, Any]:
    requests = [
        {"name": name, **(copied(request) if place.flat else {"exactly": copied(request)})}
        for name, request in compact["requests"].items()
    ]
    return {"apiVersion": _dra_api(place), "spec": {"spec": {"devices": {"requests": requests}}}}


def _dra_api(place: ObjectPlacement) -> str:
    return f"resource.k8s.io/{place.dra_version}"


def _admission_policy(compact: dict[str, Any], place: ObjectPlacement) -> dict[str, Any]:
    user = f"system:serviceaccount:{place.namespace}:{compact['serviceAccount']}"
    keys = ("apiGroups", "apiVersions", "operations", "resources")
    rules = [{key: word.split(",") for key, word in zip(keys, words, strict=True)} for words in compact["rules"]]
    spec = {
        "failurePolicy": compact["failurePolicy"],
        "matchConditions": [{"name": compact["condition"], "expression": f'request.userInfo.username == "{user}"'}],
        "matchConstraints": {"resourceRules": rules},
        "variables": [{"name": name, "expression": text} for name, text in compact["variables"].items()],
        "validations": [dict(item) for item in compact["validations"]],
    }
    return {"apiVersion": _ADMISSION, "spec": spec}


def _admission_binding(compact: dict[str, Any], place: ObjectPlacement) -> dict[str, Any]:
    del place
    spec = {"policyName": compact["policy"], "validationActions": list(compact["actions"])}
    return {"apiVersion": _ADMISSION, "spec": spec}


_BODIES = {
    "DeviceClass": _device_class,
    "ValidatingAdmissionPolicy": _admission_policy,
    "ValidatingAdmissionPolicyBinding": _admission_binding,
}


@record
class FeatureGate:
    """`conflicts` are gates beside which the driver stops, `without` those that are documented not to go with it.

    `needs` has to be on, too, and `variable` has to be set beside it. `of_library`: Kubernetes' libraries bring it.
    `since` is the first version of the driver that has it, `conflicts_since` the first that stops beside some.
    """

    alpha: bool
    conflicts: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    needs: str | None = None
    variable: str | None = None
    of_library: bool = False
    since: str | None = None
    conflicts_since: Mapping[str, str] = field(default_factory=dict)


@record
class OwnChart:
    """The DRA driver's own chart, with what it takes beside a ClusterPolicy, as Helm's `--set` has it.

    `driver_container` is for drivers of the operator's.
    """

    name: str
    repository: str
    values: tuple[str, ...]
    driver_container: str


@record
class DraFacts:
    """`domains` are GPUs with NVLink over several nodes; `distributions_without` have no documented procedure.

    `gate_groups` are names that stand for all gates of a maturity. `shares` are the words for devices that several
    claims share, `shares_off` the one that turns it off.
    """

    kubernetes: str
    distributions_without: tuple[str, ...]
    domains: tuple[str, ...]
    runtimes: tuple[str, ...]
    gates: dict[str, FeatureGate]
    gate_groups: dict[str, str]
    shares_off: str
    shares: tuple[str, ...]
    device_class: str
    claim_version: str
    domain_version: str
    own_chart: OwnChart
    source: str


@remembered
def read_dra() -> DraFacts:
    data = store.read_yaml("dra.yaml")
    return DraFacts(
        kubernetes=data["kubernetes"],
        distributions_without=tuple(data["distributionsWithout"]),
        domains=tuple(data["domains"]),
        runtimes=tuple(data["runtimes"]),
        gates={
            name: FeatureGate(
                alpha=entry["maturity"] == "alpha",
                conflicts=tuple(entry.get("conflicts", ())),
                without=tuple(entry.get("without", ())),
                needs=entry.get("needs"),
                variable=entry.get("variable"),
                of_library=entry.get("ofLibrary", False),
                since=entry.get("since"),
                conflicts_since=entry.get("conflictsSince", {}),
            )
            for name, entry in data["gates"].items()
        },
        gate_groups=data["groups"],
        shares_off=data["shares"]["unset"],
        shares=tuple(data["shares"]["words"]),
        device_class=data["deviceClass"],
        claim_version=data["claimVersion"],
        domain_version=data["domainVersion"],
        own_chart=OwnChart(
            name=data["ownChart"]["name"],
            repository=data["ownChart"]["repository"],
            values=tuple(data["ownChart"]["values"]),
            driver_container=data["ownChart"]["driverContainer"],
        ),
        source=data["source"],
    )
