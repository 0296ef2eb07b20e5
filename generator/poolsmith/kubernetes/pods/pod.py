"""A pod, container by container.

Two questions are asked of it. What holds: plain values, where what a container inherits is resolved once (`block` and
`part`), and what is of a wrong type is as good as absent. What is said, where: `spec`, `field`, and `context` (a
security context as it is written), with whatever stands there.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.sources.pod_template import CONTAINER_FIELDS, mapping, mappings, word, words
from poolsmith.kubernetes.pods.field import Field, whole_number
from poolsmith.kubernetes.pods.well_known import ANNOTATION, annotation_of_profile, profile_of_annotation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
UNCONFINED = "Unconfined"
_SORTS = {"initContainers": "init container", "containers": "container", "ephemeralContainers": "ephemeral container"}
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
_LAST_PORT = 65535


class Pod:
    """Metadata and spec of a pod, or of the template of a workload. Both may be anything that YAML can say."""

    who = "the pod"

    def __init__(self, metadata: Any, spec: Any) -> None:
        self.root = Field({"metadata": metadata, "spec": spec})
        self.spec = self.root.get("spec")
        self.body = mapping(spec)
        self.own = mapping(self.body.get("securityContext"))
        self.annotations = mapping(mapping(metadata).get("annotations"))
        self.volumes = Volumes(self.body.get("volumes"))
        self.containers = tuple(
            Container(self, listed, index, field)
            for listed in CONTAINER_FIELDS
            for index, field in enumerate(self.spec.get(listed).items())
        )
        """Of each sort, as they start."""

    @classmethod
    def of(cls, template: Mapping[str, Any]) -> Pod:
        return cls(template.get("metadata"), template.get("spec"))

    @cached_property
    def context(self) -> Field:
        return self.spec.get("securityContext")

    @property
    def setters(self) -> tuple[Pod | Container, ...]:
        """All that have a security context."""
        return (self, *self.containers)

    @property
    def readable_containers(self) -> list[Container]:
        """Without what is no container at all."""
        return [container for container in self.containers if isinstance(container.field.value, dict)]

    @property
    def host_namespaces(self) -> tuple[str, ...]:
        """The fields of those that the pod shares with its node."""
        return tuple(name for name in HOST_NAMESPACES if self.body.get(name) is True)

    @property
    def sysctls(self) -> tuple[str, ...]:
        return words([setting.get("name") for setting in mappings(self.own.get("sysctls"))])

    @property
    def unmounted(self) -> Iterator[Volume]:
        mounted = {mount.volume for container in self.readable_containers for mount in container.mounts}
        return (volume for volume in self.volumes.by_name.values() if volume not in mounted)

    @property
    def app_armor_annotations(self) -> Mapping[str, str]:
        """Those that API servers 1.30 to 1.33 add for what is said in fields, for nodes that know only annotations."""
        said = (
            (ANNOTATION + container.name, annotation_of_profile(container.block("appArmorProfile")))
            for container in self.readable_containers
        )
        return {key: text for key, text in said if text is not None and key not in self.annotations}

    @property
    def is_windows(self) -> bool:
        return mapping(self.body.get("os")).get("name") == "windows"

    @property
    def has_user_namespace(self) -> bool:
        return self.body.get("hostUsers") is False


class Container:
    """One container of a pod. `listed` is the field of the spec that lists it, `own` its security context."""

    def __init__(self, pod: Pod, listed: str, index: int, field: Field) -> None:
        # The pod itself is not kept: a circle would live until the next search for circles, and these are rare.
        self._of_pod = pod.own
        self._annotations = pod.annotations
        self._volumes = pod.volumes
        self.listed = listed
        self._index = index
        self.field = field
        self.body = mapping(field.value)
        self.own = mapping(self.body.get("securityContext"))
        self.name = word(self.body.get("name"))
        self._mounts: list[Mount] | None = None

    @cached_property
    def context(self) -> Field:
        return self.field.get("securityContext")

    @property
    def mounts(self) -> list[Mount]:
        if self._mounts is None:
            volumes = self._volumes.by_name
            self._mounts = [Mount(item, volumes) for item in mappings(self.body.get("volumeMounts"))]
        return self._mounts

    @property
    def who(self) -> str:
        """In a message."""
        sort = _SORTS[self.listed]
        return f"{sort} `{shorten(self.name)}`" if self.name else f"{sort} number {self._index + 1}, which has no name,"

    @property
    def handlers(self) -> Iterator[tuple[str, Field]]:
        """Probes, and the handlers of its lifecycle."""
        lifecycle = self.field.get("lifecycle")
        yield from ((probe, self.field.get(probe)) for probe in PROBES)
        yield from ((f"lifecycle.{hook}", lifecycle.get(hook)) for hook in HOOKS)

    def block(self, name: str) -> Any:
        """A block of the container stands in the place of the pod's."""
        own = self.own.get(name)
        return self._of_pod.get(name) if own is None else own

    def part(self, block: str, name: str) -> Any:
        """Of blocks that are merged field by field."""
        own = mapping(self.own.get(block)).get(name)
        return mapping(self._of_pod.get(block)).get(name) if own is None else own

    @property
    def is_privileged(self) -> bool:
        """A HostProcess container is on Windows what a privileged one is on Linux."""
        return self.own.get("privileged") is True or self.part("windowsOptions", "hostProcess") is True

    @property
    def may_escalate(self) -> bool:
        """Unless it says otherwise: that is what the API does by default."""
        return self.own.get("allowPrivilegeEscalation") is not False

    @property
    def user(self) -> int | None:
        """None where the image decides."""
        return whole_number(self.block("runAsUser"))

    @property
    def runs_as_root(self) -> bool:
        """Where the pod says so; else the image decides."""
        user = self.block("runAsUser")
        return self.block("runAsNonRoot") is False if user is None else whole_number(user) == 0

    @property
    def added_capabilities(self) -> tuple[str, ...]:
        return words(mapping(self.own.get("capabilities")).get("add"))

    @property
    def drops_all_capabilities(self) -> bool:
        return "ALL" in words(mapping(self.own.get("capabilities")).get("drop"))

    @property
    def seccomp(self) -> Mapping[str, Any]:
        """The profile."""
        return mapping(self.block("seccompProfile"))

    @property
    def app_armor(self) -> Mapping[str, Any]:
        """The profile: of the container's own field, else of its annotation, else of the pod's field.

        The API server copies an annotation that it can read to the container's field, and refuses pods of which the
        two differ; servers before 1.30 know the annotation alone. Where they differ, the weaker counts.
        """
        annotated = profile_of_annotation(self._annotations.get(ANNOTATION + self.name))
        if annotated is not None and (annotated["type"] == UNCONFINED or self.own.get("appArmorProfile") is None):
            return annotated
        return mapping(self.block("appArmorProfile"))

    @property
    def unmasks_proc(self) -> bool:
        return self.own.get("procMount") == "Unmasked"

    @property
    def host_ports(self) -> Iterator[int]:
        for port in mappings(self.body.get("ports")):
            number = whole_number(port.get("hostPort"))
            if number is not None and 0 < number <= _LAST_PORT:
                yield number


