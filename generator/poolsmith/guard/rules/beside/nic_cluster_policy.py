"""The network operator's policies: nodes they reach, resources they advertise, checked against the pools' adapters.

The policies are NicClusterPolicy and NicNodePolicy, and the check includes the pools' GPUDirect RDMA.

Its DaemonSets run where Node Feature Discovery found an NVIDIA adapter, on nodes that the policy's affinity or selector
takes, and tolerate the policy's tolerations beside nvidia.com/gpu:NoSchedule.
Source: Mellanox/network-operator@b06827e:manifests/state-ofed-driver, state-rdma-shared-device-plugin.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import (
    containers_of,
    mapping,
    mappings,
    pod_template_of,
    pod_template_pointer,
    word,
    words,
)
from poolsmith.core.sources.scalars import text_of
from poolsmith.fleet.profiles.toleration import covered
from poolsmith.kubernetes.repository.kustomize_roots import changed_files, patch_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.guard.ledger.placement import Requirement
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree


KINDS = ("NicClusterPolicy", "NicNodePolicy")
AFFINITY = "nodeAffinity"
_GROUP = "mellanox.com/"
_ALWAYS: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
_UNDECLARED = "not-declared"


def network_policies(tree: CheckedTree) -> list[CheckedDocument]:
    return [item for item in tree.objects if item.kind in KINDS and item.api_version.startswith(_GROUP)]


def spec_of(policy: CheckedDocument) -> Mapping[str, Any]:
    return mapping(policy.data.get("spec"))


def selects(policy: CheckedDocument, node: Node, known: frozenset[str]) -> bool | None:
    """Whether the policy takes a node; None: it looks at labels that no profile tells. `known` are keys of labels of
    which a profile says also that they are absent.
    """
    from poolsmith.guard.ledger.placement import Requirement, requirements_of  # on demand

    spec = spec_of(policy)
    wanted = tuple(
        Requirement(str(key), "In", (text_of(value),)) for key, value in mapping(spec.get("nodeSelector")).items()
    )
    answers = [_all(wanted, node, known)]
    required = mapping(spec.get(AFFINITY)).get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is not None:
        terms = mappings(mapping(required).get("nodeSelectorTerms"))
        found = [_all(requirements_of(term.get("matchExpressions")), node, known) for term in terms]
        answers.append(True if True in found else None if None in found else False)
    return False if False in answers else None if None in answers else True


def _all(requirements: tuple[Requirement, ...], node: Node, known: frozenset[str]) -> bool | None:
    answers = [
        item.holds(node.labels) if item.key in known or node.labels.get(item.key, _UNDECLARED) != _UNDECLARED else None
        for item in requirements
    ]
    return False if False in answers else None if None in answers else True


def tolerations_of(policy: CheckedDocument) -> list[dict[str, Any]]:
    return [*mappings(spec_of(policy).get("tolerations")), _ALWAYS]


def shared_resources(policy: CheckedDocument) -> Iterator[dict[str, Any]] | None:
    """Entries of the shared device plugin's configuration; None where it is no JSON with a list of them."""
    config = mapping(spec_of(policy).get("rdmaSharedDevicePlugin")).get("config")
    if not isinstance(config, str):
        return iter(())
    try:
        read = json.loads(config)
    except (ValueError, RecursionError):
        return None
    listed = read.get("configList") if isinstance(read, dict) else None
    return mappings(listed) if isinstance(listed, list) else None


def advertised(policy: CheckedDocument) -> set[str] | None:
    """Names of RDMA resources below `rdma/`; None where nobody can tell."""
    found = shared_resources(policy)
    if found is None:
        return None
    return {f"{word(entry.get('resourcePrefix')) or 'rdma'}/{word(entry.get('resourceName'))}" for entry in found}


RULE = RuleInfo.of("PSM808")
_ADAPTER = "15b3"
_OFED = "ofedDriver"
_PLUGIN = "/spec/rdmaSharedDevicePlugin/config"


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    policies = network_policies(view.tree)
    elsewhere = changed_files(view.tree) | patch_files(view.tree)
    if not policies or any(policy.path in elsewhere for policy in policies):
        return  # what a kustomization makes of a policy is not known here
    from poolsmith.fleet.operands.pool_nodes import pool_nodes  # on demand

    nodes = {node.name: node for node in pool_nodes(view.plan, view.catalog.gpus)}
    for pool in view.pools:
        driver = pool.plan.profile.spec.driver
        if driver.rdma and pool.plan.profile.spec.nic.value != "none":
            if driver.use_host_mofed:
                yield from _two_drivers(view, policies, pool, nodes[pool.name])
            else:
                yield from _no_driver(view, policies, pool, nodes[pool.name])
    for policy in policies:
        yield from _resources(policy)
    yield from _not_advertised(view, policies)


def _known(view: NeighbourView) -> frozenset[str]:
    return frozenset((view.pool_label,))


