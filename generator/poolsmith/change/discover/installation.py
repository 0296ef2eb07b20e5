"""A cluster's running installation as a set of files, with the chart's values read back from its custom resource.

The catalog says which value each field comes from. A field that is not there although the chart's default would write
it had a value that is false, zero or empty; what no field shows stays at the default. What the API server fills in by
the resource's definition says nothing of the values.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.change.discover.stack import SOURCES, sources_of
from poolsmith.change.takeover.found import Present
from poolsmith.core.diagnostics.masking import MASK
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import MISSING, copied, value_at
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.live.api_resources import KUSTOMIZATIONS
from poolsmith.kubernetes.live.snapshot import HELM_RECORDS
from poolsmith.kubernetes.repository.delivered import ChartInstallation, ValuesLayer
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import newest_kubernetes, schemas_for
from poolsmith.project.run.surroundings import Detected, Surroundings, plain_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.discover.stack import DiscoveredStack
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.gpu.catalog.projections import FieldRule
    from poolsmith.kubernetes.live.snapshot import KubernetesObject, Snapshot
    from poolsmith.kubernetes.schema.schemas import NoSchema


_RELEASE = "{appVersion}"
_READ = frozenset(("plain", "quoted", "data"))


def values_of(release: str, resource: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a release's chart that one of its custom resources shows, where they are no defaults."""
    kind, spec = resource["kind"], mapping(resource.get("spec"))
    versions = schema_versions(kubernetes=newest_kubernetes(), operator=release)
    definition = schemas_for(versions).find(str(resource.get("apiVersion")), kind)
    projection = read_projection(release)
    rules = [] if projection is None else [rule for rule in projection.objects if rule.kind == kind]
    values: dict[str, Any] = {}
    for field in rules[0].fields if rules else ():
        if field.form not in _READ or not field.source:
            continue
        default = value_at(defaults, field.source, MISSING)
        live = value_at(spec, field.path, MISSING)
        if live is MISSING and value_at(spec, field.path[:-1], MISSING) is MISSING:
            continue  # a block that is not there at all shows nothing of its fields
        found = _value(field, live, default, release)
        is_default = found is MISSING or found == default
        if not is_default and (default not in (MISSING, None) or not _is_filled_in(definition, resource, field.path)):
            _put(values, field.source, found)
    return values


