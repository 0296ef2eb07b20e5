"""`.gitattributes` that may hide what is delivered, or what judges, from those who review it.

Source: gitattributes(5), and what GitHub and GitLab document of linguist-generated and gitlab-generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern as compiled_later

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
_WILD = compiled_later(r"[*?\[\\]")
_BLANK = compiled_later(r"[ \t\r]+")
_NAME = compiled_later(r"[A-Za-z0-9_.][-A-Za-z0-9_.]*")
_RESERVED = "builtin_"
"""Left out by newer versions of git, and read by older ones."""
_MOST_BYTES = 2048
_DELIVERED = frozenset(("output", "profiles", "policies"))
"""Folders of which every file matters, whatever its name ends with."""


def hiding_lines(text: str, folder: str, guarded: Collection[str]) -> list[str]:
    """Lines of a `.gitattributes` in a folder that may hide something; `guarded` are names of folders at the top."""
    top = folder.casefold().split("/")[0]
    if folder and top not in guarded:
        return []
    found = ["a NUL byte, after which git versions read different things"] if "\0" in text else []
    for words in attribute_lines(text):
        if not folder and words[0] in FOLDED and _FOLDS.issuperset(words[1:]):
            continue
        if any(map(_hides, words[1:])) and (top in _DELIVERED or _may_be_guarded(words[0], guarded)):
            found.append(" ".join(words))
    return found


def attribute_lines(text: str) -> list[list[str]]:
    """Pattern and attributes of each line, as git parts them: a line ends at `\\n` and nowhere else, and nothing but a
    blank, a tab and a carriage return stands between words. Source: git, attr.c (parse_attr_line)."""
    lines = text.removeprefix("\ufeff").split("\n")
    words = ([word for word in _BLANK.split(line) if word] for line in lines)
    return [found for found in words if found and not found[0].startswith("#")]


def is_read_by_git(words: list[str]) -> bool:
    """Whether git takes a line at all: it leaves out those that are too long, with a pattern that begins with `!`, or
    with a name that is no attribute's."""
    if words[0].startswith("!") or len(" ".join(words).encode("utf-8", "surrogateescape")) >= _MOST_BYTES:
        return False
    names = [word.lstrip("-!") if word[0] in "-!" else word for word in words[1:]]
    return all(_NAME.fullmatch(name.partition("=")[0]) and not name.startswith(_RESERVED) for name in names)


def is_less_hidden(old: list[str], new: list[str]) -> bool:
    """Whether what is left stands in its old order: later lines win."""
    rest = iter(old)
    return all(line in rest for line in new)


def shows_less(old: str, new: str) -> list[str]:
    """Lines that show what others would hide, and that are gone."""
    left = [words for words in attribute_lines(new) if is_read_by_git(words)]
    return [" ".join(words) for words in attribute_lines(old) if words not in left and any(map(_shows, words[1:]))]


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
