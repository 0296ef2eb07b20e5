"""Twice the input, twice the calls: rules, passes and readers, each on more and more of what it reads.

Calls are counted, not seconds: a rule that looks at each pair of things is seen with a dozen of them.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import fleet
from hostile.test_growth import DEGENERATE, READERS
from poolsmith.core.diagnostics import NoInputError
from poolsmith.guard.rules.links.repository_links import LinkResult
from poolsmith.guard.rules.setup import configured
from poolsmith.interface.app import check as app_check
from poolsmith.interface.app import check_paths, check_project, generate
from support.circles import parameters
from support.growth import calls_of, settle, too_fast

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).resolve().parents[1] / "guard" / "rules" / "examples"
OF_FILES = sorted(item.name for item in EXAMPLES.iterdir() if not (item / "fail" / "profiles").exists())
"""Each rule over files of anybody, on what passes and on what fails."""
OF_NODES = [name for name in OF_FILES if (EXAMPLES / name / "fail" / "nodes.yaml").exists()]
QUICK = ["duplicate-object", "kustomization-resource", "plugin-configuration"]
FEW = 4
READ_BYTES = 1024
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
FLUX = (
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: app{0}, namespace: flux-system}}\n"
    "spec: {{interval: 1h, prune: true, path: ./apps/app{0}, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
)
APPLICATION = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: app{0}, namespace: argocd}}\nspec:\n"
    "  project: default\n  source: {{repoURL: 'https://git.example.com/a.git', path: apps/app{0}, targetRevision: main}}\n"
    "  destination: {{name: cluster{0}, namespace: gpu{0}}}\n"
)
RELEASE = (
    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: gpu-operator{0}, namespace: gpu{0}}}\n"
    "spec:\n  interval: 1h\n  chart: {{spec: {{chart: gpu-operator, version: v25.3.0, sourceRef: {{kind: HelmRepository, "
    "name: nvidia{0}}}}}}}\n  valuesFrom: [{{kind: ConfigMap, name: values{0}}}]\n"
)
OBJECTS = {
    "plugins": "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: plugin{0}, namespace: gpu}}\nspec:\n"
    "  selector: {{matchLabels: {{a: b{0}}}}}\n  template:\n    metadata: {{labels: {{a: b{0}}}}}\n    spec:\n"
    "      nodeSelector: {{example.com/pool: p{0}}}\n"
    "      containers: [{{name: a, image: 'nvcr.io/nvidia/k8s-device-plugin:v0.17.1'}}]\n",
    "configurations": "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: sharing{0}, namespace: gpu}}\ndata:\n  any: |\n"
    "    version: v1\n    sharing:\n      timeSlicing:\n        resources: [{{name: nvidia.com/gpu, replicas: 4}}]\n",
    "drivers": "apiVersion: nvidia.com/v1alpha1\nkind: NVIDIADriver\nmetadata: {{name: driver{0}}}\n"
    "spec: {{driverType: gpu, nodeSelector: {{example.com/pool: p{0}}}, repository: nvcr.io/nvidia, image: driver, "
    "version: 580.65.06}}\n",
    "namespaces": "apiVersion: v1\nkind: Namespace\nmetadata: {{name: gpu{0}}}\n---\napiVersion: v1\nkind: ResourceQuota\n"
    "metadata: {{name: gpu-quota, namespace: gpu{0}}}\nspec: {{hard: {{pods: 5}}}}\n",
    "jobs": "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: job{0}, namespace: gpu}}\nspec:\n  template:\n    spec:\n"
    "      runtimeClassName: class{0}\n      restartPolicy: Never\n      containers:\n"
    "        - {{name: a, image: nvidia/cuda, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}\n",
    "classes": "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {{name: class{0}}}\nhandler: nvidia\n",
    "releases": RELEASE,
    "templates": "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: pool{0}}}\nspec:\n  template:\n"
    "    metadata: {{labels: {{nvidia.com/gpu.workload.config: container}}}}\n"
    "    spec: {{taints: [{{key: nvidia.com/gpu, effect: NoSchedule}}]}}\n",
}
LINKED = (
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: train-{0}, namespace: gpu}}\nspec:\n"
    "  selector: {{matchLabels: {{a: b{0}}}}}\n  template:\n    metadata: {{labels: {{a: b{0}}}}}\n    spec:\n"
    "      serviceAccountName: sa-{0}\n      priorityClassName: pc-{0}\n"
    "      nodeSelector: {{example.com/pool: p{0}, nvidia.com/gpu.product: NVIDIA-L4}}\n"
    "      volumes: [{{name: c, configMap: {{name: map-{0}}}}}]\n"
    "      containers: [{{name: a, image: 'registry.example.com/a:1', resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]\n"
    "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {{name: m{0}, namespace: gpu}}\n"
    "spec: {{selector: {{matchLabels: {{app: own-{0}}}}}, endpoints: [{{port: metrics}}]}}\n"
    "---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{0}, namespace: gpu, labels: {{app: own-{0}, b: c}}}}\n"
    "spec: {{ports: [{{name: metrics, port: 80}}]}}\n"
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: own-{0}-pvc, namespace: gpu}}\nspec: {{}}\n"
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {{name: one-{0}, namespace: gpu}}\n"
    "spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com}}}}]}}}}}}\n"
    "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: claims-{0}, namespace: gpu}}\nspec:\n"
    "  resourceClaims: [{{name: gpu, resourceClaimTemplateName: {0}-one}}]\n"
    "  volumes: [{{name: c, persistentVolumeClaim: {{claimName: {0}-own}}}}]\n  nodeSelector: {{team-{0}: a}}\n"
    "  containers: [{{name: a, image: 'registry.example.com/a:1', resources: {{claims: [{{name: gpu}}]}}}}]\n"
    "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: q{0}}}\n"
    "spec: {{resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: {0}}}]}}]}}\n"
    "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: {0}-flavor}}\n"
    "spec: {{nodeLabels: {{nvidia.com/gpu.product: NVIDIA-L4}}}}\n"
    "---\napiVersion: nfd.k8s-sigs.io/v1alpha1\nkind: NodeFeatureRule\nmetadata: {{name: r{0}}}\n"
    "spec: {{rules: [{{name: a, labels: {{example.com/tier-{0}: a}}}}]}}\n"
    "---\napiVersion: containerservice.azure.com/v1api20250801\nkind: ManagedClustersAgentPool\n"
    "metadata: {{name: n{0}, namespace: gpu}}\nspec: {{vmSize: Standard_ND96asr_v4, gpuProfile: {{driver: None}}}}\n"
)
NODE = (
    "apiVersion: v1\nkind: Node\nmetadata:\n  name: node{0}\n  labels: {{nvidia.com/gpu.present: 'true', "
    "example.com/pool: p{0}, nvidia.com/gpu.product: NVIDIA-L4, kubernetes.io/os: linux}}\n"
    "status: {{nodeInfo: {{containerRuntimeVersion: 'containerd://1.7.27'}}}}\n"
)


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is bounded at forty is bounded at four here, so that it is no growth."""
    for bound in ("_MOST_OBJECTS", "_MOST_NODES"):
        monkeypatch.setattr(configured, bound, FEW)


