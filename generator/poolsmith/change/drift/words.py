"""Drift in sentences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.drift.cures import CureKind
from poolsmith.change.drift.diffs import DiffMode, EngineDiff
from poolsmith.core.diagnostics.printable import cut_inside
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.kubernetes.server.server_fields import Effect

if TYPE_CHECKING:
    from poolsmith.change.drift.cures import Cure
    from poolsmith.change.drift.forecast import Drift

_ENGINES = {Engine.ARGOCD: "Argo CD", Engine.FLUX: "Flux"}
_DIFFS = {
    DiffMode.LEGACY: "legacy diff",
    DiffMode.SERVER_SIDE: "server-side diff",
    DiffMode.STRUCTURED_MERGE: "structured merge diff",
}
_LONGEST_VALUE = 60
_STORED = frozenset((Effect.NULL_FOR_DEFAULT, Effect.NULL_IN_LIST, Effect.DEFAULT_IN_LIST))


def engine_words(compared: EngineDiff) -> str:
    """An engine and its diff, as people call them."""
    engine = _ENGINES[compared.engine]
    return engine if compared.engine is Engine.FLUX else f"{engine}, {_DIFFS[compared.diff]}"


def drift_words(item: Drift) -> str:
    """What the server makes of the field."""
    return f"{item.means}: {_shown(item.stored)}" if item.effect in _STORED else item.means


def cure_words(cure: Cure) -> str:
    """What is written so that nothing is left to report."""
    return f"{'cured by the value' if cure.kind is CureKind.VALUE else 'cured by'} `{cure.text}`"


def _shown(value: Any) -> str:
    return cut_inside(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE)
