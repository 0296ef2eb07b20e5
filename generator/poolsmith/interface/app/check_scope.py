"""Which documents of a repository a run judges, what it leaves out, and the check of single files that a hook names.

A run judges the documents of the GPU stack, those that the user named, or all. Every file that was not judged is in the
summary. Each named file is judged for its own release: of other files only those near it are read, and findings are
reported for the named ones alone.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import NoInputError, UsageError, diagnose, sorted_unique, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes.schema import SCHEMA_VIOLATION
from poolsmith.core.diagnostics.message_text import counted, joined
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mappings, word
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.stack_objects import CHARTS, OPERATOR, is_of_stack, own_namespaces
from poolsmith.gpu.catalog.stack_words import is_about_gpus, may_be_of_stack, mentions
from poolsmith.gpu.values.values_places import values_of
from poolsmith.guard.rules.setup.repository_setups import asked, subscribed
from poolsmith.kubernetes.repository.manifest_files import (
    KUSTOMIZATION_NAMES,
    OTHER_LANGUAGES,
    YAML_ENDINGS,
    CheckedDocument,
    CheckedTree,
    Form,
    folders_above,
    is_encrypted,
    unfolded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.repository.delivered import ChartInstallation, Unknown, ValuesLayer
    from poolsmith.kubernetes.repository.model import RepositoryModel
    from poolsmith.kubernetes.repository.repository_files import Listed, RepositoryFile, RepositoryFiles


_PATCHED_BY_PARENTS = frozenset(("Kustomization", "HelmRelease"))
_LACKS = "lacks the required field"


@record(slots=False)
class Scope:
    """`named` are the files that the user named one by one. `namespaces` are those that the stack is installed in."""

    everything: bool
    named: frozenset[str]
    namespaces: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    """Where it is set, the other files are only read."""
    made: dict[str, frozenset[str]] = field(default_factory=dict)
    """What was looked up once."""

    def tells(self, path: str) -> bool:
        return self.only is None or path in self.only

    def has_finding(self, item: Diagnostic) -> bool:
        """Whether it is about a file that is judged. Where only a part of a repository is read, nobody can tell what a
        parent patches into Flux's objects: what they lack is not told."""
        if self.only is None:
            return True
        is_of_flux = item.subject.partition("/")[0] in _PATCHED_BY_PARENTS
        return self.tells(item.primary.span.path) and not (
            is_of_flux and item.code == SCHEMA_VIOLATION.code and _LACKS in item.message
        )

    def has_installation(self, item: ChartInstallation) -> bool:
        """Whether values of it, or the object that declares it, stand in files that are judged."""
        if self.only is None or item.document.path in self.only:
            return True
        return any(path in self.only for layer in item.layers for path in _paths_of(layer))

    def has(self, document: CheckedDocument) -> bool:
        layers = getattr(document, "layers", ())
        if not (self.tells(document.path) or any(self.tells(layer.source.path) for layer in layers)):
            return False
        if self.everything or document.path in self.named:
            return True
        parts = (replace(document, data=data) if pointer else document for pointer, data in unfolded(document))
        return any(is_of_stack(part, self.namespaces) for part in parts)

    def has_file(self, file: RepositoryFile) -> bool:
        """Whether what is wrong with a file as a whole is told: nobody knows which objects it would hold."""
        if self.everything or file.path in self.named:
            return True
        if not self.tells(file.path):
            return False
        text = file.text if file.text is not None else file.unread
        return mentions(text.encode()) or (bool(file.problems) and mentions(file.path.encode(errors="replace")))

    def has_unknown(self, unknown: Unknown, model: RepositoryModel) -> bool:
        """Whether the place speaks of the stack, or is a kustomization or a unit in it that brings some of it."""
        path = unknown.place.span.path
        if self.has_file(model.files.file(path)):
            return True
        brings = unknown.is_here or posixpath.basename(path) in KUSTOMIZATION_NAMES
        return brings and self.tells(path) and posixpath.dirname(path) in self._folders(model)

    def has_beside(self, unknown: Unknown, model: RepositoryModel) -> bool:
        """Whether a kustomization of which nobody reads a field stands beside files of the stack."""
        path = unknown.place.span.path
        is_formless = posixpath.basename(path) in KUSTOMIZATION_NAMES and unknown.place.span.start is None
        beside = model.files.files_in(posixpath.dirname(path)) if is_formless else ()
        yaml = (other for other in beside if other.endswith(YAML_ENDINGS))
        return self.tells(path) and any(self.has_file(model.files.file(other)) for other in yaml)

    def _folders(self, model: RepositoryModel) -> frozenset[str]:
        """Those with objects of the stack that something delivers."""
        known: frozenset[str] | None = self.made.get("folders")
        if known is None:
            own = (item for delivery in model.deliveries for item in delivery.objects if self.has(item))
            known = self.made["folders"] = frozenset(posixpath.dirname(item.path) for item in own)
        return known


