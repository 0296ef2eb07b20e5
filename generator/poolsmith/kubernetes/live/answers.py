"""One answer of an API server: unpacked within bounds, decoded, and what it says of kinds, objects and reasons."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.live.api_resources import ClusterError

if TYPE_CHECKING:
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

_MOST_BYTES = 32 << 20
_MOST_PARTS = 2_000_000
"""Of one answer, unpacked: its bytes, and the fields, items and braces in it."""
_MIB = 1 << 20
_ANY_ENCODING = 32 + zlib.MAX_WBITS


class UnfitError(ClusterError):
    """An answer that does not become another one by asking again."""


@record(kw_only=False)
class Answer:
    """`wait` is how many seconds the server asks for."""

    status: int
    body: dict[str, Any]
    wait: float = 0.0


async def unpacked(response: Any) -> bytes:
    """The bytes of an answer. Raises ClusterError for more of them than there may be."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "deflate", ""):
        raise UnfitError(f"the answer is packed as `{encoding[:20]}`, which nobody asked for")
    unpacking = zlib.decompressobj(_ANY_ENCODING) if encoding in ("gzip", "deflate") else None
    parts: list[bytes] = []
    size = 0
    async for raw in response.aiter_raw():
        try:
            part = raw if unpacking is None else unpacking.decompress(raw, _MOST_BYTES + 1 - size)
        except zlib.error:
            raise ClusterError("the answer is packed, and can't be unpacked") from None
        size += len(part)
        if size > _MOST_BYTES:
            raise UnfitError(f"the answer has more than {_MOST_BYTES // _MIB} MiB")
        parts.append(part)
    if unpacking is not None and size and not unpacking.eof:
        raise ClusterError("the answer is packed, and breaks off")
    return b"".join(parts)


def decoded(text: bytes) -> Any:
    """None for what is no JSON. Raises ClusterError for more parts than an answer may have."""
    if sum(map(text.count, (b",", b"{", b"["))) > _MOST_PARTS:
        raise UnfitError(f"the answer has more than {_MOST_PARTS:,} fields and items")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def host_of(location: str) -> str:
    """Without the rest, which may hold a token."""
    try:
        return f"`{(urlsplit(location).hostname or 'another path')[:100]}`"
    except ValueError:
        return "another address"


def kinds_of(body: dict[str, Any], api_version: str) -> dict[str, tuple[str, bool]]:
    """Of an APIResourceList, without subresources. Raises ClusterError for what is none."""
    if not isinstance(body.get("resources"), list):
        raise ClusterError(f"what {api_version} has is unknown: the answer has no `resources`")
    rows = [(word(item.get("kind")), word(item.get("name")), item) for item in mappings(body["resources"])]
    return {
        kind: (name, bool(item.get("namespaced"))) for kind, name, item in rows if kind and name and "/" not in name
    }


def objects_of(body: dict[str, Any], path: str) -> list[KubernetesObject]:
    """Of a list. Raises ClusterError for what is none: then nobody knows what there is."""
    items = body.get("items", 0)
    found = (
        [] if items is None else [item for item in mappings(items) if word(mapping(item.get("metadata")).get("name"))]
    )
    if items is not None and (not isinstance(items, list) or len(found) != len(items)):
        raise ClusterError(f"GET {path}: what is answered is no list of objects")
    return found


def reason_of(answer: Answer) -> str:
    message = answer.body.get("message")
    return f"{answer.status}: {message}" if isinstance(message, str) and message else f"status {answer.status}"
