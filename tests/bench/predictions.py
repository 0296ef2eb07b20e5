"""Prints the seconds of processor time that expansion and ledger of all clusters take, their plans being made; then
those that the text of their files takes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.guard.ledger.prediction import Predictions
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.output.prediction import PredictionTexts
from poolsmith.project.run.project import open_project


def main() -> None:
    project = open_project(Path(sys.argv[1]))
    plans = []
    for files in project.select(()):
        loaded = load_cluster(project.tree, files, project.bases)
        plan = resolve_cluster(loaded, project.catalog).plan
        if plan is None:
            sys.exit(f"{files.name} has no plan")
        plans.append((plan, loaded))
    predictions = Predictions(project.catalog)
    texts = PredictionTexts()
    expanding = writing = 0.0
    with rarely_collecting():
        for plan, loaded in plans:
            start = time.process_time()
            prediction = predictions.of(plan, loaded)
            between = time.process_time()
            texts.of(prediction)
            expanding += between - start
            writing += time.process_time() - between
    print(expanding, writing)


if __name__ == "__main__":
    main()
