"""Files that run or decide the check can't change along with what it judges; what has nothing to do with it can."""

from __future__ import annotations

import pytest

from poolsmith.change.review.beside_output import head_tree
from poolsmith.change.review.git_attributes import hiding_lines
from poolsmith.change.review.judge_files import judge_files
from poolsmith.core.diagnostics import Severity

CHECK = """name: profiles
on: [pull_request]
permissions: {}
jobs:
  check:
    name: Profiles are sound
    steps:
      - uses: ./.github/actions/set-up
      - run: pip install --require-hashes -r tools/requirements.txt
      - run: make check
      - run: ./scripts/judge
      - run: python tools/report.py
"""
DOCS = """name: docs
on: {push: {branches: [main]}}
permissions: {contents: read, pages: write, id-token: write}
jobs:
  docs:
    steps:
      - run: mkdocs build
"""
BASE = {
    ".github/workflows/profiles.yaml": CHECK,
    ".github/workflows/docs.yaml": DOCS,
    ".github/actions/set-up/action.yml": "runs: {using: composite, steps: []}\n",
    ".github/actions/set-up/main.js": "run()\n",
    "checks/action.yml": 'runs: {using: composite, steps: [{run: python3 "$GITHUB_ACTION_PATH/poolsmith/run.py"},'
    ' {run: bash "${GITHUB_ACTION_PATH}/more.sh"}]}\n',
    "checks/poolsmith/run.py": "print()\n",
    "checks/more.sh": "true\n",
    "checks/notes.sh": "true\n",
    ".github/actions/other/action.yml": "runs: {using: composite, steps: []}\n",
    ".github/CODEOWNERS": "* @a\n",
    ".github/dependabot.yml": "version: 2\n",
    ".github/settings.yml": "branches: []\n",
    ".gitlab-ci.yml": "check: {script: [poolsmith check]}\n",
    ".pre-commit-config.yaml": "repos: [{repo: https://example.com/poolsmith.git}]\n",
    "renovate.json": "{}\n",
    "requirements.txt": "poolsmith==0.1.0\n",
    "tools/requirements.txt": "click==8\n",
    "tools/report.py": "print()\n",
    "tools/other.py": "print()\n",
    "scripts/judge": "#!/bin/sh\nscripts/inner.sh\n",
    "scripts/inner.sh": "true\n",
    "Makefile": "check:\n\tpoolsmith check\n",
    "docs/page.md": "poolsmith\n",
    "docs/build.sh": "true\n",
    "src/pyproject.toml": "[project]\n",
    "profiles/a/cluster.yaml": "kind: Cluster\n",
    "policies/rules.yaml": "kind: RuleSettings\n",
    "output/clusters/a/README.md": "text\n",
    "README.md": "poolsmith\n",
    ".gitattributes": "*.png binary\n",
}


@pytest.fixture
def repository(repository_of):
    found = repository_of(BASE)
    found.git("update-index", "--chmod=+x", "scripts/judge")
    (found.top / "scripts/judge").chmod(0o755)
    found.commit("base, again")
    found.base = found.git("rev-parse", "HEAD")
    return found


def findings(repository, *, is_accepted=False):
    with repository.revision() as base:
        return list(
            judge_files(repository.root, head_tree(repository.root, (":/.github",)), base, is_accepted=is_accepted)
        )


def told(repository):
    return {item.subject: item.severity for item in findings(repository)}


JUDGING = (
    ".github/workflows/profiles.yaml",
    ".github/actions/set-up/action.yml",
    ".github/actions/set-up/main.js",
    ".github/CODEOWNERS",
    ".github/settings.yml",
    ".gitlab-ci.yml",
    ".pre-commit-config.yaml",
    "requirements.txt",
    "tools/requirements.txt",
    "tools/report.py",
    "scripts/judge",
    "scripts/inner.sh",
    "Makefile",
    "checks/action.yml",
    "checks/poolsmith/run.py",
    "checks/more.sh",
)


