"""Operands whose images come from a registry that asks for a login, and that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.guard.rules.names.need import Names, Need, Offer, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM763")
NEEDS = ("values",)
_KIND = "PullSecret"
_SECRETS, _VALIDATOR, _DISCOVERY = "imagePullSecrets", "validator", "node-feature-discovery"
_ALONE = frozenset(("operator", _VALIDATOR, "driver", "vgpuManager", "nodeStatusExporter", _DISCOVERY, "daemonsets"))
"""Those that no validation's init container gives the validator's secrets to."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    """Each operand needs a secret for its registry; the validator's reaches all others but some."""
    if view.values is None or view.values.partial:
        return
    registries = {name: _registry(part) for name, part in view.values.values.items() if _is_on(view, name, part)}
    having = {name: registry for name, registry in registries.items() if registry and _has_secrets(view, name)}
    offers = [Offer(kind=_KIND, name=registry, namespace=name) for name, registry in having.items()]
    needs = [_need(view, name, registry) for name, registry in registries.items() if registry and name not in having]
    judge = Names(offers, needs).verdict
    for need in needs:
        if judge(need).state is State.ELSEWHERE and (need.who in _ALONE or having.get(_VALIDATOR) != need.name):
            with_one = [other for other, known in having.items() if known == need.name]
            secret = f"{{{_SECRETS}: [{{name: ...}}]}}" if need.who == _DISCOVERY else f"{{{_SECRETS}: [...]}}"
            yield Finding(
                message=f"`{need.who}` takes its image from `{need.name}` without a pull secret, and "
                f"{listed(with_one, 3)} have one for it",
                place=need.place,
                help=f"write `{need.who}: {secret}` as well",
            )


def _need(view: SetupView, name: str, registry: str) -> Need:
    return Need(kind=_KIND, name=registry, who=name, locate=view.value_location, pointer=name, namespace=name)


def _is_on(view: SetupView, name: str, part: Any) -> bool:
    return isinstance(part, dict) and view.flag(f"{name}.enabled") is not False


def _registry(part: Any) -> str:
    """The registry that the user's own values take an operand's image from; empty where they say none."""
    repository = word(mapping(part).get("repository")) or word(mapping(mapping(part).get("image")).get("repository"))
    host = repository.partition("/")[0]
    return host if "." in host or ":" in host or host == "localhost" else ""


def _has_secrets(view: SetupView, name: str) -> bool:
    secrets = view.value(f"{name}.{_SECRETS}")
    return isinstance(secrets, list) and bool(secrets)
