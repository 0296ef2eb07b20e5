"""Which grant is for which line: patterns match whole names, and containers and images are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.guard.ledger.grants.grant import parse_privileges, repository_of, written_privileges
from poolsmith.guard.ledger.grants.matching import GrantBook, glob_matches, pool_matches, workload_matches
from poolsmith.guard.ledger.privilege import Privilege


def granted_lines(ledger, repositories, book, cluster):
    """For each line of a cluster's ledger what allows it, in the order of the grants; nothing: it is not granted."""
    given = book.of_cluster(cluster)
    return {
        line: book.granting(line, repositories.get((line.namespace, line.workload, line.container), ""), given)
        for line in ledger.lines
    }


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*", "", True),
        ("*", "anything", True),
        ("driver", "driver", True),
        ("driver", "drivers", False),
        ("driver*", "driver", True),
        ("nvidia-*-driver-*", "nvidia-gpu-driver-x-1", True),
        ("nvidia-*-driver-*", "nvidia-gpu-drivers", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("nvidia-cuda-validator-*", "nvidia-cuda-validator-*", True),
        ("a.c", "abc", False),
        ("*" * 120 + "b", "a" * 250, False),
    ],
)
def test_a_pattern_matches_the_whole_name(pattern, text, expected):
    assert glob_matches(pattern, text) is expected


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_patterns_match_as_in_a_shell(pattern, text):
    from fnmatch import fnmatchcase

    assert glob_matches(pattern, text) == fnmatchcase(text, pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("driver", True),
        ("DaemonSet/driver", True),
        ("*/driver", True),
        ("Daemon*/dr*", True),
        ("Deployment/driver", False),
        ("DaemonSet*", False),
        ("*Set/*", True),
        ("D*r", False),
    ],
)
def test_a_workload_is_named_with_or_without_its_kind_and_no_star_stands_for_the_slash(pattern, expected):
    assert workload_matches(pattern, "DaemonSet/driver") is expected


@pytest.mark.parametrize(
    ("pattern", "pool", "expected"),
    [
        ("a100-*", "a100-mig", True),
        ("a100-*", "*", False),
        ("?", "*", False),
        ("*", "*", True),
        ("*", "-", True),
        ("-", "-", True),
        ("?", "-", False),
        ("a*", "-", False),
    ],
)
def test_only_a_star_takes_in_what_is_tied_to_no_pool(pattern, pool, expected):
    assert pool_matches(pattern, pool) is expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nvcr.io/nvidia/driver:580-ubuntu22.04", "nvcr.io/nvidia/driver"),
        ("nvcr.io/nvidia/driver@sha256:0123", "nvcr.io/nvidia/driver"),
        ("registry:5000/driver:1@sha256:0123", "registry:5000/driver"),
        ("registry:5000/driver", "registry:5000/driver"),
        ("busybox", "busybox"),
        ("", ""),
    ],
)
def test_an_image_is_known_by_its_repository(image, expected):
    assert repository_of(image) == expected


@pytest.fixture
def allowed(grants, ledger, images_for):
    """What a grant allows of four lines, in cluster prod."""
    lines = ledger(
        ("driver", "", "host-pid"),
        ("driver", "ctr", "privileged"),
        ("driver", "ctr", "host-path:/run/nvidia:ro:none"),
        ("driver", "init", "privileged", "b"),
    )

    def ask(text):
        found = granted_lines(lines, images_for(lines), GrantBook(grants(text)), "prod")
        return [f"{item.container or 'pod'}: {item.privilege}" for item, granted in found.items() if granted]

    return ask


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["ctr: privileged", "init: privileged"]),
        ({"containers": "[init]"}, ["init: privileged"]),
        ({"pools": "[a]"}, ["ctr: privileged"]),
        ({"clusters": "[prod]"}, ["ctr: privileged", "init: privileged"]),
        ({"clusters": "[edge]"}, []),
        ({"workload": "other"}, []),
        ({"images": "[nvcr.io/nvidia/x]"}, ["ctr: privileged", "init: privileged"]),
        ({"images": "[nvcr.io/nvidia]"}, []),
        ({"containers": "[other]", "images": "[other]", "privileges": "[host-pid]"}, ["pod: host-pid"]),
        ({"privileges": '["host-path:/run:rw:bidirectional"]'}, ["ctr: host-path:/run/nvidia:ro:none"]),
        ({"privileges": '["host-path:/run/nvidia:ro:none"]'}, ["ctr: host-path:/run/nvidia:ro:none"]),
        ({"privileges": '["host-path:/run/nvidia/driver:rw:none"]'}, []),
        ({"privileges": "[]"}, []),
    ],
)
def test_a_grant_allows_lines_that_it_is_for_and_whose_privilege_it_covers(allowed, grant_text, fields, expected):
    assert allowed(grant_text(**fields)) == expected


def test_what_a_privileged_container_includes_is_not_what_the_token_allows(grants, grant_text, ledger):
    """The ledger lists such a line only where the container is not privileged."""
    book = GrantBook(grants(grant_text()))
    found = ledger(("driver", "ctr", "capability:SYS_ADMIN"))

    assert not any(granted_lines(found, {}, book, "prod").values())


ARGUMENTS = st.text("ab,:/@#%*", min_size=1, max_size=4)


@given(st.lists(st.tuples(ARGUMENTS, ARGUMENTS, ARGUMENTS, st.just("cluster"), st.just("")), min_size=1, max_size=6))
def test_privileges_that_are_written_together_are_read_as_they_were(rights):
    privileges = {Privilege("rbac", (group, resource.replace("#", "x"), *rest)) for group, resource, *rest in rights}

    assert {item for text in written_privileges(privileges) for item in parse_privileges(text)} == privileges


FIELDS = {
    "clusters": ["*", "east", "e*", "west"],
    "pools": ["*", "a", "?", "-"],
    "workload": ["driver", "*", "d*r", "DaemonSet/*", "Pod/*"],
    "privileges": ["privileged", "host-path:/run:rw:none", "host-path:/run/a:ro:none", "rbac:core/*:get@cluster"],
}
DRAWN = st.lists(st.fixed_dictionaries({name: st.sampled_from(items) for name, items in FIELDS.items()}), max_size=5)
HELD = st.tuples(
    st.sampled_from(["driver", "Pod/driver", "validator"]),
    st.sampled_from(["", "ctr"]),
    st.sampled_from(["privileged", "host-path:/run/a:ro:none", "rbac:core/nodes:get@cluster"]),
    st.sampled_from(["a", "b", "*", "-"]),
)


@given(DRAWN, st.lists(HELD, max_size=5), st.sampled_from(["east", "west"]))
def test_what_is_remembered_is_what_each_grant_says_of_each_line(make_grant, ledger, drawn, held, cluster):
    from poolsmith.guard.ledger.privilege import covers

    found = [
        make_grant(**{name: item if name == "workload" else (item,) for name, item in spec.items()}) for spec in drawn
    ]
    book, lines = GrantBook(found), ledger(*held)
    for _ in range(2):
        for item, granted in granted_lines(lines, {}, book, cluster).items():
            wanted = [
                index
                for index, grant in enumerate(found)
                if any(glob_matches(pattern, cluster) for pattern in grant.spec.clusters)
                and any(pool_matches(pattern, item.pool) for pattern in grant.spec.pools)
                and workload_matches(grant.spec.workload, item.workload)
                and covers(grant.tokens[0].privilege, item.privilege)
            ]
            assert [each.grant for each in granted] == wanted
            needed = book.needed(item, "", book.of_cluster(cluster))
            exact = [each for each in granted if each.exact]
            assert needed == next(iter((*exact, *granted)), None)
