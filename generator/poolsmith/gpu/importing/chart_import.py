"""A release's catalog entry and compact schemas of its CustomResourceDefinitions, from the files of a chart.

The entry holds facts only: accepted value paths with their types, defaults, the fields of NVIDIADriver, and
the names of the MIG layouts that come with the release. The schemas keep what decides whether an object is accepted
and which of its fields are kept: no descriptions, no messages.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import PoolsmithError
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.catalog.charts import SUBCHART
from poolsmith.gpu.importing.template_references import References, references_in

if TYPE_CHECKING:
    from collections.abc import Iterable


_KEPT = (
    "type",
    "format",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "multipleOf",
    "uniqueItems",
    "required",
    "nullable",
    "default",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)
_SCHEMAS = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "allOf", "oneOf")
_RULES = "x-kubernetes-validations"


def crds_entry(*, release: str, source: str, definitions: list[dict[str, Any]]) -> dict[str, Any]:
    """All definitions of one release, by kind; of each the version that is stored."""
    return {
        "release": release,
        "source": source,
        "kinds": {item["spec"]["names"]["kind"]: crd_entry(item) for item in definitions},
    }


def crd_entry(definition: dict[str, Any]) -> dict[str, Any]:
    spec = definition["spec"]
    version = next(item for item in spec["versions"] if item["storage"])
    return {
        "apiVersion": f"{spec['group']}/{version['name']}",
        "plural": spec["names"]["plural"],
        "scope": spec["scope"],
        "schema": structural(version["schema"]["openAPIV3Schema"]),
    }


def structural(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without its prose."""
    kept = {key: schema[key] for key in _KEPT if key in schema}
    for key in _SCHEMAS:
        if isinstance(schema.get(key), dict):
            kept[key] = structural(schema[key])
        elif key in schema:
            kept[key] = schema[key]
    for key in _LISTS:
        if key in schema:
            kept[key] = [structural(item) for item in schema[key]]
    if "properties" in schema:
        kept["properties"] = {name: structural(child) for name, child in schema["properties"].items()}
    if _RULES in schema:
        kept[_RULES] = [
            {key: rule[key] for key in ("rule", "fieldPath", "optionalOldSelf") if key in rule}
            for rule in schema[_RULES]
        ]
    return kept


_TEMPLATES = (".yaml", ".yml", ".tpl", ".txt", ".json")
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def entry_from_chart(files: dict[str, bytes], *, release: str | None) -> dict[str, Any]:
    """The entry of a chart from its files by path. Raises PoolsmithError for a chart that can't be read.

    Without templates nobody can say what is read: every declared path counts, and `templates` is false.
    """
    chart = _mapping(files, "Chart.yaml")
    values = _mapping(files, "values.yaml") if "values.yaml" in files else {}
    name, version = chart.get("name"), chart.get("version")
    tag = release or (str(version) if version is not None else None)
    if not isinstance(name, str) or tag is None:
        raise PoolsmithError("Chart.yaml has no name, or no version: give --release")
    references = _references(files, "templates/")
    has_templates = any(path.startswith("templates/") for path in files)
    dependencies = [item for item in chart.get("dependencies") or () if isinstance(item, dict)]
    definitions = list(definitions_in(files))
    entry = chart_entry(
        release=tag,
        values=values,
        value_paths=_value_paths(values, references if has_templates else None, dependencies, files),
        kube_version=str(chart.get("kubeVersion", "")),
        nfd_chart=next((str(item.get("version")) for item in dependencies if item.get("name") == SUBCHART), None),
        source=f"chart {name} {tag}",
        driver_crd=next((item for item in definitions if item["spec"]["names"]["kind"] == "NVIDIADriver"), None),
    )
    crds = crds_entry(release=tag, source=entry["source"], definitions=definitions)
    return {
        **entry,
        "templates": has_templates,
        "writes": {path: [asdict(write) for write in writes] for path, writes in sorted(references.writes.items())},
        "crds": crds["kinds"],
    }


