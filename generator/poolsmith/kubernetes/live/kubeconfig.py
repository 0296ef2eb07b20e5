"""Kubeconfigs: the one context that is meant, whole and checked, with each fault in words of its own.

Several files are merged as kubectl does it: the first that names something counts. Paths are meant from the folder of
their file. A credential plugin is run here, with a limit of time, and is ended with all that it has started.
Source: kubernetes/client-go@v0.34.1, tools/clientcmd and plugin/pkg/client/auth/exec.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import json
import os
import signal
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.message_text import cut
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.kubernetes.live.api_resources import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_BYTES = 4 << 20
_MOST_OUTPUT = 1 << 20
_SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
_FILES = {
    "certificate-authority": "the CA file",
    "client-certificate": "the client certificate",
    "client-key": "the client key",
    "tokenFile": "the token file",
}
_DATA = {
    "certificate-authority-data": "CERTIFICATE",
    "client-certificate-data": "CERTIFICATE",
    "client-key-data": "KEY",
}
_NO_LONGER = {
    "username": "a user name and password, which Kubernetes takes no longer since 1.19",
    "password": "a user name and password, which Kubernetes takes no longer since 1.19",
    "auth-provider": "`auth-provider`, which kubectl knows no longer since 1.26: use a credential plugin (`exec`)",
}
_EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@record(kw_only=False)
class Credentials:
    """`cluster` and `user` as a kubeconfig has them, with absolute paths; `plugin` is what gives the credentials."""

    context: str
    cluster: dict[str, Any]
    user: dict[str, Any]
    plugin: Plugin | None = None

    def as_config(self) -> dict[str, Any]:
        """A kubeconfig with this context alone."""
        name = self.context or "context"
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": self.cluster}],
            "users": [{"name": name, "user": self.user}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }

    async def fresh(self, seconds: float, environ: Mapping[str, str] | None) -> Credentials:
        """With what the plugin gives now. Raises ClusterError."""
        if self.plugin is None:
            return self
        given = await self.plugin.credentials(seconds, environ)
        return Credentials(self.context, self.cluster, {**self.user, **given}, self.plugin)


@record(kw_only=False)
class Plugin:
    """A credential plugin (`exec`)."""

    api_version: str
    command: str
    arguments: tuple[str, ...]
    variables: dict[str, str]

    @property
    def shown(self) -> str:
        return f"the credential plugin `{Path(self.command).name}`"

    async def credentials(self, seconds: float, environ: Mapping[str, str] | None) -> dict[str, Any]:
        """A token, or a certificate with its key, as a kubeconfig's user has them. Raises ClusterError."""
        output, code = await self._run(seconds, environ)
        if code:
            raise ClusterError(f"{self.shown} ended with {code}: run by hand, it says why")
        try:
            status = mapping(mapping(json.loads(output)).get("status"))
        except (ValueError, RecursionError):
            raise ClusterError(f"{self.shown} printed no JSON: an ExecCredential is wanted") from None
        token = word(status.get("token"))
        certificate, key = word(status.get("clientCertificateData")), word(status.get("clientKeyData"))
        if not token and not (certificate and key):
            raise ClusterError(f"{self.shown} gave neither a token nor a certificate with its key")
        pair = {"client-certificate-data": certificate, "client-key-data": key} if certificate and key else {}
        return ({"token": token} if token else {}) | pair

    async def _run(self, seconds: float, environ: Mapping[str, str] | None) -> tuple[bytes, int]:
        body = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
        variables = {**(environ or {}), **self.variables, "KUBERNETES_EXEC_INFO": json.dumps(body)}
        try:
            process = await asyncio.create_subprocess_exec(
                self.command,
                *self.arguments,
                env=variables,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its name or an argument is none"
            raise ClusterError(f"{self.shown} can't be run: {why}") from None
        assert process.stdout is not None
        assert process.stderr is not None
        beside = asyncio.create_task(_read(process.stderr))
        try:
            async with asyncio.timeout(seconds):
                output = await _read(process.stdout)
                if len(output) >= _MOST_OUTPUT:
                    raise ClusterError(f"{self.shown} printed more than {_MOST_OUTPUT >> 20} MiB")
                await beside  # what it says may hold a secret, and is not shown
                return output, await process.wait()
        except TimeoutError:
            raise ClusterError(f"{self.shown} gave no credentials within {seconds:g} seconds, and was ended") from None
        finally:
            beside.cancel()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - pipes that a grandchild holds


async def _read(stream: asyncio.StreamReader) -> bytes:
    parts, size = [], 0
    while size < _MOST_OUTPUT and (part := await stream.read(_MOST_OUTPUT - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def credentials_of(paths: tuple[str, ...], context: str | None) -> Credentials:
    """Of kubeconfigs in the order in which they count; those that are absent are left out where there are several.

    Raises UsageError for whatever is wrong with them.
    """
    files = [Path(path).expanduser() for path in paths if path]
    there = [path for path in files if path.exists()] if len(files) > 1 else files
    if not there:
        raise UsageError(f"there is no kubeconfig: {', '.join(map(str, files)) or 'no file is named'}")
    bodies = [(path, _body(path)) for path in there]
    shown = str(there[0]) if len(there) == 1 else "the kubeconfigs"
    contexts = _named(bodies, "contexts")
    current = next((name for _, body in bodies if (name := word(body.get("current-context")))), "")
    chosen = context or current
    if not chosen:
        raise UsageError(f"{shown} has no current context: name one with --context{_known(contexts)}")
    if chosen not in contexts:
        said = "" if context else ", which it names as its current one"
        raise UsageError(f"{shown} has no context `{chosen}`{said}{_known(contexts)}")
    where = f"{shown}: the context `{chosen}`"
    cluster, cluster_file = _part(bodies, "clusters", contexts[chosen][0].get("cluster"), where)
    user, user_file = _part(bodies, "users", contexts[chosen][0].get("user"), where)
    return Credentials(
        chosen,
        _whole(cluster, cluster_file, _cluster_faults(cluster)),
        _whole(user, user_file, _user_faults(user)),
        _plugin(user.get("exec"), user_file),
    )


def _body(path: Path) -> Mapping[str, Any]:
    if path.is_dir():
        raise UsageError(f"{path} is a folder, and no kubeconfig")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path} is no kubeconfig: it is larger than {_MOST_BYTES >> 20} MiB")
        text = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no kubeconfig: it is no text in UTF-8") from None
    try:
        documents = [body for body in read_documents(text) if body is not None]
    except YamlProblem as problem:  # its words may show a line, which may be that of a token
        place = f"line {problem.position.line} is no YAML" if problem.position is not None else "it is no YAML"
        raise UsageError(f"{path} is no kubeconfig: {place}") from None
    except RecursionError:
        raise UsageError(f"{path} is no kubeconfig: it is nested too deeply") from None
    if not documents:
        raise UsageError(f"{path} is empty, and no kubeconfig")
    if len(documents) > 1 or not isinstance(documents[0], dict):
        what = "a list" if isinstance(documents[0], list) else "several documents" if len(documents) > 1 else "a text"
        raise UsageError(f"{path} is no kubeconfig: it is {what}, not a mapping with clusters, users and contexts")
    for section in _SECTIONS:
        if not isinstance(documents[0].get(section) or [], list):
            raise UsageError(f"{path} is no kubeconfig: its `{section}` is no list")
    return mapping(documents[0])


_Bodies = list[tuple[Path, "Mapping[str, Any]"]]


def _named(bodies: _Bodies, section: str) -> dict[str, tuple[Mapping[str, Any], Path]]:
    found: dict[str, tuple[Mapping[str, Any], Path]] = {}
    for path, body in bodies:
        for item in mappings(body.get(section)):
            if (name := word(item.get("name"))) and isinstance(item.get(_SECTIONS[section]), dict):
                found.setdefault(name, (item[_SECTIONS[section]], path))
    return found


def _part(bodies: _Bodies, section: str, name: Any, where: str) -> tuple[Mapping[str, Any], Path]:
    kind, there = _SECTIONS[section], _named(bodies, section)
    if not word(name):
        raise UsageError(f"{where} names no {kind}")
    if word(name) not in there:
        raise UsageError(f"{where} names the {kind} `{name}`, which is not there{_known(there)}")
    return there[word(name)]


def _known(there: Mapping[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(there)[:4])
    return f"; there is {names}" if names else ""


def _cluster_faults(cluster: Mapping[str, Any]) -> Iterator[str]:
    server = word(cluster.get("server"))
    if not server:
        yield "its cluster has no `server`"
        return
    for key, schemes in (("server", ("http", "https")), ("proxy-url", ("http", "https", "socks5"))):
        given = word(cluster.get(key))
        if given and not _is_url(given, schemes):
            yield f"the `{key}` of its cluster is no address such as https://host:6443"


def _is_url(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _user_faults(user: Mapping[str, Any]) -> Iterator[str]:
    for key, what in _NO_LONGER.items():
        if user.get(key):
            yield f"its user has {what}"
    if user.get("token") is not None and not word(user.get("token")).strip():
        yield "the `token` of its user is no text"
    elif any(letter.isspace() for letter in word(user.get("token")).strip()):
        yield "the `token` of its user has a space or a line break in it"
    has = [any(user.get(f"{key}{ending}") for ending in ("", "-data")) for key in ("client-certificate", "client-key")]
    if has[0] != has[1]:
        yield f"its user has a client {'certificate without the key' if has[0] else 'key without the certificate'}"


def _whole(part: Mapping[str, Any], file: Path, faults: Iterator[str]) -> dict[str, Any]:
    """With absolute paths, and without the plugin, which is run here."""
    for fault in faults:
        raise UsageError(f"{file}: {fault}")
    found = {key: value for key, value in part.items() if key != "exec"}
    for key, what in _FILES.items():
        if key not in part or part.get(f"{key}-data"):
            continue
        path = file.parent / Path(word(part[key])).expanduser()
        if not word(part[key]) or not path.is_file():
            raise UsageError(f"{file}: {what} is not there: {path}")
        found[key] = str(path)
    if "tokenFile" in found and not found.get("token"):
        found["token"] = Path(found["tokenFile"]).read_text("utf-8", "replace").strip()
    for key, holds in _DATA.items():
        if part.get(key) is not None and (why := _unfit(part[key], holds)):
            raise UsageError(f"{file}: `{key}` {why}")
    for key in ("certificate-authority", "certificate-authority-data"):
        if key in found:
            _check_authority(found, file, key)
    return found


def _unfit(text: Any, holds: str) -> str:
    try:
        data = base64.b64decode(word(text), validate=True)
    except (binascii.Error, ValueError):
        return "is no base64"
    return "" if f"{holds}-----".encode() in data else f"holds no {'certificate' if holds != 'KEY' else 'key'} in PEM"


def _check_authority(cluster: Mapping[str, Any], file: Path, key: str) -> None:
    try:
        text = (
            base64.b64decode(cluster[key]).decode("ascii")
            if key.endswith("-data")
            else Path(cluster[key]).read_text("ascii")
        )
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError, OSError):
        shown = f"`{key}`" if key.endswith("-data") else f"the CA file {cluster[key]}"
        raise UsageError(f"{file}: {shown} holds no certificate that can be read") from None


def _plugin(given: Any, file: Path) -> Plugin | None:
    if given is None:
        return None
    body = mapping(given)
    command, version = word(body.get("command")), word(body.get("apiVersion"))
    if not command:
        raise UsageError(f"{file}: `exec` of its user has no `command`")
    if version not in _EXEC_VERSIONS:
        raise UsageError(
            f"{file}: `exec` of its user has the apiVersion `{cut(version, 60)}`: {_EXEC_VERSIONS[0]} does"
        )
    if "/" in command:
        command = str(file.parent / Path(command).expanduser())
    variables = {word(item.get("name")): word(item.get("value")) for item in mappings(body.get("env"))}
    variables.pop("", None)
    return Plugin(version, command, words(body.get("args"), empty=True), variables)
