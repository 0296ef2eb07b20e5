"""A step of the build: the catalog's YAML as JSON, and what else a start needs (`poolsmith/core/facts/twins.py`)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TwinsHook(BuildHookInterface):  # type: ignore[type-arg]  # the configuration of a builder has no part in it
    """Puts them into a wheel; an editable install has them beside the data of the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, str(Path(self.root) / "generator"))
        from poolsmith.core.facts import store, twins

        if version == "editable":
            twins.write_all(store.DATA)
            return
        self._made = tempfile.TemporaryDirectory()
        folder = Path(self._made.name)
        for twin in twins.write_all(folder):
            build_data["force_include"][str(twin)] = f"poolsmith/data/{twin.relative_to(folder).as_posix()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del build_data, artifact_path
        if version != "editable":
            self._made.cleanup()
