"""Use case: profiles that generate what a repository installs today, and a report of what they can't generate.

The profiles are generated, read again and compared with what is installed. The report lists what is the same, what
differs and why, and what was assumed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.takeover.answers import argo_cluster_of, drivers_are_precompiled, folders_named, possible_drafts
from poolsmith.change.takeover.deliverers import owner_lines
from poolsmith.change.takeover.draft import Planner
from poolsmith.change.takeover.effective import differing, effective
from poolsmith.change.takeover.found import find_present, tag_of
from poolsmith.change.takeover.plugin_stack import plugin_draft, plugin_lines, releases
from poolsmith.change.takeover.settle import drop_values, score, settle, write_values
from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.core.diagnostics.masking import masked_tree
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import MISSING, overlap, value_at
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.plan.origin import Derived
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS
from poolsmith.kubernetes.repository.delivered import merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path as Folder

    from poolsmith.change.takeover.draft import ClusterDraft, ProfileDraft
    from poolsmith.change.takeover.effective import Path
    from poolsmith.change.takeover.found import Present
    from poolsmith.change.takeover.node_answers import TakeoverAnswers
    from poolsmith.change.takeover.settle import Settled
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolDriverObject
    from poolsmith.gpu.catalog import Chart
    from poolsmith.project.run.cluster_run import ClusterRun
    from poolsmith.project.run.surroundings import Surroundings


_VALUES = "platform/values/gpu-operator.yaml"
_WHY = {
    "Namespace": "the operator's namespace, with the Pod Security level that its pods need",
    "ValidatingAdmissionPolicy": "refuses in the cluster what nobody has granted; leave out what you don't want",
    "ValidatingAdmissionPolicyBinding": "puts such a policy in force",
    "ResourceQuota": "lets critical pods run in the operator's namespace",
    "NodeFeatureRule": "writes the label of the pool",
    "HelmRepository": "the chart's repository",
    "GitRepository": "the source that the Kustomizations read",
}
_DELIVERED = frozenset(("Application", "ApplicationSet", "HelmRelease", "Kustomization", "NVIDIADriver"))


@record(kw_only=False)
class Generated:
    """`values` are those of the generated file, `added` lines on objects that are new."""

    errors: tuple[Diagnostic, ...]
    values: dict[str, Any] | None = None
    added: tuple[str, ...] = ()


def read_again(run: ClusterRun, present: Present) -> Generated:
    """What was generated, from its files."""
    errors = tuple(item for item in run.diagnostics if item.severity is Severity.ERROR)
    if run.tree is None:
        return Generated(errors=errors)
    content = (run.files or {}).get(_VALUES)
    values = next(iter(read_documents(content.decode())), None) if content is not None else None
    there = {(item.kind, item.metadata.get("name")) for item in present.beside}
    added: dict[str, list[str]] = {}
    for manifest in run.tree.manifests:
        if not manifest.applied:
            continue
        for document in map(mapping, manifest.documents):
            kind, name = word(document.get("kind")), word(mapping(document.get("metadata")).get("name"))
            if kind and kind not in _DELIVERED and (kind, name) not in there:
                added.setdefault(kind, []).append(str(name))
    return Generated(
        errors=errors, values=values, added=tuple(_line(kind, names) for kind, names in sorted(added.items()))
    )


def _line(kind: str, names: list[str]) -> str:
    return f"adds    {kind} {', '.join(sorted(set(names)))}: {_WHY.get(kind, 'the cluster README says what it does')}"


_LONGEST = 120
_ADVICE = {
    "tolerations": "; operands leave nodes whose taints no pool has: add these to `nodes.taints` of a pool",
    "env": "; what stands here beside the paths has no place in a profile",
}
"""By the last key of a value that the profiles have too."""


def report_lines(present: Present, settled: Settled, chart: Chart, values: dict[str, Any] | None) -> Iterator[str]:
    """`values` are those that were generated, None where nothing can be compared yet; then the reasons stand first."""
    for error in settled.errors:
        place = error.primary.span
        yield f"refused: {place}: {error.message} ({error.code})"
    for path, field in sorted(settled.by_field.items()):
        yield f"field   {'.'.join(path)} is `{field}`"
    for path in sorted(settled.kept):
        yield f"kept    {'.'.join(path)} in stack.values: no field of a profile holds it"
    for unknown in present.installation.unknown:
        yield f"unknown {unknown.place.span}: {unknown.what}; not in the profiles"
    if settled.plan is None or values is None:
        yield "differs: not known before the profiles can be generated"
        return
    parts = {
        "values": _values(settled, settled.plan, chart, values),
        "chart, release, namespace and who delivers them": _release(present, settled.plan),
        "driver objects": _drivers(present, settled.plan),
    }
    for part, differences in parts.items():
        lines = list(differences)
        yield from lines or (f"same    {part}",)


def _values(settled: Settled, plan: ClusterPlan, chart: Chart, values: dict[str, Any]) -> Iterator[str]:
    here = effective(chart.defaults, values)
    for path, mine, theirs in differing(here, settled.wanted):
        change = f"{_shown(path, theirs)} becomes {_shown(path, mine)}"
        yield f"differs {'.'.join(path)}: {change}: {_why(path, settled, plan)}"


def _why(path: Path, settled: Settled, plan: ClusterPlan) -> str:
    for setting in plan.values:
        if overlap(setting.path, path):
            origin = setting.origin
            because = origin.because if isinstance(origin, Derived) else f"it follows from the profiles ({origin})"
            return because + _ADVICE.get(path[-1], "")
    for left, reason in settled.left_out.items():
        if overlap(left, path):
            return reason
    field = settled.by_field.get(path)
    return f"`{field}` of the profiles says it" if field is not None else "the profiles have no value like this"


def _shown(path: Path, value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = json.dumps(masked_tree(value, path[-1]), ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _release(present: Present, plan: ClusterPlan) -> Iterator[str]:
    item = present.installation
    if plan.chart is None:
        return
    if item.namespace is None:
        yield f"differs namespace: the repository does not say one, and gets `{plan.namespace}`"
    elif item.namespace != plan.namespace:
        yield f"differs namespace: {item.namespace} becomes {plan.namespace}"
    if item.release_name not in (None, plan.chart.name):
        yield (
            f"differs release name: {item.release_name} becomes {plan.chart.name}: to Helm that is another release; "
            "docs/takeover.md says how one takes over the other's objects"
        )
    storage = _storage(present)
    if storage is not None and storage != plan.namespace:
        yield (
            f"differs storage namespace: Flux has the release's record in {storage}, and looks for it in "
            f"{plan.namespace}; docs/takeover.md says how to move it"
        )
    repository = (item.repository or "").rstrip("/")
    if repository and repository != plan.chart.repository.rstrip("/"):
        yield f"differs chart repository: {repository} becomes {plan.chart.repository}"
    yield from owner_lines(item, present.engine, plan, plan.chart.name)


def _storage(present: Present) -> str | None:
    document = present.installation.document
    if document.kind != "HelmRelease":
        return None
    spec = mapping(document.data.get("spec"))
    return word(spec.get("storageNamespace")) or word(document.metadata.get("namespace")) or None


def _drivers(present: Present, plan: ClusterPlan) -> Iterator[str]:
    from poolsmith.change.takeover.answers import pool_name  # beside its only user

    made = {item.pool: item for item in plan.driver_objects}
    for document in present.drivers:
        name = word(document.metadata.get("name"))
        own = made.pop(pool_name(document.data), None)
        if own is None:
            yield f"differs NVIDIADriver/{name}: no pool has a driver object; it stays where it is"
            continue
        yield from _driver(name, mapping(document.data.get("spec")), own)
    for own in made.values():
        yield f"differs NVIDIADriver/{own.name}: it is new; pool `{own.pool}` gets its driver from it"
    for document in () if present.is_by_policy else present.policies:
        name = word(document.metadata.get("name"))
        yield f"differs ClusterPolicy/{name}: it stands beside the chart's, and no profile describes it; it stays"


def _driver(name: str, spec: Mapping[str, Any], own: PoolDriverObject) -> Iterator[str]:
    if own.name != name:
        yield f"differs NVIDIADriver/{name}: its name becomes {own.name}, and its driver pods are replaced"
    for path, mine, theirs in differing(own.spec, dict(spec)):
        field = ".".join(("spec", *path))
        yield f"differs NVIDIADriver/{name} {field}: {_shown(path, theirs)} becomes {_shown(path, mine)}"


_TEMPLATES = ("{{", "${")


@record(kw_only=False)
class Takeover:
    """The profiles of one cluster by their paths, and what is to be said of them. `place` declares the installation.

    `texts` is empty where nothing can be proposed, which `lines` says.
    """

    name: str
    place: str
    texts: dict[str, str]
    lines: tuple[str, ...]
    settled: Settled | None = None

    @property
    def refused(self) -> bool:
        """Whether something keeps the profiles from being generated."""
        return self.settled is None or bool(self.settled.errors)


def take_over(
    root: Folder, source: Folder, answers: TakeoverAnswers, around: Surroundings, cluster: str | None, fallback: str
) -> list[Takeover]:
    """One for each installation below `source`; `cluster` names the only one. Raises UsageError where there is none."""
    if not source.exists():
        raise UsageError(f"there is no {source}")
    found, unknown = find_present(root, source, cluster or fallback)
    if not found:
        raise UsageError(
            f"nothing below {source} installs the chart gpu-operator or nvidia-device-plugin: name a file with its "
            "values, with a HelmRelease or an Application, or the folder of a whole repository"
        )
    if cluster is not None:
        if not matches(DNS_LABEL, cluster):
            raise UsageError(f"`{cluster}` is no cluster name: use lower-case letters, digits and `-`, at most 63")
        if len(found) > 1:
            places = listed([item.place for item in found])
            raise UsageError(f"there are {len(found)} installations, in {places}: name the file of one of them")
        found = (replace(found[0], name=cluster),)
    catalog = Catalog()
    planner = Planner(root, catalog)
    taken: list[Takeover] = []
    for item in found:
        taken.append(_one(item, answers, around, catalog, planner))
        settled = taken[-1].settled
        if settled is not None and (told := argo_cluster_of(settled.draft.cluster)) is not None:
            around = replace(around, argo_clusters=(*around.argo_clusters, told))
    unseen = tuple(f"unknown {item.place.span}: {item.what}" for item in unknown)
    if unseen:
        last = taken[-1]
        taken[-1] = Takeover(last.name, last.place, last.texts, (*last.lines, *unseen), last.settled)
    return taken


def _one(
    present: Present, answers: TakeoverAnswers, around: Surroundings, catalog: Catalog, planner: Planner
) -> Takeover:
    if present.installation.chart in DEVICE_PLUGIN_CHARTS:
        return _plugin(present, answers, around, catalog, planner)
    if (why := _no_chart_there(present, answers, catalog)) is not None:
        return Takeover(present.name, present.place, {}, (f"refused: {why}",))
    known = catalog.releases.by_tag
    written = answers.release or present.installation.version
    tag = tag_of(written, known)
    lines: list[str] = []
    if tag is None and written is None:
        tag = list(known)[-1]
        lines.append(f"assumed release {tag}: nothing says which one is installed; --release says it")
    chart = catalog.chart(catalog.releases.chart_name, tag) if tag is not None else None
    if tag is None or chart is None:
        recent = listed(list(known)[-4:])
        why = f"refused: `{written}` is not one release that the catalog knows, such as {recent}; --release says which"
        return Takeover(present.name, present.place, {}, (why,))
    values, unsettled = _plain_values(present)
    lines += unsettled
    drivers = [mapping(mapping(item.data).get("spec")) for item in present.drivers]
    draft = _nearest(present, tag, answers, around, catalog, planner, values, chart)
    settled = settle(draft, values, chart, planner, drivers)
    if written is None:
        settled.draft.cluster.assumed.add(("stack", "release"))
    made = read_again(planner.generate(settled.draft), present) if settled.plan is not None else None
    while made is not None and made.errors and drop_values(settled, made.errors):
        write_values(settled)
        settled.plan = planner.plan(settled.draft).plan
        made = read_again(planner.generate(settled.draft), present)
    if made is not None and made.errors:
        settled.errors = made.errors
    lines += report_lines(present, settled, chart, made.values if made is not None else None)
    lines += made.added if made is not None else ()
    lines += _assumed(settled)
    return Takeover(present.name, present.place, settled.draft.texts(), tuple(lines), settled)


_OLM, _WITH_OLM = "Subscription", "openshift"


def _no_chart_there(present: Present, answers: TakeoverAnswers, catalog: Catalog) -> str | None:
    """Why nothing is generated for the distribution that a Subscription of OLM means, unless another one is said."""
    if present.installation.document.kind != _OLM or answers.distribution not in (None, _WITH_OLM):
        return None
    entry = catalog.distributions.get(_WITH_OLM)
    return entry.refused if entry is not None else None


def _plugin(
    present: Present, answers: TakeoverAnswers, around: Surroundings, catalog: Catalog, planner: Planner
) -> Takeover:
    """Of the plugin's own chart."""
    written, known = answers.release or present.installation.version, releases()
    tag = tag_of(written, known) if written is not None else known[-1]
    if tag is None:
        why = f"refused: `{written}` is no release of the plugin that the catalog knows, such as {listed(known[-4:])}"
        return Takeover(present.name, present.place, {}, (why,))
    settled = plugin_draft(present, tag, answers, around, catalog, planner)
    if written is None:
        settled.draft.cluster.assumed.add(("stack", "release"))
    lines = list(plugin_lines(present, settled))
    lines += _assumed(settled)
    return Takeover(present.name, present.place, settled.draft.texts(), tuple(lines), settled)


