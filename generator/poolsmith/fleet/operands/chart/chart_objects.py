"""From a chart's entry and values to the objects and hooks that Helm would install, or why there are none.

Deployments and Jobs are written like DaemonSets. `extraInit`, `extraVolumes`, and a container's `extraEnv` and
`extraMounts`, hold what values bring in Kubernetes' own form; `spec` is laid over the workload's specification,
`namespace` replaces that of the release. The texts of volumes and mounts are the entry's own: one with a value in it
is a mapping, so that no value is taken apart. What has `metadata` is written out, and `clusterWide` where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.fleet.operands.chart.entry_expressions import ValueScope
from poolsmith.fleet.operands.chart.fill import fill, value_of
from poolsmith.fleet.operands.kube import init_containers_of, pod_of
from poolsmith.gpu.catalog.chart_workloads import chart_versions, read_chart_workloads
from poolsmith.gpu.catalog.operands import whole, with_scripts
from poolsmith.kubernetes.helm.go_template import TemplateError, is_true, look_up, printed
from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.gpu.catalog.chart_workloads import ChartEntry


HOOK = "helm.sh/hook"


@record(kw_only=False)
class ChartError:
    """Why a chart renders nothing. `path` is the value that is to blame, with dots; it may be empty.

    `refusal`: the chart's own author says so, of a combination.
    """

    path: str
    message: str
    refusal: bool = False

    def __str__(self) -> str:
        return self.message

    def below(self, key: str) -> ChartError:
        """Of a subchart whose values stand at `key`."""
        path = f"{key}.{self.path}" if self.path else key
        return ChartError(path, self.message.replace(f".Values.{self.path}>", f".Values.{path}>"))


@record(kw_only=False)
class ChartWorkloads:
    """What a chart installs besides custom resources and their definitions.

    `hooks` exist only while Helm installs, upgrades or deletes. `unknown` says what is not modelled. With `errors`
    the chart renders nothing, or something else than its templates mean.
    """

    objects: tuple[KubernetesObject, ...] = ()
    hooks: tuple[KubernetesObject, ...] = ()
    unknown: tuple[str, ...] = ()
    errors: tuple[ChartError, ...] = ()

    def with_more(self, other: ChartWorkloads) -> ChartWorkloads:
        if self.errors or other.errors:
            return ChartWorkloads(errors=self.errors + other.errors)
        return ChartWorkloads(self.objects + other.objects, self.hooks + other.hooks, self.unknown + other.unknown)


@record
class ReleasePlace:
    """Where Helm puts a chart. `name` is the chart's own name, or its alias as part of another chart."""

    helm_release: str
    namespace: str
    name: str


_API = {"DaemonSet": "apps/v1", "Deployment": "apps/v1", "Job": "batch/v1"}
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_EMPTY: dict[str, Any] = {"selector": {}, "volumes": {}, "init": [], "containers": []}
_EXTRA = {"extraEnv": "env", "extraMounts": "volumeMounts"}
_MAPPINGS = ("labels", "annotations", "podLabels", "podAnnotations", "selector", "data")
_LISTS = ("extraInit", "extraVolumes", *_EXTRA)


