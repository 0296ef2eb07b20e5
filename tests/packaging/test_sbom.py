"""The bill of materials has the form of CycloneDX 1.6, lists what the lock has, and is the same for the same files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tools.locked_packages import locked_packages
from tools.make_sbom import sbom

ROOT = Path(__file__).resolve().parents[2]
FILES = ("NOTICE", "requirements.lock")
BODY = sbom()
DIGEST = re.compile(r"[0-9a-f]{64}")


def test_it_has_the_form_that_cyclonedx_asks_for():
    assert (BODY["bomFormat"], BODY["specVersion"], BODY["version"]) == ("CycloneDX", "1.6", 1)
    assert uuid.UUID(BODY["serialNumber"].removeprefix("urn:uuid:")).version == 5
    assert BODY["metadata"]["component"]["type"] == "application"
    references = [BODY["metadata"]["component"]["bom-ref"], *(item["bom-ref"] for item in BODY["components"])]
    assert len(set(references)) == len(references)
    assert {one for item in BODY["dependencies"] for one in (item["ref"], *item["dependsOn"])} <= set(references)
    for item in (BODY["metadata"]["component"], *BODY["components"]):
        assert set(item) <= {"type", "bom-ref", "name", "version", "scope", "hashes", "licenses", "purl", "properties"}
        assert item["purl"] == f"pkg:pypi/{item['name']}@{item['version']}"
        assert [list(one) for one in item["licenses"]] in ([["license"]], [["expression"]])
    for item in BODY["components"]:
        assert item["type"] == "library"
        assert item["scope"] in ("required", "optional", "excluded")
        assert all(one["alg"] == "SHA-256" and DIGEST.fullmatch(one["content"]) for one in item["hashes"])
        assert len({one["content"] for one in item["hashes"]}) == len(item["hashes"])


def test_it_lists_what_the_lock_has_with_its_digests():
    told = {
        (item["name"], item["version"], tuple(one["content"] for one in item["hashes"])) for item in BODY["components"]
    }

    assert told == {(one.name, one.version, one.digests) for one in locked_packages(ROOT / "requirements.lock")}


def test_only_what_runs_with_it_is_required():
    (ours,) = BODY["dependencies"]

    assert ours["dependsOn"] == [item["bom-ref"] for item in BODY["components"] if item["scope"] == "required"]
    assert {item["name"] for item in BODY["components"] if item["scope"] == "required"} >= {"click", "pyyaml", "rich"}


def made(folder, **environment):
    clean = {key: value for key, value in os.environ.items() if key not in ("TZ", "LANG")}
    paths = {"PYTHONPATH": f"{ROOT / 'generator'}:{ROOT / 'tests'}"}
    command = [sys.executable, "-m", "tools.make_sbom"]
    return subprocess.run(
        command, cwd=folder, env={**clean, **paths, **environment}, capture_output=True, check=True
    ).stdout


def test_the_same_files_give_the_same_bytes(tmp_path):
    first = made(tmp_path, PYTHONHASHSEED="1", TZ="Asia/Tokyo")

    assert first == made(ROOT, PYTHONHASHSEED="2", LC_ALL="C")
    assert json.loads(first) == BODY


def test_another_lock_is_another_bill(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    lock = tmp_path / "requirements.lock"
    lock.write_text(lock.read_text().replace("click==8", "click==9"))

    assert sbom(tmp_path)["serialNumber"] != BODY["serialNumber"]
    assert sbom(tmp_path, "9.9.9")["metadata"]["component"]["version"] == "9.9.9"


def test_a_package_without_a_licence_in_notice_is_no_release(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    notice = tmp_path / "NOTICE"
    notice.write_text(re.sub(r"(?m)^  pyyaml .*\n", "", notice.read_text()))

    with pytest.raises(KeyError, match="pyyaml"):
        sbom(tmp_path)
