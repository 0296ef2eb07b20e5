"""Secrets in the addresses of profiles: a repository is readable by more people than may know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.addresses import secret_in_address
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.shape.documents import FileSink
    from poolsmith.core.sources.source_file import SourceFile

_ADVICE = "write the address alone; what proves who asks belongs into a Secret of the cluster or of the delivery engine"


def report_address_secrets(file: SourceFile, sink: FileSink) -> None:
    """Each text of a profile that is, or holds, an address with such a part."""
    for pointer, part in _found("", file.data):
        message = f"the address holds {part}; it is not repeated here"
        sink.report(codes.SECRET_IN_ADDRESS, pointer, message, _ADVICE)


def _found(pointer: str, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        if (part := secret_in_address(node)) is not None:
            yield pointer, part
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(key, str):
                yield from _found(join(pointer, key), value)
    elif isinstance(node, list):
        for index, item in enumerate(node):
            yield from _found(join(pointer, index), item)
