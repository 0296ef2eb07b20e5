"""What the names in Terraform files stand for: variables, locals, and the inputs of module calls, one level deep.

Source: developer.hashicorp.com/terraform/language/values/variables: `terraform.tfvars` and `*.auto.tfvars`, in the
order of their names, come before a variable's default; a module gets its inputs from the block that calls it.
"""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.hcl_file import COMPUTED, HclProblemError, without_computed
from poolsmith.core.sources.pod_template import mappings
from poolsmith.core.sources.terraform_files import read_assignments, read_hcl
from poolsmith.kubernetes.repository.manifest_files import LONGEST_SCRIPT, is_terraform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.sources.hcl_file import HclBlock
    from poolsmith.core.sources.hcl_text import Resolve
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

_MOST_CALLS = 20
_MOST_LOCALS = 4
"""Of which one stands for the next."""
_MOST_ENTRIES = 40
"""Of one file, which is read anew for each."""
_CALL = "module"
_NAMING = ("locals", '"kubernetes_namespace')
_NAMED = ("local", "kubernetes_namespace", "kubernetes_namespace_v1")
_READ_FIRST = ("terraform.tfvars", "terraform.tfvars.json")
_READ_BY_ITSELF = (".auto.tfvars", ".auto.tfvars.json")


class TerraformScopes:
    """The folders with files of Terraform among `paths`."""

    def __init__(self, paths: Iterable[str], files: RepositoryFiles) -> None:
        self._files = files
        self._paths = tuple(path for path in paths if is_terraform(path))
        self._raw: dict[str, tuple[HclBlock, ...]] = {}
        self._called: dict[str, list[tuple[str, HclBlock]]] | None = None
        self._scopes: dict[str, list[Resolve]] = {}
        self._tops: dict[str, Resolve] = {}
        self._calling: dict[str, tuple[HclBlock, ...]] = {}

    def readings(self, path: str) -> Iterator[tuple[HclBlock, ...]]:
        """The blocks of a file once for each call of its module, or once as the module at the top; those with
        `for_each` once for each entry that is known."""
        folder = posixpath.dirname(path)
        if folder not in self._scopes:
            calls = self._inputs(folder)
            self._scopes[folder] = [self._scope(folder, inputs) for inputs in calls] or [self._top(folder)]
        for scope in self._scopes[folder]:
            yield tuple(self._for_each(path, scope))

    def _for_each(self, path: str, scope: Resolve) -> Iterator[HclBlock]:
        left = _MOST_ENTRIES
        for block in self._read(path, scope):
            entries = _entries(block.data.get("for_each"))[:left]
            left -= len(entries)
            for key, value in entries:
                own = {"key": key, "value": value}
                read = self._read(path, partial(_with_entry, own, scope))
                yield next((item for item in read if (item.kind, item.labels) == (block.kind, block.labels)), block)
            if not entries:
                yield block

    def _read(self, path: str, resolve: Resolve | None = None) -> tuple[HclBlock, ...]:
        text = self._files.text(path)
        if text is None or len(text) > LONGEST_SCRIPT:
            return ()
        try:
            return read_hcl(path, text, resolve)
        except HclProblemError:
            return ()

    def _blocks(self, path: str) -> tuple[HclBlock, ...]:
        """Without what names stand for."""
        if path not in self._raw:
            self._raw[path] = self._read(path)
        return self._raw[path]

    def _scope(self, folder: str, inputs: dict[str, Any] | None) -> Resolve:
        """What the names of a folder stand for: with the inputs of a call, else as the module at the top."""
        files = [path for path in self._files.files_in(folder) if is_terraform(path)]
        given = self._assigned(folder) if inputs is None else inputs
        variables: dict[str, Any] = {}
        declaring = (path for path in files if self._has(path, "variable"))
        for block in (found for path in declaring for found in self._blocks(path)):
            if block.kind == "variable" and block.labels:
                name = block.labels[0]
                variables[name] = given.get(name, block.data.get("default", COMPUTED))

        def of_variables(kind: str, name: str) -> Any:
            if kind == "path":
                return "." if name in ("module", "root") else COMPUTED
            return variables.get(name, COMPUTED) if kind == "var" else COMPUTED

        known: dict[tuple[str, str], Any] = {}

        def of_all(kind: str, name: str) -> Any:
            return known.get((kind, name), COMPUTED) if kind in _NAMED else of_variables(kind, name)

        naming = [path for path in files if any(self._has(path, word) for word in _NAMING)]
        for _ in range(_MOST_LOCALS):  # a local may be made of others
            found = {
                path: dict(pair for block in self._read(path, of_all) for pair in _named_by(block)) for path in naming
            }
            naming = [path for path, own in found.items() if not without_computed([*own.values()])[1]]
            before, known = known, known | {key: value for own in found.values() for key, value in own.items()}
            if known == before:
                break
        return of_all

    def _assigned(self, folder: str) -> dict[str, Any]:
        """What files of variables set that Terraform reads by itself."""
        found: dict[str, Any] = {}
        names = [path for path in self._files.files_in(folder) if path.endswith(_READ_BY_ITSELF)]
        for path in (*(posixpath.join(folder, name) for name in _READ_FIRST), *names):
            text = self._files.text(path) if self._files.is_file(path) else None
            try:
                found.update(read_assignments(path, text or ""))
            except HclProblemError:
                continue
        return found

    def _inputs(self, folder: str) -> list[dict[str, Any]]:
        """What each call of the module in `folder` gives it; computed inputs are unknown."""
        if self._called is None:
            self._called = {}
            for path in self._paths:
                for block in self._blocks(path) if self._has(path, _CALL) else ():
                    source = block.data.get("source")
                    if block.kind == _CALL and isinstance(source, str) and source.startswith("."):
                        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), source))
                        self._called.setdefault(target, []).append((path, block))
        calls = self._called.get(folder or ".", ())[:_MOST_CALLS]
        return [data for path, block in calls for data in self._resolved(path, block)]

    def _resolved(self, path: str, call: HclBlock) -> list[dict[str, Any]]:
        """The inputs of a call, with what names stand for in the folder that calls."""
        if path not in self._calling:
            self._calling[path] = tuple(self._for_each(path, self._top(posixpath.dirname(path))))
        blocks = self._calling[path]
        found = [item.data for item in blocks if (item.kind, item.labels) == (call.kind, call.labels)]
        return found or [call.data]

    def _top(self, folder: str) -> Resolve:
        if folder not in self._tops:
            self._tops[folder] = self._scope(folder, None)
        return self._tops[folder]

    def _has(self, path: str, word: str) -> bool:
        return word in (self._files.text(path) or "")


