"""What is shipped from `policies/admission/`: nothing that runs, gives rights or changes objects.

The files are applied to every cluster as they stand, so each object has to be one that poolsmith looks at: a policy, a
binding, a parameter that a binding selects, or the definition of such a parameter's kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import policy as codes
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.operands.manifest import Manifest
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE
from poolsmith.guard.policies.policy_files import BINDING, GROUP, POLICY
from poolsmith.kubernetes.admission.selector import labels_of, selects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from poolsmith.guard.policies.policy_files import AdmissionFile
    from poolsmith.kubernetes.objects_file import PlacedObject


_CONFIG_MAP = ("v1", "ConfigMap")
_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_POLICIES = frozenset(((GROUP, POLICY), (GROUP, BINDING)))
_MUTATING = frozenset(((GROUP, "MutatingAdmissionPolicy"), (GROUP, "MutatingAdmissionPolicyBinding")))
_OF_OTHERS = (
    "k8s.io",
    "kubernetes.io",
    "x-k8s.io",
    "k8s-sigs.io",
    "fluxcd.io",
    "argoproj.io",
    "nvidia.com",
    "confidentialcontainers.org",
    "katacontainers.io",
    "cattle.io",
    "openshift.io",
    "coreos.com",
    "crossplane.io",
    "cert-manager.io",
    "external-secrets.io",
    "istio.io",
    "cilium.io",
    "projectcalico.org",
    "tekton.dev",
    "knative.dev",
    "kyverno.io",
    "gatekeeper.sh",
    "helm.sh",
    "cnrm.cloud.google.com",
    "gke.io",
    "googleapis.com",
    "amazonaws.com",
    "amazon.com",
    "azure.com",
)
"""Groups whose objects make a controller do something: Kubernetes', those of delivery engines, of the GPU stack, and of
controllers that are widely installed."""
_NAMESPACES_OF_OTHERS = frozenset(
    (
        "argocd",
        "cert-manager",
        "confidential-containers-system",
        "default",
        "flux-system",
        OPERATOR_NAMESPACE,
        "istio-system",
        "node-feature-discovery",
    )
)
_NAMESPACE_STARTS_OF_OTHERS = ("kube-", "openshift", "nvidia-", "cattle-", "gke-", "rke2-", "calico-", "cilium")
_LEAVE_OUT = frozenset(
    (
        "argocd.argoproj.io/hook",
        "helm.sh/hook",
        "kustomize.toolkit.fluxcd.io/reconcile",
        "kustomize.toolkit.fluxcd.io/ssa",
    )
)
_OF_KUSTOMIZE = ("config.kubernetes.io/", "internal.config.kubernetes.io/", "kustomize.config.k8s.io/")
"""Its own notes: it obeys them, and takes them out."""


@record(kw_only=False)
class _Reference:
    """How a binding chooses the parameters of its policy."""

    api_version: str
    kind: str
    name: str
    namespace: str
    selector: Mapping[str, Any] | None

    def takes(self, item: PlacedObject) -> bool:
        if (item.api_version, item.kind) != (self.api_version, self.kind):
            return False
        if self.namespace and item.namespace not in ("", self.namespace):
            return False
        if self.name:
            return bool(word(item.metadata.get("name")) == self.name)
        return self.selector is not None and bool(selects(self.selector, labels_of(item.body)))


def unshippable(objects: Iterable[PlacedObject]) -> Iterator[Diagnostic]:
    """Of the objects of all files together: why the file of one can't be shipped."""
    known = tuple(objects)
    references = tuple(_references(known))
    wanted = frozenset((item.api_version.rpartition("/")[0], item.kind) for item in references)
    defined = frozenset(map(_defined, known)) - {("", "")}
    for item in known:
        found = _problem(item, references, wanted, defined)
        if found is not None:
            yield found


def _references(objects: tuple[PlacedObject, ...]) -> Iterator[_Reference]:
    """Of each binding with parameters whose policy is among the objects."""
    kinds: dict[str, tuple[str, str]] = {}
    for item in objects:
        if (item.group, item.kind) == (GROUP, POLICY):
            kind = mapping(mapping(item.body.get("spec")).get("paramKind"))
            kinds[item.name] = word(kind.get("apiVersion")), word(kind.get("kind"))
    for item in objects:
        if (item.group, item.kind) == (GROUP, BINDING):
            spec = mapping(item.body.get("spec"))
            reference = mapping(spec.get("paramRef"))
            version, kind_name = kinds.get(word(spec.get("policyName")), ("", ""))
            if reference and kind_name:
                selector = reference.get("selector")
                yield _Reference(
                    version,
                    kind_name,
                    word(reference.get("name")),
                    word(reference.get("namespace")),
                    selector if isinstance(selector, dict) else None,
                )


