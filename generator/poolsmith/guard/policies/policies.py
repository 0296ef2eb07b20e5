"""What `policies/` holds, of the checkout or of another revision: loaded once, judged once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.known_rules import known_rules
from poolsmith.core.facts.versions import minor_key
from poolsmith.core.record import record
from poolsmith.core.shape.documents import load_kind_document
from poolsmith.core.sources.input_tree import InputTree, yaml_diagnostic
from poolsmith.core.sources.source_file import digest
from poolsmith.guard.policies.policy_files import ADMISSION, GRANTS_FILE, AdmissionFile, PolicyFiles, find_policies

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.guard.ledger.grants.grant_files import LoadedGrant
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.policies.enforcement import EnforcementSpec
    from poolsmith.guard.policies.external_names import LoadedName
    from poolsmith.guard.policies.rule_settings import RuleSettings
    from poolsmith.guard.policies.supply.supply_policy import SupplyPolicy
    from poolsmith.guard.policies.waivers import LoadedWaiver
    from poolsmith.kubernetes.objects_file import PlacedObject

MAX_ADMISSION_BYTES = 1 << 20
MAX_ADMISSION_OBJECTS = 1_000


@record(kw_only=False, slots=False)
class Policies:
    """The policies below a root folder. Problems of a file stand beside what is sound in it."""

    root: Path

    @cached_property
    def tree(self) -> InputTree:
        return InputTree(self.root)

    @cached_property
    def files(self) -> PolicyFiles:
        return find_policies(self.tree)

    @cached_property
    def settings(self) -> tuple[RuleSettings, tuple[Diagnostic, ...]]:
        from poolsmith.guard.policies.rule_settings import (  # on demand
            NO_SETTINGS,
            SETTINGS,
            RuleSettingsSpec,
            sound_settings,
        )

        if self.files.rules is None:
            return NO_SETTINGS, ()
        document, problems = load_kind_document(self.tree, self.files.rules, SETTINGS, RuleSettingsSpec)
        if document is None:
            return NO_SETTINGS, problems
        return sound_settings(document, known_rules())

    @cached_property
    def waivers(self) -> tuple[tuple[LoadedWaiver, ...], tuple[Diagnostic, ...]]:
        from poolsmith.guard.policies.waivers import WAIVERS, WaiverListSpec, sound_waivers  # on demand

        if self.files.waivers is None:
            return (), ()
        document, problems = load_kind_document(self.tree, self.files.waivers, WAIVERS, WaiverListSpec)
        if document is None:
            return (), problems
        return sound_waivers(document, known_rules())

    @cached_property
    def admission(self) -> tuple[tuple[AdmissionFile, ...], tuple[Diagnostic, ...]]:
        """The files of `policies/admission/`, tests left out, that can be read and hold nothing that is not shipped."""
        if not self.files.admission:
            return (), ()
        from poolsmith.guard.policies.shipped_policies import unshippable
        from poolsmith.kubernetes.objects_file import placed_objects
        from poolsmith.kubernetes.repository.manifest_files import parse_documents  # on demand

        found: list[AdmissionFile] = []
        objects: list[PlacedObject] = []
        problems: list[Diagnostic] = []
        for path in self.files.admission:
            if path == f"{ADMISSION}/{GRANTS_FILE}":
                message = f"the name `{GRANTS_FILE}` is reserved for the policy that the grants are compiled into"
                problems.append(diagnose(reading.MISPLACED_FILE, message, whole_file(path), help="rename the file"))
                continue
            text = self.tree.read_text(path, limit=MAX_ADMISSION_BYTES)
            if isinstance(text, Diagnostic):
                problems.append(text)
                continue
            documents, problem = parse_documents(path, text.encode())
            if problem is not None:
                problems.append(problem)
                continue
            found.append(AdmissionFile(path, text, tuple(document.data for document in documents)))
            placed = placed_objects(path, text)
            objects.extend(() if isinstance(placed, Diagnostic) else placed)
        if len(objects) > MAX_ADMISSION_OBJECTS:
            message = f"there are {len(objects):,} objects; of more than {MAX_ADMISSION_OBJECTS:,} none is taken"
            return (), (*problems, diagnose(reading.INPUT_LIMIT, message, whole_file(ADMISSION)))
        refused = tuple(unshippable(objects))
        kept_back = {problem.primary.span.path for problem in refused}
        return tuple(file for file in found if file.path not in kept_back), (*problems, *refused)

    @cached_property
    def misread(self) -> tuple[Diagnostic, ...]:
        """Of those files: what their readers in a cluster may take otherwise, or leave out."""
        if not self.admission[0]:
            return ()
        from poolsmith.core.sources.one_reading import ambiguities  # on demand
        from poolsmith.guard.policies.shipped_policies import left_out
        from poolsmith.kubernetes.objects_file import placed_objects  # on demand

        found: list[Diagnostic] = []
        for file in self.admission[0]:
            found.extend(yaml_diagnostic(file.path, file.text, problem) for problem in ambiguities(file.text))
            placed = placed_objects(file.path, file.text)
            found.extend(left_out(() if isinstance(placed, Diagnostic) else placed))
        return tuple(found)

    @cached_property
    def grants(self) -> tuple[tuple[LoadedGrant, ...], tuple[Diagnostic, ...]]:
        if not self.files.privileges:
            return (), ()
        from poolsmith.guard.ledger.grants.grant_files import load_grants  # on demand

        return load_grants(self.tree, self.files.privileges)

    @cached_property
    def book(self) -> GrantBook:
        """The grants, to be asked."""
        from poolsmith.guard.ledger.grants.matching import GrantBook  # on demand

        mirrors = self.supply.spec.mirrors if self.supply.is_kept else None
        return GrantBook([loaded.grant for loaded in self.grants[0]], mirrors)

    @cached_property
    def enforcement(self) -> tuple[EnforcementSpec, tuple[Diagnostic, ...]]:
        from poolsmith.guard.policies.enforcement import DEFAULT_ENFORCEMENT  # on demand

        if self.files.enforcement is None:
            return DEFAULT_ENFORCEMENT, ()
        from poolsmith.guard.policies.enforcement import load_enforcement  # on demand

        spec, problems = load_enforcement(self.tree, self.files.enforcement)
        return spec or DEFAULT_ENFORCEMENT, problems

    @cached_property
    def enforcement_digest(self) -> str:
        """Of the file's bytes; empty where it can't be read."""
        text = self.tree.read_text(self.files.enforcement) if self.files.enforcement is not None else None
        return digest(text.encode()) if isinstance(text, str) else ""

    @property
    def supply(self) -> SupplyPolicy:
        """What sources are allowed, and what is accepted."""
        return self.loaded_supply[0]

    @cached_property
    def loaded_supply(self) -> tuple[SupplyPolicy, tuple[Diagnostic, ...]]:
        """With what is wrong with the file."""
        from poolsmith.guard.policies.supply.supply_policy import NO_SUPPLY, load_supply  # on demand

        return load_supply(self.tree, self.files.supply) if self.files.supply is not None else (NO_SUPPLY, ())

    @cached_property
    def external(self) -> tuple[tuple[LoadedName, ...], tuple[Diagnostic, ...]]:
        """Names that come from outside of the repository."""
        if self.files.external is None:
            return (), ()
        from poolsmith.guard.policies.external_names import load_external  # on demand

        return load_external(self.tree, self.files.external)

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """All that is wrong with the files themselves."""
        kept = (self.settings, self.waivers, self.admission, self.grants, self.enforcement)
        parts = (*kept, self.loaded_supply, self.external)
        return (*self.files.problems, *self.misread, *(problem for _, problems in parts for problem in problems))

    def admission_for(self, kubernetes: str) -> tuple[tuple[AdmissionFile, ...], tuple[AdmissionFile, ...]]:
        """Those files that a cluster of that minor takes, and those whose policies it doesn't serve."""
        files, _ = self.admission
        minor = minor_key(kubernetes)
        served: list[AdmissionFile] = []
        others: list[AdmissionFile] = []
        for file in files:
            (served if file.unserved(minor) is None else others).append(file)
        return tuple(served), tuple(others)
