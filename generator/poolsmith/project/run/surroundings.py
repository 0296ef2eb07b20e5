"""What the repository of a new project says of itself, so that nobody is asked: address, branch, forge, engine.

Read are git's own settings and the repository's YAML files. A kubeconfig never is.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, UsageError
from poolsmith.core.pattern import bytes_pattern, pattern
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches
from poolsmith.core.sources.git import Git
from poolsmith.core.sources.input_tree import read_bytes, read_yaml_documents, walk
from poolsmith.fleet.profiles.cluster import REPO_URL
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.project.run.argo_destinations import argo_clusters_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.profiles.shared_destinations import ArgoCluster

_REMOTE = pattern(r"remote\.(?P<name>.+)\.url\n(?P<url>.*)", re.DOTALL)
_SCP = pattern(r"(?P<user>[A-Za-z0-9._-]+)@(?P<host>[A-Za-z0-9.-]+):(?P<path>[^/].*)")
_ADDRESS = pattern(r"(?P<scheme>https|ssh)://(?:(?P<user>[^/@]*)@)?(?P<rest>[^/@]+(?:/.*)?)")
_HOST = pattern(r"(?:[a-z]+://)?(?:[^@/]*@)?(?P<host>[^:/]+)")
_BRANCH = r"[A-Za-z0-9._/-]{1,200}"
_FLUX = bytes_pattern(rb"^apiVersion:[ ]*[\"']?[a-z]+\.toolkit\.fluxcd\.io/", re.MULTILINE)
_ARGO_CD = bytes_pattern(rb"^apiVersion:[ ]*[\"']?argoproj\.io/", re.MULTILINE)
_ARGO_CD_KIND = bytes_pattern(rb"^kind:[ ]*[\"']?(?:Application|ApplicationSet|AppProject)[\"']?[ ]*\r?$", re.MULTILINE)
_MOST_FILES = 5_000
_MOST_BYTES = 1 << 18
_OURS = frozenset((PROFILES, "output", "policies"))


class Forge(StrEnum):
    """Who shows pull requests, by an address or a folder; OTHER is one that poolsmith has no file for."""

    GITHUB = "github"
    GITLAB = "gitlab"
    OTHER = "other"


@record
class Detected:
    """A value, and in words where it stands."""

    value: str
    source: str


@record
class FluxSource:
    """A GitRepository of the repository that holds the profiles, and the file that it stands in."""

    name: str
    namespace: str
    file: str


@record
class Surroundings:
    """`prefix`: the folder in its repository, with a final `/`; empty at the top. None: git has no such thing.
    `argo_clusters` are those of the profiles that stand there already; `source` is what Flux has of this repository.
    """

    is_repository: bool = False
    prefix: str = ""
    address: Detected | None = None
    branch: Detected | None = None
    forge: Forge = Forge.GITHUB
    engine: Detected | None = None
    tool: Detected | None = None
    argo_clusters: tuple[ArgoCluster, ...] = ()
    source: FluxSource | None = None


def look_around(root: Path) -> Surroundings:
    """Of a folder that may not exist yet. What can't be read is not known; nothing is raised."""
    git = Git(root, "init")
    prefix = _asked(git, "rev-parse", "--show-prefix") if root.is_dir() else None
    address = _address(git) if prefix is not None else None
    return Surroundings(
        is_repository=prefix is not None,
        prefix=prefix or "",
        address=address,
        branch=_branch(git) if prefix is not None else None,
        forge=_forge(root, address),
        engine=_engine(root),
        source=_flux_source(root, address),
        tool=_tool(),
        argo_clusters=argo_clusters_of(root),
    )


def _asked(git: Git, *question: str) -> str | None:
    """The answer; None without git, outside of a repository, or where it has none."""
    try:
        answer = git.run(*question, may_fail=True)
    except UsageError:
        return None
    return answer.stdout.decode("utf-8", "replace").rstrip("\n") if answer.returncode == 0 else None


def _address(git: Git) -> Detected | None:
    """Of the remote `origin`, of `upstream`, or of the only one; without what may be a secret."""
    listing = _asked(git, "config", "--null", "--get-regexp", r"^remote\..*\.url$") or ""
    remotes: dict[str, str] = {}
    for entry in listing.split("\0"):
        if (found := _REMOTE.fullmatch(entry)) is not None:
            remotes.setdefault(found["name"], found["url"])
    usual = [name for name in ("origin", "upstream") if name in remotes]
    name = usual[0] if usual else next(iter(remotes)) if len(remotes) == 1 else None
    url = plain_address(remotes[name]) if name is not None else None
    return Detected(value=url, source=f"the remote `{name}`") if url is not None else None


def plain_address(url: str) -> str | None:
    """As a delivery engine takes it: no password, no user but SSH's. None of what is no address, such as a path."""
    if (scp := _SCP.fullmatch(url)) is not None:
        found = url if scp["user"] == "git" else f"ssh://{scp['user']}@{scp['host']}/{scp['path']}"
    elif (address := _ADDRESS.fullmatch(url)) is not None:
        user = (address["user"] or "").partition(":")[0]
        is_kept = user and address["scheme"] == "ssh"
        found = f"{address['scheme']}://{f'{user}@' if is_kept else ''}{address['rest']}"
    else:
        return None
    return found if matches(REPO_URL, found) else None


