"""What was found sound is not walked again, and what only looks like it is."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.schema.compiler import Compiler, Nulls

_ITEM = {"type": "object", "properties": {"port": {"type": "integer"}, "name": {"type": "string"}}}
_SCHEMA = {"type": "object", "properties": {"ports": {"type": "array", "items": _ITEM}}}
SOUND = {"ports": [{"port": 1, "name": "a"}]}


@pytest.mark.parametrize(
    "other",
    [{"port": True, "name": "a"}, {"port": "1", "name": "a"}, {"port": 1, "name": 1}, {"port": 1, "nam": "a"}],
)
def test_a_value_beside_its_sound_twin_is_found(other: dict[str, object]) -> None:
    check = Compiler(lambda name: {}, Nulls.ABSENT).check(_SCHEMA)
    for number in range(100):  # unlike ones until nobody looks whether they are alike
        assert check(SOUND) is None
        assert check({"ports": [{"port": number, "name": "b"}]}) is None
        assert check({"ports": [*SOUND["ports"], other]}), number
