"""What random expressions read: an ordinary object and an odd one, the paths into them by type, and literals."""

from __future__ import annotations

OBJECT = {
    "apiVersion": "v1",
    "kind": "Thing",
    "metadata": {"name": "a", "namespace": "ns", "labels": {"app": "x", "tier": "a"}},
    "spec": {
        "int": 3,
        "zero": 0,
        "double": 2.5,
        "bool": True,
        "text": "ab",
        "number": "5",
        "empty": "",
        "nothing": None,
        "ints": [3, 1, 2],
        "texts": ["a", "b", "ab"],
        "none": [],
        "mixed": [1, "a", None, True, 2.5],
        "map": {"a": 1, "b": 2},
        "words": {"x": "a", "y": "b"},
        "deep": {"x": {"b": 1}, "a": None, "y": {"x": {"b": "ab"}}},
        "items": [
            {"name": "a", "n": 1, "ok": True, "args": ["a", "b"], "limits": {"a": 1}},
            {"name": "b", "n": 2, "args": []},
            {"name": "ab", "ok": False, "limits": {"a": 2, "b": 3}},
        ],
        "duration": "1h30m",
        "time": "2024-05-06T07:08:09Z",
        "quantity": "1500m",
    },
}
ODD_OBJECT = {
    **OBJECT,
    "spec": {
        "int": "3",
        "zero": 0.5,
        "double": 2,
        "bool": "true",
        "text": ["a"],
        "number": 5,
        "empty": None,
        "nothing": {"x": None},
        "ints": ["a", 1, None],
        "texts": [1, "a"],
        "none": {},
        "mixed": {"a": 1},
        "map": [1, 2],
        "words": {"x": 1},
        "deep": {"x": None},
        "items": [{"name": None}, [1]],
        "duration": 90,
        "time": "2023-01-01",
        "quantity": 2,
    },
}
"""Every field is of another type than expressions take it for."""
PATHS = {
    "int": ("object.spec.int", "object.spec.zero", "object.spec.map.a", "object.spec.deep.x.b", "object.spec.ints[1]"),
    "double": ("object.spec.double",),
    "bool": ("object.spec.bool", "object.spec.items[0].ok"),
    "string": ("object.spec.text", "object.spec.number", "object.metadata.name", "object.spec.empty", "request.name"),
    "duration": ("duration(object.spec.duration)",),
    "timestamp": ("timestamp(object.spec.time)",),
    "uint": ("uint(object.spec.int)",),
    "dyn": ("object.spec.nothing", "object.spec.mixed[2]", "object.spec.items[1]", "object.spec.deep", "oldObject"),
    "list int": ("object.spec.ints", "object.spec.none"),
    "list string": ("object.spec.texts", "object.spec.items[0].args", "object.spec.none"),
    "list dyn": ("object.spec.items", "object.spec.mixed", "object.spec.ints", "object.spec.texts"),
    "map int": ("object.spec.map", "object.spec.items[2].limits"),
    "map string": ("object.spec.words", "object.metadata.labels"),
    "map dyn": ("object.spec.deep", "object.spec.items[0]", "object.spec"),
}
LITERALS = {
    "bool": ("true", "false"),
    "int": ("0", "1", "2", "-1", "7", "3"),
    "double": ("0.5", "2.5", "1.0", "-3.25"),
    "string": ("'a'", "'b'", "'ab'", "''", "'5'", "'é'", "'x'"),
    "uint": ("0u", "1u", "3u"),
    "duration": ("duration('1h')", "duration('90s')", "duration('0s')", "duration('1.5s')"),
    "timestamp": ("timestamp('2024-05-06T07:08:09Z')", "timestamp('2023-01-01T00:00:00Z')"),
    "dyn": ("dyn(1)", "dyn('a')", "null", "dyn([1, 'a'])", "dyn({'a': 1})", "dyn(true)", "dyn(1.0)"),
}
NAMES = ("x", "y", "e", "k", "v", "i", "s", "map", "list", "string", "optional", "type", "int", "object")
SCALARS = ("bool", "int", "string", "double", "uint", "duration", "timestamp")
COMMON = ("bool", "int", "int", "string", "string", "double", "dyn")
CERTAIN = {"bool": "({} == true)", "int": "int({})", "string": "string({})", "double": "double({})"}
FIELDS = ("a", "b", "x", "y", "name", "n", "args", "missing", "map", "text", "nothing", "int")
TWO = "'2'"
