"""What a cluster takes from where, compared with a supply policy by place and not by text.

Addresses and images are taken apart, so that texts that only look alike do not match. What does not have the one
spelling that `supply_kind` accepts is no place, and so is outside of every policy.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes import outside as codes
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.guard.ledger.grants.matching import glob_matches
from poolsmith.guard.policies.policy_files import SUPPLY
from poolsmith.guard.policies.supply import supply_kind
from poolsmith.guard.policies.supply.supply_claims import (
    SupplyClaims,
    chart_claims,
    delivery_claim,
    git_claims,
    image_claims,
    mirror_claims,
)
from poolsmith.kubernetes.repository.argo_destination import argo_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Diagnostic, RuleInfo
    from poolsmith.fleet.plan.origin import FromProfile
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.supply.supply_claims import ChartClaim, DeliveryClaim, GitClaim, ImageClaim
    from poolsmith.guard.policies.supply.supply_kind import AllowedDelivery, AllowedGit, SupplySpec


DOCKER_HUB = "docker.io"
_DOCKER_HUB_TOO = frozenset((DOCKER_HUB, "index.docker.io"))
_OFFICIAL = "library"
_LONGEST = 600
_TAG = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"
_DIGEST = r"[a-z0-9]{1,20}:[0-9a-f]{32,128}"
_IMAGE_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = rf"(?P<name>.+?)(:(?P<tag>{_TAG}))?(@(?P<digest>{_DIGEST}))?"


class ImagePlace(NamedTuple):
    """A repository: the registry's host with its port, and the parts of the path."""

    host: str
    path: tuple[str, ...]

    @property
    def text(self) -> str:
        return "/".join((self.host, *self.path))

    def is_below(self, other: ImagePlace) -> bool:
        """Whether it is that one, or part by part below it."""
        return self.host == other.host and self.path[: len(other.path)] == other.path


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(pattern: str, text: str) -> bool:
    return len(text) <= _LONGEST and _compiled(pattern).fullmatch(text) is not None


def web_address(text: str) -> str | None:
    """The address of a chart repository in its one spelling; None of what is none."""
    return text.removesuffix("/") if _matches(supply_kind.WEB_ADDRESS, text) else None


def git_address(text: str) -> str | None:
    """The same of a Git repository; a user name only where SSH needs one."""
    return text.removesuffix("/") if _matches(supply_kind.GIT_ADDRESS, text) else None


def is_address_below(address: str, other: str) -> bool:
    """Both in their one spelling; part by part: `charts/nvidia` is below `charts`, `charts-2` is not."""
    return address == other or address.startswith(f"{other}/")


def image_place(text: str) -> ImagePlace | None:
    """The repository that a reference with or without tag and digest names; None of what is no reference.

    As container runtimes read it: without a host it is of Docker Hub, and without a path there one of `library`.
    """
    if len(text) > _LONGEST:
        return None
    found = _compiled(_REFERENCE).fullmatch(text)
    return None if found is None else repository_place(found["name"])


def repository_place(text: str) -> ImagePlace | None:
    """The same of a repository, which has neither tag nor digest."""
    head, *rest = text.split("/")
    if not rest or not _is_host(head):
        head, rest = DOCKER_HUB, [head, *rest]
    if not _matches(supply_kind.HOST, head) or not all(_matches(_IMAGE_PART, part) for part in rest):
        return None
    host = DOCKER_HUB if head in _DOCKER_HUB_TOO else head
    if host == DOCKER_HUB and len(rest) == 1:
        rest = [_OFFICIAL, *rest]
    return ImagePlace(host, tuple(rest))


def _is_host(part: str) -> bool:
    """As container runtimes decide it; a part in upper case can't be one of a path."""
    return "." in part or ":" in part or part == "localhost" or part != part.lower()


def allowed_place(text: str) -> ImagePlace:
    """An entry of a policy: a host, with a path or without."""
    host, *path = text.split("/")
    return ImagePlace(DOCKER_HUB if host in _DOCKER_HUB_TOO else host, tuple(path))


def without_mirror(place: ImagePlace, mirrors: Mapping[str, Iterable[str]]) -> tuple[ImagePlace, ...]:
    """What a mirror of the policy stands for."""
    found = ((host, allowed_place(mirror)) for host, several in mirrors.items() for mirror in several)
    return tuple(ImagePlace(host, place.path[len(mirror.path) :]) for host, mirror in found if place.is_below(mirror))


