"""Proposed grants as YAML, for a file and for the help of a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.shape.metadata import API_VERSION
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.grants.family import label_of
from poolsmith.guard.ledger.grants.grant import GRANT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.guard.ledger.grants.proposal import Proposal

_SCREEN = 30
"""Lines of YAML that a finding shows."""
_SEPARATOR = "---\n"


@record
class Answers:
    """What only a person can say of a grant; empty until somebody does."""

    reason: str = ""
    owner: str = ""
    expires: str = ""


_NONE = Answers()


def proposal_document(proposal: Proposal, name: str, answers: Answers = _NONE) -> dict[str, Any]:
    """The grant as its file has it."""
    spec = proposal.spec()
    body: dict[str, Any] = {
        "clusters": list(spec.clusters),
        "pools": list(spec.pools),
        "workload": spec.workload,
        "containers": list(spec.containers),
        "images": list(spec.images),
        "privileges": list(spec.privileges),
    }
    said = {key: value for key, value in body.items() if value != []}
    answered = {"reason": answers.reason, "owner": answers.owner, "expires": answers.expires}
    return {"apiVersion": API_VERSION, "kind": GRANT, "metadata": {"name": name}, "spec": said | answered}


def proposal_text(proposal: Proposal, name: str, answers: Answers = _NONE) -> str:
    return emit(proposal_document(proposal, name, answers))


def named_proposals(found: Iterable[Proposal], taken: Iterable[str] = ()) -> tuple[tuple[str, Proposal], ...]:
    """Each with a name that no grant has: its workload, its container if it is one, its cluster if it is one."""
    names = set(taken)
    result = []
    for item in found:
        parts = (item.workload, *(item.containers if len(item.containers) == 1 else ()))
        pod = () if item.containers else ("pod",)
        cluster = item.clusters if len(item.clusters) == 1 else ()
        name = free_name((*parts, *pod, *cluster), names)
        names.add(name)
        result.append((name, item))
    return tuple(result)


def free_name(parts: Sequence[str], taken: Iterable[str]) -> str:
    """A label made of the parts that is not taken; a number tells those apart that would be alike."""
    known = frozenset(taken)
    name, number = label_of(*parts), 1
    while name in known:
        number += 1
        ending = f"-{number}"
        name = label_of(label_of(*parts)[: 63 - len(ending)]) + ending
    return name


def snippet(found: Sequence[tuple[str, Proposal]], rest: str) -> str:
    """As many of the grants as fit one screen; `rest` is the command that shows the others."""
    shown: list[str] = []
    for index, (name, item) in enumerate(found):
        text = (_SEPARATOR if shown else "") + proposal_text(item, name)
        lines = text.splitlines()
        if len(shown) + len(lines) > _SCREEN:
            left = len(found) - index
            if not shown:
                shown, left = _cut(lines, rest), left - 1
            if left:
                more = "1 more grant" if left == 1 else f"{left} more grants"
                shown.append(f"# {more} needed: `{rest}` shows all")
            break
        shown.extend(lines)
    return "\n".join(shown)


def _cut(lines: list[str], rest: str) -> list[str]:
    """One grant that is longer than a screen: without some of its privileges."""
    head, tail = lines[: _SCREEN - 5], lines[-3:]
    hidden = len(lines) - len(head) - len(tail)
    return [*head, f"    # and {hidden} more: `{rest}` shows all", *tail]