def test_nothing_is_said_of_a_change_of_nothing(repository):
    assert findings(repository) == []


@pytest.mark.rows(4, "each file and each change once")
@pytest.mark.parametrize("path", JUDGING)
@pytest.mark.parametrize("how", ["edited", "committed", "gone", "renamed", "mode", "link"])
def test_what_judges_does_not_change_with_what_is_judged(repository, path, how):
    text = (repository.top / path).read_text()
    if how in ("edited", "committed"):
        repository.write({path: f"{text}# more\n"})
    elif how in ("gone", "renamed", "link"):
        repository.remove(path)
    if how == "renamed":
        repository.write({f"elsewhere/{path}": text})
    if how == "link":
        repository.link(path, "README.md")
    if how == "mode":
        mode = (repository.top / path).stat().st_mode
        (repository.top / path).chmod(mode ^ 0o111)
    if how != "edited":
        repository.commit()

    found = told(repository)

    assert found[path] is Severity.ERROR
    (item,) = [item for item in findings(repository) if item.subject == path]
    assert item.code == "PSM661"
    assert path in item.message
    assert {item.severity for item in findings(repository, is_accepted=True)} == {Severity.NOTE}


NEW = {
    "CODEOWNERS": "* @evil\n",
    "docs/CODEOWNERS": "* @evil\n",
    "codeowners": "* @evil\n",
    "OWNERS": "evil\n",
    ".mergify.yml": "pull_request_rules: []\n",
    ".github/mergify.yml": "pull_request_rules: []\n",
    ".github/rulesets/main.json": "{}\n",
    ".gitmodules": "[submodule]\n",
    ".lfsconfig": "[lfs]\n",
    ".sourceignore": "output/clusters/a/platform/kustomization.yaml\n",
    "x/.sourceignore": "a\n",
    ".github/workflows/poolsmith.yaml": "on: push\njobs: {a: {steps: [{run: poolsmith check}]}}\n",
    ".github/workflows/fake.yaml": "on: push\njobs: {check: {steps: []}}\n",
    ".github/workflows/named.yaml": "on: push\njobs: {a: {name: profiles are sound, steps: []}}\n",
    ".github/workflows/target.yaml": "on: [pull_request_target]\njobs: {a: {steps: []}}\n",
    ".github/workflows/run.yaml": "on: {workflow_run: {workflows: [a]}}\njobs: {a: {steps: []}}\n",
    ".github/workflows/rights.yaml": "on: push\npermissions: write-all\njobs: {a: {steps: []}}\n",
    ".github/workflows/statuses.yaml": "on: push\njobs: {a: {permissions: {statuses: write}, steps: []}}\n",
    ".github/workflows/contents.yaml": "on: push\njobs: {a: {permissions: {contents: write}, steps: []}}\n",
    ".github/workflows/broken.yaml": "on: [\n",
    ".github/workflows/any.yaml": "on: push\njobs: {a: {name: '${{ github.workflow }}', steps: []}}\n",
    ".github/workflows/text.yaml": "on: push\njobs: {a: {name: \"${{ 'check' }}\", steps: []}}\n",
    ".github/workflows/part.yaml": "on: push\njobs: {a: {name: 'Profiles ${{ vars.a }} sound', steps: []}}\n",
    ".github/workflows/matrix.yaml": "on: push\njobs: {a: {name: '${{ matrix.a }}',"
    " strategy: {matrix: {a: [b, check]}}, steps: []}}\n",
    ".github/workflows/include.yaml": "on: push\njobs: {a: {name: '${{ matrix.a }}',"
    " strategy: {matrix: {include: [{a: Check}]}}, steps: []}}\n",
    ".github/workflows/made.yaml": "on: push\njobs: {a: {name: '${{ matrix.a }}',"
    " strategy: {matrix: '${{ fromJSON(vars.a) }}'}, steps: []}}\n",
    ".github/workflows/halves.yaml": "on: push\njobs: {a: {name: 'ch${{ matrix.a }}${{ matrix.b }}',"
    " strategy: {matrix: {a: [e], b: [ck]}}, steps: []}}\n",
    ".gitea/workflows/a.yaml": "on: push\njobs: {check: {steps: []}}\n",
    ".pre-commit-hooks.yaml": "- {id: poolsmith-check, entry: 'true'}\n",
    "Pipfile": "poolsmith = '*'\n",
    "tools/constraints.txt": "poolsmith==0.0.1\n",
    ".github/renovate.json": '{"automerge": true}\n',
}


