"""Configurations of Node Feature Discovery's worker and master, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo(
    code="PSM333",
    name="discovery-configuration",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A configuration of the worker or the master of Node Feature Discovery, in values, a ConfigMap or a file, has "
    "a field that it does not read, or that this version no longer or not yet reads, a source or a field of a PCI "
    "device that there is not, or a single word where the worker takes a list.",
    why="Fields that are not known are passed over without a word: the labels that pods ask for are missing, and the "
    "GPU operator finds no GPU nodes. At a word for a list the worker stops.",
    fix="correct the name, or remove it",
    bad="node-feature-discovery:\n  worker:\n    config:\n      sources:\n        pci:\n"
    "          deviceLabelField: [vendor]\n",
    good="node-feature-discovery:\n  worker:\n    config:\n      sources:\n        pci:\n"
    "          deviceLabelFields: [vendor]\n",
    symptom="nodes have no label feature.node.kubernetes.io/pci-10de.present",
    references=(
        "kubernetes-sigs/node-feature-discovery:pkg/nfd-worker/nfd-worker.go, pkg/nfd-master/nfd-master.go, source/",
    ),
)


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.discovery_config import MASTER, WORKER, discovery_mistakes  # on demand

    components = {Shape.WORKER: WORKER, Shape.MASTER: MASTER}
    for item in texts:
        if item.shape in components:
            yield from item.told(discovery_mistakes(components[item.shape], item.data, item.version))
