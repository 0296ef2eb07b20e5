"""The files of a cluster: delivery objects of both engines, kustomizations, labels and snippets, README."""

from __future__ import annotations

import re
import shlex

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.profiles.node_pool import Taint, TaintEffect
from poolsmith.kubernetes.cel import Bindings, CelEnvironment, engine_problem
from poolsmith.project.output.provisioners import _TOOLS, NodeSettings, snippet
from poolsmith.project.output.readme import _code, _escape
from support.kustomize_build import build

ARGO = "{engine: argocd, repoURL: https://git.example.com/gpu.git%s}"
FLUX = "{engine: flux, repoURL: https://git.example.com/gpu.git%s}"
DRIVER_OBJECTS = "{release: v26.3.3, driverMode: nvidia-driver}"
MANUAL = "{kind: device-plugin, release: v0.17.1, namespace: gpu, dcgmExporter: {release: 4.1.1-4.0.4}}"
PREINSTALLED = {"driver": "{source: preinstalled}"}
KATA = {
    "driver": None,
    "workload": "kata",
    "gpu": "{product: NVIDIA-A10, count: 1}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}
TAINTED = {"nodes": "{taints: [{key: team, value: ml, effect: NoSchedule}]}"}


@pytest.mark.parametrize(
    ("extra", "destination"),
    [
        ("", {"server": "https://kubernetes.default.svc"}),
        (", destination: {name: prod-eu}", {"name": "prod-eu"}),
        (", destination: {server: https://api.example.com:6443}", {"server": "https://api.example.com:6443"}),
    ],
)
def test_argo_applications_go_to_their_destination(render, extra, destination):
    spec = render({"delivery": ARGO % extra}).document("delivery/gpu-operator.yaml")["spec"]

    assert spec["destination"] == {**destination, "namespace": "gpu-operator"}


def test_argo_installs_the_pinned_chart_with_values_from_the_repository(render):
    files = render({"delivery": ARGO % ", path: deploy/gpu, revision: refs/tags/v1"})
    chart, values = files.document("delivery/gpu-operator.yaml")["spec"]["sources"]

    assert (chart["chart"], chart["targetRevision"]) == ("gpu-operator", "v26.3.3")
    assert chart["helm"]["valueFiles"] == ["$values/deploy/gpu/clusters/prod/platform/values/gpu-operator.yaml"]
    assert values == {"repoURL": "https://git.example.com/gpu.git", "targetRevision": "refs/tags/v1", "ref": "values"}
    assert "platform/values/gpu-operator.yaml" in files.content


@pytest.mark.parametrize(
    ("engine", "expected"), [(ARGO, "registry.example.com/charts"), (FLUX, "oci://registry.example.com/charts")]
)
def test_a_chart_repository_in_a_registry_is_named_as_the_engine_takes_it(render, engine, expected):
    files = render({"delivery": engine % ", chartRepo: oci://registry.example.com/charts"})
    if engine is ARGO:
        assert files.document("delivery/gpu-operator.yaml")["spec"]["sources"][0]["repoURL"] == expected
    else:
        (helm,) = [item for item in files.documents("delivery/sources.yaml") if item["kind"] == "HelmRepository"]
        assert (helm["spec"]["url"], helm["spec"]["type"]) == (expected, "oci")


def test_argo_waves_put_pools_after_the_operator_after_the_platform(render):
    files = render({"stack": DRIVER_OBJECTS})
    waves = {
        body["metadata"]["name"]: int(body["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])
        for _, body in files.everything()
        if body.get("kind") == "Application"
    }

    assert waves["prod-platform"] < waves["prod-gpu-operator"] < waves["prod-pools"]


def test_argo_tolerates_kinds_that_the_chart_brings_later(render):
    for _, body in render({"stack": DRIVER_OBJECTS}).everything():
        if body.get("kind") == "Application":
            policy = body["spec"]["syncPolicy"]
            assert "SkipDryRunOnMissingResource=true" in policy["syncOptions"]
            assert policy["retry"]["limit"] > 0


def test_argo_ignores_what_the_release_never_settles(render):
    body = render({"stack": "{release: v26.7.0}"}).document("delivery/gpu-operator.yaml")

    assert body["spec"]["ignoreDifferences"] == [
        {"group": "nvidia.com", "kind": "ClusterPolicy", "jsonPointers": ["/spec/cdi/default"]}
    ]
    assert "RespectIgnoreDifferences=true" in body["spec"]["syncPolicy"]["syncOptions"]


def test_flux_installs_the_chart_with_values_from_a_config_map(render):
    files = render({"delivery": FLUX % ""})
    spec = files.document("delivery/gpu-operator.yaml")["spec"]
    (config_map,) = [item for item in build(files.tree, files.content, "platform") if item["kind"] == "ConfigMap"]

    assert spec["chart"]["spec"]["version"] == "v26.3.3"
    assert spec["valuesFrom"] == [
        {"kind": "ConfigMap", "name": config_map["metadata"]["name"], "valuesKey": "values.yaml"}
    ]
    assert config_map["metadata"]["namespace"] == files.document("delivery/gpu-operator.yaml")["metadata"]["namespace"]
    assert config_map["data"]["values.yaml"] == files.text("platform/values/gpu-operator.yaml")


def test_flux_orders_units_and_waits_for_the_release_before_the_pools(render):
    files = render({"delivery": FLUX % "", "stack": DRIVER_OBJECTS})
    platform, pools = (files.document(f"delivery/{name}.yaml")["spec"] for name in ("platform", "pools"))

    assert pools["dependsOn"] == [{"name": "prod-platform"}]
    assert [check["name"] for check in platform["healthChecks"]] == ["prod-gpu-operator"]


def condition(kind, status, reason, message=""):
    return {"type": kind, "status": status, "reason": reason, "message": message}


READY = [condition("Ready", "True", "Reconciled"), condition("Error", "False", "Ready")]


NO_NODES = "Error syncing state state-driver: failed to create k8s objects from manifests: no nodes matching the given node selector for a-gpu-compiled"


def not_ready(reason, message=""):
    return [condition("Ready", "False", "Error"), condition("Error", "True", reason, message)]


@pytest.mark.rows(10, "a row takes 0.051 s; each value of each column is seen first")
@pytest.mark.skipif(engine_problem() is not None, reason=str(engine_problem()))
@pytest.mark.parametrize("release", ["v24.6.1", "v25.10.1", "v26.3.3", "v26.7.0"])
@pytest.mark.parametrize(
    ("status", "health"),
    [
        ({}, "inProgress"),
        ({"state": "notReady"}, "inProgress"),
        ({"state": "notReady", "conditions": []}, None),
        ({"state": "notReady", "conditions": not_ready("DriverNotReady")}, "inProgress"),
        ({"state": "notReady", "conditions": not_ready("ReconcileFailed")}, "failed"),
        ({"state": "notReady", "conditions": not_ready("ReconcileFailed", NO_NODES)}, "current"),
        ({"state": "notReady", "conditions": not_ready("ConflictingNodeSelector")}, "failed"),
        ({"state": "disabled", "conditions": not_ready("Reconciled")}, "failed"),
        ({"state": "ready", "conditions": READY}, "current"),
    ],
)
def test_flux_calls_the_pools_healthy_once_the_operator_says_that_each_driver_is_ready(render, release, status, health):
    """In Flux' order, the first that holds counts; without any, the object is in progress."""
    stack = f"{{release: {release}, driverMode: nvidia-driver}}"
    spec = render({"delivery": FLUX % "", "stack": stack}).document("delivery/pools.yaml")["spec"]
    (check,) = spec["healthCheckExprs"]
    environment = CelEnvironment.of("1.34")
    scope = environment.scope(params=False)
    bindings = Bindings(object={"status": status}, old_object=None, request={"operation": "UPDATE"})
    holds = {
        name: environment.compile(
            re.sub(r"\bstatus\.conditions", "object.status.conditions", check[name]), scope
        ).evaluate(bindings)
        for name in ("inProgress", "failed", "current")
    }

    assert spec["wait"] is True
    assert (check["apiVersion"], check["kind"]) == ("nvidia.com/v1alpha1", "NVIDIADriver")
    assert [name for name, true in holds.items() if true] == ([health] if health else [])


def test_a_node_feature_rule_carries_what_keeps_operands_off_the_nodes(render):
    pools = {"a": {**PREINSTALLED, "nodes": "{names: [n1, n2]}"}, "b": {}}
    files = render({"stack": "{release: v26.7.0}"}, pools)
    (rule,) = files.document("pools/a/node-feature-rule.yaml")["spec"]["rules"]
    expected = files.document("expected/node-labels/a.yaml")

    assert rule["labels"] == {"nvidia.com/gpu.deploy.driver": "pre-installed", "poolsmith.dev/pool": "a"}
    assert expected["nodeFeatureDiscovery"]["labels"] == rule["labels"]
    assert expected["provisioner"]["labels"] == {}


def test_flux_asks_for_no_driver_where_pools_have_no_object_of_it(render):
    files = render({"delivery": FLUX % ""}, {"a": {"nodes": "{names: [n1]}"}})

    assert "healthCheckExprs" not in files.document("delivery/pools.yaml")["spec"]


@pytest.mark.parametrize(
    ("extra", "reference", "generated"),
    [
        ("", {"kind": "GitRepository", "name": "prod-poolsmith"}, True),
        (", sourceRef: {name: flux-system}", {"kind": "GitRepository", "name": "flux-system"}, False),
        (
            ", sourceRef: {kind: OCIRepository, name: fleet, namespace: gitops}",
            {"kind": "OCIRepository", "name": "fleet", "namespace": "gitops"},
            False,
        ),
    ],
)
def test_flux_reads_the_output_from_a_source_of_its_own_or_an_existing_one(render, extra, reference, generated):
    files = render({"delivery": FLUX % extra})
    kinds = [item["kind"] for item in files.documents("delivery/sources.yaml")]

    assert files.document("delivery/platform.yaml")["spec"]["sourceRef"] == reference
    assert ("GitRepository" in kinds) is generated


@pytest.mark.parametrize(
    ("revision", "reference"),
    [("refs/heads/main", {"name": "refs/heads/main"}), ("a" * 40, {"commit": "a" * 40})],
)
def test_flux_follows_a_reference_or_a_commit(render, revision, reference):
    files = render({"delivery": FLUX % f", revision: {revision}"})

    assert files.documents("delivery/sources.yaml")[0]["spec"]["ref"] == reference


@pytest.mark.parametrize("engine", [ARGO, FLUX])
@pytest.mark.parametrize(
    ("stack", "pools"),
    [
        ("{release: v26.3.3}", {"a": TAINTED, "b": {}}),
        (DRIVER_OBJECTS, {"a": {"nodes": "{names: [n1]}"}, "b": {"sharing": "{mps: {replicas: 2}}"}}),
        ("{release: v24.9.2}", {"a": KATA, "b": {}}),
        (MANUAL, {"a": PREINSTALLED}),
    ],
)
class TestEveryTree:
    def test_kustomizations_name_files_that_exist_and_transform_nothing(self, render, engine, stack, pools):
        files = render({"delivery": engine % "", "stack": stack}, pools)
        for path, body in files.everything():
            if str(body.get("apiVersion")).startswith("kustomize.config"):
                assert set(body) <= {"apiVersion", "kind", "resources", "configMapGenerator"}
                assert build(files.tree, files.content, path.rpartition("/")[0])

    def test_every_delivered_folder_is_one_that_is_generated(self, render, engine, stack, pools):
        files = render({"delivery": engine % "", "stack": stack}, pools)
        delivered = [
            body["spec"].get("path") or body["spec"].get("source", {}).get("path", "")
            for path, body in files.everything()
            if path.startswith("delivery/") and body.get("kind") in ("Application", "Kustomization") and "spec" in body
        ]
        ours = [
            path.removeprefix("./").removeprefix("output/clusters/prod/")
            for path in delivered
            if "clusters/prod" in path
        ]

        assert ours
        assert [path for path in ours if f"{path}/kustomization.yaml" not in files.content] == []

    def test_no_object_is_applied_by_two_units(self, render, engine, stack, pools):
        files = render({"delivery": engine % "", "stack": stack}, pools)
        units = {path.rpartition("/")[0] for path in files.content if path.endswith("/kustomization.yaml")}
        units = {unit for unit in units if not any(unit.startswith(f"{other}/") for other in units)}
        seen = [
            (body["kind"], body["metadata"].get("namespace"), body["metadata"]["name"])
            for unit in units
            for body in build(files.tree, files.content, unit)
        ]

        assert len(seen) == len(set(seen))

    def test_nothing_is_a_node_a_hook_or_a_job_that_a_sync_starts(self, render, engine, stack, pools):
        files = render({"delivery": engine % "", "stack": stack}, pools)
        for _, body in files.tree.objects():
            assert body["kind"] not in ("Node", "Job")
            assert "helm.sh/hook" not in body["metadata"].get("annotations", {})

    def test_namespaces_are_guarded_against_pruning_and_let_privileged_pods_in(self, render, engine, stack, pools):
        files = render({"delivery": engine % "", "stack": stack}, pools)
        for _, body in files.tree.objects():
            if body["kind"] == "Namespace":
                guard = {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}
                if engine is FLUX:
                    guard = {"kustomize.toolkit.fluxcd.io/prune": "disabled"}
                assert body["metadata"]["annotations"] == guard
                assert body["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


def test_a_smoke_test_finds_its_pool_tolerates_its_taints_and_pulls_with_the_secret(render):
    cluster = {
        "registry": "{mirrors: {nvcr.io: r.example.com}, pullSecrets: [ngc]}",
        "smokeTest": "{namespace: gpu-tests}",
    }
    job = render(cluster, {"a": TAINTED}).document("smoke/a.yaml")
    pod = job["spec"]["template"]["spec"]

    assert job["metadata"]["namespace"] == "gpu-tests"
    assert pod["nodeSelector"] == {"poolsmith.dev/pool": "a"}
    assert pod["tolerations"] == [{"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}]
    assert pod["imagePullSecrets"] == [{"name": "ngc"}]
    assert pod["containers"][0]["image"].startswith("r.example.com/")


def test_a_kata_smoke_test_runs_in_its_runtime_class(render):
    template = render({"stack": "{release: v24.9.2}"}, {"a": KATA}).document("smoke/a.yaml")["spec"]["template"]

    assert template["spec"]["runtimeClassName"] == "kata-qemu-nvidia-gpu"
    assert template["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/GA102GL_A10": 1}
    assert template["metadata"]["annotations"]["cdi.k8s.io/gpu"] == "nvidia.com/pgpu=0"


def test_a_stack_without_the_operator_pulls_from_the_mirror_with_the_secret(render):
    files = render(
        {"stack": MANUAL, "registry": "{mirrors: {nvcr.io: r.example.com}, pullSecrets: [ngc]}"}, {"a": PREINSTALLED}
    )
    pod = files.document("units/device-plugin/daemonset.yaml")["spec"]["template"]["spec"]
    values = files.document("units/dcgm-exporter/values/dcgm-exporter.yaml")

    assert pod["containers"][0]["image"].startswith("r.example.com/")
    assert pod["imagePullSecrets"] == values["imagePullSecrets"] == [{"name": "ngc"}]
    assert values["image"]["repository"].startswith("r.example.com/")


def test_cluster_wide_images_of_a_coco_unit_come_from_the_mirror(render):
    files = render({"stack": "{release: v24.9.2}", "registry": "{mirrors: {quay.io: r.example.com/quay}}"}, {"a": KATA})

    assert "quay.io/" not in files.text("units/coco-operator/ccruntime.yaml").replace("r.example.com/quay", "")


def test_a_smoke_test_waits_until_the_startup_taint_is_gone(render):
    files = render({}, {"a": {"nodes": "{startupTaints: [{key: example.com/starting, effect: NoSchedule}]}"}})

    assert "tolerations" not in files.document("smoke/a.yaml")["spec"]["template"]["spec"]
    assert files.document("expected/node-labels/a.yaml")["provisioner"]["startupTaints"] == [
        {"key": "example.com/starting", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize(
    ("cluster", "key", "flags"),
    [
        ({}, "readiness.k8s.io/gpu", {"flags": ["--startup-taint=readiness.k8s.io/gpu"]}),
        ({}, "startup-taint.cluster-autoscaler.kubernetes.io/gpu", None),
        ({"kubernetes": '{version: "1.33", distribution: gke}'}, "readiness.k8s.io/gpu", None),
    ],
    ids=["a key of one's own", "a key with the autoscaler's prefix", "an autoscaler without flags"],
)
def test_an_autoscaler_is_told_of_startup_taints_that_it_does_not_know(render, cluster, key, flags):
    nodes = f"{{autoscaled: true, startupTaints: [{{key: {key}, effect: NoSchedule}}]}}"
    files = render(cluster, {"a": {"nodes": nodes}})

    assert files.document("expected/node-labels/a.yaml").get("clusterAutoscaler") == flags
    assert f"remove the startup taint {key} from each new node of pool a" in files.text("README.md")


def test_where_critical_pods_need_a_quota_the_platform_brings_it_before_the_operator(render):
    files = render({"kubernetes": '{version: "1.33", distribution: gke}'})
    quota = files.document("platform/critical-pods.yaml")

    assert quota["metadata"]["namespace"] == "gpu-operator"
    assert quota["spec"]["scopeSelector"]["matchExpressions"][0]["values"] == [
        "system-node-critical",
        "system-cluster-critical",
    ]
    assert "critical-pods.yaml" in files.document("platform/kustomization.yaml")["resources"]


@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {
            "kubernetes": '{version: "1.33", distribution: gke}',
            "stack": "{kind: device-plugin, release: v0.17.1, namespace: kube-system}",
        },
    ],
    ids=["another distribution", "a namespace with a quota of its own"],
)
def test_elsewhere_there_is_no_quota(render, cluster):
    files = render(cluster, {"a": PREINSTALLED})

    assert "ResourceQuota" not in [body.get("kind") for _, body in files.everything()]


def test_a_pool_label_that_comes_with_the_node_is_nobodys_to_set(render):
    files = render(
        {"kubernetes": '{version: "1.33", distribution: eks}', "poolLabel": "karpenter.sh/nodepool"}
    ).document("expected/node-labels/a.yaml")

    assert files["provisioner"]["labels"] == {}
    assert files["setWithTheNode"] == {"labels": {"karpenter.sh/nodepool": "a"}}
    assert "snippets" not in files


def test_names_of_bare_metal_nodes_become_a_rule_and_leave_the_provisioner(render):
    files = render({}, {"a": {"nodes": '{names: ["n[1-2]"]}'}})
    rule = files.document("pools/a/node-feature-rule.yaml")["spec"]["rules"][0]
    labels = files.document("expected/node-labels/a.yaml")

    assert rule["labels"] == {"poolsmith.dev/pool": "a"}
    assert rule["matchFeatures"][0]["matchExpressions"]["nodename"] == {"op": "In", "value": ["n1", "n2"]}
    assert labels["nodeFeatureDiscovery"] == {"labels": {"poolsmith.dev/pool": "a"}}
    assert labels["provisioner"]["labels"] == {}


LABELS = {"example.com/pool": "a.b_C", "nvidia.com/mig.config": "all-1g.10gb"}
TAINTS = (
    Taint(key="nvidia.com/gpu", effect=TaintEffect.NO_SCHEDULE),
    Taint(key="team", value="ml", effect=TaintEffect.NO_EXECUTE),
)
COMMANDS = ("kubelet", "microk8s", "gke", "aks", "k0s")


@pytest.mark.parametrize("tool", sorted(_TOOLS))
@pytest.mark.parametrize(("labels", "taints"), [(LABELS, TAINTS), (LABELS, ()), ({}, TAINTS)])
def test_a_snippet_says_every_label_and_taint_in_the_tools_words(tool, labels, taints):
    text = snippet(tool, NodeSettings(pool="pool-a", labels=labels, taints=taints))

    for key, value in labels.items():
        assert key in text
        assert value in text
    for taint in taints:
        assert taint.key in text
        assert taint.effect.value in text
    if tool in COMMANDS:
        assert " ".join(shlex.quote(word) for word in shlex.split(text)) + "\n" == text
    else:
        assert isinstance(read_documents(text)[0], dict)


STARTUP = (Taint(key="readiness.k8s.io/gpu-not-ready", effect=TaintEffect.NO_SCHEDULE),)


@pytest.mark.parametrize("tool", sorted(_TOOLS))
def test_a_startup_taint_is_a_taint_that_the_tool_does_not_put_back(tool):
    text = snippet(tool, NodeSettings(pool="pool-a", labels=LABELS, taints=TAINTS, startup=STARTUP))

    assert STARTUP[0].key in text
    if tool == "karpenter":
        template = read_documents(text)[0]["spec"]["template"]["spec"]
        assert template == {
            "taints": [taint.body for taint in TAINTS],
            "startupTaints": [taint.body for taint in STARTUP],
        }
    if tool == "aks":
        command, _, template = text.partition("#")
        assert STARTUP[0].key not in command
        assert STARTUP[0].key in template


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("gke", ["--accelerator=type=nvidia-l4,count=2,gpu-driver-version=disabled"]),
        ("aks", ["--gpu-driver", "none"]),
    ],
)
def test_a_cloud_is_told_to_install_no_driver_beside_the_operators(tool, words):
    marks = NodeSettings(pool="pool-a", labels=LABELS, own_driver=True, accelerator="nvidia-l4", gpus=2)
    command = shlex.split(snippet(tool, marks))

    assert [word for word in command if word in words] == words


def test_the_driver_of_a_cloud_stays_where_it_is_the_only_one():
    marks = NodeSettings(pool="pool-a", labels=LABELS, has_operator=False)

    assert "gpu-driver-version=default" in snippet("gke", marks)
    assert "--gpu-driver" not in snippet("aks", marks)


@pytest.mark.parametrize("tool", COMMANDS)
def test_a_command_holds_no_character_that_a_shell_acts_on(tool):
    text = snippet(tool, NodeSettings(pool="a; rm -rf ~", labels={"x/$(id)": "`id`"}))

    assert "; rm" not in shlex.join(shlex.split(text)).replace("'", "") or shlex.split(text)
    assert any("a; rm -rf ~" in word or "$(id)" in word for word in shlex.split(text))


def test_every_provisioner_of_the_catalog_has_a_snippet(catalog):
    named = {tool for distribution in catalog.distributions.values() for tool in distribution.provisioners}

    assert named <= set(_TOOLS)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("<script>", r"\<script\>"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("*b* _i_ `c`", r"\*b\* \_i\_ \`c\`"),
        ("two\nlines", "two lines"),
        (3, "3"),
    ],
)
def test_text_of_users_is_no_markdown(text, escaped):
    assert _escape(text) == escaped


def test_a_code_span_and_its_cell_end_where_they_should():
    span = str(_code("a`b|c\nd"))

    assert span[0] == span[-1] == "`"
    assert not set("`|\n") & set(span[1:-1])


def test_the_readme_shows_pools_values_and_where_to_point_the_engine(render):
    text = render({"stack": DRIVER_OBJECTS}, {"a": {"gpu": "{product: A30 x_y, count: 2, architecture: ampere}"}}).text(
        "README.md"
    )

    assert r"2 x A30 x\_y" in text
    assert "`driver.nvidiaDriverCRD.enabled`" in text
    assert "`output/clusters/prod/delivery`" in text


NETWORK = "{kind: %s, name: network-operator, namespace: network}"


def test_flux_waits_for_what_others_deliver_first(render):
    named = f"[{NETWORK % 'HelmRelease'}, {{kind: Kustomization, name: storage}}]"
    files = render({"stack": DRIVER_OBJECTS, "delivery": FLUX % f", after: {named}"})
    waits = {
        (body["kind"], body["metadata"]["name"]): body["spec"].get("dependsOn")
        for _, body in files.everything()
        if body.get("kind") in ("Kustomization", "HelmRelease") and "metadata" in body
    }

    assert waits == {
        ("Kustomization", "prod-platform"): [{"name": "storage"}],
        ("HelmRelease", "prod-gpu-operator"): [{"name": "network-operator", "namespace": "network"}],
        ("Kustomization", "prod-pools"): [{"name": "prod-platform"}],
    }


def test_argo_leaves_wave_0_to_what_others_deliver_first(render):
    named = f"[{NETWORK % 'Application'}]"
    files = render({"stack": DRIVER_OBJECTS, "delivery": ARGO % f", after: {named}"})
    waves = [
        int(body["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])
        for _, body in files.everything()
        if body.get("kind") == "Application"
    ]

    assert sorted(waves) == [1, 2, 3]
    assert "comes after" in files.text("README.md") or "come after" in files.text("README.md")


@pytest.mark.parametrize(
    ("engine", "named"),
    [
        (ARGO, NETWORK % "HelmRelease"),
        (FLUX, NETWORK % "Application"),
        (FLUX, "{kind: Kustomization, name: prod-platform}"),
        (FLUX, "{kind: Kustomization, name: a}, {kind: Kustomization, name: a, namespace: flux-system}"),
    ],
)
def test_what_could_never_be_waited_for_is_refused(resolve, engine, named):
    assert "field-without-effect" in resolve({"delivery": engine % f", after: [{named}]"}).names
