"""Make a release's operand entries from the operator's own repository, checked out at its tag.

    PYTHONPATH=tests .venv/bin/python -m tools.import_operands FOLDER --release v26.7.0 [--into DATA_FOLDER]

What the files do not say stands in the overlays of the data folder; what those do not say is told, never guessed. With
any mistake nothing is written.
"""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from pathlib import Path

from poolsmith.core.diagnostics import PoolsmithError, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.facts import store
from poolsmith.gpu.importing.operator_repository import MANIFESTS, OperatorRepository
from poolsmith.gpu.importing.release_import import ImportedRelease, ReleaseImport
from poolsmith.interface.report.text import format_text
from tools.catalog_data import CatalogData, pack_path, write_entries
from tools.entry_changes import entry_file
from tools.import_by_hand import by_hand
from tools.schema_pack_entry import pack_with_release

FAMILY = "gpu-operator"
_TAG = re.compile(r"v\d{1,4}\.\d{1,4}\.\d{1,4}")
_LONGEST = 500


def import_operands(folder: Path, release: str, into: Path | None = None) -> ImportedRelease:
    """Make the entries, and write them into a data folder of the catalog if one is named.

    Raises UsageError for a tag or a folder that can't be meant, WriteError.
    """
    if not _TAG.fullmatch(release):
        raise UsageError(f"`{release}` is no tag of a release; they look like v26.7.0")
    data = CatalogData(into or store.DATA)
    if not data.has("operands/overlay.yaml"):
        raise UsageError(f"{into} is no data folder of the catalog: it has no operands/overlay.yaml")
    repository = OperatorRepository(folder, release)
    if repository.folder_of(MANIFESTS) is None:
        raise UsageError(f"{folder} is no folder of the gpu-operator's repository: it has no {MANIFESTS}")
    result = _Run(repository, data, release).result()
    if into is not None and not result.failed:
        changed = {path: content for path, content in result.files.items() if not data.holds(path, content)}
        write_entries(into, changed)
        result.written = tuple(changed)
    return result


class _Run(ReleaseImport):
    """An import into a data folder, which has shared packs of schemas, and entries that are like others."""

    def __init__(self, repository: OperatorRepository, data: CatalogData, release: str) -> None:
        super().__init__(repository, lambda path: data.mapping(path) if data.has(path) else {}, release)
        self.data = data

    def result(self) -> ImportedRelease:
        made = self.run()
        made.by_hand += by_hand(self.release, self.behaviours, self.repository.chart(), self.data, made.files)
        made.diagnostics = sorted_unique([*self.repository.diagnostics, *self.data.diagnostics])
        return made

    def take(self, kind: str, text: str, from_where: str) -> None:
        path = f"{kind}/{self.release}.json"
        try:
            self.made.files[path] = entry_file(self.data, kind, self.release, text)
        except PoolsmithError as error:
            self.made.errors.append(str(error))
        self.made.taken.append(f"{path}: {from_where}")

    def take_schemas(self, definitions: list[str]) -> None:
        pack = self.data.pack(FAMILY)
        text = pack_with_release(pack, self.release, definitions)
        self.made.taken.append(f"{pack_path(FAMILY)}: the same")
        if text != pack.text:  # another build of zlib gives other bytes for the same text
            self.made.files[pack_path(FAMILY)] = zlib.compress(text.encode(), 9)


def main(arguments: list[str] | None = None) -> int:
    """Print what was taken, left out and remains to be done by hand; mistakes go to standard error.

    0: done. 1: mistakes in the files, and nothing was written. 2: a wrong argument.
    """
    parser = argparse.ArgumentParser(prog="tools.import_operands", description="Make the operand entries of a release.")
    parser.add_argument("folder", type=Path, help="a checkout of the gpu-operator's repository")
    parser.add_argument("--release", required=True, help="the tag that the folder holds, as v26.7.0")
    parser.add_argument("--into", type=Path, help="generator/poolsmith/data; else nothing is written")
    given = parser.parse_args(arguments)
    try:
        result = import_operands(given.folder, given.release, given.into)
    except PoolsmithError as error:
        _say(str(error))
        return error.exit_code
    if result.failed:
        if result.diagnostics:
            sys.stderr.write(format_text(Outcome(diagnostics=result.diagnostics)))
        for line in (*result.errors, "nothing was written"):
            _say(line)
        return 1
    for title, lines in (("took", result.taken), ("left out", result.left_out), ("by hand", result.by_hand)):
        for line in lines:
            sys.stdout.write(f"{title:<9} {printable(line)}\n")
    for path in result.written or ():
        sys.stdout.write(f"wrote     {path}\n")
    if not result.written:
        why = "name a data folder with --into" if given.into is None else "all of it stands there already"
        sys.stdout.write(f"wrote     nothing: {why}\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{printable(line)[:_LONGEST]}\n")


if __name__ == "__main__":
    sys.exit(main())
