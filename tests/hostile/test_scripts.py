"""Scripts that nobody would write are read at once, and stop nothing."""

from __future__ import annotations

import re
import time

import pytest

from poolsmith.core.sources.shell_text import ShellText


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"a{number}=$a{number + 1}\n" for number in range(5_000)) + "helm install $a0\n",
        "helm " + "${a:-" * 40_000,
        "helm " + "$(" * 50_000,
        "helm " + "a`" * 50_001,
        "cat <<E\n" * 5_000 + "helm install\n",
    ],
    ids=["variables of variables", "open defaults", "open commands", "open quotes", "texts in texts"],
)
def test_a_script_is_read_at_once(text):
    begun = time.process_time()

    assert len(list(ShellText(text).commands(re.compile(r"\bhelm\b")))) == 1
    assert time.process_time() - begun < 5
