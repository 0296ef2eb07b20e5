"""What is made where poolsmith is installed, in a wheel or beside a checkout's data: JSON twins of the catalog's YAML,
the table of compiled expressions, and the code that is loaded together.

Nothing depends on them but how fast a run starts. They are not committed, since two changes of one YAML file would
always be in conflict about its twin too.
"""

from __future__ import annotations

import gc
import os
import pkgutil
from contextlib import suppress
from importlib import import_module
from subprocess import CalledProcessError
from typing import TYPE_CHECKING

import poolsmith
from poolsmith.core.facts import store
from poolsmith.core.facts.kept_code import kept_code
from poolsmith.core.own_modules import KEPT
from poolsmith.core.pattern import TABLE, LazyPattern, table_of

if TYPE_CHECKING:
    from pathlib import Path


def yaml_names() -> list[str]:
    """The YAML files of the catalog, by their paths in the data folder."""
    return sorted(path.relative_to(store.DATA).as_posix() for path in store.DATA.rglob("*.yaml"))


def write_all(folder: Path) -> list[Path]:
    return [*write_twins(folder), write_expressions(folder), *write_code(folder)]


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


def write_expressions(folder: Path) -> Path:
    """The table below a folder, put in place whole. What needs a package that is not there is left out of it."""
    for module in pkgutil.walk_packages(poolsmith.__path__, "poolsmith."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                vars(import_module(module.name))
    place = folder / TABLE
    _put(place, table_of(item.given for item in gc.get_objects() if type(item) is LazyPattern))
    return place


def write_code(folder: Path) -> list[Path]:
    """The code that is kept together, below a folder. None where poolsmith does not run yet."""
    place = folder / KEPT
    with suppress(CalledProcessError):
        _put(place, kept_code(is_installed=folder == store.DATA))
        return [place]
    return []


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}")
    half.write_bytes(content)
    half.replace(path)


if __name__ == "__main__":
    write_all(store.DATA)
