"""A definition of a custom resource that uses what the API server does to a resource: prune, fill in, refuse."""

from __future__ import annotations

SPEC = {
    "type": "object",
    "required": ["mode", "given"],
    "properties": {
        "mode": {"type": "string", "default": "on", "enum": ["on", "off"]},
        "given": {"type": "string", "default": "x"},
        "maybe": {"type": "string", "nullable": True, "default": "x"},
        "plain": {"type": "string"},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
        "either": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 4},
        "block": {"type": "object", "properties": {"depth": {"type": "integer", "default": 3}}},
        "filled": {"type": "object", "default": {}, "properties": {"depth": {"type": "integer", "default": 4}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}},
        "texts": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
        "needs": {"type": "object", "required": ["it"], "properties": {"it": {"type": "string"}}},
    },
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
            }
        ],
    },
}
ALWAYS = {"mode": "on", "given": "x", "maybe": "x", "filled": {"depth": 4}}
KEPT = {
    "nothing": ({}, {}),
    "a value": ({"mode": "off"}, {"mode": "off"}),
    "nulls": ({"mode": None, "plain": None}, {}),
    "null that is allowed": ({"maybe": None}, {"maybe": None}),
    "default below": ({"block": {}}, {"block": {"depth": 3}}),
    "zero": ({"filled": {"depth": 0}}, {"filled": {"depth": 0}}),
    "any keys": ({"labels": {"a": "b"}}, {"labels": {"a": "b"}}),
    "null of any key": ({"labels": {"a": None, "b": "c"}}, {"labels": {"b": "c"}}),
    "anything": ({"free": {"a": {"b": None}}}, {"free": {"a": {"b": None}}}),
    "items": ({"list": [{}, {"a": 2, "b": 3}]}, {"list": [{"a": 1}, {"a": 2}]}),
    "unknown": ({"typo": {"a": 1}}, {}),
    "number or text": ({"either": 1}, {"either": 1}),
    "text or number": ({"either": "25%"}, {"either": "25%"}),
}
"""What is given as the spec, and what is kept of it beside ALWAYS."""
REFUSED = {
    "enumeration": ({"mode": "auto"}, "spec.mode"),
    "type": ({"mode": True}, "spec.mode"),
    "too small": ({"count": -1}, "spec.count"),
    "too great": ({"count": 10}, "spec.count"),
    "no whole number": ({"count": 1.5}, "spec.count"),
    "neither": ({"either": True}, "spec.either"),
    "pattern": ({"name": "A1"}, "spec.name"),
    "too long": ({"name": "aaaaa"}, "spec.name"),
    "type of any key": ({"labels": {"a": 1}}, "spec.labels.a"),
    "no list": ({"list": {"a": 1}}, "spec.list"),
    "too many": ({"texts": ["a", "b", "c"]}, "spec.texts"),
    "null in a list": ({"texts": [None]}, "spec.texts[0]"),
    "missing": ({"needs": {}}, "spec.needs"),
    "null of a required field": ({"needs": {"it": None}}, "spec.needs"),
}
"""What is given as the spec, and the place that is refused."""


def thing(spec):
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}
