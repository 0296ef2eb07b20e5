"""The sample fleet with every registry behind a mirror: nothing is pulled from elsewhere, nothing needs a new review."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from pathlib import Path

import pytest

from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app import check_project
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.images import images

ROOT = Path(__file__).resolve().parents[3]
TODAY = dt.date(2026, 11, 20)
MIRROR = "mirror.example.com:5000/all"
HOSTS = ("gcr.io", "nvcr.io", "quay.io", "registry.example.com", "registry.k8s.io")
OF_OTHERS = {"gcr.io/kubebuilder/kube-rbac-proxy:v0.13.1", "quay.io/confidential-containers/operator:v0.7.0"}
"""Named by manifests of another project, which are taken as they are."""
CHARTS = "oci://mirror.example.com:5000/charts"


def mirrored(host):
    return f"{MIRROR}/{host.replace('.', '-')}"


def put_behind_mirrors(root, *, reviewed=True, charts=True):
    """In each cluster's profile, and in the policies of those who review."""
    lines = "".join(f"\n      {host}: {mirrored(host)}" for host in HOSTS)
    for file in (root / "profiles").glob("*/cluster.yaml"):
        text = file.read_text()
        if charts:
            text = re.sub(r"(\n    repoURL: .*)", rf"\1\n    chartRepo: {CHARTS}", text, count=1)
        fact = "    - {fact: package-source, by: gpu-platform, date: 2026-11-20}\n"
        if "\n  acknowledge:\n" in text:
            text = text.replace("\n  acknowledge:\n", f"\n  acknowledge:\n{fact}")
        else:
            text = f"{text.rstrip()}\n  acknowledge:\n{fact}"
        file.write_text(f"{text.rstrip()}\n  registry:\n    mirrors:{lines}\n")
    if reviewed:
        supply = root / "policies/supply.yaml"
        entries = "".join(f"\n    {host}: [{mirrored(host)}]" for host in HOSTS)
        text = f"{supply.read_text().rstrip()}\n  mirrors:{entries}\n"
        text = text.replace("\n  charts:", f"\n    - {CHARTS}\n  charts:")
        supply.write_text(text)
        policy = root / "policies/admission/image-registries.yaml"
        policy.write_text(
            policy.read_text().replace('"nvcr.io/nvidia/",', f'"nvcr.io/nvidia/",\n          "{MIRROR}/",')
        )


