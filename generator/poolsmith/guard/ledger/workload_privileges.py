"""The privileges that a pod template asks for, and what service accounts may do through the API.

What is listed is what the template says, or what follows from it for certain:
- `run-as-root` only where the template says so (runAsUser 0, or runAsNonRoot false without a user). Else the image
  decides, and that is unknown here. The same holds for `seccomp`, `apparmor` and `selinux`: what nodes do by default
  is unknown.
- `allow-escalation` unless the template forbids it, because that is what the API does by default.
- Of a `privileged` container nothing that follows from it: escalation, capabilities, confinement, the mask of /proc.
- A host path per container that mounts it, and for the pod (container "") where none does. A read-only mount is
  `ro` even though file systems below it stay writable without recursiveReadOnly.
- Volumes whose content only the cluster knows (claims, CSI) give nothing; what the restricted Pod Security Standard
  does not take (NFS, iSCSI, FlexVolume, what is yet to come) is `volume`.
- An annotation by which a container runtime gives devices, mounts or confinement, whatever its value.
Fields of the wrong type are as good as absent: the API server takes no such object.

Rights follow from roles and their bindings. A right counts for an account by whatever name a binding gives it: itself,
its user name, or a group that it is in. A role that is bound but not among the objects is unknown, except
`cluster-admin`, which means the same everywhere. Whether the pods mount the account's token is not asked: they can ask
for it themselves.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.guard.ledger.placement import Requirement, requirements_of
from poolsmith.guard.ledger.privilege import (
    CORE_GROUP,
    NON_RESOURCE,
    Privilege,
    bare_capability,
    normal_path,
    privilege,
    privilege_order,
    rbac,
)
from poolsmith.kubernetes.pods.pod import UNCONFINED, Pod
from poolsmith.kubernetes.pods.well_known import PRIVILEGED_ANNOTATIONS, VOLUMES_WITHOUT_PRIVILEGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.kubernetes.pods.pod import Container, Mount


Held = tuple[str, Privilege]
"""The container, empty for the whole pod, and what it holds."""

_NAMESPACES_OF_THE_NODE = {"hostPID": "host-pid", "hostIPC": "host-ipc", "hostNetwork": "host-network"}
_PROPAGATION = {"HostToContainer": "host-to-container", "Bidirectional": "bidirectional"}


Asked = tuple[Privilege, "str | Mount | None"]
"""A privilege, and what asks for it where the token leaves something out: the word of the pod, or the mount."""


def pod_privileges(template: Mapping[str, Any]) -> tuple[Held, ...]:
    """What the pods of a template hold: the pod itself first, then each container by name."""
    pod = Pod.of(template)
    held = {("", token.name, token.arguments): token for token, _ in asked_by_pod(pod)}
    for container in pod.readable_containers:
        for token, _ in asked_by_container(container):
            held[container.name, token.name, token.arguments] = token
    return tuple((key[0], held[key]) for key in sorted(held))


def asked_by_pod(pod: Pod) -> Iterator[Asked]:
    """What no container asks for by itself."""
    for name in pod.host_namespaces:
        yield privilege(_NAMESPACES_OF_THE_NODE[name]), None
    for name in pod.sysctls:
        yield privilege("sysctl", name), name
    for volume in pod.unmounted:
        if volume.host_path is not None:
            yield privilege("host-path", normal_path(volume.host_path), "rw", "none"), volume.host_path
    for volume in pod.volumes.by_name.values():
        if volume.host_path is None and volume.type and volume.type not in VOLUMES_WITHOUT_PRIVILEGE:
            yield privilege("volume", volume.type), volume.type
    for key, value in pod.annotations.items():
        if any(part in key for part in PRIVILEGED_ANNOTATIONS):
            yield privilege("annotation", key), f"{key}={value}"


def asked_by_container(container: Container) -> Iterator[Asked]:
    """What the container asks for, and what its pod says for it."""
    if container.runs_as_root:
        yield privilege("run-as-root"), None
    if container.is_privileged:
        yield privilege("privileged"), None
    else:
        yield from _of_context(container)
    for port in container.host_ports:
        yield privilege("host-port", str(port)), None
    for mount in container.mounts:
        if mount.host_path is not None:
            yield _mounted(mount.host_path, mount), mount


def _of_context(container: Container) -> Iterator[Asked]:
    if container.may_escalate:
        yield privilege("allow-escalation"), None
    yield from loosened(container)


def loosened(container: Container) -> Iterator[Asked]:
    """What its security context takes away of its confinement; a privileged container has none of it anyway."""
    for name in container.added_capabilities:
        if bare_capability(name):
            yield privilege("capability", name), name
    if container.seccomp.get("type") == UNCONFINED:
        yield privilege("seccomp", "unconfined"), None
    if container.app_armor.get("type") == UNCONFINED:
        yield privilege("apparmor", "unconfined"), None
    if selinux := word(container.part("seLinuxOptions", "type")):
        yield privilege("selinux", selinux), selinux
    if container.unmasks_proc:
        yield privilege("proc-mount", "unmasked"), None


def _mounted(path: str, mount: Mount) -> Privilege:
    access = "ro" if mount.is_read_only else "rw"
    return privilege("host-path", _narrowed(path, mount), access, _PROPAGATION.get(mount.propagation, "none"))


def _narrowed(path: str, mount: Mount) -> str:
    """The part of the volume that is mounted, where it is told literally; the kubelet never leaves the volume."""
    below = mount.sub_path
    is_literal = below and not ("$" in mount.sub_path_expression or below.startswith("/") or ".." in below.split("/"))
    return normal_path(f"{path}/{below}" if is_literal else path)


_RULE_LIMIT = 10_000
"""Combinations of one rule; what allows more is told as unknown."""
_EVERYTHING = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
_BUILT_IN = {"cluster-admin": _EVERYTHING}
_DEFAULT_NAMESPACE = "default"
_Role = tuple[str, str, str]
_Bound = tuple[str, _Role, str | None]


def namespace_of(item: Mapping[str, Any]) -> str:
    """An object that names none lands in `default`, unless whoever applies it says otherwise."""
    return word(mapping(item.get("metadata")).get("namespace")) or _DEFAULT_NAMESPACE


def name_of(item: Mapping[str, Any]) -> str:
    return word(mapping(item.get("metadata")).get("name"))


KINDS_OF_RIGHTS = frozenset(("ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"))


class AccountRights:
    """The rights of each service account, as the roles and bindings among some objects give them."""

    def __init__(self, objects: Iterable[Mapping[str, Any]]) -> None:
        self._roles: dict[_Role, Mapping[str, Any]] = {}
        self._bound: dict[str, list[_Bound]] = defaultdict(list)
        self._found: dict[tuple[_Role, str | None], tuple[tuple[Privilege, ...], tuple[str, ...]]] = {}
        self._accounts: dict[tuple[str, str], tuple[tuple[Privilege, ...], tuple[str, ...]]] = {}
        for item in objects:
            match item.get("kind"):
                case "ClusterRole":
                    self._roles["ClusterRole", "", name_of(item)] = item
                case "Role":
                    self._roles["Role", namespace_of(item), name_of(item)] = item
                case "ClusterRoleBinding":
                    self._bind(item, None)
                case "RoleBinding":
                    self._bind(item, namespace_of(item))

    def of(self, namespace: str, account: str) -> tuple[tuple[Privilege, ...], tuple[str, ...]]:
        """The rights of a service account, and what could not be told about them."""
        key = (namespace, account)
        if key not in self._accounts:
            self._accounts[key] = self._of(namespace, account)
        return self._accounts[key]

    def of_role(self, kind: str, name: str, scope: str | None) -> tuple[tuple[Privilege, ...], tuple[str, ...]]:
        """What a role gives whom it is bound to, in one namespace or everywhere (None); and what could not be told."""
        return self._rights_of((kind, "" if kind == "ClusterRole" else scope or "", name), scope)

    def _of(self, namespace: str, account: str) -> tuple[tuple[Privilege, ...], tuple[str, ...]]:
        held: set[Privilege] = set()
        unknown: set[str] = set()
        for subject in _names_of(namespace, account):
            for binding, role, scope in self._bound.get(subject, ()):
                if (role, scope) not in self._found:
                    self._found[role, scope] = self._rights_of(role, scope)
                rights, missing = self._found[role, scope]
                held.update(rights)
                unknown.update(f"ServiceAccount/{account} in {namespace}: {binding}: {reason}" for reason in missing)
        return tuple(sorted(held, key=privilege_order)), tuple(sorted(unknown))

    def _bind(self, binding: Mapping[str, Any], scope: str | None) -> None:
        reference = mapping(binding.get("roleRef"))
        kind, name = word(reference.get("kind")), word(reference.get("name"))
        if scope is None and kind != "ClusterRole":
            return
        role = (kind, "" if kind == "ClusterRole" else scope or "", name)
        shown = f"{binding['kind']}/{name_of(binding)}"
        for subject in mappings(binding.get("subjects")):
            self._bound[_subject(subject, namespace_of(binding))].append((shown, role, scope))

    def _rights_of(self, role: _Role, scope: str | None) -> tuple[tuple[Privilege, ...], tuple[str, ...]]:
        rights: set[Privilege] = set()
        unknown: list[str] = []
        rules = self._rules_of(role)
        if rules is None:
            return (), (f"{role[0]}/{role[2]} is not among the objects",)
        for rule in rules:
            number = _combinations(rule)
            if number > _RULE_LIMIT:
                unknown.append(f"a rule of {role[0]}/{role[2]} allows {number} combinations, more than are listed")
            else:
                rights.update(_rights_of_rule(rule, scope))
        return tuple(rights), tuple(unknown)

    def _rules_of(self, role: _Role) -> Iterable[Mapping[str, Any]] | None:
        """Its own rules, and those of each cluster role that its aggregation selects, and so on."""
        if role not in self._roles:
            return _BUILT_IN.get(role[2]) if role[0] == "ClusterRole" else None
        gathered, pending = {role}, [role]
        while pending:
            aggregation = mapping(self._roles[pending.pop()].get("aggregationRule"))
            for selector in mappings(aggregation.get("clusterRoleSelectors")):
                chosen = set(self._selected(selector)) - gathered
                gathered |= chosen
                pending += chosen
        return chain.from_iterable(mappings(self._roles[item].get("rules")) for item in gathered)

    def _selected(self, selector: Mapping[str, Any]) -> Iterator[_Role]:
        wanted = _selector_requirements(selector)
        for role, item in self._roles.items():
            labels = mapping(mapping(item.get("metadata")).get("labels"))
            if role[0] == "ClusterRole" and all(requirement.holds(labels) for requirement in wanted):
                yield role


def _names_of(namespace: str, account: str) -> tuple[str, ...]:
    """Each subject that means the account."""
    return (
        f"ServiceAccount/{namespace}/{account}",
        f"User/system:serviceaccount:{namespace}:{account}",
        f"Group/system:serviceaccounts:{namespace}",
        "Group/system:serviceaccounts",
        "Group/system:authenticated",
    )


def _subject(subject: Mapping[str, Any], namespace: str) -> str:
    kind, name = word(subject.get("kind")), word(subject.get("name"))
    if kind == "ServiceAccount":
        return f"{kind}/{word(subject.get('namespace')) or namespace}/{name}"
    return f"{kind}/{name}"


def _combinations(rule: Mapping[str, Any]) -> int:
    groups, resources, verbs, names = _parts(rule)
    return len(verbs) * (len(groups) * len(resources) * len(names) + len(words(rule.get("nonResourceURLs"))))


def _rights_of_rule(rule: Mapping[str, Any], scope: str | None) -> Iterator[Privilege]:
    groups, resources, verbs, names = _parts(rule)
    for group, resource, verb, name in product(groups, resources, verbs, names):
        yield rbac(group, resource, verb, scope, name)
    if scope is None:
        for path, verb in product(words(rule.get("nonResourceURLs")), verbs):
            yield rbac(NON_RESOURCE, path, verb)


def _parts(rule: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Groups, resources, verbs, resource names. An empty name among these lets through requests that name nothing."""
    names = words(rule.get("resourceNames"), empty=True)
    return (
        tuple(group or CORE_GROUP for group in words(rule.get("apiGroups"), empty=True)),
        words(rule.get("resources")),
        words(rule.get("verbs")),
        ("",) if "" in names or not names else names,
    )


def _selector_requirements(selector: Mapping[str, Any]) -> tuple[Requirement, ...]:
    labels = (Requirement(key, "In", (str(value),)) for key, value in mapping(selector.get("matchLabels")).items())
    return (*labels, *requirements_of(selector.get("matchExpressions")))
