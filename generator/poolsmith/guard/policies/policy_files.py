"""The files of `policies/` and what each is for, and a file of `policies/admission/` with its kinds.

A file of `policies/admission/` is shipped to the clusters that know its kinds, byte by byte.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.record import record
from poolsmith.core.sources.source_file import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.sources.input_tree import InputTree


POLICIES = "policies"
PRIVILEGES = f"{POLICIES}/privileges"
ADMISSION = f"{POLICIES}/admission"
WAIVERS = f"{POLICIES}/waivers.yaml"
RULES = f"{POLICIES}/rules.yaml"
BASELINE = f"{POLICIES}/baseline.yaml"
ENFORCEMENT = f"{POLICIES}/enforcement.yaml"
SUPPLY = f"{POLICIES}/supply.yaml"
EXTERNAL = f"{POLICIES}/external.yaml"
MAX_FOLDER_BYTES = 4 << 20
TEST_ENDING = ".test.yaml"
_YAML = (".yaml", ".yml")
_SCHEMAS = "_schemas"


@record
class PolicyFiles:
    """Paths relative to the root, sorted. `has_privileges` says whether grants are kept here at all."""

    privileges: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    waivers: str | None = None
    rules: str | None = None
    baseline: str | None = None
    enforcement: str | None = None
    supply: str | None = None
    external: str | None = None
    has_privileges: bool = False
    problems: tuple[Diagnostic, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All files that are read."""
        single = (self.waivers, self.rules, self.baseline, self.enforcement, self.supply, self.external)
        return (*self.privileges, *self.admission, *self.tests, *(path for path in single if path is not None))


def find_policies(tree: InputTree) -> PolicyFiles:
    """Nothing at all where there is no such folder."""
    if not (tree.root / POLICIES).exists():
        return PolicyFiles()
    listing = tree.listing(POLICIES)
    problems = list(listing.problems)
    known = {path.rpartition("/")[2]: path for path in (WAIVERS, RULES, BASELINE, ENFORCEMENT, SUPPLY, EXTERNAL)}
    problems += [
        _misplaced(tree, f"{POLICIES}/{name}", known, f"known here: {', '.join(known)}, privileges/ and admission/")
        for name in listing.files
        if name.endswith(_YAML) and name not in known
    ]
    folders = {path.rpartition("/")[2]: path for path in (PRIVILEGES, ADMISSION)}
    problems += [
        _misplaced(tree, f"{POLICIES}/{name}", folders, "known here: privileges/ and admission/")
        for name in listing.folders
        if name not in (*folders, _SCHEMAS)
    ]
    inside = {name: _yaml_in(tree, path, problems) for name, path in folders.items() if name in listing.folders}
    admission = inside.get("admission", ())
    found = {name: path for name, path in known.items() if name in listing.files}
    return PolicyFiles(
        privileges=inside.get("privileges", ()),
        admission=tuple(path for path in admission if not path.endswith(TEST_ENDING)),
        tests=tuple(path for path in admission if path.endswith(TEST_ENDING)),
        waivers=found.get("waivers.yaml"),
        rules=found.get("rules.yaml"),
        baseline=found.get("baseline.yaml"),
        enforcement=found.get("enforcement.yaml"),
        supply=found.get("supply.yaml"),
        external=found.get("external.yaml"),
        has_privileges="privileges" in listing.folders,
        problems=tuple(problems),
    )


def _yaml_in(tree: InputTree, folder: str, problems: list[Diagnostic]) -> tuple[str, ...]:
    listing = tree.listing(folder)
    problems.extend(listing.problems)
    problems.extend(
        _misplaced(tree, f"{folder}/{name}", (), "put its files beside the others") for name in listing.folders
    )
    paths = tuple(f"{folder}/{name}" for name in listing.files if name.endswith(_YAML))
    size = sum(map(tree.size, paths))
    if size > MAX_FOLDER_BYTES:
        message = f"the files have {size:,} bytes; of more than {MAX_FOLDER_BYTES:,} none is read"
        problems.append(diagnose(reading.INPUT_LIMIT, message, whole_file(folder)))
        return ()
    return paths


def _misplaced(tree: InputTree, path: str, known: Iterable[str], advice: str) -> Diagnostic:
    from poolsmith.core.shape.kind_places import misplaced  # on demand: only mistakes need it

    return misplaced(tree, path, known, advice)


GROUP = "admissionregistration.k8s.io"
POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
GRANTS_FILE = "privilege-grants.yaml"
"""Beside them: the policy that is made of the grants."""
Minor = tuple[int, ...]

FIRST_SERVED: Minor = (1, 30)
"""The first Kubernetes that has policies without being asked to."""
_SERVED: dict[str, tuple[Minor, Minor | None]] = {
    f"{GROUP}/v1": (FIRST_SERVED, None),
    f"{GROUP}/v1beta1": ((1, 28), (1, 34)),
}
"""Of both kinds: the first minor of Kubernetes that can serve a version, and the first that no longer does. Before
1.30 a cluster serves v1beta1 only where a feature gate asks for it. Source: the deprecation guide of Kubernetes."""


@record(kw_only=False, slots=False)
class AdmissionFile:
    """The file's path below the root, its text, and its documents."""

    path: str
    text: str
    documents: tuple[Any, ...]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @cached_property
    def digest(self) -> str:
        return digest(self.text.encode())

    def policies(self) -> Iterator[dict[str, Any]]:
        """Those of its objects that are policies or bindings."""
        for item in self.documents:
            if isinstance(item, dict) and item.get("kind") in (POLICY, BINDING):
                yield item

    def unserved(self, kubernetes: Minor) -> str | None:
        """An API version of a policy in it that a cluster doesn't serve."""
        for item in self.policies():
            version = item.get("apiVersion")
            if not isinstance(version, str) or not is_served(version, kubernetes):
                return str(version)
        return None


def is_served(version: str, kubernetes: Minor) -> bool:
    """Whether clusters of that minor have policies of an API version without being asked to."""
    first, gone = _SERVED.get(version, ((99, 0), None))
    return kubernetes >= FIRST_SERVED and first <= kubernetes and (gone is None or kubernetes < gone)
