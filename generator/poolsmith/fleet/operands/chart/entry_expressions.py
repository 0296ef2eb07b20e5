r"""What the texts of a chart's entry may refer to, the conditions in it, and the references to values, `${path}`.

A condition is a list of terms that must all hold. A reference can name a value, a variable, a definition, or the item
of a loop.

`${path form}` says how the template writes what `path` stands for; several paths with `|` between them are tried in
turn for one that is true, as `default` does. `!` behind them: also where none is true, as long as it is not null.

| form | the template has | what is read back |
| --- | --- | --- |
| none | `key: {{ v }}`, `- {{ v }}`, `{{ v }}` within a text | the scalar, typed anew |
| `quote` | `{{ v \| quote }}`, `squote` of what has no quotes | the string |
| `yaml` | `key:` and `{{ toYaml v \| nindent n }}` | the value itself, with whatever stands in it |
| `map` | the same among other keys, or where only a mapping makes sense | the value, which must be a mapping |
| `list` | the same below other items, or where only a list makes sense | the value, which must be a list |
| `block` | `key: \|` and `{{ v \| nindent n }}` below | the text, with one line break at its end |
| `join` | `{{ join "," v }}` | as without a form |
| `joined` | `{{ join "," v \| quote }}` | the string |
| `stripped` | `key: \|-` and `{{ v \| indent n }}` below | the text, without line breaks at its end |
| `rooted` | `{{ clean (join "/" (list "/" v)) \| quote }}` | the path, below the root folder; null: that folder |
| `written` | `key: \|-` and `{{ toYaml v \| nindent n }}` below | the text that Helm writes, null too |
| `json` | a text of several lines that holds `toYaml v` | JSON of the value, a text |

A text with more around a reference is what the template has there, quotes too: `'"${a}:${b}"'` is written between
double quotes, which a value with a quote or a backslash would leave; `${a}:${b}` has none around it.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record, replace
from poolsmith.kubernetes.helm.go_template import is_true, look_up, printed

if TYPE_CHECKING:
    from collections.abc import Callable


ITEM = "item"


@record
class ValueScope:
    """`values` as templates see them; `variables` are asked for as `@name`, before the entry's own definitions.

    `typed` are values that no template writes, as those of the operator's code: they are what they are.
    """

    values: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    define: dict[str, Any] = field(default_factory=dict)
    typed: bool = False
    item_path: str = ""
    filled: dict[str, Any] = field(default_factory=dict)
    """Definitions that were asked for, outside of loops."""

    def value(self, path: str) -> Any:
        """`.Values.<path>`, null where there is nothing. Raises TemplateError."""
        return look_up(self.values, path.split("."))

    def with_item(self, item: Any, path: str) -> ValueScope:
        """The scope inside a loop over a list: the item is `@item`, and stands at `path`."""
        path = item.path if isinstance(item, Pair) else path
        return replace(self, variables={**self.variables, ITEM: item}, item_path=path)

    def shown(self, path: str) -> str:
        """The value path that a name stands for."""
        name, _, inner = path.partition(".")
        if name != f"@{ITEM}":
            return path.removeprefix("@")
        if isinstance(self.variables.get(ITEM), Pair):
            inner = inner.partition(".")[2]
        return ".".join(filter(None, (self.item_path, inner)))


class Pair(dict[str, Any]):
    """`key` and `value` of a mapping that stands at `path` of the values."""

    def __init__(self, key: Any, value: Any, path: str) -> None:
        super().__init__(key=key, value=value)
        self.path = path


class Nothing:
    """What a false condition or an empty value leaves."""


NOTHING = Nothing()


_TESTS: dict[str, Callable[[Any, str], bool]] = {
    "=": lambda value, text: printed(value) == text,
    "!=": lambda value, text: printed(value) != text,
    "in": lambda value, words: printed(value) in words.split("|"),
    "contains": lambda value, text: text in value if isinstance(value, str | list) else False,
    "is": lambda value, kind: _KINDS[kind](value),
    ">": lambda value, number: _whole_number(value) > int(number),
}
_KINDS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "set": lambda value: value is not None,
    "other": lambda value: value is not None and not isinstance(value, bool),
    "untext": lambda value: value is not None and not isinstance(value, str),
    "unlisted": lambda value: value is not None and not isinstance(value, list),
    "worded": lambda value: isinstance(value, str) and bool(value.strip()),
    "single": lambda value: isinstance(value, dict) and len(value) == 1,
}


def _whole_number(value: Any) -> int:
    """Sprig's `int`: zero for what is none."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


def holds(terms: list[str], value_of: Callable[[str], Any]) -> bool:
    """Whether all terms hold; `value_of` answers for a path or an `@name`. Raises what it raises."""
    return all(_holds(term, value_of) for term in terms)


def _holds(term: str, value_of: Callable[[str], Any]) -> bool:
    words = term.split(" ", 2)
    if len(words) > 1:
        path, test, text = words
        if test == "within":
            return value_of(path) in (value_of(text) or ())
        return _TESTS[test](value_of(path), text)
    if term.startswith("!"):
        return not _holds(term[1:], value_of)
    return any(is_true(value_of(path)) for path in term.split("|"))


REFERENCE = pattern(r"\$\{((?:[^}$]|\$(?!\{))*+)\}")
FORMS = ("", "quote", "yaml", "map", "list", "block", "join", "joined", "stripped", "rooted", "written", "json")
_WORDS = pattern(r"(?P<paths>(?:'[^']*'|[^' !])+)(?P<always>!?)(?: (?P<form>[a-z]+))?\Z")


@record(kw_only=False)
class Reference:
    """`paths` are value paths, names with `@` before them, or constants in single quotes."""

    paths: tuple[str, ...]
    always: bool
    form: str


@lru_cache(maxsize=4096)
def reference(words: str) -> Reference:
    """What stands between the braces. Raises ValueError for a form that there is not."""
    match = _WORDS.match(words)
    if match is None or (match["form"] or "") not in FORMS:
        raise ValueError(f"no reference: {words}")
    return Reference(tuple(match["paths"].split("|")), bool(match["always"]), match["form"] or "")
