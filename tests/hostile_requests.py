"""Requests to an engine, at random: every node of their grammar, with constants that overflow.

Asked of tables whose rows lie at and beyond every bound (`neighbours.py`), none may fail: what an
engine says of a row that it cannot compute is an answer about that row, at no price.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tenue.engine import computed_column
from tenue.engine.computed_column import (
    FIELDS,
    MOST_STEPS,
    TIMES,
    Absolute,
    All,
    Among,
    Any_,
    Choice,
    Computed,
    Curve,
    DateField,
    Extreme,
    Formula,
    Missing,
    Not,
    Predicate,
    Product,
    Quotient,
    Ratio,
    Rounded,
    Steps,
    Sum,
    Within,
    leaf_ends,
    sized,
)
from tenue.engine.contract import Engine
from tenue.engine.curve import Shape, finest_step
from tenue.engine.request import (
    Bin,
    Calendar,
    CellKey,
    Contribution,
    ContributionRequest,
    Factor,
    Group,
    Measure,
    People,
    Pieces,
    RankRequest,
    Request,
    Units,
    UnitValue,
    Window,
)
from tenue.errors import Refused
from tenue.schema import (
    Boolean,
    Bounded,
    Category,
    Column,
    Date,
    Datetime,
    Identifier,
    Named,
    Number,
    Schema,
    Table,
)

SIZES = (0, 1, 2, 7, 2**15, 2**31, 3_000_000_001, 4_000_000_000, 2**53, 2**62, 2**63, 2**64, 2**90)
"""What constants are near to, on both sides of 0."""
LARGEST = 2**119
Anything = Request | RankRequest | ContributionRequest


class Writer:
    """Random requests about one schema; `made` counts what they have."""

    def __init__(self, chosen: random.Random, schema: Schema) -> None:
        self.chosen = chosen
        self.table: Table = schema
        self.unit = schema.unit if schema.unit != "record" else "who"
        self.made: Counter[str] = Counter()

    def sometimes(self, chance: float) -> bool:
        return self.chosen.random() < chance

    def constant(self) -> int:
        near = self.chosen.choice(SIZES) + self.chosen.randint(-2, 2)
        return near if self.sometimes(0.5) else -near

    def columns(self, *kinds: type[Column]) -> list[Any]:
        every = self.table.columns.values()
        wanted = kinds or (Bounded, Category, Boolean)
        return [one for one in every if isinstance(one, wanted) and not isinstance(one, Identifier)]

    def column(self, *kinds: type[Column]) -> Any:
        return self.chosen.choice(self.columns(*kinds))

    def ends(self, leaf: Steps | DateField) -> tuple[int, int]:
        return leaf_ends(self.table.column(leaf.column), leaf)

    # -- what is computed --------------------------------------------------------------------------

    def formula(self, depth: int = 3) -> Formula:
        """One that is small enough; the constants of the first tries are as large as can be."""
        for _ in range(30):
            try:
                found = self._formula(depth)
                sized(found, self.ends)
            except Refused:
                continue
            sizes = sized(found, self.ends)
            if sizes.largest <= LARGEST and max(map(abs, sizes.ends)) <= MOST_STEPS:
                return found
            if sizes.largest <= LARGEST // 4:  # the way is not too large, the end is
                by = max(map(abs, sizes.ends)) // MOST_STEPS + 2
                return Quotient(found, by)
        return Steps(self.column(Bounded).name)

    def _formula(self, depth: int) -> Formula:
        if depth == 0 or self.sometimes(0.1):
            return self._leaf()
        inner = [self._formula(depth - 1) for _ in range(self.chosen.randint(1, 3))]
        shape = self.chosen.randrange(7)
        if shape > 4:
            return self._call(self.chosen.choice((5, 5, 6, 6, 7, 7, 7, 8, 8, 8, 9)), inner)
        if shape == 0:
            weights = [self.chosen.choice((0, 0, 1, -1, self.constant())) for _ in inner]
            return Sum(self.constant(), tuple(zip(weights, inner, strict=True)))
        if shape == 1:  # what cancels
            same = inner[0]
            return Sum(0, ((1, same), (-1, same), (0, inner[-1])))
        if shape == 2:
            return Product(tuple(inner))
        if shape == 3:
            return Quotient(inner[0], max(abs(self.constant()), 1))
        cases = tuple((self.predicate(1), part) for part in inner)
        last = self.chosen.choice((None, Sum(self.constant()), self._leaf()))
        return Choice(cases, last)

    def _call(self, shape: int, inner: list[Formula]) -> Formula:
        """A function of what is there, brought to where it is defined."""
        one, by = inner[0], max(abs(self.constant()), 1)
        if shape == 5:
            return Absolute(one)
        if shape == 6:
            return Extreme(self.sometimes(0.5), tuple(inner))
        if shape == 7:
            return Rounded(one, by)
        if shape == 8:
            divisor = Extreme(True, (inner[-1], Sum(self.chosen.choice((1, 2, by)))))
            times, over = (max(abs(self.constant()), 1) for _ in range(2))
            return Ratio(one, divisor, times, over, Fraction(1))
        function = self.chosen.choice(("ln", "log10", "log2", "exp", "power"))
        exponents = (Fraction(1, 2), Fraction(3, 2), Fraction(-1, 3), Fraction(3), Fraction(-2))
        exponent = self.chosen.choice(exponents) if function == "power" else Fraction(1)
        grid = Fraction(1, self.chosen.choice((1, 1, 3, 1000, 10**9)))
        curve = Shape(function, grid, exponent)
        defined: Formula = Extreme(True, (one, Sum(1)))
        if function == "exp":
            defined = Extreme(False, (one, Sum(int(60 / grid))))
        ends = sized(defined, self.ends).ends
        step = finest_step(curve, *ends) if curve.fits(*ends) else Fraction(1)
        return Curve(curve, defined, step * self.chosen.choice((1, 1, 7, 1000)))

    def _leaf(self) -> Formula:
        shape = self.chosen.randrange(6)
        if shape == 0:
            return Sum(self.constant())
        if shape == 1 and (dates := self.columns(Date, Datetime)):
            column = self.chosen.choice(dates)
            late = isinstance(column, Datetime)
            fields = [name for name in FIELDS if late or name not in TIMES]
            return DateField(column.name, self.chosen.choice(fields))
        return Steps(self.column(Bounded).name)

    def computed(self) -> tuple[Computed, ...]:
        """Up to three columns, each of which the next may be made of."""
        declared, found = self.table, list[Computed]()
        for number in range(self.chosen.choice((0, 1, 1, 2, 3))):
            made = Computed(f"(made {number})", self.formula())
            found.append(made)
            low, high = computed_column.sized(made.formula, self.ends).ends
            column = Number(
                name=made.name, role="other", low=Fraction(low), high=Fraction(high),
                grid=Fraction(1),
            )  # fmt: skip
            self.see(made.name, column)
        self.before = declared
        return tuple(found)

    def see(self, name: str, column: Column) -> None:
        columns = Named([*self.table.columns.items(), (name, column)])
        self.table = _with(self.table, columns)

    # -- which rows --------------------------------------------------------------------------------

    def predicate(self, depth: int = 2) -> Predicate:
        if depth and self.sometimes(0.5):
            parts = tuple(self.predicate(depth - 1) for _ in range(self.chosen.randint(1, 3)))
            return self.chosen.choice((Not(parts[0]), All(parts), Any_(parts)))
        column = self.column()
        if self.sometimes(0.15):
            return Missing(column.name)
        if isinstance(column, Bounded):
            low, high = span(column)
            some = (None, low - 1, low, high, high + 1, 0, self.constant())
            return Within(column.name, self.chosen.choice(some), self.chosen.choice(some))
        words = (True, False) if isinstance(column, Boolean) else (*column.categories, "none")
        return Among(column.name, tuple(self.chosen.sample(words, self.chosen.randint(0, 2))))

    # -- cells -------------------------------------------------------------------------------------

    def key(self) -> CellKey:
        column = self.column()
        if isinstance(column, Category | Boolean):
            many = len(column.categories) if isinstance(column, Category) else 2
            if self.sometimes(0.3):
                classes = tuple(self.chosen.randrange(3) for _ in range(many))
                return Pieces(column.name, 4, classes=classes)
            return Group(column.name, many)
        if column.name.startswith("(") and self.sometimes(0.4):
            return Group(column.name, self.chosen.choice((1, 2, 3, 1000)))
        low, high = span(column)
        if isinstance(column, Date | Datetime) and self.sometimes(0.5):
            parts = ("year", "quarter", "month", "week", "day", "hour")
            first = self.chosen.choice((0, 2020, 2020 * 12, -(10**9)))
            return Calendar(column.name, self.chosen.choice(parts), first, self.cells())  # type: ignore[arg-type]
        if self.sometimes(0.3):
            starts = {self.chosen.choice((low, high, 0, self.constant())) for _ in range(4)}
            return Pieces(column.name, len(starts) + 2, starts=tuple(sorted(starts)))
        width = max(abs(self.constant()), 1)
        first = self.chosen.choice((low // width, 0, high // width - 1, self.constant()))
        return Bin(column.name, width, first, self.cells())

    def cells(self) -> int:
        return self.chosen.choice((1, 2, 1000, 2**31, 2**62))

    # -- whole requests ----------------------------------------------------------------------------

    def measure(self, people: bool) -> Measure:
        kinds = ["rows", "present", "total", "moment"] + ["units", "unit-total"] * people
        kind: Any = self.chosen.choice(kinds)
        if kind in ("rows", "units"):
            return Measure(kind)
        if kind == "moment":
            factors = [self.factor() for _ in range(self.chosen.randint(1, 3))]
            return Measure("moment", factors=tuple(factors))
        column = self.column(Bounded) if kind != "present" else self.column()
        low, high = sorted((self.constant(), self.constant()))
        return Measure(kind, column.name, low=low, high=high)

    def factor(self) -> Factor:
        column = self.column(Bounded)
        low, high = span(column)
        shift = self.chosen.choice((low, high, 0, self.constant()))
        return Factor(column.name, shift, self.chosen.choice((0, 1, 1, 2, 4)))

    def people(self) -> People | None:
        if not self.sometimes(0.3):
            return None
        return People(self.unit, self.chosen.choice((1, 2, 10**20)), self.chosen.choice((None, 1)))

    def window(self) -> Window:
        b = max(abs(self.constant()), 1)
        a = self.chosen.choice((0, b, b // 2))
        return Window(b, a, self.constant(), self.constant(), abs(self.constant()))

    def units(self) -> Units:
        """A table of persons, whose columns all else is then about."""
        computed, values = self.computed(), list[UnitValue]()
        for number in range(self.chosen.randint(1, 2)):
            kinds = ("rows", "present", "total", "least", "largest", "mean")
            kind: Any = self.chosen.choice(kinds)
            column = None if kind == "rows" else self.column(Bounded).name
            ends = sorted(self.constant() for _ in range(2))
            if self.sometimes(0.9):
                ends = [max(-MOST_STEPS, min(end, MOST_STEPS - 1)) for end in ends]
            values.append(UnitValue(f"value {number}", kind, column, ends[0], ends[1] + 1))
        where = self.predicate() if self.sometimes(0.3) else None
        units = Units(self.unit, tuple(values), where, computed)
        own = [
            (value.name, Number(name=value.name, role="other", low=Fraction(value.low),
                                high=Fraction(value.high), grid=Fraction(1)))
            for value in values
        ]  # fmt: skip
        self.table = _with(self.table, Named(own))
        return units

    def request(self) -> Anything:
        """A request of any kind; what it is about is as before when it is written."""
        table = self.table
        try:
            return self._request()
        finally:
            self.table = table

    def _request(self) -> Anything:
        units = self.units() if self.sometimes(0.2) else None
        computed, people = self.computed(), None if units is not None else self.people()
        where = self.predicate() if self.sometimes(0.5) else None
        keys = tuple(self.key() for _ in range(self.chosen.choice((0, 1, 1, 2))))
        shape = self.chosen.random()
        if shape < 0.2:
            column, windows = self.column(Bounded).name, (self.window(), self.window())
            return RankRequest(column, windows, where, keys, people, computed, units)
        if shape < 0.3 and units is None:
            kind: Any = self.chosen.choice(("rows", "cells", "least", "largest", "beyond"))
            named = None if kind in ("rows", "cells") else self.column(Bounded).name
            low, high = sorted((self.constant(), self.constant()))
            several = (self.column().name,) if named is None and self.sometimes(0.5) else ()
            asked = Contribution(kind, named, low, high, several)
            ends = sorted(max(-(2**62), min(self.constant(), 2**62)) for _ in range(2))
            return ContributionRequest(
                asked, self.unit, (self.window(),), ends[0], ends[1], where, keys, computed
            )
        many = self.chosen.randint(1, 3)
        measures = tuple(self.measure(people is not None) for _ in range(many))
        return Request(measures, where, keys, people, computed, units)


def _with(table: Table, columns: Named[Column]) -> Table:
    from dataclasses import replace

    return replace(table, columns=columns)


def span(column: Bounded) -> tuple[int, int]:
    """The first and the last step of a column."""
    low = int(column.low / column.grid) if isinstance(column, Number) else 0
    return low, low + column.steps


def ask(engine: Engine, request: Anything) -> bool:
    """Asks; whether it was answered, and not refused for what it is."""
    calls: dict[type, Callable[[Any], object]] = {
        Request: engine.measure,
        RankRequest: engine.ranks,
        ContributionRequest: engine.contributions,
    }
    try:
        calls[type(request)](request)
    except Refused:
        return False
    return True