def grows(make: Callable[[Path, int], Callable[[], object]], root: Path) -> list[str]:
    """What grows too fast; a first run fills what is kept for all runs."""
    counts: list[Counter[str]] = []
    for number in (2, FEW, 2 * FEW, 4 * FEW):
        top = root / str(number)
        top.mkdir(parents=True)
        counts.append(calls_of(make(top, number)))
        settle()
    return too_fast(counts[1:])


def checked(top: Path, **options: object) -> Callable[[], object]:
    def run() -> None:
        try:
            check_paths(top, [top], **options)  # type: ignore[arg-type]
        except NoInputError:
            return

    return run


def of_example(name: str) -> Callable[[Path, int], Callable[[], object]]:
    """Copies beside each other, without the nodes that some rules need."""

    def make(top: Path, number: int) -> Callable[[], object]:
        for index in range(number):
            copy_example(name, top / f"c{index:03}")
        return checked(top, everything=True)

    return make


def of_nodes(name: str) -> Callable[[Path, int], Callable[[], object]]:
    """The files once, and copies of their nodes with names of their own."""

    def make(top: Path, number: int) -> Callable[[], object]:
        copy_example(name, top / "files", ("fail",))
        text = (EXAMPLES / name / "fail" / "nodes.yaml").read_text("utf-8")
        copies = [re.sub(r"(\bname: *)([\w.-]+)", rf"\g<1>\g<2>-{index}", text) for index in range(number)]
        (top / "nodes.yaml").write_text("\n---\n".join(copies), "utf-8")
        return checked(top / "files", everything=True, nodes=top / "nodes.yaml")

    return make


