"""Names that workloads ask for and no longer find, and GPUs that get a new MIG layout."""

from __future__ import annotations

import pytest

from change.diff.two_sides import both_sides, replaced
from poolsmith.change.diff.change_report import DisruptionKind
from poolsmith.change.diff.disruption import disruptions

_RELEASE = "    release: v26.7.0\n"


def _told(tmp_path, cluster, path, *pairs, renamed=None):
    project, before, after = both_sides(tmp_path, cluster, lambda folder: replaced(folder, path, *pairs))
    return disruptions(before, after, project.catalog, renamed)


def _of_kind(found, kind):
    return [item for item in found if item.kind is kind]


def _line(tmp_path, place):
    return (tmp_path / place.span.path).read_text().splitlines()[place.span.start.line - 1].strip()


def test_slices_with_names_of_their_own_take_the_whole_gpu_away(tmp_path):
    found = _told(tmp_path, "prod-eu", "prod-eu/a100-mig.yaml", ("all-1g.10gb", "all-balanced"))

    (lost,) = _of_kind(found, DisruptionKind.LOST)
    assert (lost.what, lost.pools) == ("nvidia.com/gpu", ("a100-mig",))
    assert "but `nvidia.com/mig-1g.10gb`" in lost.words
    assert "the smoke test of `a100-mig` did" in lost.words
    (partition,) = _of_kind(found, DisruptionKind.MIG)
    assert partition.pools == ("a100-mig",)
    assert "from `all-1g.10gb` to `all-balanced`" in partition.words
    assert _line(tmp_path, partition.place) == "layout: all-balanced"


def test_slices_of_another_size_keep_their_name_and_are_partitioned_anew(tmp_path):
    (found,) = _told(tmp_path, "prod-eu", "prod-eu/a100-mig.yaml", ("all-1g.10gb", "all-2g.20gb"))

    assert (found.kind, found.what) == (DisruptionKind.MIG, "all-2g.20gb")


def test_a_shared_gpu_with_a_name_of_its_own_takes_the_plain_one_away(tmp_path):
    pair = ("      replicas: 4", "      replicas: 4\n      renameByDefault: true")

    (lost,) = _of_kind(_told(tmp_path, "prod-eu", "prod-eu/l40s-shared.yaml", pair), DisruptionKind.LOST)

    assert (lost.what, lost.pools) == ("nvidia.com/gpu", ("l40s-shared",))
    assert "but `nvidia.com/gpu.shared`" in lost.words


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ("devicePlugin: {enabled: false}", "nvidia.com/gpu"),
        ("operator: {runtimeClass: gpu}", "RuntimeClass/nvidia"),
    ],
)
def test_a_value_that_takes_a_name_away_is_the_place(tmp_path, values, what):
    pair = (_RELEASE, f"{_RELEASE}    values:\n      {values}\n")

    (lost,) = _of_kind(_told(tmp_path, "edge", "edge/cluster.yaml", pair), DisruptionKind.LOST)

    assert (lost.what, lost.pools) == (what, ("l4",))
    assert _line(tmp_path, lost.place) == values


def test_what_pools_offer_is_not_lost_with_one_of_them(tmp_path):
    project, before, after = both_sides(
        tmp_path, "prod-eu", lambda folder: (folder / "profiles/prod-eu/l40s-shared.yaml").unlink()
    )

    assert not _of_kind(disruptions(before, after, project.catalog), DisruptionKind.LOST)
