"""The signs of HCL: gaps and comments, words, texts with what is filled into them, here-documents, brackets.

Source: hashicorp/hcl, hclsyntax/spec.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.hcl_file import COMPUTED, HclProblemError, as_text
from poolsmith.core.sources.placed_source import LinedText
from poolsmith.core.sources.pointer import MISSING

_MOST_DEPTH = 100
_BYTE_ORDER = "\ufeff"
"""HCL takes it at the start of a file (hclsyntax/scan_tokens.rl, stripUTF8BOM)."""
WORD = compiled_later(r"[A-Za-z_][\w-]*")
SPACE = compiled_later(r"(?:[ \t\r]++|#[^\n]*+|//[^\n]*+|/\*.*?\*/)++", re.DOTALL)
SPACE_AND_LINES = compiled_later(r"(?:[ \t\r\n]++|#[^\n]*+|//[^\n]*+|/\*.*?\*/)++", re.DOTALL)
STEP = r"(?:\.[A-Za-z_][\w-]*+|\[\"[^\"\]\\$%\n]*\"\]|\[\d{1,4}\])"
_ONE_STEP = compiled_later(r"\.(?P<name>[\w-]+)|\[\"(?P<key>[^\"]*)\"\]|\[(?P<index>\d+)\]")
_INTERPOLATION = compiled_later(
    rf"\$\{{\s*(?P<kind>[A-Za-z_][\w-]*+)(?:\.(?P<name>[A-Za-z_][\w-]*+))?(?P<rest>{STEP}*+)\s*\}}"
)
HEREDOC = compiled_later(r"<<(?P<flush>-?)(?P<end>[A-Za-z_][\w-]*)[ \t]*\r?\n")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


Resolve = Callable[[str, str], Any]
"""From `var` and `x` of the reference `var.x` to its value, COMPUTED where nobody knows it."""


class HclText(LinedText):
    """A place in a text of HCL, and the ways to go on from it."""

    def __init__(self, path: str, text: str, resolve: Resolve | None) -> None:
        super().__init__(text)
        self.path = path
        self.resolve = resolve
        self.assigned: dict[str, Any] = {}
        self.at = len(_BYTE_ORDER) if text.startswith(_BYTE_ORDER) else 0
        self.depth = 0
        self.rounds = 0
        self.read_again = 0
        self.is_inside = False
        """Whether brackets around it let lines go on."""
        self.names: dict[str, Any] = {}
        """What `for` and `dynamic` name."""
        self.starts: dict[str, tuple[Position, Position]] = {}
        self.texts: dict[str, tuple[int, int]] = {}

    def _resolved(self, kind: str, match: re.Match[str]) -> Any:
        """What a name stands for, down the steps behind it; MISSING where there is no such key."""
        name = match["name"]
        if kind in self.names:
            return self._down(self.names[kind], (f".{name}" if name else "") + match["rest"])
        return self._down(self.resolve(kind, name) if self.resolve is not None and name else COMPUTED, match["rest"])

    def _down(self, value: Any, steps: str) -> Any:
        for step in _ONE_STEP.finditer(steps):
            if isinstance(value, dict):
                value = value.get(step["name"] or step["key"], COMPUTED if COMPUTED in value else MISSING)
            elif isinstance(value, list) and step["index"] is not None and int(step["index"]) < len(value):
                value = value[int(step["index"])]
            else:
                return COMPUTED
        return value

    def _quoted(self) -> tuple[Any, str]:
        """The text, COMPUTED with an interpolation; and what stands between the quotes."""
        text, start = self.text, self.at + 1
        self.at = start
        parts: list[str] = []
        is_computed = False
        while True:
            sign = text[self.at : self.at + 1]
            if sign in ("", "\n"):
                raise HclProblemError("a text without an end")
            if sign == '"':
                break
            if text.startswith(("$${", "%%{"), self.at):
                parts.append(text[self.at + 1 : self.at + 3])
                self.at += 3
            elif (told := self._interpolated()) is not None:
                parts.append(told)
            elif text.startswith(("${", "%{"), self.at):
                is_computed = True
                self.at += 2
                self._deeper()
                self._skip_closing("}")
                self.depth -= 1
            elif sign == "\\":
                parts.append(self._escape())
            else:
                parts.append(sign)
                self.at += 1
        raw = text[start : self.at]
        self.at += 1
        return (COMPUTED if is_computed else "".join(parts)), raw

    def _interpolated(self) -> str | None:
        """The text of `${var.x}`; None of anything else, which stays where it is."""
        match = _INTERPOLATION.match(self.text, self.at)
        text = as_text(self._resolved(match["kind"], match)) if match is not None else None
        if match is None or text is None:
            return None
        self.at = match.end()
        return text

    def _escape(self) -> str:
        sign = self.text[self.at + 1 : self.at + 2]
        digits = {"u": 4, "U": 8}.get(sign, 0)
        code = self.text[self.at + 2 : self.at + 2 + digits]
        self.at += 2 + digits
        if not digits:
            return _ESCAPES.get(sign, sign)
        try:
            return chr(int(code, 16))
        except (ValueError, OverflowError):
            raise HclProblemError("no code point") from None

    def _heredoc(self, match: re.Match[str], pointer: str) -> Any:
        """Its text; the place of a text without interpolation is told line by line."""
        end = re.compile(rf"^[ \t]*{re.escape(match['end'])}[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
        closing = end.search(self.text, match.end())
        if closing is None:
            raise HclProblemError("a heredoc without an end")
        body = self.text[match.end() : closing.start()]
        self.at = closing.end()
        indent = 0
        if match["flush"]:
            lines = [line for line in body.splitlines() if line.strip()]
            indent = min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
            body = "".join(line[indent:] if line.strip() else "\n" for line in body.splitlines(keepends=True))
        value = self._filled_in(body)
        if value is not COMPUTED:
            self.texts[pointer] = (self.position(match.end()).line, indent)
        return value

    def _filled_in(self, body: str) -> Any:
        """A text with what its names stand for; COMPUTED where that is not all."""
        body = _INTERPOLATION.sub(self._filled, body) if self.resolve is not None else body
        plain = body.replace("$${", "").replace("%%{", "")
        if "${" in plain or "%{" in plain:
            return COMPUTED
        return body.replace("$${", "${").replace("%%{", "%{")

    def _filled(self, match: re.Match[str]) -> str:
        """The text of an interpolation in one line; itself where it is not known, or escaped."""
        value = self._resolved(match["kind"], match)
        is_escaped = match.start() > 0 and match.string[match.start() - 1] == "$"
        text = as_text(value)
        return match[0] if text is None or "\n" in text or is_escaped else text

    def _skip_expression(self, ends: Callable[[], bool]) -> None:
        while self.at < len(self.text) and not ends():
            sign = self.text[self.at]
            if sign == '"':
                self._quoted()
            elif sign in _CLOSING:
                self.at += 1
                self._skip_closing(_CLOSING[sign])
            elif sign == "<" and (match := HEREDOC.match(self.text, self.at)) is not None:
                self._heredoc(match, "")
                return
            elif sign in ")]}":
                return
            elif sign.isspace():
                self._skip(SPACE_AND_LINES if sign == "\n" else SPACE)
                self.at += self.text[self.at : self.at + 1] == sign  # a space that HCL does not know
            elif not self._comment():
                self.at += 1

    def _skip_closing(self, closing: str) -> None:
        """Past the bracket that closes what was opened before."""
        expected = [closing]
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == '"':
                self._quoted()
            elif sign in _CLOSING:
                expected.append(_CLOSING[sign])
                self.at += 1
            elif sign in ")]}":
                self.at += 1
                if sign != expected.pop():
                    raise HclProblemError("brackets that don't match")
                if not expected:
                    return
            elif sign == "<" and (match := HEREDOC.match(self.text, self.at)) is not None:
                self._heredoc(match, "")
            elif not self._comment():
                self.at += 1
        raise HclProblemError("a bracket without its end")

    def _comment(self) -> bool:
        match = SPACE.match(self.text, self.at) if self.text[self.at] in "#/" else None
        if match is not None:
            self.at = match.end()
        elif self.text.startswith("/*", self.at):
            raise HclProblemError("a comment without an end")
        return match is not None

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return True

    def _take(self, sign: str) -> bool:
        self._skip(SPACE)
        is_there = self.text.startswith(sign, self.at) and not self.text.startswith("==", self.at)
        self.at += len(sign) if is_there else 0
        return is_there

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise HclProblemError(f"`{sign}` is missing")

    def _word(self) -> str:
        match = WORD.match(self.text, self.at)
        if match is None:
            raise HclProblemError("no name of a block or an attribute")
        self.at = match.end()
        return match[0]

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise HclProblemError("too deep")

    def _note(self, pointer: str, start: int, end: int | None = None) -> None:
        first = self.position(start)
        last = self.position(end) if end is not None else Position(first.line, first.column + 1)
        self.starts[pointer] = (first, last)
