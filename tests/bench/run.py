"""`make bench`: the budgets, measured on whole processes. A benchmark, not a test: nothing fails here."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from budgets import BUDGETS, history, keep
from daemon_sets import write_daemon_sets, write_schemas
from live_cluster import CLUSTER, large_cluster
from measuring import NOTHING, POOLSMITH, Measured, measure
from peers import PEERS, VALUES, commands
from policies import policies

from fleet import change_base, change_one_profile, write_files_without_gpus, write_fleet
from poolsmith import __version__
from poolsmith.core.sources.file_states import MARGIN

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS = 1_000
SAMPLE = Path(__file__).parents[2]
GENERATE, CHECK = (*POOLSMITH, "generate", "--no-cache"), (*POOLSMITH, "check", "--no-cache")
ONE_RUN = (*POOLSMITH, "run", "--no-cache")
COMPARE = (*POOLSMITH, "generate", "--check", "--cache")
DIFF = (*POOLSMITH, "diff", "--base", "HEAD")
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false")
FINDINGS = 1
"""The exit code of `generate --check` where something would change."""


class Bench:
    """Rows in the order in which they were measured."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.rows: dict[str, Measured] = {}
        self._store = {"POOLSMITH_CACHE_DIR": str(folder / "store")}
        self._folder = folder
        self._runs = runs

    def folder(self, name: str) -> Path:
        path = self._folder / name
        path.mkdir()
        return path

    def start_up(self) -> None:
        folder = self.folder("small")
        write_fleet(folder, 8)
        self.rows["python -c pass"] = measure((NOTHING,), folder, self._runs * 5)
        self.rows["--version"] = measure(((*POOLSMITH, "--version"),), folder, self._runs * 5)
        self.rows["8 pools: generate, then check"] = measure(
            (GENERATE, CHECK), folder, self._runs * 3, before=_without_output(folder)
        )
        self.rows["8 pools: generate and check in one process"] = measure(
            (ONE_RUN,), folder, self._runs * 3, before=_without_output(folder)
        )
        (folder / "web.yaml").write_text("kind: Service\n")
        for name, path in (("one values file", VALUES), ("a file without a word about GPUs", "web.yaml")):
            command = (*POOLSMITH, "check", "--hook", path)
            self.rows[f"lint of {name}"] = measure((command,), folder, self._runs * 5)
        schemas = write_schemas(self.folder("peers"), "1.33")
        for peer, command in commands(schemas):
            if isinstance(command, str):
                print(f"{peer.work}: not measured, {command}", file=sys.stderr)
            else:
                self.rows[peer.work] = measure((command,), folder, self._runs * 3, ends=peer.ends)

    def sample(self) -> None:
        self.rows["the sample fleet: check, cold"] = measure((CHECK,), SAMPLE, self._runs)

    def large(self, pools: int, runs: int) -> None:
        folder = self.folder(f"pools-{pools}")
        write_fleet(folder, pools)
        self.rows[f"{pools:,} pools: generate"] = measure((GENERATE,), folder, runs, before=_without_output(folder))
        found = measure((GENERATE, CHECK), folder, runs, before=_without_output(folder))
        self.rows[f"{pools:,} pools: generate + check, nothing cached"] = found

    def processes(self, pools: int) -> None:
        """On the fleet that `large` made: two processes by the clock, beside one in the same minutes."""
        folder = self._folder / f"pools-{pools}"
        one, two = (
            measure(((*GENERATE, "--jobs", jobs), (*CHECK, "--jobs", jobs)), folder, 1, before=_without_output(folder))
            for jobs in ("1", "2")
        )
        row = f"{pools:,} pools: two processes (ratio to one, by the clock)"
        self.rows[row] = replace(two, ratio=two.seconds / one.seconds)

    def unchanged(self, pools: int) -> None:
        """On the output that `large` made, once it is old enough to be known again; the store has seen it once."""
        time.sleep(MARGIN / 1e9 + 0.5)
        folder = self._folder / f"pools-{pools}"
        row = f"{pools:,} pools: generate --check, "
        for name, command in (("unchanged", COMPARE), ("unchanged, every byte hashed", (*COMPARE, "--rehash"))):
            measure((command,), folder, 1, environment=self._store)
            self.rows[row + name] = measure((command,), folder, self._runs * 2, environment=self._store)
        self.rows[f"{row}one profile changed"] = measure(
            (COMPARE,),
            folder,
            self._runs * 2,
            before=lambda: change_one_profile(folder),
            environment=self._store,
            ends=(FINDINGS,),
        )

    def live(self) -> None:
        """A cluster behind an API server on loopback, which is another process."""
        with large_cluster(self.folder("live")) as kubeconfig:
            command = (*POOLSMITH, "verify", CLUSTER, "--kubeconfig", str(kubeconfig))
            self.rows["verify: 1,000 nodes, 20,000 pods"] = measure((command,), SAMPLE, 1)

    def changes(self, pools: int) -> None:
        """A repository whose base has the output of all, and a change that was generated too."""
        folder = self.folder(f"changes-{pools}")
        write_fleet(folder, pools)
        subprocess.run(GENERATE, cwd=folder, check=True, capture_output=True)
        for command in (("init", "-q"), ("add", "-A"), (*IDENTITY, "commit", "-q", "-m", "base"), ("gc", "-q")):
            subprocess.run(("git", *command), cwd=folder, check=True, capture_output=True)
        for name, change in (("one profile", change_one_profile), ("a base of all pools", change_base)):
            change(folder)
            subprocess.run(GENERATE, cwd=folder, check=True, capture_output=True)
            self.rows[f"{pools:,} pools: diff, {name} changed"] = measure((DIFF,), folder, self._runs * 2)
            subprocess.run(("git", "checkout", "-q", "."), cwd=folder, check=True)

    def growth(self, small: int, large: int) -> None:
        """What more pools cost more: ten times as many should take ten times the seconds, and hardly more memory."""
        less, more = (self.rows[f"{pools:,} pools: generate + check, nothing cached"] for pools in (small, large))
        memory = (more.mebibytes or 0) / (less.mebibytes or 1)
        print(
            f"growth from {small:,} to {large:,} pools, {large // small} times as many: "
            f"{more.seconds / less.seconds:.1f} times the seconds, {memory:.1f} times the memory"
        )

    def ledger(self) -> None:
        folder = self.folder("unlike")
        write_fleet(folder, 1_000, unlike=True)
        self.rows["ledger of 1,000 unlike pools"] = measure(((*POOLSMITH, "ledger"),), folder, self._runs)

    def ruled(self) -> None:
        """20 policies over ten clusters of ten pools."""
        folder = self.folder("ruled")
        write_fleet(folder, 100, unlike=True)
        admission = folder / "policies/admission"
        admission.mkdir(parents=True)
        (admission / "bench.yaml").write_text(policies(), "utf-8")
        subprocess.run(GENERATE, cwd=folder, check=True, capture_output=True)
        self.rows["20 policies, 100 pools in 10 clusters: check"] = measure((CHECK,), folder, self._runs, ends=(0, 1))

    def without_gpus(self) -> None:
        """A repository of others: nothing to check is an end of its own."""
        folder = self.folder("others")
        write_files_without_gpus(folder, 1_120)
        command = (*POOLSMITH, "check", ".")
        self.rows["1,120 files without GPUs: check"] = measure((command,), folder, self._runs * 3, ends=(3,))

    def schemas(self) -> None:
        """Documents read and validated in one process, beside kubeconform on the same files."""
        folder = self.folder("schemas")
        documents = folder / "manifests"
        write_daemon_sets(documents, DOCUMENTS)
        command = (*CHECK, str(documents))
        row = f"{DOCUMENTS:,} DaemonSets: check"
        tool = shutil.which("kubeconform")
        if tool is None:
            self.rows[row] = measure((command,), folder, self._runs)
            print("kubeconform is not installed: no comparison", file=sys.stderr)
            return
        location = write_schemas(folder / "schemas", "1.33")
        peer = (tool, "-strict", "-summary", "-schema-location", location, str(documents))
        found = measure((command,), folder, self._runs * 3, beside=peer)
        self.rows[f"{row} (ratio to kubeconform)"] = found
        self.rows[f"{row}, kubeconform itself"] = Measured(found.seconds / (found.ratio or 1))

    def parts(self) -> None:
        """Pieces of the work on one core, in seconds of processor time."""
        for name, unlike in (("alike", False), ("unlike", True)):
            folder = self.folder(f"parts-{name}")
            clusters = write_fleet(folder, 1_000, unlike=unlike)
            expanding, writing = self._told("predictions.py", str(folder))
            self.rows[f"expansion and ledger of 1,000 pools in {clusters} {name} clusters"] = Measured(expanding)
            self.rows["  and the text of their files"] = Measured(writing)
        judging, making = self._told("policies.py")
        self.rows["20 policies on 1,000 predicted workloads"] = Measured(judging)
        self.rows["  and their pods as they would be admitted"] = Measured(making)

    def _told(self, script: str, *arguments: str) -> tuple[float, float]:
        """The medians of the first two figures that a script prints."""
        command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
        outputs = [
            subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(self._runs)
        ]
        first, second = (statistics.median(float(output.split()[index]) for output in outputs) for index in (0, 1))
        return first, second

    def governed(self) -> None:
        """1,000 pools with the sample's admission policies, and a grant for every line of the ledgers."""
        folder = self.folder("governed")
        write_fleet(folder, 1_000)
        shutil.copytree(SAMPLE / "policies/admission", folder / "policies/admission")
        subprocess.run((*POOLSMITH, "grants", "--write"), cwd=folder, check=True, capture_output=True)
        for path in (folder / "policies/privileges").glob("*.yaml"):
            text = path.read_text("utf-8").replace('expires: ""', "expires: 2099-12-31")
            path.write_text(text.replace(': ""', ": measured"), "utf-8")
        for name, command in (("generate", GENERATE), ("check", CHECK)):
            found = measure((command,), folder, self._runs)
            self.rows[f"{name}, 1,000 pools with grants and policies"] = found


