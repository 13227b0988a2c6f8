"""What every engine keeps that counts a table where its rows are: the facts are those of the rows.

`check` of a data frame is the oracle: it looks at rows and counts nothing elsewhere.
"""

from __future__ import annotations

import math
import random
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from tenue.engine.registry import backend_for
from tenue.engine.source import count_queries as statements
from tenue.engine.source.count_queries import Cell, Tally
from tenue.engine.source.location import Frame, locate
from tenue.errors import InvalidTable
from tenue.evaluate import klt_by_counts, rows
from tenue.evaluate.check import check
from tenue.evaluate.check_result import Check, Reading

NAN, INF, NONE = math.nan, math.inf, None
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "age": (pa.int64(), [30, 40, NONE, 2**53, 2**53 + 1, -(2**63)]),
    "height": (pa.float64(), [0.0, -0.0, NAN, NONE, 1.5, INF, -INF, 5e-324]),
    "town": (pa.string(), ["Ulm", "ulm", "Ulm ", "7", "07", NONE, "", "Köln", "Ko\u0308ln", "東"]),
    "born": (pa.date32(), [date(1990, 1, 2), date(1990, 1, 3), NONE, date(1, 1, 1)]),
    "sick": (pa.bool_(), [True, False, NONE]),
    "ill": (pa.string(), ["flu", "Flu", " flu", "cold", "7", "7.0", NONE, "ｆｌｕ"]),
    "income": (pa.float64(), [0.0, -0.0, NAN, NONE, 2.5, 1e300, -3.0, INF]),
    "seen": (
        pa.timestamp("us", "UTC"),
        [datetime(2020, 1, 2, tzinfo=UTC), datetime(2020, 1, 2, 3, tzinfo=UTC), NONE],
    ),
    "who": (pa.string(), ["a", "b", "B", "c", "d", "17", "017", NONE]),
    "rest": (pa.int64(), list(range(1000))),
}
KNOWN = ["age", "height", "town", "born", "sick"]
WANTED = ["ill", "income", "seen", "rest"]
WHERE = "where it was counted"


def made(draw: random.Random) -> pa.Table:
    """A table with ties, blanks, NaN, infinities, two zeros and texts that look alike."""
    size = draw.choice([1, 7, 40, 300])
    columns = {
        name: pa.array([draw.choice(pool[: draw.randint(1, len(pool))]) for _ in range(size)], kind)
        for name, (kind, pool) in POOLS.items()
    }
    columns["id"] = pa.array(range(10_000, 10_000 + size), pa.int64())
    return pa.table(columns)


def asked(draw: random.Random) -> dict[str, Any]:
    return {
        "quasi_identifiers": draw.sample(KNOWN, draw.randint(1, 3)),
        "confidential": draw.sample(WANTED, draw.randint(0, 2)),
        "unit": draw.choice([None, "record", "who"]),
    }


def facts(found: Check) -> dict[str, Any]:
    """All that was found but where."""
    return replace(found, reading=None).to_dict()


