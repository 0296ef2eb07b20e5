"""Distributions whose containerd tells the toolkit something else than what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.container_toolkit import breaks_without_source
from poolsmith.gpu.catalog.platforms import fill_paths, owners, rule_of, standard
from poolsmith.gpu.values.effective_values import Environment, EnvironmentVariable, toolkit_environment, uses_nri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

_PAIR = """\
toolkit:
  env:
    - {name: CONTAINERD_CONFIG, value: /var/snap/microk8s/current/args/containerd-template.toml}
    - {name: CONTAINERD_SOCKET, value: /var/snap/microk8s/common/run/containerd.sock}
"""
RULE = RuleInfo(
    code="PSM282",
    name="runtime-config-source-missing",
    applies_to="values",
    what="Helm values have the paths of microk8s, k0s or k3s, but not RUNTIME_CONFIG_SOURCE or "
    "RUNTIME_DROP_IN_CONFIG, which that distribution needs from 25.10 on; or folders of GKE without "
    "`RUNTIME_CONFIG_SOURCE: file`, which it needs from Kubernetes 1.33 on. It is a warning if only users report "
    "the problem, and a note where no file says the version of Kubernetes.",
    why="The toolkit asks containerd for its configuration and writes a drop-in file of the version in the answer. "
    "If containerd starts from another file, or from one of an older version, it does not start again and the "
    "node is NotReady; or it never reads the drop-in file.",
    fix="set the variables that the distribution needs",
    bad=f"# with v25.10.1\n{_PAIR}",
    good=f"{_PAIR}    - {{name: RUNTIME_CONFIG_SOURCE, value: file=/var/snap/microk8s/current/args/containerd.toml}}\n",
    releases="from v25.10.0",
    symptom="containerd: drop-in config version 4 higher than root config version 2",
    references=(
        "NVIDIA/gpu-operator issues 1323, 1835",
        "NVIDIA/aicr issue 1688",
        "canonical/microk8s-core-addons 364",
        "NVIDIA/cloud-native-docs@52dcb7b8:gpu-operator/google-gke.rst, release-notes.rst",
    ),
)
_PATHS = ("CONTAINERD_CONFIG", "RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG", "CONTAINERD_SOCKET")
_NEEDED = ("RUNTIME_CONFIG_SOURCE", "RUNTIME_DROP_IN_CONFIG")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    env = toolkit_environment(document)
    if env is None or uses_nri(document):
        return
    evidence = _evidence(env)
    if evidence is None:
        return
    variable, distribution = evidence
    rule = rule_of(distribution, document.release.tag)
    if rule is None:
        return
    wanted = {entry["name"]: entry["value"] for entry in rule.env if entry["name"] in _NEEDED}
    missing = [name for name in wanted if name not in env]
    if not missing:
        return
    reason = breaks_without_source(distribution)
    told = [f"`{name}: {fill_paths(wanted[name], rule.by_field)}`" for name in missing]
    yield Finding(
        place=(*variable.path, "value"),
        message=f"these are paths of {distribution}, which needs {listed(missing)} with {document.release.tag}"
        + (f": {reason}" if reason else "; users report it, its own guide does not say so"),
        help=f"add {' and '.join(told)} to `toolkit.env`",
        severity=Severity.ERROR if reason else Severity.WARNING,
    )


def _evidence(env: Environment) -> tuple[EnvironmentVariable, str] | None:
    """The one distribution that all known paths are of, and the first of them; nothing for what can't be told."""
    found = [(variable, owners(variable.value)) for name in _PATHS if (variable := env.get(name)) is not None]
    found = [(variable, names) for variable, names in found if names]
    if not found:
        return None
    together = frozenset.intersection(*(names for _, names in found))
    if len(together) != 1 or together & standard():
        return None
    return found[0][0], next(iter(together))
