"""Random valid values, at each release: every object that Helm renders is the one that we predict, in every field.

Recorded are the values and a hash of each object; `tests/real_tools/test_helm_value_sets.py` shows the fields.
"""

from __future__ import annotations

import pytest

from support.recordings import recording
from support.value_sets import RELEASES, for_release, served
from support.whole_charts import digest, predicted

RECORDED = recording("value_sets")
SETS = sorted(RECORDED.below("values"))


def test_there_are_thirty_sets_at_each_release():
    assert len(SETS) == 30
    assert [release for release in RELEASES if len(RECORDED.below(release)) != len(SETS)] == [], (
        "run tests/tools/value_sets.py"
    )


@pytest.mark.rows(2, "one release of each line; thirty sets of values each")
@pytest.mark.parametrize("release", RELEASES)
def test_every_object_is_the_one_that_helm_renders(release):
    wrong = []
    for name in SETS:
        number = name.removeprefix("values/")
        apis = served(int(number))
        ours = predicted(release, for_release(RECORDED[name], release, apis), apis)
        theirs = RECORDED[f"{release}/{number}"]
        found = {key: digest(body) for key, body in ours.items()}
        wrong += [f"set {number}: {key}" for key in {*theirs, *found} if theirs.get(key) != found.get(key)]

    assert wrong == []
