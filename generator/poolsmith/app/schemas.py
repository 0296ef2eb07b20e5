"""Use case: the JSON Schemas of our kinds."""

from __future__ import annotations

import json

from poolsmith.diagnostics import UsageError
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.shape.json_schema import FILE_NAMES, KINDS, POLICY_FILE_NAMES, schema_of


def schema_text(kind: str) -> str:
    """The schema of a kind as it is committed. Raises UsageError."""
    by_name = {name.lower(): name for name in KINDS}
    name = by_name.get(kind.lower().replace("-", ""))
    if name is None:
        raise UsageError(f"there is no kind `{kind}`; {did_you_mean(kind, KINDS)}")
    return json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n"


def schema_files() -> dict[str, str]:
    """File name to text, for the kinds in `profiles/`."""
    return {file: schema_text(kind) for kind, file in FILE_NAMES.items()}


def policy_schema_files() -> dict[str, str]:
    """File name to text, for the kinds in `policies/`."""
    return {file: schema_text(kind) for kind, file in POLICY_FILE_NAMES.items()}
