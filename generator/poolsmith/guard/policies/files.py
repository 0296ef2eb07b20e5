"""Which files there are in `policies/`, and what each is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.sources.input_tree import InputTree

POLICIES = "policies"
PRIVILEGES = f"{POLICIES}/privileges"
ADMISSION = f"{POLICIES}/admission"
WAIVERS = f"{POLICIES}/waivers.yaml"
RULES = f"{POLICIES}/rules.yaml"
BASELINE = f"{POLICIES}/baseline.yaml"
ENFORCEMENT = f"{POLICIES}/enforcement.yaml"
SUPPLY = f"{POLICIES}/supply.yaml"
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
    has_privileges: bool = False
    problems: tuple[Diagnostic, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """All files that are read."""
        single = (self.waivers, self.rules, self.baseline, self.enforcement, self.supply)
        return (*self.privileges, *self.admission, *self.tests, *(path for path in single if path is not None))


def find_policies(tree: InputTree) -> PolicyFiles:
    """Nothing at all where there is no such folder."""
    if not (tree.root / POLICIES).exists():
        return PolicyFiles()
    listing = tree.listing(POLICIES)
    problems = list(listing.problems)
    known = {path.rpartition("/")[2]: path for path in (WAIVERS, RULES, BASELINE, ENFORCEMENT, SUPPLY)}
    problems += [
        _misplaced(f"{POLICIES}/{name}", f"known here: {', '.join(known)}, privileges/ and admission/")
        for name in listing.files
        if name.endswith(_YAML) and name not in known
    ]
    folders = {path.rpartition("/")[2]: path for path in (PRIVILEGES, ADMISSION)}
    problems += [
        _misplaced(f"{POLICIES}/{name}", "known here: privileges/ and admission/")
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
        has_privileges="privileges" in listing.folders,
        problems=tuple(problems),
    )


def _yaml_in(tree: InputTree, folder: str, problems: list[Diagnostic]) -> tuple[str, ...]:
    listing = tree.listing(folder)
    problems.extend(listing.problems)
    problems.extend(_misplaced(f"{folder}/{name}", "put its files beside the others") for name in listing.folders)
    paths = tuple(f"{folder}/{name}" for name in listing.files if name.endswith(_YAML))
    size = sum(map(tree.size, paths))
    if size > MAX_FOLDER_BYTES:
        message = f"the files have {size:,} bytes; of more than {MAX_FOLDER_BYTES:,} none is read"
        problems.append(diagnose(reading.INPUT_LIMIT, message, whole_file(folder)))
        return ()
    return paths


def _misplaced(path: str, advice: str) -> Diagnostic:
    return diagnose(reading.MISPLACED_FILE, "poolsmith does not look here", whole_file(path), help=advice)
