"""A language server: what `check` finds stands in the editor, at its line, each time a file is saved.

Messages are taken while a project is judged, too: between two clusters. However many saves have come meanwhile, the
files are judged once more. What is no file of the folder that the editor opened is neither read nor judged.
Source: Language Server Protocol 3.17.
"""

from __future__ import annotations

import os
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from poolsmith import __version__
from poolsmith.core.diagnostics import PoolsmithError, Position
from poolsmith.core.diagnostics.message_text import counted, joined
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.interface.app.editor.documents import (
    CODE_POINTS,
    UTF16,
    Document,
    is_below,
    path_of,
    place_in,
    rows_on_disk,
    shown_range,
    uri_of,
)
from poolsmith.interface.app.editor.kept_project import KeptProject, ReplacedError
from poolsmith.interface.app.editor.messages import NOTHING, UNREADABLE, ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.app.editor.findings import Action
    from poolsmith.interface.app.editor.messages import Messages

PARSE, INVALID, NO_METHOD, BAD_PARAMS, INTERNAL, NOT_YET = -32700, -32600, -32601, -32602, -32603, -32002
"""Codes of errors, as JSON-RPC and the protocol number them."""
_ERROR, _INFO = 1, 3
_PAUSE = 0.05
"""Seconds without a message after which what was saved is judged."""
_OF_PROJECT = ("profiles/", "policies/", "output/")
_YAML = (".yaml", ".yml")
_MOST_FILES = 500
_MOST_EFFECTS = 8
_CODE = pattern(r"\bPSM[0-9]{3}\b")


