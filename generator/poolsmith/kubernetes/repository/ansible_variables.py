"""What the variables of Ansible stand for where a task stands, and the files that it names.

Source: docs.ansible.com, playbook_guide/playbooks_variables: of the places where a variable may be set, the later in
this order wins: role defaults, group_vars/all, group_vars, host_vars, the play, its vars_files, role vars, the task.
Where one place has several values, for several hosts, nobody knows which one holds.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import words
from poolsmith.core.sources.pointer import join, mapped

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_REFERENCE = pattern(
    r"\{\{-?\s*+(?P<name>[A-Za-z_]\w*+)\s*+"
    r"(?:\|\s*+default\(\s*+(?P<quote>['\"])(?P<default>[^'\"{}]*+)(?P=quote)\s*+(?:,\s*+true\s*+)?\)\s*+)?-?\}\}"
)
_FILE = pattern(
    r"\{\{\s*+lookup\(\s*+['\"]file['\"]\s*+,\s*+['\"](?P<path>[^'\"{}]++)['\"]\s*+\)\s*+\|\s*+from_yaml\s*+\}\}"
)
_MARKS = ("{{", "{%")
_MOST_DEPTH = 5
_MOST_LOOKED_UP = 1000
"""Variables that are made of variables could grow without end."""
_ENDINGS = ("", ".yml", ".yaml", ".json")


@record(kw_only=False)
class Variable:
    """A value, and where it stands."""

    value: Any
    document: CheckedDocument
    pointer: str


def is_computed(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


class AnsibleVariables:
    """Those that a task of a document sees. `tops` are the mappings around the task, outermost first, by pointer."""

    def __init__(
        self, document: CheckedDocument, tops: tuple[tuple[str, dict[str, Any]], ...], files: RepositoryFiles
    ) -> None:
        self._document = document
        self._tops = tops
        self._files = files
        self._folder = posixpath.dirname(document.path)
        self._role = _role_of(self._folder)
        self._known: dict[str, Variable | None] = {}
        self._left = _MOST_LOOKED_UP

    def find(self, name: str) -> Variable | None:
        """None where nothing sets it, or several hosts have several values."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> Variable | None:
        for place in self._places(name):
            found = list(place)
            if found:
                return found[0] if all(item.value == found[0].value for item in found) else None
        return None

    def resolved(self, value: Any, depth: int = 0) -> Any:
        """A value with what its variables stand for, as far as that is known."""
        return mapped(value, lambda item: self._scalar(item, depth))

    def _scalar(self, value: Any, depth: int) -> Any:
        if not isinstance(value, str) or not is_computed(value) or depth > _MOST_DEPTH or self._left <= 0:
            return value
        whole = _REFERENCE.fullmatch(value.strip())
        if whole is not None:
            known = self._told(whole)
            return value if known is None else self.resolved(known, depth + 1)
        return _REFERENCE.sub(lambda match: self._as_text(match, depth), value)

    def layer_of(self, text: str) -> Variable | None:
        """The mapping that `{{ name }}` stands for, where it is written."""
        whole = _REFERENCE.fullmatch(text.strip())
        found = self.find(whole["name"]) if whole is not None else None
        return found if found is not None and isinstance(found.value, dict) else None

    def file_of(self, text: str) -> str | None:
        """The file of `{{ lookup('file', 'a.yaml') | from_yaml }}`."""
        match = _FILE.fullmatch(text.strip())
        return self.path_of(match["path"]) if match is not None else None

    def path_of(self, path: str) -> str | None:
        """A file that a task names: in the role, beside the playbook, in a folder `files` of either."""
        told = self.resolved(path)
        if not isinstance(told, str) or is_computed(told):
            return None
        play = posixpath.dirname(posixpath.dirname(self._role)) if self._role is not None else None
        tops = [folder for folder in (self._role, self._folder, play) if folder is not None]
        candidates = [posixpath.join(top, sub, told) for top in tops for sub in ("files", "")]
        known = (posixpath.normpath(candidate) for candidate in (*candidates, told))
        return next((candidate for candidate in known if self._files.is_file(candidate)), None)

    def _told(self, match: re.Match[str]) -> Any:
        self._left -= 1
        if match["name"] == "playbook_dir" and self._role is None:
            return self._folder or "."
        if match["name"] == "role_path" and self._role is not None:
            return self._role
        found = self.find(match["name"])
        return match["default"] if found is None else found.value

    def _as_text(self, match: re.Match[str], depth: int) -> str:
        known = self.resolved(self._told(match), depth + 1) if self._left > 0 else None
        return str(known) if isinstance(known, (str, int, float)) and not isinstance(known, bool) else match[0]

    def _places(self, name: str) -> Iterator[Iterator[Variable]]:
        """From the one that wins to the one that gives way."""
        yield from (self._in_block(pointer, block, name) for pointer, block in reversed(self._tops[1:]))
        if self._role is not None:
            yield self._in_folder(posixpath.join(self._role, "vars"), "main", name)
        for pointer, block in self._tops[:1]:
            yield self._in_files([posixpath.join(self._folder, path) for path in words(block.get("vars_files"))], name)
            yield self._in_block(pointer, block, name)
        for kind, is_for_all in (("host_vars", False), ("group_vars", False), ("group_vars", True)):
            yield self._in_files(
                [path for path in self._files.inventories if _is_of(path, kind, is_for_all=is_for_all)], name
            )
        if self._role is not None:
            yield self._in_folder(posixpath.join(self._role, "defaults"), "main", name)

    def _in_block(self, pointer: str, block: dict[str, Any], name: str) -> Iterator[Variable]:
        own = block.get("vars")
        if isinstance(own, dict) and name in own:
            yield Variable(own[name], self._document, join(pointer, "vars", name))

    def _in_folder(self, folder: str, stem: str, name: str) -> Iterator[Variable]:
        below = self._files.files_in(posixpath.join(folder, stem))
        yield from self._in_files([*(posixpath.join(folder, stem + ending) for ending in _ENDINGS), *below], name)

    def _in_files(self, paths: list[str], name: str) -> Iterator[Variable]:
        for path in paths:
            for document in self._files.documents(path) if self._files.is_file(path) else ():
                if isinstance(document.data, dict) and name in document.data:
                    yield Variable(document.data[name], document, join("", name))


def _role_of(folder: str) -> str | None:
    """The folder of the role that a folder of tasks belongs to."""
    head, _, last = folder.rpartition("/")
    while head:
        if last in ("tasks", "handlers"):
            return head
        head, _, last = head.rpartition("/")
    return None


def _is_of(path: str, kind: str, *, is_for_all: bool) -> bool:
    """Whether a file holds variables of hosts or groups: `group_vars/all.yml`, `group_vars/all/main.yml`."""
    steps = [*path.split("/")[:-1], posixpath.splitext(posixpath.basename(path))[0]]
    if kind not in steps[:-1]:
        return False
    return kind == "host_vars" or (steps[steps.index(kind) + 1] == "all") is is_for_all
