"""Pages with an example of their own: it is taken at its word, its commands print what they show, its rules exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poolsmith.guard.rules.rule_book import rule_book

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("kata", "virtual-machines", "dra", "sharing", "hand-installed")


def text_of(name):
    return (DOCS / f"{name}.md").read_text("utf-8")


def files_of(name):
    return {found[1]: found[2] for found in re.finditer(r"```yaml\n# (\S+)\n(.*?)```", text_of(name), re.DOTALL)}


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_print_what_the_page_shows(write_files, run_cli, name):
    root = write_files(files_of(name))
    (walk,) = re.findall(r"```console\n(.*?)```", text_of(name), re.DOTALL)
    for step in walk.split("$ poolsmith ")[1:]:
        command, *shown = step.splitlines()
        run = run_cli([*command.split(), "--root", root])
        assert run.code == 0, run.err
        printed = f"{run.out}\n{run.err}".splitlines()
        assert [line for line in shown if line not in printed] == []


@pytest.mark.parametrize("name", (*PAGES, "openshift"))
def test_the_rules_that_a_page_names_are_rules(name):
    named = set(re.findall(r"PSM\d{3}", text_of(name)))

    assert named
    assert named <= {rule.code for rule in rule_book()}


def test_the_files_that_pages_speak_of_are_generated(write_files, run_cli):
    for name, paths in (
        ("kata", ("units/kata-deploy/values/kata-deploy.yaml", "smoke/sealed.yaml")),
        ("virtual-machines", ("kubevirt/permitted-host-devices.yaml", "platform/vgpu-layouts.yaml")),
        ("dra", ("smoke/nvl72.yaml", "pools/nvl72/nvidia-driver.yaml")),
    ):
        root = write_files({f"{name}/{path}": text for path, text in files_of(name).items()}) / name
        assert run_cli(["generate", "--root", root]).code == 0
        assert [path for path in paths if not (root / "output/clusters/lab" / path).exists()] == []


def test_openshift_is_refused_with_the_page(write_files, run_cli):
    files = files_of("kata")
    cluster = next(path for path in files if path.endswith("cluster.yaml"))
    files[cluster] = files[cluster].replace("distribution: kubeadm", "distribution: openshift")
    run = run_cli(["generate", "--root", write_files(files)])

    assert run.code == 1
    assert "docs/openshift.md" in run.out + run.err


def test_the_commands_for_openshift_work(write_files, run_cli, monkeypatch):
    """On files such as the page speaks of."""
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: a}\nspec: {containers: [{name: a, image: a/b:1}]}\n"
    )
    root = write_files(
        {
            "clusterpolicy.yaml": "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpu-cluster-policy}\n"
            "spec: {operator: {use_ocp_driver_toolkit: true, defaultRuntime: crio}, driver: {enabled: true}, "
            "toolkit: {enabled: true}, devicePlugin: {}, dcgm: {enabled: true}, dcgmExporter: {}, gfd: {}, "
            "nodeStatusExporter: {enabled: true}, daemonsets: {}}\n",
            "subscription.yaml": "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n"
            "metadata: {name: gpu-operator-certified, namespace: nvidia-gpu-operator}\n"
            "spec: {channel: v26.7, name: gpu-operator-certified, source: certified-operators, "
            "sourceNamespace: openshift-marketplace, installPlanApproval: Manual}\n",
            "workloads/pod.yaml": pod,
            "pod.yaml": pod,
            "policy.yaml": "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
            "metadata: {name: a}\nspec:\n  failurePolicy: Fail\n  matchConstraints: {resourceRules: [{apiGroups: [''], "
            "apiVersions: [v1], operations: [CREATE], resources: [pods]}]}\n"
            "  validations: [{expression: 'true'}]\n---\n"
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\n"
            "spec: {policyName: a, validationActions: [Deny]}\n",
        }
    )
    monkeypatch.chdir(root)
    (walk,) = re.findall(r"```console\n(.*?)```", text_of("openshift"), re.DOTALL)
    for command in walk.split("$ poolsmith ")[1:]:
        run = run_cli(command.split())
        assert run.code in (0, 1), run.err
        assert "internal error" not in run.err
