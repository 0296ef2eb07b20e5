"""`make bench`: the budgets, measured on whole processes. A benchmark, not a test: nothing fails here."""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from daemon_sets import write_daemon_sets, write_schemas
from fleet import change_one_profile, write_fleet

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS = 1_000
COMMAND = (sys.executable, "-m", "poolsmith")


@dataclass(frozen=True)
class Row:
    work: str
    seconds: float
    mebibytes: float
    files: int
    budget: str


def measure(
    arguments: list[str], root: Path, runs: int, before: Callable[[], None] = lambda: None
) -> tuple[float, float]:
    """Median seconds and largest resident set of the command and its children, in MiB."""
    seconds, memory = [], 0.0
    for _ in range(runs):
        before()
        start = time.perf_counter()
        process = subprocess.Popen([*COMMAND, *arguments], cwd=root, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - start)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"poolsmith {' '.join(arguments)} ended with {process.returncode}")
        memory = max(memory, usage.ru_maxrss / 1024)
    return statistics.median(seconds), memory


def count_files(root: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(root / "output"))


def fresh(root: Path) -> Callable[[], None]:
    return lambda: shutil.rmtree(root / "output", ignore_errors=True)


def small(folder: Path, runs: int) -> list[Row]:
    write_fleet(folder, 8)
    version, memory = measure(["--version"], folder, runs * 3)
    rows = [Row("--version", version, memory, 0, "0.06 s")]
    seconds, memory = measure(["generate"], folder, runs * 3, fresh(folder))
    checked, more = measure(["check"], folder, runs * 3)
    rows.append(Row("generate, 1 cluster of 8 pools, cold", seconds, memory, count_files(folder), ""))
    rows.append(Row("generate + check, 1 cluster of 8 pools", seconds + checked, max(memory, more), 0, "0.35 s"))
    return rows


def large(folder: Path, pools: int, runs: int) -> list[Row]:
    clusters = write_fleet(folder, pools)
    label = f"{pools:,} pools in {clusters:,} clusters"
    seconds, memory = measure(["generate"], folder, runs, fresh(folder))
    files = count_files(folder)
    checked, more = measure(["check"], folder, runs)
    unchanged, _ = measure(["generate", "--check"], folder, runs)
    change_one_profile(folder)
    one, _ = measure(["generate"], folder, 1)
    thousand = pools == 1_000
    return [
        Row(f"generate, {label}", seconds, memory, files, ""),
        Row(
            f"generate + check, {label}",
            seconds + checked,
            max(memory, more),
            0,
            "4 s, 300 MiB" if thousand else "",
        ),
        Row(
            f"generate --check, nothing changed, {pools:,} pools",
            unchanged,
            0,
            0,
            "0.6 s" if thousand else "",
        ),
        Row(f"generate, one profile changed among {pools:,}", one, 0, 0, "0.6 s" if thousand else ""),
    ]


def predictions(folder: Path, runs: int) -> list[Row]:
    """Expansion and ledger of 1,000 pools, on one core: clusters that share the work, and clusters that can't."""
    rows = []
    for name, unlike in (("alike", False), ("unlike", True)):
        root = folder / name
        root.mkdir()
        clusters = write_fleet(root, 1_000, unlike=unlike)
        command = [sys.executable, str(Path(__file__).with_name("predictions.py")), str(root)]
        outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(runs)]
        expanding, writing = (statistics.median(float(output.split()[index]) for output in outputs) for index in (0, 1))
        rows.append(Row(f"expansion and ledger, 1,000 pools in {clusters} {name} clusters", expanding, 0, 0, "1 s"))
        rows.append(Row("  and the text of their files", writing, 0, 0, ""))
        whole, memory = measure(["ledger"], root, runs)
        rows.append(Row(f"ledger, 1,000 pools in {clusters} {name} clusters", whole, memory, 0, ""))
    return rows


def policies(runs: int) -> list[Row]:
    """20 policies on the pods of 1,000 predicted workloads, on one core; compiling counts."""
    command = [sys.executable, str(Path(__file__).with_name("policies.py"))]
    outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(runs)]
    judging, making = (statistics.median(float(output.split()[index]) for output in outputs) for index in (0, 1))
    return [
        Row("20 policies on 1,000 predicted workloads", judging, 0, 0, "1 s"),
        Row("  and their pods as they would be admitted", making, 0, 0, ""),
    ]


