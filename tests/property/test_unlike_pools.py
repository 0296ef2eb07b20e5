"""Unlike pools, at random: a project ends in an output that fits each pool, or in a diagnostic that names its line.

Nothing else: no traceback, no finding without a place, no pool with two drivers or none, or with a toolkit of another's
runtime. What fits is told by `unlike_pools/fitting.py`, which reads generated files and uses nothing of the generator.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, event, given, note, settings

from poolsmith.gpu.catalog import Catalog
from poolsmith.interface.app.check_project import check_project
from poolsmith.interface.app.generate import generate
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import open_project
from property.unlike_pools import cluster_model, fitting, fleets
from support.circles import DEEP

CATALOG = Catalog()
EXAMPLES = 5_000 if DEEP else 40
OF_THE_WORLD = frozenset(("no-driver-image",))
"""What a setup is warned of, however sound it is: nobody lists the image."""
OF_THE_OPERATOR = frozenset(("operator-error", "pool-not-supplied"))
"""What profiles alone must never come to: a pass has to refuse it before, at the profile's line."""
RARE_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def as_yaml(data):
    return yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)


class Shown:
    """The profiles of a project, to read in a failure and to try by hand; written only then."""

    def __init__(self, files):
        self.files = files

    def __repr__(self):
        return "".join(f"# {path}\n{as_yaml(data)}\n" for path, data in self.files.items())


def write(root, files):
    for path, data in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(as_yaml(data))
    return root


@contextlib.contextmanager
def on_disk(files):
    """A folder that is gone afterwards: there are thousands of examples."""
    with tempfile.TemporaryDirectory() as folder:
        yield write(Path(folder), files)


def run(root):
    """Every cluster of a project, with the catalog that all examples share."""
    project = open_project(root)
    project.__dict__["catalog"] = CATALOG
    assert project.fleet.problems == ()
    return [(files, run_cluster(project, files)) for files in project.fleet.clusters]


def merged(files, path):
    """A pool as its bases and its own file say it."""
    own = files[path]["spec"]
    spec = {}
    for base in own.get("extends") or ():
        spec = _over(spec, files[f"profiles/_bases/{base}.yaml"]["spec"])
    return _over(spec, {key: value for key, value in own.items() if key != "extends"})


def _over(below, above):
    result = dict(below)
    for key, value in above.items():
        result[key] = (
            _over(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        )
    return {key: value for key, value in result.items() if value is not None}


def outcome(files, cluster_files, ran):
    """`refused` with findings that have a place, or `generated` with files that fit."""
    for item in ran.diagnostics:
        place = item.primary.span
        assert place.path in files, f"{item.name} names {place}, which nobody wrote: {item.message}"
        assert place.start is not None, f"{item.name} names no line of {place.path}"
        assert place.start.line > 0
        assert item.help or item.severity == "note", f"{item.name} does not say what to write instead"
    cluster = merged(files, f"{cluster_files.folder}/cluster.yaml")
    if ran.failed:
        assert cluster.get("stack", {}).get("values") or OF_THE_OPERATOR.isdisjoint(
            item.name for item in ran.diagnostics
        )
        return "refused"
    assert ran.files is not None
    pools = {files[path]["metadata"]["name"]: merged(files, path) for path in cluster_files.pools}
    generations = {pool["gpu"]["product"]: pool["gpu"].get("architecture") for pool in pools.values()}
    known = {**fleets.GPUS, **{product: said for product, said in generations.items() if said}}
    found = fitting.misfits(cluster_model.Cluster(ran.files, cluster, pools), known)
    assert not found, "\n".join(found)
    return "generated"


def test_a_project_ends_in_an_output_that_fits_or_in_a_diagnostic_that_names_the_line_and_both_are_frequent():
    ends = Counter()

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=RARE_SLOW)
    @given(files=fleets.projects())
    def end(files):
        note(Shown(files))
        with on_disk(files) as root:
            for cluster_files, ran in run(root):
                found = outcome(files, cluster_files, ran)
                event(found)
                ends[found] += 1

    end()

    assert ends["generated"] > ends.total() / 5
    assert ends["refused"] > ends.total() / 8


@settings(max_examples=EXAMPLES // 5, deadline=None, suppress_health_check=RARE_SLOW)
@given(files=fleets.projects())
def test_what_is_generated_passes_the_proofs_over_setups(files):
    note(Shown(files))
    with on_disk(files) as root:
        written = generate(root).written
        judged = check_project(root).diagnostics if written else ()
    event("generated" if written else "refused")
    told = [f"{item.code} {item.name}: {item.message}" for item in judged if item.name not in OF_THE_WORLD]

    assert [text for text in told if text.startswith(("PSM26", "PSM27"))] == []
    assert [item.message for item in judged if item.severity == "error"] == []


SPOILED = {
    "the image of another system": ("driver:580.126.20-ubuntu22.04", "driver:580.126.20-ubuntu24.04", "needs nvcr.io"),
    "another runtime": ("value: containerd\n", "value: docker\n", "its toolkit configures docker"),
    "another configuration": ("path: /etc/containerd\n", "path: /etc/other\n", "CONTAINERD_CONFIG should be"),
    "no toleration": ("key: example.com/team\n", "key: example.com/other\n", "does not tolerate"),
    "a driver for nobody": ("gpu.deploy.driver: ", "gpu.deploy.nobody: ", "needs one driver, gets []"),
    "no device plugin": ("gpu.deploy.device-plugin: ", "gpu.deploy.nobody: ", "needs 1 device plugins, gets []"),
    "other kernel modules": ("value: open\n", "value: proprietary\n", "asks for open kernel modules"),
    "a feature that nobody asked for": ("name: nvidia-driver-ctr\n", "name: nvidia-fs-ctr\n", "needs one driver"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_what_does_not_fit_is_seen(tmp_path, spoiled):
    spec = {
        "os": {"id": "ubuntu", "version": "22.04"},
        "runtime": {"name": "containerd", "version": "2.1"},
        "gpu": {"product": "NVIDIA-L4", "count": 1},
        "driver": {"source": "container", "kernelModuleType": "open"},
        "nodes": {"taints": [{"key": "example.com/team", "effect": "NoSchedule"}]},
    }
    cluster = {
        "kubernetes": {"version": "1.34", "distribution": "kubeadm"},
        "stack": {"release": "v26.3.3"},
        "delivery": {"engine": "argocd", "repoURL": "https://git.example.com/gpu.git"},
    }
    files = {
        "profiles/one/cluster.yaml": fleets.document("Cluster", "one", cluster),
        "profiles/one/a.yaml": fleets.document("NodePool", "a", spec),
    }
    ((_, ran),) = run(write(tmp_path, files))
    right, wrong, sentence = SPOILED[spoiled]
    texts = {path: content.replace(right.encode(), wrong.encode()) for path, content in ran.files.items()}
    read = [cluster_model.Cluster(item, cluster, {"a": spec}) for item in (ran.files, texts)]
    sound, found = (fitting.misfits(item, fleets.GPUS) for item in read)

    assert sound == []
    assert any(sentence in item for item in found), found
