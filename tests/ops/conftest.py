"""Fixtures of the tests of operations."""

from tests.store.other_user import open_place

__all__ = ["open_place"]