def revision_matches(pattern: str, revision: str) -> bool:
    """`*` stands for any letters except `/`, `?` for one. Nothing matches a revision with parts like `..`."""
    parts, wanted = revision.split("/"), pattern.split("/")
    if not all(_matches(r"(?!\.)(?!.*\.\.)[A-Za-z0-9._-]+", part) for part in parts) or len(parts) != len(wanted):
        return False
    return all(_matches(_glob(one), part) for one, part in zip(wanted, parts, strict=True))


def _glob(pattern: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern)


_FEW = 4


def supply_claims(prediction: Prediction, view: PrivilegeView) -> SupplyClaims:
    """All that a cluster takes, from its plan and from what will run."""
    plan = prediction.plan
    return SupplyClaims(
        charts=tuple(chart_claims(plan)),
        repositories=tuple(git_claims(plan)),
        delivery=delivery_claim(plan),
        mirrors=tuple(mirror_claims(plan)),
        images=tuple(image_claims(prediction, view)),
    )


def judge_supply(spec: SupplySpec, prediction: Prediction, view: PrivilegeView) -> tuple[Diagnostic, ...]:
    """What stands outside of the policy, each at the line of a profile that brings it about."""
    judging = _Judging(spec, view)
    claims = supply_claims(prediction, view)
    found = (
        *(item for claim in claims.charts for item in judging.chart(claim)),
        *(item for claim in claims.repositories for item in judging.repository(claim)),
        *judging.delivery(claims.delivery),
        *(
            judging.finding(
                codes.UNKNOWN_MIRROR,
                f"`{shorten(claim.mirror)}` is no mirror of {claim.host} in {SUPPLY}",
                claim.line,
            )
            for claim in claims.mirrors
            if claim.mirror not in spec.mirrors.get(claim.host, ())
        ),
        *judging.images(claims.images, {claim.host: (claim.mirror,) for claim in claims.mirrors}),
    )
    return tuple(found)


def git_entries(spec: SupplySpec, cluster: str, url: str) -> tuple[AllowedGit, ...]:
    """The entries of a repository that count for a cluster."""
    address = git_address(url)
    if address is None:
        return ()
    same = [entry for entry in spec.git_repositories if git_address(entry.url) == address]
    return tuple(
        entry for entry, counts in zip(same, _counting([x.clusters for x in same], cluster), strict=True) if counts
    )


def allows_image(spec: SupplySpec, image: str, own: Mapping[str, Iterable[str]] | None = None) -> bool:
    """Whether a registry of the policy has it, or a mirror of one; `own` are mirrors that are judged by themselves."""
    place = image_place(image)
    if place is None:
        return False
    wanted = (place, *without_mirror(place, spec.mirrors), *without_mirror(place, own or {}))
    allowed = [allowed_place(text) for text in spec.image_registries]
    return any(item.is_below(other) for item in wanted for other in allowed)


def _counting(patterns: Sequence[Iterable[str]], cluster: str) -> list[bool]:
    """Which entries count for a cluster: those that name it, and only without any such those whose patterns fit."""
    exact = [cluster in names for names in patterns]
    if any(exact):
        return exact
    return [any(glob_matches(name, cluster) for name in names) for names in patterns]


