"""Whatever a server does or a kubeconfig lacks: one true sentence, the right exit code, in time and within bounds."""

from __future__ import annotations

import base64
import json
import os
import resource
from time import monotonic, sleep

import pytest

from change.live.conftest import ROOT
from change.live.lying_server import Request, bomb, config, served
from support.live_cluster import bundle_of, view

NODES, PODS, VERSION = "/api/v1/nodes", "/api/v1/pods", "/version"
SECONDS = 2.0
MOST_SECONDS = 45
MOST_BYTES = 250 << 20
ERROR, CLUSTER, USAGE = 1, 1, 2


def at(path, answer):
    def fault(request: Request) -> bool:
        return request.place == path and answer(request)

    return fault


def says(text, status=200, **headers):
    data = text if isinstance(text, bytes) else text.encode()
    return lambda request: request.say(data, status, **headers)


def status(code, message="told to"):
    return says(json.dumps({"kind": "Status", "message": message}), code)


def stalls(request):
    sleep(3 * SECONDS)
    request.close_connection = True
    return True


def drips(request):
    request.send_response(200)
    request.send_header("Content-Length", "100000")
    request.end_headers()
    for _ in range(int(30 * SECONDS)):
        request.wfile.write(b" ")
        sleep(0.1)
    return True


def cut_off(request):
    request.send_response(200)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b'{"items": [')
    request.close_connection = True
    return True


def breaks_off(request):
    request.connection.close()
    request.close_connection = True
    return True


def endless(request):
    token = str(int(request.asked.get("continue", 0)) + 1)
    return request.say(json.dumps({"metadata": {"continue": token}, "items": []}).encode())


def circle(request):
    return request.say(b'{"metadata": {"continue": "again"}, "items": []}')


def flood(request):
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    part = b" " * (1 << 20)
    for _ in range(1024):
        request.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    return True


PACKED = {"Content_Encoding": "gzip"}
FAULTS = {
    "the version is not told": (at(VERSION, status(404)), CLUSTER, "does not report its version: 404"),
    "the version is forbidden": (at(VERSION, status(403)), CLUSTER, "does not tell its version: 403"),
    "the version needs a login": (at(VERSION, says("<html>log in</html>")), CLUSTER, "is no JSON object"),
    "the version is no text": (at(VERSION, says('{"gitVersion": 1}')), CLUSTER, "no API server of Kubernetes"),
    "the version redirects": (
        at(VERSION, says("", 302, Location="https://login.example.com/?token=hunter2")),
        CLUSTER,
        "sends on to `login.example.com`: not followed",
    ),
    "the version stalls": (at(VERSION, stalls), CLUSTER, "no answer within 2 seconds"),
    "the version breaks off": (at(VERSION, breaks_off), CLUSTER, "GET /version failed"),
    "nobody is let in": (at(VERSION, status(401, "Unauthorized")), CLUSTER, "401: Unauthorized"),
    "groups are not told": (
        lambda request: request.place in ("/apis/apps/v1", "/apis") and status(404)(request),
        ERROR,
        "which groups the API server has is unknown: 404",
    ),
    "a group that is served answers 404": (
        at("/apis/node.k8s.io/v1", status(404)),
        ERROR,
        "says that it serves node.k8s.io/v1, and answers with 404",
    ),
    "the core group answers 404": (at("/api/v1", status(404)), ERROR, "says that it serves v1, and answers with 404"),
    "a group is forbidden": (at("/apis/apps/v1", status(403)), ERROR, "what apps/v1 has is unknown: 403"),
    "a group has no nodes": (at("/api/v1", says('{"resources": []}')), ERROR, "does not say that it serves `nodes`"),
    "a list answers 404": (at(NODES, status(404)), ERROR, "says that it serves `nodes`, and answers the list with 404"),
    "a list is forbidden": (at(NODES, status(403)), ERROR, "`list` of `nodes` is not allowed: 403"),
    "a list redirects": (
        at(NODES, says("", 307, Location="http://evil.example.com/api?token=hunter2")),
        ERROR,
        "sends on to `evil.example.com`: not followed",
    ),
    "a list is an empty text": (at(NODES, says("")), ERROR, "is no JSON object"),
    "a list has no items": (at(NODES, says("{}")), ERROR, "is no list of objects"),
    "a list has texts": (at(NODES, says('{"items": ["node"]}')), ERROR, "is no list of objects"),
    "a list stalls": (at(NODES, stalls), ERROR, "no answer within 2 seconds"),
    "a list drips": (at(NODES, drips), ERROR, "no answer within 2 seconds"),
    "a list is cut off": (at(NODES, cut_off), ERROR, "GET /api/v1/nodes failed"),
    "a list breaks off": (at(NODES, breaks_off), ERROR, "GET /api/v1/nodes failed"),
    "a list has endless pages": (at(NODES, endless), ERROR, "does not end after 1,000 pages"),
    "a list goes in a circle": (at(NODES, circle), ERROR, "each page says that the same one follows"),
    "a list is a flood": (at(NODES, flood), ERROR, "has more than 32 MiB"),
    "a list is a bomb": (at(NODES, says(bomb(1024), **PACKED)), ERROR, "has more than 32 MiB"),
    "a list has a million parts": (
        at(NODES, says('{"items": [' + "{}," * 3_000_000 + "{}]}")),
        ERROR,
        "has more than 2,000,000 fields",
    ),
    "a list is nested deeply": (at(NODES, says("[" * 1_000_000)), ERROR, "is no JSON object"),
    "a list is packed badly": (at(NODES, says(b"no gzip", **PACKED)), ERROR, "can't be unpacked"),
    "a list is packed and cut": (at(NODES, says(bomb(1)[:200], **PACKED)), ERROR, "breaks off"),
    "a list is packed strangely": (at(NODES, says(b"x", Content_Encoding="br")), ERROR, "packed as `br`"),
    "a list expires again and again": (at(NODES, status(410)), ERROR, "expired 3 times"),
    "a list is broken": (at(NODES, status(500, "etcd")), ERROR, "500: etcd"),
    "a list is too busy": (at(NODES, says("{}", 429, Retry_After="9" * 30)), ERROR, "status 429"),
    "pods are forbidden": (at(PODS, status(403)), 0, "`list` of `pods` is not allowed"),
}


