"""What it costs the API server to judge a pod by the privilege policy: an upper bound, in units of CEL.

An expression that costs more ends in an error, and the pod is refused. Source: kubernetes/kubernetes:
staging/src/k8s.io/apiserver/pkg/apis/cel/config.go, PerCallLimit. The factors were measured with k8s.io/apiserver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.guard.ledger.claims.pod import ContainerClaims
    from poolsmith.kubernetes.pods.pod import Pod

COST_LIMIT = 1_000_000

_A_CONTAINER = 1_100
_A_TEXT = 30
_A_MOUNT = 120
_A_LETTER = 0.5
_A_COMPARISON = 1.1
_A_LOOK_UP = 5.5
"""Of a mount's volume, and of a volume's mounts."""


def judging_cost(pod: Pod, containers: Sequence[ContainerClaims]) -> int:
    """Of all expressions together, for a pod that is as predicted."""
    volumes = len(pod.volumes.by_name)
    mounts = sum(len(container.mounts) for container in pod.readable_containers)
    cost = _A_CONTAINER + 2 * _A_LOOK_UP * volumes * mounts + _A_MOUNT * mounts + _A_TEXT * volumes
    for claims in containers:
        texts = [want.text for want in claims.wants] + list(claims.has)
        letters = sum(map(len, texts)) + len(claims.key)
        cost += _A_CONTAINER + len(texts) * (_A_TEXT + _A_COMPARISON * len(texts)) + _A_LETTER * letters
    return int(cost)
