"""A real control plane on loopback: etcd, kube-apiserver, and kube-controller-manager where a test asks for it.

One etcd for a test session; each scenario is an API server with an etcd prefix of its own, so that nothing of one is
seen by another. To start one takes seconds of a processor, so a scenario that has ended leaves its server to the next
one, whose store is as empty as at first. For the same reason the tests that ask come first and one after another: with
xdist one worker has them, and after the last of them nothing runs idle. `make tools` builds the binaries into `.tools`;
a variable of the environment names another one: POOLSMITH_ETCD, POOLSMITH_KUBE_APISERVER,
POOLSMITH_KUBE_CONTROLLER_MANAGER. All of it ends with the session, and where Linux can see to it, also if the session is
killed.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import pytest

from support.api_client import ApiClient
from support.circles import API_SERVER
from support.etcd_store import EmptyStore

T = TypeVar("T")
KUBERNETES = "1.34.1"
"""The version of kube-apiserver and kube-controller-manager that `.ci/go/kubernetes` pins."""

LOOPBACK = "127.0.0.1"
_SECONDS_TO_START = 90.0
_FRUGAL = {"GOGC": "off", "GOMEMLIMIT": "2GiB", "GOMAXPROCS": "1"}
"""Of Go: one processor has no threads that look for work, and memory is collected once it is full. Both together take
less than three quarters of the processor time, and without the server's cache of what is watched, which each definition
starts anew and one client has no use for, a fifth of that goes too: the sample fleet and its drift 28 seconds, not 35."""
_PLANE = pytest.StashKey["ControlPlane"]()
_USERS = {"admin": "system:masters", "nobody": ""}
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux' prctl
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def binary(name: str) -> str | None:
    """The path of a binary: by its variable of the environment, else on PATH."""
    variable = "POOLSMITH_" + name.upper().replace("-", "_")
    return shutil.which(os.environ.get(variable) or name)


def _needed(name: str) -> str:
    found = binary(name)
    if found is None:
        pytest.skip(f"the tool `{name}` is not on PATH")
    return found


def free_port() -> int:
    """A port of loopback that nobody listens at now."""
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        return int(listener.getsockname()[1])


def elliptic_key() -> str:
    """A private key for service-account tokens: P-256 in SEC 1 form, whose public part the reader derives.

    Source: RFC 5915, `ECPrivateKey`.
    """
    scalar = (secrets.randbits(255) + 1).to_bytes(32, "big")
    curve = bytes.fromhex("a00a06082a8648ce3d030107")
    text = base64.b64encode(b"\x30\x31\x02\x01\x01\x04\x20" + scalar + curve).decode()
    kind = "EC PRIVATE KEY"
    return "\n".join((f"-----BEGIN {kind}-----", text[:64], text[64:], f"-----END {kind}-----", ""))


def _end_with_parent() -> None:  # pragma: no cover - runs between fork and exec
    if _LIBC is not None:
        _LIBC.prctl(_DIE_WITH_PARENT, signal.SIGKILL)


class Process:
    """A program in the background, its words in a file, in a group of its own."""

    def __init__(self, arguments: list[str], log: Path, environment: dict[str, str] | None = None) -> None:
        self.log = log
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call of libc, and no lock is taken
                env={**os.environ, **(environment or {})},
            )

    def await_(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until it is ready; an error with its last words if it ends or takes too long."""
        ends = monotonic() + _SECONDS_TO_START
        while not ready():
            if self._process.poll() is not None or monotonic() > ends:
                self.end()
                words = self.log.read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(f"{what} did not start:\n{words}")
            sleep(0.05)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@dataclass
class Scenario:
    """One API server over an empty store: its clients by user, and the folder of its files."""

    folder: Path
    port: int
    tokens: dict[str, str]
    give_back: Callable[[Scenario], None]
    _processes: list[Process] = field(default_factory=list)
    _clients: list[ApiClient] = field(default_factory=list)

    @property
    def authority(self) -> str:
        return str(self.folder / "certificates/apiserver.crt")

    def client(self, user: str = "admin") -> ApiClient:
        """A client for a user: `admin` may do everything, `nobody` is in no group."""
        client = ApiClient(LOOPBACK, self.port, self.tokens[user], self.authority)
        self._clients.append(client)
        return client

    def kubeconfig(self, user: str = "admin") -> Path:
        """A kubeconfig for a user, for programs that want one."""
        cluster = {"server": f"https://{LOOPBACK}:{self.port}", "certificate-authority": self.authority}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self.tokens[user]}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        }
        path = self.folder / f"{user}.kubeconfig"
        path.write_text(json.dumps(config))
        return path

    def run(self, arguments: list[str], name: str, environment: dict[str, str] | None = None) -> Process:
        """Start a program that ends with the scenario; its words are in `<name>.log`."""
        process = Process(arguments, self.folder / f"{name}.log", environment)
        self._processes.append(process)
        return process

    def start_controllers(self, *controllers: str) -> Process:
        """Start kube-controller-manager with these controllers only (all without a name)."""
        arguments = [
            _needed("kube-controller-manager"),
            f"--kubeconfig={self.kubeconfig()}",
            f"--controllers={','.join(controllers) or '*'}",
            f"--service-account-private-key-file={self.folder / 'service-accounts.key'}",
            f"--root-ca-file={self.authority}",
            "--use-service-account-credentials=false",
            "--leader-elect=false",
            "--secure-port=0",
        ]
        return self.run(arguments, "kube-controller-manager")

    def end(self) -> None:
        for process in reversed(self._processes):
            process.end()
        for client in self._clients:
            client.close()
        self._processes.clear()
        self._clients.clear()
        self.give_back(self)


