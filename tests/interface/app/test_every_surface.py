"""What is told of values does not depend on who hands them to Helm."""

from __future__ import annotations

import pytest

from interface.app.every_surface import FAULTS, SURFACES, place_of
from poolsmith.core.diagnostics import NoInputError, Severity
from poolsmith.interface.app import check_paths
from poolsmith.interface.app.fix import fixes, write_fixes
from support.marked import MARK

OF_THE_RELEASE = {"PSM427", "PSM516"}
"""What an old release brings along: vulnerabilities, and a null that its chart renders."""
OF_THE_ENGINE = {"PSM586", "PSM786"}
"""What k3s and RKE2 need besides."""
ANSWERED = (
    "operand-by-image-name",
    "dotted",
    "strategy-word",
    "env-number",
    "toolkit-variable",
    "flag-misspelt",
    "worker-source",
    "dp-gfd-switch",
    "dp-strategy-word",
)
"""Faults with one certain answer."""
ON_EACH = [(fault, surface) for surface in SURFACES for fault in FAULTS if FAULTS[fault].stands_on(surface)]
FEW = pytest.mark.rows(75, "each fault and each surface once or twice; `make test-deep` has each on each")


def judged(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text.replace(MARK, ""))
    try:
        return check_paths(root, [root]).open
    except NoInputError:
        return []


def told(found, surface):
    beside = OF_THE_RELEASE | (OF_THE_ENGINE if surface.startswith("k3s") else set())
    return {(item.code, item.primary.span) for item in found if item.severity is not Severity.NOTE} - {
        (item.code, item.primary.span) for item in found if item.code in beside
    }


@FEW
@pytest.mark.parametrize(("fault", "surface"), ON_EACH)
def test_a_fault_is_told_at_its_line_and_its_twin_is_left_alone(tmp_path, fault, surface):
    files, codes = FAULTS[fault].on(surface), FAULTS[fault].codes
    found = judged(tmp_path / "bad", files)
    twin = judged(tmp_path / "good", FAULTS[fault].on(surface, twin=True))
    path, line = place_of(files)
    lines = {line + more for more in {"terraform-set": (0, 2), "terraform-encode": (0, -1)}.get(surface, (0,))}
    right = {item for item in found if item.code in codes and item.primary.span.path == path}

    assert {item.primary.span.start.line for item in right} & lines
    assert {code for code, _ in told(found, surface)} <= codes
    assert told(twin, surface) == set()
    assert {item.code for item in twin} & (codes - OF_THE_RELEASE) == set()


@FEW
@pytest.mark.parametrize(("fault", "surface"), [row for row in ON_EACH if row[0] in ANSWERED])
def test_a_certain_answer_is_written_or_said_not_to_be(tmp_path, fault, surface):
    found = judged(tmp_path, FAULTS[fault].on(surface))
    fixed = fixes(tmp_path, found, dirty=True)
    write_fixes(tmp_path, fixed)

    assert fixed.edits or fixed.left
    assert not fixed.edits or told(judged(tmp_path, {}), surface) == set()
