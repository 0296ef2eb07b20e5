"""Every function and macro of CEL in Kubernetes, by the minor that has it first, as the API server declares them.

A line is `name = (arguments) result; receiver.(arguments) result`; names in `<>` stand for any type. The order is the
API server's own: the first overload that fits an argument whose type is still open decides that type.
Source: k8s.io/apiserver 0.34.1 `pkg/cel/environment` with cel-go 0.26 for 1.23 to 1.34, and the cel-go release that
minor was built with for what came later to a library (`optFlatMap`, `unwrapOpt`, `first`, `last`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.cel_types import Type, read_type, split_types

if TYPE_CHECKING:
    from collections.abc import Iterator

MACROS: dict[tuple[str, int], int] = {
    ("has", 1): 23,
    ("all", 2): 23,
    ("exists", 2): 23,
    ("exists_one", 2): 23,
    ("filter", 2): 23,
    ("map", 2): 23,
    ("map", 3): 23,
    ("optMap", 2): 28,
    ("optFlatMap", 2): 29,
    ("all", 3): 32,
    ("exists", 3): 32,
    ("existsOne", 3): 32,
    ("exists_one", 3): 32,
    ("transformList", 3): 32,
    ("transformList", 4): 32,
    ("transformMap", 3): 32,
    ("transformMap", 4): 32,
    ("transformMapEntry", 3): 32,
    ("transformMapEntry", 4): 32,
    ("sortBy", 2): 34,
}
SYNTAX = {"optional": 28, "quoted": 99}
IDENTIFIERS = {"authorizer": 27, "namespaceObject": 28, "variables": 28}
_COMPARED = ("bool", "int", "uint", "double", "string", "bytes", "Timestamp", "Duration")
_NUMBERS = ("double", "uint", "int")
_SIGNATURES = {
    23: """
!_ = (bool) bool
-_ = (double) double; (int) int
@in = (<A>, list(<A>)) bool; (<A>, map(<A>, <B>)) bool
_!=_ = (<A>, <A>) bool
_%_ = (int, int) int; (uint, uint) uint
_&&_ = (bool, bool) bool
_*_ = (double, double) double; (int, int) int; (uint, uint) uint
_+_ = (bytes, bytes) bytes; (double, double) double; (Duration, Duration) Duration
_+_ = (Duration, Timestamp) Timestamp; (Timestamp, Duration) Timestamp; (int, int) int
_+_ = (list(<A>), list(<A>)) list(<A>); (string, string) string; (uint, uint) uint
_-_ = (double, double) double; (Duration, Duration) Duration; (int, int) int
_-_ = (Timestamp, Duration) Timestamp; (Timestamp, Timestamp) Duration; (uint, uint) uint
_/_ = (double, double) double; (int, int) int; (uint, uint) uint
_==_ = (<A>, <A>) bool
_?_:_ = (bool, <A>, <A>) <A>
_[_] = (list(<A>), int) <A>; (map(<A>, <B>), <A>) <B>
_||_ = (bool, bool) bool
bool = (bool) bool; (string) bool
bytes = (bytes) bytes; (string) bytes
charAt = string.(int) string
contains = string.(string) bool
double = (double) double; (int) double; (string) double; (uint) double
duration = (Duration) Duration; (int) Duration; (string) Duration
dyn = (<A>) dyn
endsWith = string.(string) bool
find = string.(string) string
findAll = string.(string) list(string); string.(string, int) list(string)
getDate = Timestamp.() int; Timestamp.(string) int
getDayOfMonth = Timestamp.() int; Timestamp.(string) int
getDayOfWeek = Timestamp.() int; Timestamp.(string) int
getDayOfYear = Timestamp.() int; Timestamp.(string) int
getEscapedPath = kubernetes.URL.() string
getFullYear = Timestamp.() int; Timestamp.(string) int
getHost = kubernetes.URL.() string
getHostname = kubernetes.URL.() string
getHours = Timestamp.() int; Timestamp.(string) int; Duration.() int
getMilliseconds = Timestamp.() int; Timestamp.(string) int; Duration.() int
getMinutes = Timestamp.() int; Timestamp.(string) int; Duration.() int
getMonth = Timestamp.() int; Timestamp.(string) int
getPort = kubernetes.URL.() string
getQuery = kubernetes.URL.() map(string, list(string))
getScheme = kubernetes.URL.() string
getSeconds = Timestamp.() int; Timestamp.(string) int; Duration.() int
indexOf = list(<A>).(<A>) int; string.(string) int; string.(string, int) int
int = (int) int; (double) int; (Duration) int; (string) int; (Timestamp) int; (uint) int
isSorted = list(int).() bool; list(uint).() bool; list(double).() bool; list(bool).() bool; list(Duration).() bool
isSorted = list(Timestamp).() bool; list(string).() bool; list(bytes).() bool
isURL = (string) bool
join = list(string).() string; list(string).(string) string
lastIndexOf = list(<A>).(<A>) int; string.(string) int; string.(string, int) int
lowerAscii = string.() string
matches = (string, string) bool; string.(string) bool
max = list(int).() int; list(uint).() uint; list(double).() double; list(bool).() bool; list(Duration).() Duration
max = list(Timestamp).() Timestamp; list(string).() string; list(bytes).() bytes
min = list(int).() int; list(uint).() uint; list(double).() double; list(bool).() bool; list(Duration).() Duration
min = list(Timestamp).() Timestamp; list(string).() string; list(bytes).() bytes
replace = string.(string, string) string; string.(string, string, int) string
size = bytes.() int; list(<A>).() int; map(<A>, <B>).() int; (bytes) int; (list(<A>)) int; (map(<A>, <B>)) int
size = (string) int; string.() int
split = string.(string) list(string); string.(string, int) list(string)
startsWith = string.(string) bool
string = (string) string; (bool) string; (bytes) string; (double) string; (Duration) string; (int) string
string = (Timestamp) string; (uint) string
substring = string.(int) string; string.(int, int) string
sum = list(int).() int; list(uint).() uint; list(double).() double; list(Duration).() Duration
timestamp = (Timestamp) Timestamp; (int) Timestamp; (string) Timestamp
trim = string.() string
type = (<A>) type(<A>)
uint = (uint) uint; (double) uint; (int) uint; (string) uint
upperAscii = string.() string
url = (string) kubernetes.URL
""",
    27: """
