"""What a pool's owners acknowledge of what others change for them, as one word that names what holds from then on.

`offers/<names>`: all that the pool's nodes offer, joined by `+`; `label/<key>=<value>`: a label of theirs, without a
value where it is gone; `gone/<Kind>/<name>`: an object that the cluster, or its delivery, lacks from then on;
`refused/<Kind>/<name>`: one that the API server takes no change of, so that somebody deletes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

RELEASE = "Release"
"""In the place of a kind: what a HelmRelease or an Application installs, by namespace and name."""
DELIVERY = "Delivery"
"""In the place of a kind: all of a cluster's delivery, by what its names begin with."""
OFFERS, LABEL, GONE, REFUSED = "offers/", "label/", "gone/", "refused/"
NOTHING = "nothing"
MIG_PARTITIONS = "mig-partitions"
"""Of a pool without the operator: its hosts make the partitions of its layout themselves."""
CDMM_OFF = "cdmm-off"
"""Of a pool on Grace hosts: an option of the kernel module has turned coherent memory management off."""
PATTERN = r"[A-Za-z0-9._/=+-]{1,300}"
"""Of what follows the prefix."""


def offers_fact(names: Iterable[str]) -> str:
    """The names of all resources that a pool offers, whatever their order."""
    return OFFERS + ("+".join(sorted(names)) or NOTHING)


def label_fact(key: str, value: str | None) -> str:
    return f"{LABEL}{key}={value or ''}"


def gone_fact(kind: str, name: str) -> str:
    return f"{GONE}{kind}/{name}"


def refused_fact(what: str) -> str:
    """Of `Kind/name`."""
    return f"{REFUSED}{what}"


def is_of_pool(fact: str) -> bool:
    return fact.startswith((OFFERS, LABEL))


def is_of_cluster(fact: str) -> bool:
    return fact.startswith((GONE, REFUSED))