@dataclass
class _Server:
    """An API server, what it runs as, and its store and its files as they were before anybody asked for anything."""

    flags: tuple[str, ...]
    scenario: Scenario
    process: Process
    store: EmptyStore
    files: frozenset[Path]

    def restore(self) -> bool:
        """Whether it is as at first again."""
        for path in {*self.scenario.folder.iterdir()} - self.files:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        return self.store.restore(self.scenario.client())


class ControlPlane:
    """etcd, and the scenarios over it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = _needed("etcd"), _needed("kube-apiserver")
        self._numbers = count()
        self._etcd: Process | None = None
        self._servers: list[_Server] = []
        self._idle: list[_Server] = []
        self._kept: dict[str, Any] = {}

    def _started_etcd(self) -> Process:
        client, peer = (f"http://{LOOPBACK}:{free_port()}" for _ in range(2))
        self.etcd = client
        folder = self._folder / f"etcd-{next(self._numbers)}"
        folder.mkdir()
        arguments = [
            self._programs[0],
            f"--data-dir={folder / 'data'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=error",
        ]
        process = Process(arguments, folder / "etcd.log", _FRUGAL)
        port = int(client.rpartition(":")[2])
        process.await_(lambda: listens(port), "etcd")
        return process

    def scenario(self, *flags: str) -> Scenario:
        """An API server over an empty store, ready to be asked; `flags` come after ours."""
        for server in self._idle:
            if server.flags == flags:
                self._idle.remove(server)
                if server.restore():
                    return server.scenario
                server.process.end()
        return self._started(flags).scenario

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What is made once of a scenario, for as long as this runs: a fixture of the session would outlive it."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def _give_back(self, scenario: Scenario) -> None:
        self._idle += [server for server in self._servers if server.scenario is scenario]

    def _started(self, flags: tuple[str, ...]) -> _Server:
        self._etcd = self._etcd or self._started_etcd()
        number = next(self._numbers)
        folder = self._folder / f"scenario-{number}"
        folder.mkdir()
        key = folder / "service-accounts.key"
        key.write_text(elliptic_key())
        tokens = {user: secrets.token_hex(16) for user in _USERS}
        rows = [f'{tokens[user]},{user},{user},"{group}"\n' for user, group in _USERS.items()]
        (folder / "tokens.csv").write_text("".join(rows))
        scenario = Scenario(folder, free_port(), tokens, self._give_back)
        arguments = [
            self._programs[1],
            f"--etcd-servers={self.etcd}",
            f"--etcd-prefix=/scenario-{number}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            f"--secure-port={scenario.port}",
            f"--cert-dir={folder / 'certificates'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            f"--service-account-issuer=https://{LOOPBACK}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
            "--endpoint-reconciler-type=none",
            "--enable-aggregator-routing=false",
            "--watch-cache=false",
            *flags,
        ]
        process = Process(arguments, folder / "kube-apiserver.log", _FRUGAL)
        process.await_(lambda: _ready(scenario), "kube-apiserver")
        store = EmptyStore(self.etcd, f"/scenario-{number}/")
        self._servers.append(_Server(flags, scenario, process, store, frozenset(folder.iterdir())))
        return self._servers[-1]

    def end(self) -> None:
        """Nothing runs any more; the next scenario starts anew."""
        for server in self._servers:
            server.scenario.end()
            server.process.end()
        if self._etcd:
            self._etcd.end()
        self._etcd = None
        for known in (self._servers, self._idle, self._kept):
            known.clear()


def listens(port: int) -> bool:
    """Whether somebody listens at a port of loopback."""
    with socket.socket() as peer:
        return peer.connect_ex((LOOPBACK, port)) == 0


def _ready(scenario: Scenario) -> bool:
    if not Path(scenario.authority).is_file():
        return False
    try:
        client = scenario.client()  # the certificate may be there and still be empty
    except OSError:
        return False
    try:
        made = (client.get("v1", "Namespace", "default"), client.get("v1", "Service", "kubernetes", "default"))
        return client.request("GET", "/readyz").status == 200 and all(answer.taken for answer in made)
    except OSError:
        return False
    finally:
        client.close()


@contextlib.contextmanager
def started(folder: Path) -> Iterator[ControlPlane]:
    """A control plane that ends with the block."""
    plane = ControlPlane(folder)
    try:
        yield plane
    finally:
        plane.end()


@pytest.fixture(scope="session")
def control_plane(request, tmp_path_factory):
    """etcd of this session; `control_plane.scenario()` is an API server over an empty store."""
    with started(tmp_path_factory.mktemp("control-plane")) as plane:
        request.config.stash[_PLANE] = plane
        yield plane


def _asks(item: pytest.Item | None) -> bool:
    return API_SERVER in getattr(item, "fixturenames", ())


class _Together:
    """The tests that ask come first; what they asked ends after the last of them."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: not _asks(item))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        if _asks(item) and not _asks(nextitem) and (plane := item.config.stash.get(_PLANE, None)):
            plane.end()


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("near_plan"):  # which has an order of its own
        config.pluginmanager.register(_Together(), "control-plane-together")
