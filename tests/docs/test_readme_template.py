"""The compiled README template is that of the template."""

from __future__ import annotations

import os

from tools.compile_readme import COMPILED, compiled_readme


def test_the_text_of_the_readme_is_what_its_template_says():
    if os.environ.get("UPDATE_DOCS") == "1":
        COMPILED.write_text(compiled_readme(), "utf-8")

    assert COMPILED.read_text("utf-8") == compiled_readme(), "run `make docs`"
