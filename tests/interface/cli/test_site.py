"""A fleet as pages: the same bytes, and nothing of anybody else is touched."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

DAY = "2026-11-01"


def site(run_cli, root, folder, *more):
    return run_cli(["report", "site", folder, "--root", root, "--today", DAY, *more])


def texts(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_same_files_and_day_give_the_same_bytes_and_all_links_lead_somewhere(run_cli, sample_project, tmp_path):
    first, second = tmp_path / "a", tmp_path / "deep" / "b"
    assert site(run_cli, sample_project, first).code == 0
    assert site(run_cli, sample_project, second, "--jobs", "2").code == 0
    written = texts(first)

    assert written == texts(second)
    for path, text in written.items():
        for target in re.findall(r' href="([^"#]+\.html)', text):
            assert (first / path).parent.joinpath(target).resolve().is_file(), (path, target)
    pools = {path for path in written if "/pools/" in path}
    assert {f"clusters/{name}/index.html" for name in ("edge", "prod-eu")} <= written.keys()
    assert len(pools) == sum(path.parts[-2] != "_bases" for path in pool_profiles(sample_project))


def pool_profiles(root):
    found = (root / "profiles").glob("*/*.yaml")
    return [path for path in found if path.name != "cluster.yaml" and not path.parent.name.startswith("_")]


def test_a_page_of_a_pool_has_what_the_other_verbs_tell(run_cli, sample_project, tmp_path):
    site(run_cli, sample_project, tmp_path / "s")
    page = (tmp_path / "s/clusters/edge/pools/l4.html").read_text()
    plain = re.sub(r"<[^>]+>", "", page)

    for line in run_cli(["explain", "edge/l4", "--root", sample_project]).out.splitlines()[1:]:
        assert line.strip() in plain.replace("&#x27;", "'")
    images = json.loads(run_cli(["images", "--root", sample_project, "--cluster", "edge", "--format", "json"]).out)
    of_pool = [item["image"] for item in images["clusters"][0]["images"] if {"l4", "*"} & set(item["pools"])]
    assert of_pool
    assert all(image in plain for image in of_pool)
    ledger = json.loads(run_cli(["ledger", "--root", sample_project, "--cluster", "edge", "--format", "json"]).out)
    workloads = {line["workload"] for line in ledger["clusters"][0]["lines"] if line["pool"] in ("l4", "*")}
    assert all(workload in plain for workload in workloads)


def test_a_second_run_removes_the_pages_of_what_is_gone_and_nothing_else(run_cli, sample_project, tmp_path):
    folder = tmp_path / "s"
    site(run_cli, sample_project, folder)
    (folder / "CNAME").write_text("gpu.example.com\n")
    (folder / "clusters" / "edge" / "notes.txt").write_text("mine")
    (sample_project / "profiles/edge/l4.yaml").rename(sample_project / "profiles/edge/l5.yaml")
    profile = sample_project / "profiles/edge/l5.yaml"
    profile.write_text(profile.read_text().replace("name: l4\n", "name: l5\n"))
    assert site(run_cli, sample_project, folder).code == 0

    assert not (folder / "clusters/edge/pools/l4.html").exists()
    assert (folder / "clusters/edge/pools/l5.html").exists()
    assert (folder / "CNAME").read_text() == "gpu.example.com\n"
    assert (folder / "clusters/edge/notes.txt").exists()
    assert not list(folder.glob(".poolsmith-site-new*"))


@pytest.mark.rows(3, "each is a fleet and two of its sites")
@pytest.mark.parametrize("kind", ["strangers", "page", "link", "folder link", "list", "outside", "file"])
def test_a_folder_of_others_is_refused_and_stays_as_it_is(run_cli, sample_project, tmp_path, kind):
    folder = tmp_path / "s"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "index.html").write_text("theirs")
    if kind == "file":
        folder.write_text("x")
    else:
        folder.mkdir()
        listed = ["ends.html"]
        if kind in ("strangers", "page"):
            (folder / "index.html").write_text("theirs")
        elif kind == "link":
            listed = ["index.html"]
            (folder / "index.html").symlink_to(elsewhere / "index.html")
        elif kind == "folder link":
            listed = ["clusters/edge/index.html"]
            (folder / "clusters").symlink_to(elsewhere, target_is_directory=True)
        elif kind == "outside":
            listed = ["../elsewhere/index.html"]
        text = "{" if kind == "list" else json.dumps({"version": 1, "files": listed})
        if kind != "strangers":
            (folder / ".poolsmith-site.json").write_text(text)
    result = site(run_cli, sample_project, folder)

    assert result.code == 2
    assert "Traceback" not in result.err
    assert (elsewhere / "index.html").read_text() == "theirs"
    assert [path.name for path in elsewhere.iterdir()] == ["index.html"]


@pytest.mark.parametrize("place", ["profiles/site", "policies", "output/site", "."])
def test_no_site_is_written_into_the_project_itself(run_cli, sample_project, place):
    result = site(run_cli, sample_project, sample_project / place)

    assert result.code == 2
    assert not (sample_project / "index.html").exists()


def test_history_is_told_by_commits(run_cli, sample_project, tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=Ada <b>", "-c", "user.email=ada@example.com")
        subprocess.run(["git", *identity, *arguments], cwd=sample_project, check=True, capture_output=True)

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "-m", "base")
    cluster = sample_project / "profiles/edge/cluster.yaml"
    text = cluster.read_text()
    cluster.write_text(
        text.replace(
            "    release: v26.7.0\n", "    release: v26.7.0\n    values: {dcgmExporter: {hostNetwork: true}}\n"
        )
    )
    assert cluster.read_text() != text
    run_cli(["generate", "--root", sample_project])
    git("add", "--all")
    git("commit", "--quiet", "-m", "The <script> exporter sees the node's network")
    site(run_cli, sample_project, tmp_path / "s", "--since", "HEAD~1")
    page = (tmp_path / "s/history.html").read_text()

    assert "The &lt;script&gt; exporter sees the node" in page
    assert "host-network" in page
    assert "no grant" in page


def test_profiles_with_errors_have_a_page_that_says_so(run_cli, sample_project, tmp_path):
    (sample_project / "profiles/edge/l4.yaml").write_text("kind: NodePool\n<script>: [\n")
    assert site(run_cli, sample_project, tmp_path / "s").code == 0

    assert "nothing can be said of it" in (tmp_path / "s/clusters/edge/index.html").read_text()
    assert not (tmp_path / "s/clusters/edge/pools").exists()


def test_a_run_that_is_stopped_is_put_right_by_the_next(run_cli, sample_project, tmp_path, monkeypatch):
    """Pages that it wrote are its own, and each is whole."""
    folder = tmp_path / "s"
    site(run_cli, sample_project, folder)
    whole = texts(folder)
    for path in folder.rglob("*.html"):
        path.unlink()
    (folder / ".poolsmith-site.json").unlink()
    from poolsmith.interface.app import site_folder

    def stopped(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(site_folder, "_remove", stopped)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir()
    assert "No space left" in site(run_cli, sample_project, folder).err
    monkeypatch.undo()
    assert site(run_cli, sample_project, folder).code == 0

    assert texts(folder) == whole
