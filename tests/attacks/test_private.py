"""Attacks on private tables: whatever is released costs epsilon, and nothing else is told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from private_laws import Exposed, categories, domain, worst_loss
from tenue.engine.passes.in_memory import InMemory
from tenue.ledger import Memory
from tenue.noise import Seeded
from tenue.publish.synthetic import bayes_network, counts
from tenue.publish.synthetic.independent_columns import Margin
from tenue.publish.synthetic.microaggregation import Microaggregation
from tenue.publish.synthetic.plan import WAYS
from tenue.publish.table.cells import Cells

NUMBER = {"type": "number", "bounds": [0, 1000]}
BLANK = {**NUMBER, "missing": ["NA"]}
NANO, MOST = Fraction(1, 10**9), Fraction(10**4)


def schema(**columns: Any) -> dict[str, Any]:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return {"table": table, "columns": columns, "budget": {"total": 10}}


def publish(rows: Any, described: dict[str, Any], **given: Any) -> Any:
    options = {"epsilon": 1, "ledger": Memory(), **given}
    return tn.publish(rows, schema=described, method="private", **options)


# -- the order of microaggregation -----------------------------------------------------------------


@pytest.fixture
def synonyms(tmp_path: Path) -> dict[str, Any]:
    """A column whose three labels all mean one concept, and so are at no distance."""
    path = tmp_path / "words.json"
    edges = [["cat", "animal"], ["dog", "animal"]]
    named = {"Katze": "cat", "chat": "cat", "gato": "cat"}
    path.write_text(json.dumps({"edges": edges, "categories": named}))
    return {"type": "category", "taxonomy": str(path), "missing": "gato"}


def neighbours(sizes: tuple[int, ...], rows: int) -> Iterator[tuple[Any, Any]]:
    records = list(itertools.product(*map(range, sizes)))
    for others in itertools.combinations_with_replacement(records, rows - 1):
        for one, other in itertools.combinations(records, 2):
            yield np.array([*others, one]), np.array([*others, other])


def loss_of_sums(way: Microaggregation, one: Any, other: Any) -> Fraction:
    """What the noisy sums of both tables tell, exactly."""
    total = Fraction(0)
    pairs = zip(way.tallies(InMemory(one)).sums, way.tallies(InMemory(other)).sums, strict=True)
    for line, (first, second) in zip(way._numbers, pairs, strict=True):
        moved = Fraction(int(np.abs(first - second).sum()))
        total += moved * way.epsilon / (line.length * way.length)
    return total


def test_labels_of_one_concept_do_not_lead_the_order(synonyms: dict[str, Any]) -> None:
    """Sorted by such a column first, a chain along the number starts anew with each label."""
    short = {"type": "number", "bounds": [0, 2], "missing": 0}
    way = Microaggregation.planned(domain(c=synonyms, x=short), 3, Fraction(1), k=1)
    pairs = list(neighbours((3, 3), 3))
    assert max(loss_of_sums(way, *pair) for pair in pairs) == 1

    object.__setattr__(way, "_sorted", way._all)  # the mutant: by label first
    assert max(loss_of_sums(way, *pair) for pair in pairs) == 3


def test_labels_of_one_concept_alone_are_drawn_evenly(synonyms: dict[str, Any]) -> None:
    way = Microaggregation.planned(domain(c=synonyms), 3, Fraction(1), k=1)
    same, other = (way.tallies(InMemory(np.full((3, 1), label))) for label in (0, 2))
    assert not any(scores.any() for scores in (*same.scores, *other.scores))


# -- what a type tells -----------------------------------------------------------------------------


def stored_types(rows: Any, described: dict[str, Any], folder: Path) -> list[pa.DataType]:
    publish(rows, described, ledger=Memory()).save(folder)
    return list(pq.read_schema(folder / "table.parquet").types)


@pytest.mark.parametrize("column", [NUMBER, BLANK], ids=["random", "blank"])
@pytest.mark.parametrize("other", [None, 2.5], ids=["missing", "between"])
def test_the_type_of_a_column_tells_nothing_of_one_record(
    column: dict[str, Any], other: float | None, tmp_path: Path
) -> None:
    """A data frame of whole numbers turns to doubles if one record has none."""
    described = schema(x=column)
    whole = pd.DataFrame({"x": [1, *range(39)]})
    changed = pd.DataFrame({"x": [other, *range(39)]})
    assert whole.x.dtype != changed.x.dtype
    ours, theirs = (
        stored_types(rows, described, tmp_path / name)
        for name, rows in {"a": whole, "b": changed}.items()
    )
    assert ours == theirs
    assert publish(whole, schema(x=NUMBER)).table.x.dtype == (
        publish(changed, schema(x=NUMBER)).table.x.dtype
    )


# -- values that no row had ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.decimal128(2, 0)], ids=str)
def test_a_drawn_value_need_not_fit_the_type_of_the_source(kind: pa.DataType) -> None:
    """Rows hold less than their bounds allow; what is drawn may be anything within them."""
    rows = pa.table({"x": pa.array(map(Decimal, range(40))).cast(kind)})
    described = schema(x={**NUMBER, "missing": 0})
    released = publish(rows, described, epsilon="0.001", by="columns").table
    values = [int(value) for value in released.column("x").to_pylist()]
    assert max(values) > 255
    assert 0 <= min(values) <= max(values) <= 1000


def test_a_drawn_moment_is_within_its_bounds() -> None:
    """Nanoseconds since 1970 end in 2262: beyond, they begin again in 1677."""
    bounds = ["2000-01-01T00:00:00", "9000-01-01T00:00:00"]
    described = schema(w={"type": "datetime", "bounds": bounds})
    rows = pa.table({"w": pa.array([10**18 + i for i in range(40)], pa.timestamp("ns"))})
    released = publish(rows, described, epsilon="0.001").table.column("w")
    seconds = released.cast(pa.timestamp("s"), safe=False).cast(pa.int64()).to_pylist()
    assert min(seconds) >= 946_684_800
    assert max(seconds) > 2**63 // 10**9


# -- missing values --------------------------------------------------------------------------------


def test_the_place_of_a_missing_value_follows_no_row() -> None:
    """It is found before anything is paid for, so it must not depend on the others."""
    axis = domain(x=NUMBER).axes[0]
    present = np.array([True, False, True, True])

    def places(numbers: list[int]) -> Any:
        return axis.places(Cells(axis.column, np.array(numbers), present, None))

    def likeliest(cells: Cells) -> Any:
        """A wrong way: the most frequent value of the others."""
        most = np.bincount(cells.numbers[cells.present]).argmax()
        return np.where(cells.present, cells.numbers, most)

    one, other = [5, 0, 7, 7], [5, 0, 5, 7]
    assert places(one)[1] == places(other)[1] == axis.size - 1
    wrong = [likeliest(Cells(axis.column, np.array(n), present, None))[1] for n in (one, other)]
    assert wrong == [7, 5]


# -- noise -----------------------------------------------------------------------------------------


def test_noise_in_doubles_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums with doubles of a Laplace law reach different numbers for different counts."""

    def in_doubles(held: Any, epsilon: Any, source: Any, moved: int = 2) -> Any:
        u = counts.uniforms(held.size, source).reshape(held.shape) - 0.5
        return held - np.sign(u) * np.log1p(-2 * np.abs(u)) * moved / float(epsilon)

    way = WAYS["network"].planned(categories(2, 2), 2, Fraction(1))
    assert worst_loss(way, (2, 2), monkeypatch) <= 1
    monkeypatch.setattr(bayes_network, "noisy", in_doubles)
    with pytest.raises(Exposed):
        worst_loss(way, (2, 2), monkeypatch)