def copied(folder):
    for name in ("profiles", "policies"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Generated, with all of it behind mirrors."""
    root = copied(tmp_path_factory.mktemp("mirrored"))
    put_behind_mirrors(root)
    generate(root)
    return root


def findings(root):
    found = check_project(root, progress=lambda done, total: None, judging=JudgingOptions(today=TODAY)).open
    return sorted(f"{item.severity} {item.name} {item.primary.span.path}" for item in found if item.severity != "note")


def pulled(root):
    return {use.image for _, uses in images(root, ()).clusters for use in uses}


def test_nothing_is_pulled_from_anywhere_else(fleet):
    assert {image for image in pulled(fleet) if not image.startswith(f"{MIRROR}/")} == OF_OTHERS


@pytest.mark.deep("a check of the whole fleet")
def test_grants_policies_and_sources_need_no_new_review(fleet):
    assert findings(fleet) == ["warning mirror-incomplete profiles/kata-a10/cluster.yaml"] * 2, (
        "manifests of another project name their images themselves"
    )


@pytest.mark.deep("a check of the whole fleet")
def test_a_mirror_that_nobody_reviewed_is_one_finding_for_each_host(tmp_path):
    root = copied(tmp_path)
    put_behind_mirrors(root, reviewed=False, charts=False)
    generate(root)
    clusters = len(list((root / "profiles").glob("*/cluster.yaml")))

    beside = ("denied-by-policy", "mirror-incomplete")
    found = [line for line in findings(root) if line.split()[1] not in beside]

    assert {line.split()[1] for line in found} == {"unknown-mirror"}
    assert len(found) == len(HOSTS) * clusters


@pytest.mark.deep("a check of the whole fleet")
def test_without_a_supply_policy_a_mirror_is_another_source(tmp_path):
    root = copied(tmp_path)
    put_behind_mirrors(root)
    (root / "policies/supply.yaml").unlink()
    generate(root)

    assert "ungranted-privilege" in {line.split()[1] for line in findings(root)}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("sample"))


def plan_of(run_cli, root, *flags):
    result = run_cli(["images", "--root", root, "--copy-plan", "json", *flags])
    assert result.code == 0
    return json.loads(result.out)


def test_the_plan_copies_what_the_publishers_have_to_what_the_nodes_pull_and_nothing_else(run_cli, fleet, sample):
    plan = plan_of(run_cli, fleet)

    assert sorted(item["source"] for item in plan["images"]) == sorted(pulled(sample))
    unmirrored = {item["source"] for item in plan["images"] if item["destination"] is None}
    assert unmirrored == OF_OTHERS
    found = sorted(item["destination"] for item in plan["images"] if item["destination"] is not None)
    assert found == sorted(pulled(fleet) - OF_OTHERS)
    assert {item["destination"] for item in plan["charts"]} == {CHARTS}


def test_a_registry_that_was_filled_by_the_plan_has_every_image_and_chart(run_cli, fleet):
    plan = plan_of(run_cli, fleet)
    registry = {item["destination"] for item in plan["images"]}
    charts = {(item["destination"], item["name"], item["version"]) for item in plan["charts"]}
    asked = set()
    for file in sorted((fleet / "output").rglob("*.yaml")):
        if "expected" not in file.parts and "admission" not in file.parts:
            asked |= set(re.findall(r"(?:image|payloadImage): (\S+:\S+)$", file.read_text(), re.MULTILINE))
    delivered = {
        (repo if repo.startswith("oci://") else f"oci://{repo}", name, version)
        for file in (fleet / "output/clusters").glob("*/delivery/*.yaml")
        for repo, name, version in _charts(file.read_text(), file.parent)
    }

    assert asked
    assert asked - registry == OF_OTHERS
    assert delivered == charts


def _charts(text, folder):
    """Charts as Argo CD and Flux name them."""
    for found in re.finditer(r"repoURL: (\S+)\n\s+chart: (\S+)\n\s+targetRevision: \"?([^\s\"]+)", text):
        yield found.groups()
    for found in re.finditer(r"chart: (\S+)\n\s+repoURL: (\S+)\n\s+targetRevision: \"?([^\s\"]+)", text):
        yield found[2], found[1], found[3]
    for found in re.finditer(r"chart:\n\s+spec:\n\s+chart: (\S+)\n(?:.*\n)*?\s+version: \"?([^\s\"]+)", text):
        sources = (folder / "sources.yaml").read_text()
        url = re.search(r"kind: HelmRepository\n(?:.*\n)*?\s+url: (\S+)", sources)[1]
        yield url, found[1], found[2]


@pytest.mark.rows(2, "two tools of the four; they differ by a word")
@pytest.mark.parametrize("form", ["text", "skopeo", "crane", "oras"])
def test_each_tool_is_told_of_every_image_once(run_cli, fleet, form):
    lines = run_cli(["images", "--root", fleet, "--copy-plan", form]).out.splitlines()

    for image in pulled(fleet) - OF_OTHERS:
        assert sum(line.endswith(image) for line in lines) == 1
    assert [line for line in lines if "without a mirror" in line and "kata-a10" not in line] == []


def test_without_mirrors_the_plan_says_so_and_takes_one_for_all(run_cli, sample):
    lines = run_cli(["images", "--root", sample, "--copy-plan", "crane"]).out.splitlines()
    images_of = plan_of(run_cli, sample, "--to", "r.example.com/m")["images"]

    assert [line for line in lines if line.startswith("crane")] == []
    assert any("images of nvcr.io without a mirror in" in line for line in lines)
    assert all(item["destination"] == f"r.example.com/m/{item['source']}" for item in images_of)
    assert run_cli(["images", "--root", sample, "--copy-plan", "crane", "--to", "https://x"]).code == 2
    assert run_cli(["images", "--root", sample, "--to", "x"]).code == 2


def test_a_plan_tells_architectures_and_packages(run_cli, sample):
    plan = plan_of(run_cli, sample)
    by_source = {item["source"]: item for item in plan["images"]}
    system = next(item for item in plan["packages"] if "prod-eu/gh200-arm64" in item["pools"])

    assert by_source["nvcr.io/nvidia/driver:580-5.15.0-105-generic-ubuntu22.04"]["architectures"] == ["amd64"]
    assert by_source["nvcr.io/nvidia/gpu-operator:v26.3.3"]["architectures"] == ["amd64", "arm64"]
    assert system["system"] == "ubuntu 24.04"
    assert "6.8.0-1021-nvidia-64k" in system["what"]