class _Judging:
    """One policy on one cluster."""

    def __init__(self, spec: SupplySpec, view: PrivilegeView) -> None:
        self._spec = spec
        self._view = view

    def finding(self, rule: RuleInfo, message: str, line: FromProfile) -> Diagnostic:
        return diagnose(rule, message, self._view.locate(line), subject=self._view.cluster)

    def chart(self, claim: ChartClaim) -> Iterator[Diagnostic]:
        address = web_address(claim.repository)
        allowed = [web_address(text) or "" for text in self._spec.chart_repositories]
        if address is None or not any(is_address_below(address, other) for other in allowed):
            message = (
                f"chart {claim.name} would come from {shown(claim.repository)}, which is none of the chart "
                f"repositories of {SUPPLY}"
            )
            yield self.finding(codes.UNKNOWN_SOURCE, message, claim.line)
        named = [entry for entry in self._spec.charts if entry.name == claim.name]
        if not named:
            message = f"chart {shorten(claim.name)} is none of the charts of {SUPPLY}"
            yield self.finding(codes.UNKNOWN_SOURCE, message, claim.line)
        elif not any(
            not entry.versions or any(glob_matches(item, claim.version) for item in entry.versions) for entry in named
        ):
            message = f"{SUPPLY} does not allow version {shorten(claim.version)} of chart {claim.name}"
            yield self.finding(codes.UNKNOWN_SOURCE, message, claim.version_line)

    def repository(self, claim: GitClaim) -> Iterator[Diagnostic]:
        entries = git_entries(self._spec, self._view.cluster, claim.url)
        if not entries:
            message = f"manifests would come from {shown(claim.url)}, which is none of the Git repositories of {SUPPLY}"
            yield self.finding(codes.UNKNOWN_SOURCE, message, claim.line)
            return
        fitting = [
            entry for entry in entries if any(revision_matches(item, claim.revision) for item in entry.revisions)
        ]
        if not fitting:
            message = f"{SUPPLY} does not allow revision {shorten(claim.revision)} of {shown(claim.url)}"
            yield self.finding(codes.UNKNOWN_SOURCE, message, claim.revision_line)
        elif claim.path is not None and not any(claim.path in entry.paths for entry in fitting):
            message = f"{SUPPLY} does not allow to deliver from the folder {shorten(claim.path)} of {shown(claim.url)}"
            yield self.finding(codes.UNKNOWN_SOURCE, message, claim.path_line)

    def delivery(self, claim: DeliveryClaim) -> Iterator[Diagnostic]:
        every = self._spec.deliveries
        counting = _counting([entry.clusters for entry in every], self._view.cluster)
        entries = [entry for entry, counts in zip(every, counting, strict=True) if counts]
        if not entries:
            message = f"{SUPPLY} has no entry in `deliveries` for the cluster {self._view.cluster}"
            yield self.finding(codes.UNKNOWN_DELIVERY, message, claim.line("engine"))
            return
        differing = min((list(_differing(entry, claim)) for entry in entries), key=len)
        for field, what in differing:
            message = f"{SUPPLY} does not allow the cluster {self._view.cluster} to be delivered {what}"
            yield self.finding(codes.UNKNOWN_DELIVERY, message, claim.line(field))

    def images(self, claims: Iterable[ImageClaim], mirrors: Mapping[str, Iterable[str]]) -> Iterator[Diagnostic]:
        """One finding on all images of a repository that one line causes; a mirror is reported once, as such."""
        outside: dict[tuple[str, FromProfile], list[ImageClaim]] = {}
        for claim in claims:
            if not allows_image(self._spec, claim.image, mirrors):
                place = image_place(claim.image)
                outside.setdefault((place.text if place is not None else claim.image, claim.line), []).append(claim)
        for (name, line), same in outside.items():
            by = listed(dict.fromkeys(claim.by for claim in same), _FEW)
            if image_place(same[0].image) is None:
                message = (
                    f"{shown(name)} is no image reference that can be compared with {SUPPLY}; it is pulled by {by}"
                )
            else:
                message = f"images of {shown(name)} are outside of the image registries of {SUPPLY}; pulled by {by}"
            yield self.finding(codes.UNKNOWN_IMAGE, message, line)


def _differing(entry: AllowedDelivery, claim: DeliveryClaim) -> Iterator[tuple[str, str]]:
    """Fields of a profile that an entry does not allow, and what they say."""
    if claim.namespace not in entry.namespaces:
        yield "namespace", f"by objects in namespace {claim.namespace}"
    if claim.project not in entry.projects:
        yield "project", f"in the Argo CD project {claim.project}"
    if (claim.name, claim.server) != _allowed_place(entry):
        where = claim.name or (shown(claim.server) if claim.server else "the cluster that the engine runs in")
        yield "destination", f"to {where}"
    if claim.instance != entry.instance:
        yield "instance", f"by {f'the Argo CD {claim.instance}' if claim.instance else 'the Argo CD without a name'}"
    if claim.source_ref != entry.source_ref:
        yield "sourceRef", f"from {claim.source_ref or 'a source of its own'}"


def _allowed_place(entry: AllowedDelivery) -> tuple[str | None, str | None]:
    """Name and server, letter by letter; neither for the cluster that Argo CD runs in, however an entry calls it."""
    is_one = entry.name is None or entry.server is None
    is_own = is_one and argo_target(entry.name, entry.server).is_own_cluster
    return (None, None) if is_own else (entry.name, entry.server)


def shown(text: str) -> str:
    """An address in a message, in quotes."""
    return f"`{shorten(text)}`"
