"""The engine that delivers, by its version.

PSM931 and PSM932; PSM930 is of files of anyone.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

ENGINE_VERSION = RuleInfo(
    code="PSM931",
    name="engine-version",
    severity=Severity.NOTE,
    what="`delivery.version` names the version of the engine: what it does differently from the oldest one that the "
    "catalog knows, or that the catalog does not know this version.",
    why="The same files become something else after an upgrade of the engine. With the version in the profile, that "
    "upgrade is a change that `diff` shows.",
    fix="read what the finding says before the engine is upgraded; nothing is to be done for what is generated",
    bad='delivery: {engine: flux, version: "2.9"}\n',
    good="delivery: {engine: flux}   # the version is unknown: judged for all\n",
    references=("data/engines/versions.yaml",),
)
ENGINE_TOO_OLD = RuleInfo(
    code="PSM932",
    name="engine-too-old",
    what="The engine's version that the profile names does not know a field of what is generated.",
    why="The API server refuses the object, or drops the field without a word.",
    fix="upgrade the engine first, and write its version",
    bad='delivery: {engine: flux, version: "2.6"}\n',
    good='delivery: {engine: flux, version: "2.7"}\n',
    references=("fluxcd/helm-controller@v1.4.0:CHANGELOG.md",),
)
ENGINES = (ENGINE_VERSION, ENGINE_TOO_OLD)