def _two_drivers(
    view: NeighbourView, policies: list[CheckedDocument], pool: NeighbourPool, node: Node
) -> Iterator[Finding[Location]]:
    for policy in policies:
        if (
            isinstance(spec_of(policy).get(_OFED), dict)
            and selects(policy, node, _known(view))
            and not _kept_away(policy, pool)
        ):
            yield Finding(
                message=f"{policy.name} installs a network driver on nodes of pool `{pool.name}`, whose hosts have one "
                "(`driver.useHostMofed`)",
                place=policy.source.locate(f"/spec/{_OFED}"),
                help=f"leave the pool out by `{AFFINITY}`, or remove `useHostMofed` from its profile",
                related=(pool.place("/spec/driver/useHostMofed", "the host has one"),),
            )


def _no_driver(
    view: NeighbourView, policies: list[CheckedDocument], pool: NeighbourPool, node: Node
) -> Iterator[Finding[Location]]:
    """The nearest reason, where for certain none of the policies brings a driver."""
    having = [policy for policy in policies if isinstance(spec_of(policy).get(_OFED), dict)]
    related = (pool.place("/spec/driver/rdma", "waits for a network driver"),)
    if not having:
        yield Finding(
            message=f"pool `{pool.name}` has `driver.rdma`, and {policies[0].name} installs no network driver "
            f"(`{_OFED}`)",
            place=policies[0].source.locate("/spec"),
            help=f"add `{_OFED}`, or write `useHostMofed: true` in the profile if the hosts bring the driver",
            related=related,
        )
        return
    answers = {id(policy): selects(policy, node, _known(view)) for policy in having}
    if not any(answer is not False for answer in answers.values()):
        policy = having[0]
        where = f"/spec/{AFFINITY}" if AFFINITY in spec_of(policy) else "/spec/nodeSelector"
        yield Finding(
            message=f"pool `{pool.name}` has `driver.rdma`, and {policy.name} does not select its nodes: no network "
            "driver comes",
            place=policy.source.locate(where),
            help=f"let it take nodes with `{view.pool_label}: {pool.plan.label_value}`",
            related=related,
        )
        return
    reaching = [policy for policy in having if answers[id(policy)] is not False]
    if all(_kept_away(policy, pool) for policy in reaching):
        policy = reaching[0]
        taints = _kept_away(policy, pool)
        yield Finding(
            message=f"pool `{pool.name}` has `driver.rdma`, and what {policy.name} runs does not tolerate its taints "
            f"{listed(taints)}: no network driver comes",
            place=policy.source.locate("/spec/tolerations" if "tolerations" in spec_of(policy) else "/spec"),
            help=f"add `tolerations: [{{key: {taints[0]}, operator: Exists}}]`",
            related=related,
        )


def _kept_away(policy: CheckedDocument, pool: NeighbourPool) -> list[str]:
    """Keys of taints that are not tolerated, startup taints included: the GPUs can't be used before."""
    tolerations = tolerations_of(policy)
    return [taint.key for taint in pool.plan.taints_of_new_nodes if covered(taint.body, tolerations) is False]


def _resources(policy: CheckedDocument) -> Iterator[Finding[Location]]:
    found = shared_resources(policy)
    if found is None:
        yield Finding(
            message=f"the configuration of the RDMA device plugin in {policy.name} is no JSON with a `configList`",
            place=policy.source.locate(_PLUGIN),
            help="correct it; the plugin advertises nothing",
        )
        return
    seen: set[str] = set()
    for entry in found:
        name = word(entry.get("resourceName"))
        count = entry.get("rdmaHcaMax")
        vendors = words(mapping(entry.get("selectors")).get("vendors"))
        if isinstance(count, int) and not isinstance(count, bool) and count < 1:
            yield _resource(policy, f"`rdma/{name}` is advertised {count} times", "write how many pods may share it")
        if vendors and _ADAPTER not in vendors:
            message = f"`rdma/{name}` is of adapters of {listed(vendors)}, and NVIDIA's are `{_ADAPTER}`"
            yield _resource(policy, message, f'write `"vendors": ["{_ADAPTER}"]`')
        if name in seen:
            yield _resource(policy, f"`rdma/{name}` is described twice", "give them different names")
        seen.add(name)


def _resource(policy: CheckedDocument, message: str, advice: str) -> Finding[Location]:
    return Finding(
        message=f"{message} in {policy.name}",
        place=policy.source.locate(_PLUGIN),
        help=advice,
        severity=Severity.WARNING,
    )


def _not_advertised(view: NeighbourView, policies: list[CheckedDocument]) -> Iterator[Finding[Location]]:
    """Only where all that is advertised below `rdma/` is known."""
    offers: set[str] = set()
    for policy in policies:
        names = advertised(policy)
        if names is None or isinstance(spec_of(policy).get("sriovDevicePlugin"), dict):
            return
        offers |= names
    if not offers:
        return
    for document in view.tree.objects:
        template = pod_template_of(document.data)
        if template is None:
            continue
        asked = {
            name
            for container in containers_of(mapping(template.get("spec")))
            for name in mapping(mapping(container.get("resources")).get("limits"))
            if isinstance(name, str) and name.startswith("rdma/") and name not in offers
        }
        for name in sorted(asked):
            yield Finding(
                message=f"pods of {document.name} ask for `{name}`, and no policy here advertises it: "
                f"{listed(sorted(offers))}",
                place=document.source.locate(f"{pod_template_pointer(document.data) or ''}/spec/containers"),
                help="write the name that rdmaSharedDevicePlugin has",
                severity=Severity.WARNING,  # a plugin of one's own may advertise it
            )
