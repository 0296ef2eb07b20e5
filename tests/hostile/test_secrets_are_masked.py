"""What is planted as a secret is never shown, wherever it stands and whatever is wrong beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import Position, diagnose
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.masking import MASK, is_secret_name, masked, masked_line, masked_tree, shape_of
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.sources.input_tree import yaml_diagnostic
from poolsmith.core.sources.yaml_places import StreamPlaces
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.interface.app import check_paths
from poolsmith.interface.report.formats import CHECK, GROUPS, Layout, ReportContext, format_check, names_for

if TYPE_CHECKING:
    from pathlib import Path

PLANTED = "Pl4nted-And-Never-Shown"
PLANTED_NUMBER = "31415926535"
PLACES = {
    "a password": "password: {}\n",
    "a quoted password": 'adminPassword: "{}"\n',
    "a block": "apiToken: |\n  first-line-kept-too\n  {}\n",
    "a variable": "env:\n  - name: NGC_API_KEY\n    value: {}\n",
    "a variable in braces": "env: [{{name: NGC_API_KEY, value: {}}}]\n",
    "an argument": "args: [--token={}]\n",
    "two arguments": "args: [--password, {}]\n",
    "a Secret": "apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\nstringData:\n  harmless: {}\n",
    "a Secret in a list": "items:\n  - kind: Secret\n    stringData: {{a: {}}}\n",
    "an address": "url: https://user:{}@host/x\n",
    "a query": "url: https://host/x?access_token={}\n",
    "a private key": "pem: |\n  -----BEGIN PRIVATE KEY-----\n  {}\n  -----END PRIVATE KEY-----\n",
    "values in a text": "values: |\n  driver:\n    licenseToken: {}\n",
    "registry credentials": """config: '{{"auths":{{"nvcr.io":{{"auth":"{}"}}}}}}'\n""",
    "a comment": "a: b # password: {}\n",
    "a misspelt password": "pasword: {}\n",
    "a misspelt password of two mistakes": "adminPaswrd: {}\n",
    "a misspelt token": "api-tokne: {}\n",
    "a misspelt secret": "clientSecrte: {}\n",
    "a misspelt key": "ngcApiKye: {}\n",
    "a misspelt key in braces": "a: {{licence: b, apikkey: {}}}\n",
    "a misspelt block": "pasword: |\n  first-line-kept-too\n  {}\n",
    "a misspelt argument": "args: ['pasword={}']\n",
    "a text of pull secrets": "imagePullSecrets: {}\n",
    "a list of pull secrets": "imagePullSecrets: [a, {}]\n",
    "pull secrets with another key": "imagePullSecrets:\n  - name: ngc\n    auth: {}\n",
    "pull secrets that are a mapping": "imagePullSecrets:\n  nvcr.io: {}\n",
    "pull secrets with the secret for a name": "imagePullSecrets:\n- name: {}\n",
    "pull secrets below": "spec:\n  imagePullSecrets:\n  - a:\n      b: [{}]\n",
    "a key of pull secrets": "imagePullSecrets: [{{{}}}]\n",
}


def every_report(text: str, message: str) -> str:
    """Every line of a text as a place of a finding with a message, in every format."""
    shown = []
    try:
        documents = read_documents(text)
    except YamlProblem as problem:
        shown.append(yaml_diagnostic("x.yaml", text, problem))
        documents = []
    places = StreamPlaces("x.yaml", text)
    for number, _ in enumerate(documents):
        shown.append(diagnose(reading.NOT_A_MAPPING, message, places.locate(number, "/a", message)))
    for number, line in enumerate(text.split("\n"), 1):
        shown.append(
            yaml_diagnostic("x.yaml", text, YamlProblem(reason="yaml-syntax", message="here", position=_at(number)))
        )
        assert places.secrets.shown(number, line) is not None
    outcome = Outcome(diagnostics=tuple(shown))
    lines = [places.secrets.shown(number, line) for number, line in enumerate(places.lines, 1)]
    contexts = [
        ReportContext(tool="x", stop_token="t", layout=Layout(group_by=group, verbose=True)) for group in GROUPS
    ]
    reports = [format_check(name, outcome, context) for name in names_for(CHECK) for context in contexts]
    return "\n".join((*reports, *(lines if documents else ())))


def _at(line: int) -> Position:
    return Position(line, 1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("broken", ["", "\n}\n"], ids=["sound", "broken"])
def test_what_is_planted_is_not_shown(place: str, broken: str) -> None:
    text = PLACES[place].format(PLANTED) + broken
    message = (
        "the value is wrong" if broken or place == "a comment" else f"`{PLANTED}` is wrong, as is `{PLANTED[:18]}…`"
    )
    shown = every_report(text, message)
    assert PLANTED not in shown
    assert PLANTED[:18] not in shown
    assert MASK in shown


@pytest.mark.parametrize("field", [f'stringData = "{PLANTED}"', f"stringData = {{ a = {PLANTED_NUMBER} }}"])
def test_what_terraform_puts_into_a_secret_is_not_shown(tmp_path: Path, field: str) -> None:
    data = f'apiVersion = "v1"\nkind = "Secret"\nmetadata = {{ name = "a", namespace = "gpu-operator" }}\n{field}\n'
    (tmp_path / "main.tf").write_text(f'resource "kubernetes_manifest" "a" {{\nmanifest = {{\n{data}}}\n}}\n')
    shown = "".join(map(repr, check_paths(tmp_path, [tmp_path], everything=True).diagnostics))
    assert MASK in shown
    assert PLANTED not in shown
    assert PLANTED_NUMBER not in shown


@given(
    st.lists(st.sampled_from(sorted(set(PLACES) - {"a Secret", "a comment"})), min_size=1, max_size=4, unique=True),
    st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=10, max_size=40),
)
def test_nothing_planted_at_several_places_is_shown(places: list[str], secret: str) -> None:
    secret = f"S3{secret}"
    text = "".join(
        f"p{number}:\n" + "".join(f"  {line}\n" for line in PLACES[place].format(secret).splitlines())
        for number, place in enumerate(places)
    )
    assert secret not in every_report(text, f"`{secret}` is wrong")


@pytest.mark.parametrize(
    "line",
    [
        "secretName: ngc-credentials",
        "tokenAudience: https://kubernetes.default.svc",
        "keyFile: /etc/keys/token.pem",
        "imagePullSecrets: [ngc]",
        "imagePullSecrets: [{name: ngc-pull.secret}]",
        "imagePullSecrets: []",
        "tokens: 987654321012",
        "secrets: [abcdefgh]",
        "secretRef: abcdefgh",
        "keyword: abcdefgh",
        "taken: abcdefgh",
        "image: nvcr.io/nvidia/driver@sha256:" + "0123456789abcdef" * 4,
        "key: nvidia.com/gpu",
        "- {key: nvidia.com/gpu, effect: NoSchedule}",
        "url: https://helm.ngc.nvidia.com/nvidia",
        "repoURL: ssh://git@git.example.com/gpu.git",
        "privileges: ['rbac:core/secrets:get@cluster']",
        "automountServiceAccountToken: false",
        "password: ${PASSWORD}",
        "name: NGC_API_KEY",
        "token-ttl: 3600",
    ],
)
def test_what_is_no_secret_stays_readable(line: str) -> None:
    places = StreamPlaces("x.yaml", line + "\n")
    shown = places.secrets.shown(1, line)
    assert shown.replace("*", "") == line.replace("git@", "@") or shown == line
    assert shape_of(line) == ""


def test_names() -> None:
    secret = ("password", "adminPassword", "NGC_API_KEY", "apiKey", "client-secret", ".dockerconfigjson", "api-token")
    assert all(map(is_secret_name, secret))
    assert not any(map(is_secret_name, ("secretName", "keyFile", "tokenAudience", "imagePullSecrets", "key", "author")))


def test_a_tree_is_masked_by_names_and_shapes() -> None:
    tree = {"env": [{"name": "A_TOKEN", "value": PLANTED}], "version": "1", "data": {"a": "b"}}
    assert masked_tree(tree) == {"env": [{"name": "A_TOKEN", "value": MASK}], "version": "1", "data": {"a": "b"}}
    assert PLANTED not in json.dumps(masked_tree({"kind": "Secret", "data": {"harmless": PLANTED}}))


@pytest.mark.parametrize(
    ("tree", "shown"),
    [
        ({"token": 987654321012}, {"token": MASK}),
        ({"apiKey": ["first-one", "second-one"]}, {"apiKey": [MASK, MASK]}),
        ({"password": {"value": "inner-one", "length": 12}}, {"password": {"value": MASK, "length": 12}}),
        ({"credentials": [{"user": "bob", "pin": 7}]}, {"credentials": [{"user": MASK, "pin": 7}]}),
        ({f"ghp_{'a1' * 18}": "k"}, {MASK: "k"}),
        ({"pasword": "a", "adminTokn": ["b"]}, {"pasword": MASK, "adminTokn": [MASK]}),
        ({"imagePullSecrets": "abc"}, {"imagePullSecrets": MASK}),
        (
            {"imagePullSecrets": ["abc", {"name": "b", "auth": "c"}]},
            {"imagePullSecrets": ["abc", {"name": "b", "auth": MASK}]},
        ),
        ({"imagePullSecrets": {"a": {"b": 1}}}, {"imagePullSecrets": {"a": {"b": MASK}}}),
        ({"imagePullSecrets": [{"name": "ngc"}]}, ...),
        ({"token": {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}}, ...),
        ({"password": {"secretName": "s", "existing": True}}, ...),
        ({"tokens": 987654321012, "secretName": "s", "imagePullSecrets": ["a"]}, ...),
    ],
)
def test_what_stands_below_the_name_of_a_secret_is_one_but_for_references(tree, shown):
    assert masked_tree(tree) == (tree if shown is ... else shown)
    assert masked(f"see https://user:{PLANTED}@host") == f"see https://{'*' * (len(PLANTED) + 5)}@host"
    assert masked_line(f"export NGC_API_KEY={PLANTED}") == f"export NGC_API_KEY={MASK}"


def test_check_shows_no_secret_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n    - name: a\n      image: x\n"
        f"      env: [{{name: NGC_API_KEY, value: {PLANTED}, valu: {PLANTED}}}]\n",
        "utf-8",
    )
    for form in ("text", "json", "github"):
        run = subprocess.run(
            [sys.executable, "-m", "poolsmith", "check", str(file), "--format", form],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "valu" in run.stdout
        assert PLANTED not in run.stdout + run.stderr