def copy_example(name: str, folder: Path, parts: tuple[str, ...] = ("pass", "fail")) -> None:
    for part in parts:
        shutil.copytree(EXAMPLES / name / part, folder / part)
        (folder / part / "nodes.yaml").unlink(missing_ok=True)


def beside_each_other(top: Path, number: int) -> Callable[[], object]:
    """Objects of each kind in one folder, with as many nodes."""
    for kind, text in OBJECTS.items():
        for index in range(number if kind != "releases" else 1):  # with each all that stands beside it is judged
            path = top / "files" / "apps" / f"{kind}{index}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(index), "utf-8")
    (top / "nodes.yaml").write_text("---\n".join(NODE.format(index) for index in range(number)), "utf-8")
    return checked(top / "files", nodes=top / "nodes.yaml", release="v25.3.0")


def linked(top: Path, number: int) -> Callable[[], object]:
    """One delivery with the operator, and as many pods that need names, monitors and descriptions of nodes."""
    top.joinpath("release.yaml").write_text(RELEASE.format(0).replace("namespace: gpu0", "namespace: gpu"), "utf-8")
    for index in range(number):
        top.joinpath(f"part{index}.yaml").write_text(LINKED.format("abcdefghijklmnop"[index] * 3), "utf-8")
    names = ["release.yaml", *(f"part{index}.yaml" for index in range(number))]
    top.joinpath("kustomization.yaml").write_text(f"{KUSTOMIZATION}resources: [{', '.join(names)}]\n", "utf-8")
    return checked(top)


def delivered(declaring: str) -> Callable[[Path, int], Callable[[], object]]:
    """As many folders, each with a kustomization, objects and a patch; the operator is once in each cluster."""

    def make(top: Path, number: int) -> Callable[[], object]:
        for index in range(number):
            folder = top / "apps" / f"app{index}"
            folder.mkdir(parents=True)
            resources = "resources: [release.yaml, plugin.yaml]\npatches: [{path: patch.yaml}]\n"
            (folder / "kustomization.yaml").write_text(f"{KUSTOMIZATION}namespace: gpu{index}\n{resources}")
            own = RELEASE if declaring is APPLICATION or not index else OBJECTS["jobs"]
            (folder / "release.yaml").write_text(own.format(index))
            (folder / "plugin.yaml").write_text(OBJECTS["plugins"].format(index))
            patch = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: plugin{0}, namespace: gpu}}\n"
            (folder / "patch.yaml").write_text(patch.format(index) + "spec: {minReadySeconds: 5}\n")
            (top / f"one{index}.yaml").write_text(declaring.format(index))
        return checked(top)

    return make


def units_of(folder: str, more: str = "") -> Callable[[Path, int], Callable[[], object]]:
    """As many units of Flux in one kustomization, all of which apply the same folder; `#` is the number of each."""

    def make(top: Path, number: int) -> Callable[[], object]:
        units = [FLUX.format(index).replace(f"./apps/app{index}", f"./{folder}") for index in range(number)]
        mores = [more.replace("#", str(index)) for index in range(number)]
        texts = {
            "own/units.yaml": "---\n".join(
                unit.rstrip().removesuffix("}") + said + "}\n" for unit, said in zip(units, mores, strict=True)
            )
        }
        texts["own/kustomization.yaml"] = f"{KUSTOMIZATION}resources: [units.yaml]\n"
        texts["apps/kustomization.yaml"] = f"{KUSTOMIZATION}resources: [release.yaml]\n"
        texts["apps/release.yaml"] = RELEASE.format(0)
        for path, text in texts.items():
            (top / path).parent.mkdir(exist_ok=True)
            (top / path).write_text(text, "utf-8")
        return checked(top)

    return make


def of_fleet(top: Path, pools: int, per_cluster: int) -> Callable[[], object]:
    before, fleet.POOLS_PER_CLUSTER = fleet.POOLS_PER_CLUSTER, per_cluster
    try:
        fleet.write_fleet(top, pools, unlike=True)
    finally:
        fleet.POOLS_PER_CLUSTER = before

    def run() -> None:
        generate(top)
        check_project(top, progress=lambda _done, _total: None)

    return run


def without_words(top: Path, number: int) -> Callable[[], object]:
    for index in range(number):
        (top / f"a{index}.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{index}}}\n", "utf-8")
    return checked(top)