def _without_output(root: Path) -> Callable[[], None]:
    """The output goes aside, and is not deleted: file systems look long for what was deleted lately."""

    def aside() -> None:
        if (root / "output").exists():
            count = sum(path.name.startswith("aside-") for path in root.parent.iterdir())
            (root / "output").rename(root.parent / f"aside-{count}")

    return aside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs per figure; the median counts")
    parser.add_argument("--largest", type=int, default=10_000, help="pools of the largest fleet")
    parser.add_argument("--budgets", action="store_true", help="only the rows that have a budget")
    parser.add_argument(
        "--write", action="store_true", help="keep the figures as those of this release; `make docs` shows them"
    )
    parser.add_argument(
        "--engines", type=int, metavar="POOLS", help="only: processes and Dask workers on so many pools"
    )
    options = parser.parse_args()
    if options.engines:
        from engines import compare_engines

        with tempfile.TemporaryDirectory(prefix="poolsmith-bench-") as name:
            folder = Path(name, "fleet")
            folder.mkdir()
            sys.exit(0 if compare_engines(folder, options.engines) else 1)
    with tempfile.TemporaryDirectory(prefix="poolsmith-bench-") as name:
        bench = Bench(Path(name), options.runs)
        bench.start_up()
        bench.sample()
        bench.large(1_000, options.runs)
        bench.unchanged(1_000)
        bench.changes(1_000)
        bench.ledger()
        bench.ruled()
        bench.without_gpus()
        bench.schemas()
        bench.live()
        if options.largest > 1_000:
            bench.large(options.largest, 1)
            bench.growth(1_000, options.largest)
            bench.processes(options.largest)
        if not options.budgets:
            bench.parts()
            bench.governed()
    print_table(bench.rows)
    if options.write:
        kept = BUDGETS.keys() | {peer.work for peer in PEERS}
        keep(__version__, _machine(), {work: found for work, found in bench.rows.items() if work in kept})


