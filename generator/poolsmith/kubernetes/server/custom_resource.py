"""A kind that a CustomResourceDefinition declares."""

from __future__ import annotations

from typing import Any

from poolsmith.core.record import record


@record
class CustomResource:
    """One kind, with its structural schema."""

    kind: str
    api_version: str
    plural: str
    scope: str
    schema: dict[str, Any]