def _is_filled_in(definition: KindSchema | NoSchema, resource: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether the API server puts the very same there where nobody says anything."""
    without = copied(dict(resource))
    parent = value_at(without, ("spec", *path[:-1]))
    if not isinstance(definition, KindSchema) or not isinstance(parent, dict):
        return False
    live = parent.pop(path[-1], MISSING)
    return live is not MISSING and value_at(definition.kept(without), ("spec", *path), MISSING) == live


def _value(field: FieldRule, live: Any, default: Any, release: str) -> Any:
    """What the chart was given; MISSING where the field does not tell it."""
    is_only_guard = field.conditions == (((field.source, True),),)
    if is_only_guard and default in (MISSING, None) and not live:
        return MISSING  # the chart writes no such value: the server has put its default there
    if live is MISSING:
        return type(default)() if is_only_guard and default not in (MISSING, None) and default else MISSING
    by_itself = release if field.default == _RELEASE else field.default
    if (by_itself is not None and live == by_itself) or (field.has_otherwise and live == field.otherwise):
        return default
    if default is MISSING or type(live) is type(default):
        return live
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(str(live).lower(), live)
    return default if str(live) == str(default) else live


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for step in path[:-1]:
        below = values.setdefault(step, {})
        if not isinstance(below, dict):
            return
        values = below
    values[path[-1]] = value


def present_of(name: str, tag: str | None, stack: DiscoveredStack, snapshot: Snapshot, catalog: Catalog) -> Present:
    """Its values are those that Helm has a record of, else those that the custom resource shows."""
    anchor = document_of(stack.delivered or stack.object or {"metadata": {"name": "none"}})
    record = record_of(stack, snapshot)
    values: dict[str, Any] = {} if record is None else given_values(record)[0]
    chart = catalog.chart(catalog.releases.chart_name, tag) if tag and stack.object and record is None else None
    if chart is not None and stack.object is not None and tag is not None:
        values = values_of(tag, stack.object, chart.defaults)
        if not stack.has_discovery:
            values["nfd"] = {"enabled": False}
        if stack.kind == "gpu-cluster":
            values["gpuCluster"] = {**mapping(values.get("gpuCluster")), "deployCR": True}
        if stack.drivers:
            crd = {"enabled": True, "deployDefaultCR": False}
            values["driver"] = {**mapping(values.get("driver")), "nvidiaDriverCRD": crd}
    kind = anchor.kind
    engine = {"HelmRelease": "flux", "Application": "argocd"}.get(kind)
    beside = [body for resource in (KUSTOMIZATIONS, *SOURCES) for body in snapshot.items(resource)]
    installation = ChartInstallation(
        chart=OPERATOR_CHART,
        document=anchor,
        version=tag,
        repository=_repository(stack),
        namespace=stack.namespace,
        layers=(ValuesLayer(values, anchor.source),),
    )
    return Present(
        name=name,
        installation=installation,
        engine=engine,
        drivers=tuple(map(document_of, stack.drivers)),
        beside=tuple(map(document_of, beside)),
    )


def record_of(stack: DiscoveredStack, snapshot: Snapshot) -> KubernetesObject | None:
    """Helm's record of the operator's chart, where it was read."""
    for item in snapshot.items(HELM_RECORDS):
        spec, namespace = mapping(item.get("spec")), item["metadata"].get("namespace")
        if str(spec.get("chart")).endswith(OPERATOR_CHART) and namespace == stack.namespace:
            return item
    return None


def given_values(record: KubernetesObject) -> tuple[dict[str, Any], list[str]]:
    """The values of a record that may be shown, and the paths of those that may be secrets."""
    hidden: list[str] = []

    def shown(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            kept = {key: shown(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()}
            return {key: item for key, item in kept.items() if item is not MISSING}
        if isinstance(value, list):
            found = [shown(item, f"{path}[{place}]") for place, item in enumerate(value)]
            return MISSING if MISSING in found else found
        if isinstance(value, str) and MASK in value:
            hidden.append(path)
            return MISSING
        return value

    return shown(dict(mapping(mapping(record.get("spec")).get("values"))), ""), hidden


def _repository(stack: DiscoveredStack) -> str | None:
    """Of charts."""
    body = stack.delivered
    if body is None:
        return None
    if body["kind"] == "Application":
        return next((word(source.get("repoURL")) for source in sources_of(body) if source.get("chart")), None)
    return None


def around(present: Present, stack: DiscoveredStack) -> Surroundings:
    """What a repository would say of itself, as the objects of the delivery engine say it."""
    address = branch = None
    prefix = ""
    for source in _git_sources(present, stack):
        address = address or (plain_address(word(source.get("address")) or ""))
        revision = word(source.get("revision")) or ""
        branch = branch or revision.removeprefix("refs/heads/") or None
        path = (word(source.get("path")) or "").removeprefix("./")
        before, found, _ = path.partition("output/clusters/")
        prefix = prefix or (before if found else "")
    return Surroundings(
        is_repository=True,
        prefix=prefix,
        address=Detected(value=address, source="the delivery engine") if address else None,
        branch=Detected(value=branch, source="the delivery engine") if branch else None,
    )


def _git_sources(present: Present, stack: DiscoveredStack) -> Iterator[dict[str, Any]]:
    body = stack.delivered
    if body is not None and body["kind"] == "Application":
        for source in sources_of(body):
            if not source.get("chart"):
                yield {
                    "address": source.get("repoURL"),
                    "revision": source.get("targetRevision"),
                    "path": source.get("path"),
                }
    for item in present.beside:
        if item.kind == "GitRepository":
            spec = mapping(item.data.get("spec"))
            reference = mapping(spec.get("ref"))
            yield {"address": spec.get("url"), "revision": reference.get("name") or reference.get("branch")}
        elif item.kind == "Kustomization":
            yield {"path": mapping(item.data.get("spec")).get("path")}


def document_of(body: KubernetesObject) -> CheckedDocument:
    return CheckedDocument(shown(body), 0, body, json.dumps(body))


def shown(body: KubernetesObject | None) -> str:
    if body is None:
        return ""
    metadata = mapping(body.get("metadata"))
    namespace = metadata.get("namespace")
    return f"{body.get('kind', 'object')}/{metadata.get('name')}" + (f" in {namespace}" if namespace else "")