def governed(folder: Path, runs: int) -> list[Row]:
    """The same 1,000 pools with the sample's admission policies, and a grant for every line of the ledgers."""
    write_fleet(folder, 1_000)
    sample = Path(__file__).parents[2] / "policies/admission"
    shutil.copytree(sample, folder / "policies/admission")
    subprocess.run([*COMMAND, "grants", "--write"], cwd=folder, check=True, capture_output=True)
    for path in (folder / "policies/privileges").glob("*.yaml"):
        text = path.read_text("utf-8").replace('expires: ""', "expires: 2099-12-31")
        path.write_text(text.replace(': ""', ": measured"), "utf-8")
    seconds, memory = measure(["generate"], folder, runs, fresh(folder))
    files = count_files(folder)
    checked, more = measure(["check"], folder, runs)
    unchanged, _ = measure(["generate", "--check"], folder, runs)
    return [
        Row("generate, 1,000 pools with grants and policies", seconds, memory, files, ""),
        Row("check, 1,000 pools with grants and policies", checked, more, 0, ""),
        Row("generate --check, nothing changed, with grants and policies", unchanged, 0, 0, ""),
    ]


def kustomize(folder: Path, clusters: int) -> list[Row]:
    """What the same overlays cost when kustomize builds them one by one."""
    tool = shutil.which("kustomize")
    if tool is None:
        print("kustomize is not installed: no comparison", file=sys.stderr)
        return []
    overlays = sorted((folder / "output").glob("clusters/*/pools/*/kustomization.yaml"))[: clusters * 10]
    start = time.perf_counter()
    for overlay in overlays:
        subprocess.run([tool, "build", str(overlay.parent)], check=True, stdout=subprocess.DEVNULL)
    return [
        Row(
            f"kustomize build, {len(overlays)} pool overlays one by one",
            time.perf_counter() - start,
            0,
            0,
            "",
        )
    ]


def schemas(folder: Path, runs: int) -> list[Row]:
    """1,000 documents read and validated in one process, and what kubeconform takes for the same files."""
    documents = folder / "manifests"
    write_daemon_sets(documents, DOCUMENTS)
    seconds, memory = measure(["check", str(documents)], folder, runs)
    tool = shutil.which("kubeconform")
    if tool is None:
        print("kubeconform is not installed: no comparison", file=sys.stderr)
        return [Row(f"check, {DOCUMENTS:,} DaemonSets", seconds, memory, DOCUMENTS, "200 MiB")]
    location = write_schemas(folder / "schemas", "1.33")
    command = [tool, "-strict", "-summary", "-schema-location", location, str(documents)]
    peer = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        peer.append(time.perf_counter() - start)
    theirs = statistics.median(peer)
    return [
        Row(f"kubeconform, {DOCUMENTS:,} DaemonSets", theirs, 0, DOCUMENTS, ""),
        Row(f"check, {DOCUMENTS:,} DaemonSets", seconds, memory, DOCUMENTS, f"{1.5 * theirs:.2f} s, 200 MiB"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs per figure; the median counts")
    parser.add_argument("--largest", type=int, default=10_000, help="pools of the largest fleet")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="poolsmith-bench-") as name:
        folder = Path(name)
        rows += schemas(_made(folder / "schemas"), options.runs)
        rows += small(_made(folder / "small"), options.runs)
        rows += large(_made(folder / "thousand"), 1_000, options.runs)
        rows += kustomize(folder / "thousand", 100)
        rows += predictions(_made(folder / "predictions"), options.runs)
        rows += policies(options.runs)
        rows += governed(_made(folder / "governed"), options.runs)
        if options.largest > 1_000:
            rows += large(_made(folder / "largest"), options.largest, 1)
    print_table(rows)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def print_table(rows: list[Row]) -> None:
    width = max(len(row.work) for row in rows)
    print(f"{'work':<{width}}  {'seconds':>8}  {'MiB':>6}  {'files':>7}  budget")
    for row in rows:
        memory = f"{row.mebibytes:.0f}" if row.mebibytes else ""
        files = f"{row.files:,}" if row.files else ""
        print(f"{row.work:<{width}}  {row.seconds:>8.3f}  {memory:>6}  {files:>7}  {row.budget}")
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process: {children:.0f} MiB, {os.cpu_count()} processors, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