def _paths_of(layer: ValuesLayer) -> Iterator[str]:
    """The file that values stand in; of a text that a generator takes from a file, that file."""
    yield layer.source.path
    for key in list(layer.values)[:1] if isinstance(layer.values, dict) else ():
        yield layer.source.locate(join(layer.pointer, key)).span.path


def scope_of(model: RepositoryModel, named: frozenset[str], *, everything: bool) -> Scope:
    namespaces = own_namespaces((item.chart, item.namespace) for item in model.all_installations)
    return Scope(everything=everything, named=named, namespaces=namespaces)


@record(kw_only=False)
class JudgedTree:
    """`version` is that of the operator's chart there, as it is written; None where nobody says it, or several."""

    tree: CheckedTree
    version: str | None
    of_cluster: bool
    """Whether an engine brings all of it to one cluster."""


def judged_trees(model: RepositoryModel, scope: Scope) -> Iterator[JudgedTree]:
    """What is judged: the objects of each cluster with the kustomizations that bring them, and what stands alone."""
    told: set[tuple[str, int]] = set()
    for delivery in model.deliveries:
        own = tuple(item for item in delivery.objects if scope.has(item))
        folders = {posixpath.dirname(item.path) for item in own}
        bringing = tuple(item for item in delivery.kustomizations if _brings(item, folders, scope))
        told.update((item.path, item.index) for item in delivery.kustomizations)
        if own or bringing:
            version = _version(delivery.installations) or _of_package(delivery.objects)
            yield JudgedTree(_tree((*own, *bringing), model), version, delivery.by_engine)
    loose = (item for item in model.loose.documents if scope.has(item) and (item.path, item.index) not in told)
    yield JudgedTree(_tree(tuple(loose), model), _version(model.installations), of_cluster=False)


def by_release(
    judged: JudgedTree, releases: Mapping[str, set[str | None]], model: RepositoryModel
) -> Iterator[tuple[CheckedTree, str | None]]:
    """In parts of one release each: what no engine brings is of the release in the nearest folder that has one, and
    what an engine leaves out of none.

    The folder of all files is too far away: what is in none nearer may belong to any cluster.
    """
    tree = judged.tree
    if judged.version is not None or judged.of_cluster or not tree.documents:
        yield tree, judged.version
        return
    parts: dict[str | None, list[CheckedDocument]] = {}
    for item in tree.documents:
        near = None if model.is_left_out(item.path) else _nearest(item, releases)
        parts.setdefault(near, []).append(item)
    for release, documents in parts.items():
        yield CheckedTree(tuple(documents), tree.paths), release


def releases_of(model: RepositoryModel) -> dict[str, set[str | None]]:
    """The versions of the operator's chart in each folder, with all that is below it, and those that OLM installs."""
    found: dict[str, set[str | None]] = {}
    charts = ((item.document.path, item.version) for item in model.all_installations if item.chart in OPERATOR)
    packages = ((item.path, version) for item in model.documents if (version := _of_package((item,))))
    for path, version in (*charts, *packages):
        for folder in folders_above(path):
            found.setdefault(folder, set()).add(version)
    return found


def _nearest(item: CheckedDocument, releases: Mapping[str, set[str | None]]) -> str | None:
    known = next((releases[folder] for folder in folders_above(item.path) if folder in releases), {None})
    return next(iter(known)) if len(known) == 1 else None


def _version(installations: tuple[ChartInstallation, ...]) -> str | None:
    found = {item.judged_by.one for item in values_of(installations, None)}
    return found.pop() if len(found) == 1 else None


def _of_package(objects: Iterable[CheckedDocument]) -> str | None:
    """The release that the operator lifecycle manager installs."""
    release = subscribed(objects)
    return asked(release).one if release else None


def _tree(documents: tuple[CheckedDocument, ...], model: RepositoryModel) -> CheckedTree:
    paths = {item.path for item in documents} | set(_resources(documents, model))
    return CheckedTree(documents, frozenset(paths))


