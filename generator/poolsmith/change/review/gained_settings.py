"""What the Helm values of a change would give to what runs, beyond the privileges that grants speak of.

Whatever follows from profiles is poolsmith's own doing, and its privileges need grants. Values are free text: a field
that only they bring about has to be known from the base, be in the table of what anybody may set, or be accepted by
`policies/supply.yaml`. What a value does must show in the prediction; what sleeps until something else is switched on
is refused, because nobody would see it wake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.review.acceptance import entries_for
from poolsmith.change.review.free_names import is_free_value
from poolsmith.change.review.object_settings import (
    JUDGED_BY_OPERANDS,
    is_of_control_plane,
    protections_of,
    settings_of,
    ways_to_control_plane,
)
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.change import UNACCEPTED_SETTING, UNSEEN_VALUE
from poolsmith.core.diagnostics.message_text import counted, cut, joined, printable
from poolsmith.core.record import record
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.pointer import MISSING, copied, value_at
from poolsmith.guard.ledger.origins import without_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from poolsmith.change.review.seen_cluster import ClusterChange, SeenCluster
    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.fleet.operands.expansion import Installation
    from poolsmith.fleet.plan.plan import ValuePath
    from poolsmith.guard.ledger.prediction import Prediction

    Settings = Mapping[str, frozenset[str]]
    """Of each object, by its key."""
    Accepts = Callable[[str, str, str], bool]
    """Whether the base accepts a setting: cluster, object, text."""

VALUES = "/spec/stack/values"
MOST_VALUES = 200
_SHOWN = 4
_LONGEST = 160
_NO_LONGER = "no longer "
_SECOND = "a second object of this name"


@record(kw_only=False)
class _Gain:
    """A setting of an object that nobody has accepted."""

    key: str
    text: str


@record
class Elsewhere:
    """How to ask for other predictions. `again` makes that of the change with other values; None where there is none.

    `others` are those of the base's clusters: what a new cluster may have because another one has it.
    """

    again: Callable[[dict[str, Any]], Prediction | None]
    others: Callable[[], Iterable[SeenCluster]]
    without: Callable[[Prediction, dict[str, Any]], Installation]


def gained_settings(change: ClusterChange, elsewhere: Elsewhere, accepts: Accepts) -> Iterator[Diagnostic]:
    """What the values of a cluster bring about that nobody has accepted, and values whose effect is not seen."""
    after = change.after
    if after is None or after.loaded.file is None:
        return
    known = [change.before] if change.before is not None else list(elsewhere.others())
    values = _values(after)
    changed = [path for path in _leaves_of(values) if not _is_known(path, values, known)]
    gains = _strict_gains(after, known)
    if changed or any(_values(one) != values for one in known):
        gains += _gains(after, known, values, elsewhere)
    name = change.name
    gains = [gain for gain in gains if not accepts(name, gain.key, gain.text)]
    yield from _reported(
        after, gains, [path for path in changed if not is_free_value(path, value_at(values, path, MISSING))], elsewhere
    )


def _gains(after: SeenCluster, known: list[SeenCluster], values: dict[str, Any], elsewhere: Elsewhere) -> list[_Gain]:
    """Settings that neither the base has nor the profiles bring with the base's values; and lost protections."""
    allowed = [_settings(one.prediction.installation, settings_of) for one in known]
    protected: Settings = {}
    free = {
        path: value_at(values, path, MISSING)
        for path in _leaves_of(values)
        if is_free_value(path, value_at(values, path, MISSING))
    }
    for old in ({}, *(_values(one) for one in known)):
        prediction = elsewhere.again(_merged(old, free))
        if prediction is not None:
            allowed.append(_settings(prediction.installation, settings_of))
            protected = _settings(prediction.installation, protections_of)
    common = {path: value_at(values, path, MISSING) for path in _leaves_of(values) if _is_known(path, values, known)}
    prediction = elsewhere.again(_merged({}, common | free))
    if prediction is not None:
        allowed.append(_settings(prediction.installation, settings_of))
    now = after.prediction.installation
    gains = [
        _Gain(key, text)
        for key, texts in _settings(now, settings_of).items()
        for text in sorted(texts.difference(*(one.get(key, frozenset()) for one in allowed)))
    ]
    has = _settings(now, protections_of)
    gains += [
        _Gain(key, _NO_LONGER + text)
        for key, texts in protected.items()
        if key in has
        for text in sorted(texts - has[key])
    ]
    return gains


def _strict_gains(after: SeenCluster, known: list[SeenCluster]) -> list[_Gain]:
    """What profiles can bring about as well: pods on the nodes of the control plane."""
    then = {key: set(texts) for one in known for key, texts in _tolerations(one).items()}
    anywhere = {text for key, texts in then.items() if "/DaemonSet/" in key for text in texts}
    return (
        [
            _Gain(key, text)
            for key, texts in _tolerations(after).items()
            if "/DaemonSet/" in key
            for text in sorted(texts - then.get(key, set()) - anywhere)
        ]
        if known
        else []
    )


def _tolerations(seen: SeenCluster) -> Settings:
    return _settings(seen.prediction.installation, ways_to_control_plane)


def _settings(installation: Installation, of: Callable[[Any], Iterator[str]]) -> Settings:
    found: dict[str, frozenset[str]] = {}
    for made in installation.made:
        texts = frozenset(of(made.body))
        if made.key in found and of is settings_of:
            texts |= {_SECOND}
        found[made.key] = found.get(made.key, frozenset()) | texts
    return found


