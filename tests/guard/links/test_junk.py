"""What stands in anyone's files where a rule expects something else ends in no traceback."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths

JOB = """\
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: team}
spec:
  containers: [{name: main, image: "registry.example.com/train:1", resources: {limits: {nvidia.com/gpu: 1}}}]
"""


@pytest.mark.parametrize(
    "taint",
    ["{effect: NoSchedule}", '{key: "", effect: NoSchedule}', "{key: a}", '{key: a, value: "1", effect: NoSchedule}'],
)
def test_a_taint_that_lacks_something(write_files, taint):
    root = write_files(
        {
            "job.yaml": JOB,
            "kustomization.yaml": "resources: [job.yaml]\n",
            "nodes.yaml": f'- {{name: gpu-1, labels: {{nvidia.com/gpu.present: "true"}}, runtime: containerd://2.1.4, taints: [{taint}]}}\n',
        }
    )
    names = [item.name for item in check_paths(root, [root / "job.yaml"], nodes=root / "nodes.yaml").diagnostics]

    assert ("untolerating-workload" in names) is ("key: a," in taint and "NoSchedule" in taint)
