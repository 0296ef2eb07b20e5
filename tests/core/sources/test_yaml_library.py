"""The YAML library without what no run uses of it: what we read is the same, and others get all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import poolsmith

GENERATOR = Path(poolsmith.__file__).parents[1]
IN_PYTHON = ("reader", "scanner", "parser", "constructor", "resolver", "emitter", "serializer", "representer", "loader")
OURS = """from poolsmith.core.sources.yaml_nodes import compose
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents"""
FAULTS = (
    "a: [",
    "a: \x00",
    "a: \ud800",
    "a: b: c",
    "%TAG ! a\n%TAG ! b\n--- a",
    "a: *b",
    "- \x07",
    "a: &b 1\nc: &b 2\nd: *b",
)
TOLD = f"""
def told(text):
    try:
        return read_documents(text)
    except YamlProblem as problem:
        return vars(problem)
for text in {FAULTS!r}:
    print(ascii(told(text)))
"""


def printed(program):
    environment = {"PYTHONPATH": str(GENERATOR)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


def test_the_parser_in_python_is_not_loaded():
    loaded = set(printed(f"{OURS}\nimport sys\nprint(read_documents('a: 1'), *sys.modules, sep='\\n')").splitlines())

    assert "[{'a': 1}]" in loaded
    assert {f"yaml.{part}" for part in IN_PYTHON} & loaded == set()


def test_what_is_wrong_is_said_alike_with_all_of_it():
    assert (
        printed(f"{OURS}{TOLD}")
        == printed(f"import yaml\n{OURS}{TOLD}")
        == printed(f"{OURS}\nimport yaml.loader{TOLD}")
    )


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("import yaml; print(yaml.safe_load('a: 0o7'), yaml.dump({'b': [1]}))", "{'a': '0o7'} b:\n- 1\n\n"),
        ("from yaml import CSafeLoader, load; print(load('[1]', CSafeLoader))", "[1]\n"),
        ("import yaml; print(yaml.__version__ > '6', yaml.__with_libyaml__)", "True True\n"),
        ("import yaml.reader; print(yaml.reader.Reader.__module__, yaml.scanner.Scanner)", "yaml.reader <class 'yaml.scanner.Scanner'>\n"),
        ("import yaml; print(yaml.nodes.ScalarNode is yaml.ScalarNode, yaml.__name__, yaml.tokens.Token)", "True yaml <class 'yaml.tokens.Token'>\n"),
        ("import yaml, inspect; print(hasattr(yaml, '__wrapped__'), inspect.getmodule(yaml) is yaml)", "False True\n"),
        ("import sys, importlib; m = sys.modules['yaml']; importlib.reload(m); print(m.safe_load('1'))", "1\n"),
    ],
)  # fmt: skip
def test_whoever_asks_for_more_gets_it(asked, answer):
    assert printed(f"{OURS}\n{asked}") == answer


@pytest.mark.parametrize("text", ["a: [", "a: \x00", "a: b: c", "a: *b"])
def test_errors_of_the_c_parser_are_those_of_the_library(text):
    program = f"""
{OURS}
import yaml
try:
    yaml.load({text!r}, yaml.CSafeLoader)
except yaml.YAMLError as error:
    print(type(error).__name__, str(error) != "", isinstance(error, yaml.MarkedYAMLError))
"""
    assert printed(program) == printed(program.replace(OURS, ""))
