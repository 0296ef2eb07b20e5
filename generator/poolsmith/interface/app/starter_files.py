"""Files that a repository starts with: CI and hooks, owners, first policies, and the first cluster with its pool.

The policies say what happens to pods without a grant, and who owns the folder. Grants are for people to write.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.change.review.git_attributes import FOLDED
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.profiles.assumed import ASSUMED
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.guard.policies.enforcement import ENFORCEMENT
from poolsmith.guard.policies.policy_files import POLICIES
from poolsmith.interface.app.schemas import KINDS
from poolsmith.project.run.surroundings import Forge

if TYPE_CHECKING:
    from poolsmith.change.takeover.node_answers import TakeoverAnswers
    from poolsmith.project.run.surroundings import Surroundings


_COMMIT = "<full commit id>"
_BLANK = compiled_later(r'[:@] ?"?<')
_OWNER_PLACES = ("CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")


@record
class StarterFile:
    """`lines` are what a file that exists already should have; `others`: paths where one may stand instead."""

    path: str
    text: str
    lines: str
    others: tuple[str, ...] = ()
    to_fill: str = ""


def repository_files(around: Surroundings, branch: str) -> tuple[StarterFile, ...]:
    """What the forge understands; without one that is known, no pipeline."""
    pipeline = {Forge.GITHUB: _github, Forge.GITLAB: _gitlab}.get(around.forge)
    return (
        _hooks(around),
        *((pipeline(around, branch),) if pipeline is not None else ()),
        _owners(around.forge),
        _attributes(around.forge),
    )


def _text(name: str) -> str:
    return Path(__file__).with_name(f"starter_{name}").read_text("utf-8")


def _hooks(around: Surroundings) -> StarterFile:
    tool = around.tool
    if tool is not None:
        lines = f"  - repo: {tool.value}\n    rev: {tool.source}\n    hooks:\n" + "".join(
            f"      - id: {hook}\n" for hook, _, _ in _HOOKS
        )
        note = "poolsmith at the commit that made this file"
    else:
        lines = "  - repo: local\n    hooks:\n" + "".join(_LOCAL.format(*hook) for hook in _HOOKS)
        note = "whatever poolsmith is on PATH; docs/ci.md of poolsmith has the hooks that install a commit of it"
    return StarterFile(path=".pre-commit-config.yaml", text=f"# pre-commit runs {note}.\nrepos:\n{lines}", lines=lines)


_HOOKS = (
    ("poolsmith-generate", "generate GPU manifests from profiles", "poolsmith generate --hook"),
    ("poolsmith-check", "check GPU profiles and generated manifests", "poolsmith check --judge index"),
)
_LOCAL = """\
      - id: {0}
        name: {1}
        entry: {2}
        language: system
        always_run: true
        pass_filenames: false
        require_serial: true
