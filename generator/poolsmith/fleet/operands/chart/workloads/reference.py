"""References to values in the texts of a chart's entry: `${path}`, and the form in which the chart writes it.

`${path form}` says how the template writes what `path` stands for; several paths with `|` between them are tried in
turn for one that is true, as `default` does. `!` behind them: also where none is true, as long as it is not null.

| form | the template has | what is read back |
| --- | --- | --- |
| none | `key: {{ v }}`, `- {{ v }}`, `{{ v }}` within a text | the scalar, typed anew |
| `quote` | `{{ v \\| quote }}`, `squote` of what has no quotes | the string |
| `yaml` | `key:` and `{{ toYaml v \\| nindent n }}` | the value itself, with whatever stands in it |
| `map` | the same among other keys, or where only a mapping makes sense | the value, which must be a mapping |
| `list` | the same below other items, or where only a list makes sense | the value, which must be a list |
| `block` | `key: \\|` and `{{ v \\| nindent n }}` below | the text, with one line break at its end |
| `join` | `{{ join "," v }}` | as without a form |
| `joined` | `{{ join "," v \\| quote }}` | the string |
| `stripped` | `key: \\|-` and `{{ v \\| indent n }}` below | the text, without line breaks at its end |
| `rooted` | `{{ clean (join "/" (list "/" v)) \\| quote }}` | the path, below the root folder; null: that folder |
| `written` | `key: \\|-` and `{{ toYaml v \\| nindent n }}` below | the text that Helm writes, null too |
| `json` | a text of several lines that holds `toYaml v` | JSON of the value, a text |

A text with more around a reference is what the template has there, quotes too: `'"${a}:${b}"'` is written between
double quotes, which a value with a quote or a backslash would leave; `${a}:${b}` has none around it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from poolsmith.core.record import record

REFERENCE = re.compile(r"\$\{([^}]*)\}")
FORMS = ("", "quote", "yaml", "map", "list", "block", "join", "joined", "stripped", "rooted", "written", "json")
_WORDS = re.compile(r"(?P<paths>(?:'[^']*'|[^' !])+)(?P<always>!?)(?: (?P<form>[a-z]+))?\Z")


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
