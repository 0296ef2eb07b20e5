"""The last word: the profiles are generated, and what comes out is read again and compared with what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.yaml_reader import read_documents

if TYPE_CHECKING:
    from poolsmith.change.takeover.found import Present
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.project.run.cluster_run import ClusterRun

_VALUES = "platform/values/gpu-operator.yaml"
_WHY = {
    "Namespace": "the operator's namespace, with the Pod Security level that its pods need",
    "ValidatingAdmissionPolicy": "refuses in the cluster what nobody has granted; leave out what you don't want",
    "ValidatingAdmissionPolicyBinding": "puts such a policy in force",
    "ResourceQuota": "lets critical pods run in the operator's namespace",
    "NodeFeatureRule": "writes the label of the pool",
    "HelmRepository": "the chart's repository",
    "GitRepository": "the source that the Kustomizations read",
}
_DELIVERED = frozenset(("Application", "ApplicationSet", "HelmRelease", "Kustomization", "NVIDIADriver"))


@record(kw_only=False)
class Generated:
    """`values` are those of the generated file, `added` lines on objects that are new."""

    errors: tuple[Diagnostic, ...]
    values: dict[str, Any] | None = None
    added: tuple[str, ...] = ()


def read_again(run: ClusterRun, present: Present) -> Generated:
    """What was generated, from its files."""
    errors = tuple(item for item in run.diagnostics if item.severity is Severity.ERROR)
    if run.tree is None:
        return Generated(errors=errors)
    content = (run.files or {}).get(_VALUES)
    values = next(iter(read_documents(content.decode())), None) if content is not None else None
    there = {(item.kind, item.metadata.get("name")) for item in present.beside}
    added: dict[str, list[str]] = {}
    for manifest in run.tree.manifests:
        if not manifest.applied:
            continue
        for document in map(mapping, manifest.documents):
            kind, name = word(document.get("kind")), word(mapping(document.get("metadata")).get("name"))
            if kind and kind not in _DELIVERED and (kind, name) not in there:
                added.setdefault(kind, []).append(str(name))
    return Generated(
        errors=errors, values=values, added=tuple(_line(kind, names) for kind, names in sorted(added.items()))
    )


def _line(kind: str, names: list[str]) -> str:
    return f"adds    {kind} {', '.join(sorted(set(names)))}: {_WHY.get(kind, 'the cluster README says what it does')}"
