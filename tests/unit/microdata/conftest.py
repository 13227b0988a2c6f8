"""Compiling the partitions takes a while: these run with ./check --all."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents or item.path.name == "test_mdav.py":
            item.add_marker(pytest.mark.slow)
