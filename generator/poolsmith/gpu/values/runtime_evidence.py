"""Which Kubernetes distribution the paths of a values file belong to."""

from __future__ import annotations

from posixpath import dirname, normpath

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import line_of
from poolsmith.gpu.catalog.platforms import Distribution, RuntimePaths, distributions_from

CONTAINERD = "containerd"


@remembered
def distributions() -> dict[str, Distribution]:
    return distributions_from(store.read_yaml("distributions.yaml"))


@remembered
def _folders() -> tuple[tuple[str, str], ...]:
    """Folders of containerd's files and sockets, each with the distribution that has them there."""
    found = {
        (dirname(_host(path)), name)
        for name, distribution in distributions().items()
        for _, paths in distribution.rules.get(CONTAINERD, ())
        for path in (paths.config, paths.socket, paths.drop_in)
        if path is not None
    }
    return tuple(sorted(found))


def owners(path: str) -> frozenset[str]:
    """The distributions that keep containerd's files or socket there; none for a path that nobody is known for."""
    folder = dirname(_host(path))
    return frozenset(name for known, name in _folders() if folder == known or folder.startswith(f"{known}/"))


def standard() -> frozenset[str]:
    """The distributions that keep containerd where it comes by itself."""
    return owners("/etc/containerd/config.toml")


def rule_of(distribution: str, release: str) -> RuntimePaths | None:
    """Where a distribution keeps containerd in a release's line; None where that is not known."""
    paths = distributions()[distribution].paths(CONTAINERD, line_of(release))
    return None if paths is None or paths.unknown else paths


def sockets_of(distribution: str) -> frozenset[str]:
    """Where it has containerd's socket, in any release's line."""
    rules = distributions()[distribution].rules.get(CONTAINERD, ())
    return frozenset(paths.socket for _, paths in rules if paths.socket is not None)


def _host(path: str) -> str:
    """As the host resolves it: /var/run is a link to /run."""
    clean = normpath(path)
    return clean.removeprefix("/var") if clean.startswith("/var/run/") else clean
