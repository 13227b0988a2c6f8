from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tenue import Schema
from tenue.evaluate.pair.marginal import BINS, marginals
from tenue.evaluate.pair.spread import spread_of_intervals, spread_of_values, word_shares
from tenue.evaluate.value import Values, typed
from tenue.schema import Bounded, Table


def schema(**column: object) -> Table:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    declared = {"type": "number", "bounds": [0, 99], "role": "quasi-identifier", **column}
    return Schema.from_dict({"table": table, "columns": {"age": declared}})


def bounded(of: Table) -> Bounded:
    column = of.columns["age"]
    assert isinstance(column, Bounded)
    return column


def read(cells: list[object], column: Bounded) -> Values:
    return typed("age", pa.chunked_array([pa.array(cells)]), column)


def test_rows_of_an_interval_are_spread_evenly_over_it() -> None:
    """A mutant that put them at its middle would show a peak that nobody measured."""
    column = bounded(schema())
    found = spread_of_intervals(read(["[10, 19]"] * 3 + ["20"], column), column)
    assert found is not None
    edges = np.array([9.5, 14.5, 19.5, 20.5, 30.5])
    assert found.shares(edges) == pytest.approx((0.375, 0.375, 0.25, 0))


def test_a_star_is_the_whole_domain_and_a_blank_is_no_part_of_it() -> None:
    column = bounded(schema())
    found = spread_of_intervals(read(["*", None, "*", "*"], column), column)
    assert found is not None
    assert (found.low[0], found.high[0], found.missing) == (-0.5, 99.5, 0.25)
    assert sum(found.shares(np.array([-0.5, 50, 99.5]))) == pytest.approx(0.75)


@pytest.mark.parametrize("text", ["[0, 999]", "old", "{a, b}", "[0, ]"])
def test_other_words_are_no_intervals(text: str) -> None:
    column = bounded(schema())
    words = read(["[1, 2]", text], column)
    assert spread_of_intervals(words, column) is None
    (found,) = marginals(None, pa.table({"age": ["[1, 2]", text]}), schema())
    assert found.edges == ()
    assert not found.spread


def test_a_value_is_spread_over_its_step() -> None:
    column = bounded(schema(grid=2, bounds=[0, 100]))
    found = spread_of_values(read([10, 10, None, 20], column), column)
    assert found is not None
    assert found.shares(np.array([9.0, 10, 11, 21])) == pytest.approx((0.25, 0.25, 0.25))
    assert found.missing == 0.25
    assert spread_of_values(read([None], column), column) is None


def test_a_generalised_number_is_drawn_beside_the_numbers() -> None:
    original = pa.table({"age": [10, 12, 14, 40]})
    released = pa.table({"age": ["[10, 14]"] * 3 + ["[40, 40]"]})
    (found,) = marginals(original, released, schema())
    assert found.spread
    assert found.before is not None
    assert len(found.edges) == BINS + 1
    assert (found.edges[0], found.edges[-1]) == (9.5, 40.5)
    assert sum(found.after) == pytest.approx(1) == pytest.approx(sum(found.before))
    assert found.after[-1] == pytest.approx(found.before[-1])
    (alone,) = marginals(None, released, schema())
    assert alone.before is None
    assert alone.after == pytest.approx(found.after)


def test_days_are_drawn_as_times() -> None:
    days = schema(type="date", bounds=["1970-01-01", "1970-12-31"])
    released = pa.table({"age": ["[1970-01-11, 1970-01-20]"] * 2})
    (found,) = marginals(None, released, days)
    assert found.time
    assert (found.edges[0], found.edges[-1]) == (9.5 * 86_400, 19.5 * 86_400)
    assert found.words[0].startswith("1970-01-10 to ")


def test_shares_of_words_count_blanks() -> None:
    column = bounded(schema())
    assert word_shares(read(["*", None, "*", "x"], column)) == {
        "*": 0.5,
        None: 0.25,
        "x": 0.25,
    }
