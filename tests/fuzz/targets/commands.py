"""Files that commands read: in a project, beside one, or from anywhere. Whatever stands in them, a command ends well.

It ends with a code that docs/ci.md has, never with 70; no line of it has a character that steers a terminal; what it
calls JSON or YAML is that.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import yaml

from fuzz.target import Target
from fuzz.targets.texts import ROOT, fleet_files
from poolsmith.interface.cli import main as command_line

TODAY = "2026-11-20"
RELEASE = "v26.3.3"
_ENDS = frozenset((0, 1, 2, 3))
_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def _raise(error):
    raise error


@contextlib.contextmanager
def bugs_are_raised():
    """Instead of one line and exit 70: a fuzzer wants to see the exception."""
    before = command_line._bug
    command_line._bug = _raise
    try:
        yield
    finally:
        command_line._bug = before


def command(arguments, *, folder):
    """Exit code and output of a command; what must hold for any."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with bugs_are_raised(), contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = int(command_line._run(list(arguments)))
    written = []
    for stream in (out, err):
        stream.flush()
        written.append(stream.buffer.getvalue().decode("utf-8"))
    assert code in _ENDS, f"{arguments} ends with {code}"
    if "json" in arguments and written[0]:
        json.loads(written[0])
    elif arguments[0] in ("template", "expand"):
        list(yaml.load_all(written[0], Loader=yaml.CSafeLoader))
    else:
        steering = _STEERS.search(written[0])
        assert steering is None, f"{arguments[0]} prints {steering[0]!r}"
    assert _STEERS.search(written[1]) is None
    return f"{code}\n{written[0]}{written[1]}".replace(str(folder), "")


@functools.cache
def workplace():
    """A small project of this process, generated: a cluster of one pool, with the sample's bases and just the grants that it needs."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command(["init", "lab"], folder=folder)
    shutil.copytree(ROOT / "profiles/_bases", folder / "profiles/_bases")
    command(["grants", "--write"], folder=folder)
    for grant in sorted(folder.glob("policies/privileges/*.yaml")):
        text = re.sub(r"(?m)^( +)(reason|owner): .*$", r"\1\2: fuzzed", grant.read_text("utf-8"))
        grant.write_text(re.sub(r"(?m)^( +expires): .*$", r'\1: "2027-06-30"', text), "utf-8")
    command(["generate"], folder=folder)
    return folder


CHECKS = (
    ["generate", "--check", "--format", "text"],
    ["check", "--jobs", "1", "--no-cache", "--today", TODAY, "--format", "json"],
)
GITHUB = ["check", "--jobs", "1", "--no-cache", "--today", TODAY, "--format", "text"]


def in_project(path, *commands):
    """A file of the project, and what reads it. What stood there before comes back."""

    def run(data):
        folder = workplace()
        file = folder / path
        before = file.read_bytes() if file.exists() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        try:
            return "\n".join(command(arguments, folder=folder) for arguments in commands or CHECKS)
        finally:
            if before is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(before)

    return run


def alone(*commands, name="input.yaml"):
    """A file outside of any project; `@` in a command stands for it."""

    def run(data):
        folder = workplace() / "alone"
        folder.mkdir(exist_ok=True)
        (folder / "values.yaml").write_bytes(b"driver: {enabled: true}\n")
        (folder / name).write_bytes(data)
        return "\n".join(
            command([name if word == "@" else word for word in arguments], folder=folder) for arguments in commands
        )

    return run


def below(*patterns, most=12_000):
    """The sample's own files."""

    def seeds():
        paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
        return [data for path in paths if len(data := path.read_bytes()) < most]

    return seeds


def clusters():
    """Every cluster of the sample, as the one of the small project."""
    for path in sorted(ROOT.glob("profiles/*/cluster.yaml")):
        yield re.sub(rb"(?m)^  name: .*$", b"  name: lab", path.read_bytes(), count=1)


