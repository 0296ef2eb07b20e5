"""Rules of Node Feature Discovery: expressions that fail, features that nobody finds, labels that nobody may write.

What is known is as in kubernetes-sigs/node-feature-discovery, pkg/apis/nfd/nodefeaturerule/expression.go and
pkg/apis/nfd/validate/validate.go, which are the same from v0.15.0 to v0.19.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.pattern import pattern
from poolsmith.gpu.catalog.label_words import label_mistake
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.values.text_mistake import TextMistake

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    Steps = tuple[str | int, ...]

_NO_VALUE = ("Exists", "DoesNotExist", "IsTrue", "IsFalse")
_SOME_VALUES = ("In", "NotIn", "InRegexp")
_COUNTS = {"Gt": 1, "Ge": 1, "Lt": 1, "Le": 1, "GtLt": 2, "GeLe": 2}
_INTEGER = pattern(r"[+-]?[0-9]{1,19}")
_OWN = ("feature.node.kubernetes.io", "profile.node.kubernetes.io")
_KINDS = {"labels": _OWN, "annotations": _OWN[:1], "extendedResources": _OWN[:1]}
_DEVICES = ("pci.device", "usb.device")
_IDS = ("vendor", "device", "class", "subsystem_vendor", "subsystem_device")
"""source/pci/utils.go and source/usb/utils.go: what the kernel shows, in small letters, without `0x`."""
_FILLED = ("${", "{{", "<%")


def rule_mistakes(rules: Any, tag: str | None, allowed: Collection[str] | None) -> Iterator[TextMistake]:
    """`rules` are those of a NodeFeatureRule, or of the worker's source `custom`; `allowed` are the namespaces of
    labels that the master may write besides (`extraLabelNs`), None where nobody can say."""
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict):
            yield from _keys(rule, (index,), allowed)
            yield from _words(rule.get("labels"), (index, "labels"))
            yield from _taints(rule.get("taints"), (index, "taints"))
            for steps, term in _terms(rule, (index,)):
                yield from _of_term(term, steps, tag)


def _terms(rule: dict[Any, Any], steps: Steps) -> Iterator[tuple[Steps, dict[Any, Any]]]:
    any_of = rule.get("matchAny")
    groups = [(steps, rule)]
    groups += [((*steps, "matchAny", at), item) for at, item in enumerate(any_of if isinstance(any_of, list) else ())]
    for above, group in groups:
        terms = group.get("matchFeatures") if isinstance(group, dict) else None
        for at, term in enumerate(terms if isinstance(terms, list) else ()):
            if isinstance(term, dict):
                yield (*above, "matchFeatures", at), term


def _keys(rule: dict[Any, Any], steps: Steps, allowed: Collection[str] | None) -> Iterator[TextMistake]:
    for kind, own in _KINDS.items():
        found = rule.get(kind)
        for key in found if isinstance(found, dict) else ():
            namespace = _denied(key, own)
            is_allowed = kind == "labels" and (allowed is None or namespace in allowed)
            if namespace is not None and not is_allowed:
                also = ", or add it to `extraLabelNs` of the master" if kind == "labels" else ""
                yield TextMistake(
                    (*steps, kind, key),
                    f"the master writes no {_WORDS[kind]} of `{shorten(namespace)}`",
                    f"take a namespace of your own or `{own[0]}`{also}",
                )


def _words(labels: Any, steps: Steps) -> Iterator[TextMistake]:
    """Words of the operator on the nodes that the rule is for; `@` takes the value of a feature."""
    for key, value in labels.items() if isinstance(labels, dict) else ():
        mistake = label_mistake(key, value) if isinstance(key, str) and isinstance(value, str) else None
        if mistake is not None and not value.startswith("@") and not any(mark in key + value for mark in _FILLED):
            told = f"nodes get the label `{shorten(key)}` with the value `{shorten(value)}`, {mistake.message}"
            yield TextMistake((*steps, key), told, mistake.help or "remove it")


_WORDS = {"labels": "labels", "annotations": "annotations", "extendedResources": "extended resources"}


def _denied(key: Any, own: tuple[str, ...]) -> str | None:
    """The namespace of a key that only Kubernetes may write."""
    namespace, slash, _ = str(key).partition("/")
    is_of_kubernetes = namespace == "kubernetes.io" or namespace.endswith(".kubernetes.io")
    if not slash or not is_of_kubernetes or any(mark in namespace for mark in _FILLED):
        return None
    is_own = any(namespace == name or namespace.endswith(f".{name}") for name in own)
    return None if is_own else namespace


def _taints(taints: Any, steps: Steps) -> Iterator[TextMistake]:
    for index, taint in enumerate(taints if isinstance(taints, list) else ()):
        key = taint.get("key") if isinstance(taint, dict) else None
        if not isinstance(key, str) or any(mark in key for mark in _FILLED):
            continue
        namespace = _denied(key, _OWN[:1])
        if namespace is not None or "/" not in key:
            of = f"of `{shorten(namespace)}`" if namespace else "without a namespace"
            help_text = f"take a key such as `{_OWN[0]}/gpu`"
            yield TextMistake((*steps, index, "key"), f"the master sets no taint {of}", help_text)


def _of_term(term: dict[Any, Any], steps: Steps, tag: str | None) -> Iterator[TextMistake]:
    feature = term.get("feature")
    name = feature.lower() if isinstance(feature, str) else ""
    yield from _of_feature(name, (*steps, "feature"), tag)
    expressions = term.get("matchExpressions")
    for key, expression in expressions.items() if isinstance(expressions, dict) else ():
        place = (*steps, "matchExpressions", key)
        if name in _DEVICES and key not in _IDS and (match := nearest(str(key), _IDS, certain=True)):
            yield TextMistake(place, f"a {name} has no `{shorten(str(key))}`", f"did you mean `{match}`?")
        if isinstance(expression, dict):
            yield from _of_expression(expression, place, tag)
            if name in _DEVICES and key in _IDS:
                yield from _of_ids(expression, place)
    if isinstance(by_name := term.get("matchName"), dict):
        yield from _of_expression(by_name, (*steps, "matchName"), tag)


def _of_feature(name: str, place: Steps, tag: str | None) -> Iterator[TextMistake]:
    """Anyone may bring features of other domains, in NodeFeature objects; those of a source are the source's."""
    inputs = operand_inputs("discovery")
    known = [item.removeprefix("feature.") for item in inputs.names if item.startswith("feature.")]
    if not name or any(mark in name for mark in _FILLED):
        return
    if name in known:
        if tag is not None and not inputs.is_read(f"feature.{name}", tag):
            message = f"Node Feature Discovery {tag} finds no `{name}`: {inputs.told(f'feature.{name}', tag)}"
            yield TextMistake(place, message, "remove it")
        return
    match = nearest(name, known, certain=True)
    domain = name.partition(".")[0]
    if match or domain in {item.partition(".")[0] for item in known}:
        message = f"Node Feature Discovery finds no `{shorten(name)}`: the rule matches no node"
        yield TextMistake(place, message, f"did you mean `{match}`?" if match else _listed(domain, known))


