"""What a form has no field for, in words: the machines, the image, and who brings which part to new nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.gpu.nodes.node_makers import NodeMaker, form_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.profiles.node_pool import Taint

Labels = dict[str, str]
Taints = tuple["Taint", ...]


@record
class NodeSettings:
    """What the nodes of a pool are made with. `startup` are taints that something removes later.

    `own_driver`: the operator installs one, or there is to be none. `has_operator`: its parts run beside whatever
    driver there is. `accelerator` is the cloud's name of the GPU, empty where nobody knows it. `system` is the
    operating system as people write it.
    """

    pool: str
    labels: Labels
    taints: Taints = ()
    startup: Taints = ()
    own_driver: bool = False
    has_operator: bool = True
    accelerator: str = ""
    gpus: int = 1
    product: str = ""
    system: str = ""

    @property
    def all_taints(self) -> Taints:
        return self.taints + self.startup


def needs_of(maker: NodeMaker, marks: NodeSettings) -> Iterator[str]:
    """The facts that hold of these nodes, by their names in the table. A driver that comes with the image is not known
    to be wanted where there is no operator."""
    yield "gpus"
    if maker.keeps_off(own_driver=marks.own_driver, has_operator=marks.has_operator):
        yield "driver"
    yield "without" if marks.own_driver and marks.has_operator else "with"
    if marks.has_operator:
        yield "plugin"
    if marks.has_operator and not marks.own_driver:
        yield "installer"


def unsaid(form: str, marks: NodeSettings) -> tuple[str, ...]:
    """A line or two for each; of pools whose GPU and system are known. Raises KeyError."""
    maker, said = form_of(form)
    words = {
        "gpus": counted(marks.gpus, "GPU"),
        "count": str(marks.gpus),
        "product": marks.product,
        "system": marks.system,
    }
    texts = (maker.needs[need] for need in needs_of(maker, marks) if need in maker.needs and need not in said)
    return tuple(text.format_map(words) for text in texts) if marks.product else ()


def comment_lines(form: str, marks: NodeSettings, title: str = "The profile needs as well:") -> Iterator[str]:
    """As lines of a header."""
    texts = unsaid(form, marks)
    yield from (title,) if texts else ()
    for text in texts:
        yield from f"- {text}".splitlines()
