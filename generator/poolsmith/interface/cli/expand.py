"""poolsmith expand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE
from poolsmith.interface.cli import options
from poolsmith.interface.cli.terminal import tell, tell_outcome, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.interface.app.expand import ExpandResult
    from poolsmith.interface.report.formats import Layout

_FILE = click.Path(path_type=Path)


@click.command("expand")
@click.option(
    "--release",
    required=True,
    metavar="TAG",
    shell_complete=options.completes("release"),
    help="Release of the gpu-operator, such as v26.3.3.",
)
@click.option(
    "-f", "--values", multiple=True, type=_FILE, help="Values file of the chart; repeatable, later ones on top."
)
@options.chart_set
@click.option(
    "--resources",
    multiple=True,
    type=_FILE,
    help="ClusterPolicy, NVIDIADriver or GPUCluster objects, beside those that the chart renders; repeatable.",
)
@click.option(
    "--nodes",
    multiple=True,
    required=True,
    type=_FILE,
    help="Nodes: `kubectl get nodes -o yaml`, or a list of {name, labels, runtime}; repeatable.",
)
@click.option("--namespace", default=OPERATOR_NAMESPACE, show_default=True, help="Namespace of the operator.")
@click.option("--objects", multiple=True, type=_FILE, help="Other existing objects, such as ConfigMaps; repeatable.")
@options.api_versions
@click.option(
    "--os-release", type=_FILE, help="/etc/os-release of the node that runs the operator; matters up to v25.10."
)
@click.option("--service-monitor-crd", is_flag=True, help="The cluster has the ServiceMonitor definition.")
@click.option("--strict", is_flag=True, help="Report as an error what is unknown.")
@options.object_format
@options.verbose
def command(
    release: str,
    values: tuple[Path, ...],
    settings: tuple[str, ...],
    resources: tuple[Path, ...],
    nodes: tuple[Path, ...],
    namespace: str,
    objects: tuple[Path, ...],
    api_versions: frozenset[str],
    os_release: Path | None,
    service_monitor_crd: bool,
    strict: bool,
    output_format: str,
    verbose: bool,
) -> int:
    """Print what the operator creates at run time, without a cluster.

    Only objects that the operator makes are shown: not its own Deployment, feature discovery and the rest that the
    chart installs; `template --all` shows those. Files that the operator brings along in ConfigMaps are shown by their
    length, as `<N chars>`. Conditions of the custom resources, errors and what is unknown go to standard error.
    """
    from poolsmith.interface.app.expand import ExpandRequest, expand, expand_json, expand_yaml

    request = ExpandRequest(
        nodes=nodes,
        values=values,
        settings=settings,
        resources=resources,
        objects=objects,
        namespace=namespace,
        os_release=os_release,
        service_monitors=service_monitor_crd,
        api_versions=api_versions,
    )
    result = expand(release, request)
    if output_format == "json":
        write(expand_json(result))
    else:
        write(expand_yaml(result))
        _tell_result(result, options.layout(verbose=verbose))
    tell(f"note: {note}" for note in result.notes)
    _tell_otherwise(result.expansion.notes, verbose=verbose)
    failed = result.failed or (strict and result.expansion.unknown)
    return Exit.FINDINGS if failed else Exit.CLEAN


def _tell_otherwise(notes: tuple[str, ...], *, verbose: bool) -> None:
    """Where a live operator may come out otherwise."""
    if verbose or len(notes) <= 1:
        tell(f"note: {note}" for note in notes)
    else:
        tell([f"notes: in {len(notes)} things a live operator may come out otherwise; `-v` shows them"])


def _tell_result(result: ExpandResult, layout: Layout) -> None:
    from poolsmith.core.diagnostics.outcome import Outcome

    if result.diagnostics:
        tell_outcome(Outcome(diagnostics=result.diagnostics, checked=result.checked), layout)
    for item in result.expansion.conditions:
        words = [f"{item.kind}/{item.name}: {item.state or 'no state'}"]
        words += [f"{held['type']}: {held['message']}" for held in item.conditions if _matters(held)]
        tell(["; ".join(words)])
    tell(f"the chart renders nothing: {text}" for text in result.chart_errors)
    tell(f"error: {text}" for text in (*result.refused, *result.expansion.errors))
    tell(f"unknown: {text}" for text in result.expansion.unknown)


def _matters(condition: Mapping[str, str]) -> bool:
    return condition.get("status") == "True" and condition.get("type") != "Ready" and bool(condition.get("message"))