INPUTS: dict[str, Callable[[Path, int], Callable[[], object]]] = {
    "objects of each kind": beside_each_other,
    "names that are needed": linked,
    "folders that Flux applies": delivered(FLUX),
    "units of one folder": units_of("apps"),
    "units of their own folder": units_of("own"),
    "units that change one folder": units_of("apps", ", targetNamespace: gpu"),
    "units that change their own folder": units_of("own", ", targetNamespace: gpu"),
    "units that put one folder into many namespaces": units_of("apps", ", targetNamespace: gpu#"),
    "units that put their own folder into many namespaces": units_of("own", ", targetNamespace: gpu#"),
    "units that put variables of their own into their own folder": units_of(
        "own", ", postBuild: {substitute: {a: b#}}"
    ),
    "units that put variables into one folder": units_of("apps", ", postBuild: {substitute: {a: b}}"),
    "units that put variables into their own folder": units_of("own", ", postBuild: {substitute: {a: b}}"),
    "folders that Argo CD applies": delivered(APPLICATION),
    "pools of one cluster": lambda top, number: of_fleet(top, number, number),
    "clusters": lambda top, number: of_fleet(top, number, 1),
    "files without a word": without_words,
}


FIRST = [item for item in INPUTS if item != "clusters" and not item.startswith("units that")]


@pytest.mark.rows(3, "kinds of input, each in four sizes")
@pytest.mark.parametrize("what", parameters(FIRST, [item for item in INPUTS if item not in FIRST]))
def test_calls_grow_as_the_input_does(what: str, tmp_path: Path) -> None:
    assert grows(INPUTS[what], tmp_path) == []


@pytest.mark.rows(1, "rules, each on four sizes of its example")
@pytest.mark.parametrize("name", parameters(QUICK, [name for name in OF_FILES if name not in QUICK]))
def test_calls_of_each_rule_grow_as_the_files_do(name: str, tmp_path: Path) -> None:
    assert grows(of_example(name), tmp_path) == []


@pytest.mark.rows(1, "rules, each on four numbers of nodes")
@pytest.mark.parametrize(
    "name", parameters(["driver-coverage"], [name for name in OF_NODES if name != "driver-coverage"])
)
def test_calls_of_each_rule_grow_as_the_nodes_do(name: str, tmp_path: Path) -> None:
    assert grows(of_nodes(name), tmp_path) == []


@pytest.mark.deep("a kind of text takes ten seconds: each reader, in four sizes")
@pytest.mark.parametrize("what", DEGENERATE)
def test_calls_of_each_reader_grow_as_the_text_does(what: str, tmp_path: Path) -> None:
    for reader, read in READERS.items():

        def make(top: Path, number: int, read: Callable[[Path], object] = read) -> Callable[[], object]:
            file = top / "text.yaml"
            file.write_bytes(DEGENERATE[what](READ_BYTES * number).encode())
            return lambda: read(file)

        assert grows(make, tmp_path / reader) == [], reader


def test_what_looks_at_each_pair_is_seen() -> None:
    def pairs(number: int) -> Callable[[], object]:
        things = [str(index) for index in range(number)]
        return lambda: [left.startswith(right) for left in things for right in things]

    def once(number: int) -> Callable[[], object]:
        return lambda: [str(index).startswith("1") for index in range(number)]

    assert too_fast([calls_of(once(number)) for number in (500, 1000, 2000)]) == []
    assert any("startswith" in line for line in too_fast([calls_of(pairs(number)) for number in (20, 40, 80)]))


@pytest.mark.parametrize("pools", parameters([10], [40], "{0} pools in a cluster".format, "four times as many"))
def test_the_linker_takes_a_small_part_of_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pools: int) -> None:
    """A tenth at most. What it takes falls out of two checks, one of which leaves it out."""
    monkeypatch.setattr(fleet, "POOLS_PER_CLUSTER", pools)
    fleet.write_fleet(tmp_path / "project", 40, unlike=True)
    generate(tmp_path / "project")
    (tmp_path / "alone/.git").mkdir(parents=True)
    (tmp_path / "alone/.git/HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (tmp_path / "project/output").rename(tmp_path / "alone/output")
    run = checked(tmp_path / "alone")
    run()
    whole = calls_of(run).total()

    monkeypatch.setattr(app_check, "judge_links", lambda *_: LinkResult((), Counter()))
    without = calls_of(run).total()

    assert 0 < whole - without < whole / 10
