"""What HCL (Terraform) says: blocks, texts, numbers, maps and lists, with their places.

Conditions, comparisons, `for` and some functions are worked out where all that they ask for is known. The rest is
COMPUTED, and so are texts and keys with such a part.
Source: hashicorp/hcl, hclsyntax/spec.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.hcl_file import COMPUTED, FUNCTIONS, HclBlock, HclFile, HclProblemError
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.pointer import MISSING, join

_MOST_DEPTH = 60
_LONGEST_FILLED = 200
_WORD = compiled_later(r"[A-Za-z_][\w-]*")
_NUMBER = compiled_later(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_SPACE = compiled_later(r"(?:[ \t\r]++|#[^\n]*+|//[^\n]*+|/\*.*?\*/)++", re.DOTALL)
_SPACE_AND_LINES = compiled_later(r"(?:[ \t\r\n]++|#[^\n]*+|//[^\n]*+|/\*.*?\*/)++", re.DOTALL)
_STEP = r"(?:\.[A-Za-z_][\w-]*+|\[\"[^\"\]\\$%\n]*\"\]|\[\d{1,4}\])"
_STEPS = compiled_later(rf"\.(?P<name>[A-Za-z_][\w-]*+)(?P<rest>{_STEP}*+)(?![\w.\[(-])")
_ONE_STEP = compiled_later(r"\.(?P<name>[\w-]+)|\[\"(?P<key>[^\"]*)\"\]|\[(?P<index>\d+)\]")
_AFTER = compiled_later(rf"(?P<rest>{_STEP}*+)(?![\w.\[(-])")
_INTERPOLATION = compiled_later(
    rf"\$\{{\s*(?P<kind>[A-Za-z_][\w-]*+)(?:\.(?P<name>[A-Za-z_][\w-]*+))?(?P<rest>{_STEP}*+)\s*\}}"
)
_OPERATOR = compiled_later(r"==|!=|>=|<=|&&|\|\||[<>?]")
_RANKS = {"?": 1, "||": 2, "&&": 3, "==": 4, "!=": 4, ">=": 5, "<=": 5, ">": 5, "<": 5}
_FOR = compiled_later(r"for\s+(?P<first>[A-Za-z_]\w*)\s*(?:,\s*(?P<second>[A-Za-z_]\w*)\s*)?in\s+")
_MOST_ROUNDS = 400
"""Of all `for` in a file."""
_HEREDOC = compiled_later(r"<<(?P<flush>-?)(?P<end>[A-Za-z_][\w-]*)[ \t]*\r?\n")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ENCODERS = ("yamlencode", "jsonencode", "tomap", "tolist", "tostring", "tonumber", "tobool", "toset")
_HERE = ("${path.module}/", "${path.root}/", "./")
_FILES = ("file", "templatefile")
_CALL_ALONE = compiled_later(rf"\"\$\{{\s*(?P<name>{'|'.join(_FILES)})(?=\()")
"""A text that is nothing but the content of a file."""
_CONSTANTS = {"true": True, "false": False, "null": None}


Resolve = Callable[[str, str], Any]
"""From `var` and `x` of the reference `var.x` to its value, COMPUTED where nobody knows it."""


def read_hcl(path: str, text: str, resolve: Resolve | None = None) -> tuple[HclBlock, ...]:
    """The blocks of a file. Raises HclProblemError for a text that is no HCL."""
    return _Reader(path, text, resolve).file()


def read_assignments(path: str, text: str) -> dict[str, Any]:
    """What a file of variables (`.tfvars`) sets. Raises HclProblemError as above."""
    reader = _Reader(path, text, None)
    reader.file()
    return reader.assigned


class _Reader:
    def __init__(self, path: str, text: str, resolve: Resolve | None) -> None:
        self.path = path
        self.text = text
        self.resolve = resolve
        self.assigned: dict[str, Any] = {}
        self.at = 0
        self.depth = 0
        self.rounds = 0
        self.is_inside = False
        """Whether brackets around it let lines go on."""
        self.names: dict[str, Any] = {}
        """What `for` and `dynamic` name."""
        self.starts: dict[str, tuple[Position, Position]] = {}
        self.texts: dict[str, tuple[int, int]] = {}
        self.line_starts = [0, *(found.end() for found in re.finditer(r"\n", text))]

    def file(self) -> tuple[HclBlock, ...]:
        found: list[HclBlock] = []
        while self._skip(_SPACE_AND_LINES) and self.at < len(self.text):
            self.starts, self.texts = {}, {}
            start = self.at
            kind = self._word()
            self._note("", start)
            labels = self._labels()
            if self._take("="):  # a file of variables
                self.assigned[kind] = self._value("", self._ends_line)
                continue
            self._expect("{")
            data = self._body("")
            source = PlacedSource(self.path, self.text, data, self.starts, self.texts)
            found.append(HclBlock(kind=kind, labels=labels, data=data, source=source))
        return tuple(found)

    def _body(self, pointer: str) -> dict[str, Any]:
        """Up to the brace that closes it."""
        self._deeper()
        found: dict[str, Any] = {}
        while self._skip(_SPACE_AND_LINES) and not self._take("}"):
            start = self.at
            key = self._word()
            end = self.at
            labels = self._labels()
            if not labels and self._take("="):
                place = join(pointer, key)
                self._note(place, start, end)
                found[key] = self._value(place, self._ends_line)
                continue
            self._expect("{")
            kind = labels[0] if key == "dynamic" and labels else key
            known = found.setdefault(kind, [])
            blocks = known if isinstance(known, list) else []
            place = join(pointer, kind, len(blocks))
            self._note(place, start, end)
            self.starts.setdefault(join(pointer, kind), self.starts[place])
            start = self.at
            inner = self._body(place)
            blocks += [inner] if key != "dynamic" else self._repeated(kind, inner, start)
        self.depth -= 1
        return found

    def _repeated(self, kind: str, block: dict[str, Any], start: int) -> list[Any]:
        """What a `dynamic` block stands for; one block that is computed where nobody knows how many there are."""
        pairs = _pairs(block.get("for_each"))
        if pairs is None or "iterator" in block:
            return [COMPUTED]
        end = self.at
        read = [
            self._again(start, {kind: {"key": key, "value": value}}, lambda: self._body("")) for key, value in pairs
        ]
        self.at = end
        return [next(iter(item.get("content") or []), COMPUTED) for item in read]

    def _again(self, start: int, names: dict[str, Any], read: Callable[[], Any]) -> Any:
        """What stands at a place for one round of what repeats it; its places are those of the first round."""
        self.rounds += 1
        if self.rounds > _MOST_ROUNDS:
            raise HclProblemError("too many rounds")
        before, starts, texts = self.names, self.starts, self.texts
        self.at, self.names, self.starts, self.texts = start, before | names, {}, {}
        value = read()
        self.names, self.starts, self.texts = before, starts, texts
        return value

    def _labels(self) -> tuple[str, ...]:
        found: list[str] = []
        while self._skip(_SPACE) and self.at < len(self.text):
            if self.text[self.at] == '"':
                found.append(str(self._quoted()[0]))
            elif (match := _WORD.match(self.text, self.at)) is not None:
                self.at = match.end()
                found.append(match[0])
            else:
                break
        return tuple(found)

    def _value(self, pointer: str, ends: Callable[[], bool]) -> Any:
        """The value at `pointer`; COMPUTED if anything stands between it and where it has to end."""
        value = self._value_or_missing(pointer, ends)
        return COMPUTED if value is MISSING else value

    def _value_or_missing(self, pointer: str, ends: Callable[[], bool]) -> Any:
        self._skip(_SPACE)
        value = self._operation(pointer)
        is_heredoc = self.at > 0 and self.text[self.at - 1] == "\n"
        if value is not COMPUTED and is_heredoc:
            return value
        self._gap()
        if ends():
            return value
        self._skip_expression(ends)
        return COMPUTED

    def _gap(self) -> None:
        self._skip(_SPACE_AND_LINES if self.is_inside else _SPACE)

    def _operation(self, pointer: str, least: int = 1) -> Any:
        """A value with the operators behind it that bind at least as much."""
        self._deeper()
        value = self._operand(pointer)
        while (match := self._operator(least)) is not None:
            self.at = match.end()
            self._gap()
            if match[0] == "?":
                value = self._chosen(pointer, value)
            else:
                value = _worked_out(match[0], value, self._operation(pointer, _RANKS[match[0]] + 1))
        self.depth -= 1
        return value

    def _operator(self, least: int) -> re.Match[str] | None:
        at = self.at
        self._gap()
        match = _OPERATOR.match(self.text, self.at)
        if match is None or _RANKS[match[0]] < least:
            self.at = at
            return None
        return match

    def _operand(self, pointer: str) -> Any:
        turned = 0
        while self._take("!"):
            turned += 1
        if turned:
            value = self._operand(pointer)
            return value is (turned % 2 == 0) if isinstance(value, bool) else COMPUTED
        if not self.text.startswith("(", self.at):
            return self._literal(pointer)
        self.at += 1
        value = self._within(lambda: self._value(pointer, lambda: self._ends_item(")")))
        self._skip(_SPACE_AND_LINES)
        return value if self._take(")") else COMPUTED

    def _within(self, read: Callable[[], Any], *, is_inside: bool = True) -> Any:
        """What stands within brackets."""
        before, self.is_inside = self.is_inside, is_inside
        self._skip(_SPACE_AND_LINES if is_inside else _SPACE)
        value = read()
        self.is_inside = before
        return value

    def _chosen(self, pointer: str, condition: Any) -> Any:
        """Of `a : b` behind a question mark, whose other side leaves no places."""
        kept, texts = self.starts, self.texts
        sides = []
        for side in (True, False):
            is_taken = condition is side
            self.starts, self.texts = (kept, texts) if is_taken else ({}, {})
            sides.append(self._operation(pointer))
            self._gap()
            if side and not self._take(":"):
                break
            self._gap()
        self.starts, self.texts = kept, texts
        return sides[not condition] if isinstance(condition, bool) and len(sides) > 1 else COMPUTED

    def _literal(self, pointer: str) -> Any:
        text, at = self.text, self.at
        first = text[at : at + 1]
        if first == '"' and (match := _CALL_ALONE.match(text, at)) is not None:
            self.at = match.end()
            value = self._call(match["name"], pointer)
            self._skip(_SPACE)
            if text.startswith('}"', self.at):
                self.at += 2
                return value
            self.at = at
        if first == '"':
            return self._quoted()[0]
        if first == "<" and (match := _HEREDOC.match(text, at)) is not None:
            return self._heredoc(match, pointer)
        if first == "[":
            return self._list(pointer)
        if first == "{":
            return self._map(pointer)
        if (match := _NUMBER.match(text, at)) is not None:
            self.at = match.end()
            return _number(match[0])
        if (match := _WORD.match(text, at)) is not None:
            self.at = match.end()
            if match[0] in _CONSTANTS:
                return _CONSTANTS[match[0]]
            if text[self.at : self.at + 1] == "(":
                return self._call(match[0], pointer)
            return self._named(match[0]) if match[0] in self.names else self._reference(match[0])
        return COMPUTED

    def _reference(self, kind: str) -> Any:
        """`var.x.y[0]` behind its first word; COMPUTED where more follows, such as an index that is computed."""
        match = _STEPS.match(self.text, self.at)
        if match is None:
            return COMPUTED
        self.at = match.end()
        return self._resolved(kind, match)

    def _named(self, name: str) -> Any:
        match = _AFTER.match(self.text, self.at)
        if match is None:
            return COMPUTED
        self.at = match.end()
        return self._down(self.names[name], match["rest"])

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

    def _call(self, name: str, pointer: str) -> Any:
        self.at += 1
        self._skip(_SPACE_AND_LINES)
        if name in _FILES and self.text[self.at : self.at + 1] == '"':
            told, raw = self._quoted()
            self._skip(_SPACE_AND_LINES)
            is_template = name == _FILES[1] and self._take(",")
            if is_template:
                self._skip_closing(")")
            if is_template or self._take(")"):
                path = told if isinstance(told, str) else raw
                prefix = next((word for word in _HERE if path.startswith(word)), "")
                path = path.removeprefix(prefix)
                return COMPUTED if "${" in path else HclFile(path, is_template)
        elif name in _ENCODERS:
            value = self._within(lambda: self._value(pointer, lambda: self._ends_item(")")))
            self._skip(_SPACE_AND_LINES)
            if self._take(")"):
                return value
        elif name in FUNCTIONS:
            return FUNCTIONS[name](self._arguments(pointer))
        self._skip_closing(")")
        return COMPUTED

    def _arguments(self, pointer: str) -> list[Any]:
        self._deeper()
        found = self._items(")", lambda _, ends: self._value_or_missing(pointer, ends))
        self.depth -= 1
        return found

    def _list(self, pointer: str) -> Any:
        self.at += 1
        self._deeper()
        self._skip(_SPACE_AND_LINES)
        found: Any
        if self._is_for():
            found = self._made("]", lambda: (None, self._value(pointer, self._ends_round("]"))))
        else:
            found = self._items("]", lambda index, ends: self._noted(join(pointer, index), ends))
        self.depth -= 1
        return found

    def _noted(self, place: str, ends: Callable[[], bool]) -> Any:
        self._note(place, self.at)
        return self._value(place, ends)

    def _items(self, closing: str, read: Callable[[int, Callable[[], bool]], Any]) -> list[Any]:
        """Up to the sign that closes them; `read` is given the index of each, and what tells where it ends."""
        found: list[Any] = []
        before, self.is_inside = self.is_inside, True
        while self._skip(_SPACE_AND_LINES) and not self._take(closing):
            found.append(read(len(found), lambda: self._ends_item(closing)))
            self._skip(_SPACE_AND_LINES)
            if not self._take(","):
                self._expect(closing)
                break
        self.is_inside = before
        return found

    def _map(self, pointer: str) -> Any:
        self.at += 1
        self._deeper()
        found: dict[Any, Any] = {}
        self._skip(_SPACE_AND_LINES)
        if self._is_for():
            made = self._made("}", lambda: self._pair(pointer))
            self.depth -= 1
            return made
        before, self.is_inside = self.is_inside, False
        while self._skip(_SPACE_AND_LINES) and not self._take("}"):
            start = self.at
            key = self._key()
            self._skip(_SPACE)
            place = join(pointer, key) if isinstance(key, str) else pointer
            if isinstance(key, str):
                self._note(place, start, self.at)
            if not self._take("=") and not self._take(":"):
                raise HclProblemError("a key of a map without a value")
            found[key] = self._value(place, lambda: self._ends_line() or self._ends_item("}"))
            self._skip(_SPACE_AND_LINES)
            self._take(",")
        self.is_inside = before
        self.depth -= 1
        return found

    def _made(self, closing: str, read: Callable[[], tuple[Any, Any]]) -> Any:
        """What `for` makes of each entry of a list or a map; `read` gives key and value of a round."""
        start = self.at
        match = _FOR.match(self.text, start)
        pairs = None
        if match is not None:
            self.at = match.end()
            pairs = _pairs(self._within(lambda: self._value("", lambda: self._take(":"))))
        body = self.at
        self.at = start
        self._skip_closing(closing)
        end = self.at
        if match is None or pairs is None:
            return COMPUTED
        rounds = []
        for key, value in pairs:
            names = {match["first"]: key, match["second"]: value} if match["second"] else {match["first"]: value}
            made, is_wanted = self._again(body, names, lambda: self._within(lambda: (read(), self._is_wanted(closing))))
            if not isinstance(is_wanted, bool) or self.text[self.at : self.at + 1] != closing:
                self.at = end
                return COMPUTED
            rounds += [made] if is_wanted else []
        self.at = end
        return [value for _, value in rounds] if closing == "]" else dict(rounds)

    def _is_wanted(self, closing: str) -> Any:
        """The condition behind what a round makes."""
        if not self.text.startswith("if ", self.at):
            return True
        self.at += len("if ")
        return self._value("", self._ends_round(closing))

    def _pair(self, pointer: str) -> tuple[Any, Any]:
        key = self._operation(pointer)
        self._gap()
        if not self.text.startswith("=>", self.at):
            return COMPUTED, COMPUTED
        self.at += 2
        value = self._value(pointer, self._ends_round("}"))
        return key if isinstance(key, (str, int)) else COMPUTED, value

    def _ends_round(self, closing: str) -> Callable[[], bool]:
        def ends() -> bool:
            self._gap()
            return self.text.startswith((closing, "if ", "..."), self.at)

        return ends

    def _key(self) -> Any:
        first = self.text[self.at : self.at + 1]
        if first == '"':
            return self._quoted()[0]
        if first == "(":
            self.at += 1
            self._skip_closing(")")
            return COMPUTED
        if (match := _WORD.match(self.text, self.at) or _NUMBER.match(self.text, self.at)) is None:
            raise HclProblemError("no key of a map")
        self.at = match.end()
        if self.text[self.at : self.at + 1] == ".":  # a reference
            while self.at < len(self.text) and self.text[self.at] not in "=:\n":
                self.at += 1
            return COMPUTED
        return match[0]

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
        text = _as_text(self._resolved(match["kind"], match)) if match is not None else None
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
        body = _INTERPOLATION.sub(self._filled, body) if self.resolve is not None else body
        plain = body.replace("$${", "").replace("%%{", "")
        if "${" in plain or "%{" in plain:
            return COMPUTED
        self.texts[pointer] = (self._position(match.end()).line, indent)
        return body.replace("$${", "${").replace("%%{", "%{")

    def _filled(self, match: re.Match[str]) -> str:
        """The text of an interpolation in one line; itself where it is not known, or escaped."""
        value = self._resolved(match["kind"], match)
        is_escaped = match.start() > 0 and match.string[match.start() - 1] == "$"
        text = _as_text(value)
        return match[0] if text is None or "\n" in text or is_escaped else text

    def _skip_expression(self, ends: Callable[[], bool]) -> None:
        while self.at < len(self.text) and not ends():
            sign = self.text[self.at]
            if sign == '"':
                self._quoted()
            elif sign in _CLOSING:
                self.at += 1
                self._skip_closing(_CLOSING[sign])
            elif sign == "<" and (match := _HEREDOC.match(self.text, self.at)) is not None:
                self._heredoc(match, "")
                return
            elif sign in ")]}":
                return
            elif sign.isspace():
                self._skip(_SPACE_AND_LINES if sign == "\n" else _SPACE)
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
            elif sign == "<" and (match := _HEREDOC.match(self.text, self.at)) is not None:
                self._heredoc(match, "")
            elif not self._comment():
                self.at += 1
        raise HclProblemError("a bracket without its end")

    def _comment(self) -> bool:
        match = _SPACE.match(self.text, self.at) if self.text[self.at] in "#/" else None
        if match is not None:
            self.at = match.end()
        elif self.text.startswith("/*", self.at):
            raise HclProblemError("a comment without an end")
        return match is not None

    def _ends_line(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] in "\n}"

    def _ends_item(self, closing: str) -> bool:
        match = _SPACE_AND_LINES.match(self.text, self.at)
        at = self.at if match is None else match.end()
        return self.text[at : at + 1] in (",", closing)

    def _is_for(self) -> bool:
        match = _WORD.match(self.text, self.at)
        return match is not None and match[0] == "for" and self.text[match.end() : match.end() + 1] in " \t"

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return True

    def _take(self, sign: str) -> bool:
        self._skip(_SPACE)
        is_there = self.text.startswith(sign, self.at) and not self.text.startswith("==", self.at)
        self.at += len(sign) if is_there else 0
        return is_there

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise HclProblemError(f"`{sign}` is missing")

    def _word(self) -> str:
        match = _WORD.match(self.text, self.at)
        if match is None:
            raise HclProblemError("no name of a block or an attribute")
        self.at = match.end()
        return match[0]

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise HclProblemError("too deep")

    def _note(self, pointer: str, start: int, end: int | None = None) -> None:
        first = self._position(start)
        last = self._position(end) if end is not None else Position(first.line, first.column + 1)
        self.starts[pointer] = (first, last)

    def _position(self, at: int) -> Position:
        line = bisect_right(self.line_starts, at)
        return Position(line, at - self.line_starts[line - 1] + 1)


def _pairs(value: Any) -> list[tuple[Any, Any]] | None:
    """Keys and values of what is repeated; None of what nobody knows."""
    if isinstance(value, dict) and COMPUTED not in value:
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) and COMPUTED not in value else None


def _worked_out(operator: str, one: Any, other: Any) -> Any:
    if operator in ("&&", "||"):
        decides = operator == "||"
        if one is decides or other is decides:
            return decides
        return not decides if isinstance(one, bool) and isinstance(other, bool) else COMPUTED
    if any(value is COMPUTED or value is MISSING or isinstance(value, (dict, list, HclFile)) for value in (one, other)):
        return COMPUTED
    if operator in ("==", "!="):
        is_same = isinstance(one, bool) == isinstance(other, bool) and one == other
        return is_same == (operator == "==")
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (one, other))
    return _COMPARES[operator](one, other) if numbers else COMPUTED


_COMPARES: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


def _as_text(value: Any) -> str | None:
    """What stands for an interpolation; None where it is no short text and no number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = value if isinstance(value, str) else f"{value:.15g}" if isinstance(value, float) else f"{value:d}"
    return text if len(text) <= _LONGEST_FILLED else None


def _number(text: str) -> int | float:
    if len(text) > _LONGEST_FILLED:
        raise HclProblemError("no number is that long")
    return float(text) if any(sign in text for sign in ".eE") else int(text)
