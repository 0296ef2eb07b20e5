"""Changes of a delivery without care, at random: an outage that an engine makes of one is an error, and never quiet."""

from __future__ import annotations

import pytest

from change.diff.projects import H100, cluster, pool
from change.review.repositories import Repository
from engines.judged import is_grave, reported
from engines.pairs import careless

_ENDS = ("uninstall", "refuse", "replace")
_FOR_ALL = ("Namespace", "CustomResourceDefinition")


def _outages(report):
    """What installs something and goes, is refused or is replaced, and what goes for the whole cluster. A cluster that
    nobody knows again is removed, which is a warning: it happens when somebody deletes what holds its delivery."""
    return [
        item
        for found in report["clusters"]
        if found["standing"] != "removed"
        for item in found["delivery"]
        if (item["verb"] in _ENDS and not item["within"]) or (item["verb"] == "delete" and item["kind"] in _FOR_ALL)
    ]


def _errors(report):
    return [item for item in report["newFindings"] if item["severity"] == "error"]


@pytest.fixture
def told(tmp_path):
    def report(before, after, **options):
        repository = Repository(top=tmp_path, root=tmp_path)
        repository.git("init", "-q")
        return reported(repository, before, after, **options)

    return report


@pytest.mark.rows(10, "random changes; each is a project that is generated twice")
@pytest.mark.parametrize("seed", range(150))
def test_an_outage_is_an_error(seed, told):
    pair = careless(seed)
    report = told(pair.base.files, pair.head.files, unguarded=not pair.base.is_guarded)

    if _outages(report):
        assert _errors(report), pair
        assert is_grave(report), pair
        assert report["summary"]["verdict"].startswith("it "), pair


_AT = "profiles/{}/cluster.yaml"
_HERE = {_AT.format("lab"): cluster(), "profiles/lab/a.yaml": pool("a")}
_MOVED = cluster("rome").replace("{release: v26.3.3,", "{namespace: gpu-stack, release: v26.3.3,")


def test_a_cluster_renamed_with_its_namespace_is_one(told):
    report = told(_HERE, {_AT.format("rome"): _MOVED, "profiles/rome/a.yaml": pool("a")})

    assert [item["standing"] for item in report["clusters"]] == ["renamed"]
    assert "PSM673" in [item["code"] for item in _errors(report)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({_AT.format("rome"): _MOVED, "profiles/rome/a.yaml": pool("a", H100)}, id="other machines"),
        pytest.param({_AT.format("rome"): _MOVED, "profiles/rome/z.yaml": pool("z")}, id="another pool"),
        pytest.param(
            {_AT.format("rome"): _MOVED.replace('"1.33"', '"1.34"'), "profiles/rome/a.yaml": pool("a")},
            id="another Kubernetes",
        ),
        pytest.param(
            {
                f"profiles/{name}/{file}": text
                for name in ("rome", "oslo")
                for file, text in (("cluster.yaml", _MOVED.replace("rome", name)), ("a.yaml", pool("a")))
            },
            id="two that may be meant",
        ),
    ],
)
def test_one_that_goes_while_another_comes_is_two(other, told):
    standings = {item["standing"] for item in told(_HERE, other)["clusters"]}

    assert standings == {"removed", "added"}