def value_map(files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """Each value path of a chart without its subcharts: declared, read, its type, and the fields that it is written to.

    Raises PoolsmithError for a chart that can't be read.
    """
    own = {path: content for path, content in files.items() if not path.startswith("charts/")}
    dependencies = [item for item in _mapping(own, "Chart.yaml").get("dependencies") or () if isinstance(item, dict)]
    values = _mapping(own, "values.yaml")
    references = _references(own, "templates/")
    paths = _value_paths(values, references, dependencies, own)
    for path, writes in references.writes.items():
        paths.setdefault(path, {"declared": False, "referenced": True})["writes"] = [asdict(write) for write in writes]
    return {path: fact for path, fact in paths.items() if not _inside_subchart(path) or path == SUBCHART}


def whole_values(files: dict[str, bytes]) -> frozenset[str]:
    """The value paths that a chart's templates hand on with whatever stands below: there every key is read."""
    return frozenset(_references(files, "templates/").whole)


def chart_entry(
    *,
    release: str,
    values: dict[str, Any],
    value_paths: dict[str, dict[str, Any]],
    kube_version: str,
    nfd_chart: str | None,
    source: str,
    driver_crd: dict[str, Any] | None = None,
    mig_config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The entry of one chart release.

    `values` is the chart's values.yaml; `value_paths` says for each dotted path whether values.yaml declares
    it, whether a template reads it, and its type. `driver_crd` is the NVIDIADriver CustomResourceDefinition,
    `mig_config` the data of the release's MIG layout file.
    """
    paths = {
        path: fact.get("type", "any")
        for path, fact in sorted(value_paths.items())
        if fact.get("referenced") or _inside_subchart(path)
    }
    dead = sorted(
        path for path, fact in value_paths.items() if not fact.get("referenced") and not _inside_subchart(path)
    )
    return {
        "release": release,
        "source": source,
        "kubeVersion": kube_version,
        "nodeFeatureDiscoveryChart": nfd_chart,
        "defaults": values,
        "paths": paths,
        "dead": dead,
        "nvidiaDriverFields": sorted(_crd_fields(driver_crd)) if driver_crd else [],
        "migLayouts": sorted(mig_config.get("mig-configs", {})) if mig_config else [],
    }


def _inside_subchart(path: str) -> bool:
    return path.startswith(SUBCHART)


def _crd_fields(crd: dict[str, Any]) -> list[str]:
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: list[str] = []

    def walk(node: dict[str, Any], path: str) -> None:
        for name, child in node.get("properties", {}).items():
            below = f"{path}.{name}" if path else name
            found.append(below)
            walk(child, below)

    walk(schema["properties"]["spec"], "")
    return found


def _value_paths(
    values: dict[str, Any],
    references: References | None,
    dependencies: list[dict[str, Any]],
    files: dict[str, bytes],
) -> dict[str, dict[str, Any]]:
    aliases = {str(item.get("alias") or item.get("name")) for item in dependencies}
    conditions = {
        path.strip() for item in dependencies for path in str(item.get("condition") or "").split(",") if path.strip()
    }
    paths: dict[str, dict[str, Any]] = {}
    for path, value in declared_values(values):
        paths[path] = {"declared": True, "type": _type(value), "referenced": references is None}
    read = _with_parents(references.all_read | conditions if references is not None else conditions)
    for path in read:
        paths.setdefault(path, {"declared": False})["referenced"] = True
    if references is not None:
        for path, fact in paths.items():
            fact["referenced"] = fact["referenced"] or _inside_read(path, references, read)
    for alias in aliases:
        paths |= _subchart_paths(alias, files)
    return paths


def _subchart_paths(alias: str, files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """The keys of a chart that is packed with its parent."""
    folder = f"charts/{alias}/"
    if f"{folder}values.yaml" not in files:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for path, value in declared_values(_mapping(files, f"{folder}values.yaml")):
        found[f"{alias}.{path}"] = {"declared": True, "type": _type(value), "referenced": True}
    for path in _with_parents(_references(files, f"{folder}templates/").read):
        found.setdefault(f"{alias}.{path}", {"declared": False, "referenced": True})
    return found


def declared_values(values: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    pending: list[tuple[str, Any]] = [("", values)]
    while pending:
        path, node = pending.pop()
        if path:
            yield path, node
        if isinstance(node, dict):
            pending.extend((f"{path}.{key}" if path else key, value) for key, value in node.items())


def _type(value: Any) -> str:
    return _TYPES.get(type(value), "any")


def _inside_read(path: str, references: References, parents: set[str]) -> bool:
    """Below a mapping that is written as a whole, or gone through: read itself, and no child of it by name."""
    steps = path.split(".")
    for length in range(len(steps) - 1, 0, -1):
        above = ".".join(steps[:length])
        if above in references.ranged:
            return True
        if above in references.read:
            return not any(other.startswith(f"{above}.") for other in parents)
    return False


def _with_parents(paths: set[str]) -> set[str]:
    return {".".join(path.split(".")[:length]) for path in paths for length in range(1, path.count(".") + 2)}


def _references(files: dict[str, bytes], folder: str) -> References:
    found = References()
    for path in sorted(files):
        if path.startswith(folder) and path.endswith(_TEMPLATES):
            found.add(references_in(files[path].decode("utf-8", "replace")))
    return found


def definitions_in(files: dict[str, bytes]) -> Iterable[dict[str, Any]]:
    for path in sorted(files):
        if path.startswith("crds/") and path.endswith((".yaml", ".yml")):
            for document in _documents(files, path):
                if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                    if not _is_definition(document):
                        raise PoolsmithError(f"`{path}` in the chart holds a definition without names or versions")
                    yield document


def _is_definition(document: dict[str, Any]) -> bool:
    spec = document.get("spec")
    try:
        stored = next(item for item in spec["versions"] if item["storage"])  # type: ignore[index]  # asked below
        return bool(spec["names"]["kind"] and stored["schema"]["openAPIV3Schema"])  # type: ignore[index]  # as above
    except (KeyError, TypeError, StopIteration):
        return False


def _mapping(files: dict[str, bytes], path: str) -> dict[str, Any]:
    if path not in files:
        raise PoolsmithError(f"there is no {path}: this is no chart")
    documents = _documents(files, path)
    first = documents[0] if documents else {}
    if not isinstance(first, dict):
        raise PoolsmithError(f"{path} is not a mapping")
    return first


def _documents(files: dict[str, bytes], path: str) -> list[Any]:
    try:
        return read_documents(files[path].decode("utf-8"))
    except UnicodeDecodeError:
        raise PoolsmithError(f"{path} in the chart is not UTF-8") from None
    except YamlProblem as problem:
        line = f" line {problem.position.line}" if problem.position else ""
        raise PoolsmithError(f"{path}{line} in the chart can't be read: {problem.message}") from None
