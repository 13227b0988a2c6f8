"""Every cell of a grid is on one side of every question, NULL included: checked row by row."""

from __future__ import annotations

import numpy as np
import pytest

from oracle_engine import OracleEngine
from tenue.engine.request import Request
from tenue.query.release import measured_cells
from tenue.query.workload.grid import grid_of
from unit.query.workload.small import TABLE, asked, schema

TEXTS = (
    "SELECT COUNT(*) FROM t WHERE x < 7",
    "SELECT COUNT(*) FROM t WHERE NOT (y > 1) OR c = 'b'",
    "SELECT COUNT(*) FROM t WHERE y IS NULL AND x BETWEEN 3 AND 30",
    "SELECT c, COUNT(*) FROM t WHERE y > 0 GROUP BY c",
    "SELECT DATE_TRUNC('month', born), COUNT(*) FROM t GROUP BY 1",
    "SELECT BIN(x, 6), c, COUNT(*) FROM t WHERE born < '2020-05-05' GROUP BY 1, 2",
)
ROWS = TABLE.replace({np.nan: None}).to_dict("records")[:60]


def test_cells_know_which_rows_a_question_is_about() -> None:
    described = schema()
    questions = asked(*TEXTS)
    grid = grid_of(questions, ("y",), described)
    assert grid is not None
    keys = tuple(axis.key for axis in grid.axes)
    for row in ROWS:
        engine = OracleEngine(described, [row])
        everywhere = Request((), None, keys)
        (cell,) = measured_cells(everywhere, engine)
        for question in questions:
            found = engine.measure(Request((), question.where, question.keys))
            wanted = -1
            if found:
                (place,) = found
                shape = tuple(key.cells for key in question.keys)
                wanted = int(np.ravel_multi_index(place, shape)) if shape else 0
            assert grid.members(question)[cell] == wanted, question
        there = grid.members(questions[0], "y")[cell] >= 0
        assert there == (row["x"] < 7 and row["y"] is not None)


def test_a_condition_that_all_share_is_no_axis() -> None:
    texts = (
        "SELECT COUNT(*) FROM t WHERE x < 7",
        "SELECT c, COUNT(*) FROM t WHERE x < 7 GROUP BY c",
    )
    grid = grid_of(asked(*texts), (), schema())
    assert grid is not None
    assert [axis.column.name for axis in grid.axes] == ["c"]
    assert grid.where == asked(texts[0])[0].where


def test_what_is_never_missing_is_nowhere_missing() -> None:
    (question,) = asked("SELECT COUNT(*) FROM t WHERE x < 7")
    other = asked("SELECT COUNT(*) FROM t")[0]
    grid = grid_of([question, other], (), schema())
    assert grid is not None
    assert grid.members(other).tolist() == [0, 0, -1]


@pytest.mark.parametrize("where", ["x < 7", "x > 3", "x BETWEEN 2 AND 2", "x > 38", "x < 1"])
def test_a_range_is_a_span_of_pieces(where: str) -> None:
    question, other = asked(f"SELECT COUNT(*) FROM t WHERE {where}", "SELECT COUNT(*) FROM t")  # noqa: S608
    grid = grid_of([question, other], (), schema())
    assert grid is not None
    first, last = grid.span(question) or (0, 0)
    members = grid.members(question)
    assert [i for i, cell in enumerate(members) if cell >= 0] == list(range(first, last))


def test_too_many_cells_have_no_grid() -> None:
    few = [f"x = {k % 40} AND pay = {k} AND y = {k % 9 - 3}" for k in range(50)]
    days = [f"born = '2020-{month:02}-{day}'" for month in range(2, 13) for day in (11, 14, 17)]
    texts = [f"SELECT COUNT(*) FROM t WHERE {where}" for where in [*few, *days]]  # noqa: S608
    assert grid_of(asked(*texts), (), schema()) is None
