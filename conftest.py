"""Runs every example in README, docs and docstrings, and says what software is missing."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

import spark_cluster
from postgres_server import Server, programs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = ["chance"]
_ELSEWHERE = {"postgres": programs, "spark": spark_cluster.installed}
"""Software that is not on the path: what finds it."""

# timings are never asserted, so a busy machine must not fail an example
settings.register_profile("tenue", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None)
settings.load_profile("tenue")

_documents = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/**/*.md", "docs/*.md"],
)
# a pattern matches as many folders as it names, so each depth has its own
_docstrings = Sybil(
    parsers=[DocTestParser()],
    patterns=["src/**/*.py", "src/**/**/*.py", "src/**/**/**/*.py"],
)
pytest_collect_file = (_documents + _docstrings).pytest()


def pytest_collection_finish() -> None:
    """What was loaded and collected stays to the end: garbage is not looked for in it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # or Python would not clear them up either when it ends


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that needs software the machine lacks is skipped, except where CI must have it.

    What needs a server or Spark is marked so, and Spark as slow, before tests are chosen by marks.
    """
    for item in items:
        for marker in list(item.iter_markers("needs")):
            if "postgres" in marker.args:
                item.add_marker("postgres")
            if "spark" in marker.args:
                item.add_marker("spark")
                item.add_marker("slow")
            missing = [name for name in marker.args if not _installed(name)]
            if missing and not os.environ.get("TENUE_CI"):
                names = ", ".join(missing)
                item.add_marker(pytest.mark.skip(reason=f"install {names} to run this"))


def _installed(name: str) -> bool:
    found = _ELSEWHERE.get(name)
    return (shutil.which(name) if found is None else found()) is not None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for all tests of a process."""
    server = Server()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests of a process."""
    session = spark_cluster.start()
    yield session
    session.stop()
