"""Read a cluster by kr8s: lists only, in pages, with a limit of time on each call. The only module that knows kr8s.

What kr8s leaves to its caller is done here. It has no limit of time by default; it never tries again after 429 or 5xx;
and it loads credentials anew after each 403, three times, though a missing right is no question of credentials.
Source: kr8s 0.20.15, `Api.call_api`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.live.api_resources import DEFINITIONS, ClusterError
from poolsmith.kubernetes.live.snapshot import (
    HELM_RECORDS,
    SECRETS_OF_HELM,
    ListedObjects,
    Snapshot,
    State,
    helm_record,
    light_definition,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping

    from poolsmith.kubernetes.live.api_resources import ApiResource, Reading
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

MISSING = "reading a cluster needs kr8s, which is not installed; install poolsmith with its extra: `poolsmith[live]`"
_PAGE = 500
_TRIES = 5
_FIRST_WAIT = 0.2
_LONGEST_WAIT = 10.0
_TRY_AGAIN = frozenset((429, 500, 502, 503, 504))
_FAILURES = 3
"""So many lists in a row: nothing more is asked of a server that fails each time."""
_MOST_RELISTS = 3
_MOST_PAGES = 10_000
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE, _BAD_GATEWAY = 200, 401, 403, 404, 410, 502


@record(kw_only=False)
class _Answer:
    status: int
    body: dict[str, Any]
    wait: float = 0.0


def read_cluster(
    resources: Iterable[ApiResource],
    namespaces: Collection[str],
    of_namespaces: Collection[ApiResource],
    how: Reading,
    now: str,
) -> Snapshot:
    """List each kind; those of namespaces only in `namespaces`. `now` is written into the snapshot as its time.

    Raises UsageError where kr8s or the kubeconfig is missing, and ClusterError where nothing can be read.
    """
    try:
        import kr8s.asyncio  # noqa: F401 - an extra, on demand
    except ImportError:
        raise UsageError(MISSING) from None
    logging.getLogger("kr8s").setLevel(logging.CRITICAL)
    logging.getLogger("httpx").setLevel(logging.CRITICAL)

    async def whole() -> Snapshot:
        async with asyncio.timeout(how.whole_seconds):
            return await _read(resources, namespaces, of_namespaces, how, now)

    try:
        return _awaited(whole)
    except TimeoutError:
        raise ClusterError(
            f"the cluster was not read within {how.whole_seconds:.0f} seconds; nothing is told of it"
        ) from None


def _awaited(whole: Callable[[], Coroutine[Any, Any, Snapshot]]) -> Snapshot:
    """In this thread; in one of its own where this one is in an event loop already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(whole())
    from concurrent.futures import ThreadPoolExecutor  # on demand

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(whole())).result()


async def _read(
    resources: Iterable[ApiResource],
    namespaces: Collection[str],
    of_namespaces: Collection[ApiResource],
    how: Reading,
    now: str,
) -> Snapshot:
    server = await _Server.reached(how)
    lists: list[ListedObjects] = []
    try:
        for resource in sorted(set(resources)):
            inside = tuple(sorted(set(namespaces))) if resource in of_namespaces else ()
            if server.failures >= _FAILURES:
                lists.append(
                    ListedObjects(resource, State.FAILED, (), "not asked for: the lists before it failed", inside)
                )
            else:
                lists.append(await server.listed(resource, inside))
        if how.helm_namespaces:
            lists.append(await server.helm_records(how.helm_namespaces))
    finally:
        await server.close()
    return Snapshot(context=server.context, server=server.version, taken=now, lists=tuple(lists))