def generated(path):
    """A file that the small project has generated."""
    return lambda: [(workplace() / path).read_bytes()]


def values():
    """Values by hand, those of the sample's output, and such as tests of templates found to matter."""
    yield from below("output/clusters/*/platform/values/*.yaml", "tests/guard/rules/examples/*/*/*values*.yaml")()
    yield b"driver: {enabled: true, version: '580.126.20', env: [{name: A, value: b}]}\noperator: {priorityClassName: x}\n"
    yield b"node-feature-discovery: {worker: {config: {sources: {local: {hooksEnabled: true}}}, tolerations: [{operator: Exists}]}}\n"
    yield b"toolkit: {env: [{name: CONTAINERD_CONFIG, value: /a}]}\nmig: {strategy: mixed}\nextraObjects: [{kind: A}]\n"
    yield b"daemonsets: {annotations: {a: b}, labels: {c: d}, tolerations: []}\ncdi: {enabled: false}\nsandboxWorkloads: {enabled: true}\n"


def nodes():
    yield b"- {name: a, labels: {pool: x}, runtime: containerd://1.7.24, taints: [{key: a, effect: NoSchedule}]}\n"
    yield b"apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {a: b}}\nstatus: {nodeInfo: {containerRuntimeVersion: cri-o://1.31}}\n"
    yield b"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n, labels: {feature.node.kubernetes.io/system-os_release.ID: ubuntu, feature.node.kubernetes.io/system-os_release.VERSION_ID: '22.04', feature.node.kubernetes.io/kernel-version.full: 6.8.0-60-generic}}}\n"


def manifests():
    yield from below(
        "output/clusters/*/expected/*.yaml",
        "output/clusters/*/platform/*.yaml",
        "tests/guard/rules/examples/PSM3*/*/*.yaml",
        most=6_000,
    )()
    yield b"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: {hostPID: true, containers: [{name: c, image: d, securityContext: {privileged: true}, volumeMounts: [{name: v, mountPath: /x}]}], volumes: [{name: v, hostPath: {path: /}}]}\n"
    yield b"apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: cluster-policy}\nspec: {driver: {enabled: true, version: '580'}}\n"


def supplies():
    """What may come from where, and what is accepted."""
    yield from below("policies/supply.yaml")()
    signed = "reason: read, owner: gpu, expires: '2027-01-31'"
    yield (
        "apiVersion: poolsmith/v1\nkind: SupplyPolicy\nmetadata: {name: fleet}\nspec:\n"
        f"  acceptSettings: [{{cluster: lab, workload: a/DaemonSet/b, setting: env LD_PRELOAD, {signed}}}]\n"
        "  acceptUnknown: [{cluster: lab, unit: kata, source: 'https://git.example.com/kata', revision: v1,"
        f" unknown: what it brings, {signed}}}]\n"
    ).encode()


def asking(*commands):
    """An argument that somebody typed; `@` stands for it."""

    def run(data):
        text = data.decode("utf-8", "replace").replace("\0", "")
        folder = workplace()
        return "\n".join(
            command([text if word == "@" else word for word in arguments], folder=folder) for arguments in commands
        )

    return run


