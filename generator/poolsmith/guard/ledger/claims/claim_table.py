"""Which claims the containers of a cluster's pods may make, as data of the privilege policy, and what a check costs.

The cost is an upper bound, in the API server's units of CEL. An expression that costs more than the limit ends in an
error, and the pod is refused. Clusters that are alike share one table. Source: kubernetes/kubernetes:
staging/src/k8s.io/apiserver/pkg/apis/cel/config.go, PerCallLimit. The factors were measured with k8s.io/apiserver.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record, replace
from poolsmith.core.sources.pod_template import mapping, pod_template_of
from poolsmith.gpu.catalog.chart_workloads import other_runtime_classes
from poolsmith.guard.ledger.claims.pod_claims import claims_of
from poolsmith.guard.ledger.grants.grant import repository_of
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE, LedgerLine
from poolsmith.guard.ledger.reach import Reach
from poolsmith.kubernetes.pods.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.guard.ledger.claims.pod_claims import ContainerClaims
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.prediction import Prediction, Shared
    from poolsmith.guard.ledger.privilege import Privilege


COST_LIMIT = 1_000_000

_A_CONTAINER = 1_100
_A_TEXT = 30
_A_MOUNT = 120
_A_LETTER = 0.5
_A_COMPARISON = 1.1
_A_LOOK_UP = 5.5
"""Of a mount's volume, and of a volume's mounts."""


def judging_cost(pod: Pod, containers: Sequence[ContainerClaims]) -> int:
    """Of all expressions together, for a pod that is as predicted."""
    volumes = len(pod.volumes.by_name)
    mounts = sum(len(container.mounts) for container in pod.readable_containers)
    cost = _A_CONTAINER + 2 * _A_LOOK_UP * volumes * mounts + _A_MOUNT * mounts + _A_TEXT * volumes
    for claims in containers:
        texts = [want.text for want in claims.wants] + list(claims.has)
        letters = sum(map(len, texts)) + len(claims.key)
        cost += _A_CONTAINER + len(texts) * (_A_TEXT + _A_COMPARISON * len(texts)) + _A_LETTER * letters
    return int(cost)


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.guard.ledger.claims.pod_claims import ContainerClaims
    from poolsmith.guard.ledger.privilege import Privilege

    Granted = Callable[[str, str, str, Privilege], bool]
    """Whether some grant gives a privilege: namespace/Kind/name of the workload, container, image, privilege.

    The container is empty for what the pod holds as a whole.
    """

_RUNTIME_CLASS = "pod:runtimeClassName="
_SCRIPT = pattern(r"<script ([0-9]{1,9}) chars>")


@record(kw_only=False)
class ClaimTable:
    """`identities` map the key of a container to the texts that it may have, sorted.

    `namespaces` are those in which something wants a privilege; `unknown` containers whose command is not known in
    full, as workload and container: their pods are refused. `costly` are workloads whose pods the API server may not
    be able to judge.
    """

    identities: Mapping[str, tuple[str, ...]]
    accounts: tuple[str, ...]
    repositories: tuple[str, ...]
    namespaces: tuple[str, ...]
    unknown: tuple[tuple[str, str], ...] = ()
    costly: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((self.accounts, self.namespaces, len(self.identities)))

    def __or__(self, other: ClaimTable) -> ClaimTable:
        """What either allows: for as long as the pods of both may start."""
        keys = {*self.identities, *other.identities}
        return ClaimTable(
            {key: _merged(self.identities.get(key, ()), other.identities.get(key, ())) for key in sorted(keys)},
            _merged(self.accounts, other.accounts),
            _merged(self.repositories, other.repositories),
            _merged(self.namespaces, other.namespaces),
            tuple(sorted({*self.unknown, *other.unknown})),
            _merged(self.costly, other.costly),
        )

    def holding(self, namespaces: tuple[str, ...]) -> ClaimTable:
        """The same, for these namespaces only."""
        return replace(self, namespaces=namespaces)


def claim_table(objects: Iterable[KubernetesObject], granted: Granted, scripts: Iterable[str] = ()) -> ClaimTable:
    """Of predicted objects. `scripts` are texts for what the catalog knows by its length only."""
    known_scripts = tuple(scripts)
    identities: dict[str, set[str]] = {}
    accounts: set[str] = set()
    repositories: set[str] = set()
    privileged: set[str] = set()
    unknown: set[tuple[str, str]] = set()
    costly: set[str] = set()
    for item in objects:
        template = pod_template_of(item)
        if template is None:
            continue
        namespace = item["metadata"].get("namespace") or "default"
        workload = f"{namespace}/{item['kind']}/{item['metadata'].get('name', '')}"
        containers = claims_of(_annotated(template), namespace)
        if judging_cost(Pod.of(template), containers) > COST_LIMIT:
            costly.add(workload)
        for claims in containers:
            accounts.add(claims.account)
            repositories.add(claims.repository)
            if claims.wants:
                privileged.add(namespace)
            forms = _with_scripts(claims, known_scripts)
            if not forms or any(_SCRIPT.search(text) for text in claims.has):
                unknown.add((workload, claims.name))
            for form in forms:
                identities.setdefault(form.key, set()).update(_allowed(form, workload, granted))
    return ClaimTable(
        {key: tuple(sorted(identities[key])) for key in sorted(identities)},
        tuple(sorted(accounts)),
        tuple(sorted(repositories)),
        tuple(sorted(privileged)),
        tuple(sorted(unknown)),
        tuple(sorted(costly)),
    )


def _annotated(template: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the annotations that some API servers add; pods may have fewer than is allowed."""
    pod = Pod.of(template)
    if not pod.app_armor_annotations:
        return template
    annotations = {**pod.annotations, **pod.app_armor_annotations}
    return {**template, "metadata": {**mapping(template.get("metadata")), "annotations": annotations}}