@pytest.mark.rows(7, "each place once")
@pytest.mark.parametrize("path", NEW)
def test_what_is_new_and_may_decide_the_check_is_an_error(repository, path):
    repository.write({path: NEW[path]})
    repository.commit()

    found = told(repository)

    assert list(found.values()) == [Severity.ERROR], found


HARMLESS = {
    "docs/page.md": "other\n",
    "README.md": "other, of poolsmith\n",
    "docs/build.sh": "mkdocs\n",
    "tools/other.py": "print(1)\n",
    "src/pyproject.toml": "[project]\nname = 'a'\n",
    "profiles/a/cluster.yaml": "kind: Other\n",
    "policies/rules.yaml": "kind: Other\n",
    "output/clusters/a/README.md": "other\n",
    "tools/.sourcefile": "x\n",
}
NOTED = {
    ".github/workflows/docs.yaml": DOCS.replace("mkdocs", "mkdocs -q"),
    ".github/workflows/links.yaml": "on: [pull_request]\npermissions: {contents: read}\njobs: {links: {steps: []}}\n",
    ".github/workflows/tests.yaml": "on: [pull_request]\njobs: {a: {name: 'tests ${{ matrix.os }}',"
    " strategy: {matrix: {os: '${{ fromJSON(vars.a) }}'}}, steps: []}}\n",
    ".github/workflows/systems.yaml": "on: [pull_request]\njobs: {a: {name: '${{ matrix.os }}',"
    " strategy: {matrix: {os: [linux, macos], include: [{os: windows}]}}, steps: []}}\n",
    ".github/workflows/versions.yaml": "on: [pull_request]\njobs: {build: {strategy: {matrix: {a: [1, 2]}}, steps: []}}\n",
    ".github/actions/other/action.yml": "runs: {using: composite, steps: [{run: 'true'}]}\n",
    ".github/dependabot.yml": "version: 2\nupdates: []\n",
    "renovate.json": '{"extends": []}\n',
    ".gitattributes": "*.png binary\n*.jpg binary\n* text=auto\n*.sh text eol=lf\n",
}


@pytest.mark.parametrize("path", HARMLESS)
def test_what_is_of_no_concern_is_not_told(repository, path):
    repository.write({path: HARMLESS[path]})
    repository.commit()

    assert told(repository) == {}


@pytest.mark.parametrize("path", NOTED)
def test_what_has_nothing_to_do_with_the_check_is_a_note(repository, path):
    repository.write({path: NOTED[path]})
    repository.commit()

    assert told(repository) == {path: Severity.NOTE}


def test_a_submodule_is_an_error_wherever_it_is_and_free_to_leave(repository):
    repository.add_entry("160000", "vendor/x")
    assert told(repository) == {"vendor/x": Severity.ERROR}

    repository.git("commit", "-q", "-m", "with a submodule")
    repository.base = repository.git("rev-parse", "HEAD")
    repository.git("rm", "-q", "--cached", "vendor/x")
    assert told(repository) == {"vendor/x": Severity.NOTE}


