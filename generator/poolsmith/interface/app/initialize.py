"""Use case: a new project in an empty repository, or what an existing one lacks. Nothing that exists is changed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from poolsmith.change.takeover.node_answers import TakeoverAnswers
from poolsmith.core.diagnostics import Diagnostic, UsageError, WriteError
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, RELATIVE_PATH, TEXT, matches
from poolsmith.core.sources.input_tree import decoded, read_bytes
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.profiles.cluster import API_SERVER, ArgoDestination
from poolsmith.fleet.profiles.fleet import CLUSTER_FILE, PROFILES, SCHEMAS
from poolsmith.guard.policies.policy_files import POLICIES, PRIVILEGES, SUPPLY
from poolsmith.interface.app.new_files import write_new_files
from poolsmith.interface.app.schemas import policy_schema_files, schema_files
from poolsmith.interface.app.starter_files import cluster_text, policy_texts, pool_text, repository_files
from poolsmith.project.run.generated_folder import refuse_links
from poolsmith.project.run.surroundings import FLUX_NAMESPACE, Forge, Surroundings, https_address, look_around

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from poolsmith.interface.app.starter_files import StarterFile
    from poolsmith.project.run.surroundings import FluxSource

_BRANCH = "main"
_ENGINE = "argocd"
_FLUX = "flux"
_HTTPS = "https://"
_NAME = "gpu-cluster"
_OUTPUT = "output"
_POOL_FILE = "gpu.yaml"
_MOST_BYTES = 1 << 20


@record
class Initialized:
    """Paths that were written, and those that were there and were left alone.

    `found`: what was detected, a line each; `to_add`: lines that a kept file lacks; `to_fill`: what only a person
    knows, with its place.
    """

    written: tuple[str, ...]
    kept: tuple[str, ...]
    cluster: str | None = None
    found: tuple[str, ...] = ()
    to_add: tuple[tuple[str, str], ...] = ()
    to_fill: tuple[str, ...] = ()
    has_grants: bool = False


def initialize(
    root: Path,
    cluster: str | None = None,
    *,
    engine: str | None = None,
    destination: str | None = None,
    profiles: Mapping[str, str] | None = None,
    answers: TakeoverAnswers | None = None,
) -> Initialized:
    """Write a cluster with one pool, policies, hooks, a pipeline, owners, and what reviews fold.

    Without a name the cluster has the folder's; a project that has clusters gets no further one. `destination` is the
    name or the server by which Argo CD knows the cluster; without it the first one is where Argo CD runs, and each
    further one is known by its own name. `profiles` are texts by their paths that stand in the place of the first
    cluster's; `answers` are what somebody said of the nodes. Raises UsageError, WriteError.
    """
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    if cluster is not None and not matches(DNS_LABEL, cluster):
        raise UsageError(f"`{cluster}` is no cluster name: use lower-case letters, digits and `-`, at most 63")
    around = look_around(root)
    new = None if profiles is not None else cluster or (None if _clusters(root) else name_of(root))
    there = _there(root, new)
    if there:
        new = None  # it has its pools, and no sample is put beside them
    if answers is not None and new is None:
        raise UsageError("the flags about nodes are for a new cluster: name one, or edit the profiles that are there")
    written = _destination(root, around, new, engine or _value(around.engine, _ENGINE), destination)
    files = repository_files(around, _value(around.branch, _BRANCH)) if not around.prefix else ()
    folders = {path.rpartition("/")[0] for path in profiles or ()} | ({f"{PROFILES}/{new}"} if new else set())
    _refuse_links(root, folders, files)
    project = _Writer(root)
    project.kept += there
    first = _profiles(around, new, engine, written, answers) if profiles is None else dict(profiles)
    project.add(first, {f"{PROFILES}/{SCHEMAS}/{n}": t for n, t in schema_files().items()})
    policies = policy_texts()
    project.add(
        policies if not (root / POLICIES).exists() else {},
        {f"{POLICIES}/{SCHEMAS}/{name}": text for name, text in policy_schema_files().items()},
    )
    missing = [file for file in files if not _stands(root, file)]
    project.add({file.path: file.text for file in missing}, {})
    project.write()
    has_supply = os.path.lexists(root / SUPPLY)
    unsupplied = project.add_supply()
    kept = [file for file in files if file not in missing]
    return Initialized(
        written=tuple(project.written),
        kept=tuple(project.kept) + tuple(path for file in kept if (path := _standing(root, file)) is not None),
        cluster=new,
        found=(
            *_found(around, new, engine, missing),
            *(_further(root) if (cluster, new, profiles) == (None, None, None) else ()),
        ),
        to_add=(
            *((_standing(root, file) or file.path, lines) for file in kept if (lines := _lacking(root, file))),
            *(((SUPPLY, _allowed(new, written)),) if has_supply and new is not None and written is not None else ()),
        ),
        to_fill=tuple(_to_fill(around, new, missing, written, is_told=destination is not None)) + unsupplied,
        has_grants=(root / PRIVILEGES).is_dir(),
    )


def _there(root: Path, cluster: str | None) -> list[str]:
    """The files of a cluster that has its profile already."""
    if cluster is None or not os.path.lexists(root / PROFILES / cluster / CLUSTER_FILE):
        return []
    paths = (f"{PROFILES}/{cluster}/{name}" for name in (CLUSTER_FILE, _POOL_FILE))
    return [path for path in paths if os.path.lexists(root / path)]


class _Writer:
    """Collects texts for paths where nothing stands; what stands is kept."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, str] = {}
        self._old: dict[str, str] = {}
        self.written: list[str] = []
        self.kept: list[str] = []

    def add(self, texts: dict[str, str], generated: dict[str, str]) -> None:
        """Generated ones of another version are replaced; another file never is."""
        for path, text in texts.items():
            if os.path.lexists(self._root / path):
                self.kept.append(path)
            else:
                self._texts[path] = text
        for path, text in generated.items():
            target = self._root / path
            if not os.path.lexists(target):
                self._texts[path] = text
            elif target.is_file() and not target.is_symlink() and target.read_bytes() != text.encode():
                self._old[path] = text

    def write(self) -> None:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(f"can't make {self._root}: {error.strerror or error}") from error
        write_new_files(self._root, self._texts)
        self.written += self._texts
        for path, text in self._old.items():
            try:
                (self._root / path).write_text(text, "utf-8")
            except OSError as error:
                raise WriteError(f"can't write {path}: {error.strerror or error}") from error
        self.written += self._old
        self._texts, self._old = {}, {}

    def add_supply(self) -> tuple[str, ...]:
        """From the profiles that stand there now. What keeps the policy from being made, if something does."""
        from poolsmith.interface.app.supply import proposed_supply  # on demand: the only part that plans clusters

        if os.path.lexists(self._root / SUPPLY):
            self.kept.append(SUPPLY)
            return ()
        proposal = proposed_supply(self._root)
        if not proposal.text:
            return (f"{SUPPLY}: the profiles have errors; once they are right, run `poolsmith supply --write`",)
        self._texts = {SUPPLY: proposal.text}
        self.write()
        return (f"{SUPPLY}: who answers for {proposal.unknown} unknown",) if proposal.unknown else ()


