"""A git repository over smart HTTP and a folder of charts, both at loopback: what the engines read in place of the world."""

from __future__ import annotations

import os
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.control_plane import LOOPBACK

_GIT = "/git/"
_HEADERS = (("Content-Type", "CONTENT_TYPE"), ("Content-Encoding", "HTTP_CONTENT_ENCODING"))


class _Handler(SimpleHTTPRequestHandler):
    """Files of a folder; what is below /git/ is answered by `git http-backend`."""

    def do_GET(self) -> None:
        self._git() if self.path.startswith(_GIT) else super().do_GET()

    def do_POST(self) -> None:
        self._git()

    def log_message(self, *_: Any) -> None:
        """Nothing is written."""

    def _git(self) -> None:
        place = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        given = {name: self.headers[header] for header, name in _HEADERS if self.headers.get(header)}
        protocol = self.headers.get("Git-Protocol")
        environment = {
            **os.environ,
            **given,
            **({"GIT_PROTOCOL": protocol} if protocol else {}),
            "GIT_PROJECT_ROOT": str(self.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": place.path,
            "QUERY_STRING": place.query,
            "REQUEST_METHOD": self.command,
            "REMOTE_ADDR": LOOPBACK,
        }
        body = self._chunks() if self.headers.get("Transfer-Encoding") == "chunked" else self.rfile.read(size)
        run = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, env=environment, timeout=60, check=False
        )
        head, _, answer = run.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value[:3]) for key, value in headers if key == "Status"), 200)
        self.send_response(status)
        for key, value in headers:
            if key != "Status":
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _chunks(self) -> bytes:
        found = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found


class Served:
    """A folder at loopback: `git/NAME.git` as repositories, `charts/` as files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "git").mkdir(parents=True)
        (folder / "charts").mkdir()
        self._server = ThreadingHTTPServer((LOOPBACK, 0), lambda *given: _Handler(*given, directory=str(folder)))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_port}"

    def repository(self, name: str) -> Path:
        """An empty bare repository; its address is `URL/git/NAME.git`."""
        folder = self.folder / "git" / f"{name}.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True, timeout=60)
        return folder

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()
