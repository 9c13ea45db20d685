"""The fault suite: long, random, with many processes. All of it is slow, with fresh engines; ``make test-ci`` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here: the hook is given the tests of all folders."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.fresh_engines)
