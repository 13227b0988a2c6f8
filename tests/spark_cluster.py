"""Spark for the tests: found where it is installed, one session for all tests of a process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def installed() -> str | None:
    """Java, if PySpark is there too."""
    return shutil.which("java") if importlib.util.find_spec("pyspark") else None


def start(master: str = "local[2]") -> SparkSession:
    """A session on this machine that says nothing."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
