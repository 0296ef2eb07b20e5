"""Use case: what the chart renders from values, without Helm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit_all
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.chart.judgement import chart_errors
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.projections import projected_releases, read_projection
from poolsmith.gpu.values.values_file import read_values
from poolsmith.interface.app.set_values import set_all
from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@record(kw_only=False)
class TemplateResult:
    """Whole Kubernetes objects, or why there are none: the chart's own refusals, and what is wrong with files."""

    release: str
    objects: tuple[dict[str, Any], ...] = ()
    errors: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return bool(self.errors or self.diagnostics)


def template(
    release: str,
    files: Sequence[Path],
    *,
    settings: Sequence[str] = (),
    helm: HelmRelease | None = None,
    namespace: str | None = None,
) -> TemplateResult:
    """Render `files`, later ones on top, then `settings` in Helm's `--set` grammar.

    With a namespace, all that the chart installs there is shown, hooks and the chart that it brings too.

    Raises UsageError for a release that the catalog does not know, and for a setting that can't be read.
    """
    projection = read_projection(release)
    chart = Catalog().chart(OPERATOR_CHART, release)
    if projection is None or chart is None:
        known = sorted(projected_releases(), key=version_key, reverse=True)
        raise UsageError(f"there is no release `{release}` in the catalog; {did_you_mean(release, known)}")
    read = [read_values(file, file.as_posix()) for file in files]
    problems = [item for item in read if isinstance(item, Diagnostic)]
    if problems:
        return TemplateResult(release, diagnostics=sorted_unique(problems))
    values = merge_files(item for item in read if isinstance(item, dict))
    set_all(values, settings)
    errors = chart_errors(release, values, helm)
    if errors:
        return TemplateResult(release, errors=tuple(error.message for error in errors))
    projected = project(projection, chart.defaults, values, helm)
    if namespace is None:
        return TemplateResult(release, projected.objects, notes=projected.notes)
    merged = merge_over_defaults(chart.defaults, values)
    workloads = operator_chart_objects(release, merged, namespace, (helm or HelmRelease()).name)
    objects = (*projected.objects, *workloads.objects, *workloads.hooks)
    return TemplateResult(release, objects, notes=tuple(f"not evaluated: {text}" for text in workloads.unknown))


def template_yaml(result: TemplateResult) -> str:
    """The objects as a YAML stream; nothing when there are none."""
    return emit_all(result.objects)


def template_json(result: TemplateResult) -> str:
    """The machine-readable result, version 1."""
    body = {
        "version": 1,
        "release": result.release,
        "objects": list(result.objects),
        "errors": [*result.errors, *map(_line, result.diagnostics)],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _line(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.primary.span}: {diagnostic.code} {diagnostic.name}: {diagnostic.message}"
