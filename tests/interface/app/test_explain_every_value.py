"""Each value in each values file of the output is explained to a profile line, a catalog entry or a derivation."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app import explain

REPOSITORY = Path(__file__).resolve().parents[3]
FILES = sorted(path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "output").rglob("values/*.yaml"))


def leaves(node, path=""):
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif path:
        yield path, node


@pytest.mark.rows(5, "files of values that differ most")
@pytest.mark.parametrize("file", FILES)
def test_every_leaf_of_a_values_file_goes_back_to_a_line_or_an_entry(file):
    explained = explain(REPOSITORY, file).values
    (document,) = read_documents((REPOSITORY / file).read_text("utf-8")) or [{}]
    told = {value.path: value for value in explained}
    for path, leaf in leaves(document):
        value = told.get(path) or next(item for key, item in told.items() if path.startswith(f"{key}."))
        ends = [step for step in value.steps if step.path is not None]
        assert value.value == leaf or path != value.path
        assert ends or any(step.text.startswith("catalog ") for step in value.steps), path
        assert all(step.line is not None and step.line > 0 for step in ends), path
        assert all((REPOSITORY / step.path).is_file() for step in ends), path


def test_the_output_has_values_to_explain():
    assert len(FILES) >= 6


@pytest.mark.rows(2, "files of values that differ most")
@pytest.mark.parametrize("file", FILES)
def test_one_value_is_explained_alone_as_it_is_among_all(file):
    for value in explain(REPOSITORY, file).values:
        assert explain(REPOSITORY, f"{file}:{value.path}").values == (value,)
