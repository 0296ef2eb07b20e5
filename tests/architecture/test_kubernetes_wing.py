"""The wing `kubernetes` knows the API and its tools, and no GPU: no name in it has a word of the GPU stack."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import poolsmith

WING = Path(poolsmith.__file__).parent / "kubernetes"
OF_GPUS = re.compile(
    r"gpus?|nvidia|cuda|dcgm|mig|v?gpus?|mps|nvlink|nvswitch|drivers?|toolkits?|coco|kata|sandbox(es)?|nfd|dra|fabric"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


def names_of(source):
    """What a module itself names: functions, classes, parameters, variables and fields."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr
            case ast.alias():
                yield (node.asname or node.name).rpartition(".")[2]


def is_of_gpus(name):
    return any(OF_GPUS.fullmatch(part.lower()) for part in _PARTS.findall(name))


def test_no_name_in_the_wing_has_a_word_of_the_gpu_stack():
    found = []
    for path in sorted(WING.rglob("*.py")):
        place = path.relative_to(WING)
        names = [*place.with_suffix("").parts, *names_of(path.read_text("utf-8"))]
        found += [f"{place.as_posix()}: {name}" for name in names if is_of_gpus(name)]

    assert found == []


@pytest.mark.parametrize(
    "source", ["class GPUCluster: ...", "def f(driver): ...", "mig_layout = 1", "_COCO = 1", "from a import CudaX"]
)
def test_such_a_name_is_seen(source):
    assert any(map(is_of_gpus, names_of(source)))


@pytest.mark.parametrize("name", ["operand", "migrate", "drive", "operator", "domain", "emitted"])
def test_other_words_are_let_be(name):
    assert not is_of_gpus(name)
