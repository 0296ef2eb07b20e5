"""The files that manifest rules look at, and the forms of files that no delivery engine applies as they stand.

Such a form is a template, something encrypted, or another language.
"""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import yaml_diagnostic
from poolsmith.core.sources.pod_template import container_places, mapping, pod_template_of, pod_template_pointer
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Diagnostic


YAML_ENDINGS = (".yaml", ".yml")
KUSTOMIZATION_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
KUSTOMIZATION = "Kustomization"
KUSTOMIZE_GROUP, FLUX_GROUP = "kustomize.config.k8s.io", "kustomize.toolkit.fluxcd.io"
KUSTOMIZE_VERSIONS = {
    KUSTOMIZATION: "kustomize.config.k8s.io/v1beta1",
    "Component": "kustomize.config.k8s.io/v1alpha1",
}
"""What a kustomization is that does not say so. Source: kustomize api/types/kustomization.go, FixKustomization."""


FILLED_ENDINGS = tuple(f"{yaml}.{end}" for yaml in ("yaml", "yml") for end in ("j2", "jinja2", "tpl", "tftpl"))
"""Of templates, by the names that Ansible and Terraform give them."""
_OPEN = (b"{{", b"{%", b"${", b"%{", b"#{", b"#%", b"<%")


def is_yaml_by_content(path: str, content: bytes, is_of_interest: Callable[[bytes], bool] | None) -> bool:
    """Whether a file in JSON has objects of interest or values; whether a template has nothing to fill in."""
    if is_terraform(path):
        return False
    if not path.endswith(".json"):
        return not any(map(content.__contains__, _OPEN))
    has_objects = b'"apiVersion"' in content and b'"kind"' in content
    return (
        is_of_interest is not None and (has_objects or "values" in path.rpartition("/")[2]) and is_of_interest(content)
    )


LONGEST_SCRIPT = 1 << 20
HELM = "helm"
"""Without this word a script installs no chart."""
TERRAFORM = (".tf", ".tofu", ".tf.json", ".tofu.json")
"""Ends of the names that Terraform and OpenTofu read: opentofu.org/docs/language/files."""
INSTALLING = ("helm_release", "_helm_config")
"""Without one of them a file of Terraform installs no chart."""
_SCRIPT_ENDINGS = (".sh", ".bash", ".zsh", ".mk", ".just", *TERRAFORM[:2], ".tpl", ".tftpl")
_SCRIPT_NAMES = frozenset(("Makefile", "GNUmakefile", "makefile", "justfile", "Justfile", "Dockerfile"))


def is_script(path: str) -> bool:
    """Whether commands of a shell may stand in a file; in Terraform they are texts that it hands on."""
    return path.endswith(_SCRIPT_ENDINGS) or path.rpartition("/")[2] in _SCRIPT_NAMES


def is_terraform(path: str) -> bool:
    return path.endswith(TERRAFORM)


def is_no_yaml(name: str) -> bool:
    """Whether a file that a run names is read as something else."""
    return name.endswith((*TERRAFORM, ".toml", ".csv")) or (is_script(name) and not name.endswith(FILLED_ENDINGS))


