"""Workloads and containers in the stack's namespaces that nobody predicted, or that go beyond the prediction.

Owners are matched by uid, since anybody may write an owner's name. A webhook may take images from a mirror, and tools
may add containers to those of the template: the privileges of those are reported. An image with another tag is of an
older template, and reported elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.core.diagnostics import Severity, diagnose
from poolsmith.core.diagnostics.codes.live import UNPREDICTED_PRIVILEGE, UNPREDICTED_WORKLOAD
from poolsmith.core.diagnostics.message_text import counted, listed
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.guard.ledger.workload_privileges import pod_privileges
from poolsmith.kubernetes.live.api_resources import DEPLOYMENTS, PODS, REPLICA_SETS, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.change.verify.expected import ExpectedCluster
    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.api_resources import ApiResource
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot


Key = tuple[str, str, str]
"""Kind, namespace, name."""


class Owners:
    """Of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        listed = snapshot.listed(REPLICA_SETS)
        self._knows_sets = listed is not None and listed.is_known
        self._of: dict[Key, KubernetesObject] = {
            key_of(body): body for resource in (*WORKLOADS, REPLICA_SETS) for body in snapshot.items(resource)
        }

    def of(self, body: KubernetesObject) -> KubernetesObject | None:
        """The DaemonSet, Deployment, StatefulSet, Job or CronJob that makes a pod or a job.

        None for one that only claims to be made, or is made by something else.
        """
        key, uid = controller_of(body)
        if key[0] == REPLICA_SETS.kind and not self._knows_sets:  # then the name is all that tells of its Deployment
            return self._of.get((DEPLOYMENTS.kind, key[1], key[2].rpartition("-")[0]))
        found = self._of.get(key)
        if found is None or found["metadata"].get("uid") != uid:
            return None
        return self.of(found) if key[0] == REPLICA_SETS.kind else found


def key_of(body: KubernetesObject) -> Key:
    metadata = body["metadata"]
    return (str(body["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"]))


def controller_of(body: KubernetesObject) -> tuple[Key, Any]:
    """What an object says of who makes it: its key, and its uid. Empty where it says nothing."""
    metadata = mapping(body["metadata"])
    for reference in mappings(metadata.get("ownerReferences")):
        if reference.get("controller") is True:
            namespace = str(metadata.get("namespace") or "")
            return (str(reference.get("kind")), namespace, str(reference.get("name"))), reference.get("uid")
    return ("", "", ""), None


_LISTS = ("initContainers", "containers")


def unlike(template: Any, pod: Any) -> str:
    """What is otherwise, in words; empty for nothing."""
    given, held = mapping(mapping(template).get("spec")), mapping(mapping(pod).get("spec"))
    account = word(given.get("serviceAccountName")) or "default"
    live = word(held.get("serviceAccountName"))
    if live and live != account:
        return f"its account is `{live}`, not `{account}`"
    for field in _LISTS:
        wanted = {word(item.get("name")): item for item in mappings(given.get(field))}
        for container in mappings(held.get(field)):
            name = word(container.get("name"))
            if name in wanted and (why := _of_container(wanted[name], container)):
                return f"container `{name}` {why}"
    return ""


def _of_container(wanted: Any, live: Any) -> str:
    given, held = word(wanted.get("image")), word(live.get("image"))
    if not given or not held:
        return ""
    if not is_image(held, given):
        return f"has the image `{held}`, not `{given}`"
    if tag_of(held) != tag_of(given):
        return ""  # it was made before the template changed, and its words may have, too
    for field in ("command", "args"):
        if (wanted.get(field) or []) != (live.get(field) or []):
            return f"runs another `{field}`"
    return ""


def tag_of(image: str) -> str:
    """Empty for an image that is named by its digest alone."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def is_image(held: str, given: str) -> bool:
    """Whether the repository is the same, or one that a mirror keeps it in."""
    ours, theirs = (_path(image) for image in (given, held))
    return theirs == ours or theirs.endswith(f"/{ours}")


def _path(image: str) -> str:
    """Of the repository, without the registry's host."""
    bare = image.partition("@")[0]
    head, slash, rest = bare.partition("/")
    path = rest if slash and ("." in head or ":" in head or head == "localhost") else bare
    before, _, last = path.rpartition("/")
    return f"{before}/{last.partition(':')[0]}" if before else last.partition(":")[0]


_FEW = 4
_HARMLESS = frozenset(("allow-escalation",))
"""What any pod has that does not say otherwise."""


def judge_workloads(view: LiveView) -> Iterator[Diagnostic]:
    yield from _unpredicted(view)
    for item in view.cluster.expected:
        template = pod_template_of(item.body)
        if template is None:
            continue
        for body in view.find(item):
            live = pod_template_of(body)
            more = [] if live is None else _texts(live, set(_texts(template, set())))
            if more:
                called = str(body["metadata"]["name"])
                name = shown(item.resource.kind, called, item.namespace)
                message = f"{name} of cluster `{view.cluster.name}` holds {listed(more, _FEW)}, and nobody predicted it"
                place = view.cluster.place(item)
                subject = view.cluster.subject(item.resource.kind, called, item.namespace)
                yield diagnose(UNPREDICTED_PRIVILEGE, message, place, subject=subject)


