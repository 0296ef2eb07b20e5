"""A language server: what `check` finds stands in the editor, at its line, each time that a file is saved.

Messages are taken while a project is judged, too: between two clusters. However many saves have come meanwhile, the
files are judged once more. Source: Language Server Protocol 3.17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith import __version__
from poolsmith.core.sources.pointer import value_at
from poolsmith.interface.app.editor import answers
from poolsmith.interface.app.editor.documents import CODE_POINTS, path_of
from poolsmith.interface.app.editor.findings import FIX_ALL, QUICK_FIX
from poolsmith.interface.app.editor.kept_project import ReplacedError
from poolsmith.interface.app.editor.messages import NOTHING, UNREADABLE, ClosedError
from poolsmith.interface.app.editor.requests import (
    BAD_PARAMS,
    INTERNAL,
    INVALID,
    NO_METHOD,
    NOT_YET,
    PARSE,
    RequestError,
    id_of,
    items_of,
    text_of,
)
from poolsmith.interface.app.editor.session import ERROR, YAML, LeftError, Session, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from poolsmith.interface.app.editor.messages import Messages

_PAUSE = 0.05
"""Seconds without a message after which what was saved is judged."""
_ENDINGS_SESSION = (LeftError, ClosedError, BrokenPipeError)


class Server:
    """Of one editor. `project_above` finds the project of a folder."""

    def __init__(self, messages: Messages, project_above: Callable[[str], Path], *, folder: str, jobs: int = 1) -> None:
        self._messages = messages
        self._session = Session(self._notify, project_above, folder=folder, jobs=jobs)
        self._is_open = self._is_told_to_end = self._can_watch = False

    def run(self) -> int:
        """Until the editor ends it; the exit code that the protocol asks for. Raises ClosedError."""
        try:
            while True:
                message = self._messages.next(_PAUSE if self._session.due else None)
                if message is NOTHING:
                    self._session.judge_all(self._meanwhile)
                else:
                    self._take(message)
        except LeftError:
            return 0 if self._is_told_to_end else 1
        except ReplacedError as error:
            self._session.tell(ERROR, str(error), is_shown=True)
            return 1

    def _meanwhile(self, _done: int, _total: int) -> None:
        """Between two clusters: what has come is taken."""
        while (message := self._messages.next(0)) is not NOTHING:
            self._take(message)

    def _take(self, message: Any) -> None:
        """One message: a request is answered, whatever it asks. Raises LeftError."""
        if message is UNREADABLE:
            self._refuse(None, PARSE, "the body is no JSON")
        elif not isinstance(message, dict):
            self._refuse(None, INVALID, "one message at a time, as an object")
        elif isinstance(method := message.get("method"), str):
            self._call(method, message)
        elif "method" in message or not {"result", "error"} & message.keys():
            self._refuse(id_of(message), INVALID, "a message without a method")

    def _call(self, method: str, message: dict[str, Any]) -> None:
        params, is_request = message.get("params"), "id" in message
        try:
            result = self._answer(method, params if isinstance(params, dict) else {})
        except RequestError as error:
            if is_request:
                self._refuse(id_of(message), error.code, str(error))
        except _ENDINGS_SESSION:
            raise
        except Exception as error:  # noqa: BLE001 - one question that goes wrong must not end the session
            self._session.tell(ERROR, f"internal error: {where(error)}")
            if is_request:
                self._refuse(id_of(message), INTERNAL, where(error))
        else:
            if is_request:
                self._messages.send({"id": id_of(message), "result": result})

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "exit":
            raise LeftError
        if not self._is_open and method != "initialize":
            raise RequestError(NOT_YET, "`initialize` comes first")
        if self._is_told_to_end or (self._is_open and method == "initialize"):
            raise RequestError(INVALID, f"`{method[:80]}` comes too late")
        if (handler := _OF_SESSION.get(method)) is not None:
            return handler(self, params)
        if (question := _QUESTIONS.get(method)) is not None:
            return question(self._session, params)
        if method in _IGNORED:
            return None
        raise RequestError(NO_METHOD, f"there is no `{method[:80]}` here")

    def initialize(self, params: dict[str, Any]) -> Any:
        self._is_open = True
        session = self._session
        session.folder = next(filter(None, map(path_of, _folders(params))), session.folder)
        if CODE_POINTS in items_of(params, "capabilities", "general", "positionEncodings"):
            session.encoding = CODE_POINTS
        watching = ("capabilities", "workspace", "didChangeWatchedFiles", "dynamicRegistration")
        self._can_watch = value_at(params, watching) is True
        return {
            "serverInfo": {"name": "poolsmith", "version": __version__},
            "capabilities": {
                "positionEncoding": session.encoding,
                "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": False}},
                "hoverProvider": True,
                "completionProvider": {"triggerCharacters": [" ", ":", "[", "{", ","]},
                "codeActionProvider": {"codeActionKinds": [QUICK_FIX, FIX_ALL]},
            },
        }

    def initialized(self, _params: dict[str, Any]) -> None:
        """What changes without the editor, such as by `generate`, is told where the editor can watch files."""
        if self._can_watch:
            watched = {"watchers": [{"globPattern": f"**/*{ending}"} for ending in YAML]}
            one = {"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": watched}
            self._messages.send(
                {"id": "files", "method": "client/registerCapability", "params": {"registrations": [one]}}
            )
        self._session.saved(f"{self._session.folder}/profiles/any")

    def shutdown(self, _params: dict[str, Any]) -> None:
        self._is_told_to_end = True
        self._session.due.clear()

    def opened(self, params: dict[str, Any]) -> None:
        text = text_of(params, "textDocument", "text")
        document = self._session.put(text_of(params, "textDocument", "uri"), text)
        if document is not None and document.path not in self._session.all_found():
            self._session.saved(document.path)

    def changed(self, params: dict[str, Any]) -> None:
        last = next(reversed(items_of(params, "contentChanges")), None)
        if not isinstance(last, dict) or "range" in last:
            raise RequestError(BAD_PARAMS, "a change is the whole text")
        self._session.put(text_of(params, "textDocument", "uri"), text_of(last, "text"))

    def saved(self, params: dict[str, Any]) -> None:
        path = path_of(text_of(params, "textDocument", "uri"))
        if path is not None:
            self._session.saved(path)

    def closed(self, params: dict[str, Any]) -> None:
        self._session.documents.pop(text_of(params, "textDocument", "uri"), None)

    def changed_on_disk(self, params: dict[str, Any]) -> None:
        for change in items_of(params, "changes"):
            self.saved({"textDocument": change})

    def _refuse(self, number: Any, code: int, message: str) -> None:
        self._messages.send({"id": number, "error": {"code": code, "message": message}})

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._messages.send({"method": method, "params": params})


_OF_SESSION: dict[str, Callable[[Server, dict[str, Any]], Any]] = {
    "initialize": Server.initialize,
    "initialized": Server.initialized,
    "shutdown": Server.shutdown,
    "textDocument/didOpen": Server.opened,
    "textDocument/didChange": Server.changed,
    "textDocument/didSave": Server.saved,
    "textDocument/didClose": Server.closed,
    "workspace/didChangeWatchedFiles": Server.changed_on_disk,
}
_QUESTIONS: dict[str, Callable[[Session, dict[str, Any]], Any]] = {
    "textDocument/hover": answers.hover,
    "textDocument/completion": answers.completion,
    "textDocument/codeAction": answers.code_actions,
}
_IGNORED = frozenset(("workspace/didChangeConfiguration", "$/cancelRequest", "$/setTrace"))
"""Nothing here depends on them."""


def _folders(params: dict[str, Any]) -> Iterator[str]:
    """Uris of what the editor has opened, the first one first."""
    for folder in (*items_of(params, "workspaceFolders"), {"uri": params.get("rootUri")}):
        if isinstance(folder, dict) and isinstance(folder.get("uri"), str):
            yield folder["uri"]