class RequestError(Exception):
    """Why a request has no answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Left(Exception):  # noqa: N818 - no error
    """The editor has ended the session while a project was judged."""


class Server:
    """Of one editor. `project_above` finds the project of a folder."""

    def __init__(self, messages: Messages, project_above: Callable[[str], Path], *, folder: str, jobs: int = 1) -> None:
        self._messages = messages
        self._project_above = project_above
        self._folder = folder
        self._jobs = jobs
        self._state = "new"
        self._encoding = UTF16
        self._documents: dict[str, Document] = {}
        self._projects: dict[str, KeptProject] = {}
        self._due: dict[str, None] = {}
        self._found: dict[str, dict[str, list[Diagnostic]]] = {}
        self._can_watch = False
        self._was_told = False

    def run(self) -> int:
        """Until the editor ends it; the exit code that the protocol asks for."""
        try:
            while self._state != "left":
                message = self._messages.next(_PAUSE if self._due else None)
                if message is NOTHING:
                    self._judge_all()
                else:
                    self._take(message)
        except _Left:
            pass
        except ReplacedError as error:
            self._tell(_ERROR, str(error), is_shown=True)
            return 1
        return 0 if self._was_told else 1

    def _take(self, message: Any) -> None:
        """One message: a request is answered, whatever it asks."""
        if message is UNREADABLE:
            self._refuse(None, PARSE, "the body is no JSON")
        elif not isinstance(message, dict):
            self._refuse(None, INVALID, "one message at a time, as an object")
        elif isinstance(method := message.get("method"), str):
            self._call(method, message.get("params"), message)
        elif "method" in message or not {"result", "error"} & message.keys():
            self._refuse(_id_of(message), INVALID, "a message without a method")

    def _call(self, method: str, params: Any, message: dict[str, Any]) -> None:
        is_request = "id" in message
        try:
            result = self._answer(method, params if isinstance(params, dict) else {})
        except RequestError as error:
            if is_request:
                self._refuse(_id_of(message), error.code, str(error))
        except (_Left, ClosedError, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - one question that goes wrong must not end the session
            self._tell(_ERROR, f"{method}: {_where(error)}")
            if is_request:
                self._refuse(_id_of(message), INTERNAL, _where(error))
        else:
            if is_request:
                self._messages.send({"id": _id_of(message), "result": result})

    def _refuse(self, number: Any, code: int, message: str) -> None:
        self._messages.send({"id": number, "error": {"code": code, "message": message}})

    def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "exit":
            self._state = "left"
            return None
        if self._state == "new" and method != "initialize":
            raise RequestError(NOT_YET, "`initialize` comes first")
        if self._was_told or (method == "initialize" and self._state != "new"):
            raise RequestError(INVALID, f"`{method[:80]}` comes too late")
        handler = _METHODS.get(method)
        if handler is None:
            raise RequestError(NO_METHOD, f"there is no `{method[:80]}` here")
        return handler(self, params)

    # What the editor asks for, by the method's name.

    def initialize(self, params: dict[str, Any]) -> Any:
        self._state = "open"
        self._folder = next(filter(None, map(path_of, _folders(params))), self._folder)
        known = value_at(params, ("capabilities", "general", "positionEncodings"))
        if isinstance(known, list) and CODE_POINTS in known:
            self._encoding = CODE_POINTS
        watches = value_at(params, ("capabilities", "workspace", "didChangeWatchedFiles", "dynamicRegistration"))
        self._can_watch = watches is True
        return {
            "serverInfo": {"name": "poolsmith", "version": __version__},
            "capabilities": {
                "positionEncoding": self._encoding,
                "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": False}},
                "hoverProvider": True,
                "completionProvider": {"triggerCharacters": [" ", ":", "[", "{", ","]},
                "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll.poolsmith"]},
            },
        }

    def initialized(self, _params: dict[str, Any]) -> None:
        """What changes without the editor, such as by `generate`, is told where the editor can watch files."""
        if self._can_watch:
            watched = {"watchers": [{"globPattern": f"**/*{ending}"} for ending in _YAML]}
            one = {"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": watched}
            self._messages.send(
                {"id": "files", "method": "client/registerCapability", "params": {"registrations": [one]}}
            )
        self._saved(f"{self._folder}/profiles/any")

    def shutdown(self, _params: dict[str, Any]) -> None:
        self._was_told = True
        self._due.clear()

    def opened(self, params: dict[str, Any]) -> None:
        uri, text = _text(params, "textDocument", "uri"), _text(params, "textDocument", "text")
        self._put(uri, text)
        document = self._documents.get(uri)
        if document is not None and document.path not in self._all_found():
            self._saved(document.path)

    def changed(self, params: dict[str, Any]) -> None:
        changes = params.get("contentChanges")
        last = changes[-1] if isinstance(changes, list) and changes else None
        if not isinstance(last, dict) or "range" in last or not isinstance(last.get("text"), str):
            raise RequestError(BAD_PARAMS, "a change is the whole text")
        self._put(_text(params, "textDocument", "uri"), last["text"])

    def _put(self, uri: str, text: str) -> None:
        path = path_of(uri)
        if path is not None and is_below(path, self._folder):
            self._documents[uri] = Document(uri=uri, path=path, text=text)

    def saved(self, params: dict[str, Any]) -> None:
        path = path_of(_text(params, "textDocument", "uri"))
        if path is not None:
            self._saved(path)

    def closed(self, params: dict[str, Any]) -> None:
        self._documents.pop(_text(params, "textDocument", "uri"), None)

    def changed_on_disk(self, params: dict[str, Any]) -> None:
        changes = params.get("changes")
        for change in changes if isinstance(changes, list) else ():
            path = path_of(change["uri"]) if isinstance(change, dict) and isinstance(change.get("uri"), str) else None
            if path is not None:
                self._saved(path)

    def hover(self, params: dict[str, Any]) -> Any:
        """The field at the place and what follows from it, the rules of what is found there, the rule that is named."""
        document, place = self._at(params)
        texts = list(self._about(document, place))
        return {"contents": {"kind": "markdown", "value": "\n\n---\n\n".join(texts)}} if texts else None

    def _about(self, document: Document, place: Position) -> Iterator[str]:
        from poolsmith.interface.app.editor.findings import extent_of
        from poolsmith.interface.app.editor.schema_words import field_at

        root, path = self._home_of(document.path)
        field = field_at(path, document.text, place)
        if field is not None:
            yield field[1]
            if told := self._effects(root, path, field[0]):
                yield f"What follows: {joined(told, _MOST_EFFECTS, '; ')}"
        row = document.rows[place.line - 1]
        codes = [match[0] for match in _CODE.finditer(row) if match.start() < place.column <= match.end() + 1]
        for item in self._all_found().get(document.path, ()):
            start, end = extent_of(item.primary)
            codes += [item.code] if start <= place <= end else []
        yield from _rule_pages(dict.fromkeys(codes))

    def _effects(self, root: str, path: str, pointer: str) -> list[str]:
        if not path.startswith("profiles/"):
            return []
        from poolsmith.interface.app.editor.field_effects import effects  # on demand

        try:
            with self._project(root).project() as project:
                return effects(project, path, pointer)
        except PoolsmithError:
            return []

    def completion(self, params: dict[str, Any]) -> Any:
        from poolsmith.interface.app.editor.schema_words import words_at

        document, place = self._at(params)
        root, path = self._home_of(document.path)
        items = []
        for number, word in enumerate(words_at(path, document.text, place, _ProjectWords(root))):
            extent = (Position(place.line, word.start), Position(place.line, word.end))
            items.append(
                {
                    "label": word.label,
                    "kind": 5 if word.is_field else 12,
                    "sortText": f"{number:04}",
                    "textEdit": {"range": shown_range(document.rows, *extent, self._encoding), "newText": word.text},
                    **({"documentation": word.about} if word.about else {}),
                }
            )
        return {"isIncomplete": False, "items": items}

    def code_actions(self, params: dict[str, Any]) -> Any:
        from poolsmith.interface.app.editor.findings import FIX_ALL, QUICK_FIX, actions, all_edits, extent_of

        document, place = self._at({**params, "position": value_at(params, ("range", "start"))})
        last = place_in(document.rows, value_at(params, ("range", "end")), self._encoding) or place
        asked = value_at(params, ("context", "only"))
        kinds = [kind for kind in asked if isinstance(kind, str)] if isinstance(asked, list) else None
        root, path = self._home_of(document.path)
        found = self._all_found().get(document.path, [])
        near = [item for item in found if _meet(extent_of(item.primary), (place, last))]
        several = [*actions(Path(root), path, document, near)] if _wanted(QUICK_FIX, kinds) else []
        whole = all_edits(Path(root), path, document, found) if _wanted(FIX_ALL, kinds) else None
        return [self._action(item, document, Path(root)) for item in (*several, *([whole] if whole else ()))]

    def _action(self, item: Action, document: Document, root: Path) -> Any:
        from poolsmith.interface.app.editor.findings import shown_finding

        rows = document.rows
        edits = [
            {"range": shown_range(rows, edit.start, edit.end, self._encoding), "newText": edit.text}
            for edit in item.edits
        ]
        return {
            "title": item.title,
            "kind": item.kind,
            "isPreferred": True,
            "diagnostics": [shown_finding(one, root, rows, self._encoding) for one in item.about],
            "edit": {"changes": {document.uri: edits}},
        }

    def _at(self, params: dict[str, Any]) -> tuple[Document, Position]:
        document = self._documents.get(_text(params, "textDocument", "uri"))
        if document is None:
            raise RequestError(BAD_PARAMS, "no such file is open, in the folder that the editor opened")
        place = place_in(document.rows, params.get("position"), self._encoding)
        if place is None:
            raise RequestError(BAD_PARAMS, "there is no such place in the text")
        return document, place

    # What is judged.

    def _home_of(self, path: str) -> tuple[str, str]:
        """The project of a file, or else the folder of the editor; and the path from there."""
        folder = path.rpartition("/")[0]
        root = os.path.normpath(Path(folder, self._project_above(folder)))
        is_near = is_below(path, root) and (is_below(f"{root}/profiles", self._folder) or is_below(self._folder, root))
        if not is_near or not _has_profiles(root):
            root = self._folder
        return root, os.path.relpath(path, root)

    def _project(self, root: str) -> KeptProject:
        if root not in self._projects:
            self._projects[root] = KeptProject(Path(root), jobs=self._jobs)
        return self._projects[root]

    def _saved(self, path: str) -> None:
        """The project is due where the file is one of its own, else the file alone."""
        if not is_below(path, self._folder):
            return
        root, below = self._home_of(path)
        if _has_profiles(root) and below.startswith(_OF_PROJECT):
            self._due[root] = None
        elif path.endswith(_YAML):
            self._due[path] = None

    def _judge_all(self) -> None:
        while self._due and self._state != "left":
            source = next(iter(self._due))
            del self._due[source]
            try:
                found = self._judged_project(source) if Path(source).is_dir() else self._judged_file(source)
            except ReplacedError:
                raise
            except (PoolsmithError, OSError, RecursionError, MemoryError) as error:
                self._tell(_INFO, str(error) or type(error).__name__)
                found = {}
            except (_Left, ClosedError):
                raise
            except Exception as error:  # noqa: BLE001 - told, not shown
                self._tell(_ERROR, f"internal error: {_where(error)}")
                found = {}
            self._publish(source, found)

    def _judged_project(self, root: str) -> dict[str, list[Diagnostic]]:
        from poolsmith.interface.report.finding_blocks import FOLLOWING  # on demand

        outcome = self._project(root).judge(self._meanwhile)
        followers = [item for item in outcome.open if item.code in FOLLOWING]
        if followers:
            self._tell(_INFO, f"{counted(len(followers), 'file')} not as generated: {followers[0].help}")
        return _by_file(root, (item for item in outcome.open if item.code not in FOLLOWING))

    def _judged_file(self, path: str) -> dict[str, list[Diagnostic]]:
        """As a hook of a commit judges it: with what stands near."""
        from poolsmith.interface.app.check import check_paths  # on demand
        from poolsmith.interface.app.check_scope import check_named_files

        if not Path(path).is_file():
            return {}
        root = Path(self._folder)
        outcome = check_named_files(root, [Path(path)], lambda files, only: check_paths(root, files, only=only))
        return _by_file(self._folder, outcome.open)

    def _meanwhile(self, _done: int, _total: int) -> None:
        """Between two clusters: what has come is taken."""
        while self._state != "left" and (message := self._messages.next(0)) is not NOTHING:
            self._take(message)
        if self._state == "left" or self._was_told:
            raise _Left

    def _all_found(self) -> dict[str, list[Diagnostic]]:
        found: dict[str, list[Diagnostic]] = {}
        for by_file in self._found.values():
            for path, items in by_file.items():
                found.setdefault(path, []).extend(items)
        return found

    def _publish(self, source: str, found: dict[str, list[Diagnostic]]) -> None:
        """Each file that has findings, or had some; of very many those that are open, and the first ones."""
        from poolsmith.interface.app.editor.findings import shown_finding

        before = self._found.get(source, {})
        self._found[source] = found
        opened = {document.path: document for document in self._documents.values()}
        paths = sorted(found.keys() | before.keys(), key=lambda path: (path not in opened, path))
        now = self._all_found()
        for path in paths[:_MOST_FILES]:
            document = opened.get(path)
            rows = document.rows if document is not None else rows_on_disk(path)
            root = self._home_of(path)[0]
            shown = [shown_finding(item, Path(root), rows, self._encoding) for item in now.get(path, ())]
            uri = uri_of(path) if document is None else document.uri
            self._notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": shown})
        if len(paths) > _MOST_FILES:
            self._tell(_INFO, f"{len(paths) - _MOST_FILES:,} more files have findings; `poolsmith check` shows them")

    def _tell(self, kind: int, message: str, *, is_shown: bool = False) -> None:
        method = "window/showMessage" if is_shown else "window/logMessage"
        self._notify(method, {"type": kind, "message": message})

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._messages.send({"method": method, "params": params})


def _ignored(_server: Server, _params: dict[str, Any]) -> None:
    """Nothing here depends on it."""


_METHODS: dict[str, Callable[[Server, dict[str, Any]], Any]] = {
    "initialize": Server.initialize,
    "initialized": Server.initialized,
    "shutdown": Server.shutdown,
    "textDocument/didOpen": Server.opened,
    "textDocument/didChange": Server.changed,
    "textDocument/didSave": Server.saved,
    "textDocument/didClose": Server.closed,
    "textDocument/hover": Server.hover,
    "textDocument/completion": Server.completion,
    "textDocument/codeAction": Server.code_actions,
    "workspace/didChangeWatchedFiles": Server.changed_on_disk,
    "workspace/didChangeConfiguration": _ignored,
    "$/cancelRequest": _ignored,
    "$/setTrace": _ignored,
}


class _ProjectWords(dict[str, "Iterable[str]"]):
    """Names that stand in the project, by the field that takes them; looked up when one is asked for."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root

    def get(self, name: str, default: Any = ()) -> Any:
        if name == "extends":
            return _names(f"{self._root}/profiles/_bases", is_folder=False)
        if name in ("cluster", "clusters"):
            return _names(f"{self._root}/profiles", is_folder=True)
        if name in ("rule", "rules"):
            from poolsmith.core.diagnostics.rule_table import RULES  # on demand

            return [word for code, name_of_it, *_ in RULES for word in (name_of_it, code)]
        return default


