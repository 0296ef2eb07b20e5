"""All that can be seen of a small project: files, what is said, and the inventory."""

from __future__ import annotations

import datetime as dt
import json
import re
from itertools import combinations

from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app.inventory import inventory
from poolsmith.interface.app.judge import judge
from poolsmith.interface.app.run import Run
from poolsmith.project.output.argocd_fleet import fleet_entry, render_fleet
from poolsmith.project.output.lock_file import LOCK
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import Project

TODAY = dt.date(2026, 11, 27)
_QUOTED = re.compile(rb"^ *#.*\n|[\w@./\\-]+\.yaml: [\w.\[\]-]+", re.MULTILINE)
"""What only says where a value comes from."""


class Seen:
    """What poolsmith makes of projects that are written one after the other to the same folder.

    A project is its documents by their paths.
    """

    def __init__(self, root):
        self.root = root
        self.shared = Project(root)
        self.memory = {}
        self.written = {}

    def generated(self, files):
        """The cluster's output by path; None where the profiles have errors."""
        return self._of("generated", files, self._generate)

    def judged(self, files):
        """What `check` finds."""
        return self._of("judged", files, self._judge)

    def listed(self, files):
        """What `inventory` shows."""
        return self._of("listed", files, self._list)

    def _of(self, what, files, make):
        key = (what, json.dumps(files, sort_keys=True))
        if key not in self.memory:
            self.memory[key] = make(self._write(files))
        return self.memory[key]

    def _write(self, files):
        texts = {self.root / path: emit(data) for path, data in files.items()}
        for old in self.written.keys() - texts.keys():
            old.unlink()
            if not any(old.parent.iterdir()):
                old.parent.rmdir()  # an empty folder says something, too
        for path, text in texts.items():
            if self.written.get(path) != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.written = texts
        return Project(self.root).beside(self.shared)

    def _generate(self, project):
        run = run_cluster(project, project.fleet.clusters[0])
        if run.files is None:
            return None
        entry = fleet_entry(run.plan)
        fleet = (
            {} if entry is None else {str(item.path): repr(item).encode() for item in render_fleet([entry]).manifests}
        )
        return {path: _QUOTED.sub(b"", text) for path, text in {**run.files, **fleet}.items() if path != LOCK}

    def _judge(self, project):
        run = Run(project=project, selected=project.fleet.clusters, is_whole=True)
        found = judge(run, JudgingOptions(today=TODAY)).result.outcome.diagnostics
        return {(item.name, item.severity, item.message, item.waived_because) for item in found}

    def _list(self, project):
        return inventory(project.root, ())


def differ(see, projects):
    """Whether two of them are not seen alike; what can't be seen is left out. No more is looked at than is needed."""
    first = None
    for project in projects:
        found = see(project)
        if found is not None and first is not None and found != first:
            return True
        first = found if first is None else first
    return False


def named(see, projects):
    """Names of the findings that one of them has and another has not."""
    return {name for one, other in combinations(projects, 2) for name, *_ in see(one) ^ see(other)}
