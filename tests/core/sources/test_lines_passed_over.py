"""Lines without a word of secrets are passed over: what is told of a text is what a look at each line tells."""

from __future__ import annotations

import random

import pytest

from poolsmith.core.sources import secret_scalars

LINES = (
    "kind: Secret",
    "data:",
    "  a: dmFsdWU=",
    "password: hunter22",
    "- name: DB_PASSWORD",
    "  value: hunter22",
    "- name: colour",
    "  value: blue",
    "imagePullSecrets:",
    "- name: regcred",
    "- s3cr3t-s3cr3t",
    "token: |",
    "  first line of it",
    "  second line of it",
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEowIBAAKCAQEA7",
    "-----END RSA PRIVATE KEY-----",
    "url: https://user:pa55word@example.com/x",
    "args: [--api-key, abcdef123456]",
    "pasword: hunter23",
    "# hunter22 is what it says",
    "replicas: 3",
    "image: nvcr.io/nvidia/driver:580",
    "",
    "x" * 3_000,
)


@pytest.mark.parametrize("seed", range(200))
def test_a_text_is_what_its_lines_are(seed):
    choose = random.Random(seed)
    lines = choose.choices(LINES, k=choose.randint(1, 12))
    text = "\n".join(lines)
    scan = secret_scalars._LineScan(secret_scalars._SECRET_KIND.search(text) is not None)
    for number, line in enumerate(lines, 1):
        scan.take(number, line)
    found = secret_scalars.secrets_of_text(text)

    if found is not secret_scalars.NONE:
        assert (found.texts, found.lines) == (frozenset(scan.texts), scan.hidden)
