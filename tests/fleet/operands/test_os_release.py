"""/etc/os-release, read as a shell reads it."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.node_files import parse_os_release, read_os_release


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("", {}),
        ('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n', {"NAME": "Ubuntu", "ID": "ubuntu", "VERSION_ID": "22.04"}),
        ("ID='rhel'\n\n# ID=sles\n", {"ID": "rhel"}),
        ('NAME="Red Hat \\"Enterprise\\" Linux"\n', {"NAME": 'Red Hat "Enterprise" Linux'}),
        ("ID=\nVARIANT\n=x\n", {"ID": ""}),
        ('NAME="open\nID=sles\n', {"ID": "sles"}),
    ],
    ids=["nothing", "Ubuntu", "comment", "escape", "no value", "open quote"],
)
def test_assignments(text, variables):
    assert parse_os_release(text) == variables


def test_a_file_that_is_not_there(tmp_path):
    assert read_os_release(tmp_path / "none", "none").name == "unreadable-file"
