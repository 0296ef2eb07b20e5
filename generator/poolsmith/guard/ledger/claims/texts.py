"""The texts of single parts of a pod: mounts, volumes, variables, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.guard.ledger.claims.fields import TOKEN_VOLUME
from poolsmith.kubernetes.pods.pod import HOOKS, PROBES, volume_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.guard.ledger.privilege import Privilege


@record(kw_only=False)
class Want:
    """A text, and the privilege that it means; None: nothing that a grant could name.

    `whole` privileges are the pod's, and none of the container's own.
    """

    text: str
    privilege: Privilege | None
    whole: bool = False


def place_of(mount: Mapping[str, Any]) -> str:
    """Where it is mounted, and which part of the volume."""
    text = f" at {spaceless(mount.get('mountPath'))}"
    for field in ("subPath", "subPathExpr"):
        if word(mount.get(field)):
            text += f" {field} {spaceless(mount[field])}"
    return text


def source_of(volume: Mapping[str, Any]) -> str:
    """What a volume that is no host path holds."""
    for field, name, key in (("configMap", "config-map", "name"), ("secret", "secret", "secretName")):
        source = volume.get(field)
        if isinstance(source, dict):
            items = "".join(
                f"[{item.get('key')}={spaceless(item.get('path'))}]" for item in mappings(source.get("items"))
            )
            return f"{name}:{word(source.get(key))}{items}"
    if "persistentVolumeClaim" in volume:
        return f"persistent-volume-claim:{word(mapping(volume['persistentVolumeClaim']).get('claimName'))}"
    if "emptyDir" in volume:
        return "empty-dir"
    if "projected" in volume and all(map(_of_token, mappings(mapping(volume["projected"]).get("sources")))):
        return TOKEN_VOLUME
    return volume_type(volume)


def _of_token(source: Mapping[str, Any]) -> bool:
    """Whether the API server itself puts it into the volume with the account's token."""
    if "serviceAccountToken" in source:
        token = mapping(source["serviceAccountToken"])
        return token.get("path") == "token" and not token.get("audience")
    if "configMap" in source:
        items = mappings(mapping(source["configMap"]).get("items"))
        named = mapping(source["configMap"]).get("name") == "kube-root-ca.crt"
        return named and all(item.get("key") == item.get("path") for item in items)
    fields = mappings(mapping(source.get("downwardAPI")).get("items"))
    return "downwardAPI" in source and all(
        item.get("path") == "namespace" and mapping(item.get("fieldRef")).get("fieldPath") == "metadata.namespace"
        for item in fields
    )


def variable_text(variable: Mapping[str, Any]) -> str:
    """An environment variable. Where a prediction has neither value nor source, only its name is known."""
    name = word(variable.get("name")).replace("%", "%25").replace("<", "%3C")
    text = f"env:{name}"
    source = mapping(variable.get("valueFrom"))
    for field, shown in (("secretKeyRef", "secret"), ("configMapKeyRef", "config-map")):
        if reference := mapping(source.get(field)):
            return f"{text}<{shown}:{word(reference.get('name'))}/{word(reference.get('key'))}"
    if reference := mapping(source.get("fieldRef")):
        return f"{text}<field:{word(reference.get('fieldPath'))}"
    if source:
        return f"{text}<{'|'.join(sorted(source))}"
    return f"{text}={variable['value']}" if "value" in variable else text


def source_text(source: Mapping[str, Any]) -> str:
    """All keys of a ConfigMap or a Secret as environment variables."""
    kinds = (f"{kind}:{word(mapping(source[kind]).get('name'))}" for kind in source if kind != "prefix")
    return f"env-from:{word(source.get('prefix'))}<{'|'.join(kinds)}"


def command_texts(container: Mapping[str, Any]) -> Iterator[str]:
    """What probes and hooks run or call."""
    for probe in PROBES:
        found = mapping(container.get(probe))
        if "exec" in found:
            yield f"{probe}:{_joined(mapping(found['exec']).get('command'))}"
        elif any(mapping(found.get(call)).get("host") for call in ("httpGet", "tcpSocket")):
            yield f"{probe}<other host"
    hooks = mapping(container.get("lifecycle"))
    for hook in HOOKS:
        if hook in hooks:
            found = mapping(hooks[hook])
            if "exec" in found:
                yield f"{hook}:{_joined(mapping(found['exec']).get('command'))}"
            else:
                host = "".join(word(mapping(found.get(call)).get("host")) for call in ("httpGet", "tcpSocket"))
                yield f"{hook}<{'|'.join(found)}{host}"


def _joined(command: Any) -> str:
    return "|".join(map(encoded, words(command, empty=True)))


def field_texts(item: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> Iterator[str]:
    for field in sorted(item.keys() - set(known)):
        value = item[field]
        yield f"{prefix}{field}={value}" if isinstance(value, str) else f"{prefix}{field}"


def spaceless(text: Any) -> str:
    """For texts that are followed by a word and another text."""
    return word(text).replace("%", "%25").replace(" ", "%20")


def encoded(text: str) -> str:
    return text.replace("%", "%25").replace("|", "%7C")
