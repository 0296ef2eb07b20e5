"""Files in which no word of a text of some shape stands are not walked; words may be hidden by escapes."""

from __future__ import annotations

import pytest

from poolsmith.guard.rules.texts.stack_text import _has_words

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"


@pytest.mark.parametrize(
    "data",
    [
        "  a: |\n    version: v1\n    sharing: {}\n",
        '  a: "v\\u0065rsion: v1"\n',
        "  a: 'version'': v1'\n",
        "  a: |\n    mig-configs: {}\n",
        "  a: |\n    core:\n      sleepInterval: 5s\n",
        "  a: |\n    DCGM_FI_DEV_SM_CLOCK, gauge, clock\n",
        "  config: {sources: {}}\n",
        "  ? config\n  : {}\n",
        "  master: {extraLabelNs: []}\n",
    ],
)
def test_a_file_with_a_word_is_walked(data: str) -> None:
    assert _has_words(HEAD + data)


def test_words_that_only_begin_or_end_alike_are_none() -> None:
    assert not _has_words("apiVersion: v1\nresources: {}\nimage: score\nname: config-manager\n")
