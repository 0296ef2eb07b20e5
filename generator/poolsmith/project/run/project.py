"""A project on disk: where profiles, policies and output are, and what is loaded once for all clusters.

The output stands beside the profiles, in another folder (a work tree of another branch or repository, an artefact that
was pulled), or in a git revision.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import NoInputError, UsageError
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.plan.alike import AlikeFindings, AlikePlans
from poolsmith.fleet.profiles.bases import Bases, load_bases
from poolsmith.fleet.profiles.fleet import PROFILES, ClusterFiles, FleetFiles, find_fleet
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.guard.policies.policies import Policies
from poolsmith.project.output.prediction import PredictionTexts
from poolsmith.project.run.facts import packs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.driver import DriverImageListSpec
    from poolsmith.fleet.profiles.rings_and_teams import Rings
    from poolsmith.guard.ledger.grant_check import GrantJudge
    from poolsmith.guard.policies.admission_check import AdmissionReviews
    from poolsmith.guard.policies.supply.supply_policy import SupplyPolicy
    from poolsmith.project.run.generated_folder import FolderFindings


OUTPUT = "output"
CLUSTERS = f"{OUTPUT}/clusters"
FLEET = f"{OUTPUT}/fleet"


@record(kw_only=False, slots=False)
class Project:
    """A root folder that has `profiles/`.

    `judged_by` is another folder with `policies/`, when findings are to be judged by those and not by the project's.
    `first_supply`: where that one has no supply policy, the project's is taken, since somebody has accepted it.
    `output_at`: the folder that holds `output/`, where that is not the root.
    """

    root: Path
    judged_by: Path | None = None
    first_supply: bool = False
    output_at: Path | None = None

    def __reduce__(self) -> tuple[type[Project], tuple[Path, Path | None, bool, Path | None]]:
        """Another process gets the folders, and reads on demand what it needs."""
        return Project, (self.root, self.judged_by, self.first_supply, self.output_at)

    @cached_property
    def tree(self) -> InputTree:
        return InputTree(self.root)

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog()

    @cached_property
    def pack_problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong with packs of facts; those that are sound hold as long as a use case runs."""
        return packs_of(self.root)[1]

    @cached_property
    def fleet(self) -> FleetFiles:
        found = find_fleet(self.tree)
        problems = self.pack_problems
        return replace(found, problems=(*found.problems, *problems)) if problems else found

    @cached_property
    def bases(self) -> Bases:
        return load_bases(self.tree, self.fleet.bases)

    @cached_property
    def unsound_bases(self) -> frozenset[str]:
        """Names of bases whose own files have mistakes; what extends them can't be judged."""
        paths = {problem.primary.span.path for problem in self.bases.problems}
        return frozenset(name for name, file in self.bases.files.items() if file.path in paths)

    @cached_property
    def driver_images(self) -> tuple[DriverImageListSpec | None, tuple[Diagnostic, ...]]:
        """The list of known driver images when there is one and it is sound, and all that is wrong with it."""
        from poolsmith.fleet.profiles.driver import load_driver_images  # on demand

        path = self.fleet.driver_images
        return (None, ()) if path is None else load_driver_images(self.tree, path)

    @cached_property
    def rings(self) -> Rings | None:
        """The order of rings, and what is wrong with it; None without a file."""
        if self.fleet.rings is None:
            return None
        from poolsmith.fleet.profiles.rings_and_teams import load_rings  # on demand

        return load_rings(self.tree, self.fleet.rings)

    @cached_property
    def plans(self) -> AlikePlans:
        return AlikePlans(self.catalog)

    @cached_property
    def predictions(self) -> Predictions:
        return Predictions(self.catalog)

    @cached_property
    def alike_findings(self) -> AlikeFindings:
        return AlikeFindings()

    @cached_property
    def faultless(self) -> dict[bytes, FolderFindings]:
        """Of folders that are alike, what was found in one."""
        return {}

    @cached_property
    def texts(self) -> PredictionTexts:
        return PredictionTexts()

    @cached_property
    def policies(self) -> Policies:
        """What is generated from, and shipped."""
        return Policies(self.root)

    @cached_property
    def judging_policies(self) -> Policies:
        """What findings are judged by."""
        return self.policies if self.judged_by is None else Policies(self.judged_by)

    @property
    def judging_supply(self) -> SupplyPolicy:
        """Where things may come from, and what is accepted."""
        judging = self.judging_policies
        takes_own = self.first_supply and judging.files.supply is None
        return self.policies.supply if takes_own else judging.supply

    @cached_property
    def admission_reviews(self) -> AdmissionReviews:
        from poolsmith.guard.policies.admission_check import AdmissionReviews  # on demand

        return AdmissionReviews(self.judging_policies.admission[0])

    @cached_property
    def grant_judge(self) -> GrantJudge:
        from poolsmith.guard.ledger.grant_check import GrantJudge  # on demand

        policies = self.judging_policies
        return GrantJudge(policies.book, are_kept=policies.files.has_privileges)

    def beside(self, other: Project) -> Project:
        """This project, where what follows from the same input is made once for both. Their catalog is the same."""
        vars(self).update(catalog=other.catalog, predictions=other.predictions, texts=other.texts)
        return self

    @property
    def folders(self) -> tuple[Path, ...]:
        """All that work on its clusters reads and writes."""
        others = (self.judged_by, self.output_at)
        return (self.root, self.root / PROFILES, *(folder for folder in others if folder is not None))

    @property
    def clusters_folder(self) -> Path:
        return self.output_root / CLUSTERS

    @property
    def output_root(self) -> Path:
        """The folder that holds `output/`."""
        return self.root if self.output_at is None else self.output_at

    def select(self, names: Sequence[str]) -> tuple[ClusterFiles, ...]:
        """The clusters to work on; all when none is named. Raises NoInputError, UsageError."""
        clusters = self.fleet.clusters
        if not clusters and not self.fleet.problems:
            raise NoInputError(
                f"there are no profiles below {self.root / PROFILES}; `poolsmith init` makes the first ones"
            )
        if not names:
            return clusters
        known = {cluster.name: cluster for cluster in clusters}
        for name in names:
            if name not in known:
                raise UsageError(f"there is no cluster `{name}`; {did_you_mean(name, known)}")
        return tuple(known[name] for name in dict.fromkeys(names))