def _destination(
    root: Path, around: Surroundings, cluster: str | None, engine: str, given: str | None
) -> ArgoDestination | None:
    """Where Argo CD delivers a new cluster to; None where its profile need not say so. Raises UsageError."""
    path = f"{PROFILES}/{cluster}/{CLUSTER_FILE}"
    is_new = cluster is not None and not os.path.lexists(root / path)
    if given is not None and (not is_new or engine != _ENGINE):
        why = f"{path} stands there already" if cluster else "there is none"
        raise UsageError(
            f"--destination is for a new cluster of Argo CD: {why if not is_new else f'this is of {engine}'}"
        )
    if cluster is None or not is_new or engine != _ENGINE:
        return None
    others = [item for item in around.argo_clusters if item.cluster != cluster]
    if given is None and not others:
        return None
    found = (
        ArgoDestination(server=given) if (given or "").startswith(_HTTPS) else ArgoDestination(name=given or cluster)
    )
    if not matches(API_SERVER if found.server else TEXT, found.server or found.name or ""):
        raise UsageError(
            "--destination is the name that Argo CD has of the cluster, or the https address of its server"
        )
    for other in others:
        if (other.instance, other.target) == ("", found.target):
            raise UsageError(
                f"Argo CD delivers the cluster {other.cluster} to {found.target.where} already: say with --destination "
                f"where {cluster} is"
            )
    return found


def _written(destination: ArgoDestination) -> dict[str, str]:
    return {"name": destination.name} if destination.name else {"server": destination.server or ""}


def _allowed(cluster: str, destination: ArgoDestination) -> str:
    """An entry of `deliveries`; only the owners of the policy may say that it is right."""
    where = {} if destination.target.is_own_cluster else _written(destination)
    return f"# below `deliveries`, for its owners\n{emit([{'clusters': [cluster], **where}])}"


def _profiles(
    around: Surroundings,
    cluster: str | None,
    engine: str | None,
    destination: ArgoDestination | None,
    answers: TakeoverAnswers | None,
) -> dict[str, str]:
    if cluster is None:
        return {}
    path = f"{around.prefix}{_OUTPUT}"
    more = f"    path: {path}\n" if around.prefix and matches(RELATIVE_PATH, path) else ""
    if destination is not None:
        more += f"    destination:\n      {emit(_written(destination))}"
    chosen = engine or _value(around.engine, _ENGINE)
    address = around.address.value if around.address is not None else None
    if chosen == _FLUX and address is not None and not address.startswith(_HTTPS):
        if around.source is not None:
            more += _source_ref(around.source)
        else:
            address = https_address(address)
    said = answers or TakeoverAnswers()
    branch = _value(around.branch, _BRANCH)
    text = cluster_text(cluster, said, engine=chosen, address=address, branch=branch, more=more)
    return {f"{PROFILES}/{cluster}/cluster.yaml": text, f"{PROFILES}/{cluster}/{_POOL_FILE}": pool_text(said)}


