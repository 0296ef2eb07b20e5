"""poolsmith schema."""

from __future__ import annotations

import click

from poolsmith.cli.exit_codes import Exit
from poolsmith.cli.options import completes
from poolsmith.cli.terminal import write


@click.command("schema")
@click.argument("kind", shell_complete=completes("kind"))
def command(kind: str) -> int:
    """Print the JSON Schema of a KIND.

    Cluster, NodePool, NodePoolBase, DriverImageList, RingOrder; of policies: PrivilegeGrant, PrivilegeEnforcement,
    SupplyPolicy, WaiverList, RuleSettings, PolicyTest. Of the reports in JSON: report (of check and generate), diff,
    inventory.
    """
    from poolsmith.app.schemas import schema_text

    write(schema_text(kind))
    return Exit.CLEAN
