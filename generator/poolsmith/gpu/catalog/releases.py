"""Releases of the GPU Operator beyond their charts, and its behaviour at any tag, also one without an entry.

Entries of releases are made of the same rules, each of which holds for a range of releases.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers, is_older, line_of, version_key
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping


@record
class DriverObjectFacts:
    """How NVIDIADriver behaves in a release. `hands_over`: it takes the running pods of a ClusterPolicy over."""

    overlap: str
    hands_over: bool
    upgrade_policy: bool
    maturity: str | None


@record
class Release:
    """One release of the operator."""

    tag: str
    line: str
    kubernetes: tuple[str, str] | None
    driver_object: DriverObjectFacts
    cdi_default: bool
    cc_manager_default: bool
    sandbox_era: str
    drop_in: bool
    passthrough_raw_ids: frozenset[str]
    precompiled_arch: tuple[str, ...]
    ignore_differences: tuple[dict[str, Any], ...]
    source: str
    restarts_in_place: bool = False
    """Whether driver pods whose installation stays the same restart without taking GPUs from pods."""


@record
class Releases:
    """All releases, oldest first."""

    chart_name: str
    chart_repository: str
    lines: tuple[str, ...]
    by_tag: dict[str, Release]
    supported: dict[str, str]
    """The first tag of each line whose support has not ended."""
    supported_as_of: str
    """The day of the page that says so."""

    def is_supported(self, tag: str) -> bool:
        return line_of(tag) in self.supported

    def near(self, tag: str) -> Release | None:
        """The release itself, else the recorded one of its line: patches change none of these facts."""
        if tag in self.by_tag:
            return self.by_tag[tag]
        return next((release for release in self.by_tag.values() if release.line == line_of(tag)), None)


def advisable(since: str | None = None) -> str:
    """The first release from `since` on whose support has not ended: what texts may advise to pin."""
    supported: dict[str, str] = store.table("releases.yaml")["supported"]
    oldest = next(iter(supported.values()))
    return oldest if since is None or is_older(since, oldest) else since


def releases_from(data: dict[str, Any]) -> Releases:
    tags = sorted(data["releases"], key=version_key)
    return Releases(
        chart_name=data["chart"]["name"],
        chart_repository=data["chart"]["repository"],
        lines=tuple(data["lines"]),
        supported=dict(data["supported"]),
        supported_as_of=data["supportedAsOf"],
        by_tag={tag: _release(tag, data["releases"][tag]) for tag in tags},
    )


def _release(tag: str, entry: dict[str, Any]) -> Release:
    driver = entry["driverCr"]
    return Release(
        tag=tag,
        line=entry["line"],
        kubernetes=None if entry["kubernetes"] is None else (entry["kubernetes"][0], entry["kubernetes"][1]),
        driver_object=DriverObjectFacts(
            overlap=driver["overlap"],
            hands_over=driver["fromPolicy"] == "hands over",
            upgrade_policy=driver["upgradePolicy"],
            maturity=driver.get("maturity"),
        ),
        cdi_default=entry["cdiDefault"],
        cc_manager_default=entry["ccManagerDefault"],
        sandbox_era=entry["sandboxEra"],
        drop_in=entry["dropIn"],
        passthrough_raw_ids=frozenset(entry["passthroughRawIds"]),
        precompiled_arch=tuple(entry["precompiledArch"]),
        ignore_differences=tuple(entry.get("ignoreDifferences", ())),
        source=entry["source"],
        restarts_in_place=entry.get("restartsInPlace", False),
    )


@cache
def behaviour_at(release: str) -> dict[str, Any]:
    """By the names of `operands/overlay.yaml`: of the ClusterPolicy's operands. Shared, so not to be changed."""
    return behaviour_of(store.table("operands/overlay.yaml")["behaviour"], release)


@cache
def driver_object_behaviour_at(release: str) -> dict[str, Any]:
    """Of NVIDIADriver objects: their own by the names of `nvidia_driver/overlay.yaml`, over what holds for both."""
    return {
        **behaviour_at(release),
        **behaviour_of(store.table("nvidia_driver/overlay.yaml")["behaviour"], release),
    }


def behaviour_of(rules: Mapping[str, Any], release: str) -> dict[str, Any]:
    """Each behaviour with the value that holds for a release: the one entry of its list that covers it.

    Raises PoolsmithError that names every behaviour without one.
    """
    covering = {name: [entry for entry in entries if covers(entry, release)] for name, entries in sorted(rules.items())}
    wrong = [f"{name} has {len(found)}" for name, found in covering.items() if len(found) != 1]
    if wrong:
        raise PoolsmithError(f"overlay.yaml: each behaviour needs one entry that covers {release}; {', '.join(wrong)}")
    return {name: found[0]["value"] for name, found in covering.items()}


def name_of_kernel(kernel: str, architectures: str) -> str:
    """A kernel as a part of object names: without the architecture, in lower case. `architectures`: the behaviour."""
    return re.sub(architectures, "", kernel).replace("_", ".").removesuffix(".").lower()