class Volumes:
    """Those of a pod, read when somebody asks."""

    __slots__ = ("_by_name", "_listed")

    def __init__(self, listed: Any) -> None:
        self._listed = listed
        self._by_name: dict[str, Volume] | None = None

    @property
    def by_name(self) -> Mapping[str, Volume]:
        """Of two with one name, which the API server refuses, the host path counts."""
        if self._by_name is None:
            found = [Volume(body) for body in mappings(self._listed)]
            self._by_name = {volume.name: volume for volume in found}
            if len(self._by_name) < len(found):
                self._by_name |= {volume.name: volume for volume in found if volume.host_path is not None}
        return self._by_name


def volume_type(body: Mapping[str, Any]) -> str:
    """The field that says what the volume is, as `configMap`; several are joined, none is empty."""
    return "|".join(sorted(key for key in body if key != "name"))


class Volume:
    """`host_path` is the path of one, as it is written; None for any other volume."""

    __slots__ = ("body", "host_path", "name")

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self.name = word(body.get("name"))
        source = body.get("hostPath")
        self.host_path = word(source.get("path")) if isinstance(source, dict) else None

    @property
    def type(self) -> str:
        return volume_type(self.body)


class Mount:
    """Where a container has a volume; None where the pod has none of that name."""

    __slots__ = ("body", "volume")

    def __init__(self, body: Mapping[str, Any], volumes: Mapping[str, Volume]) -> None:
        self.body = body
        self.volume = volumes.get(word(body.get("name")))

    @property
    def sub_path(self) -> str:
        """Of the two fields that say it, the expression."""
        return self.sub_path_expression or word(self.body.get("subPath"))

    @property
    def sub_path_expression(self) -> str:
        return word(self.body.get("subPathExpr"))

    @property
    def host_path(self) -> str | None:
        """As it is written."""
        return None if self.volume is None else self.volume.host_path

    @property
    def is_read_only(self) -> bool:
        """File systems below it stay writable without recursiveReadOnly."""
        return self.body.get("readOnly") is True

    @property
    def propagation(self) -> str:
        return word(self.body.get("mountPropagation"))
