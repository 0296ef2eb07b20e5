"""Time and memory grow with the size of the input, whatever it is made of; what no real file holds is refused."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from poolsmith.core.diagnostics import Diagnostic
from poolsmith.core.sources.input_tree import InputTree
from poolsmith.fleet.operands.node_files import read_nodes
from poolsmith.gpu.values.values_file import read_values
from poolsmith.guard.ledger.grants.grant import GRANT
from poolsmith.guard.ledger.grants.grant_files import load_grants
from poolsmith.kubernetes.objects_file import placed_objects, read_objects
from poolsmith.kubernetes.repository.manifest_files import parse_documents
from poolsmith.project.output.batches import rarely_collecting
from support.circles import share

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 1 << 20
SMALL, LARGE = MIB // 32, MIB // 4
SLOWEST = 5.0
"""Seconds of the processor for 1 MiB, on a machine that is shared; a quadratic reader takes half a minute."""
NOISE = 0.25


def filled(piece: str) -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece.encode()))


FIRST = 10**6
"""Numbers have as many digits as this one: words that are longer are compared with others."""


def numbered(piece: str, before: str = "") -> Callable[[int], str]:
    return lambda size: before + "".join(map(piece.format, range(FIRST, FIRST + size // len(piece.format(FIRST)))))


DEGENERATE = {
    "markers": filled("---\n"),
    "markers with CRLF": filled("---\r\n"),
    "ends of documents": filled("...\n"),
    "documents": filled("---\na: 1\n"),
    "open brackets": filled("["),
    "open braces": filled("{"),
    "empty lists": lambda size: f"a: [{'[],' * (size // 3)}]\n",
    "items": lambda size: f"a: [{'a,' * (size // 2)}]\n",
    "dashes": filled("- "),
    "lines of dashes": filled("- a\n"),
    "question marks": filled("? a\n"),
    "keys": numbered("k{}: 1\n"),
    "keys below a key": numbered("  k{}: 1\n", "spec:\n"),
    "equal keys": filled("a: 1\n"),
    "keys of a flow mapping": lambda size: f"a: {{{'a,' * (size // 2)}}}\n",
    "anchors": numbered("k{}: &a{} x\n".replace("{} x", "{0} x").replace("k{}", "k{0}")),
    "aliases": lambda size: f"a: &a x\nb: [{'*a,' * (size // 3)}]\n",
    "merge keys": lambda size: "a: &a {b: 1}\nb:\n" + "  <<: *a\n" * (size // 9),
    "one long line": lambda size: f"a: {'x' * size}\n",
    "one long key": lambda size: f"{'x' * size}: 1\n",
    "one long text": lambda size: "a: |\n" + "  x\n" * (size // 4),
    "comments": filled("# c\n"),
    "empty lines": filled("\n"),
    "empty lines with CRLF": filled("\r\n"),
    "carriage returns": filled("\r"),
    "blanks": filled(" "),
    "tabs": filled("\t"),
    "lines that begin with tabs": lambda size: "a:\n" + "\tb: 1\n" * (size // 6),
    "tags": filled("- !t\n"),
    "directives": filled("%a\n"),
    "colons": filled(": "),
    "quotes": filled('"'),
    "backslashes": lambda size: 'a: "' + "\\" * size,
    "conflict markers, nearly": filled("<<<<<<\n"),
    "equals signs": lambda size: "a: " + "=" * size,
    "markers with blanks": filled("---" + " " * 997 + "\n"),
    "a long number": lambda size: "a: " + "9" * size,
    "a long time of day": lambda size: "a: 1" + ":10" * (size // 3),
    "escapes": lambda size: 'a: "' + "\\u00e9" * (size // 6) + '"\n',
    "line separators": lambda size: "a: " + "\u2028" * (size // 3),
}


def read_profile(file: Path) -> object:
    found = InputTree(file.parent).read_profile(file.name)
    if not isinstance(found, Diagnostic):
        found.locate(f"/spec/k{FIRST}")
    return found


def read_manifest(file: Path) -> object:
    documents, problem = parse_documents(file.name, file.read_bytes())
    for document in (*documents[:3], *documents[-3:]):
        document.source.locate("/a")
    return problem


READERS: dict[str, Callable[[Path], object]] = {
    "profile": read_profile,
    "manifest": read_manifest,
    "values": lambda file: read_values(file, file.name),
    "grants": lambda file: load_grants(InputTree(file.parent), (file.name,)),
    "policies": lambda file: placed_objects(file.name, file.read_text("utf-8")),
    "nodes": lambda file: read_nodes(file, file.name),
    "objects": lambda file: read_objects(file, file.name),
}


@pytest.mark.rows(3, "kinds of input; megabytes of each")
@pytest.mark.parametrize("what", share(DEGENERATE, 14))
def test_time_grows_as_the_input_does(what: str, tmp_path: Path) -> None:
    """Eight times the input takes eight times as long, and not sixty-four times."""
    make = DEGENERATE[what]
    files = tmp_path / "small.yaml", tmp_path / "large.yaml"
    for file, size in zip(files, (SMALL, LARGE), strict=True):
        file.write_bytes(make(size).encode())
    for reader, read in READERS.items():
        small, large = (seconds(read, file) for file in files)
        assert large < 24 * small + NOISE, f"{reader}: {small:.2f} s, then {large:.2f} s for eight times as much"


def seconds(read: Callable[[Path], object], file: Path) -> float:
    """Of the processor, with the collector set as commands set it: else it searches what other tests have left."""
    with rarely_collecting():
        started = time.process_time()
        read(file)
        return time.process_time() - started


@pytest.mark.rows(2, "kinds of markers; megabytes of each")
@pytest.mark.parametrize("reader", READERS)
def test_a_file_of_markers_ends_in_time(reader: str, tmp_path: Path) -> None:
    file = tmp_path / "markers.yaml"
    file.write_bytes(b"---\n" * (MIB // 4))
    started = time.process_time()
    READERS[reader](file)
    assert time.process_time() - started < SLOWEST


GRANTS = "---\n".join(
    f"apiVersion: poolsmith/v1\nkind: {GRANT}\nmetadata: {{name: g-{number}}}\nspec:\n  workload: a-*\n"
    f"  clusters: ['*']\n  pools: ['*']\n  privileges: [privileged, 'host-path:/x{number}:ro:none']\n"
    "  reason: they run on the nodes\n  owner: team\n  expires: '2027-06-30'\n"
    for number in range(800)
)


@pytest.mark.deep("megabytes of grants")
def test_many_grants_are_read_in_time(tmp_path: Path) -> None:
    (tmp_path / "grants.yaml").write_text(GRANTS, "utf-8")
    started = time.process_time()
    grants, problems = load_grants(InputTree(tmp_path), ("grants.yaml",))
    for loaded in grants:
        loaded.file.locate("/metadata/name")
    assert (len(grants), problems) == (800, ())
    assert time.process_time() - started < SLOWEST


def test_a_file_of_nothing_but_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(DEGENERATE["items"](MIB - 16), "utf-8")
    found = InputTree(tmp_path).read_profile("x.yaml")
    assert isinstance(found, Diagnostic)
    assert found.name == "input-limit"
    assert "keys and values" in found.message


def test_a_file_as_large_as_real_ones_is_read() -> None:
    """What a large cluster's nodes come to: long labels, hundreds of them."""
    labels = "".join(f"    feature.node.kubernetes.io/cpu-cpuid.FEATURE{number}: 'true'\n" for number in range(150))
    node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-node\n  labels:\n" + labels
    documents, problem = parse_documents("nodes.yaml", "---\n".join([node] * 1000).encode())
    assert problem is None
    assert len(documents) == 1000
