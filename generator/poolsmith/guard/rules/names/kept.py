"""Answers about a view that it keeps, so that several rules ask and the first of them finds."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Keeps(Protocol):
    """Whatever has a place for them."""

    @property
    def made(self) -> dict[str, Any]: ...


ViewT = TypeVar("ViewT", bound=Keeps)
T = TypeVar("T")


def kept(find: Callable[[ViewT], T]) -> Callable[[ViewT], T]:
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def found(view: ViewT) -> T:
        if name not in view.made:
            view.made[name] = find(view)
        return cast("T", view.made[name])

    return found


def kept_all(find: Callable[[ViewT], Iterable[T]]) -> Callable[[ViewT], tuple[T, ...]]:
    @wraps(find)
    def found(view: ViewT) -> tuple[T, ...]:
        return tuple(find(view))

    return kept(found)
