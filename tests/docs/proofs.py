"""What is held against which real software: rows whose versions and counts are read, not written.

A row names the tests that prove it. `needs` is what has to be there for it: a tool or checkouts; without it the tests are
skipped by name. A recorded row always runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from support.circle_marks import circles_of, in_words
from support.control_plane import KUBERNETES
from support.recordings import recording

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Proof:
    """What of ours is held against which software, by which tests; what they need, or nothing if it is recorded."""

    ours: str
    against: str
    tests: tuple[str, ...]
    needs: str = ""


def locked(package: str) -> str:
    """The version of a Python package that the lock has."""
    found = re.search(rf"^{re.escape(package)}==(\S+)", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    assert found, f"requirements.lock has no {package}"
    return found[1]


def pinned(folder: str, module: str) -> str:
    """The version of a Go module that a folder pins."""
    text = (ROOT / folder / "go.mod").read_text("utf-8")
    found = re.search(rf"^\s+{re.escape(module)} v(\S+)", text, re.MULTILINE)
    assert found, f"{folder} does not pin {module}"
    return found[1]


def listed_releases() -> str:
    """The operator's releases that recorded clusters run."""
    held = recording("live_clusters")
    text = "".join(str(held[name]["lists"]) for name in held)
    found = set(re.findall(r"'helm\.sh/chart': 'gpu-operator-(v[\d.]+)'", text))
    return ", ".join(sorted(found, key=lambda tag: [int(part) for part in tag[1:].split(".")]))


HELM = f"Helm {pinned('.ci/go/helm', 'helm.sh/helm/v3')}"
KUSTOMIZE = f"kustomize {pinned('.ci/go/kustomize', 'sigs.k8s.io/kustomize/kustomize/v5')}"
KUBECONFORM = f"kubeconform {pinned('.ci/go/kubeconform', 'github.com/yannh/kubeconform')}"
EVALUATOR = f"k8s.io/apiserver {pinned('tests/oracle/admission', 'k8s.io/apiserver')}"
FLUX = (
    "Flux' controllers ("
    + ", ".join(
        f"{name} {pinned(f'.ci/go/{name}-controller', f'github.com/fluxcd/{name}-controller')}"
        for name in ("source", "kustomize", "helm")
    )
    + ")"
)
ARGOCD = f"Argo CD {pinned('.ci/go/argo-cd', 'github.com/argoproj/argo-cd/v3')}"
API_SERVER = f"kube-apiserver {KUBERNETES}"
OPERATOR = "the operator's own code"
SARIF = f"OASIS' schema of SARIF 2.1.0, as go-sarif {pinned('.ci/go/schemas', 'github.com/owenrumney/go-sarif/v3')} carries it"
CHARTS, TOOLS = "`POOLSMITH_CHARTS`", "`make tools`"
BINARIES = "`POOLSMITH_OPERATOR_BINARIES`"

