"""GitHub's API as far as comments and artifacts need it, on a loopback address, with a second one for stored files."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "example/fleet"
BOT = "github-actions[bot]"
PAGE = 100


class FakeGitHub:
    """`comments` are those of pull request 7; `fail` gives a status to the first request with that method and path."""

    def __init__(self):
        self.comments, self.requests, self.fail, self.pulls = [], [], {}, []
        self.viewer = BOT
        self.artifacts, self.zips = [], {}
        self.storage, self.stored_headers = "", []
        self._number = 1000

    def add(self, body, login=BOT):
        self._number += 1
        self.comments.append({"id": self._number, "body": body, "user": {"login": login} if login else None})
        return self._number

    def answer(self, method, path, query, body):
        """Status, and a document or an address."""
        self.requests.append((method, path))
        for (failing, part), statuses in self.fail.items():
            if failing == method and part in path and statuses:
                return statuses.pop(0), {"message": "no"}
        top = f"/repos/{REPOSITORY}"
        if path == "/graphql":
            return (200, {"data": {"viewer": {"login": self.viewer}}}) if self.viewer else (403, {})
        if path == f"{top}/issues/7/comments":
            if method == "GET":
                at = (int(query["page"]) - 1) * PAGE
                return 200, self.comments[at : at + PAGE]
            if len(body["body"]) > 65_536:
                return 422, {"message": "Body is too long"}
            self.add(body["body"], self.viewer or BOT)
            return 201, self.comments[-1]
        if path.startswith(f"{top}/issues/comments/"):
            number = int(path.rsplit("/", 1)[1])
            (found,) = [item for item in self.comments if item["id"] == number] or [None]
            if found is None:
                return 404, {}
            if method == "DELETE":
                self.comments.remove(found)
                return 204, None
            if len(body["body"]) > 65_536:
                return 422, {"message": "Body is too long"}
            found["body"] = body["body"]
            return 200, found
        if path == f"{top}/pulls":
            owner, _, branch = query["head"].partition(":")
            return 200, [
                pull
                for pull in self.pulls
                if pull["head"]["ref"] == branch and pull["head"]["repo"]["full_name"].startswith(f"{owner}/")
            ]
        if path.startswith(f"{top}/pulls/"):
            return 200, next(pull for pull in self.pulls if str(pull["number"]) == path.rsplit("/", 1)[1])
        if path == f"{top}/actions/runs/55/artifacts":
            return 200, {"artifacts": [item for item in self.artifacts if item["name"] == query.get("name")]}
        if path.startswith(f"{top}/actions/artifacts/"):
            return 302, f"{self.storage}/{path.split('/')[-2]}"
        return 404, {"message": "Not Found"}


def _handler(answer):
    class Handler(BaseHTTPRequestHandler):
        def _do(self):
            split = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            query = {key: values[0] for key, values in parse_qs(split.query).items()}
            status, found = answer(self.command, split.path, query, body, self.headers)
            content = found if isinstance(found, bytes) else b"" if found is None else json.dumps(found).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", found)
                content = b""
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = _do  # noqa: N815 - the server's own names

        def log_message(self, *words):
            pass

    return Handler


@contextmanager
def _served(answer):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def fake_github():
    """The state, and the address of its API."""
    state = FakeGitHub()

    def api(method, path, query, body, headers):
        assert headers["Authorization"] == "Bearer t"
        return state.answer(method, path, query, body)

    def storage(method, path, query, body, headers):
        state.stored_headers.append(dict(headers))
        return 200, state.zips[int(path.strip("/"))]

    with _served(storage) as stored, _served(api) as address:
        state.storage = stored.replace("127.0.0.1", "localhost")
        yield state, address
