"""The rules over what stands beside the GPU stack: in files that a profile names, and in anyone's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import outside as codes
from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join
from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
from poolsmith.guard.rules.beside.registry import BESIDE_RULES
from poolsmith.kubernetes.repository.manifest_files import YAML_ENDINGS, CheckedDocument, CheckedTree, parse_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.project.run.cluster_run import ClusterRun
    from poolsmith.project.run.project import Project


_MOST_BYTES = 4 << 20
_MOST_FILES = 5_000
_BESIDE = "/spec/beside"


@record
class NeighbourResult:
    """`templates` are documents that describe nodes, by file and index; `files` how many files were read."""

    diagnostics: tuple[Diagnostic, ...] = ()
    templates: frozenset[tuple[str, int]] = frozenset()
    files: int = 0


def judge_neighbours_of(
    tree: CheckedTree, plan: ClusterPlan, loaded: LoadedCluster, catalog: Catalog, *, is_named: bool = False
) -> NeighbourResult:
    """Files beside one cluster's plan; `is_named`: its profile names them."""
    layers = {item.pool.name: item.layers for item in loaded.pools}
    pools = tuple(NeighbourPool(plan=pool, place=layers[pool.name].locate) for pool in plan.pools)
    view = NeighbourView(catalog=catalog, plan=plan, pools=pools, tree=tree, is_named=is_named)
    found = run_rules(BESIDE_RULES, view, plan.name, by_file=True)
    documents = (match.template.document for match in view.matches)
    return NeighbourResult(
        diagnostics=found,
        templates=frozenset((document.path, document.index) for document in documents),
        files=len(tree.paths),
    )


def judge_neighbours(project: Project, run: ClusterRun) -> NeighbourResult:
    """The files that the cluster's profile names."""
    file, cluster = run.loaded.file, run.loaded.cluster
    if run.plan is None or file is None or cluster is None or not cluster.spec.beside:
        return NeighbourResult()
    documents: list[CheckedDocument] = []
    problems: list[Diagnostic] = []
    paths: dict[str, None] = {}
    for path in _files(project.tree, cluster.spec.beside, file, problems):
        if path in paths:
            continue
        paths[path] = None
        text = project.tree.read_text(path, limit=_MOST_BYTES)
        if isinstance(text, Diagnostic):
            problems.append(text)
            continue
        found, problem = parse_documents(path, text.encode())
        documents += found
        problems += [problem] if problem is not None else []
    tree = CheckedTree(tuple(documents), frozenset(paths))
    result = judge_neighbours_of(tree, run.plan, run.loaded, project.catalog, is_named=True)
    return NeighbourResult(diagnostics=(*problems, *result.diagnostics), templates=result.templates, files=result.files)


def _files(tree: InputTree, named: tuple[str, ...], file: SourceFile, problems: list[Diagnostic]) -> Iterator[str]:
    """YAML files at and below the paths; a path without any is a mistake."""
    left = _MOST_FILES
    for index, path in enumerate(named):
        place = join(_BESIDE, index)
        found = 0
        for name in [path] if (tree.root / path).is_file() else _below(tree, path, problems):
            found += 1
            if left <= 0:
                message = f"more than {_MOST_FILES:,} files; those of `{path}` from `{name}` on are not read"
                problems.append(diagnose(codes.NOTHING_BESIDE, message, file.locate(place)))
                return
            left -= 1
            yield name
        if not found:
            what = "has no YAML file" if (tree.root / path).is_dir() else "does not exist"
            problems.append(
                diagnose(
                    codes.NOTHING_BESIDE,
                    f"`{path}` {what}",
                    file.locate(place),
                    help="paths begin at the folder that has `profiles/`",
                )
            )


def _below(tree: InputTree, folder: str, problems: list[Diagnostic]) -> Iterator[str]:
    if not (tree.root / folder).is_dir():
        return
    pending, seen = [folder], 0
    while pending:
        seen += 1
        if seen > _MOST_FILES:
            return
        current = pending.pop()
        listing = tree.listing(current)
        problems.extend(listing.problems)
        pending.extend(f"{current}/{name}" for name in reversed(listing.folders))
        yield from (f"{current}/{name}" for name in listing.files if name.endswith(YAML_ENDINGS))
