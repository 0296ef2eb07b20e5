"""What a policy says of a request beside its verdict: messages of failed validations, and audit annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.admission.verdict import AuditAnnotation
from poolsmith.kubernetes.cel import CelError, NotEvaluated

if TYPE_CHECKING:
    from poolsmith.kubernetes.admission.compiled import CompiledExpression, CompiledPolicy
    from poolsmith.kubernetes.admission.policy import Validation
    from poolsmith.kubernetes.admission.subject import Subject

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


MAX_VALUE_BYTES = 10 * 1024


class Audit:
    """`published` by the keys of the policy; `errors` and `unknown` are pointers with what is wrong there."""

    def __init__(self, compiled: CompiledPolicy, subject: Subject) -> None:
        published: list[AuditAnnotation] = []
        errors: list[tuple[str, str]] = []
        unknown: list[tuple[str, str]] = []
        for named, part in zip(compiled.policy.audit_annotations, compiled.audit_annotations, strict=True):
            pointer = part.expression.pointer
            try:
                value = subject.value(part)
            except CelError as error:
                errors.append(
                    (pointer, part.failure or f"expression '{part.expression.source}' resulted in error: {error}")
                )
            except NotEvaluated as reason:
                unknown.append((pointer, str(reason)))
            else:
                text = value.strip(SPACE) if isinstance(value, str) else ""
                if text:
                    published.append(AuditAnnotation(named.name, _cut(text)))
        self.published = tuple(published)
        self.errors = tuple(errors)
        self.unknown = tuple(unknown)


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= MAX_VALUE_BYTES else raw[:MAX_VALUE_BYTES].decode("utf-8", "ignore")
