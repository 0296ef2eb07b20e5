"""JSON twins of the catalog's YAML, written where poolsmith is installed: into a wheel, or beside a checkout's data.

Nothing depends on them but how fast a run starts. They are not committed, since two changes of one YAML file would
always be in conflict about its twin too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from poolsmith.core.facts import store

if TYPE_CHECKING:
    from pathlib import Path


def yaml_names() -> list[str]:
    """The YAML files of the catalog, by their paths in the data folder."""
    return sorted(path.relative_to(store.DATA).as_posix() for path in store.DATA.rglob("*.yaml"))


def write_twins(folder: Path) -> list[Path]:
    """All twins below a folder, each put in place whole; those of YAML files that are gone are removed."""
    wanted = {folder / store.twin_of(name): name for name in yaml_names()}
    for twin, name in wanted.items():
        text = store.twin_text(name).encode()
        if not twin.is_file() or twin.read_bytes() != text:
            _put(twin, text)
    for place in {twin.parent for twin in wanted}:
        for other in set(place.glob("*.json")) - wanted.keys():
            other.unlink(missing_ok=True)
    return list(wanted)


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}")
    half.write_bytes(content)
    half.replace(path)


if __name__ == "__main__":
    write_twins(store.DATA)
