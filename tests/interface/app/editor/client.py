"""An editor, as far as a language server sees of it: real messages to a real process."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

GENERATOR = Path(__file__).parents[4] / "generator"
NOT_HERE = ("CI", "GITHUB_ACTIONS", "TESTS_RUN_IN_CI")


def environment():
    kept = {key: value for key, value in os.environ.items() if key not in NOT_HERE}
    return kept | {"PYTHONPATH": str(GENERATOR)}


class Editor:
    """Starts the server in a folder, ours or another, and talks to it; `seen` is what has come."""

    def __init__(self, folder, command=(sys.executable, "-m", "poolsmith", "lsp", "--stdio")):
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.folder = folder
        self.seen = []
        self._held = b""
        self._last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def open_folder(self, folder=None, **capabilities):
        """What an editor says first; the server's capabilities."""
        uri = (folder or self.folder).as_uri()
        answer = self.ask("initialize", processId=os.getpid(), rootUri=uri, capabilities=capabilities)
        self.tell("initialized")
        return answer["capabilities"]

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, content):
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.send({"method": method, "params": params})

    def ask(self, method, **params):
        """The result of a request."""
        answer = self.answer_of(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def answer_of(self, method, **params):
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        return self.answer(self._last)

    def answer(self, number):
        return self.until(lambda message: "method" not in message and message.get("id") == number)

    def until(self, is_it, seconds=60):
        """The next message of that kind; the others before it are kept in `seen`."""
        end = time.monotonic() + seconds
        while (message := self._next(end)) is not None:
            self.seen.append(message)
            if is_it(message):
                return message
        raise AssertionError(f"nothing came; before: {self.seen[-5:]}")

    def findings(self, path):
        """What is published of a file next."""
        uri = (self.folder / path).as_uri()
        method = "textDocument/publishDiagnostics"
        found = self.until(lambda one: one.get("method") == method and one["params"]["uri"] == uri)
        return found["params"]["diagnostics"]

    def finding(self, path, word):
        """The first one that says the word, once it is published."""
        while True:
            for item in self.findings(path):
                if word in item["message"]:
                    return item

    def open_file(self, path, text=None):
        text = (self.folder / path).read_text("utf-8") if text is None else text
        self.tell("textDocument/didOpen", textDocument={"uri": (self.folder / path).as_uri(), "text": text})

    def change(self, path, text):
        self.tell("textDocument/didChange", textDocument=self.document(path), contentChanges=[{"text": text}])

    def save(self, path, text):
        (self.folder / path).write_text(text, "utf-8")
        self.tell("textDocument/didSave", textDocument=self.document(path))

    def document(self, path):
        return {"uri": (self.folder / path).as_uri()}

    def at(self, path, line, character):
        return {"textDocument": self.document(path), "position": {"line": line, "character": character}}

    def leave(self):
        """The exit code."""
        self.ask("shutdown")
        self.tell("exit")
        return self.process.wait(30)

    def ended(self):
        """Exit code and what stands on standard error, once it has ended by itself."""
        _, told = self.process.communicate(timeout=60)
        return self.process.returncode, told.decode()

    def _next(self, end):
        while b"\r\n\r\n" not in self._held or len(self._held) < self._length():
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise AssertionError(f"the server is gone: {self.ended()}")
            self._held += chunk
        length = self._length()
        body = self._held[self._held.index(b"\r\n\r\n") + 4 : length]
        self._held = self._held[length:]
        return json.loads(body)

    def _length(self):
        head, _, _ = self._held.partition(b"\r\n\r\n")
        return len(head) + 4 + int(head.rpartition(b":")[2])
