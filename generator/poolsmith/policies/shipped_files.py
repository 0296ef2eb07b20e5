"""The users' own admission policies, as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.operands.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.policies.admission_file import AdmissionFile

FOLDER = "platform/admission"


def shipped_policies(files: Iterable[AdmissionFile]) -> list[Manifest]:
    """One manifest for each file, with its name and its bytes."""
    return [Manifest(path=f"{FOLDER}/{file.name}", documents=file.documents, text=file.text) for file in files]
