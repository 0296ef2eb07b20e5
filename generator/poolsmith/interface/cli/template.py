"""poolsmith template."""

from __future__ import annotations

from pathlib import Path

import click

from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE, OPERATOR_RELEASE
from poolsmith.interface.cli import options
from poolsmith.interface.cli.terminal import tell, tell_outcome, write
from poolsmith.interface.cli.verbs import Exit


@click.command("template")
@click.option(
    "--release",
    required=True,
    metavar="TAG",
    shell_complete=options.completes("release"),
    help="Release of the gpu-operator chart, such as v26.3.3.",
)
@click.option(
    "--namespace",
    default=OPERATOR_NAMESPACE,
    show_default=True,
    help="Namespace of the Helm release; the custom resources are cluster-wide.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All that the chart installs: workloads, roles, hooks, feature discovery."
)
@click.option("--release-name", default=OPERATOR_RELEASE, show_default=True, help="Name of the Helm release.")
@click.option(
    "-f",
    "--values",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Values file; repeatable, later ones on top.",
)
@options.chart_set
@options.api_versions
@options.object_format
@options.verbose
def command(
    release: str,
    namespace: str,
    everything: bool,
    release_name: str,
    files: tuple[Path, ...],
    settings: tuple[str, ...],
    api_versions: frozenset[str],
    output_format: str,
    verbose: bool,
) -> int:
    """Print the custom resources that the chart renders from Helm values, without Helm.

    What the chart itself refuses is an error here too. With --all, everything that Helm would install is shown, to be
    compared with `helm template`: the same objects with the same fields, hooks among them.
    """
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.fleet.operands.chart.chart_projection import HelmRelease
    from poolsmith.interface.app.template import template, template_json, template_yaml

    helm = HelmRelease(release_name, api_versions)
    result = template(release, files, settings=settings, helm=helm, namespace=namespace if everything else None)
    if output_format == "json":
        write(template_json(result))
    else:
        write(template_yaml(result))
        if result.diagnostics:
            checked = {"values files": len(files)}
            layout = options.layout(verbose=verbose)
            tell_outcome(Outcome(diagnostics=result.diagnostics, checked=checked), layout)
        tell(f"the chart renders nothing: {text}" for text in result.errors)
    notes = result.notes or (() if result.failed or result.objects else ("these values render no custom resource",))
    tell(f"note: {note}" for note in notes)
    return Exit.FINDINGS if result.failed else Exit.CLEAN
