"""Use case: the JSON Schema of the Helm values of one release of the chart."""

from __future__ import annotations

import json

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.values_schema import values_schema


def values_schema_text(release: str | None) -> str:
    """Raises UsageError for a release that is not recorded."""
    tags = tuple(reversed(value_paths().tags))
    if release is None:
        raise UsageError(f"the schema of values is that of a release: --release TAG, such as {tags[0]}")
    found = value_paths().release(release)
    if found is None:
        raise UsageError(f"`{release}` is no gpu-operator release; {did_you_mean(release, tags)}")
    return json.dumps(values_schema(found), indent=2, ensure_ascii=False) + "\n"