def _assumed(settled: Settled) -> Iterator[str]:
    for profile in (settled.draft.cluster, *settled.draft.pools):
        for path in sorted(profile.assumed):
            yield f"assumed {_spelt(profile, path)}"


def _spelt(profile: ProfileDraft, path: tuple[str, ...]) -> str:
    return f"{profile.name}: {'.'.join(path)} is {profile.fields.get(path)}"


def _nearest(
    present: Present,
    tag: str,
    answers: TakeoverAnswers,
    around: Surroundings,
    catalog: Catalog,
    planner: Planner,
    values: dict[str, Any],
    chart: Chart,
) -> ClusterDraft:
    """The kind of nodes whose values come nearest to those of today; of equals the commonest."""
    best, least = None, (1 << 30, 0, 0)
    drivers = [mapping(mapping(item.data).get("spec")) for item in present.drivers]
    for draft in possible_drafts(present, tag, answers, around, catalog):
        if value_at(values, ("driver", "nvidiaDriverCRD", "enabled")) is True:
            draft.cluster.fields["stack", "driverMode"] = "nvidia-driver"
        if value_at(values, ("driver", "usePrecompiled")) is True:
            drivers_are_precompiled(draft.pools)
        by_object = zip(draft.pools, drivers, strict=False)
        drivers_are_precompiled(pool for pool, spec in by_object if spec.get("usePrecompiled") is True)
        refused, far = score(draft, values, chart, planner, drivers)
        told = folders_named(draft, values, catalog, tag)
        distance = (refused, -told if far else -1 << 10, far)
        if distance < least:
            best, least = draft, distance
        if not refused and not far:
            break
    assert best is not None, "there is always a first kind of nodes"
    return best


def _plain_values(present: Present) -> tuple[dict[str, Any], list[str]]:
    """Without what somebody fills in later, and lines that say so."""
    values = merged([present.installation.values])
    told = []
    for path in list(_filled_in(values, ())):
        node = value_at(values, path[:-1])
        if value_at(values, path, MISSING) is not MISSING and isinstance(node, dict):
            del node[path[-1]]
            place = present.installation.locate(path).span
            told.append(f"unknown {place}: {'.'.join(path)} is filled in by another tool; not in the profiles")
    return values, told


def _filled_in(node: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(node, dict):
        return [found for key, value in node.items() for found in _filled_in(value, (*path, str(key)))]
    if isinstance(node, list):
        return [path] if any(_filled_in(item, ("",)) for item in node) else []
    is_template = isinstance(node, str) and any(mark in node for mark in _TEMPLATES)
    return [path] if is_template and path else []
