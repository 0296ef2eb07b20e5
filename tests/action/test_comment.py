"""The comment of a pull request, by the step as the runner starts it, on an API that stands here."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.fake_github import BOT, REPOSITORY, fake_github

ROOT = Path(__file__).resolve().parents[2]
MARKER = "<!-- poolsmith comment: poolsmith -->"
HEAD = "a" * 40
SOMEBODY = "mallory"


@pytest.fixture
def github():
    with fake_github() as (state, address):
        state.address = address
        state.pulls.append(pull(7))
        yield state


def pull(number, *, head=HEAD, branch="change", fork="mallory/fleet", base=REPOSITORY):
    return {
        "number": number,
        "head": {"sha": head, "ref": branch, "repo": {"full_name": fork}},
        "base": {"repo": {"full_name": base}},
    }


def step(script, github, tmp_path, event, **environment):
    told, output = tmp_path / "event.json", tmp_path / "output"
    told.write_text(json.dumps(event))
    output.write_text("")
    known = {
        "PATH": os.environ["PATH"],
        "GITHUB_EVENT_PATH": str(told),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_API_URL": github.address,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": "99",
        "TOKEN": "t",
        "COMMENT_NAME": "poolsmith",
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "action" / script)],
        env={**known, **environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    done.said = dict(line.split("=", 1) for line in output.read_text().splitlines()).get("comment")
    return done


@pytest.fixture
def say(github, tmp_path):
    def run(text, *, event=None, **environment):
        file = tmp_path / "comment.md"
        file.write_text(text)
        event = {"pull_request": pull(7)} if event is None else event
        return step("comment.py", github, tmp_path, event, COMMENT_FILE=str(file), **environment)

    return run


def bodies(github):
    return [item["body"] for item in github.comments]


def test_it_is_made_changed_in_place_left_alone_and_taken_away(github, say):
    github.add("a word of mine", SOMEBODY)

    assert say("one\n").said == "created"
    assert bodies(github) == ["a word of mine", f"{MARKER}\none\n"]
    assert say("two\n").said == "updated"
    assert say("two\n").said == "unchanged"
    assert bodies(github) == ["a word of mine", f"{MARKER}\ntwo\n"]
    assert say("").said == "deleted"
    assert say(" \n").said == "nothing to say"
    assert bodies(github) == ["a word of mine"]


@pytest.mark.parametrize("login", [SOMEBODY, "github-actions", "other[bot]", None])
def test_what_somebody_else_wrote_is_not_taken_for_ours(github, say, login):
    github.add(f"{MARKER}\nAll is well, merge it.", login)

    assert say("one\n").said == "created"
    assert say("").said == "deleted"
    assert bodies(github) == [f"{MARKER}\nAll is well, merge it."]


def test_the_marker_counts_at_the_beginning_only(github, say):
    github.add(f"> {MARKER}\nquoted by another job", BOT)

    assert say("one\n").said == "created"


def test_the_token_of_an_app_finds_the_comments_of_that_app(github, say):
    github.viewer = "fleet-bot[bot]"
    github.add(f"{MARKER}\nby the default token", BOT)

    assert say("one\n").said == "created"
    assert say("two\n").said == "updated"
    assert len(github.comments) == 2


def test_a_token_that_may_not_say_who_it_is_is_that_of_workflows(github, say):
    github.viewer = ""

    assert [say("one\n").said, say("two\n").said] == ["created", "updated"]


def test_comments_beyond_the_first_page_are_found_and_doubles_taken_away(github, say):
    for _ in range(150):
        github.add("word", SOMEBODY)
    github.add(f"{MARKER}\nold")
    github.add(f"{MARKER}\nold, too, by two runs at once")

    assert say("one\n").said == "updated"
    assert [body for body in bodies(github) if MARKER in body] == [f"{MARKER}\none\n"]


def test_two_projects_have_two_comments(github, say):
    say("one\n", COMMENT_NAME="fleet-a")
    say("two\n", COMMENT_NAME="fleet-b")

    assert len(github.comments) == 2
    assert say("", COMMENT_NAME="fleet-a").said == "deleted"
    assert "two" in bodies(github)[0]


@pytest.mark.parametrize("name", ["", "a --> b", "a--b", "x" * 65, "a\nb", "<b>"])
def test_a_name_that_could_end_the_marker_is_refused(github, say, name):
    done = say("one\n", COMMENT_NAME=name)

    assert done.returncode == 2
    assert "::error" in done.stdout
    assert not github.comments


def test_a_text_that_is_too_long_is_cut_at_a_line_and_closed(github, say):
    row = "| `" + "x" * 100 + "` | grün |\n"
    assert say("<details><summary>all</summary>\n\n```diff\n" + row * 2000).said == "created"

    (body,) = bodies(github)
    assert 60_000 < len(body) <= 65_536
    assert body.count("```") == 2
    assert body.count("</details>") == 1
    assert "x\n" not in body
    assert body.endswith("All of it: https://github.example/example/fleet/actions/runs/99\n")


def test_a_text_without_lines_is_cut_all_the_same(github, say):
    assert say("x" * 300_000).said == "created"
    assert len(bodies(github)[0]) <= 65_536


@pytest.mark.rows(7, "a row takes 0.074 s; each value of each column is seen first")
@pytest.mark.parametrize("status", [401, 403, 404, 422, 500])
@pytest.mark.parametrize("request_", [("GET", "/pulls/7"), ("GET", "/comments"), ("POST", "/comments")])
def test_an_api_that_refuses_is_a_warning_and_fails_nothing(github, say, status, request_):
    github.fail[request_] = [status] * 9
    done = say("one\n")

    assert done.returncode == 0
    assert done.said == "failed"
    assert f"::warning title=poolsmith::no comment: {request_[0]} " in done.stdout
    assert ("pull-requests: write" in done.stdout) is (status in (401, 403, 404))


def test_a_passing_fault_is_tried_again_and_a_write_is_not(github, say):
    github.fail["GET", "/comments"] = [502]
    assert say("one\n").said == "created"
    github.fail["PATCH", "/comments"] = [502]
    assert say("two\n").said == "failed"
    assert github.requests.count(("PATCH", f"/repos/{REPOSITORY}/issues/comments/{github.comments[0]['id']}")) == 1


def test_an_api_that_is_not_there_is_a_warning(github, say):
    done = say("one\n", GITHUB_API_URL="http://127.0.0.1:9")

    assert (done.returncode, done.said) == (0, "failed")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://x", ""])
def test_only_the_web_is_asked(github, say, address):
    assert say("one\n", GITHUB_API_URL=address).said == "failed"


def test_an_older_run_says_nothing_of_a_newer_commit(github, say):
    github.pulls[0] = pull(7, head="b" * 40)

    assert say("one\n").said == "another commit by now"
    assert not github.comments


@pytest.mark.parametrize("event", [{}, {"merge_group": {}}, {"pull_request": {"number": "7; rm"}}, [], "text"])
def test_without_a_pull_request_there_is_no_comment(github, say, event):
    assert say("one\n", event=event).said == "no pull request"
    assert not github.requests


RUN = {
    "id": 55,
    "event": "pull_request",
    "head_sha": HEAD,
    "head_branch": "change",
    "head_repository": {"full_name": "mallory/fleet"},
    "pull_requests": [],
}


def zipped(files, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, **options)
    return stream.getvalue()


@pytest.fixture
def from_run(github, tmp_path):
    def run(content, *, run=RUN, size=None, name="poolsmith-comment", number=3, **environment):
        if content is not None:
            github.artifacts.append(
                {"id": number, "name": name, "expired": False, "size_in_bytes": len(content) if size is None else size}
            )
            github.zips[number] = content
        event = {"workflow_run": run}
        return step("comment_from_run.py", github, tmp_path, event, ARTIFACT="poolsmith-comment", **environment)

    return run


def test_what_a_fork_has_left_is_said_as_its_own_word(github, from_run):
    done = from_run(zipped({"comment.md": "## Two pools\n\n@alice [look](https://evil.example)\n"}))

    assert done.said == "created", done.stdout
    (body,) = bodies(github)
    assert body.startswith(f"{MARKER}\n> Made by [the change's own run](https://github.example/example/fleet/actions/")
    assert "## Two pools" in body
    assert "@alice" not in body
    assert "](https://evil" not in body


def test_the_token_stays_with_the_api(github, from_run):
    assert from_run(zipped({"comment.md": "x"})).said == "created"
    assert len(github.stored_headers) == 1
    assert not {name.lower() for name in github.stored_headers[0]} & {"authorization", "cookie"}


def test_an_empty_text_takes_the_comment_away(github, from_run):
    from_run(zipped({"comment.md": "x"}))

    assert from_run(zipped({"comment.md": ""}), number=4).said == "deleted"


def link():
    entry = zipfile.ZipInfo("comment.md")
    entry.external_attr = 0o120777 << 16
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    return stream.getvalue()


def two():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("comment.md", "one")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("comment.md", "two")
    return stream.getvalue()


def flipped(flag=None, method=None, sum_=0):
    content = bytearray(zipped({"comment.md": "x"}))
    for start, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        where = content.index(start) + at
        if flag is not None:
            content[where] |= flag
        if method is not None:
            content[where + 2] = method
        content[where + 8] ^= sum_
    return bytes(content)


HOSTILE = {
    "a path out": lambda: zipped({"../comment.md": "x"}),
    "an absolute path": lambda: zipped({"/comment.md": "x"}),
    "a folder": lambda: zipped({"a/comment.md": "x"}),
    "another file beside": lambda: zipped({"comment.md": "x", "../../.bashrc": "x"}),
    "another case": lambda: zipped({"Comment.md": "x"}),
    "nothing": lambda: zipped({}),
    "a link": link,
    "one name twice": two,
    "a bomb": lambda: zipped({"comment.md": "x" * 50_000_000}),
    "a long text": lambda: zipped({"comment.md": "x" * (256 * 1024 + 1)}),
    "no archive": lambda: b"hello",
    "an empty file": lambda: b"",
    "half an archive": lambda: zipped({"comment.md": os.urandom(2000)})[:900],
    "no text": lambda: zipped({"comment.md": b"\xff\xfe\x00"}),
    "a broken sum": lambda: flipped(sum_=1),
    "a password": lambda: flipped(flag=1),
    "another way to pack": lambda: flipped(method=14),
    "an unknown way to pack": lambda: flipped(method=99),
}


@pytest.mark.rows(6, "a row takes 0.092 s; each value of each column is seen first")
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_an_artifact_that_is_more_than_one_plain_text_is_refused(github, from_run, tmp_path, content):
    before = sorted(tmp_path.rglob("*"))
    done = from_run(content())

    assert (done.returncode, done.said) == (0, "refused"), done.stdout
    assert "::warning" in done.stdout
    assert not github.comments
    assert set(tmp_path.rglob("*")) - set(before) <= {tmp_path / "event.json", tmp_path / "output"}


def test_a_large_artifact_is_not_even_asked_for(github, from_run):
    assert from_run(zipped({"comment.md": "x"}), size=2 << 20).said == "refused"
    assert not github.stored_headers


def test_one_that_is_larger_than_it_says_is_refused(github, from_run):
    done = from_run(zipped({"comment.md": os.urandom(2 << 20)}), size=10)

    assert done.said == "failed"
    assert not github.comments


OTHER_RUNS = {
    "a push": {**RUN, "event": "push"},
    "an event that says nothing": {},
    "a commit that is none": {**RUN, "head_sha": "HEAD"},
    "a repository that is gone": {**RUN, "head_repository": None},
    "no branch": {**RUN, "head_branch": None},
    "another branch": {**RUN, "head_branch": "other"},
    "another fork": {**RUN, "head_repository": {"full_name": "alice/fleet"}},
    "a commit that was replaced since": {**RUN, "head_sha": "b" * 40},
}


@pytest.mark.parametrize("run", OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_which_pull_request_it_was_only_the_api_says(github, from_run, run):
    github.pulls.append(pull(8, fork="alice/other", base="alice/fleet"))
    done = from_run(zipped({"comment.md": "pull request 8"}), run=run)

    assert (done.returncode, done.said) == (0, "nothing to say")
    assert not github.comments


def test_a_commit_of_two_pull_requests_is_nobodys(github, from_run):
    github.pulls.append(pull(8))

    assert from_run(zipped({"comment.md": "x"})).said == "nothing to say"


def test_a_branch_with_signs_of_addresses_is_asked_for_as_it_is(github, from_run):
    name = "a&head=alice:b#c/%2e%2e"
    github.pulls[0] = pull(7, branch=name)

    assert from_run(zipped({"comment.md": "x"}), run={**RUN, "head_branch": name}).said == "created"


def test_a_run_that_left_nothing_is_no_mistake(github, from_run):
    assert from_run(None).said == "nothing to say"
    assert from_run(zipped({"comment.md": "x"}), name="other").said == "nothing to say"


def test_an_api_that_answers_something_else_is_a_warning(github, from_run):
    github.pulls[0] = {"number": 7, "head": {"ref": "change", "repo": {"full_name": "mallory/fleet"}}}
    github.artifacts.append({"name": "poolsmith-comment"})
    assert from_run(None).said == "nothing to say"
    github.pulls[0] = pull(7)
    assert from_run(None).said == "failed"
