"""What was recorded of other projects' code, in our own form: `tests/recorded/README.md` says what each file is."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "recorded" / "data"
ENDING = ".jsonl.xz"


class Recording(Mapping[str, Any]):
    """Values by key, sorted. Each look-up parses its line anew, so that a test may change what it got."""

    def __init__(self, lines: Iterable[str]) -> None:
        decoder = json.JSONDecoder()
        self._lines = {decoder.raw_decode(line, 1)[0]: line for line in lines}

    def __getitem__(self, key: str) -> Any:
        return json.loads(self._lines[key])[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def below(self, folder: str) -> list[str]:
        """The keys that begin with `folder/`."""
        return [key for key in self._lines if key.startswith(f"{folder}/")]


@cache
def recording(name: str) -> Recording:
    """One file of the recordings, read once in a process."""
    return Recording(lzma.decompress((DATA / f"{name}{ENDING}").read_bytes()).decode().splitlines())


def packed(values: Mapping[str, Any]) -> bytes:
    """A recording as a file holds it: a line of JSON for each key, the same bytes for the same values."""
    lines = (json.dumps([key, values[key]], ensure_ascii=False, separators=(",", ":")) for key in sorted(values))
    text = "".join(f"{line}\n" for line in lines)
    return lzma.compress(text.encode(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME)


def as_yaml(documents: Iterable[Any]) -> str:
    """Documents as one text; JSON is YAML."""
    return "---\n".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)
