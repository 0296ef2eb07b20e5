"""Reports of shards, taken apart and put together otherwise, as somebody does who wants the merge to tell something."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.record_json import as_json
from poolsmith.interface.app.shard_part import read_part

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from poolsmith.interface.app.shard_part import ClusterPart, ShardQuestion

_MANY = 1000


def results_of(report: Path) -> list[Any]:
    """What it says of each cluster, as JSON."""
    packed = json.loads(report.read_text())["shard"]["results"]
    return [json.loads(line) for line in zlib.decompress(base64.b64decode(packed)).splitlines()]


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


def with_results(report: Path, results: list[Any]) -> None:
    with_shard(report, results=packed(b"".join(json.dumps(item).encode() + b"\n" for item in results)))


def with_shard(report: Path, **more: Any) -> None:
    body = json.loads(report.read_text())
    report.write_text(json.dumps({**body, "shard": {**body["shard"], **more}}))


def with_question(report: Path, **more: Any) -> None:
    asked = read_part(report.read_text(), report.name, _MANY).question
    with_shard(report, question=json.dumps(as_json(_unchecked(asked, more))))


def with_first(report: Path, change: Callable[[ClusterPart], ClusterPart]) -> None:
    """The report says something else of its first cluster."""
    first, *rest = read_part(report.read_text(), report.name, _MANY).clusters
    with_results(report, as_json((change(first), *rest)))


def _unchecked(asked: ShardQuestion, more: dict[str, Any]) -> ShardQuestion:
    """With fields that the class itself would refuse."""
    changed = replace(asked)
    for name, value in more.items():
        object.__setattr__(changed, name, value)
    return changed
