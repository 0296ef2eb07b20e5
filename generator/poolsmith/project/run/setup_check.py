"""The setup rules on what a cluster's profiles produce, and on files that anyone wrote."""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.fleet.plan.origin import profile_inputs
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.guard.rules.setup.resource_values import judge_resources
from poolsmith.guard.rules.setup.setup_view import (
    SetupObject,
    SetupResult,
    SetupValues,
    SetupView,
    ToldPlaces,
    lacking,
    run_setup_rules,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.fleet.plan.origin import FromProfile, Origin
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes, Setup
    from poolsmith.guard.rules.setup.setup_view import Place, SetupRule
    from poolsmith.project.run.cluster_run import ClusterRun
    from poolsmith.project.run.project import Project


_OF_PLANS = frozenset(("all", "nodes", "release", "values"))
"""What is known of a cluster with a plan."""
_ADVICE = {
    "nodes": "which nodes there are is not known; give --nodes FILE or --cluster NAME",
    "values": "there are no Helm values of the gpu-operator",
    "all": "more values come from elsewhere",
    "release": "the release is not known, or the catalog lacks its facts; give --release TAG",
}


def judge_setup(project: Project, run: ClusterRun) -> SetupResult:
    """One cluster of the project, by its plan; places are lines of its profiles. Of clusters that are alike, and for
    which the same is enforced, one is judged.
    """
    prediction, file = run.prediction, run.loaded.file
    if prediction is None or run.tree is None or file is None or prediction.plan.chart is None:
        return SetupResult()
    work = f"setup {tree_digest([item.documents for item in run.admission]).hex()}"

    def find(name: str) -> tuple[Diagnostic, ...]:
        return run_setup_rules(SETUP_RULES, _view(project, run, prediction, name)).diagnostics

    found = project.alike_findings.of(work, prediction.alike, run.loaded, find)
    release = project.catalog.releases.near(prediction.plan.cluster.spec.stack.release)
    known = _OF_PLANS if release is not None else _OF_PLANS - {"release"}
    return SetupResult(found, lacking(SETUP_RULES, known))


def _view(project: Project, run: ClusterRun, prediction: Prediction, name: str) -> SetupView:
    from poolsmith.project.run.setup_nodes import nodes_of_plan  # on demand

    plan = prediction.plan
    stack = plan.cluster.spec.stack
    chart = project.catalog.chart(plan.chart.name, stack.release) if plan.chart is not None else None
    places = _Places(prediction, run)
    return SetupView(
        catalog=project.catalog,
        cluster=name,
        tag=stack.release,
        operator=project.catalog.releases.near(stack.release),
        distribution=plan.cluster.spec.kubernetes.distribution,
        kubernetes=plan.cluster.spec.kubernetes.version,
        nodes=tuple(nodes_of_plan(plan, prediction.installation.nodes, run.loaded, project.catalog)),
        values=SetupValues(
            values=prediction.shared.given.values,
            defaults=chart.defaults if chart is not None else None,
            place=places.of_value,
            own=stack.values,
        ),
        objects=tuple(places.objects()),
        namespace=plan.namespace,
        is_generated=True,
    )


class _Places:
    """From what is generated back to the profile lines that bring it about."""

    def __init__(self, prediction: Prediction, run: ClusterRun) -> None:
        self._plan = prediction.plan
        self._tree = run.tree
        self._files = run.loaded.files

    def of_value(self, pointer: str, note: str | None = None) -> Location:
        path = tuple(pointer.split("/")[1:])
        nearest = (self._plan.setting(*path[:end]) for end in range(len(path), 0, -1))
        setting = next(filter(None, nearest), None)
        line = self._line(setting.origin if setting is not None else None)
        return self._files[line.path].locate(line.pointer, note)

    def objects(self) -> Iterator[SetupObject]:
        assert self._tree is not None
        drivers = {item.name: item.origin for item in self._plan.driver_objects}
        for path, data in self._tree.objects():
            if isinstance(data, dict):
                origin = (
                    drivers.get(value_at(data, ("metadata", "name"))) if data.get("kind") == "NVIDIADriver" else None
                )
                yield SetupObject(data, self._place(origin, path), path)

    def _place(self, origin: Origin | None, path: str) -> Place:
        def place(_pointer: str, note: str | None = None) -> Location:
            line = self._plan.line_of_file(path) if origin is None else self._line(origin)
            return self._files[line.path].locate(line.pointer, note)

        return place

    def _line(self, origin: Origin | None) -> FromProfile:
        lines = profile_inputs(origin) if origin is not None else ()
        return next((line for line in lines if line.path in self._files), self._plan.stack_line)


@record(frozen=False, kw_only=False)
class SetupsResult:
    """What the rules said of the setups in a tree."""

    setups: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    not_evaluated: int = 0

    def added_to(self, outcome: Outcome) -> Outcome:
        """The counts; diagnostics are the caller's."""
        if not self.setups and not self.skipped:
            return outcome
        return replace(
            outcome,
            checked={**outcome.checked, "GPU setups": self.setups, "setup rules": len(SETUP_RULES)},
            skipped=(*outcome.skipped, *self.skipped),
            not_evaluated=outcome.not_evaluated + self.not_evaluated,
        )


def judge_setups_of(
    setups: list[Setup],
    release: str | None,
    given: GivenNodes | None,
    kubernetes: str | None = None,
    told: Iterable[Location] = (),
) -> SetupsResult:
    """The setups of a repository, each with what is known of it. `told` is where errors were found before."""
    result = SetupsResult(skipped=list(given.skipped) if given is not None else [])
    if not setups:
        if given is not None:
            result.skipped.append(Skipped("setup rules", "nothing here is of the gpu-operator"))
        return result
    from poolsmith.guard.rules.setup.repository_setups import releases_of, view_of  # on demand

    lacks: Counter[str] = Counter()
    left_out = 0
    before = ToldPlaces(told)
    for setup in setups:
        tags = releases_of(setup, release)
        view = view_of(setup, tags[0] if len(tags) == 1 else None, given, kubernetes)
        judged = _judged(view, before)
        result.setups += 1
        result.diagnostics.extend(judged.diagnostics)
        lacks.update(need for needs in judged.lacking for need in needs)
        result.not_evaluated += len(judged.lacking)
        left_out += _unpredicted(view)
        if view.tag is None and tags:
            result.diagnostics.extend(_said_alike(setup, tags, given, kubernetes, before, judged.diagnostics))
    if result.not_evaluated:
        reasons = "; ".join(_ADVICE[need] for need in _ADVICE if lacks[need])
        result.skipped.append(Skipped(f"{counted(result.not_evaluated, 'check')} of the setup as a whole", reasons))
    if left_out:
        result.not_evaluated += left_out
        result.skipped.append(
            Skipped(f"{left_out:,} resources or kinds of nodes", "not predicted: one setup has so many")
        )
    return result


def _unpredicted(view: SetupView) -> int:
    """Of the resources and kinds of nodes of a setup."""
    if view.tag is None:
        return 0
    from poolsmith.guard.rules.setup.configured import configured  # on demand

    return configured(view).left_out


def _judged(view: SetupView, before: ToldPlaces, codes: frozenset[str] | None = None) -> SetupResult:
    """The rules over values on the setup's resources, then those over all of it. With `codes`, of the rules that give
    warnings only those that have one of them."""
    of_resources = tuple(judge_resources(view))
    view.told.before = before
    view.told.extend(item.primary for item in of_resources if item.severity is Severity.ERROR)
    rules = (item for item in SETUP_RULES if codes is None or item.RULE.code in codes or _may_stop(item))
    judged = run_setup_rules(rules, view)
    return SetupResult(diagnostics=(*of_resources, *judged.diagnostics), lacking=judged.lacking)


def _may_stop(rule: SetupRule) -> bool:
    return rule.RULE.severity is Severity.ERROR


def _said_alike(
    setup: Setup,
    tags: tuple[str, ...],
    given: GivenNodes | None,
    kubernetes: str | None,
    told: ToldPlaces,
    known: Iterable[Diagnostic],
) -> Iterator[Diagnostic]:
    """Where nobody says the release: what is `known` without it is left out, and what not all releases say."""
    from poolsmith.gpu.values.release_tier import said_alike
    from poolsmith.guard.rules.setup.repository_setups import view_of  # on demand

    asked: frozenset[str] | None = None

    def judge(tag: str) -> Iterable[Diagnostic]:
        nonlocal asked
        found = _judged(view_of(setup, tag, given, kubernetes), told, asked).diagnostics
        asked = asked if asked is not None else frozenset(item.code for item in found)
        return found

    before = set(map(_key, known))
    for item in said_alike(judge, tags, _key):
        if _key(item) not in before:
            yield replace(item, message=item.message.replace(tags[0], "every known release"))


def _key(item: Diagnostic) -> tuple[str, str, str]:
    """Releases may stop at one place with errors of several rules."""
    what = "" if item.severity is Severity.ERROR else item.code
    return what, str(item.primary.span), item.primary.pointer
