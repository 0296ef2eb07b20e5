"""docs/surfaces.md: rules by surface, made of the table of the catalog."""

from __future__ import annotations

from poolsmith.guard.rules.rule_book import rule_book
from poolsmith.guard.rules.surfaces import YES, columns, not_live, reasons, rule_surfaces

TITLE = """\
# One fact, on whichever surface

Generated from `data/rule_surfaces.yaml`; do not edit. The same configuration can stand in a profile, in Helm values, in
the operator's custom resources, and on nodes. A rule is written once, over what a pool or a cluster *is*: `gpu/pools/`
and `guard/rules/setup/` fill the record from each surface, with the place of each field. What a surface does not say is
unknown, and counted.

`yes`: the rule speaks of that surface, at its lines. A code: another rule reports the same there. A number: why nothing is
reported, below the table. `profile` includes `stack.values`, which are judged as Helm values are; `object` is a
ClusterPolicy, an NVIDIADriver, a GPUCluster, a ConfigMap of the stack or what stands beside them; `node` is what
`--nodes`, `--cluster` or a live cluster says.
"""
LIVE = """\
`verify` fills the same record from a cluster's nodes, its ClusterPolicy, NVIDIADrivers, GPUCluster and configurations, and
`discover` proposes profiles of them, which are judged as any; both run the rules over a setup on what they read. Not run are:
"""


def surface_page() -> str:
    names = {rule.code: rule.name for rule in rule_book()}
    used = {word: number for number, word in enumerate(reasons(), 1)}
    rows = [
        f"| `{code}` {names[code]} | " + " | ".join(_cell(cells[column], used) for column in columns()) + " |"
        for code, cells in sorted(rule_surfaces().items())
    ]
    head = [f"| rule | {' | '.join(columns())} |", f"| --- |{' --- |' * len(columns())}"]
    notes = [f"{number}. {reasons()[word]}." for word, number in used.items()]
    apart = [f"- `{code}` {names[code]}: {why}." for code, why in not_live().items()]
    live = ("", "## What is not asked of a live cluster", "", LIVE, *apart)
    return "\n".join((TITLE, *head, *rows, "", "## Why a cell is empty", "", *notes, *live)) + "\n"


def _cell(cell: str, used: dict[str, int]) -> str:
    if cell == YES:
        return "yes"
    return f"`{cell}`" if cell.startswith("PSM") else f"({used[cell]})"
