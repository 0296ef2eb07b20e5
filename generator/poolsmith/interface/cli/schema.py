"""poolsmith schema."""

from __future__ import annotations

import click

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.cli.options import completes
from poolsmith.interface.cli.terminal import write
from poolsmith.interface.cli.verbs import Exit


@click.command("schema")
@click.argument("kind", shell_complete=completes("kind"))
@click.option(
    "--release",
    metavar="TAG",
    shell_complete=completes("release"),
    help="With KIND values: the gpu-operator release whose chart's Helm values the schema is for.",
)
def command(kind: str, release: str | None) -> int:
    """Print the JSON Schema of a KIND.

    Cluster, NodePool, NodePoolBase, DriverImageList, RingOrder; of policies: PrivilegeGrant, PrivilegeEnforcement,
    SupplyPolicy, WaiverList, RuleSettings, PolicyTest. Of what verbs print as JSON: report (of check and generate),
    diff, upgrade, audit, discovery, drift, expand, explain, images, image-copies, inventory, ledger,
    ledger-releases, policy-eval, policy-test, releases, rules, template. Of the Helm values of a release of the
    chart, for editors: values.
    """
    if kind.lower() == "values":
        from poolsmith.interface.app.catalog_verbs import values_schema_text

        write(values_schema_text(release))
        return Exit.CLEAN
    if release is not None:
        raise UsageError("--release says whose Helm values are meant: it goes with the kind `values`")
    from poolsmith.interface.app.schemas import schema_text

    write(schema_text(kind))
    return Exit.CLEAN
