"""What values turn on and off, after the chart's defaults.

A default that is not recorded is unknown: neither on nor off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poolsmith.gpu.values.document import ValuesDocument


def _at(document: ValuesDocument, dotted: str) -> Any:
    """The effective value; None for a key that this release does not read."""
    node = document.release.root
    keys = dotted.split(".")
    for key in keys:
        if node.free:
            break
        if key not in node.children:
            return None
        node = node.children[key]
    return document.effective(tuple(keys))


def is_on(document: ValuesDocument, dotted: str) -> bool:
    """Whether a switch is known to be on; with `partial` values a default may be overridden elsewhere."""
    if document.partial and not document.has(tuple(dotted.split("."))):
        return False
    return _at(document, dotted) is True


def is_off(document: ValuesDocument, dotted: str) -> bool:
    if document.partial and not document.has(tuple(dotted.split("."))):
        return False
    return _at(document, dotted) is False


def uses_nri(document: ValuesDocument) -> bool:
    return is_on(document, "cdi.nriPluginEnabled")


def uses_driver_objects(document: ValuesDocument) -> bool:
    """Whether drivers come from NVIDIADriver objects rather than from the ClusterPolicy."""
    return is_on(document, "driver.nvidiaDriverCRD.enabled")


def text(document: ValuesDocument, dotted: str) -> str:
    """An effective text; empty where there is none, or where it is no text."""
    value = _at(document, dotted)
    return value if isinstance(value, str) else ""
