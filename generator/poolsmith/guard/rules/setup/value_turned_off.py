"""Values and fields that another setting turns off: nothing that the operator makes is different without them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import joined, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings
from poolsmith.core.sources.pointer import leaves_of, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.value_effects import Settings
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM331")
NEEDS = ("release", "values")
_OF_IMAGES = frozenset(
    (*("repository", "image", "version", "imagePullPolicy", "imagePullSecrets"), *("resources", "hostNetwork", "args"))
)
"""People keep these of all components alike, for mirrors and proxies."""
_PINNED = "driver.version"
_SANDBOXES = "sandboxWorkloads.enabled"
_OBJECTS = "driver.nvidiaDriverCRD"
_OWN_OBJECTS = {f"{_OBJECTS}.enabled": True, f"{_OBJECTS}.deployDefaultCR": False}
_MOST = 12
_MOST_ENTRIES = 1000


def check(view: SetupView) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.catalog.value_effects import effects  # on demand

    assert view.values is not None, "a need of this rule"
    assert view.tag is not None, "a need of this rule"
    known = effects(view.tag)
    own = view.values.own if view.is_generated else view.values.values
    leaves = tuple(leaves_of(own or {}))
    value_of = partial(_value, view)
    yield from _twice(leaves, view)
    told = 0
    for steps, value in leaves:
        path = ".".join(steps)
        if told < _MOST and _asks(path, value, view) and not view.is_told(place := view.value_location(path)):
            missing = [item for item in known.missing(path, value_of) if not _is_meant(item, path, view)]
            if missing:
                told += 1
                yield _finding(path, missing, place, view)


def _twice(leaves: Iterable[tuple[tuple[str, ...], Any]], view: SetupView) -> Iterator[Finding[Location]]:
    """Variables that a later entry of the same list replaces by another value."""
    for steps, value in leaves:
        path = ".".join(steps)
        listed = value[:_MOST_ENTRIES] if steps[-1] == "env" and isinstance(value, list) else []
        last = {item.get("name"): item for item in mappings(listed) if isinstance(item.get("name"), str)}
        for number, item in enumerate(listed if len(last) < len(listed) else ()):
            name = item.get("name") if isinstance(item, dict) else None
            if isinstance(name, str) and last[name] != item:
                yield Finding(
                    message=f"`{shorten(name)}` stands twice in `{path}`: the last entry replaces this one",
                    place=view.value_location(f"{path}.{number}"),
                    help="remove one of the two",
                )


def _value(view: SetupView, path: str) -> Any:
    """As Helm and the operator take it: what nobody sets is off; of a ClusterPolicy only the sandboxes."""
    assert view.values is not None, "a need of this rule"
    value = view.value(path)
    is_off = path == _SANDBOXES if _is_policy(view) else not view.values.partial
    return False if value is None and is_off else value


def _is_policy(view: SetupView) -> bool:
    return view.values is not None and view.values.of_policy


def _asks(path: str, value: Any, view: SetupView) -> bool:
    """Whether it asks for something, and for something else than the chart's own."""
    assert view.values is not None, "a need of this rule"
    steps = path.split(".")
    if value in (None, False, "", [], {}) or (_is_policy(view) and path.startswith(_OBJECTS)):
        return False
    is_of_images = not _OF_IMAGES.isdisjoint(steps) and path != _PINNED
    return not is_of_images and value_at(view.values.defaults or {}, steps) != value


def _is_meant(settings: Settings, path: str, view: SetupView) -> bool:
    """Whether somebody wrote into the same block that it is off, so that what stands there only waits; a ClusterPolicy
    is often an example with all its blocks, of which some are turned off."""
    blocks = (path.partition(".")[0], _SANDBOXES.partition(".")[0] if _is_policy(view) else "")
    return any(
        wanted is True and setting.partition(".")[0] in blocks and view.is_set(setting)
        for setting, wanted in settings.items()
        if not setting.startswith(_OBJECTS)
    )


def _finding(path: str, missing: list[Settings], place: Location, view: SetupView) -> Finding[Location]:
    settings = {key: value for item in missing for key, value in item.items()}
    if _OWN_OBJECTS.keys() & settings.keys() and all(view.value(key) is is_ for key, is_ in _OWN_OBJECTS.items()):
        because = "drivers come from NVIDIADriver objects of your own"
        help_text = "write it into these, and remove it here"
    else:
        because = joined([_shown(key, wanted, view) for key, wanted in settings.items()], 3)
        wanted = joined([f"`{key}: {_word(value)}`" for key, value in settings.items()], 3)
        help_text = f"write {wanted}, or remove this"
    return Finding(message=f"`{path}` has no effect: {because}", place=place, help=help_text)


def _shown(setting: str, wanted: Any, view: SetupView) -> str:
    if not view.is_set(setting):
        return f"`{setting}` is not {'on' if wanted is True else 'off' if wanted is False else f'`{_word(wanted)}`'}"
    return f"`{setting}` is `{shorten(_word(view.value(setting)))}`"


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