def _named_by(block: HclBlock) -> Iterator[tuple[tuple[str, str], Any]]:
    """What others may take from a block by its name: locals, and the metadata of a namespace."""
    if block.kind == "locals":
        yield from ((("local", name), value) for name, value in block.data.items())
    elif block.kind == "resource" and len(block.labels) > 1 and block.labels[0] in _NAMED:
        own = {"metadata": block.data.get("metadata", COMPUTED)}
        yield (block.labels[0], block.labels[1]), [own] if "count" in block.data else own


def _entries(value: Any) -> list[tuple[Any, Any]]:
    """Of a map, or a set of texts; none where nobody knows them all."""
    if isinstance(value, dict) and COMPUTED not in value:
        return list(value.items())
    return [(item, item) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _with_entry(entry: dict[str, Any], scope: Resolve, kind: str, name: str) -> Any:
    return entry.get(name, COMPUTED) if kind == "each" else scope(kind, name)


_ADD_ONS = {
    "nvidia_gpu_operator": {"chart": "gpu-operator", "repository": "https://helm.ngc.nvidia.com/nvidia"},
    "nvidia_device_plugin": {
        "chart": "nvidia-device-plugin",
        "repository": "https://nvidia.github.io/k8s-device-plugin",
    },
}


def releases_of_add_ons(block: HclBlock) -> Iterator[tuple[str, dict[str, Any]]]:
    """Charts that a module installs by a map, each with the pointer to its entry.

    Sources: aws-ia/terraform-aws-eks-blueprints-addons: `helm_releases`, with the arguments of a helm_release and
    `chart_version`; aws-ia/terraform-aws-eks-data-addons@v1.35.0:nvidia-gpu-operator.tf, nvidia-device-plugin.tf.
    """
    if block.kind != _CALL:
        return
    for name, chart in _ADD_ONS.items():
        entry = block.data.get(f"{name}_helm_config")
        if isinstance(entry, dict) and block.data.get(f"enable_{name}", False) is not False:
            yield f"/{name}_helm_config", chart | entry
    listed = block.data.get("helm_releases")
    for key, entry in listed.items() if isinstance(listed, dict) else ():
        if isinstance(key, str) and list(mappings([entry])):
            yield f"/helm_releases/{key}", entry
