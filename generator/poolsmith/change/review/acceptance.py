"""What somebody has to write into `policies/supply.yaml` so that a change passes: exact entries, on one screen."""

from __future__ import annotations

import json
from os.path import commonprefix
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 8
_FILE = "policies/supply.yaml"


def entries_for(cluster: str, gains: Iterable[tuple[str, str]], instead: str = "remove it") -> str:
    """What to do instead, and entries of `acceptSettings`: one for all objects of a kind that gain the same."""
    by_text: dict[tuple[str, str], list[str]] = {}
    for key, text in gains:
        by_text.setdefault((text, key.rpartition("/")[0]), []).append(key)
    lines = [_entry(cluster, _workload(keys), text) for (text, _), keys in by_text.items()]
    rest = len(lines) - _MOST
    more = [f"and {rest} more, which are listed once these are accepted"] if rest > 0 else []
    head = f"{instead}; or once it is reviewed, this below `acceptSettings` in `{_FILE}` of the base accepts it:"
    return "\n".join((head, *lines[:_MOST], *more))


def _entry(cluster: str, workload: str, text: str) -> str:
    said = {"cluster": cluster, "workload": workload, "setting": text, "reason": "", "owner": "", "expires": ""}
    fields = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in said.items())
    return f"- {{{fields}}}"


def _workload(keys: list[str]) -> str:
    """The key of one object, or a pattern for several: a star for where their names differ."""
    distinct = sorted(set(keys))
    return distinct[0] if len(distinct) == 1 else f"{commonprefix(distinct)}*"  # noqa: RUF071 - letters, not folders
