"""A version that nothing is known of, or that lacks what is generated, is a finding of the change that names it."""

from __future__ import annotations

import pytest

from change.diff.projects import changes, cluster, codes, project

FILE = "profiles/lab/cluster.yaml"


def with_version(version):
    return cluster().replace("engine: flux", f'engine: flux, version: "{version}"')


@pytest.mark.parametrize(
    ("before", "after", "new", "words"),
    [
        (cluster(), with_version("2.9"), [], ()),
        (with_version("2.7"), with_version("2.8"), [], ()),
        (with_version("2.8.1"), with_version("2.8.1"), [], ()),
        (cluster(), with_version("2.6"), ["PSM932"], ("RetryOnFailure",)),
        (cluster(), with_version("3.0"), ["PSM931"], ("unknown",)),
    ],
)
def test_what_is_wrong_with_a_version_is_told(repository_of, before, after, new, words):
    repository = repository_of({**project("a"), FILE: before})
    repository.write({FILE: after})

    found = [item for item in changes(repository).new_findings if item.code in ("PSM931", "PSM932")]

    assert codes(found) == new
    assert [word for word in words if word not in found[0].message] == []
