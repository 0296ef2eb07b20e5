"""The smallest grants: they allow all that is held, and no token of them can be left out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from poolsmith.fleet.operands.expansion import Made, Maker
from poolsmith.guard.ledger.grant_check import GrantJudge
from poolsmith.guard.ledger.grants.grant import GrantedToken
from poolsmith.guard.ledger.grants.grant_proposal import cluster_needs, named_proposals, proposals, snippet
from poolsmith.guard.ledger.grants.grant_use import GrantUse, ledger_use, merged_use
from poolsmith.guard.ledger.grants.matching import GrantBook, family_of
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

TOKENS = (
    "privileged",
    "host-path:/:rw:none",
    "host-path:/run:ro:none",
    "host-path:/run/a:ro:none",
    "capability:ALL",
    "capability:SYS_ADMIN",
)
POD_TOKENS = ("host-pid", "host-path:/run/a:ro:none", "rbac:core/nodes:*@cluster", "rbac:core/nodes:get@cluster")
NAMES = ("driver", "nvidia-gpu-driver-ubuntu22.04-bcd", "nvidia-gpu-driver-rhel9-fgh", "validator-*")
LINES = st.tuples(st.sampled_from(NAMES), st.just(""), st.sampled_from(POD_TOKENS)) | st.tuples(
    st.sampled_from(NAMES), st.sampled_from(("main", "init")), st.sampled_from(TOKENS)
)
PLACED = st.tuples(LINES, st.sampled_from(("a", "b", "*", "-"))).map(lambda item: (*item[0], item[1]))
FLEETS = st.dictionaries(st.sampled_from(("east", "west", "lab")), st.lists(PLACED, max_size=12), min_size=1)


def without(book, grant, token):
    """The same grants without one token."""
    import dataclasses

    found = list(book.grants)
    tokens = found[grant].tokens
    found[grant] = dataclasses.replace(found[grant], tokens=(*tokens[:token], *tokens[token + 1 :]))
    return GrantBook(found)


class Fleet:
    """Ledgers by cluster, what they need, and how grants fare with them."""

    def __init__(self, ledgers, images, made):
        self.ledgers, self.images = ledgers, images
        self.needs = [
            cluster_needs(name, found, made[name], images[name], found.lines) for name, found in ledgers.items()
        ]

    def book(self):
        found = proposals(self.needs, list(self.ledgers))
        return GrantBook([item.grant(name) for name, item in named_proposals(found)])

    def use(self, book):
        uses, ungranted = [], []
        for name, found in self.ledgers.items():
            use, missing = ledger_use(found, self.images[name], book, book.of_cluster(name))
            uses.append(GrantUse(cluster=name, use=use))
            ungranted += [(name, line) for line in missing]
        return merged_use(uses, book), ungranted


def is_wide_or_unused(book, use):
    """Whether some token, container, image, pool or cluster of a grant is not needed, or says too much."""
    for index, grant in enumerate(book.grants):
        spec = grant.spec
        needed = (
            all((index, token) in use.use.exact for token in range(len(grant.tokens)))
            and {(index, item) for item in spec.containers} <= use.use.containers
            and {(index, item) for item in spec.images} <= use.use.repositories
            and {(index, item) for item in spec.pools} <= use.use.pools
            and {(index, item) for item in spec.clusters} <= use.clusters
        )
        if not needed:
            return True
    return False


@example(
    texts={
        "east": [("driver", "", "host-pid", "b"), ("driver", "init", "host-path:/run/a:ro:none", "a")],
        "west": [
            ("driver", "", "host-path:/run/a:ro:none", "a"),
            ("driver", "", "host-path:/run/a:ro:none", "b"),
            ("driver", "init", "host-path:/run/a:ro:none", "a"),
        ],
    }
)
@given(texts=FLEETS)
def test_they_allow_all_that_is_held_need_all_that_they_say_and_no_token_can_go(ledger, images_for, made_for, texts):
    ledgers = {name: ledger(*lines) for name, lines in sorted(texts.items())}
    made = {
        name: {
            key: Made(item.body, Maker.OPERATOR, "NVIDIADriver/x" if "gpu-driver" in key else "ClusterPolicy/x")
            for key, item in made_for(found).items()
        }
        for name, found in ledgers.items()
    }
    images = {name: images_for(found, f"nvcr.io/{name[0]}") for name, found in ledgers.items()}
    fleet = Fleet(ledgers, images, made)
    book = fleet.book()
    use, ungranted = fleet.use(book)

    assert ungranted == []
    assert not is_wide_or_unused(book, use)
    for index, grant in enumerate(book.grants):
        for token in range(len(grant.tokens)):
            assert fleet.use(without(book, index, token))[1]


@pytest.fixture(scope="module")
def sample(repository):
    """The sample fleet's ledgers without any grant."""
    project = open_project(repository)
    predictions = [plan_cluster(project, files).prediction for files in project.select(())]
    judge = GrantJudge(GrantBook([]), are_kept=True)
    needs = [judge.needs(prediction) for prediction in predictions]
    fleet = Fleet({}, {}, {})
    fleet.needs = needs
    fleet.ledgers = {item.plan.name: item.ledger for item in predictions}
    fleet.images = {item.cluster: item.repositories for item in needs}
    return fleet


