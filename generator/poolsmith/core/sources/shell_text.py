"""Commands of one program in a script of the shell, a Makefile or a text that holds some: their words and places.

Variables that the text itself sets are filled in; what only a run knows stands as `${name}`.
Source: POSIX.1-2024, Shell Command Language, 2.2 Quoting, 2.6.2 Parameter Expansion, 2.7.4 Here-Document; GNU make, 6.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.placed_source import LinedText

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN = "${"
_LONGEST = 4096
_MOST_WORDS = 400
_MOST_TEXTS = 100
_DEEPEST = 40
"""Variables that are set by others, and commands in commands, one in the other."""
_ASSIGNED = pattern(
    r"(?:^|[;&|(]|(?<!\$)\{|\b(?:then|do|else)\b)[ \t]*"
    r"(?:(?:export|readonly|local|declare|typeset|ENV|ARG)[ \t]+(?:-\w+[ \t]+)?)?"
    r"(?P<name>[A-Za-z_]\w*)[ \t]*(?P<sign>[:?+]{0,2}=)[ \t]*",
    re.MULTILINE,
)
_FILLED = pattern(r"\$\{(?P<name>[A-Za-z_]\w*):?=(?P<text>[^{}\n]{0,999})\}")
_PIECE = pattern(
    r"(?P<join>\\\r?\n)|\\(?P<escaped>.)|'(?P<single>[^']*)'|(?P<quote>\")"
    r"|\$\$?(?:\{(?P<name>[A-Za-z_]\w*)(?::?[-=](?P<text>[^{}\n]{0,999}))?\}|(?P<plain>[A-Za-z_]\w*)|\((?P<made>[A-Z_]\w*)\))"
    r"|(?P<run>\$?\{\{[^}\n]{0,400}\}\}|\$\{[^{}\n]{0,999}(?:\{[^{}\n]{0,999}\}[^{}\n]{0,999}){0,99}+\}"
    r"|[$<]\((?:[^()]|\([^()]{0,999}\)){0,999}\)|\$[^\s\"'\\]|`[^`\n]{0,999}`)"
    r"|(?P<rest>[^\s'\"\\$`;|&()<>]+|\$)"
)
_QUOTED = pattern(r"(?P<end>\")|\\(?P<escaped>[\"$`\\\n])|(?P<rest>[^\"\\$`]+|\\)|(?=[$`])")
_BRACKETS = pattern(r"\\.|'[^']{0,999}'|[()]")
_SPACE = pattern(r"(?:[ \t\r]|\\\r?\n)*")
_REDIRECTED = pattern(r"\d?(?:>>?|<<<|<(?!\())[&|]?[ \t]*")
_HEREDOC = pattern(r"(?<!<)<<-?[ \t]*(?P<quote>[\"']?)(?P<tag>[A-Za-z_]\w*)(?P=quote)")
_WRITES = pattern(r"(?:(?<![>&\w])>\|?|\btee[ \t])[ \t]*(?![>&\s])")
_BEFORE = pattern(r"[;&|({`]|\b(?:then|do|else)\b")
_PRINTS = pattern(
    r"[@+-]*(?:#|//|(?:\w*[_-])?"
    r"(?:echo|printf?|cat|log|info|warn|warning|err|error|die|say|fail|help|ok|note|step)\b)"
)
_TAKES_TEXT = pattern(r"(?:\s-l?c\s+|\bssh\b.*|\b(?:eval|pei?|run)\s+|\bcommand[\s=]+|\b\w+=)[\"']$")
"""What hands a text to a shell, keeps it for one, or shows it and runs it."""


@record(kw_only=False)
class Word:
    """`at` and `end` are where it stands in the text."""

    text: str
    at: int
    end: int

    @property
    def is_open(self) -> bool:
        """Whether some of it is known to a run alone."""
        return OPEN in self.text


@record
class Command:
    """Its words, with the program first; the range of the text that a here-document gives it."""

    words: tuple[Word, ...]
    given: tuple[int, int] | None = None


class ShellText(LinedText):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._known: dict[str, str | None] = {}
        self._depth = 0

    def commands(self, program: re.Pattern[str]) -> Iterator[Command]:
        """Those that `program` finds the first word of, without what is printed, quoted or in a comment."""
        after = 0
        for match in program.finditer(self.text):
            if match.start() >= after and (stop := self._stop_of(match.start())) is not None:
                command = self._command(match.start(), stop)
                after = max(match.end(), *(word.end for word in command.words[-1:]), *(command.given or ()))
                yield command

    def is_indented(self, at: int) -> bool:
        """Whether a command stands in a branch, a function or a target, as far as its line shows."""
        return self.text[self.text.rfind("\n", 0, at) + 1 : at][:1].isspace()

    def _stop_of(self, at: int) -> str | None:
        """The quote that ends a command, empty without one; None of what stands there and is no command."""
        if any(start <= at < end for start, end in self._printed):
            return None
        before = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        if len(before) > _LONGEST:
            return None
        own = _BEFORE.split(before)[-1].split()
        if any(map(_PRINTS.match, own[:1])) or any(word.startswith("#") for word in own):
            return None
        open_quote = next((sign for sign in "\"'" if before.count(sign) % 2), "")
        if not open_quote:
            return ""
        opened = before.rfind(open_quote) + 1
        inner = _BEFORE.split(before[opened:])[-1].split()
        is_first = all(word == "sudo" or "=" in word for word in inner)
        return open_quote if is_first and _TAKES_TEXT.search(before[:opened]) else None

    @cached_property
    def _printed(self) -> list[tuple[int, int]]:
        """Texts that a script hands to `cat`, and nowhere else."""
        found = []
        for match in islice(_HEREDOC.finditer(self.text), _MOST_TEXTS):
            start = self.text.rfind("\n", 0, match.start()) + 1
            line = self.text[start : self.text.find("\n", match.end())]
            if "cat" in line.split() and ">" not in line and "|" not in line:
                start, end = self._body(match)
                found += [(start, end)] if end < len(self.text) else []
        return found

    @cached_property
    def written(self) -> dict[str, tuple[int, int]]:
        """The ranges of here-documents by the files that they are written to, without files that are written twice."""
        found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for match in islice(_HEREDOC.finditer(self.text), _MOST_TEXTS):
            body = self._body(match)
            start = self.text.rfind("\n", 0, match.start()) + 1
            for target in islice(_WRITES.finditer(self.text, start, body[0]), _MOST_TEXTS):
                found[self._word(target.end(), is_whole=True).text].append(body)
        return {name: ranges[0] for name, ranges in found.items() if len(ranges) == 1}

    def _body(self, match: re.Match[str]) -> tuple[int, int]:
        """Where a here-document begins and ends; one without an end goes on to that of the text."""
        line_end = self.text.find("\n", match.end())
        start = line_end + 1 if line_end >= 0 else len(self.text)
        closing = re.compile(rf"^[ \t]*{match['tag']}[ \t\r]*$", re.MULTILINE).search(self.text, start)
        return start, len(self.text) if closing is None else closing.start()

    def _command(self, at: int, stop: str) -> Command:
        words: list[Word] = []
        given = None
        while len(words) < _MOST_WORDS:
            at = self._past(_SPACE, at)
            sign = self.text[at : at + 1]
            if (match := _HEREDOC.match(self.text, at)) is not None:
                given, at = self._body(match), match.end()
            elif (match := _REDIRECTED.match(self.text, at)) is not None:
                at = self._word(match.end(), stop).end
            elif not sign or sign in "\n;|&()#" or sign == stop:
                break
            else:
                word = self._word(at, stop, is_whole=True)
                words += _split(word, self.text[at : word.end])
                at = max(word.end, at + 1)
        return Command(words=tuple(words), given=given)

    def _past(self, space: re.Pattern[str], at: int) -> int:
        match = space.match(self.text, at)
        return at if match is None else match.end()

    def _word(self, start: int, stop: str = "", *, is_whole: bool = False) -> Word:
        """Its text as far as anybody asks for it; `is_whole`: it ends where the shell ends it."""
        at, parts, size = start, [], 0
        is_quoted = False
        while (is_whole or size <= _LONGEST) and at < len(self.text) and self.text[at] != stop:
            match = (_QUOTED if is_quoted else _PIECE).match(self.text, at)
            if match is not None and match.end() == at:  # a variable within quotes
                match = _PIECE.match(self.text, at)
            if match is None or match.end() == at or match[0] == "$(":
                closed = self._closed(at)
                if closed > at:  # what a run says, nested deeper than the pattern
                    parts.append(f"{OPEN}}}")
                    at = closed
                    continue
            if match is None or match.end() == at:
                break
            at = match.end()
            is_quoted ^= match.lastgroup in ("quote", "end")
            if size <= _LONGEST:
                parts.append(self._told(match))
                size += len(parts[-1])
        return Word("".join(parts), start, at)

    def _closed(self, at: int) -> int:
        """Where `$(`, `<(` or a backtick ends; `at` where that is too far, or too deep."""
        if self.text.startswith("`", at):
            return self.text.find("`", at + 1, at + _LONGEST) + 1
        if not self.text.startswith(("$(", "<("), at):
            return at
        depth = 0
        for sign in _BRACKETS.finditer(self.text, at, at + _LONGEST):
            depth += {"(": 1, ")": -1}.get(sign[0], 0)
            if depth in (0, _DEEPEST):
                return at if depth else sign.end()
        return at

    def _told(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        if found.get("run") is not None:
            return f"{OPEN}}}"
        name = found.get("name") or found.get("plain") or found.get("made")
        if name is not None:
            known = self._value(name)
            default = found.get("text") or self._defaults.get(name)
            told = default if known is None else known if default in (None, known) else None
            return f"{OPEN}{name}}}" if told is None or "$" in told else told.strip("\"'")
        return next((found[key] for key in ("escaped", "single", "rest") if found.get(key) is not None), "")

    def _value(self, name: str) -> str | None:
        """What a variable stands for wherever it is set; None where that is several things, or nobody knows."""
        if name not in self._known:
            self._known[name] = None  # while it is looked for: it may be named in its own value
            if self._depth == _DEEPEST:
                return None
            self._depth += 1
            told = {self._word(at).text if at >= 0 else None for at in self._assigned.get(name, ())}
            self._depth -= 1
            one = told.pop() if len(told) == 1 else None
            self._known[name] = None if one is None or OPEN in one or len(one) > _LONGEST else one
        return self._known[name]

    @cached_property
    def _assigned(self) -> dict[str, list[int]]:
        """By the name of a variable where its values begin; -1 of one that something is added to."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for match in _ASSIGNED.finditer(self.text):
            found[match["name"]].append(-1 if match["sign"].startswith("+") else match.end())
        return found

    @cached_property
    def _defaults(self) -> dict[str, str]:
        """What `${name:=text}` gives a variable that has no value."""
        return {match["name"]: match["text"] for match in _FILLED.finditer(self.text)}


def _split(word: Word, written: str) -> Iterator[Word]:
    """The shell splits a variable that stands without quotes."""
    parts = word.text.split() if written.startswith("$") and '"' not in written else [word.text]
    yield from (Word(part, word.at, word.end) for part in parts)
