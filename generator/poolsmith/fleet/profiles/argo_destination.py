"""Where Argo CD delivers a cluster to, as a profile says it."""

from __future__ import annotations

from poolsmith.core.record import record
from poolsmith.core.shape.field import TEXT, spec
from poolsmith.kubernetes.repository.argo_destination import ArgoTarget, argo_target

API_SERVER = r"https://[A-Za-z0-9._:/-]{1,200}"


@record
class ArgoDestination:
    """The cluster that Argo CD deploys to: `name` or `server`."""

    name: str | None = spec("Name of the cluster in Argo CD.", default=None, pattern=TEXT, form="one line")
    server: str | None = spec(
        "API server address.",
        default=None,
        pattern=API_SERVER,
        form="an https address",
    )

    @property
    def target(self) -> ArgoTarget:
        return argo_target(self.name, self.server)
