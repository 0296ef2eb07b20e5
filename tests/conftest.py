"""What all tests share: hypothesis profiles and a way to write small trees of files."""

from __future__ import annotations

import os
import textwrap

import pytest
from hypothesis import settings

settings.register_profile("default", max_examples=100, deadline=None)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def write_files(tmp_path):
    """Write texts (dedented) by their relative paths; the folder that holds them."""

    def write(files):
        for path, text in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(textwrap.dedent(text).encode())
        return tmp_path

    return write
