"""What the vendor's pages and code say goes wrong at a release with some values, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import covers, is_older
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mappings
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.unpublished import is_tag_since
from poolsmith.guard.rules.names.known_labels import labels_of_rules
from poolsmith.guard.rules.setup.node_drivers import node_drivers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupView
    from poolsmith.kubernetes.repository.declared_charts import DeclaredChart

RULE = RuleInfo.of("PSM770")
NEEDS = ("values", "release")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for issue in issues():
        if not covers(issue.get("releases", {}), view.tag or ""):
            continue
        if all(_holds(view, item) for item in issue["when"]) and not _is_excepted(view, issue):
            yield _finding(issue, _place(view, issue))
        for item in view.of_kind("NVIDIADriver", "nvidia.com") if "drivers" in issue else ():
            if all(_says(row, _of_driver(item, row["path"])) for row in issue["when"]):
                yield _finding(issue, item.place(f"/spec/{issue['at'].removeprefix('driver.').replace('.', '/')}"))


def _finding(issue: Mapping[str, Any], place: Location) -> Finding[Location]:
    severity = Severity(issue["severity"]) if "severity" in issue else None
    return Finding(message=issue["says"], place=place, help=issue["do"], severity=severity)


def _of_driver(item: SetupObject, path: str) -> Any:
    return value_at(item.spec, path.removeprefix("driver.").split("."))


def issues() -> Iterator[Mapping[str, Any]]:
    """The rows, one for `each` of those that stand for several."""
    for row in store.table("known_issues.yaml")["issues"]:
        yield from (_filled(row, each) for each in row["each"]) if "each" in row else (row,)


def _filled(node: Any, words: Mapping[str, str]) -> Any:
    """A row with words in place of `{...}`."""
    if isinstance(node, dict):
        return {key: _filled(value, words) for key, value in node.items() if key != "each"}
    if isinstance(node, list):
        return [_filled(item, words) for item in node]
    for key, value in words.items() if isinstance(node, str) else ():
        node = node.replace(f"{{{key}}}", value)
    return node


def _place(view: SetupView, issue: Mapping[str, Any]) -> Location:
    """Where the value stands, or the first object that a condition asks for, or the values of a chart beside it."""
    objects = (_object(view, item) for item in issue["when"] if "object" in item)
    charts = (place for item in issue["when"] if "unset" in item for place in _charts(view, item))
    item, place = next(objects, None), next(charts, None)
    return (place or view.value_location(_entry(view, issue))) if item is None else item.place("/metadata/name")


def _entry(view: SetupView, issue: Mapping[str, Any]) -> str:
    """The variable itself, where one that is there is asked for."""
    at = issue["at"]
    asked = next((row["variable"] for row in issue["when"] if row.get("path") == at and "variable" in row), "")
    listed = view.value(at)
    numbers = range(len(listed)) if isinstance(listed, list) else ()
    return next((f"{at}.{number}" for number in numbers if _variable([listed[number]], asked) is not None), at)


def _object(view: SetupView, condition: Mapping[str, Any]) -> SetupObject | None:
    namespaces = (None, view.namespace)
    named = (item for item in view.of_kind(condition["object"]) if item.own_name == condition["named"])
    return next((item for item in named if item.metadata.get("namespace") in namespaces), None)


def _is_excepted(view: SetupView, issue: Mapping[str, Any]) -> bool:
    return "unless" in issue and _holds(view, issue["unless"])


def _holds(view: SetupView, condition: Mapping[str, Any]) -> bool:
    if "distribution" in condition:
        wanted = condition["distribution"]
        return view.distribution in (wanted if isinstance(wanted, list) else (str(wanted),))
    if "systems" in condition:
        return any(
            len({(node.os_id, node.os_version) for node in found.nodes if node.os_id}) >= condition["systems"]
            for found in node_drivers(view)
        )
    if "nodes" in condition:
        return any(node.os_id in condition["nodes"] and _is_of(node, condition) for node in view.nodes or ())
    if "chart" in condition:
        return any(_charts(view, condition))
    if "object" in condition:
        return _object(view, condition) is not None
    if "kinds" in condition:
        return any(map(view.of_kind, condition["kinds"])) is bool(condition["are"])
    if "label" in condition:
        return condition["is"] in _labelled(view, condition["label"])
    if "bound" in condition:
        return _is_bound(view, condition["bound"]) is bool(condition["is"])
    path = condition["path"]
    if "set" in condition:
        return view.is_set(path) and view.value(path) != ""
    return _says(condition, view.value(path))


def _says(condition: Mapping[str, Any], value: Any) -> bool:
    if "set" in condition:
        return value not in (None, "")
    return is_so(condition, _variable(value, condition["variable"]) if "variable" in condition else value)


def _is_of(node: SetupNode, condition: Mapping[str, Any]) -> bool:
    return "version" not in condition or node.os_version.partition(".")[0] == condition["version"]


def _charts(view: SetupView, condition: Mapping[str, Any]) -> Iterator[Location]:
    """Where the values are of those that a condition asks for."""
    return (item.place(chart.pointer) for item, chart in view.installed_charts() if _is_chart(chart, condition))


def _is_chart(chart: DeclaredChart, condition: Mapping[str, Any]) -> bool:
    names = condition["chart"] if isinstance(condition["chart"], list) else [condition["chart"]]
    off = (value_at(chart.values or {}, path.split(".")) is False for path in condition.get("unlessOff", ()))
    is_without = str(chart.version or "").lstrip("v~=").startswith(tuple(condition.get("without", ())))
    is_set = "unset" in condition and value_at(chart.values or {}, condition["unset"].split(".")) not in (None, "")
    return chart.name in names and not chart.partial and not is_without and not is_set and not any(off)


def is_so(condition: Mapping[str, Any], value: Any) -> bool:
    if "is" in condition:
        return bool(value == condition["is"])
    if "isNot" in condition:
        return bool(value != condition["isNot"])
    if "oneOf" in condition:
        return value in condition["oneOf"]
    if "below" in condition:
        return isinstance(value, int) and value < condition["below"]
    if "before" in condition:
        return isinstance(value, str) and value[:1].isdigit() and is_older(value, condition["before"])
    if "tagSince" in condition:
        return not value or (isinstance(value, str) and is_tag_since(value, condition["tagSince"]))
    if "matches" in condition:
        return isinstance(value, str) and pattern(condition["matches"]).fullmatch(value) is not None
    if "startsWith" in condition:
        return isinstance(value, str) and value.startswith(condition["startsWith"])
    words = condition.get("has", condition.get("lacks", ()))
    there = isinstance(value, list) and any(str(item).partition("=")[0] in words for item in value)
    return there if "has" in condition else isinstance(value, list) and not there


def _variable(env: Any, names: str | list[str]) -> str | None:
    wanted = (names,) if isinstance(names, str) else names
    return next((str(item.get("value")).lower() for item in mappings(env) if item.get("name") in wanted), None)


def _labelled(view: SetupView, label: str) -> Iterator[str]:
    """Values that rules and nodes here give it."""
    offers = labels_of_rules(view.of_kind("NodeFeatureRule"))
    for offer in offers:
        yield from offer.keys if offer.name == label and isinstance(offer.keys, frozenset) else ()
    yield from (node.labels[label] for node in view.nodes or () if label in node.labels)


def _is_bound(view: SetupView, account: str) -> bool:
    """Whether an object here binds a role to an account of that name."""
    bindings = (*view.of_kind("ClusterRoleBinding"), *view.of_kind("RoleBinding"))
    return any(subject.get("name") == account for item in bindings for subject in mappings(item.data.get("subjects")))
