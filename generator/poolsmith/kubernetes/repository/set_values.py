"""One value as `--set` puts it into the values of a chart, whichever tool hands it on.

Source: helm/helm@v3.18.4:pkg/strvals/parser.go. Argo CD, the controller of k3s and helmfile escape the commas of a
value before; the provider of Terraform, Ansible and Flux hand the text on as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.repository.delivered import Steps, ValuesLayer

if TYPE_CHECKING:
    from poolsmith.core.sources.source_file import SourceFile

_LONGEST = 4096
_MOST_ITEMS = 100
"""An index makes all items below it."""
_VALUE = "value"


def set_layer(
    source: SourceFile, pointer: str, path: str, value: Any, *, is_text: bool = False, escapes_commas: bool = False
) -> ValuesLayer | None:
    """The value that stands at `pointer`, at the steps of `path`; None where either is nothing that can be told.

    `is_text`: as `--set-string` reads it.
    """
    steps, given = _steps(path), _given(value)
    if steps is None or given is None:
        return None
    is_list = given.startswith("{") and given.endswith("}")
    text = given.replace("\\,", ",").replace(",", "\\,") if escapes_commas and not is_list else given
    read = _assigned(f"{_VALUE}={text}")
    if read is None or read.keys() != {_VALUE}:
        return None
    return ValuesLayer(given if is_text and not is_list else read[_VALUE], source, pointer, steps)


def _steps(path: str) -> Steps | None:
    """None of several paths, of an index that is too large, and of more steps than anybody reads."""
    node: Any = _assigned(f"{path}=")
    steps: list[str | int] = []
    while isinstance(node, (dict, list)):
        if isinstance(node, dict) and len(node) != 1:
            return None
        step = next(iter(node)) if isinstance(node, dict) else len(node) - 1
        steps.append(step)
        node = node[step]
    has_room = all(step < _MOST_ITEMS if isinstance(step, int) else step for step in steps)
    return tuple(steps) if steps and has_room and len(steps) <= _MOST_ITEMS else None


def _given(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value) if isinstance(value, (str, int, float)) else None
    return text if text is None or len(text) <= _LONGEST else None


def _assigned(text: str) -> dict[str, Any] | None:
    from poolsmith.kubernetes.helm.set_flag import SetError, apply_set  # on demand

    values: dict[str, Any] = {}
    try:
        apply_set(values, text)
    except (SetError, RecursionError):
        return None
    return values


_COMMA = pattern(r"(?<!\\),(?![^{]{0,999}\})")
"""What stands between two assignments; those within braces make a list."""


def assigned_layers(source: SourceFile, pointer: str, text: str, *, is_text: bool) -> list[ValuesLayer]:
    """What one `--set` says: `a=1,b.c=2`. Empty where some of it is nothing that can be told."""
    layers: list[ValuesLayer] = []
    for assignment in _COMMA.split(text)[:_MOST_ITEMS]:
        path, sign, value = assignment.partition("=")
        layer = set_layer(source, pointer, path, value if sign else None, is_text=is_text)
        if layer is None:
            return []
        layers.append(layer)
    return layers
