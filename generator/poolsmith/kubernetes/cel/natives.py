"""What the engine does as the API server does it, and what it is told in other words."""

from __future__ import annotations

NATIVE = frozenset(
    {"size", "contains", "startsWith", "endsWith", "matches", "bytes", "dyn", "type", "timestamp", "hasValue", "value"}
    | {"optional.of", "optional.none", "optional.ofNonZeroValue", "optional.unwrap", "unwrapOpt"}
    | {"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getMonth", "getMilliseconds"}
    | {"getHours", "getMinutes", "getSeconds"}
)
CONVERSIONS = {
    "string": {"string", "int", "bool", "uint"},
    "int": {"int", "uint", "double"},
    "uint": {"int", "uint", "double"},
    "double": {"int", "uint", "double"},
    "bool": {"bool"},
}
RETURNED = {"google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration", "uint": "uint"}
KEYS = ("string", "int", "uint", "bool", "double")
WITH_OWN_EQUALITY = (
    *("kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL", "kubernetes.NamedFormat"),
    *("net.IP", "net.CIDR"),
)
AUTHORIZER = "kubernetes.authorization."
LIST_INDEX = "unsupported index type 'string' in list"
