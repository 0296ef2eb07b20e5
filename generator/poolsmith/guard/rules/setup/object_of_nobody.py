"""ConfigMaps, Secrets and classes that fields of the stack name: absent, applied under another name, without a key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.guard.rules.names.messages import changed, elsewhere, lacking, refused, slip, unread
from poolsmith.guard.rules.names.need import State
from poolsmith.guard.rules.setup.named_objects import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.names.need import Verdict
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM750",
    name="object-of-nobody",
    applies_to="setup",
    what="A field of the operator's values, of a ClusterPolicy or of an NVIDIADriver names a ConfigMap or a Secret "
    "that kustomize calls otherwise, or that lacks a key which its reader mounts; or one in a file that the "
    "kustomization beside it does not list; or parameters of kernel modules in the form of modprobe.d. As a warning: "
    "none of its keys is a file that its reader looks at, or the only one of the name is in another namespace than the "
    "operator, whose operands mount those of their own. As a note: nothing here makes a ConfigMap; Secrets rarely "
    "stand in git.",
    why="kustomize puts a hash or a prefix into names in pods, and in no field of these objects. Whoever mounts what "
    "is not there never starts; and where a name is set, the operator does not make its own.",
    fix="write the name as it is applied, with all keys; or leave the field out, and the operator makes its own",
    bad="devicePlugin: {config: {name: gpu-sharing}}  # beside configMapGenerator: [{name: gpu-sharing}]\n",
    good="# kustomization.yaml\ngeneratorOptions: {disableNameSuffixHash: true}\n",
    symptom='`MountVolume.SetUp failed for volume ... configmap "..." not found`; `references non-existent config key`',
    references=(
        "NVIDIA/gpu-operator@v26.3.3:controllers/object_controls.go, createConfigMap, transformDriverContainer",
        "kubernetes-sigs/kustomize:api/internal/konfig/builtinpluginconsts/namereference.go",
        "NVIDIA/gpu-operator issues 281, 412",
    ),
)
NEEDS = ()
_MOST_KEYS = 8
_SAID = {State.CHANGED: changed, State.NEAR: slip}


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for verdict in verdicts(view):
        yield from refused(verdict)
        if verdict.state in _SAID:
            yield _SAID[verdict.state](verdict)
        elif verdict.state is State.LACKS_KEY and _is_short(verdict):
            yield unread(verdict) if verdict.need.values else lacking(verdict)
        elif verdict.state is State.ELSEWHERE and view.namespace is not None and not view.is_generated:
            yield replace(elsewhere(verdict), severity=Severity.WARNING)


def _is_short(verdict: Verdict) -> bool:
    """An object with many keys may be made for several readers."""
    held = verdict.offer.keys if verdict.offer is not None else None
    return isinstance(held, frozenset) and len(held) <= _MOST_KEYS