# -- extremes --------------------------------------------------------------------------------------

EXTREMES = {
    "long": {"x": {"type": "number", "bounds": [0, 2**60]}, "y": NUMBER},
    "blank": {"x": BLANK, "y": BLANK},
    "moments": {
        "x": {"type": "datetime", "bounds": ["1500-01-01T00:00:00", "2500-01-01T00:00:00"]},
        "y": {"type": "date", "bounds": ["1800-01-01", "1950-01-01"]},
    },
    "one category": {"c": {"type": "category", "categories": ["a"], "missing": ["NA"]}, "y": BLANK},
    "sixteen": {f"x{i}": BLANK for i in range(16)},
}


@pytest.mark.parametrize("columns", EXTREMES.values(), ids=EXTREMES.keys())
@pytest.mark.parametrize("by", WAYS)
def test_nothing_fails_after_it_was_paid_for(by: str, columns: dict[str, Any]) -> None:
    if by == "copula":  # joins numbers only
        columns = {"x": BLANK, **columns}
        columns = {name: kind for name, kind in columns.items() if kind["type"] != "category"}
    held = domain(**columns)
    sizes = np.array(held.sizes)
    for epsilon, rows in itertools.product((NANO, Fraction(1), MOST), (1, 3)):
        way = WAYS[by].planned(held, rows, epsilon)
        for table in (np.zeros((rows, sizes.size), np.int64), np.tile(sizes - 1, (rows, 1))):
            drawn = way.draw(table, Seeded(rows))
            assert drawn.shape == table.shape
            assert ((drawn >= 0) & (drawn < sizes)).all()


def test_a_column_that_was_not_split_has_no_group_of_blanks() -> None:
    """Its one cell holds blanks and values alike."""
    held = domain(x=BLANK, y=BLANK)
    whole = Margin(np.array([0, held.sizes[0]]), np.array([1.0]))
    made = bayes_network._Groupings(held, [whole, whole]).of((0, 1), 100)
    assert [groups.many for groups in made] == [1, 1]
