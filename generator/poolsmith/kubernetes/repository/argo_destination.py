"""Where an Application of Argo CD is delivered to: which ways of writing a destination mean one cluster.

Source: argoproj/argo-cd@v3.5.1:util/db/cluster.go, where a name is compared letter by letter, a server without the
slashes at its end; `in-cluster` is the name of the cluster that Argo CD runs in, unless a Secret gives it another one.
"""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum
from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word

IN_CLUSTER_NAME = "in-cluster"
IN_CLUSTER_SERVER = "https://kubernetes.default.svc"
_HERE = frozenset(("kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"))
"""Hosts that lead a pod of Argo CD to the API server of its own cluster."""
_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL
_ADDRESS = pattern(r"(?P<scheme>https?)://(?P<host>[^/:@\[\]]+)(:(?P<port>\d*))?(?P<path>/.*)?", _FLAGS)
_PORTS = {"https": "443", "http": "80"}


class TargetBy(StrEnum):
    """The field that a destination names its cluster in."""

    NAME = "name"
    SERVER = "server"


@record(kw_only=False, order=True)
class ArgoTarget:
    """One cluster as one Argo CD knows it. Two that are equal are one cluster; whether a name and a server are the same
    one, only Argo CD knows."""

    by: TargetBy
    where: str

    @property
    def is_own_cluster(self) -> bool:
        """The cluster that Argo CD runs in."""
        return self == OWN_CLUSTER


OWN_CLUSTER = ArgoTarget(TargetBy.SERVER, IN_CLUSTER_SERVER)


def argo_target(name: str | None, server: str | None) -> ArgoTarget:
    """Of a destination as it is written; one that says neither is the cluster that Argo CD runs in."""
    if name:
        return OWN_CLUSTER if name == IN_CLUSTER_NAME else ArgoTarget(TargetBy.NAME, name)
    return ArgoTarget(TargetBy.SERVER, _one_spelling(server)) if server else OWN_CLUSTER


def target_of(spec: Any) -> ArgoTarget:
    """Of the spec of an Application."""
    destination = mapping(mapping(spec).get("destination"))
    return argo_target(word(destination.get("name")), word(destination.get("server")))


def _one_spelling(server: str) -> str:
    """The same for addresses that lead to the same place: case of the host, the port that a scheme has anyway, slashes
    and dots of the path. The path itself stays: a proxy before many clusters tells them apart by it."""
    found = _ADDRESS.fullmatch(server)
    if found is None:
        return server.rstrip("/")
    scheme = found["scheme"].lower()
    host = found["host"].lower().rstrip(".")
    port = (found["port"] or "").lstrip("0")
    path = posixpath.normpath(found["path"] or "/").lstrip("/")
    port = "" if port == _PORTS[scheme] else port
    if host in _HERE and scheme == "https" and not port and not path:
        return IN_CLUSTER_SERVER
    return f"{scheme}://{host}" + (f":{port}" if port else "") + (f"/{path}" if path else "")
