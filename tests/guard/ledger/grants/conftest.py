"""What the tests of grants share: grants from YAML, ledgers from lines of text, projects with a few clusters."""

from __future__ import annotations

import textwrap

import pytest

from poolsmith.core.shape.field import Metadata
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.operands.expansion import Made, Maker
from poolsmith.guard.ledger.grants.grant import GrantedToken, GrantSpec, PrivilegeGrant, parse_privileges
from poolsmith.guard.ledger.grants.grant_files import load_grants
from poolsmith.guard.ledger.ledger import Ledger, LedgerLine
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.guard.ledger.reach import Reach

NAMESPACE = "gpu-operator"
SPEC = {
    "clusters": '["*"]',
    "pools": '["*"]',
    "workload": "driver",
    "privileges": "[privileged]",
    "reason": "Loads the modules.",
    "owner": "drivers",
    "expires": "2027-06-30",
}


def _grant_text(name="driver", **fields):
    """A sound grant; fields replace those of SPEC, None takes one out."""
    spec = {key: value for key, value in (SPEC | fields).items() if value is not None}
    lines = [f"  {key}: {value}" for key, value in spec.items()]
    return "\n".join(
        ["apiVersion: poolsmith/v1", "kind: PrivilegeGrant", f"metadata: {{name: {name}}}", "spec:", *lines, ""]
    )


@pytest.fixture(scope="session")
def grant_text():
    return _grant_text


@pytest.fixture(scope="session")
def line():
    return _line


@pytest.fixture(scope="session")
def ledger():
    """A ledger of lines: workload, container, privilege, and a pool where it is not `a`."""
    return _ledger


@pytest.fixture(scope="session")
def made_for():
    return _made_for


@pytest.fixture(scope="session")
def images_for():
    return _images_for


@pytest.fixture(scope="session")
def make_grant():
    """A grant without files."""

    def make(**fields):
        spec = GrantSpec(**fields)
        tokens = [GrantedToken(0, item) for text in spec.privileges for item in parse_privileges(text)]
        return PrivilegeGrant(metadata=Metadata(name="x"), spec=spec, path="", tokens=tuple(tokens))

    return make


@pytest.fixture
def load(tmp_path):
    """Grants and problems of files, given by name; a text alone is one file."""

    def read(*texts, **files):
        folder = tmp_path / "policies/privileges"
        folder.mkdir(parents=True, exist_ok=True)
        named = files or {f"file-{number}": text for number, text in enumerate(texts)}
        for name, text in named.items():
            (folder / f"{name}.yaml").write_text(textwrap.dedent(text), "utf-8")
        paths = sorted(f"policies/privileges/{name}.yaml" for name in named)
        return load_grants(InputTree(tmp_path), paths)

    return read


@pytest.fixture
def grants(load):
    """The grants of texts that are sound."""

    def read(*texts):
        found, problems = load(*texts)
        assert problems == ()
        return [loaded.grant for loaded in found]

    return read


def _line(workload, container, privilege, pool="a"):
    name = workload if "/" in workload else f"DaemonSet/{workload}"
    return LedgerLine(pool, name, container, Privilege.parse(privilege), Reach.NONE, (), NAMESPACE)


def _ledger(*lines):
    return Ledger.of(_line(*item) for item in lines)


def _made_for(found, through="ClusterPolicy/cluster-policy"):
    """The objects behind the workloads of a ledger, by their keys."""
    made = {}
    for item in found.lines:
        kind, _, name = item.workload.partition("/")
        body = {"kind": kind, "metadata": {"name": name, "namespace": item.namespace}}
        made[f"{item.namespace}/{item.workload}"] = Made(body, Maker.OPERATOR, through)
    return made


def _images_for(found, image="nvcr.io/nvidia/x"):
    return {(item.namespace, item.workload, item.container): image for item in found.lines if item.container}
