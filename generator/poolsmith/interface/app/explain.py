"""Use case: say why. A rule, a pool's plan with the order in which its nodes are updated, the origin of a value, or a
symptom.

For a pool with several kernels or systems, the order is that in which nodes go from one to the next.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import NoInputError, UsageError, sorted_unique
from poolsmith.core.diagnostics.known_rules import known_rules, retired_code
from poolsmith.core.diagnostics.masking import masked, masked_tree
from poolsmith.core.diagnostics.message_text import did_you_mean, joined, shorten
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import split, value_at
from poolsmith.fleet.plan.origin import FromCatalog, FromProfile
from poolsmith.fleet.plan.sharing.mig import MIG_STRATEGY
from poolsmith.fleet.profiles.fleet import CLUSTER_FILE, PROFILES
from poolsmith.guard.rules.prediction.driver_images import driver_images
from poolsmith.interface.report.rule_page import format_rule
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.project import CLUSTERS, open_project

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from poolsmith.core.shape.layers import Layers
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValueSetting
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.project.run.cluster_run import ClusterRun, PlannedCluster
    from poolsmith.project.run.project import Project

    Explained = ClusterRun | PlannedCluster


_FEW_POOLS = 4
_RULE_CODE = pattern("psm[0-9]*", re.IGNORECASE)


@record(kw_only=False)
class OriginStep:
    """One step of the way back: `text` for people, `path` and `line` where a profile says it."""

    depth: int
    text: str
    path: str | None = None
    line: int | None = None
    pointer: str | None = None


@record(kw_only=False)
class ExplainedValue:
    """A generated value, the chart's default beside it, and the way back to where it came from."""

    file: str
    path: str
    value: object
    default: object
    steps: tuple[OriginStep, ...]


@record(kw_only=False)
class Explanation:
    """What `explain` answers: text, or values; `outcome` when the profiles have errors."""

    text: str = ""
    values: tuple[ExplainedValue, ...] = ()
    outcome: Outcome | None = None


@with_facts
def explain(root: Path, what: str) -> Explanation:
    """`what` is a rule (PSM101 or its name), a cluster, a pool (<cluster>/<pool>), a value (<cluster>:<dotted path>),
    or what somebody sees in a cluster.

    A file below output/ explains all of its values. Raises UsageError, NoInputError.
    """
    rules = known_rules()
    if what.upper() in rules or what.lower() in rules:
        from poolsmith.guard.rules.rule_book import find_rule  # all rules, which a pool or a value can do without

        if (rule := find_rule(what)) is not None:
            old = retired_code(what)
            return Explanation(text=(f"{old} is a part of {rule.code} now.\n\n" if old else "") + format_rule(rule))
    if _RULE_CODE.fullmatch(what):
        codes = dict.fromkeys(rule.code for rule in rules.values())
        raise UsageError(f"there is no rule `{what}`; {did_you_mean(what.upper(), codes)}")
    is_said = len(what.split()) > 1
    if is_said and (found := _symptom(what)) is not None:
        return found
    try:
        return _of_project(root, what)
    except (NoInputError, UsageError) as error:
        if not is_said and (found := _symptom(what, exactly=bool(_target(what)[1]))) is not None:
            return found
        if isinstance(error, NoInputError):
            raise NoInputError(f"`{shorten(what)}` is no rule and no symptom that is known, and {error}") from None
        raise


def _symptom(text: str, *, exactly: bool = False) -> Explanation | None:
    from poolsmith.interface.app.symptoms import symptoms_of  # on demand

    found = symptoms_of(text, exactly=exactly)
    return Explanation(text=found) if found else None


def _of_project(root: Path, what: str) -> Explanation:
    project = open_project(root)
    name, separator, rest = _target(what)
    clusters = {files.name: files for files in project.fleet.clusters}
    if name not in clusters:
        return _pool_anywhere(project, what, clusters)
    run = run_cluster(project, clusters[name])
    if run.plan is None:
        problems = sorted_unique((*run.diagnostics, *project.bases.problems))
        return Explanation(outcome=Outcome(diagnostics=problems))
    if separator == "/" and rest:
        return Explanation(text=_pool_text(run, rest))
    if not rest:
        return Explanation(text=_cluster_text(run.plan))
    return Explanation(values=tuple(_values(project, run, rest)))


