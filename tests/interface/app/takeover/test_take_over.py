"""`init --from`: what it finds, what it keeps, what it says, and what it never writes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolsmith.change.takeover.node_answers import TakeoverAnswers
from poolsmith.change.takeover.take_over import take_over
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.gpu.catalog import Catalog
from poolsmith.interface.cli.main import _run
from poolsmith.kubernetes.helm.values_merge import merge_files
from poolsmith.project.run.surroundings import look_around
from support.value_sets import for_release, served, value_set

RELEASES = ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
HELM_RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu-operator, namespace: gpu-operator}
spec:
  chart: {spec: {chart: gpu-operator, version: v25.3.4, sourceRef: {kind: HelmRepository, name: nvidia}}}
  values:
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu-operator, namespace: argocd}
spec:
  project: platform
  destination: {name: prod, namespace: gpu-operator}
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: gpu-operator
    targetRevision: v26.3.3
    helm:
      valuesObject:
"""


def repository(tmp_path, files):
    for path, text in files.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return tmp_path


def taken(root, source=None, **answers):
    return take_over(root, source or root, TakeoverAnswers(**answers), look_around(root), None, "x")


def spec(item, file="cluster"):
    return read_documents(item.texts[f"profiles/{item.name}/{file}.yaml"])[0]["spec"]


def test_fields_hold_what_they_can_and_the_rest_is_kept(tmp_path):
    values = """\
    driver:
      version: 570.158.01
      kernelModuleType: open
      rdma: {enabled: true}
      upgradePolicy: {maxParallelUpgrades: 3, drain: {enable: true}}
    nfd: {enabled: false}
    mig: {strategy: mixed}
    migManager: {config: {name: our-layouts}}
"""
    (item,) = taken(repository(tmp_path, {"clusters/prod/gpu.yaml": HELM_RELEASE + values}))
    driver = spec(item, "gpu")["driver"]
    assert item.name == "prod"
    assert (driver["version"], driver["kernelModuleType"], driver["rdma"]) == ("570.158.01", "open", True)
    assert driver["upgradePolicy"] == {"maxParallelUpgrades": 3, "drain": {"enable": True}}
    assert spec(item)["nfd"] == {"provider": "external"}
    assert spec(item)["stack"]["release"] == "v25.3.4"
    kept = spec(item)["stack"]["values"]
    assert kept == {"mig": {"strategy": "mixed"}, "migManager": {"config": {"name": "our-layouts"}}}
    assert not item.refused


def test_argo_cd_is_kept_with_project_and_destination(tmp_path):
    values = "        toolkit: {enabled: false}\n        driver: {enabled: false}\n"
    (item,) = taken(repository(tmp_path, {"apps/gpu.yaml": APPLICATION + values}))
    delivery = spec(item)["delivery"]
    assert (delivery["engine"], delivery["project"], delivery["destination"]) == (
        "argocd",
        "platform",
        {"name": "prod"},
    )
    assert spec(item, "gpu")["driver"] == {"source": "preinstalled"}
    assert spec(item, "gpu")["toolkit"] == {"source": "preinstalled"}


def test_an_application_is_said_to_leave_its_tracking_behind(tmp_path):
    """Seen on Argo CD 3.2.0 (tests/engines): the generated one syncs nothing as long as it is there."""
    (argo,) = taken(repository(tmp_path / "argo", {"apps/gpu.yaml": APPLICATION + "        mig: {strategy: mixed}\n"}))
    (flux,) = taken(repository(tmp_path / "flux", {"apps/gpu.yaml": HELM_RELEASE + "    mig: {strategy: mixed}\n"}))

    assert any("keep the tracking" in line and "-gpu-operator syncs nothing" in line for line in argo.lines)
    assert not any("tracking" in line for line in flux.lines)


def in_cluster(text):
    return text.replace("{name: prod,", "{server: https://kubernetes.default.svc,") + "        mig: {strategy: mixed}\n"


def test_applications_that_each_install_where_their_argo_cd_runs_are_of_two_argo_cds(tmp_path):
    items = taken(repository(tmp_path, {f"clusters/{name}/gpu.yaml": in_cluster(APPLICATION) for name in ("eu", "us")}))

    assert [spec(item)["delivery"].get("instance") for item in items] == [None, "us"]
    assert not any("destination" in spec(item)["delivery"] for item in items)
    assert "assumed us: delivery.instance is us" in items[1].lines


def test_a_set_that_installs_into_several_clusters_gives_a_profile_for_each(tmp_path):
    generators = [{"list": {"elements": [{"name": "eu"}, {"name": "us"}]}}]
    [body] = read_documents(
        APPLICATION.replace("name: prod", "name: '{{ .name }}'") + "        mig: {strategy: mixed}\n"
    )
    template = {"metadata": {"name": "{{ .name }}-gpu"}, "spec": body["spec"]}
    made = {
        **body,
        "kind": "ApplicationSet",
        "spec": {"goTemplate": True, "generators": generators, "template": template},
    }
    items = taken(repository(tmp_path, {"apps/set.yaml": emit(made)}))

    assert [spec(item)["delivery"]["destination"] for item in items] == [{"name": "eu"}, {"name": "us"}]
    assert len({item.name for item in items}) == 2


def test_a_destination_that_a_generator_gives_is_assumed_to_be_the_name(tmp_path):
    text = APPLICATION.replace("name: prod", "server: '{{server}}'") + "        mig: {strategy: mixed}\n"
    (item,) = taken(repository(tmp_path, {"clusters/eu/gpu.yaml": text}))

    assert spec(item)["delivery"]["destination"] == {"name": "eu"}
    assert "assumed eu: delivery.destination.name is eu" in item.lines