def open_project(
    root: Path, judged_by: Path | None = None, *, first_supply: bool = False, output_at: Path | None = None
) -> Project:
    """Raises UsageError when `root` is no folder, NoInputError when it has no profiles."""
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    if not (root / PROFILES).is_dir():
        raise NoInputError(f"{root} has no folder `{PROFILES}`; name another root with --root, or run `poolsmith init`")
    return Project(root, judged_by, first_supply, output_at)


FLAG = "--against"


@contextmanager
def output_place(root: Path, folder: Path | None, revision: str | None) -> Iterator[Path | None]:
    """The folder that holds `output/`; None for the project's own.

    `revision` is a git revision of the project's repository, or REV:PATH where its output stands elsewhere; its files
    come from git's objects. Raises UsageError.
    """
    if revision is None:
        if folder is not None and not folder.is_dir():
            raise UsageError(f"{folder} is not a folder")
        yield folder
        return
    if folder is not None:
        raise UsageError(f"{FLAG} names the output of a revision, and --output-root a folder: take one of them")
    from poolsmith.core.sources.git import Git  # on demand
    from poolsmith.guard.policies.revision import folder_with, tree_at  # on demand

    name, _, path = revision.partition(":")
    git = Git(root, FLAG)
    tree = tree_at(git, git.commit(name))
    places = (path.strip("/"),) if path else (f"{tree.prefix}{OUTPUT}", OUTPUT)
    for place in places:
        start = f"{place}/"
        files = {
            f"{OUTPUT}/{file.removeprefix(start)}": found
            for file, found in tree.files.items()
            if file.startswith(start)
        }
        if files:
            break
    else:
        raise UsageError(
            f"{FLAG}: {name} has no folder {places[-1]}/; write REV:PATH where its output stands elsewhere"
        )
    with folder_with(git, files) as found_at:
        yield found_at
