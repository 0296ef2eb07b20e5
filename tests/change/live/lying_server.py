"""A small server that serves a snapshot as an API server would, and lies, stalls or breaks off where it is told to."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from poolsmith.kubernetes.live.api_resources import OF_NAMESPACES
from poolsmith.kubernetes.live.snapshot import Snapshot, State
from support.control_plane import LOOPBACK

PAGE = 250


class Request(BaseHTTPRequestHandler):
    """One connection; a fault writes to it what it likes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    served: Served

    @property
    def place(self) -> str:
        return urlsplit(self.path).path.rstrip("/")

    @property
    def asked(self) -> dict[str, str]:
        return {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def do_GET(self) -> None:
        self.served.count += 1
        if not self.served.fault(self):
            status, body = self.served.answer(self.place, self.asked)
            self.say(json.dumps(body).encode(), status)

    def say(self, data: bytes, status: int = 200, **headers: str) -> bool:
        """A whole answer; `headers` with _ in the place of -."""
        self.send_response(status)
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        for key, value in ({"Content-Type": "application/json", "Content-Length": str(len(data))} | named).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)
        return True

    def log_message(self, *_: object) -> None:
        pass


Fault = Callable[[Request], bool]
"""Whether it has answered."""


class Served:
    """`count` is how many requests came."""

    def __init__(self, snapshot: Snapshot, fault: Fault) -> None:
        self.fault, self.count, self._version = fault, 0, snapshot.server
        self._kinds: dict[str, list[dict[str, Any]]] = {"v1": []}
        self._lists: dict[str, list[dict[str, Any]]] = {}
        for listed in snapshot.lists:
            resource = listed.resource
            if listed.state is State.ABSENT and "." in resource.group and not resource.group.endswith(".k8s.io"):
                continue
            row = {"kind": resource.kind, "name": resource.plural, "namespaced": resource in OF_NAMESPACES}
            self._kinds.setdefault(resource.api_version, []).append(row)
            root = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
            self._lists[f"{root}/{resource.plural}"] = list(listed.items)

    def answer(self, place: str, asked: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if place == "/version":
            return 200, {"gitVersion": self._version}
        if place == "/apis":
            versions = [{"groupVersion": name} for name in self._kinds if "/" in name]
            return 200, {"groups": [{"versions": [version]} for version in versions]}
        if place in ("/api/v1", *(f"/apis/{name}" for name in self._kinds)):
            return 200, {"resources": self._kinds[place.removeprefix("/apis/").removeprefix("/api/")]}
        before, _, plural = place.rpartition("/")
        root, _, namespace = before.partition("/namespaces/")
        if f"{root}/{plural}" not in self._lists:
            return 404, {"kind": "Status", "message": "the server could not find the requested resource"}
        items = self._lists[f"{root}/{plural}"]
        items = [item for item in items if not namespace or item["metadata"].get("namespace") == namespace]
        start, size = int(asked.get("continue", 0)), int(asked.get("limit", PAGE))
        more = {"continue": str(start + size)} if start + size < len(items) else {}
        return 200, {"metadata": more, "items": items[start : start + size]}


@contextmanager
def served(snapshot: Snapshot, folder: Path, fault: Fault = lambda _: False) -> Iterator[tuple[Served, Path]]:
    """What is served, and a kubeconfig that leads to it."""
    there = Served(snapshot, fault)
    handler = type("Handler", (Request,), {"served": there})
    server = ThreadingHTTPServer((LOOPBACK, 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = folder / "lying.kubeconfig"
    path.write_text(json.dumps(config(f"http://{LOOPBACK}:{server.server_port}")))
    try:
        yield there, path
    finally:
        server.shutdown()
        server.server_close()


def config(server: str, **user: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lying",
        "clusters": [{"name": "lying", "cluster": {"server": server}}],
        "users": [{"name": "somebody", "user": user or {"token": "any"}}],
        "contexts": [{"name": "lying", "context": {"cluster": "lying", "user": "somebody"}}],
    }


def bomb(megabytes: int) -> bytes:
    """So much JSON in a thousandth of it. Each MiB is the same bytes, packed once; the sum at the end is of one."""
    packer, blank = zlib.compressobj(wbits=31), b" " * (1 << 20)
    head = packer.compress(b'{"items": [') + packer.flush(zlib.Z_FULL_FLUSH)
    middle = packer.compress(blank) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + middle * megabytes + packer.compress(b"]}") + packer.flush()
