"""YAML files that tests change as data."""

import yaml


def read_yaml(path):
    """The one document of a file."""
    return yaml.safe_load(path.read_text())


def read_all(path):
    """All documents of a file."""
    return list(yaml.safe_load_all(path.read_text()))


def write_yaml(path, *documents):
    """Write documents to a file, which may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents, sort_keys=False, width=1000, allow_unicode=True))
