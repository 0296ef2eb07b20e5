"""What a failed validation says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.cel import CelError, NotEvaluated

if TYPE_CHECKING:
    from poolsmith.policies.admission.compiled import CompiledExpression
    from poolsmith.policies.admission.policy import Validation
    from poolsmith.policies.admission.subject import Subject

MAX_MESSAGE_BYTES = 5 * 1024
SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go trims."""


def failure_message(validation: Validation, part: CompiledExpression | None, subject: Subject) -> str:
    """Of the message expression where that gives one line of bounded length; else the message; else the expression."""
    return (
        _evaluated(part, subject)
        or validation.message.strip(SPACE)
        or f"failed expression: {validation.expression.source.strip(SPACE)}"
    )


def _evaluated(part: CompiledExpression | None, subject: Subject) -> str:
    if part is None:
        return ""
    try:
        value = subject.value(part)
    except (CelError, NotEvaluated):
        return ""
    text = value.strip(SPACE) if isinstance(value, str) else ""
    too_long = len(text.encode("utf-8", "surrogatepass")) > MAX_MESSAGE_BYTES
    return "" if too_long or "\n" in text else text
