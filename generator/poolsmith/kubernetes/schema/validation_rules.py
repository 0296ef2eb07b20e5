"""The validation rules (CEL) of the definitions we hold, each as a function, and what may not change between revisions.

They are found by the rule's text. A rule that is not here is reported as not evaluated, never as passed; a rule over
`oldSelf` says something only about two revisions (see transition_violations).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.schema.structural import kept
from poolsmith.kubernetes.schema.violation import Violation, What, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.schema.scalars import Schema


IMMUTABLE = "self == oldSelf"


def rule_violations(
    rules: list[str], schema: Schema, value: Any, resolve: Callable[[Schema], Schema]
) -> list[Violation]:
    defaulted = kept(schema, value, resolve, prune=False)
    found = []
    for rule in rules:
        if rule == IMMUTABLE:
            continue
        if rule not in RULES:
            found.append(Violation(What.NOT_EVALUATED, f"the rule `{rule}` was not evaluated", grave=False))
            continue
        holds, message = RULES[rule]
        if not _holds(holds, defaulted):
            found.append(Violation(What.RULE, message))
    return found


def _holds(rule: Callable[[Any], bool], value: Any) -> bool:
    try:
        return rule(value)
    except (KeyError, TypeError):  # CEL ends in an error there, and the API server refuses
        return False


def _strategy_retries(self: Any) -> bool:
    return "retryInterval" not in self or self["name"] != "RemediateOnFailure"


def _upgrade_strategy_retries(self: Any) -> bool:
    return "retryInterval" not in self or self["name"] == "RetryOnFailure"


def _kube_config_has_a_source(self: Any) -> bool:
    return "configMapRef" in self or "secretRef" in self


def _kube_config_has_one_source(self: Any) -> bool:
    return "configMapRef" not in self or "secretRef" not in self


def _chart_or_reference(self: Any) -> bool:
    return ("chart" in self) != ("chartRef" in self)


def _sts_fits_a_provider(self: Any) -> bool:
    return self["provider"] in ("aws", "generic") or "sts" not in self


def _sts_of_aws(self: Any) -> bool:
    return self["provider"] != "aws" or "sts" not in self or self["sts"]["provider"] == "aws"


def _sts_of_generic(self: Any) -> bool:
    return self["provider"] != "generic" or "sts" not in self or self["sts"]["provider"] == "ldap"


def _sts_of_aws_has_no_secret(self: Any) -> bool:
    return "sts" not in self or self["sts"]["provider"] != "aws" or "secretRef" not in self["sts"]


def _sts_of_aws_has_no_certificate(self: Any) -> bool:
    return "sts" not in self or self["sts"]["provider"] != "aws" or "certSecretRef" not in self["sts"]


def _generic_bucket_has_no_account(self: Any) -> bool:
    return self["provider"] != "generic" or "serviceAccountName" not in self


def _secret_or_account(self: Any) -> bool:
    return "secretRef" not in self or "serviceAccountName" not in self


def _account_of_a_cloud(self: Any) -> bool:
    return "serviceAccountName" not in self or ("provider" in self and self["provider"] in ("azure", "aws"))


def _verified_chart_of_helm(self: Any) -> bool:
    return "verify" not in self or self["sourceRef"]["kind"] == "HelmRepository"


def _versions_in_order(self: Any) -> bool:
    return "minVersion" not in self or "maxVersion" not in self or self["minVersion"] <= self["maxVersion"]


def _singleton_name(self: Any) -> bool:
    return bool(self["metadata"]["name"] == "gpu-cluster")


def _default_has_no_selector(self: Any) -> bool:
    return not self.get("default") or not self.get("nodeSelector")


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "!has(self.retryInterval) || self.name != 'RemediateOnFailure'": (
        _strategy_retries,
        "`retryInterval` can't be set with the strategy RemediateOnFailure",
    ),
    "!has(self.retryInterval) || self.name == 'RetryOnFailure'": (
        _upgrade_strategy_retries,
        "`retryInterval` needs the strategy RetryOnFailure",
    ),
    "has(self.configMapRef) || has(self.secretRef)": (
        _kube_config_has_a_source,
        "needs `configMapRef` or `secretRef`",
    ),
    "!has(self.configMapRef) || !has(self.secretRef)": (
        _kube_config_has_one_source,
        "takes `configMapRef` or `secretRef`, not both",
    ),
    "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))": (
        _chart_or_reference,
        "takes either `chart` or `chartRef`",
    ),
    "self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)": (
        _sts_fits_a_provider,
        "`sts` is for the providers aws and generic",
    ),
    "self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'": (
        _sts_of_aws,
        "the provider aws needs `sts.provider: aws`",
    ),
    "self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'": (
        _sts_of_generic,
        "the provider generic needs `sts.provider: ldap`",
    ),
    "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)": (
        _sts_of_aws_has_no_secret,
        "`sts.secretRef` is not for the sts provider aws",
    ),
    "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)": (
        _sts_of_aws_has_no_certificate,
        "`sts.certSecretRef` is not for the sts provider aws",
    ),
    "self.provider != 'generic' || !has(self.serviceAccountName)": (
        _generic_bucket_has_no_account,
        "`serviceAccountName` is not for the provider generic",
    ),
    "!has(self.secretRef) || !has(self.serviceAccountName)": (
        _secret_or_account,
        "takes `secretRef` or `serviceAccountName`, not both",
    ),
    "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))": (
        _account_of_a_cloud,
        "`serviceAccountName` needs the provider azure or aws",
    ),
    "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'": (
        _verified_chart_of_helm,
        "`verify` needs a `sourceRef` of kind HelmRepository",
    ),
    "!has(self.minVersion) || !has(self.maxVersion) || self.minVersion <= self.maxVersion": (
        _versions_in_order,
        "`minVersion` is greater than `maxVersion`",
    ),
    "self.metadata.name == 'gpu-cluster'": (_singleton_name, "has to be named `gpu-cluster`"),
    "has(self.default) && self.default ? !has(self.nodeSelector) || size(self.nodeSelector) == 0 : true": (
        _default_has_no_selector,
        "the default NVIDIADriver must not have a `nodeSelector`",
    ),
}


def transition_violations(
    schema: Schema, old: Any, new: Any, resolve: Callable[[Schema], Schema]
) -> tuple[Violation, ...]:
    """Rules over `oldSelf`, on the defaulted objects. As the API server does, only fields that both have are compared,
    and items of lists only where the definition says what identifies them.
    """
    before, after = (kept(schema, side, resolve, prune=False) for side in (old, new))
    return tuple(_walk(schema, before, after, resolve))


def _walk(schema: Schema, old: Any, new: Any, resolve: Callable[[Schema], Schema]) -> list[Violation]:
    found: list[Violation] = []
    if IMMUTABLE in schema.get("rules", ()) and old != new:
        change = f" (`{shown(old)}` to `{shown(new)}`)" if isinstance(old, (str, bool, int)) else ""
        found.append(Violation(What.RULE, f"can't be changed{change}", help="delete the object, and create it again"))
    for step, child, before, after in _pairs(schema, old, new):
        below = _walk(resolve(child), before, after, resolve)
        for violation in below:
            violation.steps.append(step)
        found.extend(below)
    return found


def _pairs(schema: Schema, old: Any, new: Any) -> list[tuple[str | int, Schema, Any, Any]]:
    """The children that are in both revisions, by their place in the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        properties = schema.get("properties", {})
        additional = schema.get("additionalProperties")
        children = {key: properties.get(key, additional) for key in new if key in old}
        return [(key, child, old[key], new[key]) for key, child in children.items() if child is not None]
    keys = schema.get("listMapKeys") if schema.get("listType") == "map" else None
    if keys and isinstance(old, list) and isinstance(new, list):
        before = {_identity(item, keys): item for item in old}
        return [
            (index, schema.get("items", {}), before[_identity(item, keys)], item)
            for index, item in enumerate(new)
            if _identity(item, keys) in before
        ]
    return []


def _identity(item: Any, keys: list[str]) -> str:
    return repr([item.get(key) for key in keys]) if isinstance(item, dict) else repr(item)
