"""Secrets in addresses: found in every place of one, never shown, and no finding on plain addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes.shape import INVALID_VALUE
from poolsmith.core.diagnostics.masking import secret_in_address, without_secrets

SECRET = "ghp_S3cr3t"
HOLDING = {
    f"https://{SECRET}@git.example.com/gpu.git": "a user name",
    f"https://git:{SECRET}@git.example.com/gpu.git": "a password",
    f"https://:{SECRET}@git.example.com": "a password",
    f"ssh://git:{SECRET}@git.example.com/gpu.git": "a password",
    f"oci://{SECRET}@registry.example.com/charts": "a user name",
    f"http://proxy:{SECRET}@proxy.example.com:3128": "a password",
    f"https://git.example.com/gpu.git?token={SECRET}": "a query",
    f"https://git.example.com/gpu.git#{SECRET}": "a fragment",
    f"HTTPS://git:{SECRET}@git.example.com": "a password",
    f"use http://proxy:{SECRET}@proxy.example.com for it": "a password",
    f"line one\nhttp://proxy:{SECRET}@proxy.example.com\n": "a password",
}
PLAIN = (
    "https://git.example.com/gpu.git",
    "ssh://git@git.example.com/gpu.git",
    "git@git.example.com:gpu.git",
    "oci://registry.example.com:5000/charts",
    "http://$(USER):$(PASSWORD)@proxy.example.com:3128",
    "see https://wiki.example.com/page?view=1#part for it",
    "nvcr.io/nvidia/driver@sha256:" + "0" * 64,
    "https://git.example.com/a/b@c",
    "unix:///run/containerd/containerd.sock",
    "no address",
    "://",
    "",
)


@pytest.mark.parametrize("text", HOLDING)
def test_a_secret_is_found_by_its_place_and_never_shown(text):
    assert secret_in_address(text) == HOLDING[text]
    shown = without_secrets(text)
    assert SECRET not in shown
    assert len(shown) == len(text)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_addresses_are_left_alone(text):
    assert secret_in_address(text) is None


@given(st.text(alphabet="ab:/@?#.$()* \n", max_size=40))
def test_starring_keeps_every_column(text):
    assert len(without_secrets(f"https://{text}")) == len(f"https://{text}")


def test_no_diagnostic_shows_one():
    address = f"https://git:{SECRET}@git.example.com"
    place = whole_file("a.yaml").__class__(span=whole_file("a.yaml").span, source_line=f"repoURL: {address}")
    found = diagnose(INVALID_VALUE, f"`{address}`", place, help=f"write {address}", related=(place,))
    assert SECRET not in repr(found)
