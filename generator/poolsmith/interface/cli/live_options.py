"""Flags of the verbs that read a cluster."""

from __future__ import annotations

import os
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poolsmith.core.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.interface.app.live.verify import Source


_TOLD = ("kubeconfig", "context", "timeout", "snapshot", "save", "in_cluster")
"""Names of the flags of a source, as `_source` takes them."""


def source_flags(command: Callable[..., int]) -> Callable[..., int]:
    """Where a cluster is read from: the verb gets it as `source`. Raises UsageError."""

    @wraps(command)
    def found(**given: Any) -> int:
        told = {name: given.pop(name) for name in _TOLD}
        return command(source=_source(**told), **given)

    for option in (
        click.option(
            "--save",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Also write what was read to a file, without secrets; `--from` reads it.",
        ),
        click.option(
            "--from",
            "snapshot",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Read what `--save` wrote in the place of a cluster.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(0.1, 3600),
            default=30.0,
            show_default=True,
            metavar="SECONDS",
            help="Limit of each call to the API server.",
        ),
        click.option("--in-cluster", is_flag=True, help="Use the service account of the pod that this runs in."),
        click.option("--context", metavar="NAME", help="Context of the kubeconfig. Default: its current one."),
        click.option(
            "--kubeconfig",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The kubeconfig. Default: $KUBECONFIG, else that of your home.",
        ),
    ):
        found = option(found)
    return found


def _source(
    *,
    kubeconfig: Path | None,
    context: str | None,
    timeout: float,
    snapshot: Path | None,
    save: Path | None,
    in_cluster: bool,
) -> Source:
    from poolsmith.interface.app.live.verify import Source
    from poolsmith.kubernetes.live.api_resources import Reading

    told = kubeconfig is not None or context is not None
    if snapshot is not None and (told or in_cluster or save is not None):
        raise UsageError("--from is read in the place of a cluster: no other flag names one, and nothing is to --save")
    if in_cluster and told:
        raise UsageError("--in-cluster uses the pod's own service account: name no kubeconfig and no context")
    if snapshot is None and not told and not in_cluster and os.environ.get("CI"):
        raise UsageError(
            "CI is set, and nothing says which cluster is meant: --context, --kubeconfig, --in-cluster or --from do"
        )
    if kubeconfig is not None and not kubeconfig.is_file():
        raise UsageError(f"{kubeconfig} is not a file")
    named = None if kubeconfig is None else str(kubeconfig)
    reading = Reading(kubeconfig=named, context=context, in_cluster=in_cluster, seconds=timeout)
    return Source(reading=reading, file=snapshot, save=save)