"""


def _github(around: Surroundings, branch: str) -> StarterFile:
    text = _text("github.yaml")
    repository, commit = _tool(around)
    text = text.replace("branches: [main]", f'branches: ["{branch}"]')
    text = text.replace("uses: example/poolsmith", f"uses: {repository}").replace(f"@{_COMMIT}", f"@{commit}")
    return StarterFile(path=".github/workflows/profiles.yaml", text=text, lines="", to_fill=_blanks(text))


def _tool(around: Surroundings) -> tuple[str, str]:
    """Owner and name on GitHub, and the commit; what is not known is left to be filled in."""
    tool = around.tool
    if tool is None or not tool.value.startswith("https://github.com/"):
        return "<owner>/poolsmith", _COMMIT
    return tool.value.removeprefix("https://github.com/").removesuffix("/").removesuffix(".git"), tool.source


def _gitlab(around: Surroundings, branch: str) -> StarterFile:
    del branch  # a merge request names its own
    text = _text("gitlab.yaml")
    address, commit = (around.tool.value, around.tool.source) if around.tool else ("<address of poolsmith>", _COMMIT)
    text = text.replace("https://git.example.com/poolsmith.git", address).replace(_COMMIT, commit)
    return StarterFile(path=".gitlab-ci.yml", text=text, lines=text, to_fill=_blanks(text))


def _blanks(text: str) -> str:
    """What is left to fill in, in words; empty where nothing is."""
    numbers = [str(number) for number, line in enumerate(text.splitlines(), 1) if _BLANK.search(line)]
    return f"what stands in `<` and `>`, in lines {', '.join(numbers)}" if numbers else ""


def _owners(forge: Forge) -> StarterFile:
    folder = {Forge.GITHUB: ".github/", Forge.GITLAB: ".gitlab/"}.get(forge, "")
    pipeline = "/.gitlab-ci.yml" if forge is Forge.GITLAB else "/.github/"
    rows = [
        ("*", "@<those who run the clusters>"),
        (pipeline, "@<those who answer for privileges>"),
        ("/policies/", "@<those who answer for privileges>"),
        ("/.pre-commit-config.yaml", "@<those who answer for privileges>"),
    ]
    if folder != ".github/":
        rows.append((f"/{folder}CODEOWNERS", "@<those who answer for privileges>"))
    lines = "".join(f"# {pattern:<24} {owner}\n" for pattern, owner in rows)
    return StarterFile(
        path=f"{folder}CODEOWNERS",
        text=f"{_OWNERS}{lines}",
        lines=lines,
        others=tuple(place for place in _OWNER_PLACES if place != f"{folder}CODEOWNERS"),
        to_fill="who approves what: nobody does until its lines have owners",
    )


_OWNERS = """\
# Who has to approve a change of what. The last line that matches counts. Write owners, and take the `# ` away.
"""


def _attributes(forge: Forge) -> StarterFile:
    attribute = "gitlab-generated" if forge is Forge.GITLAB else "linguist-generated"
    lines = _LINE_ENDS + "".join(f"{pattern} {attribute}\n" for pattern in FOLDED)
    return StarterFile(path=".gitattributes", text=f"{_ATTRIBUTES}{lines}", lines=lines)


_LINE_ENDS = "".join(f"{folder}/** text eol=lf\n" for folder in ("profiles", "policies", "output"))
"""Hashes of these files stand in the output: they are the same bytes on every machine."""
_ATTRIBUTES = """\
# Line ends as they are generated and hashed, on Windows too.
# Folded in reviews: what is generated and nobody applies. `poolsmith generate --check` compares it with the profiles.
# Not folded, because it is for reading: privileges.yaml, images.yaml, and all that a cluster applies.
"""


README = f"{POLICIES}/README.md"
ENFORCEMENT_FILE = f"{POLICIES}/enforcement.yaml"


def policy_texts() -> dict[str, str]:
    enforcement = _text("enforcement.txt").format(schema=KINDS[ENFORCEMENT].file)
    return {README: _text("policies.md"), ENFORCEMENT_FILE: enforcement}


def cluster_text(
    name: str, answers: TakeoverAnswers, *, engine: str, address: str | None, branch: str, more: str = ""
) -> str:
    """Of the newest release of the catalog, unless told; `more` are further lines of its delivery."""
    return _text("cluster.txt").format(
        name=name,
        kubernetes=_said(answers.kubernetes, "1.34"),
        distribution=_said(answers.distribution, "kubeadm"),
        release=emit(_release(Catalog(), answers)).rstrip(),
        engine=engine,
        address=_said(address, _ADDRESS),
        branch=branch,
        more=more,
    )


def pool_text(answers: TakeoverAnswers) -> str:
    """A pool whose driver is the one that its release brings."""
    catalog = Catalog()
    chart = catalog.chart(catalog.releases.chart_name, _release(catalog, answers))
    identity, _, version = (answers.system or "").partition(" ")
    driver = chart.default(("driver", "version")) if chart is not None else None
    return _text("pool.txt").format(
        system=_said(identity, "ubuntu"),
        version=_said(version, "24.04"),
        kernel=f"  kernel:\n    release: {_said(answers.kernel, '')}\n" if answers.kernel else "",
        runtime=_said(*_runtime(catalog, answers)),
        product=_said(answers.gpu, "NVIDIA-L40S"),
        architecture=_architecture(catalog, answers.gpu or ""),
        count=f"8{_MARK}",
        driver=f"    version: {driver}\n" if driver else "",
    )


def _said(answer: str | None, otherwise: str) -> str:
    """As YAML; what nobody said is marked."""
    return emit(" ".join(answer.split())).rstrip("\n") if answer else f"{emit(otherwise).rstrip()}{_MARK}"


def _runtime(catalog: Catalog, answers: TakeoverAnswers) -> tuple[str | None, str]:
    """A distribution that has one only says it itself."""
    entry = catalog.distributions.get(answers.distribution or "")
    known = list(entry.rules) if entry is not None else []
    return answers.runtime or (known[0] if len(known) == 1 else None), known[0] if known else CONTAINERD


def _architecture(catalog: Catalog, product: str) -> str:
    """The line that a GPU takes which is known, and not listed for the operator; else none."""
    family = None if catalog.gpus.find(product) is not None else catalog.gpus.family(product)
    if family is None or family.architecture is None:
        return ""
    return f"    architecture: {family.architecture}         # this product is not in the operator's documentation\n"


def _release(catalog: Catalog, answers: TakeoverAnswers) -> str:
    return " ".join((answers.release or list(catalog.releases.by_tag)[-1]).split())


_MARK = f"  # {ASSUMED}"
_ADDRESS = "https://git.example.com/gpu.git"
"""Where no remote tells the repository's."""
