"""Spark runs nothing that an analyst wrote."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

import tenue as tn
from attacks.test_server import STATED
from tenue.errors import Refused
from unit.ask.hostile import statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("spark")


class Reached:
    """Counts the statements that Spark is given to read, and the jobs that it begins."""

    def __init__(self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self._tracker = spark.sparkContext.statusTracker()
        self.statements = 0
        self._before = self._jobs()
        given = type(spark).sql

        def sql(session: Any, *words: Any, **named: Any) -> Any:
            self.statements += 1
            return given(session, *words, **named)

        monkeypatch.setattr(type(spark), "sql", sql)

    def _jobs(self) -> int:
        return len(self._tracker.getJobIdsForGroup())

    @property
    def jobs(self) -> int:
        return self._jobs() - self._before


def test_hostile_statements_do_not_reach_spark(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = statements("people", "pay")
    assert len(corpus) >= 300
    rows = [(f"p{i // 4}", i % 90, 73573, "N") for i in range(40)]
    frame = spark.createDataFrame(rows, "who string, age int, pay int, region string")
    with tn.protect(frame, schema=STATED, ledger=tn.ledger.Memory()) as data:
        reached = Reached(spark, monkeypatch)
        for sql in corpus:
            with pytest.raises(Refused):
                data.ask(sql, epsilon=0.001)
        assert (reached.statements, reached.jobs) == (0, 0)
        assert data.budget.spent == 0
        data.ask("SELECT SUM(pay) FROM people", epsilon=1)
        assert reached.statements > 0, "what is asked is counted"
        assert reached.jobs > 0


def test_the_corpus_is_hostile_to_a_session_that_is_given_it(spark: SparkSession) -> None:
    """The naive build, which forwards what is asked; what Spark can read, it would look at."""
    parser = spark._jsparkSession.sessionState().sqlParser()
    read = 0
    for sql in statements("people", "pay"):
        with suppress(Exception):
            parser.parsePlan(sql)
            read += 1
    assert read > 100