def _brings(item: CheckedDocument, folders: set[str], scope: Scope) -> bool:
    """Whether a kustomization has an object of the stack in its own folder, or a chart of it."""
    charts = {word(chart.get("name")) for chart in mappings(item.data.get("helmCharts"))}
    return scope.has(item) or posixpath.dirname(item.path) in folders or not CHARTS.isdisjoint(charts)


def _resources(documents: Iterable[CheckedDocument], model: RepositoryModel) -> Iterator[str]:
    """What kustomizations name and what is there, beyond the files that were asked for too; beside what is not there,
    what else may be meant."""
    for item in documents:
        if not item.api_version.startswith("kustomize.config.k8s.io/"):
            continue
        folder = posixpath.dirname(item.path)
        listed = item.data.get("resources")
        for path in listed if isinstance(listed, list) else ():
            if not isinstance(path, str) or "://" in path:
                continue
            shown = posixpath.normpath(posixpath.join(folder, path))
            there = (shown, *(f"{shown}/{name}" for name in KUSTOMIZATION_NAMES))
            found = tuple(filter(model.files.is_file, there)) or ((shown,) if _is_made_of(shown, model.files) else ())
            yield from found or (model.files.files_in(posixpath.dirname(shown)) if not shown.startswith("../") else ())


_TEMPLATE_ENDINGS = ("template", "tmpl", "tpl", "tftpl", "j2", "jinja2", "in", "example", "sample", "dist")


def _is_made_of(path: str, files: RepositoryFiles) -> bool:
    """Whether a template of a file stands beside it: `a.yaml.template`, `a.template.yaml`."""
    stem, dot, ending = path.rpartition(".")
    names = ((f"{path}.{mark}", f"{stem}.{mark}{dot}{ending}") for mark in _TEMPLATE_ENDINGS)
    return bool(dot) and any(files.is_file(name) for pair in names for name in pair)


_MOST_SKIPPED = 5
_ALWAYS = frozenset((reading.LINK_OUT_OF_TREE.code, reading.UNREADABLE_FILE.code))
"""Nobody can tell what such a file would say."""


def file_problems(paths: Iterable[str], files: RepositoryFiles, scope: Scope) -> Iterator[Diagnostic]:
    """What is wrong with files as such, of those that may be of the stack."""
    for path in paths:
        file = files.file(path)
        is_told = bool(file.problems) and (_may_hold_some(file, scope) or _builds_some(path, files, scope))
        yield from (problem for problem in file.problems if is_told or problem.code in _ALWAYS)


def _builds_some(path: str, files: RepositoryFiles, scope: Scope) -> bool:
    """Whether a kustomization stands beside files of the stack."""
    folder, _, name = path.rpartition("/")
    is_asked = name in KUSTOMIZATION_NAMES and scope.tells(path)
    return is_asked and any(mentions((files.text(beside) or "").encode()) for beside in files.files_in(folder))


def _may_hold_some(file: RepositoryFile, scope: Scope) -> bool:
    """Whether something of the stack is in a file, or may be in what can't be read. A word in a comment, or in an
    object of something else, is none."""
    if not scope.has_file(file):
        return False
    is_asked_for = scope.everything or file.path in scope.named
    if is_asked_for or not file.documents or any(item.is_incomplete for item in file.documents):
        return True
    said = mentions(_COMMENT.sub("", file.text or "").encode())
    return any(scope.has(item) if item.is_object else said for item in file.documents)


_COMMENT = pattern(r"^[ \t]*#.*$", re.MULTILINE)


@record(kw_only=False)
class LeftOut:
    """`unknown`: how many things of the stack could not be evaluated. `named` are documents of files that the user
    named, and that are nothing to judge."""

    skipped: tuple[Skipped, ...]
    unknown: int
    others: int
    named: tuple[Skipped, ...]
    searched: int = 0
    """How many files there are, where a search was enough for some of them."""

    @property
    def is_nothing(self) -> bool:
        """Whether there was something, and nothing of it could be judged."""
        return bool(self.named or self.others or self.searched) and not self.unknown

    def nothing(self, release: str | None) -> str:
        """Of files that hold neither objects nor values: a green run over them would mislead."""
        if not self.named:
            where = counted(self.searched, "file") if self.searched else counted(self.others, "object")
            return f"nothing of the GPU stack is in {where}; --all checks whatever is there"
        found = joined([f"{item.what}: {item.reason}" for item in self.named], _MOST_SKIPPED, "; ")
        values = "" if release else "; for Helm values of the gpu-operator chart, say which with --release"
        return f"nothing was checked: {found}{values}"