def _target(what: str) -> tuple[str, str, str]:
    """Cluster, separator and rest. A path below output/ or profiles/ stands for its cluster and file."""
    plain = what.removeprefix("./")
    if plain.startswith(f"{CLUSTERS}/"):
        name, _, rest = plain.removeprefix(f"{CLUSTERS}/").partition("/")
        return name, ":", rest
    if plain.startswith(f"{PROFILES}/"):
        name, _, rest = plain.removeprefix(f"{PROFILES}/").partition("/")
        return name, "/", "" if rest == CLUSTER_FILE else rest
    for index, char in enumerate(what):
        if char in ":/":
            return what[:index], char, what[index + 1 :]
    return what, "", ""


def _pool_anywhere(project: Project, what: str, clusters: Collection[str]) -> Explanation:
    found = []
    for files in project.fleet.clusters:
        run = run_cluster(project, files)
        if run.plan is not None and any(pool.name == what for pool in run.plan.pools):
            found.append(run)
    if len(found) == 1:
        return Explanation(text=_pool_text(found[0], what))
    if found:
        names = ", ".join(f"{run.loaded.name}/{what}" for run in found)
        raise UsageError(f"several clusters have a pool `{what}`; name one: {names}")
    help_text = did_you_mean(what.partition(":")[0].partition("/")[0], clusters) if clusters else ""
    raise UsageError(f"`{what}` is no rule, cluster, pool or value, and no symptom that is known; {help_text}")


def _cluster_text(plan: ClusterPlan) -> str:
    lines = [f"{plan.name}: {len(plan.pools)} pools"]
    lines += [f"  {pool.name}" for pool in plan.pools]
    lines += ["values:"] + [f"  {setting.dotted}" for setting in plan.values]
    return "\n".join(lines) + "\n"


def _pool_text(run: Explained, name: str) -> str:
    plan = run.plan
    assert plan is not None
    path = f"{PROFILES}/{plan.name}/{name}"
    pool = next((pool for pool in plan.pools if name == pool.name or path == pool.profile.path), None)
    if pool is None:
        raise UsageError(
            f"cluster `{plan.name}` has no pool `{name}`; {did_you_mean(name, [item.name for item in plan.pools])}"
        )
    return "\n".join(pool_lines(plan, pool, run)) + "\n"


def pool_lines(plan: ClusterPlan, pool: PoolPlan, run: Explained) -> list[str]:
    """What was decided for a pool and where that comes from, without secrets."""
    layers = next(item.layers for item in run.loaded.pools if item.pool.name == pool.name)
    return masked("\n".join(_pool_lines(plan, pool, layers, run))).split("\n")


def _pool_lines(plan: ClusterPlan, pool: PoolPlan, layers: Layers, run: Explained) -> list[str]:
    spec = pool.profile.spec
    lines = [
        f"{plan.name}/{pool.name}",
        f"  files      {' + '.join(file.path for file in layers.files)}",
        f"  nodes      {plan.cluster.spec.pool_label}={pool.label_value}",
        f"  GPUs       {spec.gpu.count} x {spec.gpu.product} ({pool.architecture or 'architecture unknown'})",
        f"  system     {spec.system_words}, kernel {spec.kernel_words or 'not declared'}, {spec.arch}",
        f"  runtime    {spec.runtime.name} {spec.runtime.version or ''}".rstrip(),
        f"  workload   {spec.workload}",
        f"  toolkit    {pool.toolkit}",
    ]
    if pool.driver is None:
        lines.append("  driver     none on the host")
    else:
        guest = ", of vGPU guests" if pool.driver.vgpu is not None else ""
        lines.append(f"  driver     {pool.driver.source} {pool.driver.version or '(version not declared)'}{guest}")
        lines += [f"    {'  ' * step.depth}{step.text}" for step in _steps(pool.driver.origin, run)]

    lines += [f"  {'' if number else 'roll':10} {step}" for number, step in enumerate(roll_order(pool, run.prediction))]
    lines += _starts(pool, run)
    lines += [f"  object     NVIDIADriver {item.name}" for item in plan.driver_objects if item.pool == pool.name]
    lines.append("  labels")
    for label in pool.labels:
        lines.append(f"    {label.key}={label.value}  (set by {label.writer})")
        lines += [f"      {'  ' * step.depth}{step.text}" for step in _steps(label.origin, run)]
    shared = [item for item in plan.singletons if pool.name in item.asked_by]
    if shared:
        lines.append("  asks for, once per cluster")
        lines += [f"    {item.name}: {item.value}  ({item.because})" for item in shared]
    lines += _from_others(pool, plan)
    lines.append(f"  smoke test {pool.smoke.image or 'none: ' + (pool.smoke.reason or '')}")
    return lines


