"""Kinds that are parts of others: under which name, and where, the API server knows them."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.admission.resources import Resources


@pytest.mark.parametrize(
    ("api_version", "kind", "group", "plural", "subresource", "namespaced"),
    [
        ("policy/v1", "Eviction", "", "pods", "eviction", True),
        ("authentication.k8s.io/v1", "TokenRequest", "", "serviceaccounts", "token", True),
        ("v1", "NodeProxyOptions", "", "nodes", "proxy", False),
        ("v1", "PodExecOptions", "", "pods", "exec", True),
    ],
)
def test_a_part_is_named_by_its_whole(api_version, kind, group, plural, subresource, namespaced):
    found = Resources("1.34").of(api_version, kind)

    assert (found.group, found.plural, found.subresource, found.namespaced) == (group, plural, subresource, namespaced)