def left_out(
    model: RepositoryModel,
    listed: Listed,
    scope: Scope,
    judged: set[tuple[str, int]],
    told: set[tuple[str, int]],
    unread: frozenset[str] = frozenset(),
) -> LeftOut:
    """`judged` are the objects that were judged, `told` further documents that were, by path and index; of the `unread`
    files a search was enough."""
    named: list[Skipped] = []
    others = parts = no_objects = 0
    own = (item for item in model.all_installations if item.chart in CHARTS)
    claimed = {layer.source.path for item in own for layer in item.layers}
    for document in model.documents:
        place = (document.path, document.index)
        if place in judged or place in told or document.path in claimed or not scope.tells(document.path):
            continue
        if document.path in model.parts:
            parts += 1
        elif document.is_object:
            others += 1
        elif document.path in scope.named or scope.everything:
            named.append(Skipped(document.path, f"document {document.index + 1} has no apiVersion and kind"))
        else:
            no_objects += 1
    read = tuple(path for path in listed.yaml if path not in unread)
    not_read = tuple(_not_read(model, read, listed, scope))
    skipped = [*named, *_forms(model, read, listed.others, scope), *not_read]
    if unread:
        skipped.append(Skipped(counted(len(unread), "file"), "without a word of the GPU stack; --all checks them too"))
    if others:
        skipped.append(Skipped(counted(others, "object"), "not of the GPU stack; --all checks them too"))
    if no_objects:
        skipped.append(Skipped(counted(no_objects, "document"), "no objects of Kubernetes", by_design=True))
    if parts:
        skipped.append(Skipped(counted(parts, "document"), "patches and the like, judged where they are applied", True))
    unknown = tuple(_unknown(model, scope))
    skipped += [Skipped(str(item.place.span), f"unknown: {item.what}") for item in unknown]
    templates = sum(_is_template_of_stack(model, path, scope) for path in read)
    if templates:
        what = f"{counted(templates, 'template')} with words of the GPU stack"
        skipped.append(Skipped(what, "only their tools render them; check what `helm template` prints"))
    return LeftOut(
        tuple(skipped),
        len(unknown) + templates + len(not_read),
        others + no_objects,
        tuple(named),
        len(listed.yaml) if unread else 0 if listed.yaml else len(listed.others),
    )


def _is_template_of_stack(model: RepositoryModel, path: str, scope: Scope) -> bool:
    file = model.files.file(path)
    return file.form in (Form.CHART_TEMPLATE, Form.TEMPLATE) and scope.has_file(file)


