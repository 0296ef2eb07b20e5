"""One comment of a pull request that is kept current: made, changed in place, or taken away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from github_api import ApiError

if TYPE_CHECKING:
    from github_api import Api

MOST_CHARACTERS = 65_536
"""GitHub refuses a longer body."""
_ROOM = 500
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,63}")
_OPEN, _CLOSE = "<details", "</details>"
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_DEFAULT_AUTHOR = "github-actions[bot]"


class BadNameError(Exception):
    """A name of a comment that could end its marker."""


def marker(name: str) -> str:
    """The first line of the comment: not shown, and how it is found again. Raises BadNameError."""
    if not _NAME.fullmatch(name) or "--" in name:
        raise BadNameError("the name of a comment has up to 64 letters, digits, blanks, and . _ / -")
    return f"<!-- poolsmith comment: {name} -->"


def fitting(text: str, room: int, where: str) -> str:
    """A text that GitHub takes: one too long is cut at a line, what was open is closed, and `where` says the rest."""
    if len(text) <= room:
        return text
    kept = text[: room - _ROOM]
    kept = kept[: kept.rfind("\n") + 1] or kept
    fences = _FENCE.findall(kept)
    closing = f"\n{fences[-1]}\n" if len(fences) % 2 else ""
    closing += "\n</details>\n" * max(0, kept.count(_OPEN) - kept.count(_CLOSE))
    return f"{kept}{closing}\nThe report is longer than a comment may be. {where}\n"


class StickyComment:
    """That of `name` on pull request `number`, by whoever the token belongs to."""

    def __init__(self, api: Api, repository: str, number: int, name: str) -> None:
        self._api = api
        self._issues = f"/repos/{repository}/issues"
        self._number = number
        self._marker = marker(name)

    def say(self, text: str, where: str = "") -> str:
        """What was done, in a word. Without a text there is to be no comment. Raises ApiError."""
        mine = self._mine()
        if not text.strip():
            for item in mine:
                self._delete(item)
            return "deleted" if mine else "nothing to say"
        head = f"{self._marker}\n"
        body = head + fitting(text, MOST_CHARACTERS - len(head), where)
        if not mine:
            self._api.ask("POST", f"{self._issues}/{self._number}/comments", {"body": body})
            return "created"
        first, *others = mine
        for item in others:
            self._delete(item)
        if first.get("body") == body:
            return "unchanged"
        self._api.ask("PATCH", f"{self._issues}/comments/{int(first['id'])}", {"body": body})
        return "updated"

    def _mine(self) -> list[dict[str, Any]]:
        """Anybody may write the marker: what counts is who wrote the comment. No user's name can end in `[bot]`."""
        author = self._author()
        return [
            item
            for item in self._api.pages(f"{self._issues}/{self._number}/comments")
            if str((item.get("user") or {}).get("login", "")).lower() == author
            and str(item.get("body") or "").startswith(self._marker)
        ]

    def _author(self) -> str:
        """In lower case. A token that may not ask is the one that workflows get."""
        try:
            answer = self._api.ask("POST", "/graphql", {"query": "{ viewer { login } }"})
            return str(answer["data"]["viewer"]["login"]).lower()
        except (ApiError, KeyError, TypeError):
            return _DEFAULT_AUTHOR

    def _delete(self, item: dict[str, Any]) -> None:
        """Somebody may have been faster."""
        try:
            self._api.ask("DELETE", f"{self._issues}/comments/{int(item['id'])}")
        except ApiError as error:
            if error.status not in (404, 410):
                raise
