"""Same input, same bytes; what is not ours stays; what was changed is told; an error stops all writing."""

from __future__ import annotations

import shutil

import pytest

from support.circles import DEEP

pytestmark = pytest.mark.sample("edge", "manual", "prod-eu")
CLUSTER = "output/clusters/prod-eu"


@pytest.fixture
def generated(sample_project, run_cli):
    """The sample fleet with its output."""
    assert run_cli(["generate", "--root", sample_project]).code == 0
    return sample_project


@pytest.fixture
def generate(run_cli):
    def run(root, *flags, code=0):
        result = run_cli(["generate", "--root", root, "--jobs", 1, *flags])
        assert (result.code, result.err) == (code, "")
        return result.out

    return run


def identities(folder):
    return {path: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.sample
def test_the_sample_fleet_generates_cleanly_and_checks_cleanly(generated, run_cli, generate):
    generate(generated, "--check")
    result = run_cli(["check", "--root", generated])

    assert (result.code, result.err) == (0, "")
    assert "the output is what the profiles generate" in result.out


def test_when_nothing_changes_nothing_is_written(generated, generate):
    before = identities(generated)

    assert "nothing to write" in generate(generated)
    assert identities(generated) == before


def test_a_check_writes_nothing(generated, generate):
    (generated / CLUSTER / "README.md").write_text("mine")
    before = identities(generated)
    generate(generated, "--check", code=1)

    assert identities(generated) == before


def test_only_the_cluster_that_changed_is_written(generated, generate):
    before = identities(generated / "output/clusters/edge")
    edit(generated / "profiles/prod-eu/cluster.yaml", "v26.3.3", "v26.7.0")

    assert "wrote 1 of 3 clusters: prod-eu" in generate(generated)
    assert identities(generated / "output/clusters/edge") == before


def test_only_the_cluster_that_is_named_is_written(generated, generate):
    edit(generated / "profiles/prod-eu/cluster.yaml", "v26.3.3", "v26.7.0")
    edit(generated / "profiles/edge/cluster.yaml", "v26.7.0", "v26.3.3")
    before = identities(generated / "output/clusters/prod-eu")

    assert "wrote 1 of 1 clusters: edge" in generate(generated, "--cluster", "edge")
    assert identities(generated / "output/clusters/prod-eu") == before


def test_two_runs_give_the_same_bytes(generated, generate, contents):
    first = contents(generated / "output")
    shutil.rmtree(generated / "output")
    generate(generated)

    assert contents(generated / "output") == first


@pytest.mark.parametrize("seed", ["0", "1"])
def test_hash_seed_and_working_folder_change_no_byte(generated, start_cli, contents, tmp_path, seed):
    first = contents(generated / "output")
    for folder, root in ((generated, "."), ("/", generated)) if seed == "0" else ((tmp_path, "sample"),):
        shutil.rmtree(generated / "output")
        process = start_cli(["generate", "--root", root], cwd=folder, env={"PYTHONHASHSEED": seed})
        process.communicate()

        assert process.returncode == 0
        assert contents(generated / "output") == first


def test_the_order_in_which_files_were_made_changes_no_byte(synthetic_fleet, generate, contents, tmp_path):
    forwards = synthetic_fleet(5, 5, root=tmp_path / "forwards")
    backwards = synthetic_fleet(5, 5, root=tmp_path / "backwards", backwards=True)
    generate(forwards)
    generate(backwards)

    assert contents(forwards) == contents(backwards)


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
def test_the_number_of_processes_changes_no_byte(synthetic_fleet, start_cli, contents, tmp_path):
    trees, reports = [], []
    for jobs in (1, 2):
        root = synthetic_fleet(30, 2, root=tmp_path / f"jobs-{jobs}")
        process = start_cli(["generate", "--root", root, "--jobs", jobs])
        reports.append((process.communicate(), process.returncode))
        trees.append(contents(root))

    assert trees[0] == trees[1]
    assert reports[0] == reports[1]
    assert reports[0][1] == 0


def test_foreign_files_survive_untouched_and_are_told(generated, generate):
    foreign = [generated / CLUSTER / name for name in ("notes.txt", "pools/mine.yaml", "own/deep/file.txt")]
    for path in foreign:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    (generated / CLUSTER / "link").symlink_to("nowhere")
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in foreign]
    edit(generated / "profiles/prod-eu/cluster.yaml", "v26.3.3", "v26.7.0")
    out = generate(generated)

    assert [(path.stat().st_ino, path.stat().st_mtime_ns) for path in foreign] == before
    assert (generated / CLUSTER / "link").is_symlink()
    for name in ("notes.txt", "pools/mine.yaml", "own/deep/file.txt", "link"):
        assert f"{CLUSTER}/{name}: warning PSM504 foreign-file" in out
    assert "foreign-file" in generate(generated)


STRAYS = (
    "output/evil.yaml",
    "output/.gitattributes",
    "output/other/delivery/kustomization.yaml",
    "output/clusters/evil.yaml",
    "output/clusters/unknown/evil.yaml",
    "output/clusters/unknown/deep/.argocd-source.yaml",
    "output/clusters/.hidden/evil.yaml",
)


def test_files_in_no_generated_folder_are_told_and_untouched(generated, generate):
    for path in STRAYS:
        (generated / path).parent.mkdir(parents=True, exist_ok=True)
        (generated / path).write_text("mine\n")
    (generated / "output/clusters/link").symlink_to(generated)
    (generated / "output/clusters/empty").mkdir()

    for flags in ((), ("--check",)):
        out = generate(generated, *flags)
        for path in (*STRAYS, "output/clusters/link"):
            assert f"{path}: warning PSM504 foreign-file" in out
        assert "empty" not in out
    assert [(generated / path).read_text() for path in STRAYS] == ["mine\n"] * len(STRAYS)


