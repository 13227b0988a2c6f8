"""The association of every two columns: measured as the field does, and named where it is lost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.evaluate import associations, likeness, utility
from tenue.evaluate.two_tables.association import correlation_ratio, cramers_v, strength

DRAWN = np.random.default_rng(5)
SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "work", "unit": "record", "neighbours": "replace"},
        "columns": {
            "school": {"type": "category", "categories": ["a", "b", "c"]},
            "job": {"type": "category", "categories": ["x", "y", "z"], "role": "confidential"},
            "hours": {"type": "number", "bounds": [0, 80], "grid": 1},
            "age": {"type": "number", "bounds": [0, 99], "grid": 1},
        },
    }
)


def town(rows: int = 900) -> pa.Table:
    """Jobs follow schools, and hours follow jobs."""
    code = np.arange(rows) % 3
    return pa.table(
        {
            "school": np.array(["a", "b", "c"])[code],
            "job": np.array(["x", "y", "z"])[code],
            "hours": 10 + 20 * code + DRAWN.integers(-3, 4, rows),
            "age": DRAWN.integers(0, 99, rows),
        }
    )


def shuffled(table: pa.Table, name: str) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(
        place, name, table.column(name).take(pa.array(DRAWN.permutation(table.num_rows)))
    )


def test_a_swap_that_breaks_two_categories_is_named_first() -> None:
    before = town()
    found = utility(before, shuffled(before, "job"), SCHEMA)
    worst = found.association.worst
    assert {pair.columns for pair in worst[:2]} == {("school", "job"), ("hours", "job")}
    lost = next(pair for pair in worst if pair.columns == ("school", "job"))
    assert lost.measure == "Cramér’s V"
    assert lost.original == pytest.approx(1)
    assert lost.masked < 0.15
    assert found.correlation is not None
    assert found.correlation.mean == 0
    assert worst[0].in_short in found.in_short
    assert all(pair.in_short in " ".join(str(found).split()) for pair in worst[:2])
    assert lost.in_short.startswith("`school` and `job` 1.00 → 0.")


def test_all_pairs_of_all_types_are_measured_on_both_kinds_of_utility() -> None:
    before = town()
    after = shuffled(before, "hours")
    kinds = {
        ("school", "job"): ("category", "category"),
        ("hours", "school"): ("number", "category"),
        ("age", "school"): ("number", "category"),
        ("hours", "job"): ("number", "category"),
        ("age", "job"): ("number", "category"),
        ("hours", "age"): ("number", "number"),
    }
    for found in (utility(before, after, SCHEMA), likeness(before, after, SCHEMA)):
        assert {pair.columns: pair.kinds for pair in found.association.pairs} == kinds
        facts = found.to_dict()["association"]
        assert [tuple(one["columns"]) for one in facts["pairs"]] == [
            pair.columns for pair in found.association.pairs
        ]
        assert facts["mean"] == found.association.mean > 0.3


def test_a_lost_difference_between_groups_is_stated_in_the_unit_of_the_number() -> None:
    before = town()
    found = associations(before, shuffled(before, "job"), ["hours", "job"], SCHEMA)
    (pair,) = found.pairs
    assert pair.means is not None
    assert pair.means[0] == pytest.approx(40, abs=0.5)
    assert pair.means[1] < 6
    assert f"{pair.means[0]:.3g} → {pair.means[1]:.3g}" in str(found)


def test_cramers_v_is_that_of_bergsma() -> None:
    # chi squared by the textbook, corrected by hand
    one, other = DRAWN.integers(0, 4, 300), DRAWN.integers(0, 3, 300)
    other = np.where(DRAWN.random(300) < 0.5, one % 3, other)
    table = np.zeros((4, 3))
    np.add.at(table, (one, other), 1)
    expected = table.sum(1, keepdims=True) * table.sum(0) / 300
    square = ((table - expected) ** 2 / expected).sum() / 300 - 3 * 2 / 299
    v = np.sqrt(square / min(3 - 9 / 299, 2 - 4 / 299))
    assert cramers_v(one, other) == pytest.approx(v)
    gaps = np.append(one, [-1, 2]), np.append(other, [1, -1])
    assert cramers_v(*gaps) == pytest.approx(v)
    assert cramers_v(other, one) == pytest.approx(v)


def test_the_correlation_ratio_is_the_root_of_epsilon_squared() -> None:
    groups = DRAWN.integers(0, 5, 200)
    values = groups * 0.5 + DRAWN.normal(size=200) + 1e6
    within = sum(((values[groups == g] - values[groups == g].mean()) ** 2).sum() for g in range(5))
    total = ((values - values.mean()) ** 2).sum()
    ratio = np.sqrt(1 - within / 195 / (total / 199))
    assert correlation_ratio(values, groups)[0] == pytest.approx(ratio, rel=1e-6)


def test_independent_columns_of_many_categories_are_not_associated() -> None:
    """Without the correction V is near 0.5 here, and the correlation ratio near 0.7."""
    names, towns = DRAWN.integers(0, 150, 300), DRAWN.integers(0, 150, 300)
    assert cramers_v(names, towns) < 0.25
    assert np.mean([correlation_ratio(DRAWN.normal(size=300), names)[0] for _ in range(20)]) < 0.25


def test_what_does_not_vary_is_not_associated() -> None:
    same, codes = np.zeros(30, np.int64), np.arange(30) % 3
    assert cramers_v(same, codes) == 0
    assert correlation_ratio(np.full(30, 0.1), codes)[0] == 0
    assert correlation_ratio(np.full(30, np.nan), codes) == (0.0, None)
    assert cramers_v(np.full(30, -1), codes) == 0


def test_associations_need_two_columns_and_no_rows_that_correspond() -> None:
    with pytest.raises(InvalidArgument, match="fewer than two columns"):
        associations([[1.0], [2.0]], [[1.0], [2.0]])
    longer = pa.concat_tables([town(), town()])
    assert len(associations(town(), longer, schema=SCHEMA).pairs) == 6


def test_a_screen_lists_no_more_than_some_pairs_and_counts_the_rest() -> None:
    columns = {f"c{i}": np.array(["a", "b"])[DRAWN.integers(0, 2, 50)] for i in range(8)}
    text = str(associations(pa.table(columns), pa.table(columns)))
    assert text.count("Cramér’s V") == 15 + 1
    assert "and 13 pairs that moved less" in text
    assert "none by 0.05 or more" in text


def test_small_strengths_are_not_shown_as_none() -> None:
    assert [strength(v) for v in (0.004, -0.004, 0.0, 0.79)] == [
        "< 0.01",
        "> -0.01",
        "0.00",
        "0.79",
    ]
