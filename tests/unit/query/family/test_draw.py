"""A draw that no family has, planned, released and certified by what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest

from oracle_engine import OracleEngine
from tenue.engine.request import Measure, Window
from tenue.noise.criterion import VARIANCE
from tenue.noise.source import Source
from tenue.promise.loss import EpsilonDelta
from tenue.query.certify import certify
from tenue.query.family.draw import Draw, Rows
from tenue.query.family.reading import Linear
from tenue.query.family.strategy import Strategy, merged
from tenue.query.plan.make import build_plan
from tenue.query.question import Aggregate, Output
from tenue.query.release import release
from unit.query.stated import asked, schema

TABLE = [{"income": 10 * n, "region": "North" if n < 4 else "South"} for n in range(6)]
NOISY = Linear(())


@dataclass(frozen=True)
class Plain(Draw):
    """What it reads, without noise: for tests only."""

    name: str
    epsilon: Fraction = Fraction(1, 2)
    source = "nowhere"
    limits = ("It promises nothing.",)

    @property
    def line(self) -> str:
        return f"{self.name} as it is"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure("rows"), Measure("total", "income"))

    def check_draw(self, cells: int) -> None:
        """It refuses nothing."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        return [list(rows.measured[cell].values()) for cell in cells]


@dataclass(frozen=True)
class Middle(Draw):
    """One stored value: for tests only."""

    name: str = "middle"
    epsilon: Fraction = Fraction(1, 2)
    chosen = True
    source = "nowhere else"
    line = "the middle"

    @property
    def windows(self) -> Mapping[str, tuple[Window, ...]]:
        return {"income": (Window(1, 0, 0, 0, 1 << 40),)}

    def read(self, rows: Rows) -> None:
        rows.ranks("income")

    def check_draw(self, cells: int) -> None:
        """It refuses nothing."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        profiles = rows.ranks("income")
        return [[profiles[cell].values[profiles[cell].rows // 2][0]] for cell in cells]


def test_what_a_draw_says_of_itself_is_all_that_is_needed() -> None:
    """Draws with a tuple of their own come first; those that share one are drawn cell by cell."""
    described = schema()
    question = asked(Output("n", Aggregate("count")))
    strategy = merged(
        "both",
        [
            Strategy("a", (Middle(), Plain("one")), {question.aggregates()[0]: NOISY}),
            Strategy("b", (Plain("two"), Middle()), {}),
        ],
    )
    assert strategy.parts == ()
    plan = build_plan(
        *(question, described, strategy, EpsilonDelta.of(2), VARIANCE, "SELECT …"), people=None
    )
    assert plan.request.measures == (Measure("rows"), Measure("total", "income"))
    found = release(plan, OracleEngine(described, TABLE), described)
    assert found.cells == (((6, 15), (6, 15), (3, 3)),)
    assert found.rows is None
    certificate = certify(plan, described)
    assert [v for k, v in certificate.parameters.items() if k.startswith("part")] == [
        "one as it is",
        "two as it is",
        "the middle",
        "the middle",
    ]
    assert certificate.does_not_promise.count("It promises nothing.") == 1


def test_a_draw_says_its_own_words() -> None:
    with pytest.raises(TypeError, match="check_draw, line, released, source"):
        Draw()  # type: ignore[abstract]

    class Silent(Draw):
        source = line = ""

        def check_draw(self, cells: int) -> None: ...

        def released(self, *anything: object) -> list[list[int]]:
            return []

    silent = Silent()
    assert silent.counts_rows, "unless it says otherwise, only so many rows of a person count"
    assert silent.required is None, "every row uses up a limit"
    assert (silent.measures, silent.windows, silent.cuts(schema())) == ((), {}, {})
