"""Make the bill of materials of a release: CycloneDX 1.6, as JSON, on standard output.

    PYTHONPATH=generator:tests python -m tools.make_sbom > sbom.cdx.json

It is made from requirements.lock, the project's own version and the licences in NOTICE, and from nothing else: no clock, no
network, no installed packages. The same files give the same bytes. What users install is `required`; what only builds
and tests poolsmith is `excluded`, which is CycloneDX's word for it. Digests are those of all files that the lock accepts
for a version.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

from poolsmith import __version__
from tools.locked_packages import LockedPackage, locked_packages

ROOT = Path(__file__).resolve().parents[2]
_NAMESPACE = uuid.UUID("6d5d8f0a-0c5e-5f0b-9d63-2f0f3f5f6c11")
_ROW = re.compile(r" {2}(?P<name>[a-z0-9][a-z0-9.-]*) +(?P<licence>\S.*)")
_HEADING = "Python packages that "
_SCOPES = {"run with it": "required", "come with its extras": "optional"}
_IDENTIFIER = re.compile(r"[A-Za-z0-9.-]+\+?")


def licences(notice: Path) -> dict[str, tuple[str, str]]:
    """SPDX expression and what a package is for, by its name, as NOTICE has them."""
    found: dict[str, tuple[str, str]] = {}
    purpose = ""
    for line in notice.read_text("utf-8").splitlines():
        if line and not line.startswith(" "):
            purpose = line.removeprefix(_HEADING) if line.startswith(_HEADING) else ""
        elif purpose and (row := _ROW.fullmatch(line)):
            found[row["name"]] = (row["licence"], purpose)
    return found


def sbom(root: Path = ROOT, version: str = __version__) -> dict[str, Any]:
    """The document. Raises KeyError for a package without a line in NOTICE."""
    known = licences(root / "NOTICE")
    packages = sorted(locked_packages(root / "requirements.lock"), key=lambda package: package.name)
    components = [_component(package, *known[package.name]) for package in packages]
    ours = f"pkg:pypi/poolsmith@{version}"
    body: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": ours,
                "name": "poolsmith",
                "version": version,
                "purl": ours,
                "licenses": [_licence("Apache-2.0")],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": ours, "dependsOn": [item["bom-ref"] for item in components if item["scope"] == "required"]}
        ],
    }
    serial = uuid.uuid5(_NAMESPACE, json.dumps(body, sort_keys=True))
    return {**dict(list(body.items())[:3]), "serialNumber": f"urn:uuid:{serial}", **dict(list(body.items())[3:])}


def _component(package: LockedPackage, licence: str, purpose: str) -> dict[str, Any]:
    reference = f"pkg:pypi/{package.name}@{package.version}"
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": package.name,
        "version": package.version,
        "scope": _SCOPES.get(purpose, "excluded"),
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.digests],
        "licenses": [_licence(licence)],
        "purl": reference,
    }
    if package.marker:
        found["properties"] = [{"name": "poolsmith:marker", "value": package.marker}]
    return found


def _licence(expression: str) -> dict[str, Any]:
    if _IDENTIFIER.fullmatch(expression):
        return {"license": {"id": expression}}
    return {"expression": expression}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(sbom(), indent=1, ensure_ascii=False) + "\n")
