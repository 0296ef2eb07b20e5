"""The fixed expressions of the privilege policy: those of `expressions.cel`.

They turn each container of a pod into texts: who it is (`key`), which privileges it wants (`wants`, the tokens of the
ledger) and what else it has that would let somebody run code of their own (`has`). The data says which texts belong
to which key. `poolsmith.guard.ledger.claims.pod_claims` makes the same texts of predicted pods.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern
from poolsmith.guard.ledger.claims import pod_fields
from poolsmith.kubernetes.pods import well_known

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable


_FILE = Path(__file__).with_name("expressions.cel")
_PUT_IN = pattern(r"@(?P<what>[a-z]+)\((?P<of>[^()]*)\)")
_WIDTH = 110
_LISTS = {
    "annotations": well_known.PRIVILEGED_ANNOTATIONS + well_known.RUNTIME_ANNOTATIONS,
    "privilegedAnnotations": well_known.PRIVILEGED_ANNOTATIONS,
    "runtimeAnnotations": well_known.RUNTIME_ANNOTATIONS,
    "volumes": well_known.VOLUMES_WITHOUT_PRIVILEGE,
    "podFields": pod_fields.POD_FIELDS_WITHOUT_CLAIM,
    "podContextFields": pod_fields.POD_CONTEXT_FIELDS_WITHOUT_CLAIM,
    "containerFields": pod_fields.CONTAINER_FIELDS_WITHOUT_CLAIM,
    "contextFields": pod_fields.CONTEXT_FIELDS_WITHOUT_CLAIM,
}
_TEXTS = {
    "tokenVolume": pod_fields.TOKEN_VOLUME,
    "tokenPath": well_known.TOKEN_PATH,
    "messagePath": pod_fields.MESSAGE_PATH,
}
_SEPARATORS = {"spaceless": (" ", "%20"), "barless": ("|", "%7C"), "name": ("<", "%3C")}
"""Of a text that a word and another text follow, one that is joined with bars, and the name of a variable."""


@cache
def _sections() -> dict[str, str]:
    parts = _FILE.read_text("utf-8").split("\n--- ")[1:]
    return {name: text.rstrip("\n") for name, _, text in (part.partition("\n") for part in parts)}


@cache
def expression(name: str) -> str:
    """The section of that name, with everything put in."""
    return "".join(f"{_whole(line)}\n" for line in _sections()[name].split("\n"))


def _whole(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())] + "  "

    def put_in(found: re.Match[str]) -> str:
        what, of = found["what"], found["of"]
        if what in _SEPARATORS:
            old, new = _SEPARATORS[what]
            return f"string({of}).replace('%', '%25').replace('{old}', '{new}')"
        if what == "section":
            return _sections()[of]
        return _TEXTS[of] if what == "text" else _listed(_LISTS[of], indent)

    return _PUT_IN.sub(put_in, line)


def _listed(values: Iterable[str], indent: str) -> str:
    """A list of texts that hold neither quotes nor backslashes, over several lines."""
    lines = wrap(", ".join(f"'{value}'" for value in values), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "[\n" + "".join(f"{indent}  {line}\n" for line in lines) + f"{indent}]"
