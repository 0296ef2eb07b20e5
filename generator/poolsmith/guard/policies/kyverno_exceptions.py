"""PolicyExceptions of Kyverno for the predicted workloads of a cluster, never wider than its grants.

`kyverno.io/v2` with `spec.conditions`: Kyverno 1.12 and later (api/kyverno/v2/policy_exception_types.go). An exception
lifts a whole rule for a pod. So its conditions say what else the pod must not hold: containers by name and image,
host paths, where they are mounted, and the service account. Kyverno cannot tell pools apart: what is not granted on all
pools where a workload runs is left out.

A condition is a JMESPath expression that counts what a pod holds beyond what it may, and asks for zero.
It does not use the operators AllIn or AnyNotIn: these read the pod's own text as a pattern too, so that a `*` in a pod
would match whatever is allowed (Kyverno, pkg/engine/variables/operator).

The rules are those of the chart kyverno-policies that grants can lift.
Names: charts/kyverno-policies/templates of kyverno/kyverno, the same since its version 3.0.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import account_of, pod_template_of, word
from poolsmith.guard.ledger.grants.grant import repository_of
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE, LedgerLine
from poolsmith.guard.ledger.privilege import normal_path, privilege
from poolsmith.guard.ledger.reach import Reach
from poolsmith.guard.ledger.workload_privileges import asked_by_container, asked_by_pod, pod_privileges
from poolsmith.kubernetes.pods.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.expansion import Made
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.kubernetes.pods.pod import Container, Mount


_PLAIN = pattern(r"[A-Za-z0-9._/:@+-]*", re.ASCII)
"""What means nothing to JMESPath within quotes, nor to Kyverno, which reads braces and dollars everywhere."""


class NotSayable(ValueError):  # noqa: N818 - no mistake: the export leaves the privilege out, and says so
    """Text that can't stand in an expression."""


@record
class Allowed:
    """One container, as a name and an image's repository, and the texts that it may have."""

    name: str
    repository: str
    texts: tuple[str, ...] = ()

    @property
    def term(self) -> str:
        image = quoted(self.repository)
        tagged, pinned = quoted(f"{self.repository}:"), quoted(f"{self.repository}@")
        # A name without a folder is also the start of a host with a port: `busybox:5000/other`.
        alone = "" if "/" in self.repository else " && !contains(image, '/')"
        of_image = any_of([f"image == {image}", f"starts_with(image, {tagged})", f"starts_with(image, {pinned})"])
        return f"(name == {quoted(self.name)} && ({of_image}){alone})"


def allowed(container: Container, texts: Iterable[str] = ()) -> Allowed:
    """Raises NotSayable where there is no image: any would do."""
    repository = repository_of(word(container.body.get("image")))
    if not repository:
        raise NotSayable(f"container {container.name} has no image")
    return Allowed(name=container.name, repository=repository, texts=tuple(texts))


def quoted(text: str) -> str:
    """A string of JMESPath. Raises NotSayable."""
    if not _PLAIN.fullmatch(text):
        raise NotSayable("a name or a path has letters that an expression can't hold")
    return f"'{text}'"


def any_of(terms: Iterable[str]) -> str:
    """Whether one of them holds; false of none."""
    return " || ".join(terms) or "`false`"


def count(expression: str) -> str:
    """A variable of Kyverno: the length of a list, 0 of what is absent."""
    return "{{ length((" + expression + ") || `[]`) }}"


class PodTerms:
    """Expressions over the pod spec at `root`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.containers = f"{root}.[containers, initContainers, ephemeralContainers][] | [?name]"

    def others(self, those: Iterable[Allowed], holding: str) -> str:
        """Containers that hold something, beside those that may."""
        return count(f"{self.containers} | [?({holding}) && !({any_of(item.term for item in those)})]")

    def items(self, those: Iterable[Allowed], path: str, about: str = "@") -> Iterable[str]:
        """Items of lists at `path` in containers that are none of the texts allowed there, each a term of its own."""
        known = tuple(those)
        yield count(f"({self.containers} | [?!({any_of(item.term for item in known)})].{path}[]) | [?{about}]")
        for item in known:
            yield count(f"({self.containers} | [?{item.term}].{path}[]) | [?({about}) && !({any_of(item.texts)})]")

    def volumes(self, allowed_ones: Mapping[str, str]) -> str:
        """Host paths beside those of these volumes, by name."""
        known = any_of(
            f"(name == {quoted(name)} && hostPath.path == {quoted(path)})" for name, path in allowed_ones.items()
        )
        return count(f"{self.root}.volumes[] | [?hostPath && !({known})]")


def mount_term(mount: Mount) -> str:
    """Mounts that give no more than one does. Raises NotSayable of a path that is told with variables."""
    if mount.sub_path_expression:
        raise NotSayable("a path below a volume contains variables")
    terms = [
        f"name == {quoted(word(mount.body.get('name')))}",
        f"(subPath || '') == {quoted(mount.sub_path)}",
        "!subPathExpr",
        f"(mountPropagation || 'None') == {quoted(word(mount.body.get('mountPropagation')) or 'None')}",
    ]
    if mount.is_read_only:
        terms.append("readOnly == `true`")
    return f"({' && '.join(terms)})"


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.kubernetes.pods.pod import Container, Mount

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


_POD = "request.object.spec"
_TEMPLATE = "request.object.spec.template.spec"
_CONTROLLERS = ("DaemonSet", "Deployment", "Job", "StatefulSet")
_LAST = dt.date.max
_NAME = pattern(r"[^a-z0-9]+")
_LONGEST = 200


@record
class KyvernoExport:
    """Documents in order, and what of the granted privileges they don't say."""

    documents: tuple[dict[str, Any], ...]
    unsaid: tuple[str, ...] = ()


