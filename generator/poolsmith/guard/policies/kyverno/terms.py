"""JMESPath expressions that count what pods hold beyond what they may: an exception asks for zero of each.

Counts, and not the operators AllIn or AnyNotIn: these read the pod's own text as a pattern too, so that a `*` in a pod
would match whatever is allowed (Kyverno, pkg/engine/variables/operator).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import word
from poolsmith.guard.ledger.grants.grant import repository_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.kubernetes.pods.pod import Container, Mount

_PLAIN = re.compile(r"[A-Za-z0-9._/:@+-]*", re.ASCII)
"""What means nothing to JMESPath within quotes, nor to Kyverno, which reads braces and dollars everywhere."""


class NotSayable(ValueError):  # noqa: N818 - no mistake: the export leaves the privilege out, and says so
    """Text that can't stand in an expression."""


@record
class Allowed:
    """One container, as a name and an image's repository, and the texts that it may have."""

    name: str
    repository: str
    texts: tuple[str, ...] = ()

    @property
    def term(self) -> str:
        image = quoted(self.repository)
        tagged, pinned = quoted(f"{self.repository}:"), quoted(f"{self.repository}@")
        # A name without a folder is also the start of a host with a port: `busybox:5000/other`.
        alone = "" if "/" in self.repository else " && !contains(image, '/')"
        of_image = any_of([f"image == {image}", f"starts_with(image, {tagged})", f"starts_with(image, {pinned})"])
        return f"(name == {quoted(self.name)} && ({of_image}){alone})"


def allowed(container: Container, texts: Iterable[str] = ()) -> Allowed:
    """Raises NotSayable where there is no image: any would do."""
    repository = repository_of(word(container.body.get("image")))
    if not repository:
        raise NotSayable(f"container {container.name} has no image")
    return Allowed(name=container.name, repository=repository, texts=tuple(texts))


def quoted(text: str) -> str:
    """A string of JMESPath. Raises NotSayable."""
    if not _PLAIN.fullmatch(text):
        raise NotSayable("a name or a path has letters that an expression can't hold")
    return f"'{text}'"


def any_of(terms: Iterable[str]) -> str:
    """Whether one of them holds; false of none."""
    return " || ".join(terms) or "`false`"


def count(expression: str) -> str:
    """A variable of Kyverno: the length of a list, 0 of what is absent."""
    return "{{ length((" + expression + ") || `[]`) }}"


class PodTerms:
    """Expressions over the pod spec at `root`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.containers = f"{root}.[containers, initContainers, ephemeralContainers][] | [?name]"

    def others(self, those: Iterable[Allowed], holding: str) -> str:
        """Containers that hold something, beside those that may."""
        return count(f"{self.containers} | [?({holding}) && !({any_of(item.term for item in those)})]")

    def items(self, those: Iterable[Allowed], path: str, about: str = "@") -> Iterable[str]:
        """Items of lists at `path` in containers that are none of the texts allowed there, each a term of its own."""
        known = tuple(those)
        yield count(f"({self.containers} | [?!({any_of(item.term for item in known)})].{path}[]) | [?{about}]")
        for item in known:
            yield count(f"({self.containers} | [?{item.term}].{path}[]) | [?({about}) && !({any_of(item.texts)})]")

    def volumes(self, allowed_ones: Mapping[str, str]) -> str:
        """Host paths beside those of these volumes, by name."""
        known = any_of(
            f"(name == {quoted(name)} && hostPath.path == {quoted(path)})" for name, path in allowed_ones.items()
        )
        return count(f"{self.root}.volumes[] | [?hostPath && !({known})]")


def mount_term(mount: Mount) -> str:
    """Mounts that give no more than one does. Raises NotSayable of a path that is told with variables."""
    if mount.sub_path_expression:
        raise NotSayable("a path below a volume is told with variables")
    terms = [
        f"name == {quoted(word(mount.body.get('name')))}",
        f"(subPath || '') == {quoted(mount.sub_path)}",
        "!subPathExpr",
        f"(mountPropagation || 'None') == {quoted(word(mount.body.get('mountPropagation')) or 'None')}",
    ]
    if mount.is_read_only:
        terms.append("readOnly == `true`")
    return f"({' && '.join(terms)})"