EVAL = ("policy", "eval")
TARGETS = (
    Target(
        "pool",
        below("profiles/*/*[a-z0-9].yaml", "tests/golden/*/profiles/*/*.yaml"),
        in_project("profiles/lab/gpu.yaml"),
        seconds=6,
    ),
    Target("cluster", clusters, in_project("profiles/lab/cluster.yaml"), seconds=6),
    Target("base", below("profiles/_bases/*.yaml"), in_project("profiles/_bases/fuzz.yaml"), seconds=6),
    Target(
        "driver-images",
        below("profiles/_driver-images.yaml", "tests/golden/*/profiles/_driver-images.yaml", "profiles/_bases/*.yaml"),
        in_project("profiles/_driver-images.yaml"),
        seconds=6,
    ),
    Target(
        "grants", below("policies/privileges/*.yaml"), in_project("policies/privileges/fuzz.yaml", *CHECKS), seconds=6
    ),
    Target("enforcement", below("policies/*.yaml"), in_project("policies/enforcement.yaml"), seconds=6),
    Target("waivers", below("policies/*.yaml"), in_project("policies/waivers.yaml"), seconds=6),
    Target("settings", below("policies/*.yaml"), in_project("policies/rules.yaml"), seconds=6),
    Target(
        "admission",
        below("policies/admission/*[a-z0-9].yaml"),
        in_project("policies/admission/fuzz.yaml", CHECKS[0]),
        seconds=6,
    ),
    Target(
        "admission-test",
        below("policies/admission/*.test.yaml"),
        in_project("policies/admission/fuzz.test.yaml", ["generate", "--check"]),
        seconds=6,
    ),
    Target(
        "committed-lock",
        generated("output/clusters/lab/poolsmith.lock.json"),
        in_project("output/clusters/lab/poolsmith.lock.json"),
        seconds=6,
        structures="text",
    ),
    Target(
        "committed-values",
        generated("output/clusters/lab/platform/values/gpu-operator.yaml"),
        in_project("output/clusters/lab/platform/values/gpu-operator.yaml"),
        seconds=6,
    ),
    Target("committed-objects", manifests, in_project("output/clusters/lab/smoke/fuzz.yaml", GITHUB), seconds=6),
    Target(
        "values",
        values,
        alone(["template", "--release", RELEASE, "-f", "@"], ["check", "--release", RELEASE, "@", "--format", "text"]),
        seconds=6,
    ),
    Target(
        "values-newest",
        values,
        alone(
            ["template", "--release", "v26.7.0", "-f", "@", "--format", "json"],
            ["expand", "--release", "v26.7.0", "-f", "@", "--nodes", "values.yaml"],
        ),
        seconds=6,
    ),
    Target(
        "nodes",
        nodes,
        alone(["expand", "--release", RELEASE, "-f", "values.yaml", "--nodes", "@", "--format", "json"]),
        seconds=6,
    ),
    Target(
        "objects",
        manifests,
        alone(
            ["check", "@", "--format", "text"], ["check", "--pod-security", "restricted:1.34", "@", "--format", "json"]
        ),
        seconds=6,
    ),
    Target(
        "resources",
        manifests,
        alone(
            ["expand", "--release", RELEASE, "--resources", "@"],
            ["expand", "--release", RELEASE, "-f", "values.yaml", "--objects", "@"],
        ),
        seconds=6,
    ),
    Target("policy-objects", manifests, alone([*EVAL, "--policy", "@", "--object", "@"]), seconds=6),
    Target(
        "os-release",
        lambda: [b'ID=rhel\nVERSION_ID="9.4"\n', b"# c\nNAME='a b'\nID=\"\\$x\"\n"],
        alone(["expand", "--release", RELEASE, "-f", "values.yaml", "--os-release", "@", "--format", "json"]),
        structures="text",
        seconds=6,
    ),
)
TARGETS += (
    Target("supply", supplies, in_project("policies/supply.yaml"), seconds=6),
    Target(
        "explained",
        lambda: [
            b"lab:driver.version",
            b"lab/gpu:driver",
            b"lab",
            b"PSM101",
            b"lab:operator.upgradeCRD",
            b"hand-edited",
        ],
        asking(["explain", "--", "@"]),
        structures="text",
        most_bytes=2 << 10,
    ),
    Target(
        "asked-of-the-ledger",
        lambda: [b"host-path:/run:rw:none", b"privileged", b"rbac:core/pods:get@cluster", b"DaemonSet/nvidia-driver"],
        asking(["ledger", "--holds", "@"], ["ledger", "--workload", "@"]),
        structures="text",
        most_bytes=2 << 10,
        seconds=6,
    ),
)
__all__ = ["TARGETS", "fleet_files"]
os.environ.setdefault("POOLSMITH_CACHE_DIR", "")