def _listed(domain: str, known: list[str]) -> str:
    of_domain = sorted(item for item in known if item.startswith(f"{domain}."))
    return "there are " + ", ".join(f"`{item}`" for item in of_domain)


def _of_expression(expression: dict[Any, Any], place: Steps, tag: str | None) -> Iterator[TextMistake]:
    op, value = expression.get("op"), expression.get("value")
    values = value if isinstance(value, list) else [] if value is None else [value]
    inputs = operand_inputs("discovery")
    if not isinstance(op, str) or any(isinstance(item, str) and any(m in item for m in _FILLED) for item in values):
        return
    if tag is not None and f"op.{op}" in inputs.names and not inputs.is_read(f"op.{op}", tag):
        yield _fails((*place, "op"), f"Node Feature Discovery {tag} has no `{op}`: {inputs.told(f'op.{op}', tag)}", op)
    elif op in _NO_VALUE and values:
        yield _fails((*place, "value"), f"`{op}` takes no value", "remove `value`, or write `op: In`")
    elif op in _SOME_VALUES and not values:
        yield _fails((*place, "op"), f"`{op}` needs a value", "add `value`, or write `op: Exists`")
    elif op in _COUNTS and len(values) != _COUNTS[op]:
        words = {1: "exactly one value", 2: "exactly two values"}[_COUNTS[op]]
        yield _fails((*place, "value" if values else "op"), f"`{op}` takes {words}", f"give {words}")
    elif op in _COUNTS and expression.get("type", "") == "":
        yield from _of_numbers(op, values, place)


def _of_numbers(op: str, values: list[Any], place: Steps) -> Iterator[TextMistake]:
    for index, item in enumerate(values):
        if not _INTEGER.fullmatch(str(item)):
            yield _fails((*place, "value", index), f"`{op}` compares whole numbers", "write a whole number")
            return
    if len(values) > 1 and int(values[0]) >= int(values[1]):
        yield _fails((*place, "value"), f"`{op}` needs the smaller number first", "change their order")


def _fails(place: Steps, why: str, help_text: str) -> TextMistake:
    return TextMistake(place, f"{why}: the rule fails, and sets nothing", help_text, severity=Severity.ERROR)


def _of_ids(expression: dict[Any, Any], place: Steps) -> Iterator[TextMistake]:
    values = expression.get("value")
    for index, item in enumerate(values if expression.get("op") == "In" and isinstance(values, list) else ()):
        if isinstance(item, str) and (item.startswith(("0x", "0X")) or item != item.lower()) and item.isalnum():
            right = item.lower().removeprefix("0x")
            message = f"no device has `{shorten(item)}` here: identifiers are in small letters, without `0x`"
            yield TextMistake((*place, "value", index), message, f"write `{shorten(right)}`")
