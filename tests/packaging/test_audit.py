"""An audit that could look up nothing is no audit: it says so, and fails where it is required."""

from __future__ import annotations

import json

import pytest

from tools.audit_locks import audit_of, judged

NAMES = ("click", "pyyaml")
FOUND = {"id": "CVE-2099-1", "fix_versions": ["9.9"], "aliases": [], "description": ""}


def report(*rows):
    return json.dumps({"dependencies": list(rows), "fixes": []})


def clean(name):
    return {"name": name, "version": "1.0", "vulns": []}


SKIPPED = [{"name": name, "skip_reason": "not found"} for name in NAMES]


@pytest.mark.parametrize("text", [report(*SKIPPED), report(), "", "Traceback", "[]", '{"dependencies": null}', "null"])
def test_nothing_looked_up_is_told_and_fails_where_it_is_required(text):
    audit = audit_of("requirements.lock", NAMES, text)

    assert (audit.looked_up, audit.skipped) == ((), NAMES)
    assert judged([audit], required=False)[0] == 0
    assert judged([audit], required=True)[0] == 1
    assert "SKIPPED requirements.lock: 2 of 2 packages were NOT audited" in judged([audit], required=False)[1]


def test_one_package_left_out_is_told():
    audit = audit_of("requirements.lock", NAMES, report(clean("click"), SKIPPED[1]))

    assert (audit.looked_up, audit.skipped) == (("click",), ("pyyaml",))
    assert judged([audit], required=True)[0] == 1


def test_a_vulnerability_fails_always():
    audit = audit_of("requirements.lock", NAMES, report(clean("click"), {**clean("pyyaml"), "vulns": [FOUND]}))

    assert judged([audit], required=False) == (
        1,
        "VULNERABLE requirements.lock: pyyaml 1.0: CVE-2099-1, fixed in 9.9\n2 packages looked up in 1 locks\n",
    )


def test_none_is_none():
    audit = audit_of("requirements.lock", NAMES, report(*map(clean, NAMES)))

    assert judged([audit], required=True) == (0, "2 packages looked up in 1 locks\n")
