"""The parts of a project that results follow from: what clusters share, and what is each cluster's own."""

from __future__ import annotations

import os

from poolsmith.core.sources.file_states import FolderState, content_digest, folder_state

PROFILES, _POLICIES, _OUTPUT, CLUSTERS = "profiles", "policies", "output", "output/clusters"
SHARED = (PROFILES, _POLICIES, _OUTPUT, CLUSTERS)
"""Parts that every cluster depends on: what stands in these folders beside those of the clusters."""


def parts_of(root: str) -> dict[str, FolderState] | None:
    """The state of each part by its path. None where links or special files make the project depend on what is not
    looked at. Raises OSError."""
    if any(os.path.islink(f"{root}/{part}") for part in SHARED):  # noqa: PTH114 - strings, for speed
        return None
    parts: dict[str, FolderState] = {}
    for folder in (PROFILES, CLUSTERS):
        names = [name for name in _folders(f"{root}/{folder}") if not name.startswith(("_", "."))]
        parts |= {f"{folder}/{name}": folder_state(f"{root}/{folder}/{name}") for name in names}
        parts[folder] = folder_state(f"{root}/{folder}", leave_out=frozenset(names))
    parts[_POLICIES] = folder_state(f"{root}/{_POLICIES}")
    parts[_OUTPUT] = folder_state(f"{root}/{_OUTPUT}", leave_out=frozenset(("clusters",)))
    given = (state for part, state in parts.items() if not part.startswith(_OUTPUT))
    return parts if all(state.is_plain for state in given) else None


def shared_input(root: str) -> str:
    """A digest of what stands in profiles/ and policies/ beside the clusters, and of the clusters' names."""
    names = cluster_names(root)
    parts = ((PROFILES, frozenset(names)), (_POLICIES, frozenset[str]()))
    return together(*(content_of(f"{root}/{part}", leave_out=clusters) for part, clusters in parts), *names)


def content_of(path: str, leave_out: frozenset[str] = frozenset()) -> str:
    """A digest of a file, or of all below a folder; why not, where that can't be looked at."""
    try:
        return content_digest(path, folder_state(path, leave_out=leave_out))
    except OSError as error:
        return f"! {error.errno}"


def cluster_names(root: str) -> list[str]:
    """Of the folders that have profiles of a cluster."""
    try:
        return sorted(name for name in _folders(f"{root}/{PROFILES}") if not name.startswith(("_", ".")))
    except OSError:
        return []


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def together(*parts: str) -> str:
    """One digest of several texts."""
    from _blake2 import blake2b  # on demand

    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()
