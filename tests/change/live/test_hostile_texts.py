"""Whoever may write into a cluster or a bundle may write anything: it is shown, bounded, and steers nothing."""

from __future__ import annotations

import json

import pytest

from change.live.conftest import ROOT
from support.recordings import recording

ODD = (
    "\x1b[31mred\x07",
    "\u202egnp.exe",
    "x`<script>alert(1)</script>`",
    "a\n::error file=x::owned",
    "a\r\n| b | c |\n\n# Title",
    "</pre><img src=x onerror=alert(1)>",
    "Bearer abcdefghijklmnop1234567890",
)
EVIL = (" ".join(ODD), "n" * 1_000_000)
FORMATS = ("text", "json", "markdown", "html", "github", "sarif", "junit")
MOST = 400_000


def bundle(text, path):
    """A stranger's DaemonSet, a node's kernel and an API server's reason, each of that text."""
    body = recording("live_clusters")["edge"]
    for row in body["lists"]:
        if row["kind"] == "DaemonSet":
            metadata = {"name": text, "namespace": "gpu-operator", "uid": "u"}
            row["items"].append({"metadata": metadata, "spec": {"template": {"spec": {"hostPID": True}}}})
        if row["kind"] == "Node":
            row["items"][0]["status"]["nodeInfo"]["containerRuntimeVersion"] = f"{text}://1"
        if row["kind"] == "RuntimeClass":
            row.update(state="failed", reason=text, items=[])
    body["context"] = text
    path.write_text(json.dumps(body))
    return path


@pytest.mark.deep("a whole run, 0.8 s; its parts have tests of their own")
@pytest.mark.rows(1, "every format of a report of a whole cluster")
@pytest.mark.parametrize("number", range(len(EVIL)))
def test_texts_of_a_cluster_are_harmless_in_each_format(run_cli, tmp_path, number):
    text = EVIL[number]
    path = bundle(text, tmp_path / "b.json")
    for name in FORMATS if len(text) < MOST else ("text", "github"):
        result = run_cli(["verify", "edge", "--root", ROOT, "--from", path, "--format", name])

        assert result.code == 1, result.err
        assert len(result.out) < MOST
        shown = result.out
        for bad in ("\x1b", "\x07", "\u202e", "\n::error file=x::owned", "\n# Title"):
            assert bad not in shown, (name, bad)
        if name == "html":
            assert "<script>alert" not in shown
            assert "<img src=x" not in shown
        assert "abcdefghijklmnop1234567890" not in shown
        assert "Traceback" not in result.err
