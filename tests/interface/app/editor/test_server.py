"""The language server, by the messages that an editor sends."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from interface.app.editor.client import Editor

POOL = "profiles/edge/l4.yaml"


@pytest.fixture
def project(sample_project):
    return sample_project.resolve()


@pytest.mark.sample("edge")
def test_a_mistake_is_found_on_save_mended_by_its_action_and_gone(project):
    sound = (project / POOL).read_text("utf-8")
    wrong = sound.replace("driver:", "drivr:")
    with Editor(project) as editor:
        editor.open_folder()
        editor.open_file(POOL)
        editor.save(POOL, wrong)
        editor.change(POOL, wrong)
        found = [editor.finding(POOL, "drivr")]
        line = next(number for number, row in enumerate(wrong.split("\n")) if "drivr" in row)

        assert [item["range"]["start"]["line"] for item in found] == [line]
        place = {"start": {"line": line, "character": 3}, "end": {"line": line, "character": 3}}
        actions = editor.ask(
            "textDocument/codeAction", textDocument=editor.document(POOL), range=place, context={"diagnostics": found}
        )
        assert [item["kind"] for item in actions] == ["quickfix", "source.fixAll.poolsmith"]
        (edit,) = actions[0]["edit"]["changes"][(project / POOL).as_uri()]
        row = wrong.split("\n")[line]
        start, end = edit["range"]["start"]["character"], edit["range"]["end"]["character"]
        assert row[:start] + edit["newText"] + row[end:] == sound.split("\n")[line]

        editor.save(POOL, sound)
        while editor.findings(POOL):
            pass
        assert editor.leave() == 0


@pytest.mark.sample("edge")
def test_hover_says_what_a_field_means_what_follows_and_what_a_code_is(project):
    waivers = "policies/waivers.yaml"
    with Editor(project) as editor:
        editor.open_folder()
        rows = (project / POOL).read_text("utf-8").split("\n")
        editor.open_file(POOL)
        line = next(number for number, row in enumerate(rows) if "driver:" in row)
        told = editor.ask("textDocument/hover", **editor.at(POOL, line, 3))["contents"]["value"]
        editor.open_file(waivers, "kind: WaiverList # of PSM403\n")
        code = editor.ask("textDocument/hover", **editor.at(waivers, 0, 24))["contents"]["value"]

        assert told.startswith("`spec.driver`")
        assert "What follows: " in told
        assert "driver of l4" in told
        assert code.startswith("### PSM403 ")
        assert editor.ask("textDocument/hover", **editor.at(POOL, len(rows) - 1, 0)) is None


@pytest.mark.sample("edge")
def test_completion_knows_fields_words_and_names_of_the_project(project):
    head = "apiVersion: poolsmith/v1\nkind: NodePool\nmetadata: {name: l4}\nspec:\n"
    with Editor(project) as editor:
        editor.open_folder()
        editor.open_file(POOL, head + "  gpu: {product: NVIDIA-L}\n  ex\n")
        products = editor.ask("textDocument/completion", **editor.at(POOL, 4, 25))["items"]
        fields = editor.ask("textDocument/completion", **editor.at(POOL, 5, 4))["items"]
        editor.change(POOL, head + "  extends: [\n")
        bases = editor.ask("textDocument/completion", **editor.at(POOL, 4, 12))["items"]

        assert "L40S" in {item["label"] for item in products}
        assert "extends" in {item["label"] for item in fields}
        assert "gpu" not in {item["label"] for item in fields}
        assert [item["label"] for item in bases] == sorted(
            path.stem for path in (project / "profiles/_bases").iterdir()
        )


@pytest.mark.sample("edge")
def test_saves_that_come_faster_than_answers_are_judged_together_and_the_last_one_counts(project):
    sound = (project / POOL).read_text("utf-8")
    with Editor(project) as editor:
        editor.open_folder()
        editor.open_file(POOL)
        for number in range(40):
            text = sound.replace("driver:", f"drivr{number}:") if number < 39 else sound + "  bogus: 1\n"
            editor.change(POOL, text)
            editor.save(POOL, text)
            editor.send({"id": f"h{number}", "method": "textDocument/hover", "params": editor.at(POOL, 0, 0)})
        editor.answer("h39")
        editor.ask("textDocument/hover", **editor.at(POOL, 0, 0))
        editor.finding(POOL, "bogus")
        published = [one for one in editor.seen if one.get("method") == "textDocument/publishDiagnostics"]

        assert len([one for one in published if one["params"]["uri"].endswith("/l4.yaml")]) < 10
        assert len([one for one in editor.seen if str(one.get("id", "")).startswith("h")]) == 40


@pytest.mark.sample("edge")
def test_places_are_counted_in_the_units_that_were_agreed(project):
    text = (project / POOL).read_text("utf-8") + '  sandbox: {runtimeClass: "\U0001f600", bogs: 1}\n'
    columns = {}
    for units in (None, "utf-32"):
        with Editor(project) as editor:
            general = {"general": {"positionEncodings": [units]}} if units else {}
            assert editor.open_folder(**general)["positionEncoding"] == (units or "utf-16")
            editor.open_file(POOL)
            editor.save(POOL, text)
            editor.change(POOL, text)
            found = editor.finding(POOL, "bogs")
            columns[units] = found["range"]["start"]["character"]

    assert columns[None] == columns["utf-32"] + 1


def test_a_file_of_nobodys_project_is_judged_as_a_hook_does_and_one_outside_is_not(tmp_path):
    root, outside = tmp_path.resolve() / "repo", tmp_path.resolve() / "outside.yaml"
    root.mkdir()
    text = "driver:\n  enabld: false\n"
    outside.write_text(text)
    (root / "link.yaml").symlink_to(outside)
    chart = "repositories: []\nreleases:\n- name: g\n  chart: nvidia/gpu-operator\n  version: v25.10.1\n  values: [values.yaml]\n"
    (root / "helmfile.yaml").write_text(chart)
    (root / "values.yaml").write_text(text)
    with Editor(root) as editor:
        editor.open_folder()
        for path in ("../outside.yaml", "link.yaml", "values.yaml"):
            editor.open_file(path, text)
        found = editor.findings("values.yaml")
        refused = editor.answer_of("textDocument/hover", **editor.at("../outside.yaml", 0, 0))

        assert ["enabld" in item["message"] for item in found] == [True]
        assert refused["error"]["code"] == -32602
        published = [one["params"]["uri"] for one in editor.seen if "publish" in one.get("method", "")]
        assert published == [(root / "values.yaml").as_uri()]
        assert editor.leave() == 0


def test_a_project_below_the_folder_is_found(sample_project, tmp_path):
    top = sample_project.parent.resolve()
    inner = sample_project.name
    with Editor(top) as editor:
        editor.open_folder()
        path = f"{inner}/{POOL}"
        editor.open_file(path)
        editor.save(path, "kind: NodePool\n")

        assert editor.finding(path, "apiVersion")


HOSTILE = {
    "no length": (b"Content-Type: x\r\n\r\n{}", "Content-Length"),
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "Content-Length"),
    "a huge length": (b"Content-Length: 999999999999\r\n\r\n{", "Content-Length"),
    "more digits than a length has": (b"Content-Length: " + b"9" * 400 + b"\r\n\r\n", "Content-Length"),
    "a negative length": (b"Content-Length: -5\r\n\r\n{}", "Content-Length"),
    "a header without an end": (b"x" * 5000, "header without an end"),
    "half a message": (b'Content-Length: 40\r\n\r\n{"jsonrpc', "in the middle of a message"),
    "nothing at all": (b"", "without `exit`"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_who_sends_what_can_not_be_told_apart_is_left(tmp_path, name):
    content, said = HOSTILE[name]
    with Editor(tmp_path) as editor:
        editor.write(content)
        editor.process.stdin.close()
        editor.process.stdin = None
        code, told = editor.ended()

    assert code == 1
    assert said in told
    assert "Traceback" not in told


BODIES = {
    b"{": -32700,
    b"\xff\xfe": -32700,
    b"[" * 100_000: -32700,
    b"9" * 10_000: -32700,
    b"[]": -32600,
    b"3": -32600,
    b"{}": -32600,
    b'{"id": 1, "method": 5}': -32600,
    b'{"id": 1, "method": "initialize"}': -32600,
    b'{"id": {"a": 1}, "method": "x/unknown"}': -32601,
    b'{"id": 1, "method": "textDocument/hover"}': -32602,
    b'{"id": 1, "method": "textDocument/hover", "params": [1]}': -32602,
    b'{"id": 1, "method": "textDocument/completion", "params": {"textDocument": {"uri": 7}}}': -32602,
    b'{"id": 1, "method": "textDocument/codeAction", "params": {"textDocument": {"uri": "http://x/y"}}}': -32602,
    b'{"id": 1, "method": "textDocument/hover", "params": {"textDocument": {"uri": "file:///etc/passwd"}}}': -32602,
    b'{"id": 1, "method": "textDocument/hover", "params": {"textDocument": {"uri": "file://[x"}}}': -32602,
}
SILENT = (
    b'{"method": "textDocument/didOpen"}',
    b'{"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///%00", "text": "a"}}}',
    b'{"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "untitled:1", "text": "a"}}}',
    b'{"method": "textDocument/didChange", "params": {"textDocument": {"uri": "a"}, "contentChanges": [{"range": 1}]}}',
    b'{"method": "textDocument/didSave", "params": {"textDocument": {"uri": "file:///etc/passwd"}}}',
    b'{"method": "workspace/didChangeWatchedFiles", "params": {"changes": [1, {"uri": 2}, {"uri": "file:///%ff"}]}}',
    b'{"method": "no/such/thing"}',
    b'{"id": "files", "result": null}',
)


def test_bodies_that_are_no_question_are_answered_and_the_session_goes_on(tmp_path):
    with Editor(tmp_path.resolve()) as editor:
        before = editor.answer_of("textDocument/hover")
        editor.open_folder()
        for body in SILENT:
            editor.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        for body, code in BODIES.items():
            editor.write(b"content-length:%d\r\n\r\n" % len(body) + body)
            answer = editor.until(lambda message: "error" in message)

            assert answer["error"]["code"] == code, body[:80]
        after = editor.ask("shutdown")
        late = editor.answer_of("textDocument/hover")
        editor.tell("exit")

        assert before["error"]["code"] == -32002
        assert after is None
        assert late["error"]["code"] == -32600
        assert editor.process.wait(30) == 0
        assert editor.process.stderr.read() == b""


TEXTS = (
    "\ud800",
    "a: &a [*a]\n",
    "{{ template }}\n",
    "%YAML 1.1\n---\na: b\n",
    "a: b\n---\n- c\n",
    "[" * 3_000,
    "a: 'x\n",
    "\t\n\r\n\x00\n",
    "? a\n: b\n? [c]\n: d\n",
    "kind: 7\nspec: [1, {a: b}]\n",
    "x" * 2_000_000,
)


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_any_text_has_answers(tmp_path, number):
    root = tmp_path.resolve()
    (root / "profiles/lab").mkdir(parents=True)
    path, text = "profiles/lab/a.yaml", TEXTS[number]
    with Editor(root) as editor:
        editor.open_folder()
        editor.open_file(path, text)
        rows = text.split("\n")
        for line in {0, len(rows) // 2, len(rows) - 1}:
            for character in {0, 1, len(rows[line])}:
                editor.ask("textDocument/hover", **editor.at(path, line, character))
                editor.ask("textDocument/completion", **editor.at(path, line, character))
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9_999, "character": 0}}
        editor.ask("textDocument/codeAction", textDocument=editor.document(path), range=whole)

        assert editor.leave() == 0


def fifo(path):
    path.unlink()
    os.mkfifo(path)


def link_out(path):
    path.unlink()
    path.symlink_to("/etc/passwd")


@pytest.mark.sample("edge")
@pytest.mark.parametrize(("become", "said"), [(fifo, "not a regular file"), (link_out, "leads out of the project")])
def test_a_file_that_becomes_something_else_is_told_and_not_waited_for(project, become, said):
    with Editor(project) as editor:
        editor.open_folder()
        become(project / POOL)
        changed = {"uri": (project / "profiles/edge/cluster.yaml").as_uri(), "type": 2}
        editor.tell("workspace/didChangeWatchedFiles", changes=[changed])

        assert editor.finding(POOL, said)
        assert editor.leave() == 0


@pytest.mark.sample("edge")
def test_a_project_that_is_gone_has_no_findings_and_the_session_goes_on(project):
    with Editor(project) as editor:
        editor.open_folder()
        editor.open_file(POOL)
        editor.ask("textDocument/hover", **editor.at(POOL, 10, 8))
        shutil.rmtree(project)
        editor.tell("textDocument/didSave", textDocument=editor.document(POOL))

        assert editor.ask("textDocument/hover", **editor.at(POOL, 10, 8))
        assert editor.leave() == 0


@pytest.mark.sample("edge")
def test_an_editor_that_leaves_while_a_project_is_judged_is_not_waited_for(project):
    with Editor(project) as editor:
        editor.open_folder()
        editor.tell("exit")
        assert editor.process.wait(30) == 1
    with Editor(project) as editor:
        editor.open_folder()
        editor.process.stdin.close()
        editor.process.stdin = None

        assert editor.ended() == (1, "poolsmith: the editor left without `exit`\n")


@pytest.mark.sample("edge")
def test_a_secret_is_in_no_message(project):
    path = "profiles/edge/cluster.yaml"
    text = (project / path).read_text("utf-8") + "  password: hunter2hunter2\n"
    with Editor(project) as editor:
        editor.open_folder()
        editor.open_file(path)
        editor.change(path, text)
        editor.save(path, text)
        found = editor.finding(path, "password")
        editor.ask("textDocument/hover", **editor.at(path, text.count("\n") - 1, 14))
        editor.ask("textDocument/codeAction", textDocument=editor.document(path), range=found["range"])

        assert "hunter2" not in json.dumps(editor.seen)


@pytest.mark.sample("edge")
def test_a_file_has_many_addresses_and_one_of_another_machine_is_none(project):
    path = f"{project}/{POOL}"
    here = (f"file://{path}", f"FILE://{path}", f"file://localhost{path}", f"file://{path.replace('l4', '%6c4')}")
    with Editor(project) as editor:
        editor.open_folder()
        for uri in (*here, f"file://elsewhere{path}", f"http://localhost{path}", f"file://{path}/../../../../secret"):
            editor.tell("textDocument/didOpen", textDocument={"uri": uri, "text": "kind: NodePool\n"})
            place = {"line": 0, "character": 0}
            answer = editor.answer_of("textDocument/hover", textDocument={"uri": uri}, position=place)

            assert ("error" in answer) is (uri not in here), uri


@pytest.mark.sample("edge")
def test_an_edit_that_does_not_fit_the_open_text_any_more_is_not_offered(project):
    text = (project / POOL).read_text("utf-8").replace("driver:", "drivr:").replace("\n", "\r\n")
    with Editor(project) as editor:
        editor.open_folder()
        editor.open_file(POOL, text)
        editor.save(POOL, text)
        asked = {"textDocument": editor.document(POOL), "range": editor.finding(POOL, "drivr")["range"]}
        fitting = editor.ask("textDocument/codeAction", **asked)
        asked["context"] = {"only": ["refactor"]}
        other = editor.ask("textDocument/codeAction", **asked)
        editor.change(POOL, text.replace("drivr:", "motor:"))
        del asked["context"]

        assert fitting[0]["title"] == "Write `driver` in the place of `drivr`"
        assert other == []
        assert editor.ask("textDocument/codeAction", **asked) == []
