"""What starts before what on a node, read from the DaemonSets themselves: their init containers wait for files.

Nothing here is a list of operands: files that a container's command tests, and validations that its variables name, say
what it waits for, and who writes them says after whom it starts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import fits
from poolsmith.core.record import record
from poolsmith.fleet.operands.kube import pod_of
from poolsmith.gpu.catalog.operands import read_readiness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject

_VALIDATOR = "nvidia-validator"
_COMPONENT = "COMPONENT"


@record
class Start:
    """One workload of a node. `after` are the workloads that come before it, `files` what it waits for in their stead;
    `writes` what others may wait for.
    """

    name: str
    after: tuple[str, ...]
    files: tuple[str, ...]
    writes: tuple[str, ...]

    @property
    def is_driver(self) -> bool:
        """Whether a container of its own says that the driver is there."""
        return not set(self.writes).isdisjoint(file for files in read_readiness().told.values() for file in files)


@record
class _Step:
    """A container of a pod, one after the other: the files that it waits for, patterns of the workloads that it needs,
    and the files that it writes.
    """

    files: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


Steps = dict[str, tuple[_Step, ...]]


def steps_of(daemon_sets: Iterable[KubernetesObject]) -> Steps:
    """By name."""
    return {item["metadata"]["name"]: _steps(item) for item in daemon_sets}


def start_order(steps: Steps) -> tuple[Start, ...]:
    """The DaemonSets of one node, those first that wait for nobody; by name where nothing else decides."""
    node = _Node(steps)
    starts = []
    for name, own in steps.items():
        own_files = {file for step in own for file in step.writes}
        files = dict.fromkeys(file for step in own for file in step.files if file not in own_files)
        known = {file: node.writers(file, but=name) for file in files}
        before = {other for others in known.values() for other, _ in others}
        before |= {other for step in own for other in node.needed(step, but=name)}
        starts.append(
            Start(
                name=name,
                after=tuple(sorted(before)),
                files=tuple(file for file in files if known[file]),
                writes=tuple(sorted(own_files)),
            )
        )
    return tuple(sorted(starts, key=lambda start: (node.depth(start.name, len(steps[start.name]) - 1), start.name)))


class _Node:
    """The steps of all pods of a node. A validator that first writes a file, and later waits for whom it lets go on, is
    no circle.
    """

    def __init__(self, steps: Mapping[str, tuple[_Step, ...]]) -> None:
        self._steps = steps
        self._depths: dict[tuple[str, int], int] = {}
        self._writers: dict[str, list[tuple[str, int]]] = {}
        for name, own in steps.items():
            for number, step in enumerate(own):
                for file in set(step.writes):
                    self._writers.setdefault(file, []).append((name, number))

    def writers(self, file: str, *, but: str) -> list[tuple[str, int]]:
        """The steps of other workloads that write a file."""
        return [writer for writer in self._writers.get(file, ()) if writer[0] != but]

    def needed(self, step: _Step, *, but: str) -> list[str]:
        names = self._steps if step.needs else ()
        return [name for name in names if name != but and any(fits(name, item) for item in step.needs)]

    def depth(self, name: str, number: int) -> int:
        """How many steps come before one, each after the other."""
        known = self._depths.get((name, number))
        if known is None:
            self._depths[name, number] = 0  # what goes round in a circle waits for nobody
            step = self._steps[name][number]
            before = [(name, number - 1)] if number else []
            before += [writer for file in step.files for writer in self.writers(file, but=name)]
            before += [(other, len(self._steps[other]) - 1) for other in self.needed(step, but=name)]
            known = self._depths[name, number] = max((1 + self.depth(*item) for item in before), default=0)
        return known


def _steps(daemon_set: KubernetesObject) -> tuple[_Step, ...]:
    """Init containers in their order, and at last what they are for."""
    known = read_readiness()
    pod = pod_of(daemon_set)
    found = []
    for container in pod.get("initContainers", ()):
        component = _validation(container)
        if component is None:
            found.append(_Step(files=tuple(dict.fromkeys(_tested(container)))))
            continue
        found.append(
            _Step(
                files=(known.needed_files[component],) if component in known.needed_files else (),
                needs=known.needed_workloads.get(component, ()),
                writes=(known.files[component],),
            )
        )
    told = [file for container in pod.get("containers", ()) for file in known.told.get(container["name"], ())]
    return (*found, _Step(writes=tuple(told)))


def _validation(container: Mapping[str, Any]) -> str | None:
    """What the validator's program is to validate, where that is what the container runs."""
    words = " ".join(map(str, (*container.get("command", ()), *container.get("args", ()))))
    if _VALIDATOR not in words:
        return None
    component = _variable(container, _COMPONENT)
    return component if component in read_readiness().files else None


def _variable(container: Mapping[str, Any], name: str) -> str | None:
    return next((item.get("value") for item in container.get("env", ()) if item["name"] == name), None)


def _tested(container: Mapping[str, Any]) -> list[str]:
    """Files of the folder that the command looks for; whatever else is there is no readiness."""
    words = " ".join(map(str, (*container.get("command", ()), *container.get("args", ()))))
    return [name for name in _file_test().findall(words) if name in read_readiness().files.values() or name[:1] == "."]


@cache
def _file_test() -> re.Pattern[str]:
    return re.compile(rf"-f {re.escape(read_readiness().folder)}/([A-Za-z0-9.-]+)")
