"""What the steps of the action ask of GitHub's API: JSON by path, and files behind a redirect."""

from __future__ import annotations

import json
import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 30
_TRIES = 3
_PASSING = frozenset((500, 502, 503, 504))
_PAGE = 100
_MOST_PAGES = 50
_MOST_BYTES = 32 << 20


class ApiError(Exception):
    """What was asked and what came back, in words for the log; `status` is 0 where nothing did."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """`url` is that of the runner's GITHUB_API_URL, without a slash at its end."""

    def __init__(self, url: str, token: str, *, pause: float = 0.5) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ApiError("GITHUB_API_URL is no address")
        self._url = url.rstrip("/")
        self._token = token
        self._pause = pause

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, None where it has no body. Raises ApiError."""
        content = self._send(method, path, body, _MOST_BYTES)
        try:
            return json.loads(content) if content else None
        except ValueError as error:
            raise ApiError(f"{method} {path.partition('?')[0]}: the answer is no JSON") from error

    def pages(self, path: str, **query: str) -> Iterator[Any]:
        """All entries of a list."""
        for page in range(1, _MOST_PAGES + 1):
            asked = urlencode({**query, "per_page": _PAGE, "page": page})
            found = self.ask("GET", f"{path}?{asked}")
            yield from found
            if len(found) < _PAGE:
                return

    def download(self, path: str, most: int) -> bytes:
        """At most `most` bytes. Raises ApiError, also where there are more."""
        content = self._send("GET", path, None, most)
        if len(content) > most:
            raise ApiError(f"{path} has more than {most} bytes")
        return content

    def _send(self, method: str, path: str, body: Any, most: int) -> bytes:
        said = f"{method} {path.partition('?')[0]}"
        for trial in range(1, _TRIES + 1):
            try:
                return self._once(method, path, body, most)
            except HTTPError as error:
                with error:
                    if error.code not in _PASSING or method != "GET" or trial == _TRIES:
                        raise ApiError(f"{said}: the API answers {error.code}", error.code) from error
            except (URLError, HTTPException, OSError) as error:
                if method != "GET" or trial == _TRIES:
                    raise ApiError(f"{said}: the API does not answer") from error
            time.sleep(self._pause * trial)
        raise ApiError(said)

    def _once(self, method: str, path: str, body: Any, most: int) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self._url}{path}", data=data, method=method)  # noqa: S310 - the scheme is checked above
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "poolsmith")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        # A redirect leads to storage of somebody else, who has no use for the token.
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - as above
            content: bytes = answer.read(most + 1)
        return content
