"""What of sharing stands in a configuration where the device plugin passes it over.

It starts all the same, and shares otherwise than was meant, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAYS = ("timeSlicing", "mps")
_OF_A_WAY = ("renameByDefault", "failRequestsGreaterThanOne", "resources")
_FLAGS = ("renameByDefault", "failRequestsGreaterThanOne")


def misplaced(config: Any) -> Iterator[tuple[str, str]]:
    """Dotted paths of what is passed over, each with the place for it."""
    if not isinstance(config, dict):
        return
    sharing, flags = config.get("sharing"), config.get("flags")
    for where, body in (("", config), ("flags.", flags if isinstance(flags, dict) else {})):
        for key in _FLAGS:
            if key in body:
                yield f"{where}{key}", f"move it below `sharing.timeSlicing` or `sharing.mps`: `{key}` is theirs"
        for key in _WAYS:
            if key in body:
                yield f"{where}{key}", f"move it below `sharing`: `sharing: {{{key}: ...}}`"
    if not isinstance(sharing, dict):
        return
    for key in _OF_A_WAY:
        if key in sharing:
            yield f"sharing.{key}", f"move it below `sharing.timeSlicing` or `sharing.mps`: `{key}` is theirs"
    for way in _WAYS:
        resources = sharing[way].get("resources") if isinstance(sharing.get(way), dict) else None
        for index, item in enumerate(resources if isinstance(resources, list) else ()):
            for key in _FLAGS if isinstance(item, dict) else ():
                if key in item:
                    yield (
                        f"sharing.{way}.resources[{index}].{key}",
                        f"move it to `sharing.{way}.{key}`, for all of them",
                    )
