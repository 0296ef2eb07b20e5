"""How a cluster is to be asked, and that it can't be."""

from __future__ import annotations

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.record import record


class ClusterError(PoolsmithError):
    """The cluster could not be asked at all, or stopped to answer."""


@record
class Reading:
    """`seconds` limits one call, `whole_seconds` all of them; None stands for the user's own kubeconfig or context.

    `in_cluster`: with the service account of the pod that this runs in, whatever kubeconfig lies there, too. Helm's own
    records are Secrets: they are read in `helm_namespaces` only, and nowhere by default.
    """

    kubeconfig: str | None = None
    context: str | None = None
    in_cluster: bool = False
    seconds: float = 30.0
    whole_seconds: float = 600.0
    helm_namespaces: tuple[str, ...] = ()