def folders_above(path: str) -> Iterator[str]:
    """The folder of a file and all above it, the nearest first; not the top, which has no name."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


@record(kw_only=False, slots=False)
class CheckedDocument:
    """One YAML document of a file. `text` is the whole file's, and so is `stream`, which its documents share.

    `is_incomplete`: it has mistakes of syntax, and the lines around them are left out.
    """

    path: str
    index: int
    data: Any
    text: str
    stream: StreamPlaces | None = field(default=None, compare=False, repr=False)
    is_incomplete: bool = False

    @cached_property
    def source(self) -> SourceFile:
        return SourceFile(self.path, self.text, self.data, document=self.index, stream=self.stream)

    @cached_property
    def kind(self) -> str:
        """As kustomize has it where a kustomization says none."""
        kind = self.data.get("kind") if isinstance(self.data, dict) else None
        return kind if isinstance(kind, str) else KUSTOMIZATION if kind is None and self._is_kustomization else ""

    @cached_property
    def api_version(self) -> str:
        version = self.data.get("apiVersion") if isinstance(self.data, dict) else None
        if version is None and self._is_kustomization:
            return KUSTOMIZE_VERSIONS.get(self.kind, KUSTOMIZE_VERSIONS[KUSTOMIZATION])
        return version if isinstance(version, str) else ""

    @property
    def _is_kustomization(self) -> bool:
        return isinstance(self.data, dict) and self.path.rpartition("/")[2] in KUSTOMIZATION_NAMES

    @property
    def is_kustomization(self) -> bool:
        """Also one whose kind or version is wrong, by the name of its file: kustomize takes it, and stops."""
        group = self.api_version.partition("/")[0]
        if group == KUSTOMIZE_GROUP:
            return self.kind == KUSTOMIZATION or self._is_kustomization
        return self.kind == KUSTOMIZATION and self._is_kustomization and group != FLUX_GROUP

    @property
    def metadata(self) -> dict[str, Any]:
        metadata = self.data.get("metadata") if isinstance(self.data, dict) else None
        return metadata if isinstance(metadata, dict) else {}

    @cached_property
    def is_object(self) -> bool:
        return bool(self.kind and self.api_version)

    @cached_property
    def containers(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """Those of the pods of a workload, each with the pointer to it."""
        template = pod_template_of(mapping(self.data))
        if template is None:
            return ()
        top = f"{pod_template_pointer(self.data)}/spec"
        places = container_places(mapping(template.get("spec")))
        return tuple((f"{top}/{field}/{index}", container) for field, index, container in places)

    @property
    def name(self) -> str:
        """Kind/name, for messages."""
        name = self.metadata.get("name") or self.metadata.get("generateName")
        return f"{self.kind}/{name}" if isinstance(name, str) else self.kind


@record(kw_only=False, slots=False)
class PlacedDocument(CheckedDocument):
    """A part of a file that stands where a document can, with its places. `title` is for messages."""

    places: SourceFile | None = None
    title: str = ""

    @property
    def source(self) -> SourceFile:
        assert self.places is not None, "who makes one gives them"
        return self.places

    @property
    def name(self) -> str:
        return self.title


@record(kw_only=False, slots=False)
class CheckedTree:
    """All documents of a run; `paths` are all files, whatever they hold."""

    documents: tuple[CheckedDocument, ...]
    paths: frozenset[str]

    @cached_property
    def objects(self) -> tuple[CheckedDocument, ...]:
        return tuple(document for document in self.documents if document.is_object)

    @cached_property
    def _by_kind(self) -> dict[str, list[CheckedDocument]]:
        found: dict[str, list[CheckedDocument]] = {}
        for document in self.objects:
            found.setdefault(document.kind, []).append(document)
        return found

    def of_kind(self, kind: str) -> Sequence[CheckedDocument]:
        """In their order."""
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], list[CheckedDocument]]:
        found: dict[tuple[str, str], list[CheckedDocument]] = {}
        for document in self.objects:
            name = document.metadata.get("name")
            if isinstance(name, str):
                found.setdefault((document.kind, name), []).append(document)
        return found

    def named(self, kind: str, name: str) -> CheckedDocument | None:
        """The first object of that kind and name, in whichever group and namespace."""
        return next(iter(self.all_named(kind, name)), None)

    def all_named(self, kind: str, name: str) -> Sequence[CheckedDocument]:
        """All objects of that kind and name, in their order."""
        return self._by_name.get((kind, name), ())

    @cached_property
    def made(self) -> dict[str, Any]:
        """What rules share, by a name."""
        return {}

    @cached_property
    def kustomizations(self) -> tuple[CheckedDocument, ...]:
        return tuple(document for document in self.objects if document.is_kustomization)


def parse_documents(shown: str, content: bytes) -> tuple[list[CheckedDocument], Diagnostic | None]:
    """The documents of a file, or why it can't be read."""
    try:
        text = content.decode("utf-8")
        documents = read_documents(text)
    except UnicodeDecodeError:
        return [], diagnose(reading.NOT_UTF8, "the file is not UTF-8", whole_file(shown))
    except YamlProblem as problem:
        return [], yaml_diagnostic(shown, text, problem)
    return documents_of(shown, text, documents), None


def documents_of(shown: str, text: str, found: list[Any]) -> list[CheckedDocument]:
    """Those of a text that was read, without the empty ones."""
    stream = StreamPlaces(shown, text)
    if shown.rpartition("/")[2] in KUSTOMIZATION_NAMES:
        from poolsmith.kubernetes.repository.kustomization_fields import in_their_names  # on demand

        found = list(map(in_their_names, found))
    return [CheckedDocument(shown, index, data, text, stream) for index, data in enumerate(found) if data is not None]


@lru_cache(maxsize=16)
def has_word(text: str, word: str) -> bool:
    """Of a file with many documents asked for each of them, and looked for once."""
    return word in text


def unfolded(document: CheckedDocument) -> Iterator[tuple[str, dict[str, Any]]]:
    """The object with an empty pointer, or the items of a list, each with its own."""
    items = document.data.get("items") if document.kind.endswith("List") else None
    found = (
        [(f"/items/{at}", item) for at, item in enumerate(items)] if isinstance(items, list) else [("", document.data)]
    )
    yield from ((at, item) for at, item in found if isinstance(item, dict))