def _source_ref(source: FluxSource) -> str:
    """What Flux has with its credentials already, where it reads the repository by SSH."""
    namespace = "" if source.namespace == FLUX_NAMESPACE else f"      namespace: {source.namespace}\n"
    return f"    sourceRef:\n      name: {source.name}\n{namespace}"


def _value(detected: object, otherwise: str) -> str:
    return str(getattr(detected, "value", otherwise))


def _clusters(root: Path) -> list[str]:
    try:
        return sorted(path.parent.name for path in (root / PROFILES).glob("*/cluster.yaml") if path.is_file())
    except OSError:
        return []


def _further(root: Path) -> Iterator[str]:
    if known := _clusters(root):
        yield f"{counted(len(known), 'cluster')}: {listed(known)}; a further one is `poolsmith init NAME`"


def name_of(root: Path) -> str:
    """What a cluster is called after its folder."""
    name = re.sub(r"[^a-z0-9]+", "-", root.resolve().name.lower()).strip("-")[:63].strip("-")
    return name if matches(DNS_LABEL, name) else _NAME


def _refuse_links(root: Path, of_clusters: set[str], files: tuple[StarterFile, ...]) -> None:
    """Before anything is written: folders that are links or files. Raises WriteError."""
    folders = [f"{PROFILES}/{SCHEMAS}", f"{POLICIES}/{SCHEMAS}", *sorted(of_clusters)]
    refuse_links(root, (*folders, *(file.path.rpartition("/")[0] for file in files if "/" in file.path)))


def _standing(root: Path, file: StarterFile) -> str | None:
    return next((path for path in (file.path, *file.others) if os.path.lexists(root / path)), None)


def _stands(root: Path, file: StarterFile) -> bool:
    return _standing(root, file) is not None


def _lacking(root: Path, file: StarterFile) -> str:
    """Lines that a file of the user's has not; nothing of one that can't be read, or names poolsmith already."""
    path = _standing(root, file) or file.path
    content = read_bytes(root / path, path, _MOST_BYTES)
    text = content if isinstance(content, Diagnostic) else decoded(content, path)
    if isinstance(text, Diagnostic):
        return file.lines
    if "poolsmith" in text and "poolsmith" in file.lines and path != ".gitattributes":
        return ""
    present = {" ".join(line.split()) for line in text.splitlines()}
    if path.endswith(".gitattributes"):
        return "".join(f"{line}\n" for line in file.lines.splitlines() if " ".join(line.split()) not in present)
    return "" if {" ".join(line.split()) for line in file.lines.splitlines()} <= present else file.lines


def _found(around: Surroundings, cluster: str | None, engine: str | None, missing: list[StarterFile]) -> list[str]:
    """What a profile or a pipeline took from the repository, and from where."""
    found = []
    if cluster is not None and around.address is not None:
        found.append(f"repository {around.address.value}, from {around.address.source}")
    if around.branch is not None and (cluster is not None or missing):
        found.append(f"branch {around.branch.value}, from {around.branch.source}")
    chosen = engine or _value(around.engine, _ENGINE)
    by_ssh = around.address is not None and not around.address.value.startswith(_HTTPS)
    if cluster is not None and chosen == _FLUX and around.source is not None and by_ssh:
        found.append(f"source {around.source.name}, from {around.source.file}")
    if cluster is not None and engine is None and around.engine is not None:
        found.append(f"engine {around.engine.value}, from {around.engine.source}")
    if around.tool is not None and missing:
        found.append(f"poolsmith at commit {around.tool.source} of {around.tool.value}, from what pip installed")
    return found


def _to_fill(
    around: Surroundings,
    cluster: str | None,
    missing: list[StarterFile],
    destination: ArgoDestination | None,
    *,
    is_told: bool,
) -> list[str]:
    rows = []
    if cluster is not None:
        if destination is not None and not is_told:
            rows.append(
                f"{PROFILES}/{cluster}/cluster.yaml: the destination, where Argo CD does not know the cluster by the "
                f"name {destination.name}, or where another Argo CD delivers it"
            )
        if around.address is None:
            rows.append(f"{PROFILES}/{cluster}/cluster.yaml and {SUPPLY}: the address of this repository")
    rows += [f"{file.path}: {file.to_fill}" for file in missing if file.to_fill]
    if around.prefix:
        rows.append("the top of the repository: hooks, pipeline and owners stand there, see docs/ci.md of poolsmith")
    elif around.forge is Forge.OTHER:
        rows.append("a pipeline: the forge is not known, see docs/ci.md of poolsmith for what it has to run")
    return rows
