"""What the containers of a pod are and want, as texts that the privilege policy compares.

`guard.policies.privilege_policy.cel_expressions` makes the same texts in CEL, of the pod that is to be admitted; the
tests hold the two together. Paths and names stand as the pod has them: the same privilege in another spelling is
another text, and refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import account_of, mapping, mappings, word, words
from poolsmith.guard.ledger.claims.pod_fields import (
    CONTAINER_FIELDS_WITHOUT_CLAIM,
    CONTEXT_FIELDS_WITHOUT_CLAIM,
    MESSAGE_PATH,
    POD_CONTEXT_FIELDS_WITHOUT_CLAIM,
    POD_FIELDS_WITHOUT_CLAIM,
    TOKEN_VOLUME,
)
from poolsmith.guard.ledger.grants.grant import repository_of
from poolsmith.guard.ledger.workload_privileges import asked_by_container, asked_by_pod, loosened
from poolsmith.kubernetes.pods.field import whole_number
from poolsmith.kubernetes.pods.pod import HOOKS, PROBES, Pod, volume_type
from poolsmith.kubernetes.pods.well_known import RUNTIME_ANNOTATIONS, TOKEN_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.kubernetes.pods.pod import Container, Mount


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


_SORTS = {"initContainers": "init", "containers": "main", "ephemeralContainers": "ephemeral"}


@record
class ContainerClaims:
    """One container of one pod. `account` is namespace/name, `sort` init, main or ephemeral.

    `wants` are privileges, those of the whole pod too; `has` what else tells it from a container of somebody else.
    """

    sort: str
    account: str
    name: str
    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    wants: tuple[Want, ...]
    has: tuple[str, ...]

    @property
    def repository(self) -> str:
        return repository_of(self.image)

    @property
    def key(self) -> str:
        """Who it is, as one text; `|` and `%` are percent-encoded in its parts."""
        parts = (self.sort, self.account, self.name, encoded(self.repository))
        words = (*(f"c:{encoded(item)}" for item in self.command), *(f"a:{encoded(item)}" for item in self.args))
        return "|".join((*parts, *words))


def claims_of(template: Mapping[str, Any], namespace: str) -> tuple[ContainerClaims, ...]:
    """Of each container of a template's pods, in their order."""
    pod = Pod.of(template)
    account = f"{namespace}/{account_of(template)}"
    wanted, had = tuple(_wanted_by_pod(pod)), tuple(_had_by_pod(pod))
    return tuple(
        ContainerClaims(
            sort=_SORTS[container.listed],
            account=account,
            name=container.name,
            image=word(container.body.get("image")),
            command=words(container.body.get("command"), empty=True),
            args=words(container.body.get("args"), empty=True),
            wants=(*_wanted(pod, container), *wanted),
            has=(*_had(container), *_ports(pod, container), *had),
        )
        for container in pod.readable_containers
    )


def _wanted(pod: Pod, container: Container) -> Iterator[Want]:
    """A pod in the network of its node has the ports of its containers there: the API server says so of each."""
    on_host = "hostNetwork" in pod.host_namespaces
    for token, asked_as in asked_by_container(container):
        if not (on_host and token.name == "host-port"):
            yield Want(_text(token, asked_as), token)


def _wanted_by_pod(pod: Pod) -> Iterator[Want]:
    for token, asked_as in asked_by_pod(pod):
        yield Want(_text(token, asked_as), token, whole=True)
    if any(volume.host_path is None and not volume.type for volume in pod.volumes.by_name.values()):
        yield Want("volume:", None, whole=True)


def _text(token: Privilege, asked_as: str | Mount | None) -> str:
    if asked_as is None:
        return str(token)
    if token.name != "host-path":
        return f"{token.name}:{asked_as}"
    path, place = (asked_as, "") if isinstance(asked_as, str) else (asked_as.host_path, place_of(asked_as.body))
    return ":".join(("host-path", spaceless(path), *token.arguments[1:])) + place


def _had(container: Container) -> Iterator[str]:
    for mount in container.mounts:
        if mount.host_path is None:
            source = "" if mount.volume is None else source_of(mount.volume.body)
            text = f"mount:{source}{place_of(mount.body)}"
            if text != f"mount:{TOKEN_VOLUME} at {TOKEN_PATH}":
                yield text
    body = container.body
    yield from map(variable_text, mappings(body.get("env")))
    yield from map(source_text, mappings(body.get("envFrom")))
    yield from command_texts(body)
    for text in field_texts(body, CONTAINER_FIELDS_WITHOUT_CLAIM, "field:"):
        if text != f"field:terminationMessagePath={MESSAGE_PATH}":
            yield text
    for claim in mappings(mapping(body.get("resources")).get("claims")):
        request = word(claim.get("request"))
        yield f"claims:{_named(claim)}" + (f"<{request}" if request else "")
    for field in sorted(container.own.keys() - CONTEXT_FIELDS_WITHOUT_CLAIM):
        yield f"field:securityContext.{field}"
    if container.is_privileged:
        yield from (f"also:{_text(token, asked_as)}" for token, asked_as in loosened(container))
    else:
        yield from _confinement(container)


def _ports(pod: Pod, container: Container) -> Iterator[str]:
    """In the network of the node: the API server makes each port of the container one of the node."""
    if "hostNetwork" in pod.host_namespaces:
        for port in mappings(container.body.get("ports")):
            number = whole_number(port.get("hostPort")) or whole_number(port.get("containerPort"))
            if number:
                yield f"host-port:{number}"


def _confinement(container: Container) -> Iterator[str]:
    if not container.drops_all_capabilities:
        yield "default-capabilities"
    if container.own.get("readOnlyRootFilesystem") is not True:
        yield "writable-root"
    if container.user is not None and container.user > 0:
        yield f"user:{container.user}"
    elif container.user is None and container.block("runAsNonRoot") is not True:
        yield "user-of-image"
    group = whole_number(container.block("runAsGroup"))
    if group is not None:
        yield f"group:{group}"
    for name, profile in (("seccomp", container.seccomp), ("appArmor", container.app_armor)):
        if of_node := word(profile.get("localhostProfile")):
            yield f"{name}:{of_node}"
    for field in ("user", "role", "level"):
        if part := word(container.part("seLinuxOptions", field)):
            yield f"selinux-{field}:{part}"


def _had_by_pod(pod: Pod) -> Iterator[str]:
    yield from field_texts(pod.body, POD_FIELDS_WITHOUT_CLAIM, "pod:")
    if pod.body.get("shareProcessNamespace") is True:
        yield "pod:shareProcessNamespace"
    for field in sorted(pod.own.keys() - POD_CONTEXT_FIELDS_WITHOUT_CLAIM):
        value = pod.own[field]
        yield f"pod:securityContext.{field}" + (f"={value}" if type(value) is int else "")
    for key, value in pod.annotations.items():
        if any(part in key for part in RUNTIME_ANNOTATIONS):
            yield f"annotation:{key}={value}"
    for volume in pod.unmounted:
        if volume.host_path is None and source_of(volume.body) != TOKEN_VOLUME:
            yield f"volume:{source_of(volume.body)}"
    for claim in mappings(pod.body.get("resourceClaims")):
        yield f"claim:{_named(claim)}" + "".join(
            f"<{key}" + (f"={value}" if isinstance(value, str) else "") for key, value in claim.items() if key != "name"
        )


def _named(claim: Mapping[str, Any]) -> str:
    return word(claim.get("name")).replace("%", "%25").replace("<", "%3C")
