"""Use case: what a default installation may do more, and less, with another release."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.installations import read_installations
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.guard.ledger.build import installed_ledger
from poolsmith.guard.ledger.ledger import Ledger
from poolsmith.guard.ledger.ledger_delta import LedgerDelta, delta
from poolsmith.interface.app.ledger import changes_json, check_names, kept
from poolsmith.interface.app.set_values import refuse_unsound, set_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.fleet.operands.installation import Installation
    from poolsmith.guard.ledger.ledger_delta import Change
    from poolsmith.interface.app.ledger import LedgerFilter

_CHART = "gpu-operator"
_RUNTIME = "containerd://2.1.4"


@record(kw_only=False)
class ReleaseChanges:
    """The changes of one installation; `unknown` is what can't be told of one of the two releases."""

    title: str
    settings: tuple[str, ...]
    changes: LedgerDelta
    unknown: tuple[str, ...] = ()


@record(kw_only=False)
class ReleaseDiff:
    """One part for each installation of the catalog, without what the parts before it told; or one, with the values."""

    before: str
    after: str
    pools: tuple[str, ...]
    parts: tuple[ReleaseChanges, ...]


def release_diff(before: str, after: str, chosen: LedgerFilter, settings: Sequence[str] = ()) -> ReleaseDiff:
    """Of `settings` on top of each chart's defaults; without any, of the installations that the catalog knows.

    Raises UsageError for a release that is not known, a value that neither reads, and names that nothing has.
    """
    known = read_installations()
    if settings:
        refuse_unsound(_values(settings), {}, (after, before))
        compared = [_compared("an installation with values", before, after, settings, strict=True)]
    else:
        compared = [_compared(item.title, before, after, item.values) for item in known.installations]
    check_names(
        chosen, known.nodes, (name for item in compared for side in (item.old, item.new) for name in side.workloads)
    )
    parts = []
    told: set[Change] = set()
    for item in compared:
        part = item.changes(chosen)
        rest = tuple(change for change in part.changes.changes if change not in told)
        told.update(rest)
        parts.append(replace(part, changes=LedgerDelta(rest, part.changes.unknown)))
    return ReleaseDiff(before, after, tuple(known.nodes), tuple(parts))


def release_diff_json(result: ReleaseDiff) -> str:
    """The machine-readable difference, version 1."""
    body = {
        "version": 1,
        "from": result.before,
        "to": result.after,
        "parts": [
            {
                "title": part.title,
                "values": list(part.settings),
                "changes": changes_json(part.changes),
                "unknown": list(part.unknown),
            }
            for part in result.parts
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


@record(kw_only=False)
class _Compared:
    """The whole ledgers of one installation with the one release and with the other."""

    title: str
    settings: tuple[str, ...]
    old: Ledger
    new: Ledger
    unknown: tuple[str, ...]

    def changes(self, chosen: LedgerFilter) -> ReleaseChanges:
        difference = delta(kept(self.old, chosen), kept(self.new, chosen))
        return ReleaseChanges(self.title, self.settings, difference, self.unknown)


def _compared(title: str, before: str, after: str, settings: Sequence[str], *, strict: bool = False) -> _Compared:
    """With `strict`, what a release refuses is a UsageError; else it is unknown, and nothing is compared."""
    values = _values(settings)
    installed = [_installed(release, values) for release in (before, after)]
    refused = [f"{item.release}: {item.errors[0]}" for item in installed if item.errors]
    if refused and strict:
        raise UsageError(refused[0])
    ledgers = [installed_ledger(item) for item in installed]
    unknown = [
        f"{item.release}: {text}"
        for item, ledger in zip(installed, ledgers, strict=True)
        for text in (*item.unknown, *ledger.unknown)
    ]
    old, new = (Ledger(), Ledger()) if refused else ledgers
    return _Compared(title, tuple(settings), old, new, tuple(dict.fromkeys((*refused, *unknown))))


def _values(settings: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    set_all(values, settings)
    return values


def _installed(release: str, values: dict[str, Any]) -> Installation:
    chart = read_chart(_CHART, release)
    if release not in operand_releases() or chart is None:
        known = sorted(operand_releases(), key=version_key, reverse=True)
        raise UsageError(f"the operands of release `{release}` are not in the catalog; {did_you_mean(release, known)}")
    nodes = tuple(
        Node(name=name, labels=labels, runtime=_RUNTIME) for name, labels in read_installations().nodes.items()
    )
    return install(InstallationInput(release=release, namespace=_CHART, nodes=nodes, values=values, chart=chart))
