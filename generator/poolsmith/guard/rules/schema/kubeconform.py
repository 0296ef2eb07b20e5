"""The real kubeconform as a second opinion, with our own schemas and our line numbers.

Its traps, and what is done about them: every failure exits with 1 (bad usage is told by the absence of JSON); `-n 0`
deadlocks (one worker, which also keeps the order of documents); a schema that does not compile counts as missing
(reported as such); groups that share a first label share file names (a folder per group); a named file without a
YAML ending is passed over silently (not sent, and counted); without -verbose only failures are listed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, UsageError, diagnose
from poolsmith.core.diagnostics.codes.schema import KUBECONFORM_DISAGREEMENT
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from poolsmith.guard.rules.schema.object_schemas import SchemaResult
    from poolsmith.guard.rules.schema.schema_rules import Places, SchemaVerdict

NAME = "kubeconform"
NOT_FOUND = Skipped(NAME, "skipped: kubeconform not found")
LAYOUT = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"
_ENDINGS = (".yaml", ".yml", ".json")
_FILES_PER_RUN = 500
_SECONDS = 600
_BETWEEN = pattern(r"(?<!\s)\s++(?=- at ')")
_LEAF = pattern(r"- at '([^']*+)':(.*)", re.DOTALL)
_NO_OBJECT = ("missing 'kind' key", "missing 'apiVersion' key")
_LOCAL = frozenset(("http_proxy", "https_proxy", "all_proxy"))


@record(frozen=False, kw_only=False)
class SecondOpinion:
    """What came of it: only disagreements are findings, for the rest is reported already."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    agreed: int = 0


def find_binary(wanted: str) -> str | None:
    """A path, or the empty string for the one on PATH; None where that is absent. Raises UsageError."""
    if not wanted:
        return shutil.which(NAME)
    if not (Path(wanted).is_file() and os.access(wanted, os.X_OK)):
        raise UsageError(
            f"--kubeconform: `{wanted}` is not a program; to use the one on PATH, write the flag after the files"
        )
    return str(Path(wanted).absolute())


def second_opinion(binary: str, results: Iterable[SchemaResult], locate: Callable[[str], Path]) -> SecondOpinion:
    """`locate` gives the file of a path as reports show it. Raises UsageError when kubeconform does not run."""
    from poolsmith.guard.rules.schema.schema_rules import Places  # on demand

    opinion = SecondOpinion()
    silent: Counter[str] = Counter()
    for result in results:
        by_file: dict[str, list[SchemaVerdict]] = defaultdict(list)
        for verdict in result.verdicts:
            if verdict.document.path.endswith(_ENDINGS):
                by_file[verdict.document.path].append(verdict)
            else:
                silent["kubeconform reads only .yaml, .yml and .json"] += 1
        if not by_file:
            continue
        with tempfile.TemporaryDirectory(prefix="poolsmith-schemas-") as folder:
            _export(Path(folder), result)
            resources = _run(binary, Path(folder), {str(locate(path).absolute()): path for path in by_file})
        places = Places()
        for path, verdicts in by_file.items():
            _compare(verdicts, resources.get(path, []), opinion, silent, places)
    opinion.skipped.extend(
        Skipped(f"{count} objects, by kubeconform", reason) for reason, count in sorted(silent.items())
    )
    return opinion


def _export(folder: Path, result: SchemaResult) -> None:
    from poolsmith.kubernetes.schema.export import json_schema  # on demand

    kinds = {(str(item.body["apiVersion"]), str(item.body["kind"])): item.kind for item in result.verdicts}
    for (api_version, kind), schema in kinds.items():
        group, _, version = api_version.rpartition("/")
        target = folder / (group or version) / f"{kind.lower()}_{version.lower()}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(json_schema(schema, result.kubernetes)), "utf-8")


def _run(binary: str, schemas: Path, files: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """The resources of each file, by the path that reports show, in their order."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    names = sorted(files)
    for start in range(0, len(names), _FILES_PER_RUN):
        command = [binary, "-n", "1", "-strict", "-verbose", "-summary", "-output", "json", "-ignore-missing-schemas"]
        command += ["-schema-location", f"{schemas}/{LAYOUT}", *names[start : start + _FILES_PER_RUN]]
        for resource in _resources(command):
            found[files[resource["filename"]]].append(resource)
    return found


def _resources(command: list[str]) -> list[dict[str, Any]]:
    environment = {key: value for key, value in os.environ.items() if key.lower() not in _LOCAL}
    try:
        run = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, env=environment)
        resources: list[dict[str, Any]] = json.loads(run.stdout)["resources"] or []
    except OSError as error:
        raise UsageError(f"kubeconform can't be run: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"kubeconform did not end within {_SECONDS} seconds") from None
    except (ValueError, KeyError, TypeError):
        lines = run.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"kubeconform gave no result: {lines[0] if lines else 'it said nothing'}") from None
    return resources


def _compare(
    verdicts: list[SchemaVerdict],
    resources: list[dict[str, Any]],
    opinion: SecondOpinion,
    silent: Counter[str],
    places: Places,
) -> None:
    """Resources carry no place: the n-th of a kind in the file is our n-th of that kind."""
    waiting: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for resource in resources:
        waiting[resource["version"], resource["kind"]].append(resource)
    broken = [item for item in waiting["", ""] if item["status"] == "statusError" and not _holds_no_object(item)]
    for verdict in verdicts:
        line = waiting[str(verdict.body["apiVersion"]), str(verdict.body["kind"])]
        if line:
            _compare_one(verdict, line.pop(0), opinion, silent, places)
        elif broken:
            opinion.diagnostics.append(_disagreement(verdict, "", f"can't read the file: {broken[0]['msg']}", places))
        else:
            silent["it said nothing about them"] += 1


def _compare_one(
    verdict: SchemaVerdict, resource: dict[str, Any], opinion: SecondOpinion, silent: Counter[str], places: Places
) -> None:
    status = resource["status"]
    if status == "statusSkipped":
        silent["it could not use their schema"] += 1
    elif (status == "statusValid") == (verdict.refused is None):
        opinion.agreed += 1
    elif status == "statusValid":
        opinion.diagnostics.append(
            _disagreement(verdict, verdict.refused or "", "accepts what is refused here", places)
        )
    else:
        pointer, message = _leaf(resource["msg"])
        opinion.diagnostics.append(_disagreement(verdict, verdict.base + pointer, f"refuses: {message}", places))


def _leaf(message: str) -> tuple[str, str]:
    """The first cause in an error tree that is told as one line; without it, the line."""
    for leaf in _BETWEEN.split(message):
        match = _LEAF.search(leaf)
        if match is None:
            continue
        pointer, text = match.groups()
        if not text.lstrip().startswith("validation failed"):
            return pointer, text.strip()
    return "", " ".join(message.split())


def _disagreement(verdict: SchemaVerdict, pointer: str, message: str, places: Places) -> Diagnostic:
    document = verdict.document
    return diagnose(
        KUBECONFORM_DISAGREEMENT,
        f"{document.name}: kubeconform {message}",
        places.of(document).locate(document.index, pointer),
        subject=document.name,
    )


def _holds_no_object(resource: dict[str, Any]) -> bool:
    return any(text in resource["msg"] for text in _NO_OBJECT)