@pytest.mark.deep("proposals for the whole fleet")
def test_on_the_sample_fleet_too(sample):
    book = sample.book()
    use, ungranted = sample.use(book)
    places = [(index, token) for index, grant in enumerate(book.grants) for token in range(len(grant.tokens))]

    assert ungranted == []
    assert not is_wide_or_unused(book, use)
    for index, token in places[:: len(places) // 25]:
        missing = sample.use(without(book, index, token))[1]
        wanted = book.grants[index].tokens[token].privilege
        assert missing
        assert {line.privilege.name for _, line in missing} == {wanted.name}


def test_they_are_the_same_in_whatever_order_the_clusters_come(sample):
    found = proposals(sample.needs, list(sample.ledgers))

    assert proposals(sample.needs[::-1], list(sample.ledgers)) == found


@pytest.mark.parametrize(
    ("name", "through", "expected"),
    [
        ("nvidia-driver-daemonset", "ClusterPolicy/cluster-policy", "nvidia-driver-daemonset"),
        ("nvidia-gpu-driver-ubuntu22.04-58bff7d6fd", "NVIDIADriver/a100-gpu-compiled", "nvidia-gpu-driver-*"),
        ("nvidia-vgpu-host-manager-driver-rhel9.6-dccc487c9", "NVIDIADriver/x", "nvidia-vgpu-host-manager-driver-*"),
        (
            "nvidia-gpu-driver-ubuntu22.04-58bff7d6fd",
            "gpu-operator v26.3.3",
            "nvidia-gpu-driver-ubuntu22.04-58bff7d6fd",
        ),
        (
            "nvidia-driver-daemonset-5.15.0-105-generic-ubuntu22.04",
            "ClusterPolicy/cluster-policy",
            "nvidia-driver-daemonset-*",
        ),
        ("nvidia-cuda-validator-*", "gpu-operator/DaemonSet/nvidia-operator-validator", "nvidia-cuda-validator-*"),
    ],
)
def test_a_star_stands_only_for_what_is_generated(name, through, expected):
    assert family_of(Made({"kind": "DaemonSet", "metadata": {"name": name}}, Maker.OPERATOR, through)) == expected


def proposed(fleet_lines, ledger, images_for, made_for):
    found = ledger(*fleet_lines)
    return proposals([cluster_needs("prod", found, made_for(found), images_for(found), found.lines)], ["prod", "lab"])


def test_containers_that_hold_the_same_stand_in_one_grant_and_the_pod_in_one_of_its_own(ledger, images_for, made_for):
    lines = [("d", "a", "privileged"), ("d", "b", "privileged"), ("d", "c", "run-as-root"), ("d", "", "host-pid")]
    found = proposed(lines, ledger, images_for, made_for)

    assert [(item.containers, item.images) for item in found] == [
        ((), ()),
        (("a", "b"), ("nvcr.io/nvidia/x",)),
        (("c",), ("nvcr.io/nvidia/x",)),
    ]


def test_pools_are_named_unless_all_where_the_container_is_hold_it(ledger, images_for, made_for):
    lines = [("d", "a", "privileged", "x"), ("d", "a", "privileged", "y"), ("d", "a", "run-as-root", "y")]
    found = proposed(lines, ledger, images_for, made_for)

    assert [(item.pools, str(item.privileges[0])) for item in found] == [
        (("*",), "privileged"),
        (("y",), "run-as-root"),
    ]


def test_what_another_token_covers_is_left_out(ledger, images_for, made_for):
    lines = [("d", "a", "host-path:/run:rw:none"), ("d", "a", "host-path:/run/x:ro:none")]
    (found,) = proposed(lines, ledger, images_for, made_for)

    assert [str(item) for item in found.privileges] == ["host-path:/run:rw:none"]


def test_a_snippet_fits_a_screen_and_says_what_it_leaves_out(ledger, images_for, made_for):
    few = proposed([("d", "a", "privileged")], ledger, images_for, made_for)
    long = proposed([("d", "a", f"host-port:{port}") for port in range(1, 90)], ledger, images_for, made_for)
    many = proposed([("d", f"c{port}", f"host-port:{port}") for port in range(1, 9)], ledger, images_for, made_for)

    assert "shows all" not in snippet(named_proposals(few), "poolsmith grants")
    assert "# and 79 more: `poolsmith grants` shows all" in snippet(named_proposals(long), "poolsmith grants")
    assert snippet(named_proposals(many), "poolsmith grants").endswith(
        "# 7 more grants needed: `poolsmith grants` shows all"
    )
    assert all(len(snippet(named_proposals(item), "x").splitlines()) <= 32 for item in (few, long, many))


def test_the_tokens_of_a_proposed_grant_are_those_of_its_text(sample):
    from poolsmith.guard.ledger.grants.grant import parse_privileges

    for grant in sample.book().grants:
        read = [GrantedToken(0, item) for text in grant.spec.privileges for item in parse_privileges(text)]
        assert sorted(read) == sorted(grant.tokens)
