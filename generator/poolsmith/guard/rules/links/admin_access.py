"""Claims with admin access to GPUs, and the namespaces that may make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.gpu.catalog.gpu_requests import device_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

LABEL = "resource.kubernetes.io/admin-access"
RULE = RuleInfo(
    code="PSM753",
    name="admin-access",
    applies_to="manifest",
    what="A claim, or a template of claims, asks for `adminAccess`, and its namespace lacks the label that allows it.",
    why="Admin access reaches devices that belong to others, so the API server takes such a claim only in a namespace "
    f"with the label `{LABEL}`. Pods that use the claim never start.",
    fix=f'label the namespace of the monitoring agent `{LABEL}: "true"`, and no namespace of a tenant',
    bad="kind: Namespace\nmetadata: {name: gpu-metrics}\n# beside a ResourceClaimTemplate with adminAccess\n",
    good=f'kind: Namespace\nmetadata: {{name: gpu-metrics, labels: {{{LABEL}: "true"}}}}\n',
    symptom="`admin access to devices requires the resource.kubernetes.io/admin-access: true label on the containing "
    "namespace`",
    references=("kubernetes/kubernetes:staging/src/k8s.io/api/resource/v1/types.go, DRAAdminNamespaceLabelKey",),
)
_GROUP = "resource.k8s.io"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for item in view.of_kind("ResourceClaim", "ResourceClaimTemplate"):
        namespace = view.namespaces.get(word(item.metadata.get("namespace")))
        if item.group != _GROUP or namespace is None or _is_allowed(namespace):
            continue
        for place in _admin(item):
            yield Finding(
                message=f"{item.name} asks for admin access, and its namespace `{namespace.own_name}` lacks the label "
                f"`{LABEL}`: the API server refuses the claim",
                place=place,
                help=f'write the label `{LABEL}: "true"` into the namespace, unless it is a tenant\'s: there it hands '
                "out every GPU",
                related=(namespace.place("/metadata/name", "the namespace"),),
            )


def _admin(item: SetupObject) -> Iterator[Location]:
    top = "/spec/spec" if item.kind == "ResourceClaimTemplate" else "/spec"
    claim = mapping(item.spec.get("spec")) if item.kind == "ResourceClaimTemplate" else item.spec
    for at, request in device_requests(claim):
        if request.get("adminAccess") is True:
            yield item.place(f"{top}{at}/adminAccess")


def _is_allowed(namespace: SetupObject) -> bool:
    return mapping(namespace.metadata.get("labels")).get(LABEL) == "true"