def test_foreign_files_do_not_fail_a_check_unless_asked(generated, generate):
    (generated / CLUSTER / "notes.txt").write_text("mine")

    generate(generated, "--check")
    generate(generated, "--check", "--fail-on", "warning", code=1)


def test_a_hand_edit_is_named_at_its_line_and_overwritten(generated, generate):
    values = generated / CLUSTER / "platform/values/gpu-operator.yaml"
    wanted = values.read_text()
    values.write_text(wanted.replace("true", "false", 1))
    line = next(number for number, text in enumerate(wanted.split("\n"), 1) if "true" in text)

    assert f"{CLUSTER}/platform/values/gpu-operator.yaml:{line}:1: error PSM502 hand-edited" in generate(
        generated, "--check", code=1
    )
    assert "warning PSM502 hand-edited" in generate(generated)
    assert values.read_text() == wanted
    generate(generated, "--check")


def test_a_missing_file_is_told_and_written_again(generated, generate):
    (generated / CLUSTER / "README.md").unlink()

    assert f"{CLUSTER}/README.md: error PSM501 output-out-of-date" in generate(generated, "--check", "-v", code=1)
    generate(generated)
    assert (generated / CLUSTER / "README.md").is_file()


def test_tampering_with_output_and_lock_together_is_found(generated, generate):
    from poolsmith.core.sources.source_file import digest

    readme, lock = generated / CLUSTER / "README.md", generated / CLUSTER / "poolsmith.lock.json"
    old = digest(readme.read_bytes())
    readme.write_text("forged")
    lock.write_text(lock.read_text().replace(old, digest(b"forged")))
    out = generate(generated, "--check", "-v", code=1)

    assert f"{CLUSTER}/README.md:1:1: error PSM501" in out
    assert f"{CLUSTER}/poolsmith.lock.json:" in out


def test_a_removed_pool_disappears(generated, generate):
    (generated / "profiles/prod-eu/l40s-shared.yaml").unlink()
    assert "is no longer generated" in generate(generated, "--check", "-v", code=1)
    generate(generated)

    assert not [path for path in (generated / CLUSTER).rglob("*") if "l40s-shared" in path.name]
    generate(generated, "--check")


def test_a_removed_cluster_disappears(generated, generate):
    shutil.rmtree(generated / "profiles/manual")
    assert "output/clusters/manual: error PSM503 orphaned-output" in generate(generated, "--check", "-v", code=1)
    assert "removed 1 without a profile: manual" in generate(generated)

    assert not (generated / "output/clusters/manual").exists()
    generate(generated, "--check")


def test_a_removed_cluster_leaves_foreign_files_and_names_edits(generated, generate, contents):
    manual = generated / "output/clusters/manual"
    shutil.rmtree(generated / "profiles/manual")
    (manual / "notes.txt").write_text("mine")
    (manual / "README.md").write_text("edited")
    out = generate(generated)

    assert contents(manual) == {"notes.txt": b"mine"}
    assert "output/clusters/manual/README.md: warning PSM502 hand-edited" in out
    assert "output/clusters/manual/notes.txt: warning PSM504 foreign-file" in out
    generate(generated, "--check")


def test_orphans_stay_when_one_cluster_is_named(generated, generate):
    shutil.rmtree(generated / "profiles/manual")
    generate(generated, "--cluster", "edge")

    assert (generated / "output/clusters/manual").is_dir()


def test_a_folder_without_a_lock_is_nobodys_business(generated, generate):
    (generated / "output/clusters/mine").mkdir()
    (generated / "output/clusters/mine/file.txt").write_text("mine")

    generate(generated, "--check")
    assert (generated / "output/clusters/mine/file.txt").read_text() == "mine"


def test_an_error_in_one_cluster_stops_all_writing(generated, generate, contents):
    before = contents(generated / "output")
    edit(generated / "profiles/prod-eu/cluster.yaml", "v26.3.3", "v26.7.0")
    shutil.rmtree(generated / "profiles/manual")
    edit(generated / "profiles/edge/l4.yaml", "count: 1", "count: 0")

    assert "nothing was written" in generate(generated, code=1)
    assert contents(generated / "output") == before


def test_a_first_run_with_errors_writes_no_file(sample_project, generate, contents):
    edit(sample_project / "profiles/edge/l4.yaml", "count: 1", "count: 0")
    generate(sample_project, code=1)

    assert contents(sample_project / "output") == {}


def test_output_that_was_never_generated_is_out_of_date(sample_project, generate):
    out = generate(sample_project, "--check", "-v", code=1)

    assert "is missing" in out
    assert not (sample_project / "output").exists()


def test_a_mistake_in_the_middle_of_a_profile_is_never_a_bug(generated):
    """Every file of the sample, cut off somewhere, is refused or accepted, and never a bug."""
    from poolsmith.interface.app import compare

    for path in sorted((generated / "profiles").rglob("*.yaml")):
        text = path.read_bytes()
        folder = path.relative_to(generated / "profiles").parts[0]
        clusters = () if folder.startswith("_") else (folder,)
        for length in range(0, len(text), 149 if DEEP else 997):
            path.write_bytes(text[:length])
            assert compare(generated, clusters=clusters).outcome.checked["clusters"] == (len(clusters) or 3)
        if DEEP:
            assert compare(generated).outcome.checked["clusters"] == 3
        path.write_bytes(text)
    assert compare(generated).outcome.checked["clusters"] == 3


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_each_use_case_of_the_public_api_is_where_it_says():
    import poolsmith.interface.app
    from poolsmith.interface.app import _HOMES

    assert all(callable(getattr(poolsmith.interface.app, name)) for name in _HOMES)
