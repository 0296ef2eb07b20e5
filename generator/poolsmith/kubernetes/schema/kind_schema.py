"""What the API server says of an object of one kind: what it keeps, and what it refuses."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import copied
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.kubernetes.schema.compiler import Check, Compiler, Nulls, accept
from poolsmith.kubernetes.schema.structural import kept, short_form
from poolsmith.kubernetes.schema.validation_rules import transition_violations

if TYPE_CHECKING:
    from poolsmith.kubernetes.schema.scalars import Schema
    from poolsmith.kubernetes.schema.violation import Violation

_REMEMBERED = 100_000
_PATIENCE = 256
"""So many unlike objects in a row, and no more are remembered."""
_ENVELOPE = ("apiVersion", "kind", "metadata")


class KindSchema:
    """One kind's compiled schema."""

    def __init__(self, compiler: Compiler, name: str, family: str, version: str) -> None:
        self.compiler = compiler
        self.name = name
        self.family = family
        self.version = version
        self._sound: set[bytes] = set()
        self._patience = _PATIENCE

    @property
    def definition(self) -> Schema:
        return self.compiler.resolve({"$ref": self.name})

    @property
    def is_custom(self) -> bool:
        return self.compiler.nulls is Nulls.NULLABLE

    @cached_property
    def check(self) -> Check:
        return self.compiler.root(self.name)

    def violations(self, body: Any) -> tuple[Violation, ...]:
        """An object that is equal to one found sound before is not walked again."""
        key = tree_digest(body) if self._patience else b""
        if key in self._sound:
            self._patience = _PATIENCE
            return ()
        found = self.check(body)
        if found is not None:
            return tuple(found)
        if self._patience and len(self._sound) < _REMEMBERED:
            self._patience -= 1
            self._sound.add(key)
        return ()

    def kept(self, body: Any) -> Any:
        """As the API server keeps it; of custom resources only. The envelope is no part of a definition here."""
        envelope = {key: copied(body[key]) for key in _ENVELOPE if key in body}
        return envelope | kept(self.definition, body, self.compiler.resolve)

    def transition_violations(self, old: Any, new: Any) -> tuple[Violation, ...]:
        return transition_violations(self.definition, old, new, self.compiler.resolve)


def kind_of_definition(schema: dict[str, Any], name: str) -> KindSchema:
    """Of a CustomResourceDefinition that stands by itself. It says nothing of metadata."""

    def definition(_name: str) -> Schema:
        whole = short_form(schema)
        for key in _ENVELOPE:
            whole.get("properties", {}).pop(key, None)
        return whole

    return KindSchema(Compiler(definition, Nulls.NULLABLE, accept), name, "", "")
