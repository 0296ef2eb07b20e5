"""Kind PrivilegeGrant: what some containers of some workloads may hold, who says so, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.record import record
from poolsmith.core.shape.field import (
    DNS_LABEL,
    Metadata,
    matches,
    spec,
)
from poolsmith.core.shape.review import DATE, PROSE, day_of
from poolsmith.guard.ledger.privilege import Privilege

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

GRANT = "PrivilegeGrant"
NAME_GLOB = r"[A-Za-z0-9*?]([-A-Za-z0-9.*?]{0,252}[A-Za-z0-9*?])?"
WORKLOAD_GLOB = rf"([A-Za-z*?]{{1,63}}/)?{NAME_GLOB}"
POOL_GLOB = rf"-|{NAME_GLOB}"
REPOSITORY = (
    r"([a-z0-9][A-Za-z0-9._-]{0,252}(:[0-9]{1,5})?/)?"
    r"[a-z0-9][a-z0-9._-]{0,254}(/[a-z0-9][a-z0-9._-]{0,254}){0,20}"
)
DATE_TEXT = r"[^\x00-\x1f\x7f]{0,60}"
_RBAC = "rbac"


@record
class GrantSpec:
    """What is granted to whom. `*` and `?` stand for other letters in clusters, pools and workload only."""

    clusters: tuple[str, ...] = spec(
        "Names of clusters; `*` stands for any letters, `?` for one.",
        pattern=NAME_GLOB,
        form="the name of a cluster, or a pattern with `*` and `?`",
        examples=(["*"], ["prod-*"]),
        unique=True,
    )
    pools: tuple[str, ...] = spec(
        "Names of pools, with `*` and `?`. Only `*` alone also matches workloads that are tied to no pool.",
        pattern=POOL_GLOB,
        form="the name of a pool, or a pattern with `*` and `?`",
        examples=(["*"], ["a100-*"]),
        unique=True,
    )
    workload: str = spec(
        "Name of the workload, or Kind/name, with `*` and `?`, which do not match `/`.",
        pattern=WORKLOAD_GLOB,
        form="the name of a workload or Kind/name, or a pattern with `*` and `?`",
        examples=("nvidia-driver-daemonset", "DaemonSet/nvidia-gpu-driver-*"),
    )
    containers: tuple[str, ...] = spec(
        "Exact names of containers, init containers included. Default: every container of the workload. "
        "Privileges of the pod as a whole do not depend on this field.",
        default=(),
        pattern=DNS_LABEL,
        form="the name of a container; patterns are not taken here",
        examples=(["nvidia-driver-ctr"],),
        unique=True,
    )
    images: tuple[str, ...] = spec(
        "Exact repositories of the containers' images, without tag and digest. Default: any image. "
        "Privileges of the pod as a whole do not depend on this field.",
        default=(),
        pattern=REPOSITORY,
        form="the repository of an image, without tag and digest; patterns are not taken here",
        examples=(["nvcr.io/nvidia/driver"],),
        unique=True,
    )
    privileges: tuple[str, ...] = spec(
        "Exact privileges, as `poolsmith ledger` and privileges.yaml name them; verbs on one resource may be "
        "joined with commas.",
        examples=(["privileged", "host-path:/run/nvidia:rw:bidirectional", "rbac:core/nodes:get,list@cluster"],),
        unique=True,
    )
    reason: str = spec(
        "What the privileges are needed for.",
        default="",
        pattern=PROSE,
        form="text of at most 1,000 characters",
        examples=("Loads the kernel modules of the driver.",),
    )
    owner: str = spec(
        "The team that is responsible.",
        default="",
        pattern=PROSE,
        form="text of at most 1,000 characters",
        examples=("gpu-platform",),
    )
    expires: str = spec(
        "The last day on which it is valid, as year-month-day.",
        default="",
        pattern=DATE_TEXT,
        form="a day such as 2027-06-30",
        examples=("2027-06-30",),
    )


class GrantedToken(NamedTuple):
    """One privilege, and the entry of `spec.privileges` that names it."""

    entry: int
    privilege: Privilege


@record
class PrivilegeGrant:
    """A grant. `tokens` are those of its privileges that are some, each once, in the order of the file."""

    metadata: Metadata
    spec: GrantSpec
    path: str
    tokens: tuple[GrantedToken, ...]

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def last_day(self) -> dt.date | None:
        """None where no day is given."""
        return last_day_of(self.spec.expires)


def last_day_of(text: str) -> dt.date | None:
    """The day that a text of the form year-month-day names; None of any other text."""
    return day_of(text) if matches(DATE, text) else None


def parse_privileges(text: str) -> tuple[Privilege, ...]:
    """The privileges that one entry of a grant names: one, or one for each verb. Raises PrivilegeError."""
    head, colon, tail = text.rpartition(":")
    verbs, at, where = tail.partition("@")
    if not (colon and at and head.startswith(f"{_RBAC}:")):
        return (Privilege.parse(text),)
    return tuple(Privilege.parse(f"{head}:{verb}@{where}") for verb in verbs.split(","))


def written_privileges(privileges: Iterable[Privilege]) -> tuple[str, ...]:
    """Entries of a grant for privileges in any order: rights on the API last, the verbs of one right together."""
    texts: dict[str, None] = {}
    rights: dict[tuple[str, str, str, str], list[str]] = {}
    for item in sorted(set(privileges)):
        if item.name == _RBAC:
            group, resource, verb, scope, name = item.arguments
            rights.setdefault((group, resource, scope, name), []).append(verb)
        else:
            texts[str(item)] = None
    for (group, resource, scope, name), verbs in rights.items():
        parts = [str(Privilege(_RBAC, (group, resource, verb, scope, name))).rpartition(":") for verb in verbs]
        head, where = parts[0][0], parts[0][2].partition("@")[2]
        listed = ",".join(tail.partition("@")[0].replace(",", "%2C") for _, _, tail in parts)
        texts[f"{head}:{listed}@{where}"] = None
    return tuple(texts)


def repository_of(image: str) -> str:
    """An image reference without its tag and digest."""
    name = image.partition("@")[0]
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"
