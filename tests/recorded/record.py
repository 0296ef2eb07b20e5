"""Make the recordings of this folder anew from the recorded runs and from other projects' published files.

    PYTHONPATH=generator:tests python tests/recorded/record.py FACTS UPSTREAM

README.md says what the two folders hold. No third-party file is copied: what is kept is parsed data without comments,
descriptions, scripts and long texts, or results.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

from poolsmith.core.sources.yaml_reader import read_documents
from support.recordings import DATA, ENDING, packed

LONG_TEXT = 160
"""Characters from which a text is a script or prose, of which only the length is kept."""
PROSE = ("description", "title", "externalDocs")
TEMPLATE_LINE = re.compile(r"^\s*\{\{.*\}\}\s*$", re.MULTILINE)
FACTS_READ = {
    "releases": None,
    "gpus": ("list",),
    "kernel_module_type": ("by_architecture",),
    "mig": ("static_config_names_added_by_line",),
    "platforms": ("by_release",),
    "runtimes": ("distros",),
}
"""The blocks of the collected facts that tests compare the catalog with; None: all of a block."""


def json_files(folder: Path) -> dict[str, Any]:
    """JSON files by their paths below a folder, without the ending."""
    return {
        path.relative_to(folder).with_suffix("").as_posix(): json.loads(path.read_text("utf-8"))
        for path in folder.glob("*/*.json")
    }


def collected_facts(path: Path) -> dict[str, Any]:
    """The blocks that tests read, without sources and notes of blocks that they don't."""
    facts = yaml.safe_load(path.read_text("utf-8"))
    return {
        block: facts[block] if keys is None else {key: facts[block][key] for key in keys}
        for block, keys in FACTS_READ.items()
    }


def restated(folder: Path, *projects: str) -> dict[str, Any]:
    """The documents of the YAML files of projects by path, as data without prose."""
    return {
        path.relative_to(folder).as_posix(): documents(path)
        for project in projects
        for path in (folder / project).rglob("*.y*ml")
    }


def documents(path: Path) -> list[Any]:
    """The documents of one file. Lines that only a template engine reads are left out."""
    text = path.read_text("utf-8")
    if "operands" in path.parts:
        text = TEMPLATE_LINE.sub("", text)
    found = [document for document in read_documents(text) if document is not None]
    if path.name in ("values.yaml", "Chart.yaml"):
        return [{key: value for key, value in item.items() if key not in ("customMetrics", *PROSE)} for item in found]
    return [without_prose(item) if is_definition(item) else without_scripts(item) for item in found]


def is_definition(document: Any) -> bool:
    return isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition"


def without_prose(value: Any, *, names: bool = False) -> Any:
    """A schema without its descriptions; `names`: the keys are fields, not words of the schema."""
    if isinstance(value, list):
        return [without_prose(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_prose(item, names=not names and key == "properties")
        for key, item in value.items()
        if names or key not in PROSE or not isinstance(item, str)
    }


def without_scripts(value: Any) -> Any:
    """An object with a filler in place of each script and long text; what is data stays."""
    if isinstance(value, list):
        return [without_scripts(item) for item in value]
    if isinstance(value, dict):
        return {key: _kept(key, item) for key, item in value.items()}
    return _filler(value) if isinstance(value, str) and (len(value) > LONG_TEXT or "#!/" in value) else value


def _kept(key: str, value: Any) -> Any:
    if is_data(key, value):
        return value
    return _filler(value) if key in (*PROSE, "summary") and isinstance(value, str) else without_scripts(value)


def _filler(text: str) -> str:
    return "x" * len(text)


def is_data(key: str, value: Any) -> bool:
    """Layouts of MIG, a selector of devices, and the patch of a kustomization, which tests read as data."""
    return isinstance(value, str) and ("mig-configs:" in value or value.startswith("device.driver ") or key == "patch")


def pods(folder: Path) -> dict[str, Any]:
    """Each different pod once, with all levels and versions that it was judged by."""
    found: dict[str, Any] = {}
    for line in (folder / "index.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        (pod,) = read_documents((folder / "fixtures" / case["file"]).read_text("utf-8"))
        metadata = {key: value for key, value in pod["metadata"].items() if key != "name"}
        key = json.dumps([metadata, pod["spec"]], sort_keys=True)
        entry = found.setdefault(key, {"metadata": metadata, "spec": pod["spec"], "judged": []})
        entry["judged"].append([case["level"], case["version"], case["check"], case["expected"]])
    return {f"{number:03}": entry for number, entry in enumerate(found.values(), start=1)}


def kubernetes_schemas(folder: Path) -> dict[str, Any]:
    return {key: without_prose(schema) for key, schema in json_files(folder).items()}


def kubeconform(folder: Path) -> dict[str, Any]:
    """Each case with its flags and its outcome, and each input as text in flow style."""
    cases = json.loads((folder / "expectations.json").read_text("utf-8"))["cases"]
    kept = ("args", "exit", "summary", "stdin")
    found = {f"cases/{case['id']}": {key: case[key] for key in kept if key in case} for case in cases}
    inputs = {path.name: flow_text(path.read_text("utf-8")) for path in (folder / "fixtures").glob("*.yaml")}
    return found | {f"fixtures/{name}": text for name, text in inputs.items()}


def flow_text(text: str) -> str:
    """YAML in flow style that reads the same, with keys that stand twice and keys that are no text."""
    return "".join(f"---\n{flow(node)}\n" for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node)


def flow(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "{" + ", ".join(f"{flow(key)}: {flow(value)}" for key, value in node.value) + "}"
    if isinstance(node, yaml.SequenceNode):
        return "[" + ", ".join(map(flow, node.value)) + "]"
    assert isinstance(node, yaml.ScalarNode)
    plain = node.style is None and (
        node.tag != "tag:yaml.org,2002:str" or re.fullmatch(r"[A-Za-z][\w/.-]*", node.value)
    )
    return str(node.value) if plain else json.dumps(node.value, ensure_ascii=False)


def main(facts: str, upstream: str) -> None:
    told, files = Path(facts), Path(upstream)
    recordings = {
        "operator_runs": json_files(told / "operand-oracle"),
        "chart_renderings": json_files(told / "chart-oracle"),
        "chart_values": json_files(told / "chart-values"),
        "facts": collected_facts(told / "compat.yaml"),
        "gpu_operator": restated(files, "gpu-operator"),
        "neighbours": restated(
            files,
            *("argo-cd", "confidential-containers", "dcgm-exporter", "flux", "k8s-device-plugin"),
            "node-feature-discovery",
        ),
        "pod_security": pods(files / "pod-security-standards"),
        "kubernetes_schemas": kubernetes_schemas(files / "kubeconform-fixtures/schemas"),
        "kubeconform": kubeconform(files / "kubeconform-fixtures"),
    }
    for name, values in recordings.items():
        path = DATA / f"{name}{ENDING}"
        path.write_bytes(packed(values))
        print(f"{path.name}: {len(values)} keys, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