@pytest.fixture(scope="module")
def snapshot():
    return bundle_of(view(ROOT, "manual"))


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    monkeypatch.setattr("poolsmith.kubernetes.live.api_server._FIRST_WAIT", 0.01)
    monkeypatch.setattr("poolsmith.kubernetes.live.api_server._LONGEST_WAIT", 0.05)
    monkeypatch.delenv("CI", raising=False)


def asked(run_cli, kubeconfig):
    return run_cli(["verify", "manual", "--root", ROOT, "--kubeconfig", kubeconfig, "--timeout", str(SECONDS)])


def test_without_a_fault_nothing_is_told(run_cli, snapshot, tmp_path):
    with served(snapshot, tmp_path) as (_, kubeconfig):
        result = asked(run_cli, kubeconfig)

    assert (result.code, "PSM873" in result.out) == (0, False), result.out


@pytest.mark.rows(6, "each starts a server, and runs the whole verb against it")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_server_is_one_true_sentence(run_cli, snapshot, tmp_path, name):
    fault, code, sentence = FAULTS[name]
    with served(snapshot, tmp_path, fault) as (_, kubeconfig):
        begun = monotonic()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = asked(run_cli, kubeconfig)
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10

    assert sentence in result.out + result.err
    assert result.code == code, result.out + result.err
    assert "hunter2" not in result.out + result.err
    assert "Traceback" not in result.err
    assert "no node yet" not in result.out or code == 0
    assert monotonic() - begun < MOST_SECONDS
    assert more < MOST_BYTES


GOOD = config("http://127.0.0.1:1")


def without(section):
    return json.dumps({key: value for key, value in GOOD.items() if key != section})


def with_user(**user):
    return json.dumps(config("http://127.0.0.1:1", **user))


def with_cluster(**cluster):
    body = json.loads(json.dumps(GOOD))
    body["clusters"][0]["cluster"].update(cluster)
    return json.dumps(body)


def packed(text):
    return base64.b64encode(text.encode()).decode()


def plugin(command, *args, version="client.authentication.k8s.io/v1"):
    return with_user(exec={"apiVersion": version, "command": command, "args": list(args)})


PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
KUBECONFIGS = {
    "empty": ("", USAGE, "is empty"),
    "comments": ("# nothing\n", USAGE, "is empty"),
    "a list": ("- a\n", USAGE, "it is a list"),
    "a text": ("hello", USAGE, "it is a text"),
    "no YAML": ("token: hunter2\n  : {", USAGE, "is no YAML"),
    "several documents": ("a: 1\n---\nb: 2\n", USAGE, "it is several documents"),
    "contexts are a mapping": ('{"contexts": {"a": 1}}', USAGE, "its `contexts` is no list"),
    "no contexts": (without("contexts"), USAGE, "has no context `lying`, which it names as its current one"),
    "no current context": (without("current-context"), USAGE, "has no current context"),
    "no clusters": (without("clusters"), USAGE, "names the cluster `lying`, which is not there"),
    "no users": (without("users"), USAGE, "names the user `somebody`, which is not there"),
    "no server": (with_cluster(server=""), USAGE, "its cluster has no `server`"),
    "no address": (with_cluster(server="ftp://x"), USAGE, "the `server` of its cluster is no address"),
    "a bad port": (with_cluster(server="https://x:99999"), USAGE, "the `server` of its cluster is no address"),
    "a bad proxy": (with_cluster(**{"proxy-url": "x"}), USAGE, "the `proxy-url` of its cluster is no address"),
    "a CA that is absent": (with_cluster(**{"certificate-authority": "none.crt"}), USAGE, "the CA file is not there: "),
    "a CA that is no base64": (with_cluster(**{"certificate-authority-data": "!"}), USAGE, "is no base64"),
    "a CA that is none": (with_cluster(**{"certificate-authority-data": packed("x")}), USAGE, "holds no certificate"),
    "a CA that is damaged": (
        with_cluster(**{"certificate-authority-data": packed(PEM)}),
        USAGE,
        "holds no certificate that can be read",
    ),
    "a certificate that is absent": (
        with_user(**{"client-certificate": "a.crt", "client-key": "a.key"}),
        USAGE,
        "the client certificate is not there",
    ),
    "a certificate without its key": (
        with_user(**{"client-certificate-data": packed(PEM)}),
        USAGE,
        "a client certificate without the key",
    ),
    "a key without its certificate": (with_user(**{"client-key": "a"}), USAGE, "a client key without the certificate"),
    "no pair": (
        with_user(
            **{
                "client-certificate-data": packed(PEM),
                "client-key-data": packed("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
            }
        ),
        USAGE,
        "are no pair",
    ),
    "a password": (with_user(username="a", password="hunter2"), USAGE, "a user name and password"),
    "an auth provider": (with_user(**{"auth-provider": {"name": "gcp"}}), USAGE, "`auth-provider`"),
    "a token that is a number": (with_user(token=7), USAGE, "the `token` of its user is no text"),
    "a token of two lines": (with_user(token="hunter2\nX: y"), USAGE, "has a space or a line break"),
    "a token file that is absent": (with_user(tokenFile="token"), USAGE, "the token file is not there"),
    "a plugin without a command": (plugin(""), USAGE, "`exec` of its user has no `command`"),
    "a plugin of an old version": (plugin("true", version="client.authentication.k8s.io/v1alpha1"), USAGE, "v1alpha1"),
    "a plugin that is absent": (plugin("no-such-plugin"), CLUSTER, "can't be run: No such file"),
    "a plugin that fails": (plugin("sh", "-c", "echo token=hunter2 >&2; exit 3"), CLUSTER, "ended with 3"),
    "a plugin that prints nothing": (plugin("true"), CLUSTER, "printed no JSON"),
    "a plugin that prints no token": (plugin("echo", '{"status": {}}'), CLUSTER, "gave neither a token nor"),
    "a plugin that prints without end": (plugin("yes"), CLUSTER, "printed more than 1 MiB"),
    "a plugin that hangs": (plugin("sh", "-c", "sleep 60 & sleep 60"), CLUSTER, "gave no credentials within 2 seconds"),
    "nobody there": (json.dumps(GOOD), CLUSTER, "GET /version failed"),
}


@pytest.mark.rows(8, "each runs the whole verb")
@pytest.mark.parametrize("name", KUBECONFIGS)
def test_a_fault_of_a_kubeconfig_is_one_true_sentence(run_cli, tmp_path, name):
    text, code, sentence = KUBECONFIGS[name]
    path = tmp_path / "broken.kubeconfig"
    path.write_text(text)
    begun = monotonic()
    result = asked(run_cli, path)

    assert sentence in result.err, result.err
    assert result.code == code, result.err
    assert "hunter2" not in result.err
    assert "Traceback" not in result.err
    assert len(result.err.strip().splitlines()) <= 2
    assert monotonic() - begun < 10


def test_folders_and_what_is_not_there_are_no_kubeconfigs(run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path))
    assert "is a folder" in run_cli(["verify", "manual", "--root", ROOT]).err
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert "none can't be read: No such file" in run_cli(["verify", "manual", "--root", ROOT]).err


def test_several_files_are_one_kubeconfig(run_cli, snapshot, tmp_path, monkeypatch):
    with served(snapshot, tmp_path) as (_, kubeconfig):
        body = json.loads(kubeconfig.read_text())
        for number, section in enumerate(("users", "clusters", "contexts")):
            kept = {key: body[key] for key in (section, "current-context")}
            (tmp_path / str(number)).write_text(json.dumps(kept))
        paths = [str(tmp_path / name) for name in ("absent", "0", "1", "2")]
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join(paths))
        assert run_cli(["verify", "manual", "--root", ROOT]).code == 0
