"""The audit annotations of a policy on one request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.cel import CelError, NotEvaluated
from poolsmith.policies.admission.message import SPACE
from poolsmith.policies.admission.verdict import AuditAnnotation

if TYPE_CHECKING:
    from poolsmith.policies.admission.compiled import CompiledPolicy
    from poolsmith.policies.admission.subject import Subject

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