class _Given:
    """What valid grants allow one workload; remembers the last day on which all that was asked is granted."""

    def __init__(self, prediction: Prediction, book: GrantBook, today: dt.date) -> None:
        cluster = prediction.plan.name
        self._book = book
        self._landing = prediction.ledger.landing
        self._mirrors = prediction.plan.cluster.spec.registry.mirrors
        self._places = frozenset(place for place in book.of_cluster(cluster) if self._last_day(place) >= today)
        self.until = _LAST
        self.grants: set[str] = set()

    def _last_day(self, place: int) -> dt.date:
        return self._book.grants[place].last_day or _LAST

    def holds(self, made: Made, container: Container | None, privilege: Privilege) -> bool:
        """On each of the pools where the workload runs."""
        name = "" if container is None else container.name
        image = "" if container is None else word(container.body.get("image"))
        repository = self._book.name_of(repository_of(image), self._mirrors)
        namespace, _, workload = made.key.partition("/")
        best: list[int] = []
        for pool in self._landing.get(made.key) or (NO_KNOWN_NODE,):
            line = LedgerLine(pool, workload, name, privilege, Reach.NONE, (), namespace)
            granting = self._book.granting(line, repository, self._places)
            if not granting:
                return False
            best.append(max((item.grant for item in granting), key=self._last_day))
        self.until = min(self.until, *(self._last_day(place) for place in best))
        self.grants.update(self._book.grants[place].name for place in best)
        return True


def kyverno_exceptions(prediction: Prediction, book: GrantBook, today: dt.date, namespace: str) -> KyvernoExport:
    """`today` is the day for which grants count; `namespace` is the one from which Kyverno takes exceptions."""
    documents: list[dict[str, Any]] = []
    unsaid: set[str] = set()
    for made in prediction.installation.made:
        template = pod_template_of(made.body)
        if template is None:
            continue
        pod = Pod.of(template)
        for rule in RULES:
            given = _Given(prediction, book, today)
            try:
                documents.extend(_of_rule(made, pod, rule, given, namespace))
            except NotSayable as problem:
                unsaid.add(f"{made.key}: {rule.policy}: {problem}")
        others = sorted({token.name for _, token in pod_privileges(template)} - SAID)
        unsaid.update(f"{made.key}: no exception for {name}" for name in others)
    return KyvernoExport(documents=tuple(documents), unsaid=tuple(sorted(unsaid)))


def _of_rule(made: Made, pod: Pod, rule: KyvernoRule, given: _Given, namespace: str) -> Iterator[dict[str, Any]]:
    """For the pods, and for what makes them: Kyverno derives rules for these from the rule for pods."""

    def may_hold(container: Container | None, privilege: Privilege) -> bool:
        return given.holds(made, container, privilege)

    kind = str(made.body["kind"])
    template = pod_template_of(made.body)
    for of_pod in (True, False) if kind in _CONTROLLERS else (True,) if kind == "Pod" else ():
        terms = PodTerms(_POD if of_pod else _TEMPLATE)
        counts = rule.counts(pod, may_hold, terms)
        if counts:
            account = f"(serviceAccountName || 'default') != {quoted(account_of(template))}"
            counts = (*counts, count(f"[{terms.root}] | [?{account}]"), *(_owned(made) if of_pod else ()))
            yield _document(made, rule, given, counts, of_pod=of_pod, namespace=namespace)


def _owned(made: Made) -> Iterator[str]:
    """Pods have the owner that the workload's controller gives them."""
    kind, name = str(made.body["kind"]), made.name
    if kind == "Pod":
        return
    owner = f"kind == {quoted(kind)} && name == {quoted(name)}"
    if kind == "Deployment":
        start = quoted(f"{name}-")
        owner = any_of([f"kind == 'ReplicaSet' && starts_with(name, {start})"])
    yield count(f"[request.object.metadata] | [?!(ownerReferences[?{owner}])]")


def _document(
    made: Made, rule: KyvernoRule, given: _Given, counts: tuple[str, ...], *, of_pod: bool, namespace: str
) -> dict[str, Any]:
    kind = "Pod" if of_pod else str(made.body["kind"])
    names = made.name if kind == made.body["kind"] else f"{made.name}-*"
    metadata: dict[str, Any] = {"name": _name(made, rule, kind), "namespace": namespace}
    if given.until < _LAST:
        metadata["labels"] = {"cleanup.kyverno.io/ttl": (given.until + dt.timedelta(days=1)).isoformat()}
    metadata["annotations"] = {"poolsmith.dev/grants": ", ".join(sorted(given.grants))}
    resources: Mapping[str, Any] = {
        "kinds": [kind],
        "namespaces": [str(made.body["metadata"].get("namespace") or "default")],
        "names": [names],
    }
    return {
        "apiVersion": "kyverno.io/v2",
        "kind": "PolicyException",
        "metadata": metadata,
        "spec": {
            "match": {"any": [{"resources": resources}]},
            "conditions": {"all": [{"key": text, "operator": "Equals", "value": 0} for text in counts]},
            "exceptions": [
                {"policyName": rule.policy, "ruleNames": [rule.rule if of_pod else f"autogen-{rule.rule}"]},
            ],
        },
    }


def _name(made: Made, rule: KyvernoRule, kind: str) -> str:
    """Readable, and different for each workload, rule and kind."""
    mark = hashlib.sha256(f"{made.key} {rule.policy} {kind}".encode()).hexdigest()[:8]
    return f"{_NAME.sub('-', f'{made.name}-{kind}-{rule.policy}'.lower()).strip('-')[:_LONGEST]}-{mark}"
