"""A server that refuses, hurries, forgets, sleeps or dies: each is told as it is, and nothing is taken for clean."""

from __future__ import annotations

import pytest

from change.live.faulty_server import door, slowly
from poolsmith.change.verify.live_view import EVERYWHERE
from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.app.live.verify import Source, snapshot_of
from poolsmith.kubernetes.live.api_resources import NODES, PODS, RUNTIME_CLASSES, ClusterError, Reading
from poolsmith.kubernetes.live.snapshot import State
from support.live_cluster import read, told

PODS_PATH = "/api/v1/pods"


@pytest.fixture
def through(prod, tmp_path, monkeypatch):
    """What is read through a door with a fault, and the door; who waits for a server to recover waits a moment here."""
    monkeypatch.setattr("poolsmith.kubernetes.live.api_server._FIRST_WAIT", 0.01)

    def read_with(fault, *, seconds=5.0):
        with door(prod.client, fault, tmp_path) as (opened, kubeconfig):
            source = Source(reading=Reading(kubeconfig=str(kubeconfig), seconds=seconds))
            kinds, namespaces = prod.cluster.resources, prod.cluster.namespaces
            return snapshot_of(source, kinds, namespaces, prod.cluster.of_namespaces, EVERYWHERE), opened

    return read_with


def test_no_verb_that_writes_is_ever_sent(through):
    snapshot, opened = through(lambda _door, _path: None)

    assert {method for method, _ in opened.asked} == {"GET"}
    assert not any("watch=" in path for _, path in opened.asked)
    assert list(snapshot.unread) == []


def test_a_right_that_lacks_is_told_and_asked_for_once(through, prod):
    snapshot, opened = through(lambda _door, path: 403 if path.startswith("/api/v1/nodes") else None)

    (unread,) = snapshot.unread
    assert (unread.resource, unread.state) == (NODES, State.FORBIDDEN)
    assert "`list` of `nodes` is not allowed" in unread.reason
    assert opened.count("/api/v1/nodes") == 1
    assert [text for text in told(prod.cluster, snapshot) if "PSM860" not in text] == [
        f"PSM873 list of nodes of cluster `prod-eu` was not read: {unread.reason}",
        f"not evaluated: list of nodes: {unread.reason}",
    ]


def test_a_server_that_is_busy_is_asked_again(through):
    snapshot, opened = through(lambda door, path: 429 if path.startswith(PODS_PATH) and door.count(path) < 3 else None)

    assert list(snapshot.unread) == []
    assert opened.count(PODS_PATH) == 3


def test_one_that_stays_broken_is_given_up(through):
    snapshot, opened = through(lambda _door, path: 503 if path.startswith(PODS_PATH) else None)

    (unread,) = snapshot.unread
    assert (unread.resource, unread.state) == (PODS, State.FAILED)
    assert "503" in unread.reason
    assert opened.count(PODS_PATH) == 5


def test_a_list_that_expired_is_begun_anew(through):
    snapshot, opened = through(lambda door, path: 410 if path.startswith(PODS_PATH) and door.count(path) < 2 else None)

    assert list(snapshot.unread) == []
    assert opened.count(PODS_PATH) == 2


def test_a_server_that_sleeps_is_not_waited_for(through):
    snapshot, _ = through(slowly(1.0), seconds=0.2)

    assert {item.resource for item in snapshot.unread} == {PODS}
    assert "no answer within" in next(snapshot.unread).reason


def test_one_that_dies_in_the_middle_leaves_nothing_that_looks_clean(through, prod):
    snapshot, _ = through(lambda door, _path: 0 if len(door.asked) > 12 else None)

    assert len(list(snapshot.unread)) > 5
    assert {text[:6] for text in told(prod.cluster, snapshot)} <= {"not ev", "PSM860", "PSM873"}


LOGIN = "<html><body>Please log in</body></html>"


@pytest.mark.parametrize(
    "text",
    [
        *(LOGIN, "[]", "7", "null", "{}", '{"items": {}}', '{"items": [1]}', '{"items": [{"metadata": {}}]}'),
        *('{"items": [{"metadata": {"name": 7}}]}', "[" * 20_000),
    ],
    ids=lambda text: text[:30],
)
def test_an_answer_that_is_no_list_is_not_an_empty_one(through, prod, text):
    snapshot, _ = through(lambda _door, path: text if path.startswith("/api/v1/nodes") else None)

    (unread,) = snapshot.unread
    assert (unread.resource, unread.state) == (NODES, State.FAILED)
    assert any(found.startswith("not evaluated: list of nodes") for found in told(prod.cluster, snapshot))


@pytest.mark.parametrize("text", [LOGIN, "{}", '{"resources": 7}'], ids=lambda text: text[:30])
def test_what_a_group_has_and_does_not_say_is_not_read(through, text):
    snapshot, _ = through(lambda _door, path: text if path == "/apis/apps/v1" else None)

    assert {item.resource.group for item in snapshot.unread} == {"apps"}


def test_rows_of_a_group_that_say_nothing_are_no_kinds(through):
    rows = '{"resources": [{}, 7, {"name": "nodes"}, {"kind": "Node", "name": ["nodes"]}]}'
    snapshot, _ = through(lambda _door, path: rows if path == "/apis/node.k8s.io/v1" else None)

    (unread,) = snapshot.unread
    assert (unread.resource, unread.state) == (RUNTIME_CLASSES, State.FAILED)


@pytest.mark.parametrize("text", [LOGIN, "{}", '{"gitVersion": 7}'], ids=lambda text: text[:30])
def test_what_tells_no_version_is_no_cluster(through, text):
    with pytest.raises(ClusterError, match=r"does not report its version|failed 5 times: what answers is no JSON"):
        through(lambda _door, path: text if path.startswith("/version") else None)


def test_one_that_is_not_there_is_one_error(prod, tmp_path):
    with door(prod.client, lambda _door, _path: 0, tmp_path) as (_, kubeconfig):
        source = Source(reading=Reading(kubeconfig=str(kubeconfig), seconds=1.0))
        with pytest.raises(ClusterError, match=r"can't be asked|did not answer|failed"):
            snapshot_of(source, prod.cluster.resources, prod.cluster.namespaces)


def test_a_token_that_is_not_valid_is_one_error(prod, tmp_path):
    path = prod.scenario.kubeconfig()
    broken = tmp_path / "expired.kubeconfig"
    broken.write_text(path.read_text().replace(prod.scenario.tokens["admin"], "expired"))
    source = Source(reading=Reading(kubeconfig=str(broken), seconds=5.0))

    with pytest.raises(ClusterError, match=r"nauthorized|401"):
        snapshot_of(source, prod.cluster.resources, prod.cluster.namespaces)


def test_a_context_that_is_not_there_is_a_mistake_of_the_user(prod):
    source = Source(reading=Reading(kubeconfig=str(prod.scenario.kubeconfig()), context="nobody", seconds=5.0))

    with pytest.raises(UsageError, match="context"):
        snapshot_of(source, prod.cluster.resources, prod.cluster.namespaces)


def test_somebody_without_any_right_finds_nothing_out(prod):
    snapshot = read(prod.scenario, prod.cluster, user="nobody")
    states = {item.state for item in snapshot.lists}

    assert states <= {State.FORBIDDEN, State.ABSENT}
    assert {text[:6] for text in told(prod.cluster, snapshot)} == {"not ev", "PSM873"}
