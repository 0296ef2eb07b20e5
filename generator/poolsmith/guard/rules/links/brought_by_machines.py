"""Parts that the image of the machines has already, and that the operator installs once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.node_labels import DEPLOY
from poolsmith.guard.rules.links.machine_images import known_images, machine_images

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo(
    code="PSM933",
    name="brought-by-machines",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="Machines start from an image that brings driver, toolkit or device plugin (Talos; EKS images by Karpenter's "
    "EC2NodeClass), and the operator installs the same once more. No file opts those nodes out by labels "
    "`nvidia.com/gpu.deploy.*`.",
    why="The second driver can't unload the first, the toolkit writes to a file that is not its own, and of two device "
    "plugins the kubelet takes whichever registers last.",
    fix="switch the operator's part off",
    bad="# beside a machine configuration of Talos\ndriver: {version: 580.126.20}\n",
    good="# beside a machine configuration of Talos\ndriver: {enabled: false}\ntoolkit: {enabled: false}\n",
    symptom="`nvidia-driver-ctr` in CrashLoopBackOff, `driver is in use`; `read-only file system`",
    references=("data/machines/brought.yaml",),
)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    charts = [chart for chart in view.charts if chart.is_operator]
    if not view.is_alone or len(charts) != 1 or any(label.startswith(DEPLOY) for label in view.labels_said):
        return
    known = known_images()
    for image, place in machine_images(view.machines.tree.documents).items():
        for path, brings in known[image]["parts"].items():
            if charts[0].value(path) is True and not charts[0].partial:
                yield Finding(
                    message=f"{image} brings {brings}, and `{path}` is on: the operator installs it once more",
                    place=charts[0].place(path),
                    help=f"write `{path}: false`",
                    related=(place,),
                )
