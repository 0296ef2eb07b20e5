"""Files of Terraform and OpenTofu, in HCL and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.hcl_json import JsonReader
from poolsmith.core.sources.hcl_literals import HclReader

if TYPE_CHECKING:
    from poolsmith.core.sources.hcl_file import HclBlock
    from poolsmith.core.sources.hcl_text import Resolve

_IN_JSON = ".json"


def read_hcl(path: str, text: str, resolve: Resolve | None = None) -> tuple[HclBlock, ...]:
    """The blocks of a file. Raises HclProblemError for a text that is no HCL."""
    reader = JsonReader if path.endswith(_IN_JSON) else HclReader
    return reader(path, text, resolve).file()


def read_assignments(path: str, text: str) -> dict[str, Any]:
    """What a file of variables (`.tfvars`, `.tfvars.json`) sets. Raises HclProblemError as above."""
    if path.endswith(_IN_JSON):
        return JsonReader(path, text, None).whole()
    reader = HclReader(path, text, None)
    reader.file()
    return reader.assigned