class _Server:
    """One API server, and what it serves."""

    def __init__(self, api: Any, how: Reading) -> None:
        self._api = api
        self._how = how
        self._served: dict[str, Mapping[str, tuple[str, bool]] | None] = {}
        self._untold: dict[str, str] = {}
        """Groups that do not tell what they have, and why: none is asked twice."""
        self.failures = 0
        """How many calls have failed in a row."""
        self.context = how.context or str(getattr(api.auth, "active_context", "") or "")
        self.version = ""

    @classmethod
    async def reached(cls, how: Reading) -> _Server:
        """A server that has told its version. Raises UsageError, ClusterError.

        Not by `kr8s.asyncio.api`, which asks without a limit of time, and gives nothing to close where that fails.
        """
        from kr8s.asyncio import Api

        try:
            api = Api(kubeconfig=how.kubeconfig, context=how.context, bypass_factory=True)
            if how.in_cluster:  # what kr8s has for this its constructor takes for nothing
                api.auth._kubeconfig_path_or_dict = False  # type: ignore[assignment]  # noqa: SLF001
            async with asyncio.timeout(how.seconds):
                await api.auth
        except TimeoutError:
            raise ClusterError(f"there were no credentials within {how.seconds:.0f} seconds") from None
        except (ValueError, KeyError, TypeError, OSError) as error:
            what = (
                "there is no service account of a pod here"
                if how.in_cluster
                else "the kubeconfig or its context can't be used"
            )
            raise UsageError(f"{what}: {_plain(error)}") from None
        except Exception as error:  # noqa: BLE001 - credential plug-ins and ssl each raise their own
            raise ClusterError(f"there are no credentials for the cluster: {_plain(error)}") from None
        api.timeout = how.seconds
        server = cls(api, how)
        try:
            await server._ask_version()
        except BaseException:
            await server.close()
            raise
        return server

    async def _ask_version(self) -> None:
        told = await self._get("/version")
        if told.status != _OK:
            raise ClusterError(f"the cluster does not tell its version: {_reason(told)}")
        version = told.body.get("gitVersion")
        if not isinstance(version, str) or not version:
            raise ClusterError("the cluster does not tell its version: what answers is no API server of Kubernetes")
        self.version = version

    async def close(self) -> None:
        """kr8s keeps its connections until the process ends, and has no word for closing them."""
        session = getattr(self._api, "_session", None)
        if session is not None:
            await session.aclose()

    async def listed(self, resource: ApiResource, namespaces: tuple[str, ...]) -> ListedObjects:
        """All objects of a kind; what is refused or breaks off is said of the whole list."""
        try:
            served = await self._kinds(resource.api_version)
        except ClusterError as error:
            return ListedObjects(resource, State.FAILED, (), str(error), namespaces)
        place = None if served is None else served.get(resource.kind)
        if place is None:
            return ListedObjects(resource, State.ABSENT, (), "", namespaces)
        plural, namespaced = place
        root = _root(resource.api_version)
        paths = [f"{root}/namespaces/{name}/{plural}" for name in namespaces] if namespaced and namespaces else []
        items: list[KubernetesObject] = []
        light = partial(light_definition, schemas_of=self._how.schemas_of)
        for path in paths or [f"{root}/{plural}"]:
            try:
                found = await self._all_pages(path, light if resource == DEFINITIONS else dict)
            except ClusterError as error:
                return ListedObjects(resource, State.FAILED, tuple(items), str(error), namespaces)
            if isinstance(found, _Answer):
                if found.status in (_UNAUTHORIZED, _FORBIDDEN):
                    reason = f"`list` of `{resource.named}` is not allowed: {_reason(found)}"
                    return ListedObjects(resource, State.FORBIDDEN, tuple(items), reason, namespaces)
                if found.status == _NOT_FOUND:
                    continue
                return ListedObjects(resource, State.FAILED, tuple(items), _reason(found), namespaces)
            items += [{**item, "apiVersion": resource.api_version, "kind": resource.kind} for item in found]
        items.sort(key=lambda item: (str(item["metadata"].get("namespace") or ""), item["metadata"]["name"]))
        return ListedObjects(resource, State.READ, tuple(items), "", namespaces)

    async def helm_records(self, namespaces: tuple[str, ...]) -> ListedObjects:
        """Helm's own records in some namespaces; of each Secret only what `helm_record` keeps."""
        items: list[KubernetesObject] = []
        for namespace in namespaces:
            try:
                found = await self._all_pages(f"/api/v1/namespaces/{namespace}/secrets", helm_record, SECRETS_OF_HELM)
            except ClusterError as error:
                return ListedObjects(HELM_RECORDS, State.FAILED, tuple(items), str(error), namespaces)
            if isinstance(found, _Answer):
                refused = found.status in (_UNAUTHORIZED, _FORBIDDEN)
                reason = f"`list` of `secrets` is not allowed: {_reason(found)}" if refused else _reason(found)
                state = State.FORBIDDEN if refused else State.FAILED
                return ListedObjects(HELM_RECORDS, state, tuple(items), reason, namespaces)
            items += found
        return ListedObjects(HELM_RECORDS, State.READ, tuple(items), "", namespaces)

    async def _kinds(self, api_version: str) -> Mapping[str, tuple[str, bool]] | None:
        """By kind: its plural, and whether it stands in namespaces. None for a group that is not served."""
        if api_version in self._untold:
            raise ClusterError(self._untold[api_version])
        if api_version not in self._served:
            try:
                self._served[api_version] = await self._ask_kinds(api_version)
            except ClusterError as error:
                self._untold[api_version] = str(error)
                raise
        return self._served[api_version]

    async def _ask_kinds(self, api_version: str) -> Mapping[str, tuple[str, bool]] | None:
        answer = await self._get(_root(api_version))
        if answer.status == _NOT_FOUND:
            return None
        if answer.status != _OK:
            raise ClusterError(f"what {api_version} has is not told: {_reason(answer)}")
        return _kinds_of(answer.body, api_version)

    async def _all_pages(
        self,
        path: str,
        kept: Callable[[KubernetesObject], KubernetesObject | None] = dict,
        selected: Mapping[str, str] | None = None,
    ) -> list[KubernetesObject] | _Answer:
        """Whole, or the answer that ended it; of each item what is `kept`.

        A list that expired on the way (410) is begun anew.
        """
        for _ in range(_MOST_RELISTS):
            items: list[KubernetesObject] = []
            token = ""
            for _ in range(_MOST_PAGES):
                more = {"continue": token} if token else {}
                answer = await self._get(path, limit=str(_PAGE), **(selected or {}), **more)
                if answer.status != _OK:
                    break
                objects = _objects_of(answer.body, path)
                items += [item for item in map(kept, objects) if item is not None]
                token = word(mapping(answer.body.get("metadata")).get("continue"))
                if not token:
                    return items
            if answer.status != _GONE:
                return answer
        return _Answer(_GONE, {"message": f"the list expired {_MOST_RELISTS} times while it was read"})

    async def _get(self, path: str, **query: str) -> _Answer:
        """One GET, again after 429 and 5xx, with growing pauses or as long as the server says. Raises ClusterError."""
        pause = _FIRST_WAIT
        words = ""
        for attempt in range(_TRIES):
            try:
                answer = await self._once(path, query)
            except TimeoutError:
                words = f"no answer within {self._how.seconds:.0f} seconds"
            except ClusterError as error:
                words = str(error)
            else:
                if answer.status not in _TRY_AGAIN:
                    self.failures = 0
                    return answer
                words, pause = _reason(answer), max(pause, answer.wait)
            if attempt < _TRIES - 1:
                await asyncio.sleep(min(pause, _LONGEST_WAIT))
                pause *= 2
        self.failures += 1
        raise ClusterError(f"GET {path} failed {_TRIES} times: {words}")

    async def _once(self, path: str, query: dict[str, str]) -> _Answer:
        """Credentials are loaded anew after 401 only, and by kr8s itself."""
        import httpx
        import kr8s

        base, _, last = path.rpartition("/")
        place = {"version": "", "base": base or path, "url": last if base else ""}
        try:
            async with asyncio.timeout(self._how.seconds):
                answer = await self._asked(place, query, strict=False)
                if answer.status == _UNAUTHORIZED:
                    answer = await self._asked(place, query, strict=True)
                return answer
        except kr8s.ServerError as error:
            status = getattr(error.response, "status_code", _UNAUTHORIZED)
            return _Answer(status, {"message": _plain(error)})
        except kr8s.APITimeoutError:
            raise TimeoutError from None
        except TimeoutError:
            raise
        except (httpx.HTTPError, OSError, KeyError) as error:
            raise ClusterError(_plain(error)) from None

    async def _asked(self, place: dict[str, str], query: dict[str, str], *, strict: bool) -> _Answer:
        async with self._api.call_api("GET", **place, params=query, raise_for_status=strict) as response:
            try:
                body = json.loads(response.text)
            except (ValueError, RecursionError):
                body = None
            wait = response.headers.get("Retry-After", "")
            seconds = float(wait) if wait.isdigit() else 0.0
            if isinstance(body, dict):
                return _Answer(response.status_code, body, seconds)
            if response.status_code == _OK:  # of something between: a page to log in, say
                return _Answer(_BAD_GATEWAY, {"message": "what answers is no JSON object"}, seconds)
            return _Answer(response.status_code, {}, seconds)


