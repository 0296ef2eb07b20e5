"""Upgrade steps that the vendor supports, facts about the target, and installations to compare with."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import covers, line_of, version_key
from poolsmith.core.record import record
from poolsmith.gpu.catalog.limits import limits

if TYPE_CHECKING:
    from poolsmith.gpu.catalog.limits import Vulnerability
    from poolsmith.gpu.catalog.releases import Releases


@record
class UpgradeFacts:
    """`definitions`: what an engine does with the chart's CustomResourceDefinitions, in words. `labels` and `issues`
    are entries with `since` and `before`, for `covers`."""

    definitions: dict[str, dict[str, str]]
    labels: tuple[dict[str, Any], ...]
    issues: tuple[dict[str, Any], ...]

    def new_issues(self, before: str, after: str) -> tuple[dict[str, Any], ...]:
        """Those of a release that the other one has not."""
        return tuple(item for item in self.issues if covers(item, after) and not covers(item, before))

    def left_labels(self, before: str, after: str) -> tuple[str, ...]:
        """Keys of node labels that a release writes and the other one neither writes nor takes away."""
        return tuple(item["key"] for item in self.labels if covers(item, before) and not covers(item, after))


@remembered
def read_upgrades() -> UpgradeFacts:
    data = store.read_yaml("upgrades/upgrades.yaml")
    return UpgradeFacts(
        definitions=data["definitions"],
        labels=tuple(data["labels"]),
        issues=(*data["issues"], *(_issue(item) for item in limits().vulnerabilities if item.operator is not None)),
    )


def _issue(found: Vulnerability) -> dict[str, Any]:
    names = ", ".join(found.ids)
    fact = f"its toolkit lets containers out to the host ({names}); {found.operator} mends it"
    return {"id": f"toolkit-{found.ids[0].lower()}", "before": found.operator, "fact": fact, "source": found.source}


def is_back(start: str, target: str) -> bool:
    return version_key(target) < version_key(start)


def steps(releases: Releases, start: str, target: str) -> tuple[str, ...] | None:
    """Releases to go through, the target last: within a line, or to the one beside it. One step is one upgrade.

    Of a line in between it is the newest release that the catalog knows. None where a line has no known place.

    Source: life-cycle-policy of the operator's documentation.
    """
    known = releases.lines
    first, last = line_of(start), line_of(target)
    if first not in known or last not in known:
        return None
    low, high = known.index(first), known.index(last)
    between = known[low + 1 : high] if low <= high else tuple(reversed(known[high + 1 : low]))
    through = (_newest(releases, line) for line in between)
    return (*(tag for tag in through if tag is not None), target)


def _newest(releases: Releases, line: str) -> str | None:
    return max((tag for tag in releases.by_tag if line_of(tag) == line), key=version_key, default=None)


@record(kw_only=False)
class KnownInstallation:
    """`values` are assignments in Helm's `--set` grammar, on top of a chart's defaults."""

    title: str
    values: tuple[str, ...]


@record
class KnownInstallations:
    """The installations, and the labels of the nodes that all of them have, by name."""

    installations: tuple[KnownInstallation, ...]
    nodes: dict[str, dict[str, str]]


@cache
def read_installations() -> KnownInstallations:
    data = store.read_yaml("installations.yaml")
    return KnownInstallations(
        installations=tuple(KnownInstallation(item["title"], tuple(item["values"])) for item in data["installations"]),
        nodes={name: data["labels"] | labels for name, labels in data["nodes"].items()},
    )
