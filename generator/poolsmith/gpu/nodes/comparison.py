"""One node held against its pool: which facts are otherwise, and which nobody says.

A fact that only one of the two says contradicts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.nodes.node_facts import NodeFacts, Told


@record(kw_only=False)
class Difference:
    """One fact of a node, the pointer at which the pool says it, what the node is, and what the pool says."""

    what: str
    pointer: str
    live: str
    wanted: tuple[str, ...]


@record(kw_only=False)
class Comparison:
    """`unknown` are the facts that the pool says and the node does not."""

    differs: tuple[Difference, ...]
    unknown: tuple[str, ...]


@record(kw_only=False)
class _Rule:
    """A fact in words, where nodes have it, and when a value of a node is one of the pool's."""

    what: str
    said: Callable[[NodeFacts], tuple[Told, ...]]
    fits: Callable[[str, str, Gpus], bool]


SYSTEM, SYSTEM_VERSION = "the operating system", "the version of the operating system"
RUNTIME, RUNTIME_VERSION = "the container runtime", "the container runtime's version"


def compare(node: NodeFacts, pool: Sequence[NodeFacts], gpus: Gpus) -> Comparison:
    """`pool` has one entry for each system that its nodes may run."""
    found = [*_of_systems(node, pool), *_of_rules(node, pool, gpus)]
    return Comparison(
        tuple(item for item in found if isinstance(item, Difference)),
        tuple(item for item in found if isinstance(item, str)),
    )


def _of_systems(node: NodeFacts, pool: Sequence[NodeFacts]) -> Iterator[Difference | str]:
    """The first source that contradicts: of another system the version says nothing."""
    identities = _wanted(pool, lambda facts: (facts.system_id,) if facts.system_id else ())
    versions = _wanted(pool, lambda facts: (facts.system_version,) if facts.system_version else ())
    for system in node.systems:
        if system.id is not None and identities and system.id.value not in identities:
            yield _difference(SYSTEM, identities, system.id.value)
            return
        version = system.version
        if version is not None and versions and not any(is_version(version.value, item) for item in versions):
            yield _difference(SYSTEM_VERSION, versions, version.value)
            return
    if identities and node.system_id is None:
        yield SYSTEM
    if versions and node.system_version is None:
        yield SYSTEM_VERSION


def _of_rules(node: NodeFacts, pool: Sequence[NodeFacts], gpus: Gpus) -> Iterator[Difference | str]:
    other_runtime = False
    for rule in _RULES:
        wanted, live = _wanted(pool, rule.said), rule.said(node)
        if not wanted or (rule.what == RUNTIME_VERSION and other_runtime):
            continue
        if not live:
            yield rule.what
            continue
        other = next((item for item in live if not any(rule.fits(item.value, value, gpus) for value in wanted)), None)
        if other is not None:
            yield _difference(rule.what, wanted, other.value)
            other_runtime = other_runtime or rule.what == RUNTIME


def _wanted(pool: Sequence[NodeFacts], said: Callable[[NodeFacts], tuple[Told, ...]]) -> dict[str, str]:
    """Values, each once, with the pointer of the first that says it."""
    found: dict[str, str] = {}
    for facts in pool:
        for told in said(facts):
            found.setdefault(told.value, told.pointer)
    return found


def _difference(what: str, wanted: dict[str, str], live: str) -> Difference:
    return Difference(what, next(iter(wanted.values())), live, tuple(wanted))


def is_version(live: str, wanted: str) -> bool:
    """The same, or a closer one: `1.7.24` is 1.7, `580.95.05` is branch 580."""
    return live == wanted or live.startswith((f"{wanted}.", f"{wanted}-", f"{wanted}+"))


def is_product(live: str, wanted: str, gpus: Gpus) -> bool:
    """Whether both name one product; of one that the catalog does not know, as it is written."""
    ours, theirs = gpus.find(wanted), gpus.find(live)
    if ours is None or theirs is None:
        return live.replace(" ", "-") == wanted.replace(" ", "-")
    return ours.product == theirs.product


def _same(live: str, wanted: str, _gpus: Gpus) -> bool:
    return live == wanted


def _same_version(live: str, wanted: str, _gpus: Gpus) -> bool:
    return is_version(live, wanted)


_RULES = (
    _Rule("the kernel", lambda facts: facts.kernels, _same),
    _Rule(RUNTIME, lambda facts: facts.runtimes, _same),
    _Rule(RUNTIME_VERSION, lambda facts: facts.runtime_versions, _same_version),
    _Rule("the architecture of the processor", lambda facts: facts.architectures, _same),
    _Rule("the GPU", lambda facts: facts.products, is_product),
    _Rule("the number of GPUs", lambda facts: facts.counts, _same),
    _Rule("the driver", lambda facts: facts.drivers, _same_version),
)
