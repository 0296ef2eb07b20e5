"""What HCL (Terraform) says: blocks, texts, numbers, maps and lists, with their places.

Conditions, comparisons, `for` and some functions are worked out where all that they ask for is known. The rest is
COMPUTED, and so are texts and keys with such a part.
Source: hashicorp/hcl, hclsyntax/spec.md.
"""

from __future__ import annotations

from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.hcl_file import (
    COMPUTED,
    FUNCTIONS,
    LONGEST_FILLED,
    HclBlock,
    HclFile,
    HclProblemError,
    as_text,
)
from poolsmith.core.sources.hcl_text import (
    HEREDOC,
    SPACE,
    SPACE_AND_LINES,
    STEP,
    WORD,
    HclText,
)
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.pointer import MISSING, join

if TYPE_CHECKING:
    import re
    from collections.abc import Callable


_NUMBER = compiled_later(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STEPS = compiled_later(rf"(?:\.(?P<name>[A-Za-z_][\w-]*+))?(?P<rest>{STEP}*+)(?![\w.\[(-])")
_OPERATOR = compiled_later(r"==|!=|>=|<=|&&|\|\||[<>?]")
_RANKS = {"?": 1, "||": 2, "&&": 3, "==": 4, "!=": 4, ">=": 5, "<=": 5, ">": 5, "<": 5}
_FOR = compiled_later(r"for\s+(?P<first>[A-Za-z_]\w*)\s*(?:,\s*(?P<second>[A-Za-z_]\w*)\s*)?in\s+")
_MOST_ROUNDS, _MOST_AGAIN = 400, 50_000
"""Of all `for` in a file: how many, and how many signs they read."""
_ENCODERS = (
    "yamlencode",
    "jsonencode",
    "yamldecode",
    "jsondecode",
    "tomap",
    "tolist",
    "tostring",
    "tonumber",
    "tobool",
    "toset",
)
_HERE = ("${path.module}/", "${path.root}/", "./")
_FILES = ("file", "templatefile")
_CALL_ALONE = compiled_later(rf"\"\$\{{\s*(?P<name>{'|'.join(_FILES)})(?=\()")
"""A text that is nothing but the content of a file."""
_CONSTANTS = {"true": True, "false": False, "null": None}


class HclReader(HclText):
    def file(self) -> tuple[HclBlock, ...]:
        found: list[HclBlock] = []
        while self._skip(SPACE_AND_LINES) and self.at < len(self.text):
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

    def expression(self) -> Any:
        """A text that is nothing else."""
        return self._value("", lambda: self.at >= len(self.text))

    def _body(self, pointer: str) -> dict[str, Any]:
        """Up to the brace that closes it."""
        self._deeper()
        found: dict[str, Any] = {}
        while self._skip(SPACE_AND_LINES) and not self._take("}"):
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
        pairs = self._rounds(block.get("for_each"))
        if pairs is None or "iterator" in block:
            return [COMPUTED]
        end, found = self.at, []
        for key, value in pairs:
            read = self._again(start, {kind: {"key": key, "value": value}}, lambda: self._body(""))
            found.append(next(iter(read.get("content") or []), COMPUTED))
            if self.read_again > _MOST_AGAIN:
                found = [COMPUTED]
                break
        self.at = end
        return found

    def _rounds(self, value: Any) -> list[tuple[Any, Any]] | None:
        """Keys and values of what is repeated; None of what nobody knows, or where all rounds of a file are used up."""
        pairs = _pairs(value)
        self.rounds += len(pairs or ())
        return pairs if self.rounds <= _MOST_ROUNDS and self.read_again <= _MOST_AGAIN else None

    def _again(self, start: int, names: dict[str, Any], read: Callable[[], Any]) -> Any:
        """What stands at a place for one round of what repeats it; its places are those of the first round."""
        before, starts, texts = self.names, self.starts, self.texts
        self.at, self.names, self.starts, self.texts = start, before | names, {}, {}
        value = read()
        self.read_again += self.at - start
        self.names, self.starts, self.texts = before, starts, texts
        return value

    def _labels(self) -> tuple[str, ...]:
        found: list[str] = []
        while self._skip(SPACE) and self.at < len(self.text):
            if self.text[self.at] == '"':
                found.append(str(self._quoted()[0]))
            elif (match := WORD.match(self.text, self.at)) is not None:
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
        self._skip(SPACE)
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
        self._skip(SPACE_AND_LINES if self.is_inside else SPACE)

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
        self._skip(SPACE_AND_LINES)
        return value if self._take(")") else COMPUTED

    def _within(self, read: Callable[[], Any], *, is_inside: bool = True) -> Any:
        """What stands within brackets."""
        before, self.is_inside = self.is_inside, is_inside
        self._skip(SPACE_AND_LINES if is_inside else SPACE)
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
            self._skip(SPACE)
            if text.startswith('}"', self.at):
                self.at += 2
                return value
            self.at = at
        if first == '"':
            return self._quoted()[0]
        if first == "<" and (match := HEREDOC.match(text, at)) is not None:
            return self._heredoc(match, pointer)
        if first == "[":
            return self._list(pointer)
        if first == "{":
            return self._map(pointer)
        if (match := _NUMBER.match(text, at)) is not None:
            self.at = match.end()
            return _number(match[0])
        if (match := WORD.match(text, at)) is not None:
            self.at = match.end()
            if match[0] in _CONSTANTS:
                return _CONSTANTS[match[0]]
            if text[self.at : self.at + 1] == "(":
                return self._call(match[0], pointer)
            return self._reference(match[0])
        return COMPUTED

    def _reference(self, kind: str) -> Any:
        """`var.x.y[0]` behind its first word; COMPUTED where more follows, such as an index that is computed."""
        match = _STEPS.match(self.text, self.at)
        if match is None or not (match["name"] or kind in self.names):
            return COMPUTED
        self.at = match.end()
        return self._resolved(kind, match)

    def _call(self, name: str, pointer: str) -> Any:
        self.at += 1
        self._skip(SPACE_AND_LINES)
        if name in _FILES and self.text[self.at : self.at + 1] == '"':
            told, raw = self._quoted()
            self._skip(SPACE_AND_LINES)
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
            self._skip(SPACE_AND_LINES)
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
        self._skip(SPACE_AND_LINES)
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
        while self._skip(SPACE_AND_LINES) and not self._take(closing):
            found.append(read(len(found), lambda: self._ends_item(closing)))
            self._skip(SPACE_AND_LINES)
            if not self._take(","):
                self._expect(closing)
                break
        self.is_inside = before
        return found

    def _map(self, pointer: str) -> Any:
        self.at += 1
        self._deeper()
        found: dict[Any, Any] = {}
        self._skip(SPACE_AND_LINES)
        if self._is_for():
            made = self._made("}", lambda: self._pair(pointer))
            self.depth -= 1
            return made
        before, self.is_inside = self.is_inside, False
        while self._skip(SPACE_AND_LINES) and not self._take("}"):
            start = self.at
            key = self._key()
            self._skip(SPACE)
            place = join(pointer, key) if isinstance(key, str) else pointer
            if isinstance(key, str):
                self._note(place, start, self.at)
            if not self._take("=") and not self._take(":"):
                raise HclProblemError("a key of a map without a value")
            found[key] = self._value(place, lambda: self._ends_line() or self._ends_item("}"))
            self._skip(SPACE_AND_LINES)
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
            pairs = self._rounds(self._within(lambda: self._value("", lambda: self._take(":"))))
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
            is_known = isinstance(is_wanted, bool) and self.read_again <= _MOST_AGAIN
            if not is_known or self.text[self.at : self.at + 1] != closing:
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
        text = as_text(key)
        return COMPUTED if text is None else text, value

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
        if (match := WORD.match(self.text, self.at) or _NUMBER.match(self.text, self.at)) is None:
            raise HclProblemError("no key of a map")
        self.at = match.end()
        if self.text[self.at : self.at + 1] == ".":  # a reference
            while self.at < len(self.text) and self.text[self.at] not in "=:\n":
                self.at += 1
            return COMPUTED
        return match[0]

    def _ends_line(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] in "\n}"

    def _ends_item(self, closing: str) -> bool:
        match = SPACE_AND_LINES.match(self.text, self.at)
        at = self.at if match is None else match.end()
        return self.text[at : at + 1] in (",", closing)

    def _is_for(self) -> bool:
        match = WORD.match(self.text, self.at)
        return match is not None and match[0] == "for" and self.text[match.end() : match.end() + 1] in " \t"


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


def _number(text: str) -> int | float:
    if len(text) > LONGEST_FILLED:
        raise HclProblemError("no number is that long")
    return float(text) if any(sign in text for sign in ".eE") else int(text)
