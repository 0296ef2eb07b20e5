"""The rules of the chart kyverno-policies that grants can lift, and what else a pod must not hold then.

Names: charts/kyverno-policies/templates of kyverno/kyverno, the same since its version 3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import word
from poolsmith.guard.ledger.pod_privileges import asked_by_container, asked_by_pod
from poolsmith.guard.ledger.privilege import normal_path, privilege
from poolsmith.guard.policies.kyverno.terms import Allowed, PodTerms, allowed, any_of, mount_term, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.kubernetes.pods.pod import Container, Mount, Pod

    MayHold = Callable[[Container | None, Privilege], bool]
    """Whether a container, or the pod as a whole, was granted a privilege on all pools where it runs."""

_PRIVILEGED = "securityContext.privileged == `true`"
_ESCALATING = "!(securityContext.allowPrivilegeEscalation == `false`)"
_NAMESPACES = {"host-pid": "hostPID", "host-ipc": "hostIPC", "host-network": "hostNetwork"}


@record(kw_only=False)
class KyvernoRule:
    """One rule of one policy. `counts` gives the expressions that are all to be zero; none where nothing is granted."""

    policy: str
    rule: str
    privileges: tuple[str, ...]
    counts: Callable[[Pod, MayHold, PodTerms], tuple[str, ...]]


def _privileged(pod: Pod, may_hold: MayHold, terms: PodTerms) -> tuple[str, ...]:
    those = [allowed(item) for item, _, _ in _held(pod, may_hold, "privileged")]
    return (terms.others(those, _PRIVILEGED),) if those else ()


def _escalation(pod: Pod, may_hold: MayHold, terms: PodTerms) -> tuple[str, ...]:
    """A privileged container may escalate in any case."""
    plain = [allowed(item) for item, _, _ in _held(pod, may_hold, "allow-escalation")]
    privileged = [allowed(item) for item, _, _ in _held(pod, may_hold, "privileged")]
    if not plain and not privileged:
        return ()
    return terms.others([*plain, *privileged], _ESCALATING), terms.others(privileged, _PRIVILEGED)


def _capabilities(pod: Pod, may_hold: MayHold, terms: PodTerms) -> tuple[str, ...]:
    those = _by_container(
        (item, f"@ == {quoted(word(asked))}") for item, _, asked in _held(pod, may_hold, "capability")
    )
    return tuple(terms.items(those, "securityContext.capabilities.add")) if those else ()


def _ports(pod: Pod, may_hold: MayHold, terms: PodTerms) -> tuple[str, ...]:
    those = _by_container(
        (item, f"hostPort == `{token.arguments[0]}`") for item, token, _ in _held(pod, may_hold, "host-port")
    )
    return tuple(terms.items(those, "ports", "hostPort && hostPort != `0`")) if those else ()


def _namespaces(pod: Pod, may_hold: MayHold, terms: PodTerms) -> tuple[str, ...]:
    asked = {token.name: token for token, _ in asked_by_pod(pod) if token.name in _NAMESPACES}
    granted = {name for name, token in asked.items() if may_hold(None, token)}
    if not granted:
        return ()
    others = any_of(f"{field} == `true`" for name, field in _NAMESPACES.items() if name not in granted)
    return ("{{ length(" + f"[{terms.root}] | [?{others}]" + ") }}",)


def _host_paths(pod: Pod, may_hold: MayHold, terms: PodTerms) -> tuple[str, ...]:
    """Which volumes there are, and where each container has them; what none has stays so."""
    mounts = list(_held(pod, may_hold, "host-path"))
    volumes = {
        word(mount.body.get("name")): mount.host_path
        for _, _, mount in mounts
        if not (mount is None or isinstance(mount, str)) and mount.host_path is not None
    }
    for volume in pod.unmounted:
        path = volume.host_path
        if path is not None and may_hold(None, privilege("host-path", normal_path(path), "rw", "none")):
            volumes[volume.name] = path
    if not volumes:
        return ()
    named = any_of(f"name == {quoted(name)}" for name in volumes)
    those = _by_container(
        (item, mount_term(mount)) for item, _, mount in mounts if not (mount is None or isinstance(mount, str))
    )
    return terms.volumes(volumes), *terms.items(those, "volumeMounts", named)


RULES = (
    KyvernoRule("disallow-privileged-containers", "privileged-containers", ("privileged",), _privileged),
    KyvernoRule("disallow-host-path", "host-path", ("host-path",), _host_paths),
    KyvernoRule("disallow-host-namespaces", "host-namespaces", tuple(_NAMESPACES), _namespaces),
    KyvernoRule("disallow-host-ports", "host-ports-none", ("host-port",), _ports),
    KyvernoRule("disallow-capabilities", "adding-capabilities", ("capability",), _capabilities),
    KyvernoRule(
        "disallow-privilege-escalation", "privilege-escalation", ("allow-escalation", "privileged"), _escalation
    ),
)
SAID = frozenset(name for rule in RULES for name in rule.privileges)


def _held(pod: Pod, may_hold: MayHold, name: str) -> Iterator[tuple[Container, Privilege, str | Mount | None]]:
    for container in pod.readable_containers:
        for token, asked in asked_by_container(container):
            if token.name == name and may_hold(container, token):
                yield container, token, asked


def _by_container(found: Iterator[tuple[Container, str]]) -> tuple[Allowed, ...]:
    texts: dict[str, tuple[Container, list[str]]] = {}
    for container, text in found:
        texts.setdefault(container.name, (container, []))[1].append(text)
    return tuple(allowed(container, dict.fromkeys(said)) for container, said in texts.values())