def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No column is read into this process any more."""

    def read(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(rows.Rows, "read", read)
    monkeypatch.setattr(Tally, "load", read)


class TallySuite:
    """Inherit it, and say how a table is stored where it is counted.

    engine: what counts.
    tables: how many tables are drawn.
    """

    engine = ""
    tables = 12

    def stored(self, table: pa.Table) -> object:
        """The source that was made of a table."""
        raise NotImplementedError

    def failing(self) -> object:
        """A source with a column `a` of which a value cannot be computed, and would be quoted."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def in_small_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A few combinations are handed over, and looked at, together."""
        monkeypatch.setattr(statements, "BATCH", 2048)
        monkeypatch.setattr(klt_by_counts, "_MANY", 3)
        monkeypatch.setattr(rows, "LARGE", 0)

    def opened(self, table: pa.Table) -> AbstractContextManager[Tally]:
        found = locate(self.stored(table), "table")
        assert not isinstance(found, Frame)
        return backend_for(found).open_tally(found, 1 << 28)

    def test_the_facts_are_those_of_the_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(self.tables):
            draw = random.Random(number)
            table, how = made(draw), asked(draw)
            expected, source = facts(check(table, **how)), self.stored(table)
            with monkeypatch.context() as patch:
                unread(patch)
                found = check(source, **how)
            assert facts(found) == expected, number
            assert found.reading is not None
            assert found.reading.by == self.engine
            assert found.reading.columns == ()

    def test_a_person_may_be_a_quasi_identifier_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = made(random.Random(5))
        for known, wanted in ((["who", "age"], ["ill"]), (["age"], ["who"])):
            how: dict[str, Any] = {"quasi_identifiers": known, "confidential": wanted}
            how["unit"] = "who"
            expected, source = facts(check(table, **how)), self.stored(table)
            with monkeypatch.context() as patch:
                unread(patch)
                assert facts(check(source, **how)) == expected

    def test_the_two_zeros_are_two_values_and_all_nan_are_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        zeros = [0.0, -0.0, NAN, -NAN, None, 0.0, 1.5, None]
        table = pa.table({"x": pa.array(zeros, pa.float64())})
        with self.opened(table) as there:
            found = pa.concat_tables(there.tally(["x"])).columns
            told = zip(*map(pa.ChunkedArray.to_pylist, found), strict=True)
            assert sorted((repr(value), many) for value, many in told) == [
                ("-0.0", 1),
                ("0.0", 2),
                ("1.5", 1),
                ("None", 2),
                ("nan", 2),
            ]
            assert there.different("x") == 4
            assert [part.tolist() for part in there.sizes(["x"])] == [[1, 2], [2, 3]]
            assert sorted(map(repr, there.load(["x"]).column("x").to_pylist())) == sorted(
                map(repr, zeros)
            )
        # the engine alone takes the zeros for one, and k would be overstated
        pairs = self.stored(pa.table({"x": [0.0, -0.0, 1.5, 1.5]}))
        assert check(pairs, quasi_identifiers=["x"]).k == 1
        monkeypatch.setattr(Cell, "floating", False)
        assert check(pairs, quasi_identifiers=["x"]).k == 2

    def test_texts_are_told_apart_byte_by_byte(self) -> None:
        words = ["a", "A", "a ", "á", "a\u0301", None, "", "а"]  # the last one is Cyrillic
        with self.opened(pa.table({"w": words})) as there:
            assert there.different("w") == 7
            assert [part.tolist() for part in there.sizes(["w"])] == [[1], [8]]

    def test_groups_follow_one_another_in_the_same_order(self) -> None:
        draw = random.Random(3)
        table = made(draw).append_column("more", pa.array(range(len(made(random.Random(3))))))
        with self.opened(table) as there:
            first = ["town", "age", "born"]
            orders = []
            for others in ([], ["ill"], ["more"]):
                found = pa.concat_tables(there.tally([*first, *others]))
                keys = list(zip(*(found.column(name).to_pylist() for name in first), strict=True))
                seen = [keys[0], *(b for a, b in pairwise(keys) if a != b)]
                assert len(seen) == len(set(seen))
                orders.append(seen)
                assert sum(found.column("").to_pylist()) == len(table)
            assert orders[0] == orders[1] == orders[2]

    def test_some_rows_are_every_so_many(self) -> None:
        table = pa.table({"n": range(10_000), "m": range(10_000)})
        with self.opened(table) as there:
            found = there.some(["m", "n"], 100, 150)
            assert found.column("m").to_pylist() == found.column("n").to_pylist()
            assert 90 <= len(set(found.column("n").to_pylist())) == len(found) <= 110
            assert len(there.some(["n"], 1, 4)) == 4

    def test_names_may_be_anything(self) -> None:
        odd = {'a "b"': [1, 1, 2], "select": ["x", "x", "y"], "c`%s": [1.5, 1.5, 0.0]}
        with self.opened(pa.table(odd)) as there:
            assert there.names == tuple(odd)
            found = pa.concat_tables(there.tally(list(odd)))
            assert [column.to_pylist() for column in found.columns] == [
                [1, 2],
                ["x", "y"],
                [1.5, 0.0],
                [2, 1],
            ]

    def test_an_empty_table_is_refused(self) -> None:
        none = pa.table({"age": pa.array([], pa.int64()), "x": pa.array([], pa.float64())})
        for name in none.column_names:
            with pytest.raises(InvalidTable, match="no rows"):
                check(self.stored(none), quasi_identifiers=[name])
        with self.opened(none) as there:
            assert [part.tolist() for part in there.sizes(["x"])] == [[], []]
            assert there.different("x") == 0
            assert len(there.load(["x"])) == 0

    def test_what_is_read_does_not_grow_with_the_rows(self) -> None:
        found = []
        for copies in (1, 50):
            table = pa.table({"age": [30, 40, 40] * copies, "ill": [1, 1, 2] * copies})
            seen = check(self.stored(table), quasi_identifiers=["age"], confidential=["ill"])
            found.append(seen.reading)
        assert found == [
            Reading(self.engine, counts=9, rows=3),
            Reading(self.engine, counts=9, rows=150),  # all of them, up to 50,000
        ]

    def test_a_group_that_is_cut_would_be_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = pa.table({"age": [30] * 6 + [40] * 6, "ill": [*range(6)] * 2})
        source = self.stored(table)
        how: dict[str, Any] = {"quasi_identifiers": ["age"], "confidential": ["ill"]}
        assert check(source, **how).l == 6

        def cut(self: klt_by_counts.Counted, others: list[str], most: int) -> Iterator[Any]:
            for whole in self._there.tally([*self._asked.known, *others]):
                for begin in range(0, len(whole), 3):
                    piece = whole.slice(begin, 3)
                    yield klt_by_counts._Combinations(self._groups(piece), piece)

        monkeypatch.setattr(klt_by_counts.Counted, "_parts", cut)
        with pytest.raises(InvalidTable, match="changed while it was read"):
            check(source, **how)

    def test_rows_that_fail_are_refused_without_a_word_of_them(self) -> None:
        with pytest.raises(InvalidTable) as refused:
            check(self.failing(), quasi_identifiers=["a"])
        assert "canary" not in "".join(traceback.format_exception(refused.value))
        assert refused.value.__context__ is None
