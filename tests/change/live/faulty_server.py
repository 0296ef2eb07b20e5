"""A door before a real API server: it counts what goes through, and has the faults that it is told to have."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

from support.api_client import ApiClient
from support.control_plane import LOOPBACK

Fault = Callable[["Door", str], "int | str | None"]
"""Of a path: the status to answer with in the place of the server, or the whole text of an answer that says that all is
well; 0 to break the connection, None to let it through."""


class Door:
    """`asked` are methods and paths in their order."""

    def __init__(self, client: ApiClient, fault: Fault) -> None:
        self.client = client
        self.fault = fault
        self.asked: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    def count(self, path: str) -> int:
        return sum(asked.startswith(path) for _, asked in self.asked)


@contextmanager
def door(client: ApiClient, fault: Fault, folder: Path):
    """The door, and a kubeconfig that leads to it."""
    opened = Door(client, fault)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # an answer is two small writes

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except OSError:
                self.close_connection = True

        def _any(self) -> None:
            opened.asked.append((self.command, self.path))
            status = opened.fault(opened, self.path)
            if status == 0:
                self.close_connection = True
                self.connection.close()
                return None
            if isinstance(status, str):
                return self._say(200, status.encode())
            if status is not None:
                return self._answer(status, {"kind": "Status", "message": f"told to say {status}"})
            with opened.lock:
                answer = opened.client.request("GET", self.path)
            return self._answer(answer.status, answer.body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815 - names of the library

        def _answer(self, status: int, body: object) -> None:
            self._say(status, json.dumps(body).encode())

        def _say(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "door",
        "clusters": [{"name": "door", "cluster": {"server": f"http://{LOOPBACK}:{server.server_port}"}}],
        "users": [{"name": "somebody", "user": {"token": "any"}}],
        "contexts": [{"name": "door", "context": {"cluster": "door", "user": "somebody"}}],
    }
    path = folder / "door.kubeconfig"
    path.write_text(json.dumps(config))
    try:
        yield opened, path
    finally:
        server.shutdown()
        server.server_close()


def slowly(seconds: float) -> Fault:
    def fault(_door: Door, path: str) -> None:
        if urlsplit(path).path.endswith("/pods"):
            sleep(seconds)

    return fault