def _branch(git: Git) -> Detected | None:
    """What a remote calls its default; else `main` or `master`, if there is just one; else the branch at hand."""
    heads = _asked(git, "for-each-ref", "--format=%(symref)", "refs/remotes/*/HEAD") or ""
    for line in sorted(heads.splitlines(), key=lambda name: not name.startswith("refs/remotes/origin/")):
        name = line.removeprefix("refs/remotes/").partition("/")[2]
        if matches(_BRANCH, name):
            return Detected(value=name, source="the remote's default branch")
    listing = _asked(git, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes") or ""
    last = {line.rpartition("/")[2] for line in listing.splitlines() if line.count("/") in (2, 3)}
    usual = last & {"main", "master"}
    if len(usual) == 1:
        return Detected(value=next(iter(usual)), source="the repository's branches")
    name = (_asked(git, "symbolic-ref", "--quiet", "HEAD") or "").removeprefix("refs/heads/")
    return Detected(value=name, source="the branch that is checked out") if matches(_BRANCH, name) else None


def _forge(root: Path, address: Detected | None) -> Forge:
    if address is not None and (found := _HOST.match(address.value)) is not None:
        labels = found["host"].lower().split(".")
        for forge in (Forge.GITHUB, Forge.GITLAB):
            if any(label.startswith(forge.value) for label in labels):
                return forge
    if (root / ".gitlab-ci.yml").exists():
        return Forge.GITLAB
    return Forge.GITHUB if address is None or (root / ".github/workflows").is_dir() else Forge.OTHER


def _yaml_files(root: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of the repository's own YAML files, a bounded number of bounded size."""
    left = _MOST_FILES
    for folder, files in walk(str(root), lambda name: name.startswith(".") or name in _OURS):
        for name in files:
            if not name.endswith((".yaml", ".yml")):
                continue
            left -= 1
            if left < 0:
                return
            path = Path(folder, name)
            content = read_bytes(path, name, _MOST_BYTES) if not path.is_symlink() else b""
            if not isinstance(content, Diagnostic):
                yield path.relative_to(root).as_posix(), content


def _engine(root: Path) -> Detected | None:
    """Whose objects the repository has; None where it has neither, or both."""
    seen: dict[str, str] = {}
    for shown, content in _yaml_files(root):
        if _FLUX.search(content):
            seen.setdefault("flux", shown)
        if _ARGO_CD.search(content) and _ARGO_CD_KIND.search(content):
            seen.setdefault("argocd", shown)
        if len(seen) > 1:
            return None
    if len(seen) != 1:
        return None
    engine, where = seen.popitem()
    return Detected(value=engine, source=f"objects of {where}")


_GIT_REPOSITORY = b"GitRepository"
_SCHEME_AND_USER = pattern(r"^[a-z+]+://(?:[^/@]*@)?|^[^/@]+@")


def same_repository(one: str, other: str) -> bool:
    """Whether two addresses are one repository, by https, ssh or as git writes it."""
    return _bare_address(one) == _bare_address(other)


def _bare_address(address: str) -> str:
    host, _, path = _SCHEME_AND_USER.sub("", address).replace(":", "/", 1).partition("/")
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"


def https_address(address: str) -> str | None:
    """The same repository by https, without a port of SSH; None of what is no such address."""
    host, _, path = _bare_address(address).partition("/")
    port, _, below = path.partition("/")
    found = f"https://{host}/{below if port.isdecimal() else path}"
    return found if host and path and matches(REPO_URL, found) else None


def _flux_source(root: Path, address: Detected | None) -> FluxSource | None:
    """The GitRepository whose address is this repository's, else the only one that there is, as `flux bootstrap`
    writes it."""
    found: list[tuple[str, FluxSource]] = []
    for shown, content in _yaml_files(root):
        if _GIT_REPOSITORY in content:
            found += _git_repositories(shown, content)
    if address is not None:
        own = [source for url, source in found if same_repository(url, address.value)]
        return own[0] if own else None
    return found[0][1] if len(found) == 1 else None


def _git_repositories(shown: str, content: bytes) -> Iterator[tuple[str, FluxSource]]:
    documents = read_yaml_documents(content.decode("utf-8", "replace"), shown)
    for body in documents if isinstance(documents, list) else ():
        if not isinstance(body, dict) or body.get("kind") != _GIT_REPOSITORY.decode():
            continue
        metadata, spec = body.get("metadata"), body.get("spec")
        if isinstance(metadata, dict) and isinstance(spec, dict):
            name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace", FLUX_NAMESPACE))
            if matches(DNS_LABEL, name) and matches(DNS_LABEL, namespace):
                yield str(spec.get("url", "")), FluxSource(name=name, namespace=namespace, file=shown)


FLUX_NAMESPACE = "flux-system"


def _tool() -> Detected | None:
    """Address and commit that poolsmith was installed from, where pip has written that down (PEP 610)."""
    from importlib import metadata  # on demand: only this verb wants it

    try:
        text = metadata.distribution("poolsmith").read_text("direct_url.json")
        said = json.loads(text) if text else None
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return None
    return installed_from(said) if isinstance(said, dict) else None


def installed_from(said: Mapping[str, object]) -> Detected | None:
    """Of a direct_url.json: the address, and behind `source` the full commit id."""
    version, url = said.get("vcs_info"), said.get("url")
    if not isinstance(version, dict) or version.get("vcs") != "git" or not isinstance(url, str):
        return None
    commit, address = version.get("commit_id"), plain_address(url)
    if address is None or not isinstance(commit, str) or re.fullmatch(r"[0-9a-f]{40}", commit) is None:
        return None
    return Detected(value=address, source=commit)
