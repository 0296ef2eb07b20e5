"""Where nodes have containerd's configuration, in the words of the chart kata-deploy."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.gpu.catalog.platforms import Distribution
    from poolsmith.gpu.catalog.releases import Release

_OTHERS = "k8s"


def containerd_folder(distribution: Distribution, release: Release) -> str | None:
    """None where no source says."""
    paths = distribution.paths("containerd", release.line)
    return posixpath.dirname(paths.config) if paths is not None and paths.config else None


def containerd_folders(distribution: Distribution) -> set[str]:
    """At any release: what the chart looks for does not depend on the operator."""
    rules = distribution.rules.get("containerd", ())
    return {posixpath.dirname(paths.config) for _, paths in rules if paths.config}


def kata_distribution(distribution: Distribution, facts: Facts) -> str | None:
    """`k8sDistribution` of the chart; None for a distribution that it has no folder of."""
    known = facts.catalog.sandboxes.kata_deploy
    if distribution.name in known.distributions:
        return known.distributions[distribution.name]
    return _OTHERS if containerd_folder(distribution, facts.need_release()) == known.folder else None
