"""Helm's own records of what it has installed: Secrets, which are read only where somebody asks for it.

Of a record is kept which chart it is of, and the values that people gave, without what may be a secret. The rest of a
record (the chart with its templates, the manifest, hooks, notes) is forgotten at once, and so is any other Secret.
Source: helm.sh/helm v3 and v4, pkg/storage/driver.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from typing import TYPE_CHECKING, Any, NoReturn

from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.live.resources import Resource

if TYPE_CHECKING:
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

HELM_RECORDS = Resource("poolsmith/v1", "HelmRecord")
"""No kind of Kubernetes: what is kept of a record, as if it were an object."""
SECRETS_OF_HELM = {"labelSelector": "owner=helm,status=deployed", "fieldSelector": "type=helm.sh/release.v1"}
"""The query that lists them: of each release the revision that is deployed."""
_MOST_BYTES = 32 << 20
_GZIP = 16 + zlib.MAX_WBITS


def helm_record(secret: dict[str, Any]) -> KubernetesObject | None:
    """What is kept of a Secret; None for one that is no record of Helm's."""
    body = _release(mapping(secret.get("data")).get("release"))
    chart = mapping(mapping(mapping(body).get("chart")).get("metadata"))
    name, version = word(chart.get("name")), word(chart.get("version"))
    release, namespace = word(mapping(body).get("name")), word(mapping(secret.get("metadata")).get("namespace"))
    if not (name and version and release and namespace):
        return None
    try:
        values = masked_tree(dict(mapping(mapping(body).get("config"))))
    except RecursionError:
        return None
    return {
        "apiVersion": HELM_RECORDS.api_version,
        "kind": HELM_RECORDS.kind,
        "metadata": {"name": release, "namespace": namespace},
        "spec": {"chart": name, "version": version, "values": values},
    }


def _release(text: Any) -> Any:
    """Base64 of Kubernetes, base64 of Helm, gzip, JSON."""
    try:
        packed = base64.b64decode(base64.b64decode(text, validate=True), validate=True)
        inflating = zlib.decompressobj(_GZIP)
        found = inflating.decompress(packed, _MOST_BYTES)
        return json.loads(found, parse_constant=_refused, parse_float=_finite) if inflating.eof else None
    except (binascii.Error, zlib.error, ValueError, TypeError, RecursionError):
        return None


def _refused(text: str) -> NoReturn:
    """NaN and the like, which are no JSON."""
    raise ValueError(text)


def _finite(text: str) -> float:
    """Raises ValueError for what is larger than any number that Helm reads."""
    found = float(text)
    return found if math.isfinite(found) else _refused(text)