def test_what_no_application_installs_goes_by_its_name_beside_clusters_of_argo_cd(tmp_path):
    files = {
        "profiles/hub/cluster.yaml": "apiVersion: poolsmith/v1\nkind: Cluster\nmetadata: {name: hub}\nspec:\n"
        "  kubernetes: {version: '1.33', distribution: kubeadm}\n  stack: {release: v26.3.3}\n"
        "  delivery: {engine: argocd, repoURL: https://git.example.com/gpu.git}\n",
        "clusters/eu/values.yaml": "mig: {strategy: mixed}\n",
    }
    root = repository(tmp_path, files)
    (item,) = taken(root, root / "clusters/eu/values.yaml", release="v26.3.3", engine="argocd")

    assert spec(item)["delivery"]["destination"] == {"name": item.name}


def test_several_clusters_have_a_folder_each(tmp_path):
    text = HELM_RELEASE + "    mig: {strategy: mixed}\n"
    items = taken(repository(tmp_path, {f"clusters/{name}/gpu.yaml": text for name in ("eu", "us")}))
    assert {item.name for item in items} == {"eu", "us"}
    assert all(path.startswith(f"profiles/{item.name}/") for item in items for path in item.texts)


def test_driver_objects_become_pools(tmp_path):
    driver = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: train}
spec:
  driverType: gpu
  version: 580.95.05
  nodeSelector: {example.com/pool: training}
"""
    values = "        driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}\n"
    (item,) = taken(repository(tmp_path, {"a/gpu.yaml": APPLICATION + values, "a/driver.yaml": driver}))
    pool = spec(item, "train")
    assert spec(item)["poolLabel"] == "example.com/pool"
    assert (pool["nodes"]["labelValue"], pool["driver"]["version"]) == ("training", "580.95.05")
    assert any("NVIDIADriver/train: its name becomes train-gpu-compiled" in line for line in item.lines)


def test_a_release_that_nothing_says_is_assumed_and_marked(tmp_path):
    root = repository(tmp_path, {"values.yaml": "mig: {strategy: mixed}\n"})
    (item,) = taken(root, root / "values.yaml")
    newest = list(Catalog().releases.by_tag)[-1]
    assert any(line.startswith(f"assumed release {newest}") for line in item.lines)
    assert "TODO assumed" in item.texts["profiles/x/cluster.yaml"].partition(f"release: {newest}")[0][-60:]
    (said,) = taken(root, root / "values.yaml", release="25.3.4")
    assert spec(said)["stack"]["release"] == "v25.3.4"


def test_a_range_of_releases_is_refused(tmp_path):
    text = HELM_RELEASE.replace("v25.3.4", '"25.x"') + "    mig: {strategy: mixed}\n"
    (item,) = taken(repository(tmp_path, {"gpu.yaml": text}))
    assert item.refused
    assert not item.texts
    assert "25.x" in item.lines[0]


def test_templates_and_secrets_are_left_out_and_told(tmp_path):
    secret = "nvapi-" + "Ab3dEf6hIj9kLm2nOp5q" * 3
    values = f"""\
    driver: {{version: "${{DRIVER}}"}}
    toolkit: {{env: [{{name: NGC_API_KEY, value: {secret}}}]}}
"""
    (item,) = taken(repository(tmp_path, {"gpu.yaml": HELM_RELEASE + values}))
    told = "\n".join((*item.lines, *item.texts.values()))
    assert "${DRIVER}" not in "".join(item.texts.values())
    assert "driver.version is filled in by another tool" in told
    assert secret not in told


def test_a_dry_run_writes_nothing_and_a_run_overwrites_nothing(tmp_path, capsys):
    root = repository(tmp_path / "r", {"gpu.yaml": HELM_RELEASE + "    mig: {strategy: mixed}\n"})
    arguments = ["init", "prod", "--root", str(root), "--from", str(root)]
    assert _run([*arguments, "--dry-run"]) == 0
    assert [path.name for path in root.iterdir()] == ["gpu.yaml"]
    assert "--- profiles/prod/cluster.yaml" in capsys.readouterr().out
    own = root / "profiles/prod/gpu.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("mine\n", "utf-8")
    assert _run(arguments) == 1
    assert own.read_text("utf-8") == "mine\n"
    assert "kept  profiles/prod/gpu.yaml" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--dry-run"], ["--from", "nowhere"]])
def test_flags_that_make_no_sense(tmp_path, arguments, capsys):
    assert _run(["init", "--root", str(tmp_path), *arguments]) == 2
    assert capsys.readouterr().err


def effective(chart, values):
    return merge_files([chart.defaults, values])


def unlike(one, other, path=()):
    one, other = ({} if side is None else side for side in (one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from unlike(one.get(key, {}), other.get(key, {}), (*path, key))
    elif one != other:
        yield ".".join(path)


@pytest.mark.deep("random values of each release, taken over")
@settings(deadline=None, max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), release=st.sampled_from(RELEASES))
def test_every_value_that_differs_is_told(tmp_path_factory, seed, release):
    """Helm's merge of what is written, by the code that renders charts, against the lines of the report."""
    root = tmp_path_factory.mktemp("r")
    values = for_release(value_set(seed), release, served(seed))
    (root / "values.yaml").write_text(emit(values), "utf-8")
    (item,) = taken(root, root / "values.yaml", release=release)
    if item.refused:
        assert any(line.startswith("refused") for line in item.lines)
        return
    chart = Catalog().chart("gpu-operator", release)
    plan = item.settled.plan
    different = set(unlike(effective(chart, values), effective(chart, values_tree(plan.values))))
    told = {line.split()[1].rstrip(":") for line in item.lines if line.startswith("differs")}
    assert different <= told
