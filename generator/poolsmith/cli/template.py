"""poolsmith template."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.terminal import write
from poolsmith.diagnostics.printable import printable


@click.command("template")
@click.option("--release", required=True, metavar="TAG", help="Release of the gpu-operator chart, as v26.3.3.")
@click.option(
    "--namespace",
    default="gpu-operator",
    show_default=True,
    help="Namespace of the Helm release; the custom resources are cluster-wide.",
)
@click.option("--release-name", default="gpu-operator", show_default=True, help="Name of the Helm release.")
@click.option(
    "-f",
    "--values",
    "files",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Values file; repeatable, later ones on top.",
)
@click.option("--set", "settings", multiple=True, metavar="PATH=VALUE", help="One value more, as Helm reads it.")
@click.option(
    "--api-versions",
    multiple=True,
    metavar="API",
    help="API that the cluster serves, as resource.k8s.io/v1/DeviceClass; repeatable.",
)
@click.option(
    "--format", "output_format", type=click.Choice(("yaml", "json")), default="yaml", show_default=True, help="Form."
)
def command(
    release: str,
    namespace: str,
    release_name: str,
    files: tuple[Path, ...],
    settings: tuple[str, ...],
    api_versions: tuple[str, ...],
    output_format: str,
) -> int:
    """Print the custom resources that the chart renders from Helm values, without Helm.

    What the chart itself refuses is an error here too.
    """
    del namespace  # Helm takes it, and no custom resource of the chart has one
    from poolsmith.app.template import template, template_json, template_yaml
    from poolsmith.diagnostics.outcome import Outcome
    from poolsmith.operands.chart.project import HelmRelease
    from poolsmith.report.text import format_text

    served = frozenset(api for word in api_versions for api in word.split(","))
    result = template(release, files, settings=settings, helm=HelmRelease(release_name, served))
    if output_format == "json":
        write(template_json(result))
    else:
        write(template_yaml(result))
        if result.diagnostics:
            checked = {"values files": len(files)}
            _tell(format_text(Outcome(diagnostics=result.diagnostics, checked=checked)))
        _tell("".join(f"poolsmith: the chart renders nothing: {printable(text)}\n" for text in result.errors))
    notes = result.notes or (() if result.failed or result.objects else ("these values render no custom resource",))
    _tell("".join(f"poolsmith: note: {printable(note)}\n" for note in notes))
    return Exit.FINDINGS if result.failed else Exit.CLEAN


def _tell(text: str) -> None:
    """To standard error: standard output holds the objects and nothing else."""
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
