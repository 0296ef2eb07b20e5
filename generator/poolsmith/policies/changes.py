"""How `policies/` of the checkout differs from that of the revision that judges.

What a pull request generates is made of its own policies and shipped, while the other revision's judge it: that the two
differ is all that can be said of a policy that holds less than before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.diagnostics.codes.policy import CHANGED_POLICIES
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.printable import shorten
from poolsmith.policies.files import POLICIES

if TYPE_CHECKING:
    from poolsmith.policies.policies import Policies

_FEW = 8


def policy_changes(own: Policies, judging: Policies) -> tuple[Diagnostic, ...]:
    """One finding on all files that are new, changed or gone; none where nothing is."""
    ours, theirs = set(own.files.paths), set(judging.files.paths)
    changed = (path for path in ours & theirs if own.tree.read_text(path) != judging.tree.read_text(path))
    parts = {"new": ours - theirs, "changed": set(changed), "gone": theirs - ours}
    said = [f"{word}: {listed(map(_short, sorted(paths)), _FEW)}" for word, paths in parts.items() if paths]
    if not said:
        return ()
    message = f"`{POLICIES}/` is not that of the revision that judges; {'; '.join(said)}"
    return (diagnose(CHANGED_POLICIES, message, whole_file(POLICIES)),)


def _short(path: str) -> str:
    return shorten(path.removeprefix(f"{POLICIES}/"))