_UNREAD_ENDINGS = {
    **dict.fromkeys(
        (".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".gotmpl", ".erb"), "a template, which its tool renders"
    ),
    **dict.fromkeys((".jsonnet", ".libsonnet", ".cue"), "another language, which its tool renders"),
    **dict.fromkeys((".YAML", ".YML"), "a name that no tool takes for YAML"),
    "terragrunt.hcl": "Terragrunt, whose inputs are not read",
    ".yaml.gz": "compressed",
}
_MOST_LOOKED_AT = 1 << 20


def _not_read(model: RepositoryModel, yaml: Iterable[str], listed: Listed, scope: Scope) -> Iterator[Skipped]:
    """Files with words of the stack that nobody can read, or that no rule reads; folders that are not here."""
    for path in listed.others:
        why = next((why for end, why in _UNREAD_ENDINGS.items() if path.endswith(end)), None)
        if why is None or model.files.chart_of_template(path) is not None or not scope.tells(path):
            continue
        content = model.files.content(path)
        said = content if isinstance(content, bytes) and len(content) <= _MOST_LOOKED_AT else b""
        if mentions(path.encode(errors="replace")) or may_be_of_stack(said):
            yield Skipped(path, f"not judged: {why}")
    for path in yaml:
        file = model.files.file(path)
        hidden = any(is_encrypted(item.data) and not item.is_object for item in file.documents)
        if hidden and scope.tells(path) and may_be_of_stack((file.text or "").encode()):
            yield Skipped(path, "not judged: encrypted by SOPS")
    elsewhere = (*listed.links, *model.files.submodules) if scope.only is None else ()
    for path in elsewhere:
        if path in listed.links:
            yield Skipped(path, "not judged: a link to a folder outside of what is checked")
        elif not model.files.files_in(path) and not model.files.folders_in(path):
            yield Skipped(path, "not judged: a submodule that is not checked out")


def _forms(model: RepositoryModel, yaml: Iterable[str], others: Iterable[str], scope: Scope) -> Iterator[Skipped]:
    files_of: Counter[str] = Counter()
    for path in yaml:
        file = model.files.file(path)
        if file.form is not None:
            files_of[file.form] += 1
        elif any(problem.code not in _ALWAYS for problem in file.problems) and not scope.has_file(file):
            files_of["can't be read, and say nothing of the GPU stack"] += 1
        elif any(is_encrypted(document.data) for document in file.documents):
            files_of["encrypted by SOPS"] += 1
    for path in others:
        form = OTHER_LANGUAGES.get(posixpath.splitext(path)[1])
        if form is not None:
            files_of[form] += 1
    for reason, count in sorted(files_of.items()):
        yield Skipped(counted(count, "file"), reason, by_design=True)


def _unknown(model: RepositoryModel, scope: Scope) -> Iterator[Unknown]:
    """What keeps something of the stack from being judged, each place once."""
    of_charts = (found for item in model.all_installations if item.chart in CHARTS for found in item.unknown)
    seen = {_key(item) for delivery in model.deliveries for item in delivery.refused}  # told as errors
    for item in (*of_charts, *(found for found in model.unknown if scope.has_unknown(found, model))):
        if _key(item) not in seen:
            seen.add(_key(item))
            yield item


def _key(item: Unknown) -> str:
    return f"{item.place.span} {item.what}"


def check_named_files(
    root: Path, paths: Sequence[Path], judge: Callable[[Sequence[Path], frozenset[str]], Outcome]
) -> Outcome:
    """`judge` reads files, and tells findings of those whose shown paths it is given.

    Files that have nothing to do with GPUs are counted. Raises UsageError for what is no file.
    """
    leading_out = [path for path in paths if _leads_out(path)]
    for path in paths:
        if path not in leading_out and (path.is_dir() or not os.path.lexists(path)):
            raise UsageError(f"--hook takes files, and `{path}` is none")
    outcome = _check_named(root, [path for path in paths if path not in leading_out], judge, len(paths))
    told = (diagnose(reading.LINK_OUT_OF_TREE, _LEADS_OUT, whole_file(_shown(root, path))) for path in leading_out)
    return replace(outcome, diagnostics=sorted_unique((*outcome.diagnostics, *told)))


_LEADS_OUT = "a link on the way to this file leads out of the repository: nothing of it is read"


def _leads_out(path: Path) -> bool:
    """Of the repository that the path is written in; without one, of the folder that it begins in."""
    written = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    top = next((folder for folder in written.parents if os.path.lexists(folder / ".git")), Path.cwd())
    return not Path(os.path.realpath(written)).is_relative_to(os.path.realpath(top))


def _shown(root: Path, path: Path) -> str:
    written, top = os.path.abspath(path), os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links
    return os.path.relpath(written, top) if written.startswith(f"{top}{os.sep}") else str(path)


def _check_named(
    root: Path, paths: Sequence[Path], judge: Callable[[Sequence[Path], frozenset[str]], Outcome], asked: int
) -> Outcome:
    about = [path for path in paths if _is_about_gpus(path)]
    said = f"{len(about):,} of {counted(asked, 'file')} may have to do with GPUs"
    if not about:
        return Outcome(checked={"manifest files": 0}, facts=(said,))
    from poolsmith.kubernetes.repository.near_files import NearFiles  # on demand
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

    files = RepositoryFiles(root, paths)
    near = NearFiles(os.path.abspath(root), files, mentions)  # noqa: PTH100 - resolve() would follow links
    named = {files.shown(path): path for path in about}
    others = dict.fromkeys(found for path in named for found in near.of(path) if found not in named)
    try:
        outcome = judge([*named.values(), *(root / path for path in others)], frozenset(named))
    except NoInputError:
        outcome = Outcome(checked={"manifest files": len(named)})
    return replace(outcome, facts=(*outcome.facts, said))


def _is_about_gpus(path: Path) -> bool:
    """By its name or its text; what can't be read may be."""
    if is_about_gpus(os.fsencode(path)):
        return True
    try:
        return not path.is_file() or is_about_gpus(path.read_bytes())
    except OSError:
        return True
