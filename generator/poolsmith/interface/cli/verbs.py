"""The verbs: what each is for, and the module that is imported when it is called."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import click

from poolsmith import __version__
from poolsmith.interface.cli.exits import Exit

__all__ = ("GROUPS", "VERBS", "Exit", "cli")

if TYPE_CHECKING:
    from collections.abc import Iterator

VERBS = {
    "init": ("initialize", "Start a project: a CLUSTER with one pool, policies, hooks, a pipeline, owners."),
    "generate": ("generate", "Generate output/ from profiles/."),
    "check": ("check", "Check the project and its output, or the manifests in PATHS."),
    "run": ("run", "Generate output/ from profiles/, and check all of it: `generate` and `check` in one run."),
    "watch": ("watch", "Check the project again each time that a file is saved, and print what is found."),
    "lsp": ("lsp", "Answer an editor, as a language server on standard input and output."),
    "template": ("template", "Print the custom resources that the chart renders from Helm values, without Helm."),
    "expand": ("expand", "Print what the operator creates at run time, without a cluster."),
    "ledger": (
        "ledger",
        "Print who may do what to the nodes and to the cluster, and which profile line causes it.",
    ),
    "images": ("images", "Print every image that the nodes will pull, for mirrors and scanners."),
    "audit": ("audit", "Print who had which privilege, where, from when until when, and which grant allowed it."),
    "inventory": (
        "inventory",
        "Print what the pools have: selectors, taints, resources, runtime classes, drivers, owners.",
    ),
    "drift": ("drift", "Print what Argo CD or Flux will always show as out of sync."),
    "grants": ("grants", "Print the smallest grants for all privileges that nobody has granted yet."),
    "diff": ("diff", "Print what a change does to the fleet, held against the revision that it is to be merged into."),
    "upgrade": ("upgrade", "Tell what another release or driver does to clusters, and write it into their profiles."),
    "move": (
        "move",
        "Write the next step of a move: a rename, another engine, namespace or source, the end of a cluster.",
    ),
    "discover": ("discover", "Propose profiles for a cluster that runs, and say where each field was seen."),
    "verify": ("verify", "Hold a cluster that runs against what is committed and predicted for it."),
    "live": ("live", "What verbs need that read a cluster."),
    "supply": ("supply", "Print the supply policy for what the clusters take today."),
    "policy": ("policy", "Evaluate and test ValidatingAdmissionPolicies, without a cluster."),
    "explain": ("explain", "Explain a rule, a pool, a generated value or a symptom."),
    "rules": ("rules", "List every rule: code, name, default severity."),
    "schema": ("schema", "Print the JSON Schema of a KIND."),
    "gather": ("gather", "Take the profiles of teams, each from a repository of its own, into the fleet."),
    "report": ("report", "Put reports of shards together, or show the fleet as pages."),
    "catalog": ("catalog", "What poolsmith knows about the gpu-operator's releases."),
}
"""By its name: a verb's module, and the first sentence of its help."""


GROUPS = {
    "Author": ("init", "generate", "check", "run", "watch", "lsp", "grants", "supply", "upgrade", "move"),
    "Review": ("diff", "ledger", "images", "audit", "report"),
    "Look up": ("explain", "rules", "inventory", "schema", "catalog"),
    "Anyone's files": ("template", "expand", "policy", "drift"),
    "Live": ("discover", "verify", "live"),
    "Fleet": ("gather",),
}
"""Each verb once, in the order of the help."""


class _Verbs(click.Group):
    """Lists and completes verbs without importing any of them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        width = max(map(len, VERBS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), VERBS[name][1]) for name in names])

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        return click.Command(cmd_name, help=VERBS[cmd_name][1]) if cmd_name in VERBS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(_no_such(args[0]))
        name, known, rest = super().resolve_command(ctx, args)
        if name is None or known is None:
            return name, known, rest
        command = importlib.import_module(f"poolsmith.interface.cli.{VERBS[name][0]}").command
        for below in _commands(command):
            _take_no_color(below)
            if name not in _ONCE:
                _take_output(below)
            if ctx.resilient_parsing:
                from poolsmith.interface.cli.completion import offer_by_name  # on demand

                offer_by_name(below)
        return name, command, rest


def _no_such(word: str) -> str:
    from poolsmith.core.diagnostics.message_text import meant_one, shorten  # on demand

    begun = [verb for verb in VERBS if verb.startswith(word.lower())]
    near = f"did you mean `{begun[0]}`?" if len(begun) == 1 else meant_one(word, VERBS)
    return f"there is no command `{shorten(word)}`" + (f"; {near}" if near else "")


def _commands(command: click.Command) -> Iterator[click.Command]:
    """It and those below it."""
    yield command
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _commands(below)


def _take_no_color(command: click.Command) -> None:
    """Every verb takes the flag; where nothing is coloured there is nothing to do."""
    if all("--no-color" not in item.opts for item in command.params):
        option = click.Option(["--no-color"], is_flag=True, expose_value=False, help="Never use colour.")
        option.callback = _without_colour
        command.params.append(option)


_ONCE = frozenset(("upgrade", "move", "discover"))
"""What they do can't be done, or seen, a second time."""


def _take_output(command: click.Command) -> None:
    """Every verb with formats takes `--output`; it is asked once more for each file, where it has no way of its own."""
    formats = next((item for item in command.params if "--format" in item.opts), None)
    if formats is None or any("--output" in item.opts for item in command.params):
        return
    told = "Also write the report to a file; repeatable. Without FORMAT the file's ending says it."
    command.params.append(click.Option(["--output", "outputs"], multiple=True, metavar="[FORMAT=]PATH", help=told))
    print_it = command.callback

    def with_files(outputs: tuple[str, ...], **given: Any) -> Any:
        assert print_it is not None, "it has formats"
        if not outputs:
            return print_it(**given)
        from poolsmith.interface.cli.copies import with_copies  # on demand

        return with_copies(print_it, formats, outputs, given)

    command.callback = with_files


def _without_colour(_context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given:
        os.environ["NO_COLOR"] = "1"


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="poolsmith", message="%(prog)s %(version)s")
def cli() -> None:
    """Forge GPU node pools into GitOps manifests, and see every privilege before it lands."""
