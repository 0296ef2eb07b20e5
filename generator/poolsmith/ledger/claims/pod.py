"""What the containers of a pod are and want, as texts that the privilege policy compares.

`poolsmith.policies.privilege_policy.expressions` makes the same texts in CEL, of the pod that is to be admitted; the
tests hold the two together. Paths and names stand as the pod has them: the same privilege in another spelling is
another text, and refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolsmith.ledger.claims.fields import (
    CONTAINER_FIELDS_WITHOUT_CLAIM,
    CONTEXT_FIELDS_WITHOUT_CLAIM,
    MESSAGE_PATH,
    POD_CONTEXT_FIELDS_WITHOUT_CLAIM,
    POD_FIELDS_WITHOUT_CLAIM,
    PRIVILEGED_ANNOTATIONS,
    RUNTIME_ANNOTATIONS,
    TOKEN_PATH,
    TOKEN_VOLUME,
    VOLUMES_WITHOUT_PRIVILEGE,
)
from poolsmith.ledger.claims.texts import (
    Want,
    command_texts,
    encoded,
    field_texts,
    host_path,
    kind_of,
    mounted,
    place_of,
    source_of,
    source_text,
    spaceless,
    variable_text,
)
from poolsmith.ledger.grants.grant import repository_of
from poolsmith.ledger.privilege import Privilege, normal_path, privilege
from poolsmith.sources.pod_template import account_of, container_places, mapping, mappings, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SORTS = {"initContainers": "init", "containers": "main", "ephemeralContainers": "ephemeral"}
_APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_UNSET = -1


@dataclass(frozen=True, slots=True, kw_only=True)
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
    pod = mapping(template.get("spec"))
    annotations = mapping(mapping(template.get("metadata")).get("annotations"))
    reader = _Pod(pod, annotations)
    account = f"{namespace}/{account_of(template)}"
    return tuple(
        ContainerClaims(
            sort=_SORTS[field],
            account=account,
            name=word(container.get("name")),
            image=word(container.get("image")),
            command=words(container.get("command"), empty=True),
            args=words(container.get("args"), empty=True),
            wants=tuple(reader.wants(container)),
            has=tuple(reader.has(container)),
        )
        for field, _, container in container_places(pod)
    )


class _Pod:
    """Reads the containers of one pod."""

    def __init__(self, pod: Mapping[str, Any], annotations: Mapping[str, Any]) -> None:
        self._pod = pod
        self._annotations = annotations
        self._whole = mapping(pod.get("securityContext"))
        self._volumes = {word(item.get("name")): item for item in mappings(pod.get("volumes"))}
        mounted = {
            word(mount.get("name"))
            for _, _, container in container_places(pod)
            for mount in mappings(container.get("volumeMounts"))
        }
        self._unmounted = [item for name, item in self._volumes.items() if name not in mounted]

    def wants(self, container: Mapping[str, Any]) -> Iterator[Want]:
        own = mapping(container.get("securityContext"))
        if self._is_privileged(own):
            yield _want(privilege("privileged"))
        else:
            yield from self._of_context(container, own)
        if self._user(own) == 0 or (self._user(own) == _UNSET and self._own_or_whole(own, "runAsNonRoot") is False):
            yield _want(privilege("run-as-root"))
        if self._pod.get("hostNetwork") is not True:
            for port in mappings(container.get("ports")):
                number = port.get("hostPort")
                if isinstance(number, int) and 0 < number < 1 << 16:
                    yield _want(privilege("host-port", str(number)))
        for mount in mappings(container.get("volumeMounts")):
            path = host_path(self._volumes.get(word(mount.get("name")), {}))
            if path is not None:
                yield mounted(path, mount)
        yield from self._of_pod()

    def has(self, container: Mapping[str, Any]) -> Iterator[str]:
        own = mapping(container.get("securityContext"))
        for mount in mappings(container.get("volumeMounts")):
            volume = self._volumes.get(word(mount.get("name")), {})
            if host_path(volume) is None:
                text = f"mount:{source_of(volume)}{place_of(mount)}"
                if text != f"mount:{TOKEN_VOLUME} at {TOKEN_PATH}":
                    yield text
        yield from map(variable_text, mappings(container.get("env")))
        yield from map(source_text, mappings(container.get("envFrom")))
        yield from command_texts(container)
        for text in field_texts(container, CONTAINER_FIELDS_WITHOUT_CLAIM, "field:"):
            if text != f"field:terminationMessagePath={MESSAGE_PATH}":
                yield text
        if mapping(container.get("resources")).get("claims"):
            yield "field:resources.claims"
        for field in sorted(own.keys() - CONTEXT_FIELDS_WITHOUT_CLAIM):
            yield f"field:securityContext.{field}"
        if not self._is_privileged(own):
            yield from self._confinement(own)
        yield from self._of_whole_pod()

    def _of_context(self, container: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[Want]:
        if own.get("allowPrivilegeEscalation") is not False:
            yield _want(privilege("allow-escalation"))
        for name in words(mapping(own.get("capabilities")).get("add")):
            if name.upper() != "CAP_":
                yield Want(f"capability:{name}", privilege("capability", name))
        if self._block(own, "seccompProfile").get("type") == "Unconfined":
            yield _want(privilege("seccomp", "unconfined"))
        annotation = self._annotations.get(_APPARMOR_ANNOTATION + word(container.get("name")))
        if annotation == "unconfined" or self._block(own, "appArmorProfile").get("type") == "Unconfined":
            yield _want(privilege("apparmor", "unconfined"))
        if selinux := word(self._part(own, "seLinuxOptions", "type")):
            yield Want(f"selinux:{selinux}", privilege("selinux", selinux))
        if own.get("procMount") == "Unmasked":
            yield _want(privilege("proc-mount", "unmasked"))

    def _confinement(self, own: Mapping[str, Any]) -> Iterator[str]:
        if "ALL" not in words(mapping(own.get("capabilities")).get("drop")):
            yield "default-capabilities"
        if own.get("readOnlyRootFilesystem") is not True:
            yield "writable-root"
        user = self._user(own)
        if user > 0:
            yield f"user:{user}"
        elif user == _UNSET and self._own_or_whole(own, "runAsNonRoot") is not True:
            yield "user-of-image"
        group = self._own_or_whole(own, "runAsGroup")
        if isinstance(group, int):
            yield f"group:{group}"
        for name in ("seccomp", "appArmor"):
            if profile := word(self._block(own, f"{name}Profile").get("localhostProfile")):
                yield f"{name}:{profile}"
        for field in ("user", "role", "level"):
            if part := word(self._part(own, "seLinuxOptions", field)):
                yield f"selinux-{field}:{part}"

    def _of_pod(self) -> Iterator[Want]:
        for field, name in (("hostPID", "host-pid"), ("hostIPC", "host-ipc"), ("hostNetwork", "host-network")):
            if self._pod.get(field) is True:
                yield Want(name, privilege(name), whole=True)
        for setting in mappings(self._whole.get("sysctls")):
            name = word(setting.get("name"))
            if name:
                yield Want(f"sysctl:{name}", privilege("sysctl", name), whole=True)
        for volume in self._unmounted:
            path = host_path(volume)
            if path is not None:
                held = privilege("host-path", normal_path(path), "rw", "none")
                yield Want(f"host-path:{spaceless(path)}:rw:none", held, whole=True)
        for volume in self._volumes.values():
            if host_path(volume) is None and kind_of(volume) not in VOLUMES_WITHOUT_PRIVILEGE:
                yield Want(f"volume:{kind_of(volume)}", None, whole=True)
        for key, value in self._annotations.items():
            if any(part in key for part in PRIVILEGED_ANNOTATIONS):
                yield Want(f"annotation:{key}={value}", None, whole=True)

    def _of_whole_pod(self) -> Iterator[str]:
        yield from field_texts(self._pod, POD_FIELDS_WITHOUT_CLAIM, "pod:")
        if self._pod.get("shareProcessNamespace") is True:
            yield "pod:shareProcessNamespace"
        for field in sorted(self._whole.keys() - POD_CONTEXT_FIELDS_WITHOUT_CLAIM):
            value = self._whole[field]
            yield f"pod:securityContext.{field}" + (f"={value}" if type(value) is int else "")
        for key, value in self._annotations.items():
            if any(part in key for part in RUNTIME_ANNOTATIONS):
                yield f"annotation:{key}={value}"
        for volume in self._unmounted:
            if host_path(volume) is None and source_of(volume) != TOKEN_VOLUME:
                yield f"volume:{source_of(volume)}"

    def _is_privileged(self, own: Mapping[str, Any]) -> bool:
        return own.get("privileged") is True or self._part(own, "windowsOptions", "hostProcess") is True

    def _block(self, own: Mapping[str, Any], field: str) -> Mapping[str, Any]:
        return mapping(self._own_or_whole(own, field))

    def _part(self, own: Mapping[str, Any], field: str, part: str) -> Any:
        """Of blocks that are merged field by field."""
        found = mapping(own.get(field)).get(part)
        return found if found is not None else mapping(self._whole.get(field)).get(part)

    def _user(self, own: Mapping[str, Any]) -> int:
        user = self._own_or_whole(own, "runAsUser")
        return user if isinstance(user, int) else _UNSET

    def _own_or_whole(self, own: Mapping[str, Any], field: str) -> Any:
        return own.get(field) if own.get(field) is not None else self._whole.get(field)


def _want(item: Privilege) -> Want:
    return Want(str(item), item)