def print_table(rows: dict[str, Measured]) -> None:
    """Ratios are of processor time to `python -c pass`, but where the row says something else."""
    entries = history()
    last = entries[-1]["rows"] if entries else {}
    width = max(map(len, rows))
    print(
        f"{'work':<{width}}  {'seconds':>8}  {'system':>7}  {'ratio':>6}  {'last':>6}  {'MiB':>5}  {'kept':<4}  budget"
    )
    for work, found in rows.items():
        before, budget = last.get(work, {}), BUDGETS.get(work)
        kept = "" if budget is None else "yes" if budget.keeps(found) else "NO"
        ratios = (_figure(one, 1) for one in (found.ratio, before.get("ratio")))
        cells = (
            f"{found.seconds:>8.3f}",
            f"{_figure(found.system, 2):>7}",
            *(f"{cell:>6}" for cell in ratios),
            f"{_figure(found.mebibytes, 0):>5}",
        )
        print(f"{work:<{width}}  {'  '.join(cells)}  {kept:<4}  {budget or ''}".rstrip())
    print(_machine())


def _machine() -> str:
    """What times depend on; the load says how far they can be believed."""
    return (
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}, "
        f"files on {_file_system(tempfile.gettempdir())}"
    )


def _file_system(folder: str) -> str:
    """The type of what the folder is mounted from, as /proc says; empty elsewhere."""
    mounts = Path("/proc/mounts")
    lines = mounts.read_text("utf-8").splitlines() if mounts.exists() else []
    found = [line.split()[1:3] for line in lines]
    own = [(place, kind) for place, kind in found if Path(folder).is_relative_to(place)]
    return max(own, key=lambda item: len(item[0]))[1] if own else "an unknown file system"


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


if __name__ == "__main__":
    main()
