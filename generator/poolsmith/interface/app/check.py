"""Use case: judge anyone's manifests; and the real kubeconform's opinion of them."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, NoInputError, Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.diagnostics.rule_engine import Finding, run_rules
from poolsmith.core.sources.input_tree import read_bytes, walk
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.stack_words import may_be_of_stack
from poolsmith.gpu.values.loose_values import Surroundings, neighbour_files, plain_files
from poolsmith.gpu.values.values_check import (
    broken_texts,
    judge_values_of,
    known_release,
    not_mappings,
    release_with_schemas,
)
from poolsmith.gpu.values.values_places import stack_charts, values_of, values_of_neighbours
from poolsmith.guard.policies.policy_files import EXTERNAL
from poolsmith.guard.rules.links.registry import LINK_RULES
from poolsmith.guard.rules.links.repository_links import judge_links
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.repository_rules import CHART_RULES, TEMPLATE_RULES
from poolsmith.guard.rules.schema.object_schemas import (
    Against,
    SchemaResult,
    against_cluster,
    against_flags,
    judge_schemas,
    of_version,
    with_schema_results,
)
from poolsmith.guard.rules.setup.repository_setups import setups_of
from poolsmith.guard.rules.templates.labelled_nodes import labelled_nodes
from poolsmith.guard.rules.texts.judge_texts import judge_texts
from poolsmith.guard.rules.texts.stack_text import FILE_ENDINGS
from poolsmith.interface.app.check_scope import (
    by_release,
    file_problems,
    judged_trees,
    left_out,
    releases_of,
    scope_of,
)
from poolsmith.interface.app.coverage import coverage_of
from poolsmith.interface.app.stopped import missing_folders, refused_builds, unread_scripts
from poolsmith.kubernetes.repository.file_search import OTHER_ENDINGS, searched
from poolsmith.kubernetes.repository.manifest_files import (
    YAML_ENDINGS,
    CheckedDocument,
    CheckedTree,
    is_script,
    parse_documents,
)
from poolsmith.kubernetes.repository.model import model_of
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.setup_check import judge_setups_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.operands.chart.judgement import Workloads
    from poolsmith.gpu.catalog.value_paths import ReleaseValues
    from poolsmith.gpu.values.document import ValuePlace
    from poolsmith.gpu.values.values_check import ValuesResult
    from poolsmith.gpu.values.values_places import FoundValues
    from poolsmith.guard.rules.links.repository_links import LinkResult
    from poolsmith.guard.rules.pod_security import PodSecurityStandard
    from poolsmith.guard.rules.setup.repository_setups import GivenNodes
    from poolsmith.guard.rules.templates.labelled_nodes import LabelledNodes
    from poolsmith.interface.app.check_scope import JudgedTree, Scope
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.repository_files import Listed

MAX_MANIFEST_BYTES = 32 << 20
_SKIPPED_FOLDERS = frozenset((".git", "node_modules", ".venv", "__pycache__"))


@with_facts
def check_paths(
    root: Path,
    paths: Sequence[Path],
    *,
    kubernetes: str | None = None,
    release: str | None = None,
    kubeconform: str | None = None,
    pod_security: PodSecurityStandard | None = None,
    strict: bool = False,
    nodes: Path | None = None,
    cluster: str | None = None,
    everything: bool = False,
    only: frozenset[str] | None = None,
    today: dt.date | None = None,
) -> Outcome:
    """Anyone's files and folders. An explicitly named empty file is counted, not an error.

    Judged is what delivery engines would apply of them. Of folders that is what belongs to the GPU stack, unless
    `everything` is asked for; files that are named one by one are judged whatever they hold.

    `only`: of `paths` these are judged where they are of the GPU stack, by the paths that are shown; the others
    are read with them.

    `kubernetes` (default: the newest known) and `release` (of the gpu-operator) choose the schemas; Helm values are
    judged by the release that they are for, else by `release`. `pod_security` is what pods have to hold to.
    Names of policies/external.yaml are past their day as of `today`; without one, never.
    Setups are judged with the nodes of a file, or with the pools of the `cluster` of that name in `profiles/`, which
    also says Kubernetes and release where nothing else does.
    Raises UsageError for a path that does not exist, NoInputError when there is no YAML file at all.
    """
    given = _given_nodes(root, nodes, cluster)
    release = known_release(release or (given.release if given is not None else None))
    kubernetes = kubernetes or (given.kubernetes if given is not None else None)
    against = against_flags(kubernetes, release_with_schemas(release))
    with rarely_collecting():
        outcome = _check_paths(
            root,
            paths,
            against,
            kubeconform,
            release,
            pod_security,
            given,
            kubernetes,
            everything=everything,
            only=only,
            today=today,
        )
    if not strict:
        return outcome
    from poolsmith.guard.policies.applied_policies import strictly  # on demand

    return strictly(outcome)


def _given_nodes(root: Path, nodes: Path | None, cluster: str | None) -> GivenNodes | None:
    if nodes is not None and cluster is not None:
        raise UsageError("--nodes and --cluster both say which nodes there are; give one of them")
    if nodes is None and cluster is None:
        return None
    from poolsmith.project.run.setup_nodes import nodes_of_file, nodes_of_profiles  # on demand

    if cluster is not None:
        return nodes_of_profiles(root, cluster)
    assert nodes is not None
    return nodes_of_file(nodes, _shown(nodes, _base(root)), Catalog())


def _check_paths(
    root: Path,
    paths: Sequence[Path],
    against: Against,
    kubeconform: str | None,
    release: str | None,
    pod_security: PodSecurityStandard | None,
    given: GivenNodes | None,
    kubernetes: str | None,
    *,
    everything: bool,
    only: frozenset[str] | None,
    today: dt.date | None,
) -> Outcome:
    files = RepositoryFiles(root, paths, bool if everything else may_be_of_stack)
    listed = _listed(files, paths)
    named = frozenset(files.shown(path) for path in paths if not path.is_dir())
    asks_for_more = everything or named or only is not None or release is not None or given is not None
    search = None if asks_for_more else searched(files, listed, may_be_of_stack)
    model = model_of(files, listed.yaml if search is None else search.found, listed.others, stack_charts())
    scope = scope_of(model, named, everything=everything)
    if only is not None:
        scope, listed.yaml = replace(scope, named=frozenset(), only=only), tuple(filter(only.__contains__, listed.yaml))
    diagnostics = [*listed.problems, *missing_folders(model, scope), *unread_scripts(listed.others, files, scope)]
    unread = search.unread if search is not None else frozenset()
    diagnostics += file_problems((path for path in listed.yaml if path not in unread), files, scope)
    parts = tuple(judged_trees(model, scope))
    trees = tuple(part.tree for part in parts)
    for tree in trees:
        diagnostics += (*(run_rules(RULES, tree, by_file=True) if tree.documents else ()), *broken_texts(tree))
    schemas = _schemas(parts, against, model)
    diagnostics += (item for result in schemas for item in result.diagnostics)
    diagnostics += [*refused_builds(model, scope, diagnostics)]
    diagnostics.extend(run_rules(CHART_RULES, model.all_installations, by_file=True))
    labelled = labelled_nodes(model, listed.others)
    diagnostics += run_rules(TEMPLATE_RULES, labelled, by_file=True)
    is_whole = only is None and any(path.resolve() == root.resolve() for path in paths)
    links = _links(model, release, given, labelled, root, today, is_whole=is_whole)
    diagnostics += links.diagnostics
    loose, found = _values_here(model, release, named, scope)
    values = _judged_values(found, model, release, named)
    said = frozenset(mark.key for nodes in labelled for mark in nodes.labels)
    setups_here = setups_of(model, loose, release, said)
    setups = judge_setups_of(setups_here, release, given, kubernetes, _errors(diagnostics, values.diagnostics))
    coverage, unjudged = coverage_of(found, filter(scope.has_installation, model.all_installations), setups_here)
    problems = given.problems if given is not None else ()
    diagnostics.extend((*unjudged, *values.diagnostics, *setups.diagnostics, *problems))
    diagnostics += (problem for path, _ in values.paths for problem in files.file(path).problems)
    texts = judge_texts(trees, model, diagnostics)
    diagnostics += texts.diagnostics
    templates = _neighbours(model.whole, given, diagnostics)
    told = {*values.paths, *(place for item in schemas for place in item.half), *templates}
    judged = {(item.path, item.index) for tree in trees for item in tree.objects}
    left = left_out(model, listed, scope, judged, told, unread)
    is_compared = given is not None and given.planned is not None
    is_empty = not (judged or coverage.found or templates or texts.files or diagnostics or is_compared)
    if left.is_nothing and is_empty:
        raise NoInputError(left.nothing(release))
    outcome = Outcome(
        diagnostics=sorted_unique(filter(scope.has_finding, diagnostics)),
        checked={
            "manifest files": len(listed.yaml),
            "objects": len(judged),
            "rules": len(RULES) + len(CHART_RULES) + len(LINK_RULES),
            **({"descriptions of nodes": len(templates)} if templates else {}),
        },
        skipped=left.skipped,
        not_evaluated=left.unknown,
        facts=(links.said,) if links.said else (),
        needs=links.counts,
        coverage=coverage if coverage.found else None,
    )
    outcome = setups.added_to(values.added_to(with_schema_results(outcome, schemas)))
    if pod_security is not None:
        for tree in trees:
            outcome = _with_pod_security(outcome, tree, pod_security)
    if kubeconform is None:
        return outcome
    sound = (item for item in model.documents if scope.has(item) and not files.file(item.path).problems)
    written = CheckedTree(tuple(sound), frozenset(listed.yaml))
    return with_opinion(outcome, kubeconform, root, lambda: [judge_schemas(written, against, keep_verdicts=True)])


def _schemas(parts: Iterable[JudgedTree], against: Against, model: RepositoryModel) -> list[SchemaResult]:
    """Each object by the release that its cluster has, unless a flag says which."""
    releases = releases_of(model)
    trees = (found for part in parts for found in by_release(part, releases, model))
    return [judge_schemas(tree, against if against.operator else of_version(against, tag)) for tree, tag in trees]


def _links(
    model: RepositoryModel,
    release: str | None,
    given: GivenNodes | None,
    labelled: Sequence[LabelledNodes],
    root: Path,
    today: dt.date | None,
    *,
    is_whole: bool,
) -> LinkResult:
    """With what policies/external.yaml says comes from outside."""
    if not (root / EXTERNAL).is_file():
        return judge_links(model, release, given, labelled)
    from poolsmith.guard.policies.external_names import ExternalBook
    from poolsmith.guard.policies.policies import Policies  # on demand

    entries, problems = Policies(root).external
    book = ExternalBook(entries, today)
    found = judge_links(model, release, given, labelled, book)
    return replace(found, diagnostics=(*found.diagnostics, *problems, *book.problems(complete=is_whole)))


def _values_here(
    model: RepositoryModel, release: str | None, named: frozenset[str], scope: Scope
) -> tuple[list[FoundValues], list[FoundValues]]:
    """Those of the operator that no engine brings, and all of the scope: of the charts beside it too."""
    around = Surroundings(model)
    loose = [*values_of(model.installations, release), *plain_files(around, release, named)]
    delivered = [found for item in model.deliveries for found in values_of(item.installations, release)]
    every = (*delivered, *loose, *values_of_neighbours(model.all_installations), *neighbour_files(around))
    return loose, [item for item in every if scope.has_installation(item.installation)]


def _judged_values(
    found: list[FoundValues], model: RepositoryModel, release: str | None, named: frozenset[str]
) -> ValuesResult:
    from poolsmith.fleet.operands.chart.judgement import Workloads  # on demand

    workloads = Workloads()
    values = judge_values_of(found, partial(_not_rendered, workloads), partial(_refused, workloads))
    for diagnostic, place in not_mappings(model.loose, named) if release is not None else ():
        values.diagnostics.append(diagnostic)
        values.paths.add(place)
    return values


def _errors(*found: Sequence[Diagnostic]) -> list[Location]:
    """Where there are errors."""
    return [item.primary for some in found for item in some if item.severity is Severity.ERROR]


def _listed(files: RepositoryFiles, paths: Sequence[Path]) -> Listed:
    for path in paths:
        if not _exists(path):
            raise UsageError(f"{path} does not exist")
    listed = files.listed()
    if (
        not listed.yaml
        and not listed.problems
        and not any(path.endswith((*OTHER_ENDINGS, *FILE_ENDINGS)) or is_script(path) for path in listed.others)
    ):
        raise NoInputError("there is no YAML file in " + ", ".join(str(path) for path in paths))
    return listed


def _neighbours(
    tree: CheckedTree, given: GivenNodes | None, diagnostics: list[Diagnostic]
) -> frozenset[tuple[str, int]]:
    """What stands beside the stack of a cluster's profiles: findings, and the documents that describe nodes."""
    if given is None or given.planned is None:
        return frozenset()
    from poolsmith.project.run.neighbours import judge_neighbours_of  # on demand

    loaded, plan = given.planned
    result = judge_neighbours_of(tree, plan, loaded, Catalog())
    diagnostics.extend(result.diagnostics)
    return result.templates


