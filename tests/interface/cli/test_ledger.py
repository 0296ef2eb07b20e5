"""Three questions on the sample fleet, each one command with a short answer; and what the flags do."""

from __future__ import annotations

import json

import pytest

ROOT_WRITE = "host-path:/:rw:none"
PATCH_NODES = "rbac:core/nodes:patch@cluster"


@pytest.fixture
def ask(run_cli, repository):
    """An answer's lines, without titles and legends."""

    def run(*words):
        result = run_cli(["ledger", "--root", repository, *words])
        assert (result.code, result.err) == (0, "")
        return [line for line in result.out.splitlines() if line]

    return run


class TestThreeQuestions:
    def test_which_pools_run_something_that_can_write_the_root_file_system_and_which_line_brings_it(self, ask):
        answer = ask("--cluster", "prod-eu", "--holds", ROOT_WRITE)

        assert len(answer) == 3
        assert "DaemonSet/nvidia-mig-manager nvidia-mig-manager" in answer[2]
        assert "a100-mig, a100-precompiled, gh200-arm64, h100-rhel" in answer[2]
        assert "profiles/_bases/a100.yaml:11: spec.gpu.product" in answer[2]

    def test_what_a_pool_would_lose_without_its_mig_manager(self, ask):
        answer = ask("--cluster", "prod-eu", "--pool", "a100-mig", "--set", "migManager.enabled=false")
        workloads = [line for line in answer[2:] if not line.startswith(" ")]

        assert answer[0] == "prod-eu  v26.3.3  with migManager.enabled=false"
        assert workloads == ["DaemonSet/nvidia-mig-manager in gpu-operator"]
        assert all(line.startswith("  - ") for line in answer[3:])
        assert any("host-path:/:rw:host-to-container" in line for line in answer)
        assert any("rbac:core/nodes:patch,update@cluster" in line for line in answer)

    def test_who_may_patch_nodes_from_a_node(self, ask):
        answer = ask("--cluster", "prod-eu", "--holds", PATCH_NODES)
        holders = [line.split()[1] for line in answer[2:]]

        assert "DaemonSet/nvidia-mig-manager" in holders
        assert len([name for name in holders if name.startswith("DaemonSet/nvidia-gpu-driver-")]) == 7
        assert "DaemonSet/gpu-operator-node-feature-discovery-worker" in holders
        assert "DaemonSet/nvidia-dcgm-exporter" not in holders
        assert all(PATCH_NODES in line for line in answer[2:])


def test_who_is_privileged_holds_each_capability(ask):
    answer = ask("--cluster", "lab-t4", "--holds", "capability:SYS_ADMIN")

    assert len(answer) > 10
    assert all(" privileged " in line for line in answer[2:])
    assert ask("--cluster", "lab-t4", "--holds", "host-port:80")[1:] == ["nothing"]


def test_a_line_that_is_one_of_several_says_so(ask):
    answer = ask("--cluster", "prod-eu", "--holds", PATCH_NODES)
    manager = next(line for line in answer if "nvidia-mig-manager" in line)

    assert "profiles/_bases/a100.yaml:11: spec.gpu.product and 2 more" in manager
    assert manager.endswith("a100-mig, a100-precompiled, gh200-arm64, h100-rhel")


class TestTwoPools:
    def test_the_line_in_which_they_differ_is_named_by_just_what_it_brings(self, ask):
        answer = ask("--cluster", "prod-eu", "--pool", "a100-mig", "--against", "l40s-shared")
        middle = answer.index("l40s-shared has, and a100-mig has not:")

        assert answer[1] == "a100-mig has, and l40s-shared has not:"
        assert answer[2] == "node-root      DaemonSet/nvidia-mig-manager in gpu-operator on a100-mig"
        assert "profiles/_bases/a100.yaml:11: spec.gpu.product" in answer[3]
        assert not any("DaemonSet/" in line for line in answer[3:middle])
        assert answer[middle + 1 :] == ["nothing"]

    def test_json_has_both_sides(self, run_cli, repository):
        words = ["--cluster", "prod-eu", "--pool", "l40s-shared", "--against", "a100-mig", "--format", "json"]
        (cluster,) = json.loads(run_cli(["ledger", "--root", repository, *words]).out)["clusters"]

        assert cluster["lines"] == []
        assert {line["workload"] for line in cluster["lacks"]} == {"DaemonSet/nvidia-mig-manager"}


