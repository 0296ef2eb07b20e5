"""What is shipped from `policies/admission/`: nothing that runs, gives rights or changes objects.

The files are applied to every cluster as they stand, so each object has to be one that poolsmith looks at: a policy, a
binding, or what a policy reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import Diagnostic, diagnose
from poolsmith.diagnostics.codes import policy as codes
from poolsmith.diagnostics.printable import shorten
from poolsmith.operands.manifest import Manifest
from poolsmith.policies.admission_file import BINDING, GROUP, POLICY
from poolsmith.sources.pod_template import mapping, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.policies.admission.placed import PlacedObject
    from poolsmith.policies.admission_file import AdmissionFile

_PLAIN = frozenset((("", "ConfigMap"), ("apiextensions.k8s.io", "CustomResourceDefinition")))
_POLICIES = frozenset(((GROUP, POLICY), (GROUP, BINDING)))
_MUTATING = frozenset(((GROUP, "MutatingAdmissionPolicy"), (GROUP, "MutatingAdmissionPolicyBinding")))
_BUILT_IN = (".k8s.io", ".kubernetes.io")


def unshippable(objects: Iterable[PlacedObject]) -> Iterator[Diagnostic]:
    """Of the objects of all files together: why the file of one can't be shipped."""
    known = tuple(objects)
    parameters = frozenset(_parameter_kinds(known))
    for item in known:
        found = _problem(item, parameters)
        if found is not None:
            yield found


def _parameter_kinds(objects: Iterable[PlacedObject]) -> Iterator[tuple[str, str]]:
    """Kinds of custom resources that some policy takes as its parameter."""
    for item in objects:
        if (item.group, item.kind) in _POLICIES:
            kind = mapping(mapping(item.body.get("spec")).get("paramKind"))
            group = word(kind.get("apiVersion")).rpartition("/")[0]
            if "." in group and not group.endswith(_BUILT_IN):
                yield group, word(kind.get("kind"))


def _problem(item: PlacedObject, parameters: frozenset[tuple[str, str]]) -> Diagnostic | None:
    kind = item.group, item.kind
    shown = shorten(item.shown) or "an object without a kind"
    if isinstance(item.body.get("items"), list):
        message = f"{shown} has `items`, and would be applied as a list of other objects"
        return diagnose(codes.UNSHIPPABLE_OBJECT, message, item.locate("/items"), subject=shown)
    if kind in _MUTATING:
        message = f"{shown}: poolsmith evaluates validating policies only; this one would change objects"
        return diagnose(codes.MUTATING_POLICY, message, item.locate("/kind"), subject=shown)
    if kind in _POLICIES | _PLAIN | parameters:
        return None
    message = f"{shown} would be applied to each cluster, and is no policy, binding or parameter of a policy"
    return diagnose(codes.UNSHIPPABLE_OBJECT, message, item.locate("/kind"), subject=shown)


FOLDER = "platform/admission"


def shipped_policies(files: Iterable[AdmissionFile]) -> list[Manifest]:
    """One manifest for each file, with its name and its bytes."""
    return [Manifest(path=f"{FOLDER}/{file.name}", documents=file.documents, text=file.text) for file in files]
