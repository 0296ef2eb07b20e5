"""What protects nodes and tenants from the pods of a pool: a line for each protection, and those that a change loses.

No grant speaks of them, for they are no privileges: a pool that turns from Kata to plain containers needs the same
grants as any other. So each one that is gone is an error until the base accepts it, by `acceptSettings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.change.review.acceptance import entries_for
from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes.outside import SWITCHED_OFF
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, mapping, mappings, pod_template_of, word
from poolsmith.fleet.plan.sandbox.confidential import is_confidential, mode_of
from poolsmith.fleet.profiles.node_pool import CcMode, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.plan.plan import PoolPlan

    Accepts = Callable[[str, str, str], bool]

NO_LONGER = "no longer "
_CC_MODES = (CcMode.ON.value, CcMode.PPCIE.value)
_LEVELS = ("baseline", "restricted")
_FEW = 4

_BOOT: dict[str, tuple[str, frozenset[str] | None]] = {
    "intel_iommu": ("iommu", frozenset(("on",))),
    "amd_iommu": ("iommu", frozenset(("on",))),
    "selinux": ("selinux", frozenset(("1",))),
    "enforcing": ("selinux enforcing", frozenset(("1",))),
    "apparmor": ("apparmor", frozenset(("1",))),
    "security": ("security module", None),
    "lsm": ("security modules", None),
    "lockdown": ("lockdown", None),
    "module.sig_enforce": ("signed modules", frozenset(("", "1"))),
    "ima_appraise": ("appraised files", frozenset(("enforce",))),
    "mem_encrypt": ("encrypted memory", frozenset(("on",))),
    "mitigations": ("mitigations", frozenset(("auto", "auto,nosmt"))),
    "nosmt": ("no shared cores", None),
}
"""Arguments of kernels that protect: what they stand for, and the values that do; None where every value does."""


class Protection(NamedTuple):
    """What is protected, by its key, the protection's name, what a pod could do without it; its field or container."""

    key: str
    name: str
    without: str
    pointer: str = ""
    container: str = ""


def of_pool(pool: PoolPlan) -> Iterator[Protection]:
    """Of the nodes of one pool."""
    key, spec = f"pool/{pool.name}", pool.profile.spec
    if spec.workload is not Workload.CONTAINER:
        without = f"its pods would share the kernel of their node; they have sandboxes ({spec.workload.value})"
        yield Protection(key, "sandbox", without, "/spec/workload")
    if is_confidential(pool):
        without = "whoever is root on the node could read the memory of its pods"
        yield Protection(key, "confidential memory", without, "/spec/workload")
    if mode_of(pool) in _CC_MODES:
        without = f"the memory of its GPUs could be read from the node; their CC mode is {mode_of(pool)}"
        yield Protection(key, "CC mode", without, "/spec/sandbox/ccMode")
    if spec.secure_boot:
        yield Protection(key, "secure boot", "its nodes would boot what nobody signed", "/spec/secureBoot")
    for argument in spec.kernel.args:
        name, _, value = argument.partition("=")
        found, values = _BOOT.get(name, ("", frozenset()))
        if found and (values is None or value in values):
            yield Protection(key, found, f"its kernels would start without `{argument}`", "/spec/kernel/args")


def of_objects(seen: SeenCluster) -> Iterator[Protection]:
    """Of what runs: confinement that manifests ask for, and images that nobody can replace."""
    for made in seen.prediction.installation.made:
        for name, without, container in _of_pod(made.body):
            yield Protection(made.key, name, without, container=container)


def of_namespaces(seen: SeenCluster) -> Iterator[Protection]:
    """Pod Security levels that refuse something."""
    for item in seen.plan.namespaces:
        if item.level in _LEVELS:
            without = f"pods with privileges would be let into namespace {item.name}"
            yield Protection(_of_namespace(item.name), f"pod security {item.level}", without)


def _of_namespace(name: str) -> str:
    return f"namespace/{name}"


def _of_pod(item: KubernetesObject) -> Iterator[tuple[str, str, str]]:
    spec = mapping(mapping(pod_template_of(item)).get("spec"))
    if spec.get("hostUsers") is False:
        yield "user namespace", "root in its pods would be root on the node", ""
    yield from ((what, why, "") for what, why in _of_context(spec.get("securityContext"), "its pods"))
    for field in CONTAINER_FIELDS:
        for container in mappings(spec.get(field)):
            name = word(container.get("name"))
            who = f"container {name}"
            for what, why in _of_context(container.get("securityContext"), who):
                yield f"{what} of {who}", why, name
            if "@sha256:" in word(container.get("image")):
                yield f"digest of the image of {who}", "whoever may push a tag would choose what runs", name


