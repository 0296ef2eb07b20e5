"""Judge generated pull requests, hostile ones and their harmless twins, and print what became of each, with the reason.

    PYTHONPATH=generator:tests python -m pull_requests.verdicts [CLUSTER...]

Without names all clusters that have attempts. It ends with 1 where a hostile one passes, or a harmless one does not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pull_requests.fleet import Fleet
from pull_requests.generated import git_changes, harmless_profile_changes, profile_changes, run
from pull_requests.values_table import RELEASES


def main(arguments):
    changes = (*profile_changes(), *git_changes(), *harmless_profile_changes())
    clusters = arguments or list(dict.fromkeys((*RELEASES, *(change.cluster for change in changes))))
    with tempfile.TemporaryDirectory() as folder:
        known = {}

        def fleets(change):
            if change.cluster not in known:
                known[change.cluster] = Fleet(Path(folder) / change.cluster, [change.cluster])
            return known[change.cluster]

        wrong = run(fleets, clusters)
    print(f"{wrong} with the wrong verdict")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
