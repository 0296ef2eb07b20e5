"""Objects in here-documents of scripts: `kubectl apply -f - <<EOF`, `cat <<EOF | kubectl apply -f -`.

What a run fills in is unknown there: such an object is known in part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.inner_text import InnerText
from poolsmith.core.sources.placed_source import PlacedSource
from poolsmith.core.sources.shell_text import ShellText
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.kubernetes.repository.delivered import Delivered, Layer
from poolsmith.kubernetes.repository.manifest_files import LONGEST_SCRIPT, is_script

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_PROGRAM = pattern(r"(?<![\w./~=-])(?:kubectl|oc)(?=[ \t]+[\w$-])")
_VERBS = frozenset(("apply", "create", "replace"))
_FROM_INPUT = frozenset(("-", "-f-", "--filename=-"))
_FILLED = pattern(r"\$[A-Za-z_{(]|`")
_INPUT = "/input"


def script_objects(paths: Iterable[str], files: RepositoryFiles) -> Iterator[Delivered]:
    """In the order of each script."""
    for path in filter(is_script, paths):
        text = files.text(path) or ""
        if "<<" in text and "kind:" in text and len(text) <= LONGEST_SCRIPT:
            yield from _objects(path, ShellText(text))


def _objects(path: str, script: ShellText) -> Iterator[Delivered]:
    count = 0
    for command in script.commands(_PROGRAM):
        said = {word.text for word in command.words}
        given = command.given or script.piped(command.words[0].at)
        if given is None or said.isdisjoint(_VERBS) or said.isdisjoint(_FROM_INPUT):
            continue
        body = script.text[given[0] : given[1]]
        is_partial = _FILLED.search(body) is not None
        outer = PlacedSource(path, script.text, None, {}, {_INPUT: (script.position(given[0]).line, 0)})
        for index, data in enumerate(read_if_yaml(body)):
            if isinstance(data, dict) and data.get("kind") and data.get("apiVersion"):
                layer = Layer(InnerText(outer, _INPUT, body, data, document=index), data)
                yield Delivered(path, count, data, script.text, None, is_partial, layers=(layer,))
                count += 1
