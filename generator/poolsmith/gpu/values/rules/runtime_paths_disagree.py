"""Paths of the container runtime that do not belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.platforms import owners, rule_of, sockets_of, standard
from poolsmith.gpu.values.effective_values import Environment, EnvironmentVariable, toolkit_environment, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM280")
CONFIG = ("CONTAINERD_CONFIG", "RUNTIME_CONFIG")
SOCKET = ("CONTAINERD_SOCKET",)
DROP_IN = ("RUNTIME_DROP_IN_CONFIG",)
SOURCE = ("RUNTIME_CONFIG_SOURCE",)
_FILE = "file="
_DEFAULTS = {
    CONFIG: "/etc/containerd/config.toml",
    SOCKET: "/run/containerd/containerd.sock",
    DROP_IN: "/etc/containerd/conf.d/99-nvidia.toml",
}
"""Source: NVIDIA/gpu-operator@v25.3.4, v26.7.0:controllers/object_controls.go, its Default... paths."""


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if env is None or uses_nri(document):
        return
    paths = [found for found in (env.get(*CONFIG), env.get(*SOCKET), env.get(*DROP_IN)) if found is not None]
    relative = [variable for variable in paths if not variable.value.startswith("/")]
    for variable in relative:
        yield _told(variable, f"`{variable.name}` is no absolute path of the host", "write a path that starts with `/`")
    if relative:
        return
    yield from _half_set(document, env)
    source = env.get(*SOURCE)
    if source is not None and (file := file_of(source)):
        paths.append(EnvironmentVariable(source.name, file, source.path, source.own))
    known = [(variable, owners(variable.value)) for variable in paths]
    known = [(variable, names) for variable, names in known if names]
    own = [names for variable, names in known if not _is_default(variable)]
    others = frozenset.intersection(*own) if own else frozenset()
    known = [item for item in known if not (_is_default(item[0]) and _may_stay_unset(item[0], others, document))]
    for index, (variable, names) in enumerate(known):
        other = next(((first, known_to) for first, known_to in known[:index] if not names & known_to), None)
        if other is not None:
            first, known_to = other
            yield _told(
                variable,
                f"`{variable.name}` is a path of {listed(sorted(names))}, `{first.name}` one of "
                f"{listed(sorted(known_to))}",
                "give both as one distribution has them",
            )
            return


def file_of(source: EnvironmentVariable) -> str:
    """The file that RUNTIME_CONFIG_SOURCE names, if any."""
    words = source.value.split(",")
    return next((word.removeprefix(_FILE) for word in words if word.startswith(_FILE)), "")


def _half_set(document: ValuesDocument, env: Environment) -> Iterator[Finding[ValuePlace]]:
    config, socket = env.get(*CONFIG), env.get(*SOCKET)
    release = document.release.tag
    if config is not None and not any(name in env for name in SOCKET):
        names = owners(config.value)
        if names and not names & standard():
            told = ", ".join(sorted({f"`{path}`" for name in names for path in sockets_of(name)}))
            yield _told(
                config,
                f"`{config.name}` is a path of {listed(sorted(names))}, and no variable names its socket; the toolkit "
                "then looks for containerd at /run/containerd/containerd.sock",
                f"add `CONTAINERD_SOCKET`, {told}" if told else "add `CONTAINERD_SOCKET`",
            )
    if socket is not None and not any(name in env for name in CONFIG):
        names = owners(socket.value)
        if names and not names & standard() and all(_needs(CONFIG, name, release) for name in names):
            told = ", ".join(sorted({f"`{rule.config}`" for name in names if (rule := rule_of(name, release))}))
            yield _told(
                socket,
                f"`{socket.name}` is a path of {listed(sorted(names))}, and no variable names its configuration; the "
                "toolkit then changes /etc/containerd/config.toml, which nothing reads there",
                f"add `CONTAINERD_CONFIG`, {told}",
            )


def _needs(variables: tuple[str, ...], distribution: str, release: str) -> bool:
    """Whether the sources set one of them for it in this line; what they do not say is no mistake."""
    rule = rule_of(distribution, release)
    return rule is not None and any(entry["name"] in variables for entry in rule.env)


def _is_default(variable: EnvironmentVariable) -> bool:
    """Whether the operator would set the same by itself, so that it stands there as if it did not."""
    return any(variable.name in names and variable.value == path for names, path in _DEFAULTS.items())


def _may_stay_unset(variable: EnvironmentVariable, distributions: frozenset[str], document: ValuesDocument) -> bool:
    """Whether one of the distributions that the other paths are of does without the variable."""
    names = next(names for names in _DEFAULTS if variable.name in names)
    return any(not _needs(names, distribution, document.release.tag) for distribution in distributions)


def _told(variable: EnvironmentVariable, message: str, help_text: str) -> Finding[ValuePlace]:
    shown = f" (`{shorten(variable.value)}`)" if variable.value else ""
    return Finding(place=(*variable.path, "value"), message=f"{message}{shown}", help=help_text)
