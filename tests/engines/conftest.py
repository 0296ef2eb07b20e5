"""What pages are held against, as in tests/docs."""

from docs.conftest import assert_table  # noqa: F401 - a fixture
