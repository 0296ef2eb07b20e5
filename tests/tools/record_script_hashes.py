"""Hashes of the long texts that the operator brings itself: scripts and configurations of its ConfigMaps.

    PYTHONPATH=generator:tests python -m tools.record_script_hashes GIT_DIRECTORY

The directory is a clone of NVIDIA/gpu-operator with its tags. Into `data/verify/script_hashes.yaml` goes one row for
each text of `assets/` and `manifests/` at the tags that the catalog has operands of: where it stands, its length in
letters, its SHA-256, and the tags. The texts themselves are not kept.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from poolsmith.gpu.catalog.operands import operand_releases

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).resolve().parents[2] / "generator/poolsmith/data/verify/script_hashes.yaml"
FOLDERS = ("assets", "manifests")
Row = tuple[str, int, str]
"""ConfigMap and key, letters, SHA-256."""
_HEAD = """\
# Texts that the operator puts into ConfigMaps word for word: where, how long, and their SHA-256, by release. By
# tests/tools/record_script_hashes.py; what is a template is not among them.
source: NVIDIA/gpu-operator, assets and manifests of each tag that is named
texts:
"""


def texts_of(repository: Path, tag: str) -> Iterator[Row]:
    """Of one tag."""
    for path in _git(repository, "ls-tree", "-r", "--name-only", tag, *FOLDERS).splitlines():
        if not path.endswith(".yaml"):
            continue
        text = _git(repository, "show", f"{tag}:{path}")
        if "kind: ConfigMap" not in text or "{{" in text:
            continue
        for body in yaml.safe_load_all(text):
            if isinstance(body, dict) and body.get("kind") == "ConfigMap":
                yield from _texts(body)


def _texts(body: dict[str, Any]) -> Iterator[Row]:
    for key, text in (body.get("data") or {}).items():
        yield f"{body['metadata']['name']}/{key}", len(text), hashlib.sha256(text.encode()).hexdigest()


def _git(repository: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True, text=True).stdout


def recorded(repository: Path) -> str:
    """The whole file."""
    rows: dict[Row, list[str]] = {}
    for tag in operand_releases():
        for row in texts_of(repository, tag):
            rows.setdefault(row, []).append(tag)
    lines = []
    for (where, letters, digest), tags in sorted(rows.items()):
        lines.append(
            f"  - {{of: {where}, letters: {letters}, sha256: {digest},\n     releases: [{', '.join(tags)}]}}\n"
        )
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    TARGET.write_text(recorded(Path(sys.argv[1])))
