"""Packs of facts: as good as what is built in, without effect on other releases, refused where they are not sound."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import NO_PACKS, active
from poolsmith.core.facts.versions import line_of
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.operands import read_operands
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.interface.app import check_project, generate
from poolsmith.interface.app.catalog_packs import pin_packs
from poolsmith.project.run.facts import facts_of, packs_of
from support.older_catalog import pack_of, package_without, put, run, with_manifest

pytestmark = pytest.mark.sample("edge", "edge-talos", "machines", "manual")
NEW = "v26.7.99"
LOCK = "poolsmith.lock.json"
NEWEST = "v26.7.0"


def renamed(tag=NEWEST, to=NEW, **how):
    """What is built in of a release, as a pack of a later one."""
    files = {}
    for path, content in pack_of(tag, **how).items():
        if path != "pack.yaml":
            files[path.replace(tag, to)] = content.replace(tag.encode(), to.encode())
    facts = json.loads(files[f"facts/{to}.json"])
    facts = {**facts, "like": tag, "release": {**facts["release"], "line": line_of(to)}}
    files[f"facts/{to}.json"] = json.dumps(facts).encode()
    return with_manifest(files, to)


def outputs(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "output").rglob("*") if path.is_file()
    }


def codes(root):
    return [(item.code, item.primary.span.path) for item in packs_of(root)[1]]


@pytest.fixture
def project(sample_project):
    shutil.copytree(Path(__file__).parents[3] / "policies", sample_project / "policies")
    return sample_project


@pytest.mark.deep("a whole run, 1.5 s; its parts have tests of their own")
@pytest.mark.parametrize("tag", ["v26.3.3", NEWEST])
def test_a_release_from_a_pack_generates_what_the_built_in_one_does(tag, project, tmp_path):
    older = package_without(tag, tmp_path / "older")
    assert f"does not know release `{tag}`" in run(older, "generate", "--root", project, "--no-cache").stdout
    put(project, pack_of(tag))
    result = run(older, "generate", "--root", project, "--no-cache")
    assert result.returncode == 0, result.stdout + result.stderr
    made = outputs(project)
    shutil.rmtree(project / "profiles/_catalog")
    generate(project)
    expected = outputs(project)
    assert made.keys() == expected.keys()
    assert [path for path in made if made[path] != expected[path] and not path.endswith(LOCK)] == []


@pytest.mark.parametrize(
    ("tag", "how"),
    [("v26.3.3", ()), (NEWEST, ("--like", "v26.3.3", "--facts", "facts.yaml"))],
)
def test_a_release_imported_from_its_own_repository_generates_the_same(tag, how, project, tmp_path, checkouts):
    source = checkouts("POOLSMITH_OPERATOR") / tag
    older = package_without(tag, tmp_path / "older")
    facts = tmp_path / "facts.yaml"
    facts.write_text(json.dumps({"release": store.read_yaml("releases.yaml")["releases"][tag]}))
    how = [str(facts) if word == "facts.yaml" else word for word in how]
    made = run(older, "catalog", "import", source, "--release", tag, "--pack", "new", "--root", project, *how)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "assumed" in made.stdout
    assert run(older, "generate", "--root", project, "--no-cache").returncode == 0
    found = outputs(project)
    shutil.rmtree(project / "profiles/_catalog")
    generate(project)
    assert [path for path, content in outputs(project).items() if found[path] != content and LOCK not in path] == []


def test_a_pack_changes_no_byte_of_clusters_on_other_releases(project):
    generate(project)
    before = outputs(project)
    put(project, renamed())
    assert codes(project) == []
    generate(project)
    assert outputs(project) == before


def test_a_cluster_on_a_release_of_a_pack_has_the_pack_in_its_lock(project):
    put(project, renamed())
    cluster = project / "profiles/edge/cluster.yaml"
    cluster.write_text(cluster.read_text().replace(NEWEST, NEW))
    assert not generate(project).outcome.skipped_for_errors
    locks = {name: json.loads((project / f"output/clusters/{name}/{LOCK}").read_text()) for name in ("edge", "manual")}
    manifest = "profiles/_catalog/taken-out/pack.yaml"
    assert locks["edge"]["inputs"][manifest].startswith("sha256:")
    assert manifest not in locks["manual"]["inputs"]
    assert locks["edge"]["catalog"] != locks["manual"]["catalog"]


def test_facts_hold_while_a_use_case_runs_and_not_longer(project):
    put(project, renamed())
    assert read_operands(NEW) is None
    with facts_of(project):
        assert read_operands(NEW) is not None
        assert value_paths().release(NEW).root.children.keys() == value_paths().release(NEWEST).root.children.keys()
        assert active().of(NEW).name == "taken-out"
        assert active().of(NEWEST) is None
    assert read_operands(NEW) is None
    assert active() == NO_PACKS
    assert NEW not in value_paths().tags


@pytest.mark.parametrize("tag", ["v24.9.3", "v25.10.2", "v26.3.4", NEW])
def test_images_and_value_paths_of_other_releases_stay(tag, project):
    old = {
        (path, other): image_default(path, other)
        for path in ("driver.version", "toolkit.version", "kataManager.version")
        for other in value_paths().tags
    }
    reads = {other: value_paths().read_paths(other) for other in value_paths().tags if other != tag}
    files = renamed("v24.9.2", tag)
    if tag in value_paths().tags:
        files = with_manifest(
            {path: text for path, text in files.items() if "values/" not in path and path != "pack.yaml"}, tag
        )
    put(project, files)
    with facts_of(project):
        assert codes(project) == []
        assert active().of(tag)
        assert image_default("driver.version", tag) == image_default("driver.version", "v24.9.2")
        assert {key: image_default(*key) for key in old if key[1] != tag} == {
            key: value for key, value in old.items() if key[1] != tag
        }
        assert {other: value_paths().read_paths(other) for other in reads} == reads


@pytest.mark.deep("two checks of the whole fleet; what a pack lacks is counted by release in tests/recorded")
@pytest.mark.sample
def test_what_a_pack_lacks_is_unknown_and_counted(project):
    put(project, renamed(drop=("operands", "nvidia_driver", "gpu_cluster")))
    generate(project)
    clean = check_project(project)
    cluster = project / "profiles/edge/cluster.yaml"
    cluster.write_text(cluster.read_text().replace(NEWEST, NEW))
    generate(project)
    outcome = check_project(project)
    assert any(item.reason == f"not known: the operands of release {NEW}" for item in outcome.skipped)
    assert [item for item in outcome.diagnostics if item.severity.name != "NOTE"] == [
        item for item in clean.diagnostics if item.severity.name != "NOTE"
    ]


def changed(files, path, content):
    return {**files, path: content if isinstance(content, bytes) else json.dumps(content).encode()}


def anew(files, path, content, *tags):
    """With a manifest that has the hash of what was changed."""
    rest = {name: text for name, text in changed(files, path, content).items() if name != "pack.yaml"}
    return with_manifest(rest, *(tags or (NEW,)))


OPERANDS = f"operands/{NEW}.json"
HOSTILE = {
    "another byte": (lambda files: changed(files, OPERANDS, files[OPERANDS] + b" "), "PSM020", "pack.yaml"),
    "a file that is not listed": (lambda files: changed(files, "more.json", {}), "PSM021", "more.json"),
    "a folder of its own": (lambda files: changed(files, "scripts/run.sh", b"#!/bin/sh"), "PSM021", "scripts"),
    "no JSON": (lambda files: anew(files, OPERANDS, b"{"), "PSM021", OPERANDS),
    "a key twice": (lambda files: anew(files, OPERANDS, b'{"a": 1, "a": 2}'), "PSM021", OPERANDS),
    "no number": (lambda files: anew(files, OPERANDS, b'{"a": NaN}'), "PSM021", OPERANDS),
    "nested": (lambda files: anew(files, OPERANDS, b'{"a":' * 9000 + b"1" + b"}" * 9000), "PSM021", OPERANDS),
    "another form": (lambda files: anew(files, OPERANDS, {"states": 3}), "PSM021", OPERANDS),
    "a list": (lambda files: anew(files, OPERANDS, b"[]"), "PSM021", OPERANDS),
    "no UTF-8": (lambda files: anew(files, OPERANDS, b'{"a": "\xff"}'), "PSM002", OPERANDS),
    "huge": (lambda files: anew(files, OPERANDS, b" " * (5 << 20)), "PSM010", OPERANDS),
    "a built-in release": (lambda files: renamed(NEWEST, NEWEST), "PSM021", "pack.yaml"),
    "an entry of a built-in release": (
        lambda files: anew(files, f"operands/{NEWEST}.json", {}, NEW),
        "PSM021",
        "pack.yaml",
    ),
    "a shared file": (lambda files: anew(files, f"platforms/{NEW}.json", {}), "PSM021", "pack.yaml"),
    "a path out": (
        lambda files: changed(files, "pack.yaml", files["pack.yaml"].replace(b"operands/", b"../")),
        "PSM105",
        "pack.yaml",
    ),
    "rules for a line that is built in": (
        lambda files: anew(
            files, f"facts/{NEW}.json", {**json.loads(files[f"facts/{NEW}.json"]), "line": {"like": "24.6"}}
        ),
        "PSM021",
        f"facts/{NEW}.json",
    ),
    "like something that is no release": (
        lambda files: anew(files, f"facts/{NEW}.json", {**json.loads(files[f"facts/{NEW}.json"]), "like": "amd64"}),
        "PSM021",
        f"facts/{NEW}.json",
    ),
    "a chart's version that is none": (
        lambda files: anew(
            files, f"facts/{NEW}.json", {**json.loads(files[f"facts/{NEW}.json"]), "chart": {"appVersion": "a b"}}
        ),
        "PSM021",
        f"facts/{NEW}.json",
    ),
    "a line that is not its own": (
        lambda files: anew(
            files, f"facts/{NEW}.json", {**json.loads(files[f"facts/{NEW}.json"]), "release": {"line": "26.3"}}
        ),
        "PSM021",
        f"facts/{NEW}.json",
    ),
}


@pytest.mark.rows(3, "kinds of damage")
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_packs_are_refused_at_their_place(case, project):
    change, code, place = HOSTILE[case]
    put(project, change(renamed()))
    with facts_of(project):
        assert active() == NO_PACKS
    assert (code, f"profiles/_catalog/taken-out/{place}") in codes(project)
    assert any(item.code == code for item in generate(project).outcome.diagnostics)


def test_what_is_not_pinned_is_not_taken(project):
    folder = put(project, renamed(), pin=False)
    assert codes(project) == [("PSM020", "profiles/_catalog/lock.yaml")]
    put(project, renamed())
    lock = project / "profiles/_catalog/lock.yaml"
    lock.write_text(re.sub("sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, lock.read_text()))
    assert {code for code, _ in codes(project)} == {"PSM020"}
    shutil.rmtree(folder)
    assert codes(project) == [("PSM020", "profiles/_catalog/lock.yaml")]


def test_links_are_refused(project):
    folder = put(project, renamed())
    target = project.parent / "elsewhere.json"
    shutil.move(folder / OPERANDS, target)
    (folder / OPERANDS).symlink_to(target)
    assert {code for code, _ in codes(project)} <= {"PSM011", "PSM021"}
    assert codes(project)
    inside = folder / "operands/other.json"
    (folder / OPERANDS).unlink()
    shutil.move(target, inside)
    (folder / OPERANDS).symlink_to("other.json")
    assert ("PSM021", "profiles/_catalog/taken-out/operands/other.json") in codes(project)


@pytest.mark.deep("a whole run, 1.3 s; its parts have tests of their own")
def test_archives_are_taken_by_hash_and_refused_beyond_their_limits(project, tmp_path, run_cli):
    def cli(*words):
        return run_cli(words)

    folder = put(tmp_path, renamed())
    archive = tmp_path / "pack.tgz"
    subprocess.run(["tar", "czf", archive, "-C", folder.parent, "taken-out"], check=True)
    wrong = cli("catalog", "add", archive, "--hash", "0" * 64, "--root", project)
    assert wrong.code == 1
    assert not (project / "profiles/_catalog").exists()
    taken = cli("catalog", "add", archive, "--root", project)
    assert taken.code == 0
    assert f"pinned    taken-out 1: {NEW}" in taken.out
    assert codes(project) == []
    assert "pack taken-out 1" in cli("catalog", "list", "--root", project).out
    shown = cli("catalog", "show", NEW, "--root", project, "--format", "json")
    assert json.loads(shown.out)["pack"]["source"] == "a test"
    bomb = tmp_path / "bomb"
    bomb.mkdir()
    with (bomb / "pack.yaml").open("wb") as stream:
        stream.truncate(100 << 20)
    subprocess.run(["tar", "czf", archive, "-C", tmp_path, "bomb"], check=True)
    assert cli("catalog", "add", archive, "--root", project).code == 1
    subprocess.run(["tar", "czPf", archive, "--transform", "s,^,../../,", "-C", folder.parent, "taken-out"], check=True)
    assert "may not leave its folder" in cli("catalog", "add", archive, "--root", project).err


def test_pinning_takes_only_what_is_sound(project, run_cli):
    def cli(*words):
        return run_cli(words)

    folder = put(project, renamed(), pin=False)
    assert cli("catalog", "pin", "--root", project).code == 0
    lock = project / "profiles/_catalog/lock.yaml"
    before = lock.read_text()
    (folder / OPERANDS).write_bytes(b"{}")
    refused = cli("catalog", "pin", "--root", project)
    assert refused.code == 1
    assert "PSM020" in refused.out
    assert lock.read_text() == before


def of_a_new_line(tag, name, like):
    """A pack of a release of a line that is not built in, whose runtimes are as in the line `like`."""
    files = {path: text for path, text in renamed(to=tag).items() if path != "pack.yaml"}
    facts = json.loads(files[f"facts/{tag}.json"])
    files[f"facts/{tag}.json"] = json.dumps({**facts, "line": {"like": like}}).encode()
    return with_manifest(files, tag, name=name)


def test_a_new_line_has_the_rules_of_the_one_that_it_is_like(project):
    put(project, of_a_new_line("v26.11.0", "taken-out", "26.7"))
    cluster = project / "profiles/edge/cluster.yaml"
    text = cluster.read_text()
    generate(project)
    before = outputs(project)
    cluster.write_text(text.replace(NEWEST, "v26.11.0"))
    assert not generate(project).outcome.skipped_for_errors
    after = outputs(project)
    assert {path.split("/")[2] for path in before if before[path] != after.get(path)} <= {"edge", LOCK}


def test_two_packs_do_not_disagree_on_a_line(project):
    for name, tag, like in (("first", "v26.11.0", "26.7"), ("second", "v26.11.1", "26.3")):
        put(project, of_a_new_line(tag, name, like), name, pin=False)
    assert [item.code for item in pin_packs(project).problems] == ["PSM021"]
    put(project, of_a_new_line("v26.11.1", "second", "26.7"), "second", pin=False)
    assert [pack.name for pack in pin_packs(project).packs] == ["first", "second"]
    assert codes(project) == []