PROOFS = (
    Proof(
        "every object that the sample fleet delivers, and all that is predicted to follow",
        f"{API_SERVER}: server-side apply, strict, twice",
        ("tests/control_plane/test_sample_fleet.py",),
        TOOLS,
    ),
    Proof(
        "the same of random clusters, of each release that can be generated",
        f"{API_SERVER}: server-side apply, strict, twice",
        ("tests/control_plane/test_random_clusters.py",),
        TOOLS,
    ),
    Proof(
        "values that are reported as refused, of random sets of values",
        f"{API_SERVER}: server-side apply, strict, of what the chart makes of them",
        ("tests/control_plane/test_refused_values.py",),
        TOOLS,
    ),
    Proof(
        "what the server makes of fields that are applied ([drift.md](drift.md)), and that a second apply finds nothing: "
        "of the sample, of random clusters, and by construction",
        f"kube-apiserver {KUBERNETES}: server-side apply and its dry run, as Argo CD's field manager",
        ("tests/control_plane/test_drift.py",),
        "`make tools`",
    ),
    Proof(
        "that a cluster which runs as it is committed has no finding, and what happens to it is found and named "
        "([live.md](live.md)); roles, faults and bundles of what reads it",
        f"kube-apiserver {KUBERNETES}, read by kr8s, also through a door with faults",
        (
            "tests/change/live/test_clean.py",
            "tests/change/live/test_seeded_drifts.py",
            "tests/change/live/test_left_overs.py",
            "tests/change/live/test_faults.py",
            "tests/change/live/test_access.py",
        ),
        "`make tools`",
    ),
    Proof(
        "that what the operator itself makes of sample clusters has no finding, and each field that is added is found "
        "([live.md](live.md))",
        f"the operator's own program of {listed_releases()} on a real API server: {len(recording('live_clusters'))} clusters, recorded",
        ("tests/change/live/test_recorded_clusters.py", "tests/change/live/test_additions.py"),
    ),
    Proof(
        "values from Helm's own records ([discover.md](discover.md))",
        f"{HELM}: install and upgrade on {API_SERVER}",
        ("tests/change/live/test_helm_records.py",),
        TOOLS,
    ),
    Proof(
        "that processes and Dask workers make the bytes and findings of one process, also when one of them is killed "
        "([fleet.md](fleet.md))",
        f"Dask {locked('distributed')}: a scheduler and workers as processes",
        ("tests/interface/app/test_engines.py", "tests/project/output/test_batches.py"),
        "the extra `dask`",
    ),
    Proof(
        "that the profiles which are proposed for a cluster generate what is committed for it, but for a list of fields "
        "that no cluster shows ([discover.md](discover.md))",
        f"kube-apiserver {KUBERNETES}, read by kr8s; recorded clusters, and those without the operator as predicted",
        ("tests/change/live/test_discover.py",),
        "`make tools`",
    ),
    Proof(
        "what `diff` says of a merge before the engine reads it: what is uninstalled, deleted, replaced, refused "
        "and kept, in scenarios and in random pairs of fleets ([what they did](#what-the-engines-did))",
        f"{FLUX} and {ARGOCD} on {API_SERVER}, with the published chart; recorded, and run again by `make test-deep`",
        ("tests/engines/test_engine_runs.py",),
        "nothing: recorded; run again: `make tools`, `make engines`",
    ),
    Proof(
        "which of Argo CD's diffs reports that",
        "Argo CD's own code (`tests/oracle/argocd`)",
        ("tests/change/drift/test_recorded_diffs.py",),
    ),
    Proof(
        "health scripts for Argo CD",
        "the interpreter and the libraries that Argo CD has for them",
        ("tests/project/output/test_argocd_health.py",),
    ),
    Proof(
        "the operator's chart with values as generated, hooks too",
        f"{HELM}, then {API_SERVER}: server-side apply, strict, twice",
        ("tests/control_plane/test_charts.py",),
        f"{TOOLS}, {CHARTS}",
    ),
    Proof(
        "the policy of the grants under Deny: all pods of the sample fleet and of random clusters, as controllers make "
        "them of Helm's and the predicted workloads; and each pod with one privilege more",
        f"{HELM}, then {API_SERVER} and kube-controller-manager",
        ("tests/control_plane/test_grants_policy.py",),
        f"{TOOLS}, {CHARTS}",
    ),
    Proof(
        "verdicts of the same policy on pods of the chart, by sets of values at each release",
        f"{HELM}, then {API_SERVER} and kube-controller-manager",
        ("tests/guard/policies/privilege_policy/test_recorded_pods.py",),
    ),
    Proof("predicted operands", f"{OPERATOR}, run in memory", ("tests/fleet/operands/test_operand_oracle.py",)),
    Proof(
        "predicted operands, of more releases and scenarios",
        f"the operator's own binary on {API_SERVER}",
        ("tests/fleet/operands/test_operator_binaries.py",),
    ),
    Proof(
        "`expected/workloads.yaml` of the sample fleet, and the grants policy under Deny ([e2e.md](e2e.md))",
        f"the operator's own binary on {API_SERVER}, with {HELM} and {KUSTOMIZE}",
        ("tests/e2e/test_sample_fleet.py",),
        f"{TOOLS}, {CHARTS}, {BINARIES}",
    ),
    Proof("custom resources from values", "the chart's templates, emulated", ("tests/recorded/test_chart_oracle.py",)),
    Proof(
        "predicted objects of the bundled charts, value by value",
        f"{HELM}'s engine",
        ("tests/fleet/operands/test_chart_probes.py",),
    ),
    Proof(
        "what the charts of a stack without the operator install, for profiles, at each release of the device plugin",
        f"{HELM}'s engine",
        ("tests/recorded/test_hand_installed.py",),
    ),
    Proof(
        "which MIG layouts fit: every layout of up to seven slices on every GPU that the catalog has profiles of",
        "a search over the places and engines that NVIDIA's guide and the driver's own lists name",
        ("tests/fleet/plan/test_mig_search.py",),
    ),
    Proof(
        "all that the operator's chart installs, in every field, with random valid values at each release",
        f"{HELM}'s engine",
        ("tests/fleet/operands/test_value_sets.py",),
    ),
    Proof(
        "the same with other random values, and with those of the sample",
        HELM,
        ("tests/real_tools/test_helm_value_sets.py",),
        f"{TOOLS}, {CHARTS}",
    ),
    Proof(
        "what `init --from` keeps of an owner's values: the render of both, but for what it tells",
        HELM,
        ("tests/real_tools/test_takeover_render.py",),
        f"{TOOLS}, {CHARTS}",
    ),
    Proof(
        "each value path of the operator's chart, with hostile texts",
        HELM,
        ("tests/real_tools/test_helm_charts.py",),
        f"{TOOLS}, {CHARTS}",
    ),
    Proof(
        "which settings a value of the operator's chart takes effect with: "
        f"{len(recording('value_effects')):,} values by release, each under every position of its switches",
        f"{HELM}'s engine, then the operator's own controllers in memory",
        ("tests/gpu/catalog/test_value_effects.py",),
    ),
    Proof(
        "which values the charts beside the operator read, of "
        f"{len(recording('stack_effects'))} versions: each but a few changes what is rendered, alone or with its switches",
        f"{HELM}'s engine",
        ("tests/gpu/catalog/test_stack_effects.py",),
    ),
    Proof(
        "what scripts hand to `helm`, word by word",
        "bash, with a `helm` that writes down its words",
        ("tests/kubernetes/repository/test_script_charts.py",),
        "bash",
    ),
    Proof(
        "what a kustomization makes of the namespaces of charts, by the version of kustomize",
        "kustomize " + ", ".join(sorted({key.partition("/")[0] for key in recording("kustomize_charts")})),
        ("tests/gpu/catalog/test_engines.py",),
    ),
    Proof(
        "all that the chart kata-deploy installs in its mode `daemonset`: each shim, distribution, mirror, placement",
        HELM,
        ("tests/fleet/operands/test_kata_deploy.py",),
    ),
    Proof(
        "the same, run again with random sets and the chart's own presets",
        HELM,
        ("tests/real_tools/test_helm_kata_deploy.py",),
        f"{TOOLS}, `POOLSMITH_KATA_DEPLOY_CHARTS`",
    ),
    Proof(
        "what the Confidential Containers operator's kustomization brings",
        "kustomize 5.8.1",
        ("tests/real_tools/test_kustomize_coco.py",),
        f"{TOOLS}, `POOLSMITH_COCO_OPERATOR`",
    ),
    Proof(
        "CEL: values, errors, types and costs of random expressions",
        EVALUATOR,
        ("tests/kubernetes/cel/test_differential.py",),
    ),
    Proof(
        "kustomizations, as poolsmith builds them in memory",
        KUSTOMIZE,
        ("tests/real_tools/test_kustomize.py",),
        TOOLS,
    ),
    Proof(
        "verdicts on custom resources with one thing wrong, in every field of a definition: "
        f"{sum(map(len, recording('server_verdicts').values()))} objects",
        f"{API_SERVER}: server-side apply, strict",
        ("tests/kubernetes/schema/test_server_verdicts.py",),
    ),
    Proof(
        "the same, asked again (all of them by `make test-deep`)",
        f"{API_SERVER}: server-side apply, strict",
        ("tests/control_plane/test_server_verdicts.py",),
        TOOLS,
    ),
    Proof(
        "verdicts on words in pods: labels, names, quantities, percentages",
        f"{API_SERVER}: server-side apply, strict",
        ("tests/kubernetes/schema/test_pod_fields.py",),
    ),
    Proof(
        "the same, asked again",
        f"{API_SERVER}: server-side apply, strict",
        ("tests/control_plane/test_pod_fields.py",),
        TOOLS,
    ),
    Proof(
        "feature gates of the DRA driver: each, each pair, and random ones",
        "the DRA driver's own code",
        ("tests/gpu/catalog/test_dra_gates.py",),
    ),
    Proof(
        f"configurations of the device plugin: {len(recording('device_plugin_config'))} texts that it reads or not, and "
        f"{len(recording('plugin_starts'))} that it or its MPS daemon starts with or not; what it offers then",
        "the plugin's and the daemon's own code at five versions",
        ("tests/gpu/values/test_device_plugin_config.py", "tests/gpu/values/test_plugin_starts.py"),
    ),
    Proof(
        f"MIG layouts ({len(recording('mig_layouts'))} texts) and configurations of feature discovery "
        f"({len(recording('discovery_config'))})",
        "mig-parted's and Node Feature Discovery's own code",
        ("tests/gpu/values/test_read_configurations.py",),
    ),
    Proof("verdicts on schemas", KUBECONFORM, ("tests/real_tools/test_kubeconform.py",), TOOLS),
    Proof(
        "Pod Security, each check and version",
        "kubernetes/pod-security-admission's own cases",
        ("tests/kubernetes/pod_security/test_upstream.py",),
    ),
    Proof(
        "the HTML report and the pages of a fleet: no request, no script of strangers, axe-core, keyboard, no broken word",
        "chromium",
        ("tests/browser/test_html_report.py", "tests/browser/test_pages.py"),
        TOOLS,
    ),
    Proof(
        "what `check`, `generate --check`, `ledger` and `check --all --format json` say of the sample fleet, byte for "
        "byte, with what an installation makes and without",
        "CPython 3.11, 3.12, 3.13 and 3.14; last with 3.11.7, 3.12.1, 3.13.0 and 3.14.8",
        ("tests/packaging/test_interpreters.py",),
        "these interpreters, in `POOLSMITH_PYTHONS`",
    ),
    Proof(
        "fields of built-in objects that may not change",
        API_SERVER,
        ("tests/control_plane/test_immutable_fields.py",),
        TOOLS,
    ),
    Proof(
        "SARIF of the sample fleet, and of every kind of finding",
        SARIF,
        ("tests/interface/report/test_sarif.py",),
        TOOLS,
    ),
    Proof(
        "JUnit of the sample fleet, and of every kind of finding",
        f"Jenkins' schema of JUnit, as {KUBECONFORM} carries it",
        ("tests/interface/report/test_junit.py",),
        TOOLS,
    ),
)

