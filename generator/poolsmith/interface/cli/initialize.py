"""poolsmith init."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_outcome
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit
from poolsmith.project.output.batches import default_jobs

if TYPE_CHECKING:
    from poolsmith.change.takeover.node_answers import TakeoverAnswers
    from poolsmith.change.takeover.take_over import Takeover

_OF_NODES = ("kubernetes", "distribution", "system", "kernel", "runtime", "gpu", "release")


@click.command("init")
@click.argument("cluster", required=False)
@click.option(
    "--engine",
    type=click.Choice(("argocd", "flux")),
    default=None,
    help="Default: the one whose objects the repository has, else argocd.",
)
@click.option(
    "--destination",
    default=None,
    help="Of a new Argo CD cluster: the name that Argo CD has of it, or the address of its server. Default: where Argo "
    "CD runs for the first cluster, its own name for each further one.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    default=None,
    help="Take over what is installed: a values file, a file with a HelmRelease or an Application, a folder.",
)
@click.option("--release", default=None, help="The release, where no file says it. Default: the newest.")
@click.option("--kubernetes", default=None, help='The version of Kubernetes, like "1.33".')
@click.option("--distribution", default=None, help="How Kubernetes is installed, like rke2.")
@click.option("--os", "system", default=None, help='The system of the nodes, like "ubuntu 22.04".')
@click.option("--kernel", default=None, help="What `uname -r` says on the nodes.")
@click.option("--runtime", default=None, help="The container runtime of the nodes.")
@click.option("--gpu", default=None, help="The GPUs, like NVIDIA-L40S.")
@click.option("--dry-run", is_flag=True, help="With --from: print the profiles, and write nothing.")
@options.root_here
def command(
    cluster: str | None,
    engine: str | None,
    destination: str | None,
    source: Path | None,
    root: Path,
    *,
    dry_run: bool,
    **given: str | None,
) -> int:
    """Start a project: a CLUSTER with one pool, policies, hooks, a pipeline, owners.

    CLUSTER is by default the name of the folder. Address, branch and engine are taken from git and from files of the
    repository, and what is said of nodes by flags. What exists is not changed: lines to add are printed. Then the
    project is generated and checked.

    With --from the profiles are those of what is installed already: what they generate is compared with it, and each
    difference is printed with its reason.
    """
    from poolsmith.interface.app.initialize import initialize

    if source is None:
        if dry_run:
            raise UsageError("--dry-run goes with --from")
        answers = _answers(engine, given) if any(given[name] for name in _OF_NODES) else None
        result = initialize(root, cluster, engine=engine, destination=destination, answers=answers)
        taken: list[Takeover] = []
    else:
        if destination is not None:
            raise UsageError("with --from the destination is that of what is installed: change it in the profile")
        taken = _taken(root, source, cluster, engine, given)
        texts = {path: text for item in taken for path, text in item.texts.items()}
        if dry_run or not texts:
            write("".join(f"{printable(line)}\n" for line in _takeover_lines(taken, texts=True)))
            return _exit(taken)
        result = initialize(root, cluster, engine=engine, profiles=texts)
    lines = _takeover_lines(taken)
    lines += [f"wrote {path}" for path in result.written]
    lines += [f"kept  {path}" for path in result.kept]
    lines += [f"found {text}" for text in result.found]
    for path, text in result.to_add:
        lines += [f"add to {path}:", *(f"    {line}" for line in text.splitlines())]
    lines += [f"fill in {text}" for text in result.to_fill]
    write("".join(f"{printable(line)}\n" for line in lines))
    code = _first_run(root, has_grants=result.has_grants, is_takeover=bool(taken))
    return max(code, _exit(taken))


def _first_run(root: Path, *, has_grants: bool, is_takeover: bool) -> int:
    """Generate and check what was written."""
    from poolsmith.interface.app.first_run import first_run

    ran = first_run(root, jobs=default_jobs(), has_grants=has_grants, is_takeover=is_takeover)
    if ran.refused is not None:
        print_outcome(ran.refused, output_format="text", color=None, root=root)
        return Exit.FINDINGS
    write("".join(f"{printable(line)}\n" for line in ran.lines))
    return Exit.CLEAN


def _answers(engine: str | None, given: dict[str, str | None]) -> TakeoverAnswers:
    from poolsmith.change.takeover.node_answers import TakeoverAnswers

    return TakeoverAnswers(engine=engine, **{name: given[name] for name in _OF_NODES})


def _taken(
    root: Path, source: Path, cluster: str | None, engine: str | None, given: dict[str, str | None]
) -> list[Takeover]:
    from poolsmith.change.takeover.take_over import take_over
    from poolsmith.interface.app.initialize import name_of
    from poolsmith.project.run.surroundings import look_around

    return take_over(root, source, _answers(engine, given), look_around(root), cluster, name_of(root))


def _takeover_lines(taken: list[Takeover], *, texts: bool = False) -> list[str]:
    lines = []
    for item in taken:
        lines.append(f"{item.name}: {item.place}")
        lines += [f"  {line}" for line in item.lines]
        for path, text in item.texts.items() if texts else ():
            lines += [f"--- {path}", *text.splitlines()]
    return lines


def _exit(taken: list[Takeover]) -> int:
    """Profiles that can't be generated yet are findings."""
    return Exit.FINDINGS if any(item.refused for item in taken) else Exit.CLEAN
