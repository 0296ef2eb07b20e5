"""Whatever is installed, by `make`, in CI, by a hook or as a page says, is what a lock has by its digest."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from tools.locked_packages import BadLockError, locked_packages

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((*ROOT.glob("requirements*.lock"), *ROOT.glob(".ci/requirements*.lock")))
ACTIONS = [ROOT / "action.yml", *sorted((ROOT / "action").glob("*/action.yml"))]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.is_file())
WORKFLOWS = [*sorted((ROOT / ".github/workflows").glob("*.y*ml")), *ACTIONS]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]
SCRIPTS = [ROOT / "Makefile", *sorted(path for path in (ROOT / ".ci").iterdir() if path.is_file() and not path.suffix)]
SOURCES = [
    *sorted((ROOT / "generator/poolsmith").rglob("*.py")),
    *sorted((ROOT / "tests/tools").glob("*.py")),
    *sorted((ROOT / "tests").glob("*/**/README.md")),
]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
EVERYTHING = [*WORKFLOWS, *EXAMPLES, *PAGES, *SCRIPTS, HOOKS, ROOT / ".pre-commit-config.yaml"]

_CLIENTS = r"(?:pip3?|uv|pipx|npm|npx|gem|cargo|apt|apt-get|brew|yarn|pnpm|conda|poetry)"
INSTALLS = re.compile(
    rf"(?<![\w-]){_CLIENTS}[\"']? +(?:(?:pip|tool) +)?(?:install|add|sync|i|ci)\b|\$\(PIP\)|\bgo (?:install|get|run)\b"
)
FETCHES = re.compile(
    r"\b(?:npx|uvx|bunx|pipx)\b|docker://|^\s*(?:container|image|services):|\b(?:curl|wget)\b|\bdocker (?:run|pull)\b|\|\s*(?:ba|z)?sh\b"
)
OWN_SOURCE = re.compile(
    r"--no-deps (?:--no-build-isolation(?: --no-index)?(?: --editable)? (?:\.|\./[\w-]+)|--no-index poolsmith-\*\.whl)\"?(?: +#.*)?$"
)
DISTRIBUTION = re.compile(r"apt-get install -y --no-install-recommends (?:chromium|redis-server); ")
"""The browser of the tests, and what Argo CD keeps its cache in: the distribution signs its packages, and no lock knows them."""
FROM_GO_SUM = "go install tool"
FROM_NPM_LOCK = "npm ci --ignore-scripts"


def joined(path):
    """Lines with their continuations."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        text = re.sub(r"^\| .*\|$", "", text, flags=re.MULTILINE)
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def names(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("lock", LOCKS, ids=names)
def test_a_lock_pins_everything_by_digest_and_names_no_place(lock):
    packages = locked_packages(lock)

    assert packages
    assert len({package.name for package in packages}) == len(packages)
    assert "://" not in lock.read_text("utf-8")
    assert "--index" not in lock.read_text("utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "click==8.1",
        "click>=8.1 --hash=sha256:" + "0" * 64,
        "click --hash=sha256:" + "0" * 64,
        "click==8.1 --hash=md5:" + "0" * 32,
        "click==8.1 --hash=sha256:0",
        "click @ https://example.com/click.whl --hash=sha256:" + "0" * 64,
        "--index-url https://example.com",
        "-e .",
        "-r other.txt",
    ],
)
def test_what_is_not_pinned_by_digest_is_no_lock(tmp_path, line):
    (tmp_path / "lock").write_text(f"pyyaml==6.0.3 \\\n    --hash=sha256:{'0' * 64}\n{line}\n")

    with pytest.raises(BadLockError):
        locked_packages(tmp_path / "lock")


def test_what_users_install_is_part_of_what_is_tested():
    tested = {package.name: package for package in locked_packages(ROOT / "requirements.lock")}

    for lock in ("run", "live", "dask"):
        for package in locked_packages(ROOT / f"requirements-{lock}.lock"):
            known = tested[package.name]
            assert (package.version, package.digests) == (known.version, known.digests), package.name


@pytest.mark.parametrize("extra", ["live", "dask"])
def test_the_lock_of_an_extra_has_it_beside_what_each_installation_has(extra):
    run = {package.name for package in locked_packages(ROOT / "requirements-run.lock")}
    found = {package.name for package in locked_packages(ROOT / f"requirements-{extra}.lock")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = {re.split(r"[=<>]", item)[0] for item in project["project"]["optional-dependencies"][extra]}

    assert run | asked <= found


def test_the_locks_have_what_the_project_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["cel"]]
    asked += project["dependency-groups"]["build"]
    found = {package.name for package in locked_packages(ROOT / "requirements-run.lock")}

    assert {re.split(r"[=<>]", item)[0] for item in asked} <= found
    assert project["build-system"]["requires"] == project["dependency-groups"]["build"]
    for group, lock in (("audit", "audit"), ("lock", "uv"), ("schemas", "schemas")):
        pins = {f"{one.name}=={one.version}" for one in locked_packages(ROOT / f".ci/requirements-{lock}.lock")}
        assert set(project["dependency-groups"][group]) <= pins


@pytest.mark.parametrize("path", EVERYTHING, ids=names)
def test_nothing_is_installed_but_from_a_lock(path):
    assert loose_installs(path) == []


def test_no_message_tells_anybody_to_install_otherwise():
    assert {names(path): found for path in SOURCES if (found := loose_installs(path))} == {}


