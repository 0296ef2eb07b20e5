"""Pods that name NVIDIA's runtime class where CRI-O is given a hook, and no runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import line_of
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.container_runtimes import CRIO
from poolsmith.gpu.catalog.stack_objects import OLM_PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM946")
_CLASS, _MODE, _OPENSHIFT = "nvidia", "CRIO_CONFIG_MODE", "openshift"
_MARKETPLACE = "openshift-marketplace"
"""Where OpenShift has its catalogs; OLM by itself, on any cluster, has them elsewhere."""
_POLICY = "ClusterPolicy"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    pods = [pod for pod in view.pods if pod.spec.get("runtimeClassName") == _CLASS]
    if pods and _has_crio(view) and any(_hooks(*found) for found in _operators(view)):
        for pod in pods:
            yield Finding(
                message=f"{pod.owner.name} names the class `{_CLASS}`, and without CDI the toolkit gives CRI-O a hook "
                "alone: the class has no runtime",
                place=pod.place("/runtimeClassName"),
                help=f"leave it out, or write `{_MODE}: config` into the toolkit's variables",
            )


def _has_crio(view: LinkView) -> bool:
    if view.nodes:
        return {node.runtime for node in view.nodes} == {CRIO}
    is_openshift = any(item.spec.get("sourceNamespace") == _MARKETPLACE for item in view.of_kind("Subscription"))
    return view.distributions == {_OPENSHIFT} or (is_openshift and not view.distributions)


def _operators(view: LinkView) -> Iterator[tuple[str, Any, Iterator[Mapping[str, Any]]]]:
    """Of each the release, what is said of CDI, and the toolkit's variables."""
    for chart in view.charts:
        if chart.is_operator and not chart.partial:
            yield chart.version or "", chart.value("cdi.enabled"), mappings(chart.known("toolkit.env"))
    policy = next((item.spec for item in view.of_kind(_POLICY)), {})
    for item in view.of_kind("Subscription"):
        if item.spec.get("name") == OLM_PACKAGE:
            release = word(item.spec.get("startingCSV")).partition(".")[2] or word(item.spec.get("channel"))
            said = mapping(policy.get("cdi")).get("enabled")
            yield release, said, mappings(value_at(policy, ("toolkit", "env")))


def _hooks(release: str, cdi: object, env: Iterator[Mapping[str, Any]]) -> bool:
    if any(item.get("name") == _MODE for item in env) or not release:
        return False
    rows = store.table("releases.yaml")["releases"].values()
    default = next((row["cdiDefault"] for row in rows if row["line"] == line_of(release)), None)
    return (cdi if isinstance(cdi, bool) else default) is False
