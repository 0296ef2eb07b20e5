"""The file of a baseline: findings that are accepted for now, each until a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.shape.field import API_VERSION, spec
from poolsmith.core.shape.review import DATE, PROSE
from poolsmith.guard.policies.rule_settings import RULE_WORD

if TYPE_CHECKING:
    from collections.abc import Iterable

BASELINE = "Baseline"
_LINE = r"[^\x00-\x1f\x7f]{0,4096}"


@record
class BaselineEntry:
    """Findings of one rule in one file that are accepted until a day."""

    rule: str = spec("Name or code of the rule.", pattern=RULE_WORD, examples=("PSM310",))
    file: str = spec("The file, relative to the folder that is checked.", pattern=_LINE, examples=("apps/gpu.yaml",))
    subject: str = spec("What the finding is about; for people.", pattern=_LINE, default="")
    finding: str = spec("What the finding says; for people.", pattern=_LINE, default="")
    fingerprint: str = spec("Of the finding, without its line.", pattern=r"[0-9a-f]{32}")
    count: int = spec("How many findings are alike.", default=1, minimum=1, maximum=100_000)
    reason: str = spec("Why it is not fixed yet.", pattern=PROSE, default="")
    since: str = spec("The day on which it was accepted.", pattern=DATE, form="a day such as 2027-06-30", default="")
    expires: str = spec("The last day on which it is accepted.", pattern=DATE, form="a day such as 2027-06-30")


@record
class BaselineSpec:
    """What a repository mends over time."""

    flags: tuple[str, ...] = spec(
        "Flags of `check` that it was written with. A run without one of them does not show what is fixed.",
        default=(),
        pattern=r"--[a-z-]{1,40}",
        examples=("--all",),
    )
    findings: tuple[BaselineEntry, ...] = spec("What is accepted for now.", default=())


def baseline_text(entries: Iterable[BaselineEntry], flags: Iterable[str] = ()) -> str:
    """The file, as it is committed."""
    from poolsmith.core.sources.yaml_writer import emit  # on demand

    return emit(
        {
            "apiVersion": API_VERSION,
            "kind": BASELINE,
            "metadata": {"name": "baseline"},
            "spec": {
                **({"flags": list(flags)} if flags else {}),
                "findings": [_body(entry) for entry in entries],
            },
        },
        header=(
            "Findings that are accepted for now, each until its day. Say in `reason` why it waits.",
            "`poolsmith check PATHS --write-baseline` takes out what is fixed; it keeps reasons and days.",
        ),
    )


def _body(entry: BaselineEntry) -> dict[str, str | int]:
    fields = ("rule", "file", "subject", "finding", "fingerprint", "count", "reason", "since", "expires")
    return {name: value for name in fields if (value := getattr(entry, name)) != ""}