RECORDINGS = {
    "operator_runs": "operator, in memory",
    "operator_binaries": "operator, its binary",
    "chart_renderings": "chart, emulated",
}


def table() -> list[str]:
    """The rows, as Markdown."""
    lines = ["| what is ours | held against | tests | circle | needs |", "| --- | --- | --- | --- | --- |"]
    for proof in PROOFS:
        tests = ", ".join(f"`{path}`" for path in proof.tests)
        circles = in_words(set().union(*(found for path in proof.tests for found in circles_of(ROOT / path).values())))
        needs = proof.needs or "nothing: recorded"
        lines.append(f"| {proof.ours} | {proof.against} | {tests} | {circles} | {needs} |")
    return lines


def by_release() -> list[str]:
    """How many scenarios of each release are recorded, as Markdown."""
    counts: dict[str, dict[str, int]] = {}
    for name in RECORDINGS:
        for key in recording(name):
            release = key.partition("/")[0]
            counts.setdefault(release, {}).setdefault(name, 0)
            counts[release][name] += 1
    lines = [f"| release | {' | '.join(RECORDINGS.values())} |", "| --- |" + " --- |" * len(RECORDINGS)]
    for release in sorted(counts, key=lambda tag: [int(part) for part in tag[1:].split(".")]):
        cells = " | ".join(str(counts[release].get(name, "-")) for name in RECORDINGS)
        lines.append(f"| {release} | {cells} |")
    return lines
