"""A file of `policies/admission/`: shipped to the clusters that know its kinds, byte by byte."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP = "admissionregistration.k8s.io"
POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
GRANTS_FILE = "privilege-grants.yaml"
"""Beside them: what the grants come to."""
Minor = tuple[int, ...]

FIRST_SERVED: Minor = (1, 30)
"""The first Kubernetes that has policies without being asked to."""
_SERVED: dict[str, tuple[Minor, Minor | None]] = {
    f"{GROUP}/v1": (FIRST_SERVED, None),
    f"{GROUP}/v1beta1": ((1, 28), (1, 34)),
}
"""Of both kinds: the first minor of Kubernetes that can serve a version, and the first that no longer does. Before
1.30 a cluster serves v1beta1 only where a feature gate asks for it. Source: the deprecation guide of Kubernetes."""


@record(kw_only=False, slots=False)
class AdmissionFile:
    """The file's path below the root, its text, and its documents."""

    path: str
    text: str
    documents: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @cached_property
    def digest(self) -> str:
        return digest(self.text.encode())

    def policies(self) -> Iterator[dict[str, Any]]:
        """Those of its objects that are policies or bindings."""
        for item in self.documents:
            if isinstance(item, dict) and item.get("kind") in (POLICY, BINDING):
                yield item

    def unserved(self, kubernetes: Minor) -> str | None:
        """An API version of a policy in it that a cluster doesn't serve."""
        for item in self.policies():
            version = item.get("apiVersion")
            if not isinstance(version, str) or not is_served(version, kubernetes):
                return str(version)
        return None


def is_served(version: str, kubernetes: Minor) -> bool:
    """Whether clusters of that minor have policies of an API version without being asked to."""
    first, gone = _SERVED.get(version, ((99, 0), None))
    return kubernetes >= FIRST_SERVED and first <= kubernetes and (gone is None or kubernetes < gone)