_MARKS = ("{{", "{%", "<%", "[[", "((", "${", "%{")
_CONTROL = pattern(r"\{\{-?\s*(?:if|range|with|end|else|define|template|include|block)\b|\{%|^[ \t]*%\{", re.MULTILINE)
_LINE = pattern(r"^[ \t]*(?:\{\{.*?\}\}|\{%.*?%\}|<%.*?%>|\$\{[^{}\n]*\}|%\{[^{}\n]*\})[ \t\r]*$", re.MULTILINE)
_BEGIN = pattern(r"^[ \t]*(\{\{|\{%|\{#|<%)", re.MULTILINE)
_REST = pattern(r"[ \t\r]*$", re.MULTILINE)
_ENDS = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>", "((": "))", "[[": "]]"}
_VARIABLE = pattern(r"[$%]\{[^{}\n]*+\}")
_VARIABLES = ("${", "%{")
_GIT_CRYPT = b"\0GITCRYPT\0"
_VAULT = (
    b"$ANSIBLE_VAULT;",
    b"-----BEGIN AGE ENCRYPTED FILE-----",
    b"-----BEGIN PGP MESSAGE-----",
    b"age-encryption.org/",
)
_SOPS_FIELDS = frozenset(("mac", "lastmodified", "version"))


LATER = "\u27eflater\u27ef"
"""Stands for what a template fills in."""


class Form(StrEnum):
    """Why a file is not judged. The words go into the summary, after a number of files."""

    CHART_TEMPLATE = "templates of Helm charts"
    TEMPLATE = "templates that another tool fills in"
    ENCRYPTED = "encrypted"
    JSONNET = "Jsonnet"
    CUE = "CUE"


OTHER_LANGUAGES = {".jsonnet": Form.JSONNET, ".libsonnet": Form.JSONNET, ".cue": Form.CUE}
"""By the end of a file's name."""


def form_of_bytes(content: bytes) -> Form | None:
    """ENCRYPTED, or None where the bytes are for somebody to read."""
    return Form.ENCRYPTED if content.startswith((_GIT_CRYPT, *_VAULT)) else None


def has_marks(text: str) -> bool:
    """Whether some template language may have left its marks."""
    return any(mark in text for mark in _MARKS)


def without_marks(text: str) -> str:
    """The text with LATER where a template fills something in; lines keep their numbers."""
    lines = _LINE.sub("", _without_blocks(text)).split("\n")
    return "\n".join(_without_inline(line) if has_marks(line) else line for line in lines)


def _without_blocks(text: str) -> str:
    """Without what a template language says on several lines of its own: comments, and long expressions."""
    parts: list[str] = []
    kept = 0
    while (begin := _BEGIN.search(text, kept)) is not None and (end := text.find(_ENDS[begin[1]], begin.end())) >= 0:
        end += len(_ENDS[begin[1]])
        lines = text.count("\n", begin.start(), end)
        is_block = lines > 0 and _REST.match(text, end) is not None
        parts += (text[kept : begin.start()], "\n" * lines) if is_block else (text[kept:end],)
        kept = end
    return "".join((*parts, text[kept:]))


def _without_inline(line: str) -> str:
    """Of one line. A mark without its end is looked for once: there is none behind other marks either."""
    parts: list[str] = []
    alive: tuple[str, ...] = _MARKS
    kept = at = 0
    while (match := _one_of(alive).search(line, at)) is not None:
        mark, start = match[0], match.start()
        end = _end_of(line, mark, start)
        if end < 0:
            alive = tuple(item for item in alive if item != mark or item in _VARIABLES)
            at = start + 1
            continue
        parts += (line[kept:start], LATER)
        kept = at = end
    return "".join((*parts, line[kept:]))


def _end_of(line: str, mark: str, start: int) -> int:
    """Where what begins with a mark ends; -1 where it does not."""
    if mark in _VARIABLES:
        variable = _VARIABLE.match(line, start)
        return -1 if variable is None else variable.end()
    end = line.find(_ENDS[mark], start + len(mark))
    return -1 if end < 0 else end + len(_ENDS[mark])


@lru_cache
def _one_of(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, marks)) or r"(?!)")


def has_control(text: str) -> bool:
    """Whether marks of a template decide which lines there are."""
    return _CONTROL.search(text) is not None


def without_ciphers(data: Any) -> Any:
    """The same with LATER in the place of each cipher."""
    if isinstance(data, dict):
        return {key: without_ciphers(value) for key, value in data.items() if key != "sops"}
    if isinstance(data, list):
        return list(map(without_ciphers, data))
    return LATER if isinstance(data, str) and data.startswith("ENC[") else data


def is_encrypted(data: Any) -> bool:
    """A document of SOPS: its values are ciphers, its other fields are as they will be."""
    sops = data.get("sops") if isinstance(data, dict) else None
    return isinstance(sops, dict) and not _SOPS_FIELDS.isdisjoint(sops)