def unfold(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The object of a filled entry, in `namespace` unless it names its own.

    Raises TypeError where values bring something that would stand beside what the chart has, and not among it.
    """
    for part in (compact, *compact.get("containers", ()), *compact.get("init", ())):
        _hold_types(part)
    if not isinstance(compact.get("name", compact.get("metadata", {}).get("name")), str):
        raise TypeError("name")
    form = {key: value for key, value in compact.items() if key != "namespace"}
    place = compact.get("namespace", namespace)
    if "metadata" in form:
        if not isinstance(form.get("apiVersion"), str):
            raise TypeError("apiVersion")
        if not form.pop("clusterWide", False):
            form["metadata"] = {**form["metadata"], "namespace": place}
        return form
    if form["kind"] in _API:
        return _workload(form, place)
    if form["kind"] in _BINDINGS:
        accounts = [{"kind": "ServiceAccount", "name": name, "namespace": place} for name in form["subjects"]]
        return whole({**form, "subjects": accounts}, place)
    if form["kind"] == "ConfigMap":
        return whole({**form, "keys": {}}, place) | {"data": form.get("data", {})}
    return whole(form, place)


def _hold_types(form: dict[str, Any]) -> None:
    for keys, wanted in ((_MAPPINGS, dict), (_LISTS, list)):
        for key in keys:
            if not isinstance(form.get(key, wanted()), wanted):
                raise TypeError(key)


def _workload(form: dict[str, Any], namespace: str) -> dict[str, Any]:
    kind = form["kind"]
    containers = {key: [_with_variables(item) for item in form.get(key, ())] for key in ("init", "containers")}
    own = {key: value for key, value in form.items() if key not in ("spec", "extraInit", "extraVolumes")}
    item = whole({**_EMPTY, **own, **containers, "kind": "DaemonSet"}, namespace)
    item |= {"apiVersion": _API[kind], "kind": kind}
    if kind == "Job":
        del item["spec"]["selector"]
        with_scripts(pod_of(item)["containers"])
    item["spec"] |= form.get("spec", {})
    if "podName" in form:
        item["spec"]["template"]["metadata"] = {"name": form["podName"], **item["spec"]["template"]["metadata"]}
    pod = pod_of(item)
    for container in (*init_containers_of(pod), *pod["containers"]):
        _tidy(container)
    init_containers_of(pod).extend(form.get("extraInit", ()))
    pod["volumes"].extend(form.get("extraVolumes", ()))
    for key in ("initContainers", "volumes"):
        if not pod[key]:
            del pod[key]
    return item


def unfold_pod(compact: dict[str, Any], namespace: str) -> dict[str, Any]:
    """A pod that is nobody's template. `name` may end in *, which the API server completes."""
    owners = {key: compact[key] for key in ("ownerReferences",) if key in compact}
    form = {key: value for key, value in compact.items() if key not in owners}
    made = unfold({**form, "kind": "DaemonSet"}, namespace)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**made["metadata"], **owners}, "spec": pod_of(made)}


def _with_variables(container: dict[str, Any]) -> dict[str, Any]:
    """A container whose variables are objects: a text is a value, whatever it begins with."""
    if "env" not in container:
        return container
    return {**container, "env": [_variable(words) for words in container["env"]]}


def _variable(words: list[Any]) -> dict[str, Any]:
    name, *rest = words
    if rest and isinstance(rest[0], dict):
        return {"name": printed(name), "valueFrom": rest[0]}
    return {"name": printed(name), "value": printed(rest[0]) if rest else ""}


def _tidy(container: dict[str, Any]) -> None:
    """Join what values bring, and drop empty lists."""
    for key, target in _EXTRA.items():
        more = container.pop(key, None)
        if more:
            container.setdefault(target, []).extend(more)
    for key in ("args", "env", "volumeMounts"):
        if not container.get(key, True):
            del container[key]


_GLOBAL = "global"


def render(
    entry: ChartEntry,
    values: dict[str, Any],
    place: ReleasePlace,
    variables: Mapping[str, Any] | None = None,
    given: Container[str] = (),
) -> ChartWorkloads:
    """The objects of one chart and of the charts that it brings; `values` as templates see them. Where values are
    `given`, charts that none of these reaches are left out."""
    try:
        scope = _scope(entry, values, place, variables or {})
        refused = fill(entry.refuse, scope)
        if refused:
            why = refused[0]
            error = TemplateError(why) if isinstance(why, str) else TemplateError(why["message"], why["at"])
            return _stopped(entry, error)
        own = _objects(entry, scope, place)
        subcharts = fill(entry.subcharts, scope)
    except TemplateError as error:
        return _stopped(entry, error)
    except (AttributeError, TypeError, ValueError):
        return _stopped(entry, TemplateError("a value is of another type than its place in an object"))
    for subchart in subcharts:
        if not given or subchart["values"] in given or _GLOBAL in given:
            own = own.with_more(_subchart(subchart, values, place))
    return own


def stack_objects(
    chart: str, version: str, values: Mapping[str, Any], namespace: str, release_name: str = ""
) -> ChartWorkloads:
    """What `chart` installs for values of one's own; its release is called like the chart unless said otherwise.

    Raises nothing, whatever the values say. A chart or version that is not known is in `unknown`.
    """
    if not chart_versions(chart):
        return ChartWorkloads(unknown=(f"workloads of {chart} are not known",))
    entry = read_chart_workloads(chart, version)
    if entry is None or entry.defaults is None:
        return ChartWorkloads(unknown=(f"workloads of {chart} {version} are not known",))
    place = ReleasePlace(helm_release=release_name or chart, namespace=namespace, name=chart)
    return render(entry, over_defaults(entry, values), place)


