"""Texts that the operator writes into its manifests without quotes."""

from __future__ import annotations

import re

from poolsmith.operands.kube import NotModelled

_LEADING = re.compile(r"[,\[\]{}#&*!|>'\"%@`]|[-?:](?:\s|$)")
_WITHIN = re.compile(r":(?:\s|$)|\s#|[\x00-\x1f\x7f]")
_NO_TEXT = re.compile(
    r"|~|<<|=|null|Null|NULL|[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|---|\.\.\."
    r"|[-+]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*(?::[0-9_]+)*)"
    r"|[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?(?::[0-9.]+)*"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"
)


def plain(text: str) -> str:
    """The text, where YAML reads just that. Raises NotModelled where it would read something else."""
    if text == text.strip() and not (_LEADING.match(text) or _WITHIN.search(text) or _NO_TEXT.fullmatch(text)):
        return text
    raise NotModelled(f"a text that means something else in YAML without quotes: {text!r}")
