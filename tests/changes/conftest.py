"""Changes as real git repositories."""

from review.conftest import repository_of

__all__ = ["repository_of"]
