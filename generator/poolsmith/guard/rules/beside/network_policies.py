"""NicClusterPolicy and NicNodePolicy: which nodes the network operator's parts reach, and what they advertise there.

Its DaemonSets run where Node Feature Discovery found an NVIDIA adapter, on nodes that the policy's affinity or selector
takes, and tolerate the policy's tolerations beside nvidia.com/gpu:NoSchedule.
Source: Mellanox/network-operator@b06827e:manifests/state-ofed-driver, state-rdma-shared-device-plugin.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.repository.template_marks import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion import Node
    from poolsmith.guard.ledger.placement import Requirement
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
