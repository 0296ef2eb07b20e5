"""One folder, built by poolsmith and by the real kustomize."""

from __future__ import annotations

import json
import re
import subprocess
from difflib import unified_diff

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.kubernetes.repository.kustomize.build import Builder
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)


def written(root, text):
    """The files of a text in which each begins with a line that names it."""
    parts = _FILE.split(text)
    for path, content in zip(parts[1::2], parts[2::2], strict=True):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


def ours(root, folder, *, is_strict=True):
    return Builder(RepositoryFiles(root, [root]), is_strict=is_strict).folder(folder)


def theirs(root, folder):
    """The objects that the real kustomize prints, and what it says where it stops."""
    command = ["kustomize", "build", str(root / folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if run.returncode:
        return None, run.stderr
    return [found for found in read_documents(run.stdout, []) if found], ""


def told(objects):
    return "\n".join(json.dumps(item, sort_keys=True, indent=1) for item in objects)


def assert_same(root, folder):
    """The same objects in the same order, or neither builds."""
    build = ours(root, folder)
    expected, why = theirs(root, folder)
    if expected is None:
        assert build.refused, why
        return
    assert not build.unknown, [unknown.what for unknown in build.unknown]
    held, printed = told(item.data for item in build.objects), told(expected)
    assert held == printed, "\n".join(unified_diff(held.splitlines(), printed.splitlines(), "ours", "theirs", n=2))