def _starts(pool: PoolPlan, run: Explained) -> list[str]:
    """What waits for what on the pool's nodes."""
    if run.prediction is None:
        return []
    from poolsmith.project.output.readme import pool_orders, start_words  # on demand

    prediction = run.prediction
    starts = pool_orders(prediction.cluster_ledger(), prediction.installation.objects).get(pool.name, ())
    lines = [f"    {start.name}: {start_words(start, starts)}" for start in starts]
    return ["  starts, by what the operands wait for", *lines] if lines else []


def _from_others(pool: PoolPlan, plan: ClusterPlan) -> list[str]:
    """Why the slices of a pool are called as no line of its own says."""
    for item in plan.singletons:
        if item.name == MIG_STRATEGY and pool.mig_strategy is not None and pool.name not in item.asked_by:
            verb = "asks" if len(item.asked_by) == 1 else "ask"
            why = f"as {joined(item.asked_by, _FEW_POOLS)} {verb}; alone it would be {pool.mig_strategy}"
            return [
                "  gets from other pools, once per cluster",
                f"    {item.name}: {item.value}, {why}",
                f"    its nodes offer {', '.join(pool.resources) or 'nothing'}",
            ]
    return []


def _values(project: Project, run: ClusterRun, wanted: str) -> list[ExplainedValue]:
    plan = run.plan
    assert plan is not None
    file, path = _split_wanted(plan, wanted)
    found = []
    for values_file, chart_name, release, settings in _values_files(plan):
        if file is not None and file != values_file:
            continue
        chart = project.catalog.chart(chart_name, release)
        for setting in settings:
            if path and not _overlap(path, setting.dotted):
                continue
            default = chart.default(setting.path) if chart is not None else _of_unit(chart_name, release, setting.path)
            steps = tuple(_steps(setting.origin, run))
            value = masked_tree(setting.value, setting.path[-1])
            found.append(ExplainedValue(values_file, setting.dotted, value, default, steps))
    if not found and path:
        chart = _chart_of(project, plan)
        keys = tuple(path.split("."))
        if chart is not None and chart.accepts(keys):
            return _defaults(plan, chart, keys)
        known = [setting.dotted for setting in plan.values]
        raise UsageError(f"`{plan.name}` generates no value `{path}`; {did_you_mean(path, known)}")
    return found


def _of_unit(chart: str, release: str, path: tuple[str, ...]) -> object:
    """The default of a chart that is known by what it installs."""
    from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads  # on demand

    entry = read_chart_workloads(chart, release)
    return value_at(entry.defaults, path) if entry is not None and entry.defaults is not None else None


def _defaults(plan: ClusterPlan, chart: Chart, keys: tuple[str, ...]) -> list[ExplainedValue]:
    """Values that are the chart's own, one by one."""
    steps = [OriginStep(0, f"default of the chart {chart.name} {chart.release} ({chart.source})")]
    if keys[0] == "driver" and plan.driver_objects:
        names = ", ".join(item.name for item in plan.driver_objects)
        steps.append(OriginStep(0, f"each pool's driver is described by its NVIDIADriver: {names}"))
    file = plan.chart.values_file if plan.chart is not None else ""
    found = []
    pending = [keys]
    while pending:
        path = pending.pop()
        default = chart.default(path)
        if isinstance(default, dict) and default:
            pending.extend((*path, key) for key in reversed(default))
        else:
            found.append(ExplainedValue(file, ".".join(path), default, default, tuple(steps)))
    return found


def _overlap(wanted: str, generated: str) -> bool:
    """The same path, or one inside the other."""
    return f"{generated}.".startswith(f"{wanted}.") or f"{wanted}.".startswith(f"{generated}.")


def _split_wanted(plan: ClusterPlan, wanted: str) -> tuple[str | None, str]:
    """A file of the output, with a dotted path or pointer behind `:` or `#`; or a dotted path alone."""
    file, separator, path = wanted.partition("#")
    if not separator:
        file, separator, path = wanted.partition(":")
    normal = posixpath.normpath(file)
    if any(normal == name for name, *_ in _values_files(plan)):
        return normal, ".".join(split(path)) if path.startswith("/") else path
    if normal.endswith((".yaml", ".yml", ".json", ".md")):
        raise UsageError(f"`{file}` holds no Helm values; `poolsmith explain {plan.name}/<pool>` explains pools")
    return None, wanted.strip("/").replace("/", ".") if wanted.startswith("/") else wanted


