"""`.gitattributes` that may hide what is delivered, or what judges, from those who review it.

Source: gitattributes(5), and what GitHub and GitLab document of linguist-generated and gitlab-generated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_FREE = frozenset(
    (
        "text",
        "merge",
        "whitespace",
        "conflict-marker-size",
        "linguist-language",
        "linguist-detectable",
        "linguist-documentation",
        "gitlab-language",
        "delta",
        "lockable",
    )
)
"""Whatever they are set to, each line of a file is seen as it is committed."""
_SHOWN_WHEN_UNSET = frozenset(
    (
        "linguist-generated",
        "gitlab-generated",
        "linguist-vendored",
        "filter",
        "ident",
        "binary",
        "export-ignore",
        "export-subst",
        "working-tree-encoding",
        "eol",
        "crlf",
    )
)
_NO = frozenset(("false", "0", "no"))
_GUARDED_ENDINGS = frozenset(
    ("yaml", "yml", "json", "json5", "md", "txt", "in", "toml", "lock", "cfg", "ini", "sh", "py", "mk", "js", "nix")
)
_GUARDED_NAMES = frozenset(("codeowners", "owners", "owners_aliases", "makefile", "gnumakefile", "jenkinsfile", "run"))
FOLDED = (
    "output/clusters/*/expected/**",
    "output/**/poolsmith.lock.json",
    "profiles/_schemas/*.schema.json",
    "policies/_schemas/*.schema.json",
)
"""What `init` folds in reviews: generated files that no cluster applies, and no `privileges.yaml`."""
_FOLDS = frozenset(("linguist-generated", "gitlab-generated"))
_WILD = re.compile(r"[*?\[\\]")


def hiding_lines(text: str, folder: str, guarded: Collection[str]) -> list[str]:
    """Lines of a `.gitattributes` in a folder that may hide something; `guarded` are names of folders at the top."""
    if folder and folder.casefold().split("/")[0] not in guarded:
        return []
    found = []
    for line in text.splitlines():
        words = line.strip().lstrip("\ufeff").split()
        if not words or words[0].startswith("#"):
            continue
        if not folder and words[0] in FOLDED and _FOLDS.issuperset(words[1:]):
            continue
        if any(map(_hides, words[1:])) and (folder or _may_be_guarded(words[0], guarded)):
            found.append(" ".join(words))
    return found


def is_less_hidden(old: list[str], new: list[str]) -> bool:
    """Whether what is left stands in its old order: later lines win."""
    rest = iter(old)
    return all(line in rest for line in new)


def shows_less(old: str, new: str) -> list[str]:
    """Lines that show what others would hide, and that are gone."""
    left = {" ".join(line.split()) for line in new.splitlines()}
    gone = (" ".join(line.split()) for line in old.splitlines())
    return [line for line in gone if line and line not in left and any(map(_shows, line.split()[1:]))]


def _hides(attribute: str) -> bool:
    name, equals, value = attribute.lstrip("-!").partition("=")
    if attribute.startswith("!"):
        return name not in _FREE
    if name in _FREE or attribute == "eol=lf":
        return False
    if name == "diff":
        return attribute.startswith("-")
    is_unset = attribute.startswith("-") or (bool(equals) and value.casefold() in _NO)
    return not (is_unset and name in _SHOWN_WHEN_UNSET)


def _shows(attribute: str) -> bool:
    name = attribute.lstrip("-!").partition("=")[0]
    return (name in _SHOWN_WHEN_UNSET or name == "diff") and not _hides(attribute)


def _may_be_guarded(pattern: str, guarded: Collection[str]) -> bool:
    """Whether a pattern of the file at the top may match a file that matters. Names of macros may."""
    if pattern.startswith(('"', "[")):
        return True
    lowered = pattern.casefold()
    top, slash, _ = lowered.removeprefix("/").partition("/")
    if slash and not _WILD.search(top) and top not in guarded:
        return False
    name = lowered.rpartition("/")[2]
    ending = name.rpartition(".")[2] if "." in name else ""
    if ending and not _WILD.search(ending):
        return ending in _GUARDED_ENDINGS
    return bool(_WILD.search(name)) or not name or name in _GUARDED_NAMES