def _has_profiles(root: str) -> bool:
    return Path(root, "profiles").is_dir()


def _names(folder: str, *, is_folder: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_dir() is is_folder and entry.name[0] not in "._"]
    except OSError:
        return []
    return sorted(name.partition(".")[0] for name in found)


def _rule_pages(codes: Iterable[str]) -> Iterator[str]:
    from poolsmith.guard.rules.rule_book import find_rule  # on demand
    from poolsmith.interface.report.rule_page import format_rule

    for code in codes:
        if (rule := find_rule(code)) is not None:
            yield format_rule(rule)


def _by_file(root: str, found: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    """What somebody has to act on, by absolute paths below the root."""
    by_file: dict[str, list[Diagnostic]] = {}
    for item in found:
        path = os.path.normpath(f"{root}/{item.primary.span.path}")
        if not item.asks_nothing and path.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
            by_file.setdefault(path, []).append(item)
    return by_file


def _meet(one: tuple[Position, Position], other: tuple[Position, Position]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _wanted(kind: str, asked: Sequence[str] | None) -> bool:
    return asked is None or any(f"{kind}.".startswith(f"{one}.") for one in asked)


def _folders(params: dict[str, Any]) -> Iterator[str]:
    """Uris of what the editor has opened, the first one first."""
    folders = params.get("workspaceFolders")
    for folder in folders if isinstance(folders, list) else ():
        if isinstance(folder, dict) and isinstance(folder.get("uri"), str):
            yield folder["uri"]
    if isinstance(params.get("rootUri"), str):
        yield params["rootUri"]


def _text(params: dict[str, Any], *path: str) -> str:
    found = value_at(params, path)
    if not isinstance(found, str):
        raise RequestError(BAD_PARAMS, f"`{'.'.join(path)}` is no text")
    return found


def _id_of(message: dict[str, Any]) -> int | str | None:
    number = message.get("id")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _where(error: Exception) -> str:
    """For a report; nothing of the user's data."""
    frames = extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rpartition('poolsmith/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