class TestTable:
    def test_workloads_are_listed_worst_first_with_a_mark_for_each_pool(self, ask):
        answer = ask("--cluster", "prod-eu")
        reaches = [line.split()[0] for line in answer[4:]]

        assert " ".join(" ".join(answer[1:3]).split()) == (
            "pools: 1 a100-mig 2 a100-precompiled 3 gh200-arm64 4 h100-rhel 5 l4-burst 6 l4-precompiled 7 l40s-crio "
            "8 l40s-shared"
        )
        assert reaches == sorted(reaches, key=["node-root", "node-write", "cluster-write"].index)
        assert next(line for line in answer if "nvidia-mig-manager" in line).split()[1:9] == list("xxxx....")
        assert next(line for line in answer if "mps-control" in line).split()[1:4] == ["no", "known", "node"]
        assert next(line for line in answer if "Deployment/gpu-operator " in line).split()[1:3] == ["any", "node"]

    def test_what_is_unknown_is_said(self, ask, monkeypatch):
        monkeypatch.setattr("poolsmith.fleet.operands.cc_runtime.brought_objects", lambda *_: None)
        assert any(
            line.startswith("unknown: ") and "confidential-containers/operator" in line
            for line in ask("--cluster", "kata-a10")
        )

    def test_a_cluster_without_the_operator_has_a_ledger_too(self, ask):
        answer = " ".join(ask("--cluster", "manual"))

        assert "DaemonSet/nvidia-device-plugin-daemonset" in answer
        assert "DaemonSet/dcgm-exporter" in answer


class TestOtherValues:
    def test_a_workload_that_only_the_values_bring_can_be_asked_for(self, ask):
        answer = ask("--cluster", "prod-eu", "--workload", "nvidia-dcgm", "--set", "dcgm.enabled=true")

        assert "DaemonSet/nvidia-dcgm in gpu-operator" in answer
        assert any(line.startswith("  + ") for line in answer)

    def test_a_value_that_some_clusters_read_changes_these(self, ask):
        answer = "\n".join(ask("--set", "gfd.hostNetwork=true"))

        assert "kata-a10  v24.9.2  with gfd.hostNetwork=true\nno privilege changes" in answer
        assert "host-network" in answer

    def test_values_that_change_no_privilege_say_so(self, ask):
        assert ask("--cluster", "edge", "--set", "driver.version=580.126.20") == [
            "edge  v26.7.0  with driver.version=580.126.20",
            "no privilege changes",
        ]


class TestDetails:
    def test_workloads_without_a_known_node_can_be_asked_for(self, ask):
        assert any("on no known node" in line for line in ask("--cluster", "prod-eu", "--pool", "-"))

    def test_a_pool_shows_each_privilege_and_the_lines_that_bring_it(self, ask):
        answer = ask("--cluster", "prod-eu", "--pool", "h100-rhel", "--workload", "nvidia-mig-manager")
        text = "\n".join(answer)

        assert "DaemonSet/nvidia-mig-manager in gpu-operator on h100-rhel" in text
        assert "caused by profiles/prod-eu/h100-rhel.yaml:18: spec.gpu.product" in text
        assert "chart default migManager.enabled: true" in text
        assert 'host-path:/:rw:host-to-container  from chart default hostPaths.rootFS: "/"' in text

    def test_json_has_every_line_with_its_origins(self, run_cli, repository):
        result = run_cli(["ledger", "--root", repository, "--cluster", "lab-t4", "--format", "json"])
        body = json.loads(result.out)
        (cluster,) = body["clusters"]

        assert (body["version"], cluster["cluster"], cluster["pools"]) == (1, "lab-t4", ["t4"])
        assert {line["pool"] for line in cluster["lines"]} == {"*", "-", "t4"}
        assert all(line["origins"] for line in cluster["lines"])
        assert all(set(line) == set(cluster["lines"][0]) for line in cluster["lines"])


