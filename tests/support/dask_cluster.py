"""A Dask cluster of processes on this machine: a scheduler, and workers that can be killed one by one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS = 60


class DaskCluster:
    """Workers have one thread and no nanny: one that is killed stays dead."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []
        self._run("distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard",
                  "--scheduler-file", str(self._file))  # fmt: skip
        until = time.monotonic() + SECONDS
        while not self._file.exists() or not self._file.read_text().strip():
            assert time.monotonic() < until, "the scheduler does not start"
            time.sleep(0.05)
        self.address = json.loads(self._file.read_text())["address"]
        for _ in range(workers):
            self.add_worker()
        if workers:
            self._wait_for(workers)

    @property
    def scheduler(self) -> subprocess.Popen[bytes]:
        return self._started[0]

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self._started[1:]

    def add_worker(self) -> None:
        self._run("distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                  "--death-timeout", "20", "--local-directory", str(self._folder))  # fmt: skip

    def end(self) -> None:
        for process in reversed(self._started):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()

    def _run(self, module: str, *arguments: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{REPOSITORY / 'generator'}",
            "DASK_DISTRIBUTED__WORKER__PRELOAD": "[]",
        }
        log = (self._folder / f"{len(self._started)}.log").open("wb")
        command = [sys.executable, "-m", module, *arguments]
        with log:
            self._started.append(
                subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
            )

    def _wait_for(self, workers: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False, timeout=SECONDS) as client:
            client.wait_for_workers(workers, timeout=SECONDS)
