"""The packages that the tests run with, as wheels again: so that pip installs from a folder, without an index."""

from __future__ import annotations

import re
import zipfile
from importlib import metadata
from pathlib import Path


def wheelhouse(folder: Path, names: list[str]) -> Path:
    """A wheel for each installed distribution, made of the files that its RECORD lists."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        _pack(folder, metadata.distribution(name))
    return folder


def _pack(folder: Path, found: metadata.Distribution) -> None:
    tags = re.findall(r"^Tag: (\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    parts = [{tag.split("-")[at] for tag in tags} for at in range(3)]
    tag = "-".join(".".join(sorted(part)) for part in parts)
    name = re.sub(r"[-_.]+", "_", found.metadata["Name"])
    with zipfile.ZipFile(folder / f"{name}-{found.version}-{tag}.whl", "w") as archive:
        for file in found.files or ():
            path = Path(str(found.locate_file(file)))
            if ".." not in file.parts and file.suffix != ".pyc" and path.is_file():
                archive.write(path, file.as_posix())
