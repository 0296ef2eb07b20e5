"""Read a cluster by kr8s: lists only, in pages, with a limit of time on each call. The only module that knows kr8s.

What kr8s leaves to its caller is done here. It has no limit of time by default; it never tries again after 429 or 5xx;
it follows redirects, with its credentials; it loads credentials anew after each 403, three times, though a missing
right is no question of credentials; and it takes an answer of any size. An answer is read as it comes, and unpacked
here: what is larger than an answer may be, or has more parts, is not taken into memory.
Source: kr8s 0.20.15, `Api.call_api`.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.kubernetes.live.answers import (
    Answer,
    UnfitError,
    decoded,
    host_of,
    kinds_of,
    objects_of,
    reason_of,
    unpacked,
)
from poolsmith.kubernetes.live.api_resources import (
    BINDINGS,
    CONFIG_MAPS,
    DEFINITIONS,
    MUTATING_BINDINGS,
    MUTATING_POLICIES,
    NODES,
    PODS,
    POLICIES,
    ClusterError,
)
from poolsmith.kubernetes.live.kubeconfig import credentials_of
from poolsmith.kubernetes.live.snapshot import (
    HELM_RECORDS,
    SECRETS_OF_HELM,
    ListedObjects,
    Snapshot,
    State,
    helm_record,
    light,
    light_definition,
    light_node,
    light_pod,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping

    from poolsmith.kubernetes.live.api_resources import ApiResource, Reading
    from poolsmith.kubernetes.live.kubeconfig import Credentials
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

MISSING = "reading a cluster needs kr8s: `pip install --require-hashes -r requirements-live.lock`"
_PAGE = 100
_FEW = 20
_PAGES = {DEFINITIONS: _FEW, CONFIG_MAPS: _FEW}
"""Of kinds whose objects may be large, fewer on a page."""
_TRIES = 5
_TRIES_OF_WHO_SLEEPS = 2
_FIRST_WAIT = 0.2
_LONGEST_WAIT = 10.0
_TRY_AGAIN = frozenset((429, 500, 502, 503, 504))
_FAILURES = 3
"""So many lists in a row: nothing more is asked of a server that fails each time."""
_MOST_RELISTS = 3
_MOST_PAGES = 1_000
_MOST_BYTES_IN_ALL = 4 << 30
_OF_EACH_SERVER = frozenset(
    (
        *("", "apps", "batch", "policy", "admissionregistration.k8s.io", "apiextensions.k8s.io", "discovery.k8s.io"),
        *("networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io"),
    )
)
_SINCE_LATER = frozenset((POLICIES, BINDINGS, *MUTATING_POLICIES, *MUTATING_BINDINGS))
"""Kinds of these groups that older servers do not have."""
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _GONE = 200, 401, 403, 404, 410
_REDIRECTS = range(300, 400)


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
            f"the cluster was not read within {how.whole_seconds:.0f} seconds; nothing is reported of it"
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
                lists.append(await server.listed_widely(resource, inside))
        if how.helm_namespaces:
            lists.append(await server.helm_records(how.helm_namespaces))
    finally:
        await server.close()
    return Snapshot(context=server.context, server=server.version, taken=now, lists=tuple(lists))


class _Server:
    """One API server, and what it serves."""

    def __init__(self, api: Any, how: Reading, known: Credentials | None) -> None:
        self._api = api
        self._known = known
        self._how = how
        self._served: dict[str, Mapping[str, tuple[str, bool]] | None] = {}
        self._untold: dict[str, str] = {}
        """Groups that do not tell what they have, and why: none is asked twice."""
        self._groups: frozenset[str] | None = None
        self._shared: dict[str, Any] = {}
        self._bytes = 0
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

        paths = how.kubeconfigs or ((how.kubeconfig,) if how.kubeconfig else ())
        if how.context and not paths:
            raise UsageError(f"there is no kubeconfig that could have the context `{how.context}`")
        known = credentials_of(paths, how.context) if paths and not how.in_cluster else None
        try:
            config = None if known is None else (await known.fresh(how.seconds, how.environ)).as_config()
            api = Api(kubeconfig=config, bypass_factory=True)
            if config is None:  # what kr8s has for this its constructor takes for nothing
                api.auth._kubeconfig_path_or_dict = False  # type: ignore[assignment]  # noqa: SLF001
            async with asyncio.timeout(how.seconds):
                await api.auth
                await api.auth.ssl_context()  # type: ignore[no-untyped-call]
        except ClusterError:
            raise
        except TimeoutError:
            raise ClusterError(f"there were no credentials within {how.seconds:g} seconds") from None
        except ssl.SSLError:
            raise UsageError("the client certificate and the key of the kubeconfig are no pair") from None
        except (ValueError, KeyError, TypeError, OSError) as error:
            what = (
                "the kubeconfig or its context can't be used"
                if config is not None
                else "there is no service account of a pod here"
                if how.in_cluster
                else "there is no kubeconfig, and no service account of a pod"
            )
            raise UsageError(f"{what}: {_plain(error)}") from None
        except Exception as error:  # noqa: BLE001 - ssl and kr8s each raise their own
            raise ClusterError(f"there are no credentials for the cluster: {_plain(error)}") from None
        api.timeout = how.seconds
        server = cls(api, how, known)
        try:
            await server._ask_version()
        except BaseException:
            await server.close()
            raise
        return server

    async def _ask_version(self) -> None:
        told = await self._get("/version")
        if told.status != _OK:
            raise ClusterError(f"the cluster does not report its version: {reason_of(told)}")
        version = told.body.get("gitVersion")
        if not isinstance(version, str) or not version:
            raise ClusterError("the cluster does not report its version: what answers is no API server of Kubernetes")
        self.version = version

    async def close(self) -> None:
        """kr8s keeps its connections until the process ends, and has no word for closing them."""
        session = getattr(self._api, "_session", None)
        if session is not None:
            await session.aclose()

    async def listed_widely(self, resource: ApiResource, namespaces: tuple[str, ...]) -> ListedObjects:
        """Of the whole cluster where that is wanted and allowed; else of the namespaces, and why not of all."""
        if not namespaces or resource not in self._how.everywhere:
            return await self.listed(resource, namespaces)
        found = await self.listed(resource, ())
        if found.state is not State.FORBIDDEN:
            return found
        narrow = await self.listed(resource, namespaces)
        return replace(narrow, reason=found.reason) if narrow.state is State.READ else narrow

    async def listed(self, resource: ApiResource, namespaces: tuple[str, ...]) -> ListedObjects:
        """All objects of a kind; what is refused or breaks off is said of the whole list."""
        try:
            served = await self._kinds(resource.api_version)
        except ClusterError as error:
            return ListedObjects(resource, State.FAILED, (), str(error), namespaces)
        place = None if served is None else served.get(resource.kind)
        if place is None and resource.group in _OF_EACH_SERVER and resource not in _SINCE_LATER:
            reason = f"the API server does not say that it serves `{resource.named}`, which each one has"
            return ListedObjects(resource, State.FAILED, (), reason, namespaces)
        if place is None:
            return ListedObjects(resource, State.ABSENT, (), "", namespaces)
        plural, namespaced = place
        root = _root(resource.api_version)
        paths = [f"{root}/namespaces/{name}/{plural}" for name in namespaces] if namespaced and namespaces else []
        items: list[KubernetesObject] = []
        for path in paths or [f"{root}/{plural}"]:
            try:
                found = await self._all_pages(path, self._kept_of(resource), page=_PAGES.get(resource, _PAGE))
            except ClusterError as error:
                return ListedObjects(resource, State.FAILED, tuple(items), str(error), namespaces)
            if isinstance(found, Answer):
                if found.status in (_UNAUTHORIZED, _FORBIDDEN):
                    reason = f"`list` of `{resource.named}` is not allowed: {reason_of(found)}"
                    return ListedObjects(resource, State.FORBIDDEN, tuple(items), reason, namespaces)
                reason = reason_of(found)
                if found.status == _NOT_FOUND:
                    reason = (
                        f"the API server says that it serves `{resource.named}`, and answers the list with {reason}"
                    )
                return ListedObjects(resource, State.FAILED, tuple(items), reason, namespaces)
            items += [{**item, "apiVersion": resource.api_version, "kind": resource.kind} for item in found]
        items.sort(key=lambda item: (str(item["metadata"].get("namespace") or ""), item["metadata"]["name"]))
        return ListedObjects(resource, State.READ, tuple(items), "", namespaces)

    def _kept_of(self, resource: ApiResource) -> Callable[[KubernetesObject], KubernetesObject]:
        if resource == DEFINITIONS:
            return partial(light_definition, schemas_of=self._how.schemas_of)
        if resource == PODS:
            return partial(light_pod, shared=self._shared)
        return light_node if resource == NODES else light

    async def helm_records(self, namespaces: tuple[str, ...]) -> ListedObjects:
        """Helm's own records in some namespaces; of each Secret only what `helm_record` keeps."""
        items: list[KubernetesObject] = []
        for namespace in namespaces:
            try:
                found = await self._all_pages(f"/api/v1/namespaces/{namespace}/secrets", helm_record, SECRETS_OF_HELM)
            except ClusterError as error:
                return ListedObjects(HELM_RECORDS, State.FAILED, tuple(items), str(error), namespaces)
            if isinstance(found, Answer):
                refused = found.status in (_UNAUTHORIZED, _FORBIDDEN)
                reason = f"`list` of `secrets` is not allowed: {reason_of(found)}" if refused else reason_of(found)
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
            if api_version in await self._all_groups():
                raise ClusterError(f"the API server says that it serves {api_version}, and answers with 404 for it")
            return None
        if answer.status != _OK:
            raise ClusterError(f"what {api_version} has is unknown: {reason_of(answer)}")
        return kinds_of(answer.body, api_version)

    async def _all_groups(self) -> frozenset[str]:
        """Each group with its version, as the API server lists them. Raises ClusterError where it does not."""
        if self._groups is None:
            answer = await self._get("/apis")
            groups = answer.body.get("groups")
            if answer.status != _OK or not isinstance(groups, list) or not groups:
                why = reason_of(answer) if answer.status != _OK else "the answer has no `groups`"
                raise ClusterError(f"which groups the API server has is unknown: {why}")
            versions = (item for group in mappings(groups) for item in mappings(group.get("versions")))
            self._groups = frozenset(("v1", *(word(item.get("groupVersion")) for item in versions)))
        return self._groups

    async def _all_pages(
        self,
        path: str,
        kept: Callable[[KubernetesObject], KubernetesObject | None] = dict,
        selected: Mapping[str, str] | None = None,
        page: int = _PAGE,
    ) -> list[KubernetesObject] | Answer:
        """Whole, or the answer that ended it; of each item what is `kept`.

        A list that expired on the way (410) is started again.
        """
        for _ in range(_MOST_RELISTS):
            items: list[KubernetesObject] = []
            token = ""
            for _ in range(_MOST_PAGES):
                more = {"continue": token} if token else {}
                answer = await self._get(path, limit=str(page), **(selected or {}), **more)
                if answer.status != _OK:
                    break
                objects = objects_of(answer.body, path)
                items += [item for item in map(kept, objects) if item is not None]
                before, token = token, word(mapping(answer.body.get("metadata")).get("continue"))
                if not token:
                    return items
                if token == before:
                    raise ClusterError(f"GET {path}: each page says that the same one follows")
            else:
                raise ClusterError(f"GET {path}: the list does not end after {_MOST_PAGES:,} pages")
            if answer.status != _GONE:
                return answer
        return Answer(_GONE, {"message": f"the list expired {_MOST_RELISTS} times while it was read"})

    async def _get(self, path: str, **query: str) -> Answer:
        """One GET, again after 429 and 5xx, with growing pauses or as long as the server says. Raises ClusterError."""
        pause = _FIRST_WAIT
        words, tries, slept = "", 0, 0
        while tries < _TRIES and slept < _TRIES_OF_WHO_SLEEPS:
            tries += 1
            try:
                answer = await self._once(path, query)
            except TimeoutError:
                slept += 1
                words = f"no answer within {self._how.seconds:g} seconds"
            except UnfitError as error:
                self.failures += 1
                raise ClusterError(f"GET {path}: {error}") from None
            except ClusterError as error:
                words = str(error)
            else:
                if answer.status not in _TRY_AGAIN:
                    self.failures = 0
                    return answer
                words, pause = reason_of(answer), max(pause, answer.wait)
            if tries < _TRIES and slept < _TRIES_OF_WHO_SLEEPS:
                await asyncio.sleep(min(pause, _LONGEST_WAIT, self._how.seconds))
                pause *= 2
        self.failures += 1
        raise ClusterError(f"GET {path} failed {tries} times: {words}")

    async def _once(self, path: str, query: dict[str, str]) -> Answer:
        """Credentials are loaded anew after 401 only, and once. Raises TimeoutError, ClusterError."""
        import httpx
        import kr8s

        base, _, last = path.rpartition("/")
        place = {"version": "", "base": base or path, "url": last if base else ""}
        try:
            async with asyncio.timeout(self._how.seconds):
                answer = await self._asked(place, query)
            if answer.status == _UNAUTHORIZED:
                await self._renew()
                async with asyncio.timeout(self._how.seconds):
                    answer = await self._asked(place, query)
        except kr8s.APITimeoutError:
            raise TimeoutError from None
        except (TimeoutError, ClusterError):
            raise
        except ssl.SSLError as error:
            raise UnfitError(_plain(error)) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, KeyError) as error:
            raise (UnfitError if "CERTIFICATE_VERIFY_FAILED" in str(error) else ClusterError)(_plain(error)) from None
        return answer

    async def _renew(self) -> None:
        if self._known is not None:
            fresh = await self._known.fresh(self._how.seconds, self._how.environ)
            self._api.auth._kubeconfig_path_or_dict = fresh.as_config()  # noqa: SLF001
        await self._api.auth.reauthenticate()
        await self._api._create_session()  # noqa: SLF001

    async def _asked(self, place: dict[str, str], query: dict[str, str]) -> Answer:
        call = {"params": query, "raise_for_status": False, "stream": True, "follow_redirects": False}
        async with self._api.call_api("GET", **place, **call) as response:
            status = response.status_code
            if status in _REDIRECTS:
                raise UnfitError(
                    f"the server sends on to {host_of(response.headers.get('Location', ''))}: not followed"
                )
            packed = await unpacked(response)
            self._bytes += len(packed)
            if self._bytes > _MOST_BYTES_IN_ALL:
                raise UnfitError(f"all answers together have more than {_MOST_BYTES_IN_ALL >> 20:,} MiB")
            body = decoded(packed)
            wait = response.headers.get("Retry-After", "")
            seconds = float(wait) if wait.isascii() and wait.isdigit() else 0.0
            if isinstance(body, dict):
                return Answer(status, body, seconds)
            if status == _OK:  # of something between: a page to log in, say
                raise ClusterError("what answers is no JSON object")
            return Answer(status, {}, seconds)


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _plain(error: BaseException) -> str:
    """One line; an error without words by its name. A parser of YAML shows the line that it stumbles over, which may be
    that of a token: its place is enough."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f"line {mark.line + 1} is no YAML"
    return masked(" ".join(str(error).split())) or type(error).__name__