def _defined(item: PlacedObject) -> tuple[str, str]:
    """Group and kind that a CustomResourceDefinition defines; two empty texts of another object."""
    if (item.group, item.kind) != _DEFINITION:
        return "", ""
    spec = mapping(item.body.get("spec"))
    return word(spec.get("group")), word(mapping(spec.get("names")).get("kind"))


def _problem(
    item: PlacedObject,
    references: tuple[_Reference, ...],
    wanted: frozenset[tuple[str, str]],
    defined: frozenset[tuple[str, str]],
) -> Diagnostic | None:
    kind = item.group, item.kind
    shown = shorten(item.shown) or "an object without a kind"
    if isinstance(item.body.get("items"), list):
        message = f"{shown} has `items`, and would be applied as a list of other objects"
        return diagnose(codes.UNSHIPPABLE_OBJECT, message, item.locate("/items"), subject=shown)
    if kind in _MUTATING:
        message = f"{shown}: poolsmith evaluates validating policies only; this one would change objects"
        return diagnose(codes.MUTATING_POLICY, message, item.locate("/kind"), subject=shown)
    if kind in _POLICIES:
        return None
    why = _no_definition(item, wanted) if kind == _DEFINITION else _no_parameter(item, references, defined)
    if why is None:
        return None
    message = f"{shown} would be applied to each cluster, and {why}"
    return diagnose(codes.UNSHIPPABLE_OBJECT, message, item.locate("/kind"), subject=shown)


def left_out(objects: Iterable[PlacedObject]) -> Iterator[Diagnostic]:
    """Those with an annotation by which what delivers them would not apply them, or not as they stand."""
    for item in objects:
        shown = shorten(item.shown)
        for key in mapping(item.metadata.get("annotations")):
            if key in _LEAVE_OUT or key.startswith(_OF_KUSTOMIZE):
                message = (
                    f"{shown}: the annotation `{shorten(key)}` lets kustomize, Argo CD or Flux leave the object out"
                )
                where = item.locate(join("/metadata/annotations", key))
                yield diagnose(codes.UNSHIPPABLE_OBJECT, message, where, subject=shown)


def _no_definition(item: PlacedObject, wanted: frozenset[tuple[str, str]]) -> str | None:
    group, kind = _defined(item)
    if _is_of_others(group):
        return f"defines a kind of the group `{shorten(group)}`, which is not this repository's"
    if (group, kind) not in wanted:
        return "defines a kind that is no parameter of a policy that is bound here"
    return None


def _no_parameter(
    item: PlacedObject, references: tuple[_Reference, ...], defined: frozenset[tuple[str, str]]
) -> str | None:
    is_config_map = (item.api_version, item.kind) == _CONFIG_MAP
    if not is_config_map and (_is_of_others(item.group) or (item.group, item.kind) not in defined):
        if _is_of_others(item.group) and any(reference.takes(item) for reference in references):
            return f"is more than a parameter: something else obeys objects of `{shorten(item.api_version) or 'v1'}`"
        return "is no policy, binding or parameter of a policy; a parameter is a ConfigMap, or of a kind defined here"
    if not any(reference.takes(item) for reference in references):
        return "no binding here selects it as the parameter of its policy"
    if is_config_map and not item.namespace:
        return "names no namespace: it would end in the one of the GPU operator, which reads ConfigMaps of its own"
    if _is_namespace_of_others(item.namespace):
        return f"namespace `{shorten(item.namespace)}` holds what others read; parameters belong into one of their own"
    return None


def _is_of_others(group: str) -> bool:
    return "." not in group or group.endswith(tuple(f".{owner}" for owner in _OF_OTHERS)) or group in _OF_OTHERS


def _is_namespace_of_others(namespace: str) -> bool:
    return namespace in _NAMESPACES_OF_OTHERS or namespace.startswith(_NAMESPACE_STARTS_OF_OTHERS)


FOLDER = "platform/admission"


def shipped_policies(files: Iterable[AdmissionFile]) -> list[Manifest]:
    """One manifest for each file, with its name and its bytes."""
    return [Manifest(path=f"{FOLDER}/{file.name}", documents=file.documents, text=file.text) for file in files]