def _values_files(plan: ClusterPlan) -> list[tuple[str, str, str, tuple[ValueSetting, ...]]]:
    found = []
    if plan.chart is not None:
        found.append((plan.chart.values_file, plan.chart.name, plan.chart.version, plan.values))
    found.extend(
        (unit.chart.values_file, unit.chart.name, unit.catalog_release or "", unit.values)
        for unit in plan.units
        if unit.chart is not None
    )
    return found


def _chart_of(project: Project, plan: ClusterPlan) -> Chart | None:
    return project.catalog.chart(plan.chart.name, plan.chart.version) if plan.chart is not None else None


def _steps(origin: Origin, run: Explained, depth: int = 0) -> list[OriginStep]:
    if isinstance(origin, FromProfile):
        return [_profile_step(origin, run, depth)]
    if isinstance(origin, FromCatalog):
        source = f" ({origin.source})" if origin.source else ""
        return [OriginStep(depth, f"catalog {origin.entry}{source}")]
    steps = [OriginStep(depth, f"{origin.derivation}: {origin.because}")]
    for part in origin.inputs:
        steps.extend(_steps(part, run, depth + 1))
    return steps


def _profile_step(origin: FromProfile, run: Explained, depth: int) -> OriginStep:
    field = ".".join(split(origin.pointer))
    file = run.loaded.files.get(origin.path)
    if file is None:
        return OriginStep(depth, f"{origin.path}: {field}", origin.path, None, origin.pointer)
    location = file.locate(origin.pointer)
    line = location.span.start.line if location.span.start else None
    said = "" if file.has(origin.pointer) else ", by default"
    return OriginStep(depth, f"{location.span}: {field}{said}", origin.path, line, origin.pointer)


_DRIVER = "nvidia-driver-ctr"


def roll_order(pool: PoolPlan, prediction: Prediction | None) -> list[str]:
    """Sentences with numbers; none where all nodes of the pool run the same system."""
    spec = pool.profile.spec
    if len(spec.systems) == 1:
        return []
    fields = []
    names = ["" for _ in spec.systems]
    for field, given in (("os.versions", spec.os.versions), ("kernel.releases", spec.kernel.releases)):
        if len(given) > 1:
            fields.append(field)
            names = [" with ".join(filter(None, pair)) for pair in zip(names, given, strict=True)]
    images = _images(pool, prediction)
    gone = ", and its image goes with it" if len(images) > 1 else ""
    steps = [
        *_before(pool, images[1:]),
        "merge: " + _merged(pool, images),
        f"roll the nodes of the pool from {names[0]} to {names[-1]}: each takes the driver of the system that it boots",
        f"once no node runs {names[0]}, remove it from {' and '.join(fields)}{gone}",
    ]
    return [f"{number}. {step}" for number, step in enumerate(steps, 1)]


def _images(pool: PoolPlan, prediction: Prediction | None) -> list[str]:
    """The driver images in the order of the systems, each once."""
    if prediction is None or pool.driver is None:
        return []
    mine = (pool.name, _DRIVER)
    pulled = [image for name, container, image in driver_images(prediction) if (name, container) == mine]
    found: dict[str, None] = {}
    for system, tag in zip(pool.profile.spec.systems, pool.driver.os_tags, strict=True):
        ending = f"-{system.kernel}-{tag}" if pool.driver.precompiled else f"-{tag}"
        found.update({image: None for image in pulled if image.endswith(ending)})
    return list(found)


def _before(pool: PoolPlan, images: list[str]) -> list[str]:
    if pool.driver is None:
        return []
    if not pool.driver.managed:
        return ["build the new node image with the driver in it"]
    if images:
        return [f"see that the registry has {', '.join(images)}"]
    return ["see that the nodes reach the new kernel's packages: the driver is compiled there"]


def _merged(pool: PoolPlan, images: list[str]) -> str:
    if pool.driver is None or not pool.driver.managed:
        return "nothing restarts"
    if len(images) > 1:
        return f"driver pods for {len(images)} systems, each only on its own nodes; nothing restarts"
    return "nothing restarts: the same driver pods serve every kernel"