allowed = authz.Decision.() bool
check = authz.PathCheck.(string) authz.Decision; authz.ResourceCheck.(string) authz.Decision
error = authz.Decision.() string
errored = authz.Decision.() bool
group = authz.Authorizer.(string) authz.GroupCheck
name = authz.ResourceCheck.(string) authz.ResourceCheck
namespace = authz.ResourceCheck.(string) authz.ResourceCheck
path = authz.Authorizer.(string) authz.PathCheck
reason = authz.Decision.() string
resource = authz.GroupCheck.(string) authz.ResourceCheck
serviceAccount = authz.Authorizer.(string, string) authz.Authorizer
subresource = authz.ResourceCheck.(string) authz.ResourceCheck
""",
    28: """
_[?_] = (list(<V>), int) optional_type(<V>); (optional_type(list(<V>)), int) optional_type(<V>)
_[?_] = (map(<K>, <V>), <K>) optional_type(<V>); (optional_type(map(<K>, <V>)), <K>) optional_type(<V>)
_[_] = (optional_type(list(<V>)), int) optional_type(<V>); (optional_type(map(<K>, <V>)), <K>) optional_type(<V>)
add = kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity; kubernetes.Quantity.(int) kubernetes.Quantity
asApproximateFloat = kubernetes.Quantity.() double
asInteger = kubernetes.Quantity.() int
compareTo = kubernetes.Quantity.(kubernetes.Quantity) int
hasValue = optional_type(<V>).() bool
isGreaterThan = kubernetes.Quantity.(kubernetes.Quantity) bool
isInteger = kubernetes.Quantity.() bool
isLessThan = kubernetes.Quantity.(kubernetes.Quantity) bool
isQuantity = (string) bool
optional.none = () optional_type(<V>)
optional.of = (<V>) optional_type(<V>)
optional.ofNonZeroValue = (<V>) optional_type(<V>)
or = optional_type(<V>).(optional_type(<V>)) optional_type(<V>)
orValue = optional_type(<V>).(<V>) <V>
quantity = (string) kubernetes.Quantity
sign = (kubernetes.Quantity) int
sub = kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity; kubernetes.Quantity.(int) kubernetes.Quantity
value = optional_type(<V>).() <V>
""",
    29: """
format = string.(list(dyn)) string
sets.contains = (list(<T>), list(<T>)) bool
sets.equivalent = (list(<T>), list(<T>)) bool
sets.intersects = (list(<T>), list(<T>)) bool
strings.quote = (string) string
""",
    30: """