def loose_installs(path):
    return [
        line.strip()
        for line in joined(path)
        if INSTALLS.search(line)
        and not (("--require-hashes" in line and re.search(r"requirements\S*\.lock", line)) or OWN_SOURCE.search(line))
        and FROM_GO_SUM not in line
        and FROM_NPM_LOCK not in line
        and not DISTRIBUTION.search(line)
    ]


@pytest.mark.parametrize("path", [*WORKFLOWS, *SCRIPTS, HOOKS], ids=names)
def test_nothing_is_fetched_by_hand(path):
    assert [line for line in joined(path) if FETCHES.search(line)] == []


def documents_of(page):
    """Fenced YAML of a page."""
    return re.findall(r"^```ya?ml[^\n]*\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def used_actions():
    for path in (*WORKFLOWS, *EXAMPLES):
        yield from ((names(path), line) for line in path.read_text("utf-8").splitlines() if "uses:" in line)
    for page in PAGES:
        for text in documents_of(page):
            yield from ((names(page), line) for line in text.splitlines() if "uses:" in line)


def is_ours(line):
    """An action of this repository: of the base's checkout, or at a commit that the user fills in."""
    return re.search(r"uses: (?:\./base(?:/[\w/-]+)?  # \S|example/poolsmith(?:/[\w/-]+)?@<full commit id>$)", line)


def test_every_action_is_pinned_by_a_whole_commit_id_and_says_which_release_that_is():
    used = list(used_actions())
    loose = [
        (where, line)
        for where, line in used
        if not re.search(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", line) and not is_ours(line)
    ]
    pins = {
        tuple(re.findall(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40})  # (v\S+)", line)[0])
        for _, line in used
        if not is_ours(line)
    }

    assert used
    assert loose == []
    assert len({name for name, *_ in pins}) == len(pins), "one version of an action everywhere"


def test_hooks_of_others_are_pinned_by_a_whole_commit_id():
    config = read_documents((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))[0]
    elsewhere = [repo for repo in config["repos"] if repo["repo"] != "local"]

    assert [repo for repo in elsewhere if not re.fullmatch(r"[0-9a-f]{40}", repo["rev"])] == []
    for page in PAGES:
        for line in re.findall(r"^\s+rev: (.+)$", page.read_text("utf-8"), re.MULTILINE):
            assert "full commit id" in line


def test_our_hooks_install_the_versions_of_the_lock():
    """pre-commit can't check digests; it can at least be kept from choosing versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    built = {package.name for package in locked_packages(ROOT / "requirements-run.lock")} - runs_with_it()
    pins = [
        f"{one.name}=={one.version}" for one in locked_packages(ROOT / "requirements-run.lock") if one.name not in built
    ]

    assert project["build-system"]["requires"] == [f"{name}=={version_of(name)}" for name in ("hatchling", "pyyaml")]
    for hook in read_documents(HOOKS.read_text("utf-8"))[0]:
        assert hook["additional_dependencies"] == pins


def runs_with_it():
    from tools.make_sbom import licences

    return {name for name, (_, purpose) in licences(ROOT / "NOTICE").items() if purpose == "run with it"}


def version_of(name):
    return next(one.version for one in locked_packages(ROOT / "requirements-run.lock") if one.name == name)


def test_what_comes_by_npm_is_checked_by_its_content_and_runs_nothing_meanwhile():
    lock = json.loads((ROOT / ".ci/node/package-lock.json").read_text("utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}

    assert "npm ci --ignore-scripts" in (ROOT / ".ci/install-tools").read_text("utf-8")
    assert "npm install" not in (ROOT / ".ci/install-tools").read_text("utf-8")
    assert [name for name, entry in packages.items() if not entry.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == [], "any mirror will do"


def test_the_real_tools_are_built_from_sums_that_nothing_switches_off():
    scripts = {
        name: (ROOT / ".ci" / name).read_text("utf-8") for name in ("go-build", "install-tools", "install-engines")
    }

    assert "GOFLAGS=-mod=readonly" in scripts["go-build"]
    assert re.search(r"^unset .*\bGONOSUMDB\b", scripts["go-build"], re.MULTILINE)
    folders = set()
    for name, script in scripts.items():
        assert not re.search(r"GONOSUM\w*=|GOSUMDB=|GOINSECURE=|GOFLAGS=\S*insecure", script)
        assert name == "go-build" or re.search(r"^\. \.ci/go-build$", script, re.MULTILINE)
        folders |= set(re.findall(r"^\s*(?:build|schemas_of) \"?([^\s\"]+)", script, re.MULTILINE))
    folders.remove(".ci/go/$name")
    folders |= {
        f".ci/go/{name}"
        for name in re.findall(
            r"[\w-]+", re.search(r"for name in (.*-controller.*); do", scripts["install-engines"])[1]
        )
    }
    assert folders == {f".ci/go/{path.name}" for path in (ROOT / ".ci/go").iterdir()} | {"tests/oracle/admission"}
    for folder in folders:
        module = (ROOT / folder / "go.mod").read_text("utf-8")
        sums = (ROOT / folder / "go.sum").read_text("utf-8")
        replaced = dict(re.findall(r"^(?:replace)?\s+(\S+) => (\S+ v\S+)$", module, re.MULTILINE))
        assert len(replaced) == module.count(" => ")
        assert all(new.startswith((f"{old} v", "k8s.io/")) for old, new in replaced.items())
        for needed, version in re.findall(r"^\s+(\S+) (v\S+)", module, re.MULTILINE):
            pinned = replaced.get(needed, f"{needed} {version}")
            assert f"{pinned} h1:" in sums or f"{pinned}/go.mod h1:" in sums
