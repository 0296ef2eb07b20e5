"""Helm's own records, as the real Helm writes them to a real API server: read where somebody asks for it, and nowhere else."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess

import pytest
import yaml

from change.live.conftest import ROOT
from change.live.faulty_server import door
from poolsmith.interface.app.live.discover import discover
from poolsmith.interface.app.live.verify import Source
from poolsmith.kubernetes.live.api_resources import Reading
from poolsmith.kubernetes.live.snapshot import helm_record

TOKEN = "nvapi-" + "a1B2" * 10
MORE = {
    "operator": {"resources": {"limits": {"memory": "512Mi"}}},
    "ngc": {"apiKey": TOKEN, "list": [{"password": "hunter2hunter2"}]},
}


@pytest.fixture
def installed(prod, tmp_path):
    """A chart of the operator's name, with the values of the sample and some more; it brings one ConfigMap."""
    chart = tmp_path / "gpu-operator"
    (chart / "templates").mkdir(parents=True)
    about = {"apiVersion": "v2", "name": "gpu-operator", "version": "v26.3.3", "appVersion": "v26.3.3"}
    (chart / "Chart.yaml").write_text(yaml.safe_dump(about))
    brought = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "brought"}}
    (chart / "templates/brought.yaml").write_text(yaml.safe_dump(brought))
    (tmp_path / "more.yaml").write_text(yaml.safe_dump(MORE))
    values = ROOT / "output/clusters/prod-eu/platform/values/gpu-operator.yaml"
    helm = ["helm", "--kubeconfig", str(prod.scenario.kubeconfig()), "--namespace", "gpu-operator"]
    given = ["--values", str(values), "--values", str(tmp_path / "more.yaml")]
    for line in (["install", "gpu-operator", str(chart), *given], ["upgrade", "gpu-operator", str(chart), *given]):
        subprocess.run([*helm, *line], check=True, capture_output=True)
    yield prod
    subprocess.run([*helm, "uninstall", "gpu-operator"], check=True, capture_output=True)


def fields_of(found):
    return {(row.profile, row.field): row.value for row in found.fields}


@pytest.mark.tool("helm")
def test_values_are_those_that_were_given_and_no_secret_is_among_them(installed, tmp_path):
    with door(installed.client, lambda _door, _path: None, tmp_path) as (opened, kubeconfig):
        reading = Reading(kubeconfig=str(kubeconfig))
        without = discover(tmp_path, None, Source(reading=reading))
        unasked = [path for _, path in opened.asked if "/secrets" in path]
        saved = tmp_path / "saved.json"
        found = discover(tmp_path, None, Source(reading=reading, save=saved), helm_records=True)
        asked = [path for _, path in opened.asked if "/secrets" in path]

    assert unasked == []
    assert len(asked) == 1
    assert asked[0].startswith("/api/v1/namespaces/gpu-operator/secrets?")
    assert "owner%3Dhelm" in asked[0]
    cluster, before = (yaml.safe_load(one.profiles[0].text)["spec"] for one in (found, without))
    assert cluster["stack"].pop("values")["operator"]["resources"] == {"limits": {"memory": "512Mi"}}
    before["stack"].pop("values", None)
    assert cluster == before
    assert [one.text for one in found.profiles[1:]] == [one.text for one in without.profiles[1:]]
    hidden = [text for text in found.not_evaluated if "may be a secret" in text]
    assert [text.split()[1] for text in hidden] == ["ngc.apiKey", "ngc.list[0].password"]
    whole = saved.read_text() + repr(found)
    assert TOKEN not in whole
    assert "hunter2" not in whole
    again = discover(tmp_path, None, Source(reading=Reading(), file=saved))
    assert again.profiles == found.profiles


@pytest.mark.tool("helm")
def test_without_the_right_it_is_not_evaluated_and_the_printed_role_is_enough(installed, tmp_path, run_cli):
    made = []
    for item in yaml.safe_load_all(run_cli(["live", "rbac", "--discover", "--helm-records", "gpu-operator"]).out):
        if "rules" in item or "subjects" in item:
            if "subjects" in item:
                item["subjects"] = [{"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}]
            made.append(item)
    nobody = Source(reading=Reading(kubeconfig=str(installed.scenario.kubeconfig("nobody"))))
    of_records = [item for item in made if item["metadata"]["name"].endswith("helm-records")]
    try:
        for item in made:
            if item not in of_records:
                assert installed.client.apply(item).taken
        refused = discover(tmp_path, None, nobody, helm_records=True)
        for item in of_records:
            assert installed.client.apply(item).taken
        found = discover(tmp_path, None, nobody, helm_records=True)
    finally:
        for item in reversed(made):
            metadata = item["metadata"]
            installed.client.delete(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace"))

    assert [item["kind"] for item in of_records] == ["Role", "RoleBinding"]
    assert any("`list` of `secrets` is not allowed" in text for text in refused.not_evaluated)
    assert any("ngc.apiKey" in text for text in found.not_evaluated)


def record(config):
    about = b'{"name": "gpu-operator", "version": "v26.3.3"}'
    return b'{"name": "a", "version": 1, "chart": {"metadata": ' + about + b'}, "config": ' + config + b"}"


def secret(body):
    text = base64.b64encode(base64.b64encode(gzip.compress(body))).decode()
    return {"metadata": {"name": "s", "namespace": "n"}, "data": {"release": text}}


@pytest.mark.parametrize(
    "held",
    [
        {},
        {"metadata": {}, "data": None},
        {"metadata": {"namespace": "n"}, "data": {"release": 5}},
        {"metadata": {"namespace": "n"}, "data": {"release": "%%%"}},
        {"metadata": {"namespace": "n"}, "data": {"release": base64.b64encode(b"x").decode()}},
        secret(b"no json"),
        secret(b"[" * 100_000),
        secret(b"[]"),
        secret(record(b'{"a":' * 600 + b"1" + b"}" * 600)),
        secret(record(b'{"a": NaN}')),
        secret(record(b'{"a": 1e999}')),
        secret(b'{"chart": {"metadata": {"name": 5}}}'),
        secret(b'{"name": "a", "chart": {"metadata": {"name": "gpu-operator"}}}'),
    ],
)
def test_what_is_no_record_is_none(held):
    assert helm_record(held) is None


def test_a_record_is_read():
    assert helm_record(secret(record(b'{"a": 1}'))) is not None


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("poolsmith.kubernetes.live.snapshot._MOST_BYTES", 1 << 10)
    body = {"name": "a", "chart": {"metadata": {"name": "gpu-operator", "version": "v1"}}, "config": {"a": "b" * 5000}}

    assert helm_record(secret(json.dumps(body).encode())) is None


def test_a_flag_alone_is_refused(run_cli):
    found = run_cli(["live", "rbac", "--root", ROOT, "edge", "--helm-records", "gpu-operator"])

    assert (found.code, "--discover" in found.err) == (2, True)