GUARDED = ("output", "profiles", "policies", ".github")
PATTERNS = (
    "*",
    "**",
    "*.yaml",
    "output/**",
    "/output/clusters/*",
    "**/kustomization.yaml",
    "*.[y]aml",
    '"*.yaml"',
    "out*/**",
)
PATTERNS += (
    "policies/*",
    "profiles/**/*.yaml",
    ".github/**",
    "CODEOWNERS",
    "Makefile",
    "*.json",
    "OUTPUT/**",
    "[attr]x",
)
HIDING = ("-diff", "binary", "linguist-generated", "linguist-generated=true", "gitlab-generated", "filter=lfs", "ident")
HIDING += ("working-tree-encoding=UTF-16", "eol=crlf", "export-ignore", "export-subst", "!diff", "mine", "crlf")
SHOWING = (
    "diff",
    "-linguist-generated",
    "linguist-generated=false",
    "text",
    "text=auto",
    "merge=union",
    "-filter",
    "-eol",
)
ELSEWHERE = ("*.png", "docs/**", "/tests/*.yaml", "*.PDF", "vendor/**/*", "Gemfile.lok", "src/**/*.yaml")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_attributes_that_hide_what_matters_are_found(pattern):
    for attribute in HIDING:
        assert hiding_lines(f"# text\n{pattern}  text {attribute}\n", "", GUARDED) == [f"{pattern} text {attribute}"]
        assert hiding_lines(f"a.yaml {attribute}\n", "output/clusters", GUARDED) == [f"a.yaml {attribute}"]
        assert hiding_lines(f"{pattern} {attribute}\n", "src", GUARDED) == []


@pytest.mark.parametrize("pattern", PATTERNS)
def test_attributes_that_hide_nothing_are_free(pattern):
    for attribute in SHOWING:
        assert hiding_lines(f"{pattern} {attribute}\n", "", GUARDED) == []


@pytest.mark.parametrize("pattern", ELSEWHERE)
def test_attributes_of_other_files_are_free(pattern):
    for attribute in HIDING:
        assert hiding_lines(f"{pattern} {attribute}\n", "", GUARDED) == []


@pytest.mark.parametrize(
    ("old", "new", "is_grave"),
    [
        ("", "*.yaml -diff\n", True),
        ("output/** linguist-generated\n", "output/** linguist-generated\n# text\n", False),
        ("output/** linguist-generated\n", "", False),
        ("output/** linguist-generated\npolicies/** -linguist-generated\n", "output/** linguist-generated\n", True),
        ("a.yaml -diff\nb.yaml -diff\n", "b.yaml -diff\na.yaml -diff\n", True),
        ("output/** linguist-generated\n", "output/**   linguist-generated\n*.png binary\n", False),
        ("output/** linguist-generated\n", "* linguist-generated\n", True),
    ],
)
def test_changed_attributes_are_held_against_those_of_the_base(repository_of, old, new, is_grave):
    repository = repository_of(BASE | {".gitattributes": old or "# none\n"})
    repository.write({".gitattributes": new})
    repository.commit()

    assert told(repository) == {".gitattributes": Severity.ERROR if is_grave else Severity.NOTE}


def test_a_project_below_the_top_has_its_pins_and_the_repository_its_workflows(repository_of):
    files = {f"gpu/{path}": text for path, text in BASE.items() if not path.startswith(".")}
    files[".github/workflows/profiles.yaml"] = CHECK.replace("./scripts", "gpu/scripts")
    repository = repository_of(files, "gpu/")
    repository.write({"gpu/Makefile": "check:\n\ttrue\n", ".github/workflows/profiles.yaml": "on: push\n"})
    repository.write({"gpu/requirements.txt": "x\n", "gpu/output/x.yaml": "x\n"})
    repository.commit()

    assert told(repository) == dict.fromkeys(
        (".github/workflows/profiles.yaml", "gpu/Makefile", "gpu/requirements.txt"), Severity.ERROR
    )


def test_blobs_are_named_as_the_repository_names_them(tmp_path, repository_of):
    repository = repository_of({"a": "a"})
    repository.remove(".git")
    repository.git("init", "-q", "--object-format=sha256")
    repository.write(BASE)
    repository.commit("base")
    repository.base = repository.git("rev-parse", "HEAD")

    assert told(repository) == {}
    repository.write({"Makefile": "x:\n"})
    assert told(repository) == {"Makefile": Severity.ERROR}
