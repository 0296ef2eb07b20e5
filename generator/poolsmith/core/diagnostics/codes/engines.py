"""The engine that delivers, by its version.

PSM931, PSM932 and PSM939; PSM930 is of files of anyone.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

ENGINE_VERSION = RuleInfo(
    code="PSM931",
    name="engine-version",
    severity=Severity.NOTE,
    what="`delivery.version` names a version of the engine that the catalog does not know.",
    why="The same files become something else after an upgrade of the engine. What this version does is unknown.",
    fix="leave the version out, or add its facts to the catalog",
    bad='delivery: {engine: flux, version: "2.99"}\n',
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
ENGINE_UPGRADED = RuleInfo(
    code="PSM939",
    name="engine-upgraded",
    severity=Severity.WARNING,
    what="A change installs another version of the engine: Flux's components, a FluxInstance, Argo CD's manifests or "
    "chart, kustomize in a workflow, or `delivery.version` of a profile. Files that it does not touch become something "
    "else, or no longer do. As a note what ends, and what is new objects' alone.",
    why="The pull request shows a number. What the engine does otherwise is in the files that it reads: definitions "
    "are replaced, releases wait and fail, namespaces and defaults are others.",
    fix="do what the finding says before the upgrade; what it asks for holds with both versions",
    bad="# flux-system/gotk-components.yaml, and a HelmRelease with postRenderers\napp.kubernetes.io/version: v2.9.0\n",
    good="# the HelmRelease says postRenderStrategy: nohooks\napp.kubernetes.io/version: v2.9.0\n",
    references=("data/engines/versions.yaml",),
)
