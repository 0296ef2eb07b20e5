"""Where Argo CD delivers the clusters of a fleet to: each to one of its own, or by an Argo CD of its own."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.interface.app.check_project import check_project
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.run import open_run
from poolsmith.interface.app.shard_merge import merge
from poolsmith.interface.app.sharded import check_shard
from poolsmith.project.run.project import open_project
from poolsmith.project.run.run_options import Shard
from support.clusters import CLUSTER, POOL, profile

REPOSITORY = Path(__file__).resolve().parents[3]
OWN = [
    "",
    "destination: {server: https://kubernetes.default.svc}",
    "destination: {server: https://kubernetes.default.svc/}",
    "destination: {server: https://kubernetes.default.svc//}",
    "destination: {server: 'https://kubernetes.default.svc:443'}",
    "destination: {server: 'https://kubernetes.default.svc:443/'}",
    "destination: {server: 'https://kubernetes.default.svc:0443'}",
    "destination: {server: 'https://kubernetes.default.svc:'}",
    "destination: {server: https://Kubernetes.Default.SVC}",
    "destination: {server: https://kubernetes.default.svc.}",
    "destination: {server: https://kubernetes.default.svc.cluster.local}",
    "destination: {server: https://kubernetes.default.svc.cluster.local.}",
    "destination: {server: 'https://kubernetes.default.svc.cluster.local:443/'}",
    "destination: {server: https://kubernetes.default}",
    "destination: {name: in-cluster}",
    "namespace: gitops",
    "project: gpu",
]
"""All say: the cluster that Argo CD runs in."""
ELSEWHERE = [
    (
        "destination: {server: https://api.example.com}",
        "destination: {server: 'https://API.example.com:443/'}",
    ),
    (
        "destination: {server: 'https://10.0.0.7:6443'}",
        "destination: {server: 'https://10.0.0.7:06443/'}",
    ),
    (
        "destination: {server: https://proxy.example.com/k8s/clusters/c-1}",
        "destination: {server: https://proxy.example.com/k8s//clusters/./c-1/}",
    ),
    ("destination: {name: prod}", "destination: {name: prod}, namespace: gitops, project: gpu"),
    ("destination: {name: prod}, instance: hub", "instance: hub, destination: {name: prod}"),
    ("instance: hub", "instance: hub, destination: {name: in-cluster}"),
]
APART = [
    ("destination: {name: prod}", "destination: {name: prod-eu}"),
    ("destination: {name: prod}", "destination: {name: Prod}"),  # to Argo CD two names
    ("destination: {name: in-cluster}", "destination: {name: In-Cluster}"),
    ("", "destination: {name: kubernetes.default.svc}"),
    ("destination: {server: https://api.example.com}", "destination: {server: 'https://api.example.com:6443'}"),
    ("", "destination: {server: 'https://kubernetes.default.svc:6443'}"),
    ("", "destination: {server: https://kubernetes.default.svc.east.example.com}"),
    (
        "destination: {server: https://proxy.example.com/k8s/clusters/c-1}",
        "destination: {server: https://proxy.example.com/k8s/clusters/c-2}",
    ),
    (
        "destination: {server: https://proxy.example.com/k8s/clusters/c-a}",
        "destination: {server: https://proxy.example.com/k8s/clusters/C-A}",
    ),
    ("destination: {name: prod}", "destination: {server: https://prod}"),  # only Argo CD knows
    ("instance: east", "instance: west"),
    ("", "instance: west"),
    ("destination: {name: prod}, instance: east", "destination: {name: prod}, instance: west"),
]


def files_of(deliveries):
    """Profiles by their paths. A text is what stands in `delivery` beside engine and repository; None is Flux."""
    files = {}
    for name, more in deliveries.items():
        words = ["engine: flux" if more is None else "engine: argocd", "repoURL: https://git.example.com/gpu.git"]
        spec = {**CLUSTER, "delivery": "{" + ", ".join([*words, *([more] if more else [])]) + "}"}
        files[f"profiles/{name}/cluster.yaml"] = profile("Cluster", name, spec)
        files[f"profiles/{name}/a.yaml"] = profile("NodePool", "a", {**POOL, "driver": "{source: preinstalled}"})
    return files


def written(root, deliveries):
    for path, text in files_of(deliveries).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def shared(outcome):
    return [
        (str(item.primary.span), *(str(other.span) for other in item.related))
        for item in outcome.diagnostics
        if item.name == "shared-destination"
    ]


def verdict(root, **deliveries):
    return shared(generate(written(root, deliveries)).outcome)


@pytest.mark.rows(14, "a row takes 0.037 s; each value of each column is seen first")
@pytest.mark.parametrize("text", OWN)
@pytest.mark.parametrize("other", ["", "destination: {name: in-cluster}"])
def test_each_way_to_write_the_cluster_that_argo_cd_runs_in_is_the_same_place(tmp_path, other, text):
    assert len(verdict(tmp_path, east=other, west=text)) == 1
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("texts", ELSEWHERE)
def test_two_ways_to_write_one_cluster_are_the_same_place(tmp_path, texts):
    assert len(verdict(tmp_path, **dict(zip(("east", "west"), texts, strict=True)))) == 1


@pytest.mark.parametrize("texts", APART)
def test_what_may_be_two_clusters_is_accepted(tmp_path, texts):
    outcome = generate(written(tmp_path, dict(zip(("east", "west"), texts, strict=True)))).outcome

    assert outcome.diagnostics == ()


def test_a_flux_cluster_pulls_what_is_its_own(tmp_path):
    assert verdict(tmp_path, east="", west=None, north=None) == []


def test_the_finding_has_both_places_and_says_what_to_write(tmp_path):
    root = written(tmp_path, {"east": "", "west": "", "north": "destination: {name: in-cluster}"})
    first, second = (item for item in generate(root).outcome.diagnostics if item.name == "shared-destination")

    assert str(first.primary.span) == "profiles/north/cluster.yaml:7:72"
    assert str(second.primary.span) == "profiles/west/cluster.yaml:7:3"  # the line that lacks it
    assert [str(item.span) for item in first.related] == ["profiles/east/cluster.yaml:7:3"]
    assert "`west` and `east` to the same cluster: the one that Argo CD runs in" in second.message
    assert "`destination: {name: west}`" in second.help
    assert "`instance: west`" in second.help


@pytest.mark.parametrize("run", [generate, check_project])
@pytest.mark.parametrize(("name", "count"), [("east", 1), ("west", 1), ("north", 0), ("pulls", 0)])
def test_a_run_over_one_cluster_tells_of_it_too_and_of_no_other_pair(tmp_path, run, name, count):
    root = written(
        tmp_path,
        {
            "east": "destination: {name: a}",
            "west": "destination: {name: a}",
            "first": "",
            "second": "",
            "north": "destination: {name: north}",
            "pulls": None,
        },
    )
    result = run(root, clusters=[name])
    found = shared(getattr(result, "outcome", result))

    assert found == [("profiles/west/cluster.yaml:7:72", "profiles/east/cluster.yaml:7:72")] * count
    assert set(found) <= set(shared(generate(root).outcome))


def test_a_run_over_one_cluster_says_which_others_it_can_not_ask(tmp_path):
    root = written(tmp_path, {"east": "destination: {name: east}", "west": "destination: {name: west}"})
    (root / "profiles/west/cluster.yaml").write_text("kind: Cluster\nspec: {}\n")
    [skipped] = generate(root, clusters=["east"]).outcome.skipped

    assert (skipped.what, skipped.by_design) == ("destinations of 1 other cluster", False)


@pytest.mark.parametrize(
    ("east", "west", "count"),
    [
        ("destination: {name: a}", "destination: {server: https://a.example.com}", 1),
        ("destination: {name: a}", "destination: {server: https://a.example.com}, instance: west", 0),
        ("destination: {name: a}", "", 0),
        ("destination: {name: a}", "destination: {name: b}", 0),
    ],
)
def test_a_name_and_a_server_are_said_to_be_compared_by_nobody(tmp_path, east, west, count):
    skipped = generate(written(tmp_path, {"east": east, "west": west})).outcome.skipped

    assert [item.by_design for item in skipped] == [True] * count


def test_a_cluster_with_mistakes_elsewhere_is_compared_all_the_same(tmp_path):
    root = written(tmp_path, {"east": "", "west": ""})
    (root / "profiles/east/a.yaml").write_text("kind: NodePool\n")

    assert len(shared(generate(root).outcome)) == 1


def test_shards_leave_it_to_the_merge(tmp_path):
    root = written(tmp_path / "fleet", {"east": "", "west": ""})
    reports = []
    for number in (1, 2):
        outcome = check_shard(root, Shard(number, 2))
        assert shared(outcome) == []
        reports.append(tmp_path / f"{number}.json")
        reports[-1].write_text(json.dumps({"shard": outcome.shard}))

    assert len(shared(merge(root, reports).outcome)) == 1


def test_what_is_remembered_of_clusters_is_compared_with_what_is_new(tmp_path, run_cli, monkeypatch):
    monkeypatch.setenv("POOLSMITH_CACHE_DIR", str(tmp_path / "cache"))
    root = written(tmp_path / "fleet", {"east": "", "west": "destination: {name: west}"})
    assert run_cli(["generate", "--root", root]).code == 0
    run_cli(["check", "--root", root])
    written(root, {"west": ""})

    assert "shared-destination" in run_cli(["check", "--root", root, "--format", "json"]).out
    assert "shared-destination" in run_cli(["check", "--cluster", "east", "--root", root, "--format", "json"]).out


def fleet_applications(root):
    """By folder of output/fleet what its ApplicationSets bring in the end: each Application as it is written."""
    found = {}
    for path in sorted((root / "output/fleet").glob("*/applicationset-*.yaml")):
        body = read_documents(path.read_text("utf-8"))[0]
        for element in body["spec"]["generators"][0]["list"]["elements"]:
            for file in sorted((root / element["path"]).glob("*.yaml")):
                item = read_documents(file.read_text("utf-8"))[0]
                if item["kind"] == "Application":
                    found.setdefault(path.parent.name, []).append((element["cluster"], item))
    return found


def what_is_delivered(item):
    """Namespace and release of an Application; the folder where it has no chart."""
    spec = item["spec"]
    sources = spec.get("sources") or [spec["source"]]
    release = next((found["helm"]["releaseName"] for found in sources if "helm" in found), None)
    return spec["destination"]["namespace"], release or sources[0]["path"]


KNOWN = [
    ("", "own"),
    ("destination: {name: in-cluster}", "own"),
    ("destination: {server: 'https://kubernetes.default.svc:443/'}", "own"),
    ("destination: {name: a}", "a by name"),
    ("destination: {name: b}", "b by name"),
    ("destination: {server: https://a.example.com}", "a"),
    ("destination: {server: 'https://A.example.com:443'}", "a"),
    ("destination: {server: 'https://a.example.com:6443'}", "a, another port"),
]
DELIVERIES = st.tuples(
    st.sampled_from(KNOWN),
    st.sampled_from(["", "", "instance: hub", "instance: edge"]),
    st.sampled_from(["", "project: gpu", "namespace: gitops", "project: gpu, namespace: gitops"]),
)


@given(st.lists(DELIVERIES, min_size=2, max_size=4))
def test_random_fleets_reach_as_many_clusters_as_they_have_or_are_refused(tmp_path_factory, drawn):
    """An oracle that knows of each text which cluster it means."""
    names = [f"c{index}" for index in range(len(drawn))]
    texts = [", ".join(filter(None, (text, instance, more))) for (text, _), instance, more in drawn]
    means = {
        name: (instance.removeprefix("instance: "), meant)
        for name, ((_, meant), instance, _) in zip(names, drawn, strict=True)
    }
    root = written(tmp_path_factory.mktemp("fleet"), dict(zip(names, texts, strict=True)))
    clash = any(means[one] == means[other] for one, other in combinations(names, 2))
    outcome = generate(root).outcome

    assert bool(shared(outcome)) is clash
    assert {item.name for item in outcome.diagnostics} <= {"shared-destination"}
    found = fleet_applications(root) if not clash else {}
    for folder, applications in found.items():
        assert {f"argocd-{means[cluster][0]}".removesuffix("-") for cluster, _ in applications} == {folder}
        reached = [(means[cluster][1], *what_is_delivered(item)) for cluster, item in applications]
        assert len(reached) == len(set(reached)) >= 2
        called = [(item["metadata"]["namespace"], item["metadata"]["name"]) for _, item in applications]
        assert len(called) == len(set(called))
    assert {cluster for applications in found.values() for cluster, _ in applications} == set(
        names if not clash else ()
    )


def test_the_sample_fleet_reaches_as_many_clusters_as_it_has():
    found = fleet_applications(REPOSITORY)
    reached = {}
    for folder, applications in found.items():
        for cluster, item in applications:
            where = {key: value for key, value in item["spec"]["destination"].items() if key != "namespace"}
            reached.setdefault((folder, *where.items()), set()).add(cluster)
    told = {
        files.name
        for files in open_project(REPOSITORY).fleet.clusters
        if "engine: argocd" in (REPOSITORY / files.cluster).read_text("utf-8")
    }

    assert all(len(clusters) == 1 for clusters in reached.values())
    assert set().union(*reached.values()) == told
    assert len(reached) == len(told) > 6
    assert {folder for folder, *_ in reached} == {"argocd", "argocd-sealed"}


def test_each_argo_cd_has_a_folder_with_nothing_of_another(tmp_path):
    root = written(
        tmp_path,
        {
            "hub": "",
            "far": "destination: {name: far}",
            "edge": "instance: edge, project: gpu",
            "shop": "instance: shop",
        },
    )
    assert generate(root).written
    names = {
        path.name: sorted(file.name for file in path.iterdir())
        for path in (root / "output/fleet").iterdir()
        if path.is_dir()
    }
    both = ["argocd-cm-health.patch", "kustomization.yaml"]

    assert names == {
        "argocd": sorted(["applicationset-default.yaml", *both]),
        "argocd-edge": sorted(["applicationset-gpu.yaml", "appproject-gpu.yaml", *both]),
        "argocd-shop": sorted(["applicationset-default.yaml", *both]),
    }
    told = {folder: sorted({cluster for cluster, _ in items}) for folder, items in fleet_applications(root).items()}
    assert told == {"argocd": ["far", "hub"], "argocd-edge": ["edge"], "argocd-shop": ["shop"]}


def test_projects_and_namespaces_that_a_hyphen_would_make_alike_have_files_of_their_own(tmp_path):
    root = written(
        tmp_path,
        {
            "a": "destination: {name: a}, project: gpu, namespace: eu-ops",
            "b": "destination: {name: b}, project: gpu-eu, namespace: ops",
            "c": "destination: {name: c}, project: gpu-eu-ops",
            "d": "destination: {name: d}, project: gpu, namespace: plain",
        },
    )
    assert generate(root).written
    folder = root / "output/fleet/argocd"

    assert sorted(path.stem.removeprefix("applicationset-") for path in folder.glob("applicationset-*")) == [
        "gpu-eu-ops",
        "gpu-eu.ops",
        "gpu-plain",
        "gpu.eu-ops",
    ]
    assert sorted({cluster for cluster, _ in fleet_applications(root)["argocd"]}) == ["a", "b", "c", "d"]
    listed = read_documents((folder / "kustomization.yaml").read_text("utf-8"))[0]["resources"]
    assert sorted(listed) == sorted(path.name for path in folder.glob("app*"))


def test_no_unit_is_called_as_if_it_were_of_a_cluster_with_a_longer_name():
    """`<cluster>-<unit>`, and `<cluster>-gpu` above them: were one unit the end of another one after a hyphen, two
    clusters could have an Application of one name."""
    units = {"gpu"}
    for path in (*REPOSITORY.glob("output/clusters/*"), *REPOSITORY.glob("tests/golden/*/expected/clusters/*")):
        units |= {file.stem for file in path.glob("delivery/*.yaml")} - {"kustomization", "sources"}

    assert {"platform", "gpu-operator", "pools", "coco-operator-upstream", "node-feature-discovery-chart"} <= units
    assert [(one, other) for one in units for other in units if other.endswith(f"-{one}")] == []


@pytest.mark.parametrize("flux", ["instance: x", "destination: {name: x}"])
def test_flux_has_no_instances(tmp_path, flux):
    files = files_of({"east": None})
    text = files["profiles/east/cluster.yaml"].replace("engine: flux", f"engine: flux, {flux}")
    root = written(tmp_path, {"east": None})
    (root / "profiles/east/cluster.yaml").write_text(text)

    assert [item.name for item in generate(root).outcome.diagnostics] == ["field-without-effect"]


def test_an_instance_is_a_label_so_that_no_folder_is_another_one(tmp_path):
    for bad in ("../argocd", "A", "a.b", "", "argocd/x"):
        outcome = generate(written(tmp_path, {"east": f"instance: '{bad}'"})).outcome
        assert [item.name for item in outcome.diagnostics] == ["invalid-name"]


def test_a_run_of_a_shard_knows_that_it_is_one(tmp_path):
    root = written(tmp_path, {"east": ""})

    assert open_run(root, shard=Shard(1, 1)).is_shard
    assert not open_run(root, ["east"]).is_shard
    with pytest.raises(UsageError):
        open_run(root, ["west"])
