"""All about utility in one value, for the holder."""

from __future__ import annotations

import dataclasses
import json
import math

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from unit.evaluate.stated import ROWS, people

ORIGINAL = pd.DataFrame(ROWS)
MASKED = ORIGINAL.assign(pay=[200, 200, 200, 250, 250, 250, 250], ill=["flu"] * 7)


def test_every_figure_is_the_one_measured_alone() -> None:
    found = tn.evaluate.utility(ORIGINAL, MASKED, people())
    ev = tn.evaluate
    assert found.sse == ev.sse(ORIGINAL, MASKED, schema=people())
    assert dict(found.sse_by_column)["pay"] == 2 * 100**2 + 2 * 150**2 + 2 * 50**2
    assert found.sse == pytest.approx(sum(value for _, value in found.sse_by_column))
    assert found.correlation == ev.correlation_difference(ORIGINAL, MASKED)
    assert found.columns == ev.distributions(ORIGINAL, MASKED, schema=people())
    assert found.propensity == ev.propensity(ORIGINAL, MASKED)
    relative = dict(found.sse_by_column)["pay"] / 1000**2 + 5
    assert found.relative_error == pytest.approx(math.sqrt(relative / (7 * 2)))
    by_column = dict(found.relative_by_column)
    assert by_column["ill"] == pytest.approx(math.sqrt(5 / 7))
    assert by_column["age"] == by_column["town"] == 0


def test_columns_that_nobody_touched_do_not_flatter() -> None:
    """The mutant averages over all columns: ten untouched ones would hide a third of the error."""
    found = tn.evaluate.utility(ORIGINAL[["age", "town", "pay"]], MASKED, people())
    alone = tn.evaluate.utility(ORIGINAL[["pay"]], MASKED, people())
    assert found.relative_error == alone.relative_error > 0
    assert "Unchanged: age, town." in str(found)
    assert "No value changed." in str(tn.evaluate.utility(ORIGINAL, ORIGINAL, people()))


def test_an_unchanged_table_is_worth_it() -> None:
    found = tn.evaluate.utility(ORIGINAL, ORIGINAL, people())
    assert (found.sse, found.relative_error) == (0, 0)
    assert found.correlation is not None
    assert found.correlation.mean == 0
    assert found.propensity.score == pytest.approx(0, abs=1e-20)
    assert all(column.histogram == 0 for column in found.columns)


def test_it_can_be_read_by_people_and_programs() -> None:
    constant = ORIGINAL.assign(pay=0)
    found = tn.evaluate.utility(constant, MASKED, people())
    facts = json.loads(found.to_json(), parse_constant=lambda word: pytest.fail(word))
    assert set(facts) == {part.name for part in dataclasses.fields(found)}
    assert facts["columns"][3]["variance"] == "inf"
    assert facts["correlation"]["pairs"][0]["columns"] == ["age", "pay"]
    text = str(found)
    assert "Correlations moved by" in text
    assert "infinite" in text
    words = tn.evaluate.utility(ORIGINAL[["ill"]], MASKED[["ill"]], people())
    assert words.correlation is None
    assert json.loads(words.to_json())["correlation"] is None
    assert "Correlations" not in str(words)
    with pytest.raises(InvalidArgument, match="There is no schema"):
        tn.evaluate.utility(ORIGINAL, MASKED, None)


def test_what_only_rounding_left_is_shown_as_nothing() -> None:
    found = tn.evaluate.utility(ORIGINAL, MASKED, people())
    dust = dataclasses.replace(found.columns[0], mean=1.1e-16, variance=0.25)
    text = str(dataclasses.replace(found, columns=(dust, *found.columns[1:])))
    assert "e-16" not in text
    assert "0.25" in text
