"""Two Kubernetes objects side by side: what was predicted, and what stands in the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from oracle.operator.server_defaults import bare

_LENGTH = re.compile(r"<(?:script )?(\d+) chars>")
_HASHES = ("DRIVER_CONFIG_DIGEST",)
"""Variables that are predicted without a value, because it is a hash of the program's own structures."""
_SHARED = ("ConfigMap", "nvidia-driver-startup-probe")
"""One object that each NVIDIADriver's reconciliation writes anew, with its own name as a label: the last one wins."""


_UNTOLD = "<configuration of the Kata manager>"
"""Stands in a prediction for a text that the operator writes from the ClusterPolicy."""


def differences(predicted: dict[str, Any], live: dict[str, Any]) -> list[str]:
    """One line for each field that differs, with its path."""
    return list(_differences("", _plain(predicted), _plain(live)))


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    """Without defaults, and without owners, which only the cluster knows."""
    found = bare(item)
    found["metadata"].pop("ownerReferences", None)
    found["metadata"].pop("finalizers", None)
    for rule in found.get("rules") or ():
        for words in rule.values():
            words.sort()
    if (found["kind"], found["metadata"]["name"]) == _SHARED:
        found["metadata"]["labels"].pop("app", None)
    return found


def _differences(path: str, predicted: Any, live: Any) -> Iterator[str]:
    if isinstance(predicted, dict) and isinstance(live, dict):
        if predicted.get("name") in _HASHES and "value" not in predicted:
            live = {key: value for key, value in live.items() if key != "value"}
        for key in sorted(predicted.keys() | live.keys()):
            yield from _differences(f"{path}.{key}" if path else key, predicted.get(key), live.get(key))
    elif isinstance(predicted, list) and isinstance(live, list) and len(predicted) == len(live):
        for number, (ours, theirs) in enumerate(zip(predicted, live, strict=True)):
            yield from _differences(f"{path}[{number}]", ours, theirs)
    elif not _same(predicted, live):
        yield f"{path}: predicted {predicted!r:.200}, live {live!r:.200}"


def _same(predicted: Any, live: Any) -> bool:
    if isinstance(predicted, str) and isinstance(live, str) and (length := _LENGTH.fullmatch(predicted)):
        return int(length[1]) == len(live)
    if predicted == _UNTOLD and isinstance(live, str):
        return True
    return _filled(predicted) == _filled(live) and isinstance(predicted, bool) == isinstance(live, bool)


def _filled(value: Any) -> Any:
    """An empty list or mapping says nothing."""
    return None if value in ({}, []) else value


def fields(value: Any) -> int:
    """How many single values an object holds."""
    if isinstance(value, dict):
        return sum(map(fields, value.values()))
    return sum(map(fields, value)) if isinstance(value, list) else 1