cidr = (string) net.CIDR
containsCIDR = net.CIDR.(string) bool; net.CIDR.(net.CIDR) bool
containsIP = net.CIDR.(string) bool; net.CIDR.(net.IP) bool
family = net.IP.() int
ip = (string) net.IP; net.CIDR.() net.IP
ip.isCanonical = (string) bool
isCIDR = (string) bool
isGlobalUnicast = net.IP.() bool
isIP = (string) bool
isLinkLocalMulticast = net.IP.() bool
isLinkLocalUnicast = net.IP.() bool
isLoopback = net.IP.() bool
isUnspecified = net.IP.() bool
masked = net.CIDR.() net.CIDR
prefixLength = net.CIDR.() int
string = (net.CIDR) string; (net.IP) string
""",
    31: """
fieldSelector = authz.ResourceCheck.(string) authz.ResourceCheck
format.byte = () kubernetes.NamedFormat
format.date = () kubernetes.NamedFormat
format.datetime = () kubernetes.NamedFormat
format.dns1035Label = () kubernetes.NamedFormat
format.dns1035LabelPrefix = () kubernetes.NamedFormat
format.dns1123Label = () kubernetes.NamedFormat
format.dns1123LabelPrefix = () kubernetes.NamedFormat
format.dns1123Subdomain = () kubernetes.NamedFormat
format.dns1123SubdomainPrefix = () kubernetes.NamedFormat
format.labelValue = () kubernetes.NamedFormat
format.named = (string) optional_type(kubernetes.NamedFormat)
format.qualifiedName = () kubernetes.NamedFormat
format.uri = () kubernetes.NamedFormat
format.uuid = () kubernetes.NamedFormat
labelSelector = authz.ResourceCheck.(string) authz.ResourceCheck
validate = kubernetes.NamedFormat.(string) optional_type(list(string))
""",
    33: """
compareTo = kubernetes.Semver.(kubernetes.Semver) int
isGreaterThan = kubernetes.Semver.(kubernetes.Semver) bool
isLessThan = kubernetes.Semver.(kubernetes.Semver) bool
isSemver = (string) bool; (string, bool) bool
major = kubernetes.Semver.() int
minor = kubernetes.Semver.() int
optional.unwrap = (list(optional_type(<V>))) list(<V>)
patch = kubernetes.Semver.() int
semver = (string) kubernetes.Semver; (string, bool) kubernetes.Semver
unwrapOpt = list(optional_type(<V>)).() list(<V>)
""",
    34: """
distinct = list(<T>).() list(<T>)
first = list(<V>).() optional_type(<V>)
flatten = list(list(<T>)).() list(<T>); list(dyn).(int) list(dyn)
last = list(<V>).() optional_type(<V>)
lists.range = (int) list(int)
reverse = list(<T>).() list(<T>)
slice = list(<T>).(int, int) list(<T>)
sort = list(int).() list(int); list(uint).() list(uint); list(double).() list(double); list(bool).() list(bool)
sort = list(Duration).() list(Duration); list(Timestamp).() list(Timestamp); list(string).() list(string)
sort = list(bytes).() list(bytes)
""",
    37: """
includes = list(<A>).(<A>) bool
""",
}


@record(kw_only=False)
class Overload:
    """One signature: the receiver, if any, is the first argument; since: the first minor."""

    name: str
    member: bool
    arguments: tuple[Type, ...]
    result: Type
    since: int


@cache
def overloads() -> dict[str, tuple[Overload, ...]]:
    """All overloads of all versions, by function name, in the order in which they are tried."""
    out: dict[str, list[Overload]] = {}
    for since, text in _SIGNATURES.items():
        for line in text.split("\n"):
            name, _, signatures = line.partition(" = ")
            for one in signatures.split("; ") if signatures else ():
                out.setdefault(name, []).append(_overload(name, one, since))
    for name in ("_<_", "_<=_", "_>_", "_>=_"):
        out[name] = [_overload(name, f"({one}, {other}) bool", since) for one, other, since in _comparisons()]
    return {name: tuple(found) for name, found in out.items()}


def _comparisons() -> Iterator[tuple[str, str, int]]:
    for one in _COMPARED:
        yield one, one, 23
        yield from ((one, other, 28) for other in _NUMBERS if one in _NUMBERS and other != one)


def _overload(name: str, text: str, since: int) -> Overload:
    head, _, result = text.rpartition(") ")
    depth = 1
    at = len(head)
    while depth:
        at -= 1
        depth += (head[at] == ")") - (head[at] == "(")
    receiver = head[:at].removesuffix(".")
    arguments = split_types(head[at + 1 :])
    words = [receiver, *arguments] if receiver else arguments
    return Overload(name, bool(receiver), tuple(map(read_type, words)), read_type(result), since)