def _not_rendered(workloads: Workloads, release: ReleaseValues, values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the chart stops at; what it refuses in its own words is a rule's."""
    from poolsmith.fleet.operands.chart.judgement import chart_errors, stack_chart_errors  # on demand

    chart, tag = release.paths.chart, release.tag
    is_operator = release.is_of_operator
    found = chart_errors(tag, values, workloads=workloads) if is_operator else stack_chart_errors(chart, tag, values)
    for error in found:
        if not error.refusal:
            yield error.path, error.message


def _refused(workloads: Workloads, release: str, values: dict[str, Any]) -> Iterator[Finding[ValuePlace]]:
    """What the API server would not take of what the chart renders."""
    from poolsmith.guard.rules.schema.rendered_values import refused_values  # on demand

    for item in refused_values(release, values, values, workloads=workloads):
        severity = Severity.WARNING if item.is_null else None  # `helm install` does not mind
        yield Finding(place=item.place, message=item.message, help=item.help, severity=severity)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a folder that nobody may enter, or a name that no file can have
        return False


def _with_pod_security(outcome: Outcome, tree: CheckedTree, standard: PodSecurityStandard) -> Outcome:
    from poolsmith.guard.rules.pod_security import judge_pod_security  # on demand

    result = judge_pod_security(tree, standard.level, standard.version)
    return replace(
        outcome,
        diagnostics=sorted_unique((*outcome.diagnostics, *result.diagnostics)),
        checked=outcome.checked | {f"Pod Security {standard} pods": result.judged},
        skipped=(*outcome.skipped, *result.skipped),
        not_evaluated=outcome.not_evaluated + result.not_evaluated,
    )


def with_opinion(outcome: Outcome, wanted: str, root: Path, results: Callable[[], Iterable[SchemaResult]]) -> Outcome:
    from poolsmith.guard.rules.schema.kubeconform import NOT_FOUND, find_binary, second_opinion  # on demand

    binary = find_binary(wanted)
    if binary is None:
        return replace(outcome, skipped=(*outcome.skipped, NOT_FOUND))
    opinion = second_opinion(binary, results(), lambda path: root / path)
    return replace(
        outcome,
        diagnostics=sorted_unique((*outcome.diagnostics, *opinion.diagnostics)),
        skipped=(*outcome.skipped, *opinion.skipped),
        facts=(*outcome.facts, f"kubeconform came to the same verdict on {opinion.agreed:,} objects"),
    )


def committed(root: Path, clusters: Sequence[str]) -> Iterator[SchemaResult]:
    """The output of each cluster, judged once more: a second opinion needs each object's verdict."""
    from poolsmith.fleet.profiles.load_cluster import load_cluster
    from poolsmith.project.run.project import CLUSTERS, FLEET, open_project  # on demand

    project = open_project(root)
    for files in project.select(clusters):
        cluster = load_cluster(project.tree, files, project.bases, project.rings).cluster
        if cluster is not None:
            tree = _tree_of(root, f"{CLUSTERS}/{files.name}")
            yield judge_schemas(tree, against_cluster(cluster, project.catalog), keep_verdicts=True)
    if not clusters:
        yield judge_schemas(_tree_of(root, FLEET), Against(), keep_verdicts=True)


def _tree_of(root: Path, folder: str) -> CheckedTree:
    """What is applied of a folder of the output. Files that can't be read are left out here, and reported elsewhere."""
    documents: list[CheckedDocument] = []
    base = _base(root)
    for path in _yaml_files(root / folder, []) if (root / folder).is_dir() else ():
        if path.is_relative_to(root / folder / "expected"):
            continue
        shown = _shown(path, base)
        content = read_bytes(path, shown, MAX_MANIFEST_BYTES)
        if not isinstance(content, Diagnostic):
            documents.extend(parse_documents(shown, content)[0])
    return CheckedTree(tuple(documents), frozenset(document.path for document in documents))


def _yaml_files(path: Path, failures: list[OSError]) -> Iterator[Path]:
    """Sorted; links to folders are not followed. A folder that can't be listed adds to `failures`."""
    if not path.is_dir():
        yield path
        return
    for folder, files in walk(str(path), _SKIPPED_FOLDERS.__contains__, failures.append):
        yield from (Path(folder, name) for name in files if name.endswith(YAML_ENDINGS))


def _shown(file: Path, base: str) -> str:
    """The path relative to the absolute folder `base` where it lies below it."""
    absolute = os.path.abspath(file)  # noqa: PTH100 - resolve() would follow links
    below = absolute[len(base) :] if absolute.startswith(base) else ""
    shown = below.lstrip(os.sep) if below[:1] == os.sep or base.endswith(os.sep) else absolute
    return shown.replace(os.sep, "/")


def _base(root: Path) -> str:
    return os.path.abspath(root)  # noqa: PTH100 - as above
