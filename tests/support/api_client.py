"""A client for the API server of the tests: server-side apply with strict field validation, as Flux and Argo CD do it."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from http.client import HTTPSConnection
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote, urlencode

_APPLY = "application/apply-patch+yaml"
_SECONDS_FOR_A_DEFINITION = 20.0


@dataclass(frozen=True)
class Answer:
    """What the server said: the HTTP status, the decoded body, and its warnings in order."""

    status: int
    body: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def taken(self) -> bool:
        return self.status < 300

    @property
    def message(self) -> str:
        """Why it was refused; empty where it was taken."""
        return "" if self.taken else str(self.body.get("message", self.body))


@dataclass(frozen=True)
class Resource:
    """Where objects of a kind are kept."""

    group_version: str
    plural: str
    namespaced: bool

    def path(self, namespace: str | None, name: str = "") -> str:
        root = "/api/v1" if self.group_version == "v1" else f"/apis/{self.group_version}"
        place = f"/namespaces/{quote(namespace or 'default')}" if self.namespaced else ""
        return f"{root}{place}/{self.plural}" + (f"/{quote(name)}" if name else "")


class ApiClient:
    """One user of one API server. Not for several threads at once."""

    def __init__(self, host: str, port: int, token: str, authority: str) -> None:
        """Hold what is needed to ask; `authority` is the file of the certificate that the server must show."""
        self.url = f"https://{host}:{port}"
        self.token = token
        self.authority = authority
        self._connection = HTTPSConnection(host, port, timeout=60, context=ssl.create_default_context(cafile=authority))
        self._resources: dict[tuple[str, str], Resource] = {}
        self._defined: set[tuple[str, str]] = set()

    def close(self) -> None:
        self._connection.close()

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", **query: Any
    ) -> Answer:
        """Ask; a body that is no text is sent as JSON. An answer that is no object is kept under `text`."""
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = content_type
        target = f"{path}?{urlencode(query)}" if query else path
        try:
            self._connection.request(method, target, data and data.encode(), headers)
            response = self._connection.getresponse()
            text = response.read().decode()
        except OSError:
            self._connection.close()
            raise
        warnings = tuple(response.headers.get_all("Warning") or ())
        try:
            found = json.loads(text)
        except ValueError:
            found = {"text": text}
        return Answer(response.status, found, warnings)

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """Where the server keeps a kind; None if it does not serve it. Waited for if its definition was applied."""
        key = (api_version, kind)
        ends = monotonic() + _SECONDS_FOR_A_DEFINITION
        while key not in self._resources:
            self._discover(api_version)
            if key in self._resources or key not in self._defined:
                break
            if monotonic() > ends:
                raise TimeoutError(
                    f"{kind} of {api_version} is not served after {_SECONDS_FOR_A_DEFINITION:.0f} seconds"
                )
            sleep(0.05)
        return self._resources.get(key)

    def _discover(self, api_version: str) -> None:
        root = "/api/v1" if api_version == "v1" else f"/apis/{api_version}"
        for item in self.request("GET", root).body.get("resources", ()):
            if "/" not in item["name"]:
                found = Resource(api_version, item["name"], item["namespaced"])
                self._resources[api_version, item["kind"]] = found

    def apply(
        self, item: dict[str, Any], *, manager: str = "delivery", dry_run: bool = False, force: bool = False
    ) -> Answer:
        """Server-side apply with strict field validation. What a definition brings is waited for when it is first used.

        An object whose kind is not served comes back as status 404, with the reason that a delivery engine would show.
        """
        api_version, kind = str(item.get("apiVersion")), str(item.get("kind"))
        place = self.resource(api_version, kind)
        if place is None:
            return Answer(404, {"message": f"no matches for kind {kind!r} in version {api_version!r}"})
        metadata = item["metadata"]
        query: dict[str, Any] = {"fieldManager": manager, "fieldValidation": "Strict"}
        query |= {"dryRun": "All"} if dry_run else {}
        query |= {"force": "true"} if force else {}
        path = place.path(metadata.get("namespace"), metadata["name"])
        answer = self.request("PATCH", path, item, content_type=_APPLY, **query)
        if answer.taken and kind == "CustomResourceDefinition" and not dry_run:
            spec = item["spec"]
            served = (version["name"] for version in spec["versions"] if version["served"])
            self._defined |= {(f"{spec['group']}/{version}", spec["names"]["kind"]) for version in served}
        return answer

    def create(self, item: dict[str, Any], *, dry_run: bool = False) -> Answer:
        """Create an object, as a controller does: strict, without a field manager of its own."""
        place = self.resource(item["apiVersion"], item["kind"])
        if place is None:
            return Answer(404, {"message": f"no matches for kind {item['kind']!r}"})
        query = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry_run else {})
        return self.request("POST", place.path(item["metadata"].get("namespace")), item, **query)

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Answer:
        place = self.resource(api_version, kind)
        if place is None:
            return Answer(404, {"message": f"no matches for kind {kind!r}"})
        return self.request("GET", place.path(namespace, name))

    def listed(self, api_version: str, kind: str, namespace: str | None = None) -> list[dict[str, Any]]:
        """All objects of a kind, of one namespace or of the whole cluster; none if the kind is not served."""
        place = self.resource(api_version, kind)
        if place is None:
            return []
        whole = Resource(place.group_version, place.plural, namespaced=place.namespaced and namespace is not None)
        items = self.request("GET", whole.path(namespace)).body.get("items", ())
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Answer:
        place = self.resource(api_version, kind)
        if place is None:
            return Answer(404, {"message": f"no matches for kind {kind!r}"})
        return self.request("DELETE", place.path(namespace, name), {"propagationPolicy": "Background"})