def _kinds_of(body: dict[str, Any], api_version: str) -> dict[str, tuple[str, bool]]:
    """Of an APIResourceList, without subresources. Raises ClusterError for what is none."""
    if not isinstance(body.get("resources"), list):
        raise ClusterError(f"what {api_version} has is not told: the answer has no `resources`")
    rows = [(word(item.get("kind")), word(item.get("name")), item) for item in mappings(body["resources"])]
    return {
        kind: (name, bool(item.get("namespaced"))) for kind, name, item in rows if kind and name and "/" not in name
    }


def _objects_of(body: dict[str, Any], path: str) -> list[KubernetesObject]:
    """Of a list. Raises ClusterError for what is none: then nobody knows what there is."""
    items = body.get("items", 0)
    found = (
        [] if items is None else [item for item in mappings(items) if word(mapping(item.get("metadata")).get("name"))]
    )
    if items is not None and (not isinstance(items, list) or len(found) != len(items)):
        raise ClusterError(f"GET {path}: what is answered is no list of objects")
    return found


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _reason(answer: _Answer) -> str:
    message = answer.body.get("message")
    return f"{answer.status}: {message}" if isinstance(message, str) and message else f"status {answer.status}"


def _plain(error: BaseException) -> str:
    """One line; an error without words by its name. A parser of YAML shows the line that it stumbles over, which may be
    that of a token: its place is enough."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f"line {mark.line + 1} is no YAML"
    return masked(" ".join(str(error).split())) or type(error).__name__
