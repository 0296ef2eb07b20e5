"""The images that nodes with GPUs start from, as files about machines say it; by the name in data/machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import join, reached, value_at
from poolsmith.guard.rules.setup.repository_setups import objects_of
from poolsmith.kubernetes.repository.manifest_files import has_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject
    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

TALOS = "Talos"
_PLUGIN_OF_IMAGE = "settings.kubelet-device-plugins.nvidia"
_KARPENTER, _CLASSES = "karpenter.sh", "karpenter."
_GPU_MACHINES = pattern(r"(?!g4ad)(g[3-9]|gr[3-9]|p[2-9])[a-z0-9-]*(\.[a-z0-9-]+)?")
_GPU_KEYS = ("karpenter.k8s.aws/instance-gpu-", "karpenter.azure.com/sku-gpu-")
_GPU_TAINT = "nvidia.com/gpu"
_AZURE_MACHINES = pattern(r"Standard_N(?![GP])(?!V[0-9]+as_v4)(?!.*_MI[0-9]).*")
"""The series N without FPGAs and without GPUs of AMD."""
_OF_OPENSHIFT = ("spec", "template", "spec", "providerSpec", "value")
_NAMED: tuple[tuple[tuple[str, ...], Any], ...] = (
    *((path, _AZURE_MACHINES) for path in (("spec", "vmSize"), ("spec", "sku"), ("spec", "forProvider", "vmSize"))),
    (("vm_size",), _AZURE_MACHINES),
    (("spec", "machineType"), _GPU_MACHINES),
    ((*_OF_OPENSHIFT, "instanceType"), _GPU_MACHINES),
    ((*_OF_OPENSHIFT, "vmSize"), _AZURE_MACHINES),
    *((path, None) for path in (("spec", "nodeConfig"), ("node_config", "*"))),
    *((path, _GPU_MACHINES) for path in (("instanceType",), ("instanceTypes", "*"), ("instance_types", "*"))),
)
"""Where groups of nodes name machines, and what holds accelerators of whatever sort."""
_ACCELERATORS = ("guestAccelerator", "guest_accelerator")


def known_images() -> dict[str, Mapping[str, Any]]:
    return {row["image"]: row for row in store.table("machines/brought.yaml")["images"]}


def machine_images(documents: Iterable[CheckedDocument]) -> dict[str, Location]:
    """The first place of each image."""
    found: dict[str, Location] = {}
    objects: list[SetupObject] = []
    switched = {row["group"]: row for row in known_images().values() if "switch" in row}
    for document in documents:
        if (
            not document.is_object
            and isinstance(document.data, dict)
            and isinstance(document.data.get("machine"), dict)
        ):
            found.setdefault(TALOS, document.source.locate("/machine"))
        if has_word(document.text, _CLASSES):
            objects.extend(objects_of(document))
        for item in objects_of(document) if any(has_word(document.text, group) for group in switched) else ():
            row = switched.get(item.group, {})
            if row and value_at(item.data, row["switch"]) is True:
                found.setdefault(row["image"], item.place(join("", *row["switch"])))
    with_gpus = set(_classes_with_gpus(objects))
    for item in objects:
        if item.own_name in with_gpus and (image := _image_of(item)):
            found.setdefault(image, item.place("/spec"))
    return found


def _classes_with_gpus(objects: Iterable[SetupObject]) -> Iterator[str]:
    """Node classes whose pools make nodes with GPUs alone, or that configure the device plugin of their image."""
    for item in objects:
        if item.kind == "EC2NodeClass" and _PLUGIN_OF_IMAGE in word(item.spec.get("userData")):
            yield item.own_name
        spec = mapping(value_at(item.spec, ("template", "spec")))
        if item.kind == "NodePool" and item.group == _KARPENTER and has_gpus(spec):
            yield word(mapping(spec.get("nodeClassRef")).get("name"))


def makes_gpu_nodes(template: NodeTemplate) -> bool:
    """For certain: by a taint, by what Karpenter is asked for, by machines or accelerators that it names."""
    body = mapping(template.body)
    is_tainted = any(mark.key == _GPU_TAINT for mark in template.taints)
    return is_tainted or has_gpus(mapping(value_at(body, ("spec", "template", "spec")))) or names_gpus(body)


def names_gpus(body: Mapping[str, Any]) -> bool:
    """Whether a group of nodes names machines with GPUs of NVIDIA alone, or accelerators."""
    found = [_is_gpu(value, known) for path, known in _NAMED for _, value in reached(body, path)]
    return bool(found) and all(found)


def _is_gpu(value: Any, known: Any) -> bool:
    if known is None:
        return any(bool(mapping(value).get(field)) for field in _ACCELERATORS)
    return known.fullmatch(word(value)) is not None


def has_gpus(spec: Mapping[str, Any]) -> bool:
    """Whether the nodes of a NodePool, by the spec of its template, all have GPUs, as far as it says so."""
    tainted = any(taint.get("key") == _GPU_TAINT for taint in mappings(spec.get("taints")))
    return tainted or any(_asks_for_gpus(item) for item in mappings(spec.get("requirements")))


def _asks_for_gpus(requirement: Mapping[str, Any]) -> bool:
    key, operator = word(requirement.get("key")), requirement.get("operator")
    if key.startswith(_GPU_KEYS):
        return operator in ("Exists", "In", "Gt")
    values = requirement.get("values")
    named = [word(value) for value in values] if isinstance(values, list) else []
    return operator == "In" and bool(named) and all(map(names_gpu_machine, named))


def names_gpu_machine(instance: str) -> bool:
    """Whether a type or a family of EC2, or a size of Azure, has GPUs of NVIDIA."""
    return bool(_GPU_MACHINES.fullmatch(instance) or _AZURE_MACHINES.fullmatch(instance))


def _image_of(item: SetupObject) -> str | None:
    terms = mappings(item.spec.get("amiSelectorTerms"))
    aliases = {word(term.get("alias")).partition("@")[0] for term in terms} - {""}
    family = item.spec.get("amiFamily")
    for name, row in known_images().items():
        if row.get("class") == item.kind and value_at(item.spec, row["unless"]) != row["off"]:
            return name
        if (
            "alias" in row
            and item.kind == "EC2NodeClass"
            and (aliases == {row["alias"]} or (not terms and family == row["family"]))
        ):
            return name
    return None
