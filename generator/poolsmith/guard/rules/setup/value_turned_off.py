"""Values and fields that another setting turns off: nothing that the operator makes is different without them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import joined, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.configured import Configured, Leaf
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM331",
    name="value-turned-off",
    severity=Severity.WARNING,
    applies_to="setup",
    what="Helm values, or a ClusterPolicy, set something that another setting turns off: a sandbox mode or a manager "
    "of sandboxes without `sandboxWorkloads.enabled`, a part of Kata in the mode for KubeVirt, GPUDirect Storage "
    "without the operator's driver, settings of a component that is off by default. Not where the switch stands "
    "beside it.",
    why="The operator creates the same with and without it, so what was meant does not happen, and nothing says so.",
    fix="turn on what the message names, or remove the setting",
    bad="sandboxWorkloads: {mode: kata}\n",
    good="sandboxWorkloads: {enabled: true, mode: kata}\n",
    references=("NVIDIA/gpu-operator@v26.7.0:controllers/state_manager.go, isStateEnabled",),
)
NEEDS = ("release", "all")
_Setting = tuple[tuple[str, ...], Any]
_SANDBOXES: _Setting = (("sandboxWorkloads", "enabled"), True)
_KATA: _Setting = (("sandboxWorkloads", "mode"), "kata")
_KUBEVIRT: _Setting = (("sandboxWorkloads", "mode"), "kubevirt")
_DRIVER: _Setting = (("driver", "enabled"), True)
_CLAIMS: tuple[_Setting, ...] = (
    (("gpuCluster", "deployCR"), True),
    (("clusterPolicy", "deployCR"), False),
    (("driver", "nvidiaDriverCRD", "enabled"), True),
)
_OF_IMAGES = frozenset(
    (*("repository", "image", "version", "imagePullPolicy", "imagePullSecrets"), *("resources", "hostNetwork", "args"))
)
"""People keep these of all components alike, for mirrors and proxies."""
_OF_CLAIMS = "draDriver"
_PARTS_OF_DRIVERS = ("gds", "gdrcopy")
_MOST = 12


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated or view.tag is None:
        return  # profiles are told of fields without effect at their own lines
    from poolsmith.guard.rules.setup.configured import POLICY, configured  # on demand

    made = configured(view)
    told = 0
    for leaf in made.leaves:
        body = made.parts[leaf.part].body
        if told >= _MOST or (body is not None and body.get("kind") != POLICY) or not _may_be_off(leaf, view):
            continue
        place = made.parts[leaf.part].at(leaf.steps)
        because = None if view.is_told(place) else _because(made, leaf)
        if because is not None:
            told += 1
            yield Finding(
                message=f"`{leaf.dotted}` has no effect: {joined([_shown(made, leaf, item) for item in because], 3)}",
                place=place,
                help=f"write {joined([f'`{_dotted(item)}`' for item in because], 3)}, or remove this",
            )


def _may_be_off(leaf: Leaf, view: SetupView) -> bool:
    """Whether it asks for something, in a component that some switch may keep off."""
    steps, value = leaf.steps, leaf.value
    if value in (None, False, "", [], {}) or not _OF_IMAGES.isdisjoint(steps) or len(steps) == 1:
        return False
    assert view.tag is not None, "asked with a release only"
    chart = read_chart(OPERATOR_CHART, view.tag)
    if chart is None or chart.default(steps) == value:
        return False
    return steps[0] in _components(view.tag) and (
        not view.flag(f"{steps[0]}.enabled") or steps[0] in _PARTS_OF_DRIVERS or steps[0] in _of_sandboxes(view.tag)
    )


def _components(tag: str) -> frozenset[str]:
    """What has a switch, and what has one elsewhere."""
    chart = read_chart(OPERATOR_CHART, tag)
    defaults: Mapping[str, Any] = {} if chart is None else chart.defaults
    switched = (name for name, block in defaults.items() if isinstance(block, dict) and "enabled" in block)
    return frozenset((*switched, _OF_CLAIMS)) - {"nfd", "psp", "psa", "cdi"}


def _of_sandboxes(tag: str) -> frozenset[str]:
    from poolsmith.gpu.catalog.operands import read_operands  # on demand

    entry = read_operands(tag)
    states = () if entry is None else entry.states
    return frozenset(word for state in states if _SANDBOXES[0][0] in state.enabled for word in state.enabled)


def _because(made: Configured, leaf: Leaf) -> tuple[_Setting, ...] | None:
    """The settings that would give it an effect, the fewest; None where it has one, or nobody knows of any."""
    written = made.written
    if written is None or written.errors or made.outcome_without(leaf) != written:
        return None
    own: _Setting = ((leaf.steps[0], "enabled"), True)
    candidates = [item for item in dict.fromkeys((own, _SANDBOXES, _KATA, _KUBEVIRT, _DRIVER)) if item[0] != leaf.steps]
    candidates = [item for item in candidates if value_at(made.trees[leaf.part], item[0], MISSING) != item[1]]
    tries: list[tuple[_Setting, ...]] = [(item,) for item in candidates]
    tries += [_CLAIMS] if leaf.steps[0] == _OF_CLAIMS else []
    tries += [
        pair for size in (2, 3) for pair in combinations(candidates, size) if _KATA not in pair or _KUBEVIRT not in pair
    ]
    for settings in tries:
        if _matters(made, leaf, settings):
            return None if _stands_beside(made, leaf, settings) else settings
    return None


def _matters(made: Configured, leaf: Leaf, settings: tuple[_Setting, ...]) -> bool:
    """Whether the leaf changes anything once these are set."""
    with_it = made.outcome_with(leaf.part, settings, lambda: _changed(made.trees, leaf.part, settings))
    if with_it is None:
        return False
    without_it = made.outcome(_changed(made.without(leaf), leaf.part, settings))
    return without_it is not None and with_it != without_it


def _changed(
    trees: tuple[Mapping[str, Any], ...], part: int, settings: tuple[_Setting, ...]
) -> tuple[Mapping[str, Any], ...]:
    changed = list(trees)
    for path, value in settings:
        changed[part] = _with(changed[part], path, value)
    return tuple(changed)


def _stands_beside(made: Configured, leaf: Leaf, settings: tuple[_Setting, ...]) -> bool:
    """Whether somebody wrote the switch into the same block: what is off there is meant to be."""
    return any(
        path[0] == leaf.steps[0] and value_at(made.trees[leaf.part], path, MISSING) is not MISSING
        for path, _ in settings
    )


def _with(tree: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    below = tree.get(path[0])
    if len(path) == 1:
        return {**tree, path[0]: value}
    return {**tree, path[0]: _with(below if isinstance(below, dict) else {}, path[1:], value)}


def _shown(made: Configured, leaf: Leaf, setting: _Setting) -> str:
    path, wanted = setting
    own = value_at(made.trees[leaf.part], path, MISSING)
    dotted = ".".join(path)
    if own is MISSING:
        return f"`{dotted}` is not {'on' if wanted is True else 'off' if wanted is False else f'`{wanted}`'}"
    return f"`{dotted}` is `{shorten(str(own).lower())}`"


def _dotted(setting: _Setting) -> str:
    path, value = setting
    return f"{'.'.join(path)}: {str(value).lower()}"
