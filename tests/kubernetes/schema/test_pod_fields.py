"""Words of a user in built-in objects: labels, names, quantities, percentages. Our verdict is the API server's."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import schemas_for
from support.pod_fields import words

CASES = {name: (body, verdict) for name, body, verdict in words()}


@pytest.mark.parametrize("name", CASES)
def test_our_verdict_is_that_of_the_server(name):
    body, verdict = CASES[name]
    schemas = schemas_for(schema_versions(kubernetes="1.34"))

    found = schemas.find("apps/v1", "DaemonSet").violations(body)

    assert ("r" if any(item.grave for item in found) else "t") == verdict
