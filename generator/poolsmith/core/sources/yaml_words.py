"""Why a text is no YAML, in the words of who wrote it: the line of the mistake, and what is to stand there.

A parser tells where it gave up, which is often a line later. Here the ways in which people break YAML are undone one
by one, near that place and where a bracket or a quote was opened; the one after which the text can be read was the
mistake.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import Position
from poolsmith.core.diagnostics.message_text import counted, cut
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources import yaml_nodes
from poolsmith.core.sources.yaml_reader import YamlProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_TEXT = 200_000
_WORK = 600_000
"""Characters that are read again in all: a small file is tried in many ways, a large one in few."""
_MOST_TRIES = 60
_LONGEST_LINE = 100
_END = 1 << 30

_KEY = r"(?:- ++)*+[A-Za-z_][\w./-]*+"
_BLANKS = pattern("[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]")
_FOREIGN = pattern(r"\s*(//|/\*|```|~~~|<!--|--(?!-))")
_TEMPLATE = pattern(r"\{\{[^{}]*+\}\}|\{%[^%]*+%\}")
_NO_BLANK_BEHIND_DASH = pattern(r"(\s*-)([^\s-].*)")
_NO_BLANK_BEHIND_COLON = pattern(rf"(\s*+{_KEY}:)([^\s/].*)")
_EQUALS = pattern(rf"(\s*+{_KEY})\s*+:?=\s*+(\S.*)")
_NO_COLON = pattern(rf"(\s*+{_KEY})(?:\s++([^\s:#].*))?")
_TWO_KEYS = pattern(r"(\s*+(?:- ++)*+[\w./-]++: ++[^\s:,]++),?\s++([a-z][\w./-]*+:( .*)?)")
_WITH_VALUE = pattern(r"(\s*+(?:- ++)*+[^\s:#][^:#]*+:)\s++(\S.*)")
_ITEM = pattern(r"(\s*)-\s+(\S.*)")
_BARE_STAR = pattern(r"(?<=[\[,{:\s-])(\*[^\s,\]}]*)(?=\s*[,\]}]|\s*$)")
_CLOSERS = {"[": "]", "{": "}"}


@record(kw_only=False)
class _Repair:
    """What was wrong, and the line as it is to be; `line` counts from 0. `advice` stands where that is no help."""

    line: int
    text: str
    message: str
    column: int = 0
    advice: str = ""


def in_words(text: str, problem: YamlProblem) -> YamlProblem:
    """The same problem told of the line where it was made; as it is where no way leads to a text that can be read."""
    if problem.reason not in _JUDGED or problem.position is None or len(text) > MAX_TEXT:
        return problem
    lines = text.split("\n")
    at = min(problem.position.line, len(lines)) - 1
    if template := _template(lines, at):
        return template
    if problem.reason != "yaml-syntax":
        return problem
    found = _first_that_helps(lines, at)
    if found is None:
        return in_words_alone(problem)
    column = found.column or len(lines[found.line]) - len(lines[found.line].lstrip()) + 1
    written = cut(found.text.strip(), _LONGEST_LINE)
    return YamlProblem(
        reason="yaml-syntax",
        message=found.message,
        position=Position(found.line + 1, column),
        related=problem.related,
        help=found.advice or f"write `{written}`",
    )


_JUDGED = frozenset(("yaml-syntax", "not-json"))


_PLAIN_WORDS = (
    ("mapping values are not allowed", "a colon with a blank behind it stands where no key can be"),
    ("could not find expected ':'", "a key without a colon, in this line or the one before it"),
    ("did not find expected key", "the indentation of this line is that of no key above it"),
    ("did not find expected '-' indicator", "a key stands where the list above needs an item"),
    ("did not find expected ',' or", "a bracket that was opened above is not closed before this"),
    ("found character that cannot start any token", "this character can't begin a value"),
    ("unexpected end of stream", "a quote that was opened is never closed"),
    ("undefined alias", "a `*` begins the name of an anchor, and there is no such anchor"),
    ("alphabetic or numeric character", "a `*` or `&` needs a name behind it"),
)


def in_words_alone(problem: YamlProblem) -> YamlProblem:
    """What the parser says, in words that repeat nothing of the text."""
    if problem.help:
        return problem
    words = next((plain for parser, plain in _PLAIN_WORDS if parser in problem.message), None)
    if words is None:
        return problem
    return YamlProblem(
        reason=problem.reason,
        message=words,
        position=problem.position,
        related=problem.related,
        help="compare the indentation, colons, quotes and brackets here and in the line above",
    )


def _template(lines: list[str], at: int) -> YamlProblem | None:
    match = _TEMPLATE.search(lines[at])
    if match is None:
        return None
    return YamlProblem(
        reason="yaml-syntax",
        message=f"`{cut(match[0], _LONGEST_LINE)}` belongs to a template, and this file is read as it stands",
        position=Position(at + 1, match.start() + 1),
        help="write the value itself, or render the template first",
    )


def _first_that_helps(lines: list[str], at: int) -> _Repair | None:
    """The repair after which all can be read, else the one after which the parser gets on farthest."""
    tries = max(4, min(_MOST_TRIES, _WORK // (sum(map(len, lines)) + 1)))
    best, farthest = None, at + 1
    for number, repair in enumerate(_repairs(lines, at)):
        if number == tries:
            break
        reached = _reached([*lines[: repair.line], *repair.text.split("\n"), *lines[repair.line + 1 :]])
        if reached == _END:
            return repair
        if reached > farthest:
            best, farthest = repair, reached
    return best


def _reached(lines: list[str]) -> int:
    """The line of the first mistake, from 0."""
    try:
        for _ in yaml_nodes.compose("\n".join(lines)):
            pass
    except YamlProblem as problem:
        return problem.position.line - 1 if problem.position is not None else 0
    return _END


def _repairs(lines: list[str], at: int) -> Iterator[_Repair]:
    suspects = _suspects(lines, at)
    for way in _WAYS:
        for line in suspects:
            if way is not _indentation or line == at or _is_alone(lines, line):
                yield from (repair for repair in way(lines, line) if repair.text != lines[line])


def _is_alone(lines: list[str], at: int) -> bool:
    """Whether no other line is indented as this one is."""
    now = _indent_of(lines[at])
    return all(_indent_of(line) != now for number, line in enumerate(lines) if number != at and line.strip())


def _suspects(lines: list[str], at: int) -> tuple[int, ...]:
    """Where it was noticed, the lines before and behind it, and where what is open there was opened."""
    before = next((line for line in range(at - 1, -1, -1) if lines[line].strip()), at)
    found = (at, before, *_opened(lines, at), *((at + 1,) if at + 1 < len(lines) else ()))
    return tuple(dict.fromkeys(line for line in found if lines[line].strip()))


def _opened(lines: list[str], at: int) -> Iterator[int]:
    """The lines whose quotes or brackets are not closed on the same line, the nearest bracket first."""
    open_brackets: list[int] = []
    quotes: list[int] = []
    for number, line in enumerate(lines[: at + 1]):
        bare = re.sub(r"\"[^\"]*\"|'[^']*'", "", line).partition(" #")[0]
        if any(bare.count(quote) % 2 for quote in "\"'"):
            quotes.append(number)
        for char in bare:
            if char in "[{":
                open_brackets.append(number)
            elif char in "]}" and open_brackets:
                open_brackets.pop()
    yield from reversed(open_brackets[-2:])
    yield from quotes[:2]


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _tab(lines: list[str], at: int) -> Iterator[_Repair]:
    head = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    if "\t" in head:
        for width in _indents_near(lines, at):
            message = "a tab indents this line; YAML allows only blanks there"
            advice = f"indent it by {counted(width, 'blank')}"
            yield _Repair(at, " " * width + lines[at].lstrip(), message, head.index("\t") + 1, advice)


def _other_blank(lines: list[str], at: int) -> Iterator[_Repair]:
    if match := _BLANKS.search(lines[at]):
        message = f"U+{ord(match[0]):04X}, a blank of another kind, stands where YAML needs a blank"
        yield _Repair(at, _BLANKS.sub(" ", lines[at]).rstrip(), message, match.start() + 1)


def _foreign(lines: list[str], at: int) -> Iterator[_Repair]:
    if match := _FOREIGN.match(lines[at]):
        rest = lines[at][match.end() :].strip(" */->")
        what = "a fence of Markdown" if match[1] in ("```", "~~~") else f"`{match[1]}`"
        advice = "remove the line" if what.startswith("a fence") else ""
        message = f"{what} begins nothing in YAML; comments begin with `#`"
        yield _Repair(at, f"# {rest}".rstrip(), message, advice=advice)


def _dash(lines: list[str], at: int) -> Iterator[_Repair]:
    if match := _NO_BLANK_BEHIND_DASH.fullmatch(lines[at]):
        yield _Repair(at, f"{match[1]} {match[2]}", "a blank is missing behind the `-` of a list item")


def _colon(lines: list[str], at: int) -> Iterator[_Repair]:
    line = lines[at]
    if match := _NO_BLANK_BEHIND_COLON.fullmatch(line):
        yield _Repair(at, f"{match[1]} {match[2]}", "a blank is missing behind the colon", match.end(1))
    if match := _EQUALS.fullmatch(line):
        yield _Repair(at, f"{match[1]}: {match[2]}", "a key and its value stand on two sides of `=`; YAML takes `:`")
    if match := _TWO_KEYS.fullmatch(line):
        text = f"{match[1]}\n{' ' * _indent_of(line)}{match[2]}"
        advice = f"begin a new line before `{cut(match[2], _LONGEST_LINE)}`"
        yield _Repair(at, text, "two keys stand on one line", match.start(2) + 1, advice)
    if (match := _NO_COLON.fullmatch(line.rstrip())) and ": " not in line:
        text = f"{match[1]}: {match[2]}" if match[2] else f"{match[1]}:"
        yield _Repair(at, text, f"the key `{match[1].strip().removeprefix('- ')}` has no colon behind it")


def _quote(lines: list[str], at: int) -> Iterator[_Repair]:
    """A quote that is open at the end of the line: closed there, or taken away."""
    line = lines[at].rstrip()
    for quote in "\"'":
        if line.count(quote) % 2:
            first = line.index(quote) + 1
            message = f"the quote `{quote}` that is opened here is not closed"
            if (match := _WITH_VALUE.fullmatch(line)) and match[2].startswith(quote):
                yield _Repair(at, f"{line}{quote}", message, first)
            yield _Repair(at, line.replace(quote, ""), message, first)
            yield _Repair(at, f"{line}{quote}", message, first)


def _bracket(lines: list[str], at: int) -> Iterator[_Repair]:
    line = lines[at].rstrip()
    for opener, closer in _CLOSERS.items():
        if line.count(opener) > line.count(closer):
            column = line.rindex(opener) + 1
            message = f"`{opener}` is opened here, and no `{closer}` closes it"
            body = line.rstrip(",")
            if not body.endswith(opener):
                yield _Repair(at, f"{body}{closer}", message, column)
            yield _Repair(at, (line[: column - 1] + line[column:]).rstrip(), message, column)
        elif line.count(closer) > line.count(opener):
            column = line.rindex(closer) + 1
            yield _Repair(at, line[: column - 1] + line[column:], f"`{closer}` closes nothing", column)


def _value(lines: list[str], at: int) -> Iterator[_Repair]:
    """A value that YAML takes for something else; and one that stands beside keys below it."""
    match = _WITH_VALUE.fullmatch(lines[at].rstrip())
    if match is None:
        return
    value = match[2]
    first = "a backtick" if value[0] == "`" else f"`{value[0]}`"
    quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value[0] in "@`%*&!|>?,]}[{" or ": " in value or value.endswith(":"):
        why = f"can't begin with {first}" if value[0] in "@`%*&!|>?,]}[{" else "has a colon and a blank in it"
        message = f"a value without quotes {why}; quote it"
        yield _Repair(at, f"{match[1]} {quoted}", message, match.start(2) + 1)
    if value[0] in "\"'" and not value.endswith(value[0]):
        inner = value[1:].replace(value[0], "", 1)
        message = f"text stands behind the closing `{value[0]}`"
        yield _Repair(at, f"{match[1]} {value[0]}{inner}{value[0]}", message, match.start(2) + 1)


def _star(lines: list[str], at: int) -> Iterator[_Repair]:
    """A pattern with a star, which YAML takes for the name of an anchor."""
    if match := _BARE_STAR.search(lines[at]):
        text = f'{lines[at][: match.start(1)]}"{match[1]}"{lines[at][match.end(1) :]}'
        yield _Repair(at, text, "a value without quotes can't begin with `*`; quote it", match.start(1) + 1)


def _beside_keys(lines: list[str], at: int) -> Iterator[_Repair]:
    below = next((line for line in lines[at + 1 :] if line.strip()), "")
    match = _WITH_VALUE.fullmatch(lines[at].rstrip())
    if match is not None and _indent_of(below) > _indent_of(lines[at]):
        message = f"{cut(match[1].strip(), _LONGEST_LINE)} has a value on its line, and keys below it"
        yield _Repair(at, match[1], f"`{message}".replace(": has", "` has", 1), match.start(2) + 1)


def _under_its_key(lines: list[str], at: int) -> Iterator[_Repair]:
    """A value in braces, brackets or quotes that stands as far left as the key above it."""
    above = next((line for line in reversed(lines[:at]) if line.strip()), "").rstrip()
    value = lines[at].strip()
    if above.endswith(":") and value[:1] in ("{", "[", '"', "'") and _indent_of(lines[at]) <= _indent_of(above):
        key = above.strip().removeprefix("- ").removesuffix(":")
        width = _indent_of(above) + 2
        message = f"the value of `{cut(key, _LONGEST_LINE)}` is not indented below its key"
        yield _Repair(at, f"{' ' * width}{value}", message, advice=f"indent it by {counted(width, 'blank')}")


def _indentation(lines: list[str], at: int) -> Iterator[_Repair]:
    now = _indent_of(lines[at])
    for width in _indents_near(lines, at):
        if width != now:
            message = f"this line is indented by {counted(now, 'blank')}, and its neighbours by {width}"
            advice = f"indent it by {counted(width, 'blank')}"
            yield _Repair(at, " " * width + lines[at].lstrip(" "), message, advice=advice)


def _indents_near(lines: list[str], at: int) -> Iterable[int]:
    """Those of the lines around, the most alike first."""
    around = [line for line in (*reversed(lines[max(0, at - 12) : at]), *lines[at + 1 : at + 3]) if line.strip()]
    now = _indent_of(lines[at].expandtabs(2))
    widths = dict.fromkeys(_indent_of(line) for line in around if not line.lstrip(" ").startswith("\t"))
    return sorted(widths, key=lambda width: abs(width - now))


def _item(lines: list[str], at: int) -> Iterator[_Repair]:
    """An item among keys, or a key among items."""
    if match := _ITEM.fullmatch(lines[at]):
        yield _Repair(at, f"{match[1]}{match[2]}", "a list item stands among the keys of a mapping")
    elif ":" in lines[at]:
        indent = _indent_of(lines[at])
        text = f"{' ' * indent}- {lines[at].strip()}"
        yield _Repair(at, text, "a key stands among the items of a list")


_WAYS = (
    _tab,
    _other_blank,
    _foreign,
    _dash,
    _colon,
    _quote,
    _bracket,
    _star,
    _value,
    _under_its_key,
    _indentation,
    _beside_keys,
    _item,
)
