"""Prints the seconds of processor time that expansion and ledger of all clusters take, their plans being made."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from poolsmith.app.prediction import Predictions
from poolsmith.app.project import open_project
from poolsmith.app.values_check import judge_stack_values
from poolsmith.load.cluster import load_cluster
from poolsmith.resolve.pipeline import resolve_cluster


def main() -> None:
    project = open_project(Path(sys.argv[1]))
    plans = []
    for files in project.select(()):
        loaded = load_cluster(project.tree, files, project.bases)
        plan = resolve_cluster(loaded, project.catalog, judge_stack_values).plan
        if plan is None:
            sys.exit(f"{files.name} has no plan")
        plans.append((plan, loaded))
    start = time.process_time()
    predictions = Predictions(project.catalog)
    for plan, loaded in plans:
        predictions.of(plan, loaded).predicted()
    print(time.process_time() - start)


if __name__ == "__main__":
    main()