@pytest.mark.rows(8, "each runs a command over the fleet")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pool", "a100-mog"], "there is no pool `a100-mog` here; did you mean `a100-mig`?"),
        (["--workload", "nvidia-mig-manger"], "did you mean `nvidia-mig-manager`?"),
        (["--cluster", "prod"], "there is no cluster `prod`"),
        (["--reach", "root"], "--reach root: there is no such reach"),
        (["--holds", "host-path:etc:rw:none"], "--holds host-path:etc:rw:none: `etc` is no absolute path"),
        (["--holds", "privilged"], "did you mean `privileged`?"),
        (["--set", "a["], "--set a[: "),
        (["--set", "migManager.enabld=false"], "did you mean `migManager.enabled`?"),
        (["--cluster", "prod-eu", "--set", "cdi.enabled=false,cdi.nriPluginEnabled=true"], "the chart refuses this"),
        (["--workload", "nvidia-dcgn", "--set", "dcgm.enabled=true"], "did you mean `nvidia-dcgm`?"),
        (["--release-diff", "v26.3.3", "v26.7.0", "--workload", "nvidia-dcgn"], "did you mean `nvidia-dcgm`?"),
        (["--release-diff", "v26.3.3", "v26.7.0", "--pool", "contaner"], "did you mean `container`?"),
        (["--release-diff", "v26.3.3", "v26.7.0", "--set", "gfd.enabld=false"], "did you mean `gfd.enabled`?"),
        (["--release-diff", "v1", "v26.3.3"], "the operands of release `v1` are not in the catalog"),
        (["--release-diff", "v26.3.3", "v26.7.0", "--cluster", "edge"], "it takes no --cluster"),
        (["--against", "a100-mig"], "--against compares two pools"),
        (["--pool", "h100-rhel", "--against", "x"], "there is no pool `x` here"),
        (["--cluster", "lab-t4", "--set", "migManager.enabled=maybe"], "--set"),
        (["--cluster", "manual", "--set", "a=b"], "has no operator whose values could change"),
    ],
)
def test_a_wrong_flag_is_told_with_a_way_out(run_cli, repository, words, said):
    result = run_cli(["ledger", "--root", repository, *words])

    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err


def test_profiles_with_errors_have_no_ledger(run_cli, sample_project):
    profile = sample_project / "profiles/edge/l4.yaml"
    profile.write_text(profile.read_text().replace("driver:", "diver:"))
    result = run_cli(["ledger", "--root", sample_project, "--cluster", "edge"])

    assert result.code == 1
    assert "diver" in result.out


def test_images_are_those_of_the_pools_systems_and_kernels(run_cli, repository):
    result = run_cli(["images", "--root", repository, "--cluster", "prod-eu"])
    images = result.out.splitlines()

    assert result.code == 0
    assert images == sorted(set(images))
    assert "nvcr.io/nvidia/driver:580-5.15.0-105-generic-ubuntu22.04" in images
    assert "nvcr.io/nvidia/driver:580.126.20-rhel9.6" in images
    assert any(image.startswith("registry.k8s.io/nfd/node-feature-discovery:") for image in images)


def test_images_as_json_name_workloads_pools_and_systems(run_cli, repository):
    result = run_cli(["images", "--root", repository, "--cluster", "prod-eu", "--format", "json"])
    (cluster,) = json.loads(result.out)["clusters"]
    by_name = {item["image"]: item for item in cluster["images"]}
    driver = by_name["nvcr.io/nvidia/driver:580.126.20-rhel9.6"]

    assert (driver["pools"], driver["systems"]) == (["h100-rhel"], ["rhel 9.6"])
    assert driver["workloads"][0].startswith("gpu-operator/DaemonSet/nvidia-gpu-driver-rhel9.6-")


def test_what_is_unknown_of_images_goes_to_standard_error(run_cli, repository, monkeypatch):
    monkeypatch.setattr("poolsmith.fleet.operands.cc_runtime.brought_objects", lambda *_: None)
    result = run_cli(["images", "--root", repository, "--cluster", "kata-a10"])

    assert "unknown: kata-a10: what https://github.com/confidential-containers/operator" in result.err