def left_behind(view: LiveView) -> dict[Key, list[str]]:
    """By workload that is expected and gone: what it has made and that still runs, as it was predicted.

    Who deletes a workload and leaves its pods takes the owner out of them.
    """
    found: dict[Key, list[str]] = {}
    gone = [
        (key, template)
        for item in view.cluster.expected
        if not view.find(item) and view.knows(item) and (template := pod_template_of(item.body)) is not None
        for key in [(item.resource.kind, item.namespace, item.pattern)]
    ]
    by_key = dict(gone)
    sets: dict[Key, Key] = {}
    for resource in (REPLICA_SETS, PODS) if gone else ():
        for body in view.snapshot.items(resource):
            key, owner = key_of(body), controller_of(body)[0]
            made_by = sets.get(owner) or (owner if owner in by_key else None)
            if not owner[0]:
                made_by = next((one for one, template in gone if _is_made_of(template, one, body)), None)
            if made_by is not None and not _worse(by_key[made_by], body):
                found.setdefault(made_by, [])
                if resource == REPLICA_SETS:
                    sets[key] = made_by
                else:
                    found[made_by].append(key[2])
    return found


def _is_made_of(template: Any, key: Key, body: KubernetesObject) -> bool:
    labels, held = (mapping(mapping(one.get("metadata")).get("labels")) for one in (template, body))
    named = str(body["metadata"]["name"]).startswith(f"{key[2]}-")
    return key[1] == body["metadata"].get("namespace") and named and labels.items() <= held.items()


def _worse(template: Any, body: KubernetesObject) -> bool:
    live = pod_template_of(body) or {}
    return bool(unlike(template, live) or _texts(live, set(_texts(template, set()))))


def _unpredicted(view: LiveView) -> Iterator[Diagnostic]:
    owners = Owners(view.snapshot)
    strange: dict[tuple[Key, str, tuple[str, ...]], list[KubernetesObject]] = {}
    left = left_behind(view)
    told = {(key[1], name) for key, names in left.items() for name in names}
    for resource in (*WORKLOADS, REPLICA_SETS, PODS):
        for body in view.snapshot.items(resource):
            namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
            if namespace not in view.cluster.stack_namespaces or (resource == PODS and (namespace, name) in told):
                continue
            known = view.known_as.get((resource, namespace, name))
            if known is not None:
                yield from _other_than_predicted(view, known, body)
                continue
            owner = owners.of(body)
            if owner is not None:  # of other kinds: of an earlier template of their owner, maybe, and they run nothing
                found = _other_than_its_owner(view, body, owner) if resource == PODS else None
                if found is not None:
                    strange.setdefault((key_of(owner), *found), []).append(body)
            elif resource != REPLICA_SETS or not any(name.startswith(f"{key[2]}-") for key in left):
                held = _texts(pod_template_of(body) or {}, set())
                yield _finding(view, resource, body, "is not predicted", held)
    for ((kind, _, called), why, more), bodies in strange.items():
        who = f"is not what {kind} `{called}` says" + (f": {why}" if why else "")
        yield _finding(view, PODS, bodies[0], who, list(more), others=bodies[1:])


def _other_than_predicted(view: LiveView, item: ExpectedCluster, body: KubernetesObject) -> Iterator[Diagnostic]:
    """Of what is known by its name alone: pods that operands and hooks start."""
    template, live = pod_template_of(item.body), pod_template_of(body)
    if not item.passing or template is None or live is None:
        return
    if why := unlike(template, live):
        held = _texts(live, set())
        yield _finding(view, item.resource, body, f"is not what {item.through} starts: {why}", held)


def _other_than_its_owner(
    view: LiveView, body: KubernetesObject, owner: KubernetesObject
) -> tuple[str, tuple[str, ...]] | None:
    """Why it is not, and what it holds more. None for a pod of its template, or of the predicted one where that is
    another: pods stay for a while when a template changes."""
    live, called = _without_added(pod_template_of(body) or {}), str(owner["metadata"]["name"])
    known = view.expected_as(owner)
    templates = [pod_template_of(item) or {} for item in (owner, *([known.body] if known is not None else []))]
    given = {text for template in templates for text in _texts(template, set())}
    held = tuple(_texts(live, given))
    reasons = [unlike(template, live) for template in templates]
    why = reasons[0] if all(reasons) else ""
    if not str(body["metadata"]["name"]).startswith(called):
        why = why or "its name is another one than its owner gives"
    return (why, held) if held or why else None


def _without_added(pod: Any) -> dict[str, Any]:
    """Without ephemeral containers, which are told for themselves."""
    kept = {key: value for key, value in mapping(pod.get("spec")).items() if key != "ephemeralContainers"}
    return {**pod, "spec": kept}


def _finding(
    view: LiveView,
    resource: ApiResource,
    body: KubernetesObject,
    who: str,
    held: list[str],
    others: Sequence[KubernetesObject] = (),
) -> Diagnostic:
    """`others` are as it is."""
    namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
    worse = [text for text in held if text.rpartition(": ")[2] not in _HARMLESS]
    holds = f"it holds {listed(worse, _FEW)}" if worse else "it holds no privilege"
    more = f"; so are {counted(len(others), 'pod')} more" if others else ""
    message = f"{shown(resource.kind, name, namespace)} of cluster `{view.cluster.name}` {who}: {holds}{more}"
    severity = Severity.ERROR if worse else Severity.WARNING
    place, subject = view.cluster.of_cluster("/spec/stack"), view.cluster.subject(resource.kind, name, namespace)
    return diagnose(UNPREDICTED_WORKLOAD, message, place, subject=subject, severity=severity)


def _texts(template: Any, but: set[str]) -> list[str]:
    """Privileges as `container: token`; of the whole pod the token alone."""
    found = (f"{container}: {token}" if container else str(token) for container, token in pod_privileges(template))
    return [text for text in found if text not in but]
