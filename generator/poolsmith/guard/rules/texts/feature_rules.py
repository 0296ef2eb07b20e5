"""NodeFeatureRules and NodeFeatureGroups: rules that fail, match no node, or set what the master does not write."""

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
    code="PSM336",
    name="feature-rule",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A NodeFeatureRule or NodeFeatureGroup has an expression that Node Feature Discovery refuses when it "
    "evaluates the rule, asks for a feature that no source finds or for an identifier as no device has it, or sets "
    "labels or taints of a namespace that the master does not write; or gives nodes a label or a word that the "
    "operator does not know, such as `nvidia.com/gpu.deploy.drivers`.",
    why="The API server takes all of them. The master logs an error or nothing, and the labels that pods ask for are "
    "missing.",
    fix="write what the message says",
    bad="matchFeatures:\n  - feature: pci.device\n    matchExpressions:\n      vendor: {op: In, value: ['0x10de']}\n",
    good="matchFeatures:\n  - feature: pci.device\n    matchExpressions:\n      vendor: {op: In, value: ['10de']}\n",
    symptom="nodes have no label that a rule should set; pods stay pending",
    references=(
        "kubernetes-sigs/node-feature-discovery:pkg/apis/nfd/nodefeaturerule/expression.go",
        "kubernetes-sigs/node-feature-discovery:pkg/apis/nfd/validate/validate.go, source/pci/utils.go",
    ),
)


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.feature_rules import rule_mistakes  # on demand

    allowed = _allowed(texts)
    for item in texts:
        if item.shape is Shape.RULES:
            yield from item.told(rule_mistakes(item.data, item.version, allowed))


def _allowed(texts: tuple[StackText, ...]) -> frozenset[str]:
    """The namespaces that any master of the repository may write besides."""
    found: set[str] = set()
    for item in texts:
        if item.shape is Shape.MASTER and isinstance(item.data, dict):
            extra = item.data.get("extraLabelNs")
            found.update(map(str, extra if isinstance(extra, list) else str(extra or "").split(",")))
    return frozenset(found)
