"""poolsmith policy."""

from __future__ import annotations

from pathlib import Path

import click

from poolsmith.interface.cli import options
from poolsmith.interface.cli.reports import print_outcome
from poolsmith.interface.cli.terminal import exit_code, write
from poolsmith.interface.cli.verbs import Exit

_FILE = click.Path(path_type=Path)


@click.group("policy")
def command() -> None:
    """Evaluate and test ValidatingAdmissionPolicies, without a cluster."""


@command.command("eval", cls=options.SeveralFiles)
@click.option(
    "--policy", "policies", multiple=True, required=True, type=_FILE, metavar="FILE", help="Policies, bindings."
)
@click.option(
    "--object", "objects", multiple=True, type=_FILE, metavar="FILE", help="The object as it is sent; repeatable."
)
@click.option("--old", multiple=True, type=_FILE, metavar="FILE", help="The object as it was, for UPDATE and DELETE.")
@click.option("--params", multiple=True, type=_FILE, metavar="FILE", help="Parameter objects.")
@click.option(
    "--namespace-object", "namespaces", multiple=True, type=_FILE, metavar="FILE", help="The object's Namespace."
)
@click.option(
    "--operation",
    type=click.Choice(("CREATE", "UPDATE", "DELETE", "CONNECT")),
    default=None,
    help="Default: what the objects say, CREATE for a new one alone.",
)
@click.option("--kubernetes", default=None, metavar="MINOR", help="Version of the API server. Default: 1.34.")
@click.option("--user", default=None, metavar="NAME", help="Who sends the request. Default: unknown.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="A group of that user; repeatable.")
@click.option("--uid", default="", metavar="UID", help="That user's uid.")
@click.option("--extra", multiple=True, metavar="KEY=VALUE", help="What else is known of that user; repeatable.")
@click.option("--subresource", default="", metavar="NAME", help="Such as `exec` or `scale`.")
@click.option(
    "--resource", "plural", default="", metavar="PLURAL", help="The resource, if the kind does not determine it."
)
@options.form("text", "json")
@options.verbose
def evaluate(
    policies: tuple[Path, ...],
    objects: tuple[Path, ...],
    old: tuple[Path, ...],
    params: tuple[Path, ...],
    namespaces: tuple[Path, ...],
    operation: str | None,
    kubernetes: str | None,
    user: str | None,
    groups: tuple[str, ...],
    uid: str,
    extra: tuple[str, ...],
    subresource: str,
    plural: str,
    output_format: str,
    verbose: bool,
) -> int:
    """Evaluate policies on objects, each object as one request to the API server.

    Exit code 0: allowed; 1: denied, not decided, or something is wrong in a file.
    """
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.app.policy_eval import DEFAULT_KUBERNETES, EvalFlags, policy_eval
    from poolsmith.interface.report.policy_report import eval_json, eval_text

    result = policy_eval(
        EvalFlags(
            policies=policies,
            objects=objects,
            old=old,
            params=params,
            namespaces=namespaces,
            operation=operation,
            kubernetes=kubernetes or DEFAULT_KUBERNETES,
            user=user,
            groups=groups,
            uid=uid,
            extra=extra,
            subresource=subresource,
            plural=plural,
        )
    )
    if output_format == "json":
        write(eval_json(result))
    else:
        write(eval_text(result))
        checked = {"policy files": len(policies), "objects": len(result.decisions)}
        outcome = Outcome(diagnostics=result.diagnostics, checked=checked, not_evaluated=result.not_evaluated)
        print_outcome(outcome, output_format="text", color=None, layout=options.layout(verbose=verbose))
    return Exit.FINDINGS if result.failed else Exit.CLEAN


@command.command("test")
@click.argument("paths", nargs=-1, type=_FILE)
@click.option("--kubernetes", default=None, metavar="MINOR", help="For cases that name no version. Default: 1.34.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(("text", "json", "junit", "github")),
    default="text",
    show_default=True,
    help="Output format.",
)
@options.fail_on
@options.verbose
@options.root
def test(
    paths: tuple[Path, ...], kubernetes: str | None, output_format: str, fail_on: str, verbose: bool, root: Path
) -> int:
    """Run the test files beside policies (*.test.yaml). Default for PATHS: policies/."""
    from poolsmith.interface.app.policy_test import policy_test
    from poolsmith.interface.report.policy_report import tests_json, tests_junit, tests_text

    result = policy_test(root, paths or (root / "policies",), kubernetes=kubernetes)
    outcome = result.outcome
    if output_format == "json":
        write(tests_json(result.cases, result.diagnostics))
    elif output_format == "junit":
        write(tests_junit(result.cases, result.diagnostics))
    else:
        write(tests_text(result.cases) if output_format == "text" else "")
        layout = options.layout(verbose=verbose, fail_on=fail_on)
        print_outcome(outcome, output_format=output_format, color=None, layout=layout, root=root)
    return exit_code(outcome, fail_on)