def over_defaults(entry: ChartEntry, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the chart's templates see them."""
    return merge_over_defaults(entry.defaults or {}, dict(values))


def _scope(entry: ChartEntry, values: dict[str, Any], place: ReleasePlace, variables: Mapping[str, Any]) -> ValueScope:
    return ValueScope(
        values=values,
        define=entry.define,
        variables={
            **entry.facts,
            "chart": place.name,
            "version": entry.version,
            "helmRelease": place.helm_release,
            "namespace": place.namespace,
            "name": chart_name(place.name, values),
            "fullname": full_name(place.name, values, place.helm_release),
            **variables,
        },
    )


def _objects(entry: ChartEntry, scope: ValueScope, place: ReleasePlace) -> ChartWorkloads:
    namespace = _own_namespace(scope) or place.namespace if "ownNamespace" in entry.define else place.namespace
    items = [unfold(item, namespace) for item in fill(entry.objects, scope)]
    hooks = tuple(item for item in items if HOOK in item["metadata"].get("annotations", {}))
    return ChartWorkloads(
        objects=tuple(item for item in items if item not in hooks),
        hooks=hooks,
        unknown=tuple(f"{entry.chart} {entry.version}: {text}" for text in fill(entry.unknown, scope)),
    )


def _own_namespace(scope: ValueScope) -> str:
    """What the chart's values say. Raises TemplateError for what is no name to Kubernetes, `~` for one."""
    path = "namespaceOverride"
    if not is_true(scope.value(path)):
        return ""
    read = value_of("@ownNamespace", scope)
    if not isinstance(read, str):
        raise TemplateError(f"at <.Values.{path}>: what is read back is no name", path)
    return read


def _subchart(subchart: dict[str, str], values: dict[str, Any], place: ReleasePlace) -> ChartWorkloads:
    entry = read_chart_workloads(subchart["chart"], subchart["version"])
    if entry is None:
        return ChartWorkloads(unknown=(f"workloads of {subchart['chart']} {subchart['version']} are not known",))
    own = values.get(subchart["values"])
    merged = over_defaults(entry, _with_global(own if isinstance(own, dict) else {}, values.get(_GLOBAL)))
    inner = ReleasePlace(helm_release=place.helm_release, namespace=place.namespace, name=subchart["name"])
    rendered = render(entry, merged, inner)
    return replace(rendered, errors=tuple(error.below(subchart["values"]) for error in rendered.errors))


def _with_global(own: dict[str, Any], above: Any) -> dict[str, Any]:
    """The values of a bundled chart with those that all charts share: the upper chart's win."""
    if not isinstance(above, dict):
        return own
    below = own.get(_GLOBAL)
    return {**own, _GLOBAL: merge_files([below if isinstance(below, dict) else {}, above])}


def _stopped(entry: ChartEntry, why: TemplateError) -> ChartWorkloads:
    return ChartWorkloads(errors=(ChartError(why.path, f"{entry.chart} {entry.version} does not render: {why}"),))


LONGEST = 63


def chart_name(chart: str, values: dict[str, Any]) -> str:
    """The chart's name, or what `nameOverride` says. Raises TemplateError."""
    return _short(_override(values, "nameOverride") or chart)


def full_name(chart: str, values: dict[str, Any], helm_release: str) -> str:
    """What names of objects begin with: not twice the same, where the release is called like the chart.

    Raises TemplateError.
    """
    own = _override(values, "fullnameOverride")
    if own:
        return _short(own)
    name = _override(values, "nameOverride") or chart
    return _short(helm_release if name in helm_release else f"{helm_release}-{name}")


def _override(values: dict[str, Any], key: str) -> str:
    value = look_up(values, (key,))
    if not is_true(value):
        return ""
    if not isinstance(value, str):
        raise TemplateError(f"at <.Values.{key}>: trunc takes a string", key)
    return value


def _short(name: str) -> str:
    return name[:LONGEST].removesuffix("-")
