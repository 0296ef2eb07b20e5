"""Admission policies of the base that a change removes, or that may be less strict after it.

Expressions that differ in blanks and comments only are the same. What surely refuses more is not reported: further
validations and bindings, fewer conditions, wider constraints, harder actions. Everything else is for people to judge.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from poolsmith.change.review.policy_reads import newly_read
from poolsmith.change.review.widened_grants import Widening
from poolsmith.core.diagnostics import Diagnostic, whole_file
from poolsmith.core.diagnostics.message_text import cut, printable, shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.admission.policy import Action, FailurePolicy, MatchResources
from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.policy_test import KIND, PolicyTestSpec
from poolsmith.kubernetes.admission.selector import labels_of, requirements, selects
from poolsmith.kubernetes.objects_file import placed_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from poolsmith.guard.policies.policies import Policies
    from poolsmith.guard.policies.policy_files import AdmissionFile
    from poolsmith.kubernetes.admission.policy import Binding, Named, ParamRef, Policy, PolicySet, ResourceRule
    from poolsmith.kubernetes.objects_file import PlacedObject


_MOST_COMBINATIONS = 20_000
_ANY = "*"
_EVERYTHING = MatchResources()


def lost_requests(old: MatchResources | None, new: MatchResources | None) -> Iterator[str]:
    """Why the new criteria may leave out a request that the old ones take, in words; None takes everything."""
    if new is None:
        return
    old = old or _EVERYTHING
    if new.rules and not (old.rules and all(_covered(rule, new.rules) for rule in old.rules)):
        yield "`resourceRules` no longer has all operations and resources"
    if not all(old.excluded and _covered(rule, old.excluded) for rule in new.excluded):
        yield "`excludeResourceRules` leaves out more"
    for name, before, after in (
        ("namespaceSelector", old.namespace_selector, new.namespace_selector),
        ("objectSelector", old.object_selector, new.object_selector),
    ):
        if not _demands(after) <= _demands(before):
            yield f"`{name}` asks for more"
    if old.equivalent and not new.equivalent:
        yield "`matchPolicy: Exact` leaves out other versions of the same resources"


def _demands(selector: Mapping[str, Any] | None) -> frozenset[tuple[str, str, frozenset[str]]]:
    """Each of them has to hold."""
    return frozenset((key, operator, frozenset(values)) for key, operator, values in requirements(selector))


def _covered(rule: ResourceRule, by: Iterable[ResourceRule]) -> bool:
    """Whether each request of a rule is one of some other rule; False where that takes too long to tell."""
    parts = (rule.operations, rule.api_groups, rule.api_versions, rule.resources)
    number = 1
    for part in parts:
        number *= len(part)
    others = [
        other
        for other in by
        if other.scope in (_ANY, rule.scope)
        and (
            not other.resource_names or (rule.resource_names and set(rule.resource_names) <= set(other.resource_names))
        )
    ]
    if number > _MOST_COMBINATIONS:
        return False
    return all(
        any(
            _has(other.operations, operation)
            and _has(other.api_groups, group)
            and _has(other.api_versions, version)
            and any(_resource_covers(wide, resource) for wide in other.resources)
            for other in others
        )
        for operation, group, version, resource in product(*parts)
    )


def _has(items: tuple[str, ...], wanted: str) -> bool:
    return _ANY in items or wanted in items


def _resource_covers(wide: str, narrow: str) -> bool:
    """`pods` is not `pods/log`; `*` is no subresource, `*/*` is everything, `pods/*` are pods and its subresources."""
    if wide in (narrow, "*/*"):
        return True
    plural, slash, part = wide.partition("/")
    of, has_part, of_part = narrow.partition("/")
    if plural not in (_ANY, of):
        return False
    return part == _ANY or (bool(slash) == bool(has_part) and part == of_part)


_TEXT = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_PART = pattern(rf"(?P<text>{_TEXT})|(?P<blank>(?:\s|//[^\n]*)+)|(?P<other>.)", re.DOTALL)
_RAW = pattern(r"[rR][bB]?[\"']|[bB][rR][\"']")


def same_expression(one: str, other: str) -> bool:
    """Never where they may differ."""
    if one == other:
        return True
    if _RAW.search(one) or _RAW.search(other):
        return one.strip() == other.strip()
    return _bare(one) == _bare(other)


def _bare(text: str) -> str:
    """With one blank wherever there are some: what they separate stays apart."""
    return "".join(" " if match["blank"] else match[0] for match in _PART.finditer(text)).strip()


_KUBERNETES = "1.34"
_MINORS = tuple((1, minor) for minor in range(28, 60))
_STEERS_DELIVERY = (
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "helm.sh/",
    "meta.helm.sh/",
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "app.kubernetes.io/managed-by",
)
"""Labels and annotations by which Argo CD, Flux, Helm and kustomize leave an object out, or take it away."""
_FREE_METADATA = frozenset(("name", "labels", "annotations"))
_LONGEST = 160


@record(kw_only=False, slots=False)
class _Shipped:
    """The folder policies/admission/ of one revision."""

    policies: Policies

    @cached_property
    def files(self) -> dict[str, AdmissionFile]:
        return {file.path: file for file in self.policies.admission[0]}

    @cached_property
    def set(self) -> PolicySet:
        objects: list[PlacedObject] = []
        for file in self.files.values():
            placed = placed_objects(file.path, file.text)
            objects.extend(() if isinstance(placed, Diagnostic) else placed)
        return read_policies(objects, _KUBERNETES)[0]

    @cached_property
    def tested(self) -> frozenset[str]:
        """Names of policies that some case is about."""
        found = set()
        for path in self.policies.files.tests:
            document, _ = load_kind_document(self.policies.tree, path, KIND, PolicyTestSpec)
            if document is not None:
                folder = path.rpartition("/")[0]
                files = {f"{folder}/{name}" for name in document.spec.policies} or set(self.files)
                every = {item.name for item in self.set.policies if _path_of(item.placed) in files}
                for case in document.spec.cases:
                    found |= {case.policy} if case.policy else every
        return frozenset(found)

    def unserved(self, item: PlacedObject) -> frozenset[tuple[int, ...]]:
        """Minors of Kubernetes to which the file with an object is not shipped."""
        file = self.files[_path_of(item)]
        return frozenset(minor for minor in _MINORS if file.unserved(minor) is not None)


def widened_admission(base: Policies, head: Policies) -> Iterator[Widening]:
    """All that may pass which was refused, policy by policy."""
    if not base.files.admission and not head.files.admission:
        return
    old, new = _Shipped(base), _Shipped(head)
    policies = {item.name: item for item in new.set.policies}
    bindings = {item.name: item for item in new.set.bindings}
    for policy in old.set.policies:
        found = policies.get(policy.name)
        whys = _of_policy(policy, found) if found is not None else iter((_GONE,))
        yield from _widenings("policy", policy, found, whys, old, new)
        if found is not None and policy.name in old.tested - new.tested:
            what = f"policy `{policy.name}`: no test case of it is left, so that nobody sees what it lets pass"
            yield Widening(what, found.placed.locate(), policy.name)
    for binding in old.set.bindings:
        bound = bindings.get(binding.name)
        yield from _widenings(
            "binding", binding, bound, _of_binding(binding, bound) if bound is not None else iter((_GONE,)), old, new
        )
    yield from _parameters(old.set, new.set)
    yield from newly_read(old.set, new.set)


_GONE = "is gone, or has another name, or can't be read: what it refuses would pass"


def _widenings(
    word: str,
    before: Policy | Binding,
    after: Policy | Binding | None,
    whys: Iterator[str],
    old: _Shipped,
    new: _Shipped,
) -> Iterator[Widening]:
    assert before.placed is not None, "it was read from a file"
    place = after.placed.locate() if after is not None and after.placed is not None else None
    where = place or whole_file(_path_of(before.placed))
    for why in whys:
        yield Widening(f"{word} `{shorten(before.name)}`: {why}", where, before.name)
    if after is None or after.placed is None:
        return
    if reason := _withheld(before.placed, after.placed):
        yield Widening(f"{word} `{shorten(before.name)}`: {reason}", where, before.name)
    if lost := sorted(new.unserved(after.placed) - old.unserved(before.placed)):
        minor = ".".join(map(str, lost[0]))
        what = (
            f"{word} `{shorten(before.name)}`: its file would no longer be shipped to clusters with Kubernetes {minor}"
        )
        yield Widening(f"{what}, whose API server does not have all versions in it", where, before.name)


def _of_policy(old: Policy, new: Policy) -> Iterator[str]:
    if (old.failure_policy, new.failure_policy) == (FailurePolicy.FAIL, FailurePolicy.IGNORE):
        yield "`failurePolicy: Ignore` lets pass what can't be evaluated"
    yield from (f"{why}: what it refused there would pass" for why in lost_requests(old.match, new.match))
    for condition in new.match_conditions:
        if not any(_same(condition.expression.source, other.expression.source) for other in old.match_conditions):
            text = _cut(condition.expression.source)
            yield f"the match condition `{text}` is new: requests that do not meet it would pass"
    if old.param_kind != new.param_kind:
        yield "`paramKind` is another: its validations would see something else"
    yield from _variables(old.variables, new.variables)
    yield from _validations(old, new)


def _variables(old: Sequence[Named], new: Sequence[Named]) -> Iterator[str]:
    now = {item.name: item for item in new}
    for item in old:
        found = now.get(item.name)
        if found is None or not _same(item.expression.source, found.expression.source):
            yield f"variable `{shorten(item.name)}` is another: its effect on the validations is unknown"


def _validations(old: Policy, new: Policy) -> Iterator[str]:
    """Further ones only refuse more; but each costs, and one whose budget is spent lets pass under Ignore."""
    is_fixed = new.failure_policy is FailurePolicy.IGNORE
    rest = list(new.validations)
    for number, item in enumerate(old.validations):
        text = item.expression.source
        if is_fixed:
            found = number < len(rest) and _same(text, rest[number].expression.source)
        else:
            found = any(_same(text, other.expression.source) for other in rest)
        if not found:
            where = "in its place " if is_fixed else ""
            yield f"the validation `{_cut(text)}` is not {where}there any more: what it refuses would pass"


def _of_binding(old: Binding, new: Binding) -> Iterator[str]:
    if old.policy != new.policy:
        yield f"it binds `{shorten(new.policy)}`, and `{shorten(old.policy)}` no longer"
    was, now = set(old.actions), set(new.actions)
    if Action.DENY in was - now:
        yield f"what is refused would pass, with {' and '.join(sorted(item.value for item in now))} only"
    elif Action.DENY not in now and not was <= now:
        yield f"nobody would get the {' and '.join(sorted(item.value for item in was - now))} any more"
    if not _same_parameters(old.param_ref, new.param_ref):
        yield "`paramRef` is another: the policy would see something else"
    yield from (f"{why}: what is refused there would pass" for why in lost_requests(old.match, new.match))


def _same_parameters(old: ParamRef | None, new: ParamRef | None) -> bool:
    if old is None or new is None:
        return old is new
    same = (old.name, old.namespace, old.selector) == (new.name, new.namespace, new.selector)
    return same and (new.deny_when_missing or not old.deny_when_missing)


def _withheld(old: PlacedObject, new: PlacedObject) -> str | None:
    """Metadata that would keep the object from where it is, or take it away from there."""
    before, after = old.metadata, new.metadata
    for key in sorted((before.keys() | after.keys()) - _FREE_METADATA):
        if before.get(key) != after.get(key):
            return f"`metadata.{shorten(key)}` is another, which may keep it out of the clusters"
    for field in ("annotations", "labels"):
        was, now = mapping(before.get(field)), mapping(after.get(field))
        for key in sorted(now, key=str):
            if str(key).startswith(_STEERS_DELIVERY) and was.get(key) != now[key]:
                return f"`{shorten(str(key))}` may keep it out of the clusters, or take it away from there"
    return None


_Named = tuple[str, str, str, str]


def _parameters(old: PolicySet, new: PolicySet) -> Iterator[Widening]:
    """Objects that policies read, and definitions of their kinds: what other ones mean nobody can tell."""
    before = {_name(item): item for item in old.objects}
    after = {_name(item): item for item in new.objects}
    for name, item in before.items():
        found = after.get(name)
        if found is None:
            what = f"{_shown(item)} is gone: what policies refuse because of it may pass"
            yield Widening(what, whole_file(_path_of(item)), item.name)
        elif found.body != item.body:
            what = f"{_shown(item)} is another: what policies refuse because of it may pass"
            yield Widening(what, found.locate(), item.name)
    known = {item.namespace for item in old.objects if item.namespace}
    for name, item in after.items():
        if name not in before and (item.namespace not in known or _is_awaited(item, old)):
            what = (
                f"{_shown(item)} is new: it would be applied to each cluster, and would replace what has its name there"
            )
            yield Widening(what, item.locate(), item.name)


def _is_awaited(item: PlacedObject, old: PolicySet) -> bool:
    """Whether a binding of the base would take it: one that refuses everything as long as there is no parameter."""
    kinds = {policy.name: policy.param_kind for policy in old.policies}
    for binding in old.bindings:
        kind, reference = kinds.get(binding.policy), binding.param_ref
        if kind is None or reference is None or (kind.api_version, kind.kind) != (item.api_version, item.kind):
            continue
        if reference.name == item.name or (not reference.name and selects(reference.selector, labels_of(item.body))):
            return True
    return False


def _name(item: PlacedObject) -> _Named:
    return item.group, item.kind, item.namespace, item.name


def _shown(item: PlacedObject) -> str:
    where = f" in namespace `{shorten(item.namespace)}`" if item.namespace else ""
    return f"{shorten(item.shown)}{where}"


def _path_of(item: PlacedObject) -> str:
    return item.locate("").span.path


def _same(one: str, other: str) -> bool:
    return same_expression(one, other)


def _cut(text: str) -> str:
    return cut(printable(" ".join(text.split())), _LONGEST)
