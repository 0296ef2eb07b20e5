"""A request with its values for expressions, made once and shared by all policies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.cel import Bindings, CelError, NotEvaluated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.admission.compiled import CompiledExpression
    from poolsmith.kubernetes.admission.request import AdmissionRequest

USER = "userInfo"
_ASKS_FOR_PRESENCE = re.compile(r"has\s*\(|\?")
_UNKNOWN = {
    USER: "who sends the request is not known here: it reads `request.userInfo`",
    "namespaceObject": "the namespace is not known here: it reads `namespaceObject`",
    "oldObject": "the old object is not known here: it reads `oldObject`",
}


class Subject:
    """Evaluates parts of policies on one request."""

    def __init__(self, request: AdmissionRequest, *, params: Mapping[str, Any] | None = None) -> None:
        self.request = request
        self._params = params
        self._bindings: Bindings | None = None
        self._without_namespace: Bindings | None = None

    def with_params(self, params: Mapping[str, Any]) -> Subject:
        other = Subject(self.request, params=params)
        if self._bindings is not None:
            other._bindings = self._bindings.with_params(params)
        return other

    def value(self, part: CompiledExpression) -> Any:
        """Raises CelError for an error of CEL, a compile error included, and NotEvaluated."""
        return self._value(part, ("namespaceObject", "oldObject"), self.bindings)

    def condition(self, part: CompiledExpression) -> Any:
        """As `value`, of a match condition: for those namespaceObject is always null."""
        if not part.reads("namespaceObject"):
            return self._value(part, ("oldObject",), self.bindings)
        if self._without_namespace is None:
            self._without_namespace = self._made(namespace=None)
        return self._value(part, ("oldObject",), self._without_namespace)

    @property
    def bindings(self) -> Bindings:
        if self._bindings is None:
            self._bindings = self._made(namespace=self.request.namespace_variable())
        return self._bindings

    def _made(self, *, namespace: Mapping[str, Any] | None) -> Bindings:
        request = self.request
        return Bindings(
            object=request.object,
            old_object=request.old_object,
            request=request.request_variable(),
            namespace_object=namespace,
            params=self._params,
        )

    def _value(self, part: CompiledExpression, names: tuple[str, ...], bindings: Bindings) -> Any:
        if part.undecidable:
            raise NotEvaluated(part.undecidable)
        if part.compiled is None:
            raise CelError(part.failure)
        unknown = self.request.unknown
        if unknown:
            for name in names:
                if name in unknown and part.reads(name):
                    raise NotEvaluated(_UNKNOWN[name])
            if USER in unknown and part.reads("request"):
                return self._of_unknown_user(part, bindings)
        return part.compiled.evaluate(bindings)

    def _of_unknown_user(self, part: CompiledExpression, bindings: Bindings) -> Any:
        """A result that comes about without the user holds for every user."""
        text = part.texts
        if USER not in text:
            return part.compiled.evaluate(bindings) if part.compiled is not None else None
        if _ASKS_FOR_PRESENCE.search(text):
            raise NotEvaluated(_UNKNOWN[USER])
        try:
            return part.compiled.evaluate(bindings) if part.compiled is not None else None
        except CelError:
            raise NotEvaluated(_UNKNOWN[USER]) from None