def _allowed(claims: ContainerClaims, workload: str, granted: Granted) -> Iterable[str]:
    yield from claims.has
    for text in claims.has:
        if text.startswith(_RUNTIME_CLASS):
            others = other_runtime_classes().get(text.removeprefix(_RUNTIME_CLASS), ())
            yield from (f"{_RUNTIME_CLASS}{name}" for name in others)
    for want in claims.wants:
        container = "" if want.whole else claims.name
        if want.privilege is None or granted(workload, container, claims.image, want.privilege):
            yield want.text


def _with_scripts(claims: ContainerClaims, scripts: tuple[str, ...]) -> tuple[ContainerClaims, ...]:
    """The container with each script of the right length in the place of a marker; none where there is none."""
    forms = [claims]
    for field in ("command", "args"):
        texts: tuple[str, ...] = getattr(claims, field)
        for index, text in enumerate(texts):
            found = _SCRIPT.fullmatch(text)
            if found is not None:
                fitting = [script for script in scripts if len(script) == int(found[1])]
                forms = [_replaced(form, field, index, script) for form in forms for script in fitting]
    return tuple(forms)


def _replaced(claims: ContainerClaims, field: str, index: int, text: str) -> ContainerClaims:
    texts = list(getattr(claims, field))
    texts[index] = text
    return replace(claims, command=tuple(texts)) if field == "command" else replace(claims, args=tuple(texts))


def _merged(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))


_REMEMBERED = 32


@record(kw_only=False, eq=False)
class _Asked:
    """What a table follows from; installation and grants are the same when they are the same objects."""

    shared: Shared
    book: GrantBook
    given: frozenset[int]
    scripts: tuple[str, ...]
    mirrors: tuple[tuple[str, str], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and (
            self.shared is other.shared
            and self.book is other.book
            and (self.given, self.scripts, self.mirrors) == (other.given, other.scripts, other.mirrors)
        )

    def __hash__(self) -> int:
        return hash((id(self.shared), id(self.book), self.given, self.scripts, self.mirrors))


def granted_claims(prediction: Prediction, book: GrantBook, scripts: Iterable[str] = ()) -> ClaimTable:
    """What the grants allow the predicted workloads of a cluster, on any of the pools that each lands on."""
    mirrors = tuple(sorted(prediction.plan.cluster.spec.registry.mirrors.items()))
    return _table(_Asked(prediction.shared, book, book.of_cluster(prediction.plan.name), tuple(scripts), mirrors))


@lru_cache(maxsize=_REMEMBERED)
def _table(asked: _Asked) -> ClaimTable:
    landing, mirrors = asked.shared.ledger.landing, dict(asked.mirrors)

    def granted(key: str, container: str, image: str, privilege: Privilege) -> bool:
        namespace, _, workload = key.partition("/")
        return any(
            asked.book.allows(
                LedgerLine(pool, workload, container, privilege, Reach.NONE, (), namespace),
                asked.book.name_of(repository_of(image), mirrors),
                asked.given,
            )
            for pool in landing.get(key) or (NO_KNOWN_NODE,)
        )

    return claim_table(asked.shared.installation.objects, granted, asked.scripts)
