"""Record what operands read at each tag: variables, fields of configurations, names of metrics: `data/operand_inputs.json`.

    PYTHONPATH=generator:tests python tests/tools/record_operand_inputs.py REPOSITORIES [ENTRY...]

`REPOSITORIES` holds git repositories as `<owner>+<name>/repo`, bare ones too; dcgm-exporter's fields are those of the
go-dcgm that it is built with. A name is read at a tag where the code of the tag says so: variables in the flags of its
commands, fields in its structures, metrics in its table.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.importing.chart_entries import ranges
from tools.record_stack_charts import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

_VARIABLES = pattern(r"(?:EnvVars|environ\.get|[Gg]etenv|LookupEnv)(?::\s*+\[\]string\{([^}]*+)\}|\(([^)]*+)\))")
_QUOTED = pattern(r"""["']([A-Z][A-Z0-9_]*)["']""")
_FIELD = pattern(r'^\t+([A-Z]\w*)\s+[^`\n]*+(?:`json:"(\w+)[^`]*`)?', re.MULTILINE)
_BUILT_WITH = pattern(r"NVIDIA/go-dcgm v\S+-([0-9a-f]{12})")
_METRIC = pattern(r'^\s*"((?:DCGM_FI_|dcgm_)\w+)":\s', re.MULTILINE)
_OF_EXPORTER = pattern(r'"(DCGM_EXP_\w+)"')
_CONSTANT = pattern(r'(\w+)\s*=\s*"([\w-]+)"')
_FOUND = pattern(r"\b(?:Flags|Attributes|Instances)\[(\w+)\]")
_OP = pattern(r'\bMatch\w+\s+MatchOp\s*=\s*"(\w+)"')
_FLAG = pattern(r'\bName:\s*(?:"([^"\n]+)"|(\w+)\b)')
_ALIASES = pattern(r"\bAliases:\s*\[\]string\{([^}]*+)\}")
_WORD = pattern(r'"([^"\n]+)"')
_IS_FLAG = pattern(r"[a-z][a-z0-9_-]*")
_NO_CODE = tuple(f":!{name}" for name in ("tests", ".github", "ci", "scripts", "*.md", "*.yml", "*.json", "*Makefile"))
_OF_SCRIPTS = {"driver": (".", ":!vgpu-manager"), "vgpuManager": ("vgpu-manager",)}
"""By operand its part of the repository of the driver's images."""
_NUMBERS = r"(v\d+\.\d+\.\d+)"
_OF_EVERYONE = frozenset(("CUDA_VISIBLE_DEVICES", "HOSTNAME"))
"""What libraries and runtimes ask for in whatever container."""
_DCGM = ("common", "dcgmlib", "hostengine", "modules", "nvvs", "sdk")
MAIN = "HEAD"
"""Of go-dcgm: the fields of a DCGM that the next exporter has; which one that is, its tag will say."""
NEXT = "next"
_RULES = (
    ("pkg/apis/nfd/v1alpha1", "Rule"),
    ("api/nfd/v1alpha1", "Rule"),
    ("source/custom", "LegacyRule"),
    ("source/custom/api", "Rule"),
)
"""Where the code has had the fields of a rule that the worker's source `custom` reads."""
_SOURCES = ("cpu", "kernel", "local", "pci", "usb", "fake")


@record(kw_only=False)
class Input:
    repository: str
    tags: str
    read: Callable[[Repository, str], set[str]]
    beyond: tuple[tuple[str, str], ...] = ()
    """What is no release yet, with its name."""
    anywhere: bool = False
    """Whether a name counts as read wherever the code of a tag has it, once some tag's flags have it."""


def variables(*folders: str) -> Callable[[Repository, str], set[str]]:
    """Those of the flags in the code of some folders, or that it asks for by name."""

    def read(git: Repository, tag: str) -> set[str]:
        return {
            name
            for text in git.texts(tag, folders)
            for found in _VARIABLES.finditer(text)
            for name in _QUOTED.findall(found[0])
        } - _OF_EVERYONE

    return read


def flags(*folders: str) -> Callable[[Repository, str], set[str]]:
    """Those of the command lines in the code of some folders, without their dashes."""

    def read(git: Repository, tag: str) -> set[str]:
        text = "\n".join(git.texts(tag, folders))
        names = dict(_CONSTANT.findall(text))
        said = (quoted or names.get(name, "") for quoted, name in _FLAG.findall(text))
        others = (name for found in _ALIASES.findall(text) for name in _WORD.findall(found))
        return {name for name in (*said, *others) if _IS_FLAG.fullmatch(name)}

    return read


def discovery_fields(git: Repository, tag: str) -> set[str]:
    """The fields of the worker's and the master's configuration, as encoding/json names them."""
    folder = "pkg/nfd-worker" if git.texts(tag, ("pkg/nfd-worker",)) else "pkg/nfd-client/worker"
    found = {f"worker.core.{name}" for name in _structure(git, tag, folder, "coreConfig")}
    found |= {f"master.{name}" for name in _structure(git, tag, "pkg/nfd-master", "NFDConfig")}
    found |= {
        f"master.leaderElection.{name}" for name in _structure(git, tag, "pkg/nfd-master", "LeaderElectionConfig")
    }
    found |= {f"master.restrictions.{name}" for name in _structure(git, tag, "pkg/nfd-master", "Restrictions")}
    for source in _SOURCES:
        found |= {f"worker.sources.{source}.{name}" for name in _structure(git, tag, f"source/{source}", "Config")}
    for folder, name in _RULES:
        found |= {f"rule.{field}" for field in _structure(git, tag, folder, name)}
    found |= {f"feature.{name}" for name in _features(git, tag)}
    found |= {f"op.{name}" for text in git.texts(tag, ("api/nfd", "pkg/apis/nfd")) for name in _OP.findall(text)}
    cpuid = {f"worker.sources.cpu.cpuid.{name}" for name in _structure(git, tag, "source/cpu", "cpuidConfig")}
    return found | cpuid


def _features(git: Repository, tag: str) -> set[str]:
    """What the sources find on a node, as rules name it, and what one rule leaves for the next."""
    found = {"rule.matched"}
    for source in (*_SOURCES, "memory", "network", "storage", "system"):
        text = "\n".join(git.texts(tag, (f"source/{source}",)))
        names = dict(_CONSTANT.findall(text))
        found |= {f"{source}.{names[name]}" for name in _FOUND.findall(text) if name in names}
    return found


def _structure(git: Repository, tag: str, folder: str, name: str) -> set[str]:
    for text in git.texts(tag, (folder,)):
        if (match := re.search(rf"^type {name} struct {{\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)) is not None:
            return {said or field[0].lower() + field[1:] for field, said in _FIELD.findall(match[1])}
    return set()


def metrics(repositories: Path) -> Callable[[Repository, str], set[str]]:
    dcgm = Repository(repositories / "NVIDIA+go-dcgm" / "repo")

    def read(git: Repository, tag: str) -> set[str]:
        built = _BUILT_WITH.search(git.file(tag, "go.mod")) if tag != MAIN else None
        if built is None and tag != MAIN:
            return set()
        commit = built[1] if built is not None else MAIN
        names = {name for text in dcgm.texts(commit, ("pkg/dcgm",)) for name in _METRIC.findall(text)}
        own = {name for text in git.texts(tag, ("pkg", "internal")) for name in _OF_EXPORTER.findall(text)}
        return names | own

    return read


def main(place: str, *only: str) -> None:
    repositories = Path(place)
    plugin, exporter = "NVIDIA/k8s-device-plugin", "NVIDIA/dcgm-exporter"
    of_exporter = r"([34]\.\d+\.\d+-\d+\.\d+\.\d+)"
    of_plugin = r"(v0\.(?:1[4-9]|[2-9]\d)\.\d+)"
    of_daemon = r"(v0\.(?:1[5-9]|[2-9]\d)\.\d+)"
    common = ("cmd/config-manager", "cmd/mps-control-daemon", "internal/flags", "internal/k8s")
    inputs = {
        "devicePlugin": Input(plugin, of_plugin, variables("cmd/nvidia-device-plugin", *common), anywhere=True),
        "gfd": Input(plugin, of_daemon, variables("cmd/gpu-feature-discovery", *common), anywhere=True),
        "dcgmExporter": Input(exporter, of_exporter, variables("cmd", "pkg", "internal"), anywhere=True),
        "migManager": Input("NVIDIA/mig-parted", r"(v0\.(?:[5-9]|1\d)\.\d+)", variables("cmd"), anywhere=True),
        "driver.manager": Input(
            "NVIDIA/k8s-driver-manager",
            r"(v0\.(?:[6-9]|[1-9]\d)\.\d+)",
            variables("cmd/driver-manager", "cmd/nvdrain"),
            anywhere=True,
        ),
        "vgpuDeviceManager": Input("NVIDIA/vgpu-device-manager", r"(v0\.[2-9]\.\d+)", variables("cmd"), anywhere=True),
        "validator": Input(
            "NVIDIA/gpu-operator", r"(v2[4-9]\.\d+\.\d+)", variables("cmd/nvidia-validator", "validator")
        ),
        "toolkit": Input(
            "NVIDIA/nvidia-container-toolkit",
            r"(v1\.(?:1[3-9]|[2-9]\d)\.\d+)",
            variables("cmd/nvidia-ctk-installer", "tools/container"),
            anywhere=True,
        ),
        "kataManager": Input("NVIDIA/k8s-kata-manager", _NUMBERS, variables("cmd/k8s-kata-manager"), anywhere=True),
        "kataSandboxDevicePlugin": Input("NVIDIA/sandbox-device-plugin", _NUMBERS, variables("cmd", "pkg")),
        "sandboxDevicePlugin": Input("NVIDIA/kubevirt-gpu-device-plugin", _NUMBERS, variables("cmd", "pkg")),
        "vfioManager": Input("NVIDIA/k8s-driver-manager", _NUMBERS, variables("cmd/vfio-manage")),
        "mpsControlDaemon": Input(plugin, of_daemon, variables(*common), anywhere=True),
        "dcgm": Input("NVIDIA/DCGM", r"(v[34]\.\d+\.\d+)", variables(*_DCGM)),
        "ccManager": Input("NVIDIA/k8s-cc-manager", _NUMBERS, variables("."), anywhere=True),
        "draDriver": Input(
            "kubernetes-sigs/dra-driver-nvidia-gpu",
            r"(v(?:2\d|0)\.\d+\.\d+)",
            variables("cmd", "pkg/flags"),
            anywhere=True,
        ),
        "devicePlugin.flags": Input(plugin, of_plugin, flags("cmd/nvidia-device-plugin", "internal/flags")),
        "gfd.flags": Input(plugin, of_daemon, flags("cmd/gpu-feature-discovery", "internal/flags")),
        "mpsControlDaemon.flags": Input(plugin, of_daemon, flags("cmd/mps-control-daemon", "internal/flags")),
        "dcgmExporter.flags": Input(exporter, of_exporter, flags("cmd", "pkg/cmd")),
        "metrics": Input(exporter, of_exporter, metrics(repositories), beyond=((NEXT, MAIN),)),
        "discovery": Input(
            "kubernetes-sigs/node-feature-discovery", r"(v0\.(?:1[3-9]|[2-9]\d)\.\d+)", discovery_fields
        ),
    }
    table = store.DATA / "operand_inputs.json"
    entries = json.loads(table.read_text("utf-8")) if only else {}
    entries |= {name: recorded(repositories, item) for name, item in inputs.items() if not only or name in only}
    names = frozenset(name for entry in entries.values() for name in entry["read"] if _QUOTED.fullmatch(f'"{name}"'))
    entries |= {name: of_scripts(repositories, names, files) for name, files in _OF_SCRIPTS.items()}
    table.write_text(_text(entries))
    for name, entry in entries.items():
        print(f"{name}: {len(entry['tags'])} tags, {len(entry['read'])} names")


def of_scripts(repositories: Path, names: frozenset[str], files: tuple[str, ...]) -> dict[str, Any]:
    """Which variables of the other operands a container of the driver reads too: the words of its scripts."""
    git = Repository(repositories / "NVIDIA+gpu-driver-container" / "repo")
    found = sorted(git.words(MAIN, names, *files, *_NO_CODE))
    return {"source": "NVIDIA/gpu-driver-container", "tags": [MAIN], "read": dict.fromkeys(found, "all")}


def recorded(repositories: Path, item: Input) -> dict[str, Any]:
    git = Repository(repositories / item.repository.replace("/", "+") / "repo")
    by_tag = {name: item.read(git, tag) for name, tag in (*git.tags(item.tags), *item.beyond)}
    if item.anywhere:
        every = frozenset().union(*by_tag.values())
        by_tag = {name: set(git.words(tag, every)) for name, tag in git.tags(item.tags)}
    reads = any(by_tag.values())
    released = [tag for tag, names in by_tag.items() if (names or not reads) and tag != NEXT]
    tags = sorted(released, key=lambda tag: (tag.startswith("v0"), version_key(tag)))
    tags += [name for name, _ in item.beyond]
    names = sorted({name for tag in tags for name in by_tag[tag]})
    read = {name: ranges([tag for tag in tags if name in by_tag[tag]], tags) for name in names}
    return {"source": f"{item.repository} at each tag", "tags": tags, "read": read}


def _text(entries: dict[str, dict[str, object]]) -> str:
    """One line a name, so that a new tag shows in a diff."""
    parts = []
    for name, entry in entries.items():
        assert isinstance(entry["read"], dict)
        lines = ",\n".join(f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in entry["read"].items())
        head = f'"source": {json.dumps(entry["source"])},\n  "tags": {json.dumps(entry["tags"])}'
        read = f"{{\n{lines}\n  }}" if lines else "{}"
        parts.append(f' {json.dumps(name)}: {{\n  {head},\n  "read": {read}\n }}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
