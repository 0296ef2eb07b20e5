"""poolsmith images."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_problems
from poolsmith.interface.cli.terminal import tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from pathlib import Path


@click.command("images")
@options.root
@options.clusters
@options.form(
    "text",
    "json",
    "yaml",
    told="text: one image a line; json and yaml: with the workloads and pools that need the image.",
)
@click.option(
    "--copy-plan",
    "form",
    type=click.Choice(("text", "skopeo", "crane", "oras", "json")),
    help="Print what to copy into mirrors, with charts and packages beside: commands of a tool, `source destination` a "
    "line, or JSON.",
)
@click.option(
    "--to", metavar="HOST[/PATH]", help="With --copy-plan: a mirror for hosts that the profiles name none for."
)
@click.option(
    "--import",
    "listing",
    type=click.Path(path_type=pathlib.Path, exists=True, dir_okay=False),
    metavar="LISTING",
    help="Make the list of driver images that exist (profiles/_driver-images.yaml) from what `skopeo list-tags`, "
    "`crane ls`, `oras repo tags` or a registry's tags/list prints of one repository.",
)
@click.option(
    "--repository", metavar="HOST/NAME", help="With --import: whose tags these are, where the listing does not say."
)
def command(
    root: Path,
    clusters: tuple[str, ...],
    output_format: str,
    form: str | None,
    to: str | None,
    listing: Path | None,
    repository: str | None,
) -> int:
    """Print every image that the nodes will pull, for mirrors and scanners."""
    if listing is not None:
        return _import(root, listing, repository)
    if repository is not None:
        raise click.UsageError("--repository goes with --import")
    if form is not None:
        return _copy_plan(root, clusters, form, to)
    if to is not None:
        raise click.UsageError("--to goes with --copy-plan")
    from poolsmith.interface.app.images import images, images_json, images_text, images_yaml

    result = images(root, clusters)
    if result.diagnostics:
        print_problems(result.diagnostics, output_format=output_format)
    else:
        write({"text": images_text, "json": images_json, "yaml": images_yaml}[output_format](result))
        for cluster, text in result.unknown:
            tell([f"unknown: {cluster}: {text}"])
    return Exit.FINDINGS if result.diagnostics else Exit.CLEAN


def _copy_plan(root: Path, clusters: tuple[str, ...], form: str, to: str | None) -> int:
    from poolsmith.interface.app.images import copy_plan, copy_plan_json, copy_plan_text

    plan = copy_plan(root, clusters, to)
    if plan.diagnostics:
        print_problems(plan.diagnostics, output_format=form)
        return Exit.FINDINGS
    write(copy_plan_json(plan) if form == "json" else copy_plan_text(plan, form))
    return Exit.CLEAN


def _import(root: Path, listing: Path, repository: str | None) -> int:
    from poolsmith.core.diagnostics.message_text import counted, listed
    from poolsmith.fleet.profiles.fleet import DRIVER_IMAGES_FILE
    from poolsmith.interface.app.import_images import import_images

    found = import_images(root, listing, repository)
    left = f"; {counted(found.left, 'other tag')} left out" if found.left else ""
    state = "wrote" if found.written else "nothing new in"
    tell([f"{state} {DRIVER_IMAGES_FILE}: `{found.repository}` has {counted(found.tags, 'driver image')}{left}"])
    for word, tags in (("new", found.added), ("gone", found.gone)):
        if tags:
            tell([f"   {word}: {listed(tags, 5)}"])
    return Exit.CLEAN
