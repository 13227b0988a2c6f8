"""Counts by OpenDP and by Tumult Analytics, one by one at epsilon/D, as they really draw them.

Run by `workload.py --others PYTHON`, with a Python that has them; it knows nothing of Tenue.

    PYTHON benchmarks/workload_others.py 2 99 1000        how many questions there are

Prints for each library its version and, for each number of questions, the root mean square error of
so many draws of one count. Neither has a planner for many questions in pure differential privacy.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

DRAWS = 2_000


def opendp(many: int) -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    count = space >> dp.t.then_count()
    made = dp.binary_search_chain(
        lambda scale: count >> dp.m.then_laplace(scale), d_in=1, d_out=1 / many
    )
    return _root_mean_square(made([1] * 10) - 10 for _ in range(DRAWS))


def tumult() -> Callable[[int], float]:
    """One row in each of many groups: as many draws of the noise of one count."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")
    logging.disable()
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    settings |= {"spark.driver.host": "127.0.0.1", "spark.ui.showConsoleProgress": "false"}
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    groups = list(range(DRAWS))
    rows = spark.createDataFrame(pd.DataFrame({"k": groups}))
    data = Session.from_dataframe(PureDPBudget(10_000), "t", rows, protected_change=AddOneRow())
    asked = QueryBuilder("t").groupby(KeySet.from_dict({"k": groups})).count()

    def error(many: int) -> float:
        found = data.evaluate(asked, PureDPBudget(1 / many)).toPandas()["count"]
        return _root_mean_square(value - 1 for value in found)

    return error


def _root_mean_square(errors: Iterable[Any]) -> float:
    squares = [float(error) ** 2 for error in errors]
    return float((sum(squares) / len(squares)) ** 0.5)


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:]]
    found = {}
    for name, package, made in (
        ("OpenDP", "opendp", lambda: opendp),
        ("Tumult Analytics", "tmlt.analytics", tumult),
    ):
        error = made()
        errors = {str(many): error(many) for many in numbers}
        found[name] = {"version": version(package), "draws": DRAWS, "rmse": errors}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
