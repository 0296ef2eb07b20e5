"""Changes as real git repositories."""

from change.review.conftest import repository_of

__all__ = ["repository_of"]