def _of_context(context: Any, who: str) -> Iterator[tuple[str, str]]:
    known = mapping(context)
    for field, name in (("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")):
        if word(mapping(known.get(field)).get("type")) in ("RuntimeDefault", "Localhost"):
            yield name, f"{who} would run without a profile of {name}"
    kind = word(mapping(known.get("seLinuxOptions")).get("type"))
    if kind and kind != "spc_t" and "unconfined" not in kind:
        yield "SELinux", f"{who} would run without its SELinux type `{kind}`"


@record(kw_only=False)
class _Loss:
    protection: Protection
    place: Location


def lost_protections(change: ClusterChange, accepts: Accepts) -> Iterator[Diagnostic]:
    """What the base has and the change does not, in words; a cluster that is new or gone loses nothing."""
    before, after = change.before, change.after
    if before is None or after is None:
        return
    losses = [*_of_source(before, after), *_of_pools(before, after), *_of_others(before, after)]
    by_place: dict[tuple[str, str, str], list[_Loss]] = {}
    for loss in losses:
        key, name, without, pointer, _ = loss.protection
        if not accepts(change.name, key, NO_LONGER + name):
            by_place.setdefault((key, pointer, "" if pointer else without), []).append(loss)
    for (key, _, _), found in by_place.items():
        names = listed((loss.protection.name for loss in found), _FEW)
        whys = "; ".join(dict.fromkeys(loss.protection.without for loss in found[:_FEW]))
        yield diagnose(
            SWITCHED_OFF,
            f"`{key}` of `{change.name}` would lose a protection, {names}: {whys}",
            found[0].place,
            help=entries_for(change.name, [(key, NO_LONGER + item.protection.name) for item in found], "keep it"),
            subject=change.name,
        )


def _of_source(before: SeenCluster, after: SeenCluster) -> Iterator[_Loss]:
    """What the source has to be signed with. Whether another demand is a stricter one, only people can tell."""
    had, has = before.plan.cluster.spec.delivery.verify, after.plan.cluster.spec.delivery.verify
    if had is None or has == had or after.loaded.file is None:
        return
    told = "is no longer verified" if has is None else "is verified in another way than in the base"
    without = f"the source that `{after.plan.name}` is delivered from {told}"
    pointer = "/spec/delivery"
    yield _Loss(
        Protection("delivery", "verification of the source", without, pointer), after.loaded.file.locate(pointer)
    )


def _of_pools(before: SeenCluster, after: SeenCluster) -> Iterator[_Loss]:
    """Of pools with the same name, and of others that get the nodes: by their label value, or by name."""
    loaded = {item.pool.name: item for item in after.loaded.pools}
    for old in before.plan.pools:
        had = {item.name: item for item in of_pool(old)}
        for new in after.plan.pools if had else ():
            if new.name != old.name and not _shares_nodes(old, new):
                continue
            has = {item.name for item in of_pool(new)}
            for name in sorted(had.keys() - has):
                lost = had[name]._replace(key=f"pool/{new.name}")
                layers = loaded[new.name].layers
                yield _Loss(lost, layers.owner(lost.pointer).locate(lost.pointer))


def _shares_nodes(one: PoolPlan, other: PoolPlan) -> bool:
    return one.label_value == other.label_value or not set(one.node_names).isdisjoint(other.node_names)


def _of_others(before: SeenCluster, after: SeenCluster) -> Iterator[_Loss]:
    """Of objects that both have; an object that is gone, or a container, is no loss."""
    file = after.loaded.file
    place = file.locate("/spec/stack") if file is not None else whole_file(after.plan.cluster.path)
    there = {made.key: _containers(made.body) for made in after.prediction.installation.made}
    there |= {_of_namespace(item.name): frozenset(("",)) for item in after.plan.namespaces}
    kept = {(item.key, item.name) for item in (*of_objects(after), *of_namespaces(after))}
    for item in (*of_objects(before), *of_namespaces(before)):
        if item.container in there.get(item.key, ()) and (item.key, item.name) not in kept:
            yield _Loss(item, place)


def _containers(item: KubernetesObject) -> frozenset[str]:
    """Their names, and an empty one for the pod as a whole."""
    spec = mapping(mapping(pod_template_of(item)).get("spec"))
    return frozenset(("", *(word(one.get("name")) for field in CONTAINER_FIELDS for one in mappings(spec.get(field)))))
