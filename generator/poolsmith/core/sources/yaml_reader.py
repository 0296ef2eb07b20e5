"""YAML text to plain data, read as Kubernetes reads it.

Most texts are read line by line (`yaml_lines`); the others are composed (`yaml_nodes`), by a library that is loaded for
the first of them.
"""

from __future__ import annotations

from poolsmith.core.sources import yaml_nodes
from poolsmith.core.sources.yaml_lines import documents_in
from poolsmith.core.sources.yaml_problem import YamlProblem, YamlValue, most_nodes

__all__ = ("YamlProblem", "YamlValue", "read_documents", "read_if_yaml")


def read_documents(text: str, duplicates: list[YamlProblem] | None = None) -> list[YamlValue]:
    """Every document of a stream, in order; an empty document is None.

    Raises YamlProblem for the first thing that Kubernetes would refuse, or silently lose. Where `duplicates` is
    given, keys that stand twice go there instead, at most MAX_DUPLICATES, and the first of their values counts: so
    that the rest of the file can be judged in the same run. Such a file is refused all the same, by the caller.
    """
    documents = documents_in(text, most_nodes(text))
    return yaml_nodes.documents_of(yaml_nodes.compose(text), duplicates) if documents is None else documents


def read_if_yaml(text: str, duplicates: list[YamlProblem] | None = None) -> list[YamlValue]:
    """The same; of a text that is no YAML none."""
    try:
        return read_documents(text, duplicates)
    except YamlProblem:
        return []
