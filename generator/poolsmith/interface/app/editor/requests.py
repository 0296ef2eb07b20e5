"""What requests and their parameters have in common: anything may stand in them."""

from __future__ import annotations

from typing import Any

from poolsmith.core.sources.pointer import value_at

PARSE, INVALID, NO_METHOD, BAD_PARAMS, INTERNAL, NOT_YET = -32700, -32600, -32601, -32602, -32603, -32002
"""Codes of errors, as JSON-RPC and the protocol number them."""


class RequestError(Exception):
    """Why a request has no answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def text_of(params: dict[str, Any], *path: str) -> str:
    found = value_at(params, path)
    if not isinstance(found, str):
        raise RequestError(BAD_PARAMS, f"`{'.'.join(path)}` is no text")
    return found


def items_of(params: Any, *path: str) -> list[Any]:
    """None where no list stands there."""
    found = value_at(params, path)
    return found if isinstance(found, list) else []


def id_of(message: dict[str, Any]) -> int | str | None:
    number = message.get("id")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None