def _values(seen: SeenCluster) -> dict[str, Any]:
    return seen.plan.cluster.spec.stack.values


def _leaves_of(values: dict[str, Any], above: ValuePath = ()) -> list[ValuePath]:
    """Paths of lists and scalars; an empty mapping is one, too."""
    found: list[ValuePath] = []
    for key, value in values.items():
        path = (*above, str(key))
        found.extend(_leaves_of(value, path) if isinstance(value, dict) and value else [path])
    return found


def _is_known(path: ValuePath, values: dict[str, Any], known: list[SeenCluster]) -> bool:
    value = value_at(values, path, MISSING)
    return any(_same(value_at(_values(one), path, MISSING), value) for one in known)


def _same(one: Any, other: Any) -> bool:
    return one is not MISSING and type(one) is type(other) and one == other


def _merged(values: dict[str, Any], more: Mapping[ValuePath, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = copied(values)
    for path, value in more.items():
        node = merged
        for key in path[:-1]:
            below = node.get(key)
            if not isinstance(below, dict):
                below = node[key] = {}
            node = below
        node[path[-1]] = value
    return merged


def _reported(
    after: SeenCluster, gains: list[_Gain], changed: list[ValuePath], elsewhere: Elsewhere
) -> Iterator[Diagnostic]:
    name = after.loaded.name
    if len(changed) > MOST_VALUES:
        message = (
            f"{counted(len(changed), 'value')} change at once; of more than {MOST_VALUES} nobody can tell the effects"
        )
        yield diagnose(UNACCEPTED_SETTING, message, _place(after, ()), subject=name)
        return
    left = {(gain.key, gain.text) for gain in gains}
    for path in changed:
        effect = _effect(after, path, elsewhere)
        if effect is None:
            continue
        brought, is_seen = effect
        own = sorted(left & brought)
        left -= brought
        if own:
            yield _finding(after, path, own)
        elif not is_seen and not _is_default(after, path):
            message = f"nothing that is predicted changes with `{'.'.join(path)}`, so nobody can see what it is for"
            yield diagnose(UNSEEN_VALUE, message, _place(after, path), subject=name)
    if left:
        yield _finding(after, (), sorted(left), _tainted_pool(after))


def _is_default(after: SeenCluster, path: ValuePath) -> bool:
    """Whether the value is what the chart has anyway."""
    given = after.prediction.shared.given
    return given.chart is not None and _same(
        value_at(given.chart.defaults, path, MISSING), value_at(given.values, path, MISSING)
    )


def _effect(after: SeenCluster, path: ValuePath, elsewhere: Elsewhere) -> tuple[set[tuple[str, str]], bool] | None:
    """What is there only with the value at a path, and whether anything changes with it; None: nobody can tell."""
    values = after.prediction.shared.given.values
    if value_at(values, path, MISSING) is MISSING:
        return None
    now = after.prediction.installation
    without = elsewhere.without(after.prediction, without_value(values, path))
    if without.errors:
        return None
    brought: set[tuple[str, str]] = set()
    then = _settings(without, settings_of)
    for key, texts in _settings(now, settings_of).items():
        brought |= {(key, text) for text in texts - then.get(key, frozenset())}
    kept = _settings(now, protections_of)
    for key, texts in _settings(without, protections_of).items():
        brought |= {(key, _NO_LONGER + text) for text in texts - kept.get(key, texts)}
    return brought, _bodies(now) != _bodies(without)


def _bodies(installation: Installation) -> list[Any]:
    return [made.body for made in installation.made if made.body["kind"] not in JUDGED_BY_OPERANDS]


def _tainted_pool(after: SeenCluster) -> Location | None:
    """The taints of a pool that are those of the control plane; None where no pool has such."""
    for loaded in after.loaded.pools:
        nodes = loaded.pool.spec.nodes
        for field, taints in (("taints", nodes.taints), ("startupTaints", nodes.startup_taints)):
            if any(is_of_control_plane(taint.key) for taint in taints):
                pointer = f"/spec/nodes/{field}"
                return loaded.layers.owner(pointer).locate(pointer)
    return None


def _finding(
    after: SeenCluster, path: ValuePath, gains: list[tuple[str, str]], place: Location | None = None
) -> Diagnostic:
    by_object: dict[str, list[str]] = {}
    for key, text in gains:
        by_object.setdefault(key, []).append(text)
    parts = [
        f"`{key}`: {joined([f'`{printable(cut(text, _LONGEST))}`' for text in texts], _SHOWN)}"
        for key, texts in by_object.items()
    ]
    who = f"`{'.'.join(path)}`" if path else "the change"
    message = f"{who} brings about what nobody has accepted; {joined(parts, _SHOWN, '; ')}"
    name = after.loaded.name
    return diagnose(
        UNACCEPTED_SETTING, message, place or _place(after, path), help=entries_for(name, gains), subject=name
    )


def _place(after: SeenCluster, path: ValuePath) -> Location:
    file = after.loaded.file
    assert file is not None, "it was loaded"
    for length in range(len(path), -1, -1):
        pointer = pointers.join(VALUES, *path[:length])
        if file.has(pointer):
            return file.locate(pointer)
    return file.locate("/spec/stack")
