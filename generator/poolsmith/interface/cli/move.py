"""poolsmith move."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from poolsmith.core.diagnostics import Severity, UsageError
from poolsmith.interface.cli import options
from poolsmith.interface.cli.edited import edit_flags, tell_edited
from poolsmith.interface.cli.terminal import progress_bar, tell, write
from poolsmith.interface.cli.verbs import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.interface.app.move import Moved
    from poolsmith.interface.cli.edited import EditFlags


@click.group("move")
def command() -> None:
    """Write the next step of a move: a rename, another engine, namespace or source, the end of a cluster.

    Each step is one commit that is safe to stop at. The same command again writes the next one.
    """


_CLUSTER = click.argument("cluster", shell_complete=options.completes("cluster"))
_ACCEPTED = click.option(
    "--accept-outage-by",
    "accepted_by",
    default="",
    metavar="WHO",
    help="Who takes the outage; it is written into the profile.",
)


_OWNER: Mapping[str, str] = {
    "namespace": "Of the new objects. Default: the engine's own.",
    "destination": "What Argo CD calls the cluster.",
    "instance": "Which Argo CD, where the fleet has several.",
}
"""What a new owner of a delivery is told."""


def _owner(function: Callable[..., int]) -> Callable[..., int]:
    found = [click.option(f"--{name}", default=None, metavar="NAME", help=text) for name, text in _OWNER.items()]
    return reduce(lambda wrapped, option: option(wrapped), reversed(found), function)


@command.command("rename-cluster")
@click.argument("old", shell_complete=options.completes("cluster"))
@click.argument("new")
@edit_flags
def rename_cluster(old: str, new: str, **shared: Any) -> int:
    """Give a cluster another name. Its delivery goes on under the old one, so that nothing is replaced."""
    return _move("rename-cluster", (old, new), {}, **shared)


@command.command("rename-pool")
@click.argument("target", metavar="CLUSTER/POOL")
@click.argument("new")
@edit_flags
def rename_pool(target: str, new: str, **shared: Any) -> int:
    """Give a pool another name. It keeps the old one in the cluster: its nodes, their labels, its driver."""
    cluster, slash, old = target.partition("/")
    if not slash:
        raise UsageError(f"name the pool: `{cluster}/<pool>`")
    return _move("rename-pool", (cluster, old, new), {}, **shared)


@command.command("engine")
@_CLUSTER
@click.argument("engine", type=click.Choice(("argocd", "flux")))
@_owner
@edit_flags
def engine(cluster: str, engine: str, **shared: Any) -> int:
    """Deliver a cluster by another engine: first the old one lets go, then the new one takes over."""
    return _move("engine", (cluster, engine), {name: shared.pop(name) for name in _OWNER}, **shared)


@command.command("delivery-namespace")
@_CLUSTER
@click.argument("namespace")
@edit_flags
def delivery_namespace(cluster: str, namespace: str, **shared: Any) -> int:
    """Put the objects of the delivery into another namespace: first they let go, then new ones take over."""
    return _move("delivery-namespace", (cluster, namespace), {}, **shared)


@command.command("namespace")
@_CLUSTER
@click.argument("namespace")
@_ACCEPTED
@edit_flags
def stack_namespace(cluster: str, namespace: str, **shared: Any) -> int:
    """Put the stack itself into another namespace. Every release is uninstalled and installed again."""
    return _move("namespace", (cluster, namespace), {}, **shared)


@command.command("source")
@_CLUSTER
@click.option("--repo", "repo", default=None, metavar="URL", help="Repository that holds output/.")
@click.option("--path", "path", default=None, metavar="PATH", help="Path of output/ in it.")
@click.option("--revision", default=None, metavar="REF", help="Full git reference, tag or commit.")
@click.option("--charts", default=None, metavar="URL", help="Helm repository of the charts.")
@edit_flags
def source(
    cluster: str, repo: str | None, path: str | None, revision: str | None, charts: str | None, **shared: Any
) -> int:
    """Deliver a cluster from another repository, path or revision, or its charts from another repository."""
    wanted = {"repoURL": repo, "path": path, "revision": revision, "chartRepo": charts}
    if not any(wanted.values()):
        raise UsageError("say what to change: --repo, --path, --revision or --charts")
    return _move("source", (cluster,), wanted, **shared)


@command.command("driver-mode")
@_CLUSTER
@click.argument("mode", type=click.Choice(("cluster-policy", "nvidia-driver")))
@_ACCEPTED
@edit_flags
def driver_mode(cluster: str, mode: str, **shared: Any) -> int:
    """Describe drivers by one ClusterPolicy, or by one object for each pool."""
    return _move("driver-mode", (cluster, mode), {}, **shared)


@command.command("remove-cluster")
@_CLUSTER
@click.option("--keep-running", is_flag=True, help="What runs stays, and is nobody's; else all of it goes.")
@_ACCEPTED
@edit_flags
def remove_cluster(cluster: str, keep_running: bool, **shared: Any) -> int:
    """Take a cluster out of the fleet: first its delivery is given up, then its profiles go."""
    return _move("remove-cluster", (cluster,), {"keeps": "yes" if keep_running else None}, **shared)


@command.command("stack-kind")
@_CLUSTER
@click.argument("kind", type=click.Choice(("operator", "device-plugin", "gpu-cluster")))
@click.option("--release", default=None, metavar="TAG", help="Of the operator, or of the device plugin.")
@_ACCEPTED
@edit_flags
def stack_kind(cluster: str, kind: str, release: str | None, **shared: Any) -> int:
    """Let another kind of stack manage the GPUs: first the old one is given up, then the new one takes its place."""
    return _move("stack-kind", (cluster, kind), {"release": release}, **shared)


@command.command("split-cluster")
@_CLUSTER
@click.argument("new")
@click.argument("pools", nargs=-1, required=True)
@_owner
@edit_flags
def split_cluster(cluster: str, new: str, pools: tuple[str, ...], **shared: Any) -> int:
    """Give pools to another cluster, which may be a new one: it gets them first, then the old one lets go of them."""
    return _move("split-cluster", (cluster, new, *pools), {name: shared.pop(name) for name in _OWNER}, **shared)


@command.command("merge-clusters")
@_CLUSTER
@click.argument("into", shell_complete=options.completes("cluster"))
@_ACCEPTED
@edit_flags
def merge_clusters(cluster: str, into: str, **shared: Any) -> int:
    """Give all pools of a cluster to another one, and take it out of the fleet afterwards."""
    return _move("merge-clusters", (cluster, into), {}, **shared)


@command.command("by-hand")
@click.argument("move", type=click.Choice(("split-pool", "merge-pools")))
def by_hand(move: str) -> int:
    """Say what people do where no commit can make the move."""
    from poolsmith.change.moves.places import BY_HAND

    write(f"{BY_HAND[move]}\n")
    return Exit.CLEAN


def _move(
    name: str, words: tuple[str, ...], wanted: dict[str, str | None], *, flags: EditFlags, accepted_by: str = ""
) -> int:
    from poolsmith.interface.app.move import Asked, MoveOptions, move
    from poolsmith.project.output.batches import default_jobs

    asked = Asked(move=name, words=words, flags={key: value for key, value in wanted.items() if value})
    chosen = MoveOptions(
        today=flags.today,
        accepted_by=accepted_by,
        dry_run=flags.dry_run,
        jobs=flags.jobs or default_jobs(),
    )
    with progress_bar("moving") as progress:
        result = move(flags.root, asked, chosen, progress)
    return _reported(result, flags)


def _reported(result: Moved, flags: EditFlags) -> int:
    """What comes next is told, too."""
    if result.step is None:
        left = result.done.look if result.done is not None else ()
        tell(["nothing to do: the profiles say so already", *_numbered(left)])
        return Exit.CLEAN
    edits = _edits(result)
    done = "wrote the step" if result.written else "nothing was written; the step"
    lines = (f"{done}: {result.step.title}", *edits, *_numbered(_to_do(result)))
    return tell_edited(result, flags, edits=edits, lines=lines)


def _edits(result: Moved) -> list[str]:
    assert result.step is not None, "it was told otherwise"
    step = result.step
    return [
        *(f"   {edit}" for edit in step.edits.lines),
        *(f"   {old} becomes {new}" for old, new in step.renamed),
        *(f"   {path} is made" for path in step.made),
        *(f"   {path} is removed" for path in step.removed),
    ]


def _to_do(result: Moved) -> list[str]:
    assert result.step is not None, "it was told otherwise"
    step = result.step
    found = [*step.before]
    if result.report is not None and result.report.fails(Severity.ERROR):
        found.append("settle the new errors")
    found += ["commit, have it reviewed, and merge", *step.look]
    if step.then:
        found.append(f"then the next step: `{step.then}`")
    return found


def _numbered(items: tuple[str, ...] | list[str]) -> list[str]:
    return [f"   {number}. {item}" for number, item in enumerate(items, 1)]
