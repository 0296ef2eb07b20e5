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
RULE = RuleInfo.of("PSM753")
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
