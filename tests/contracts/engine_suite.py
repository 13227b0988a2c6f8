"""What every engine must pass: one class for each capability, inherited by the tests of an engine.

A test of an engine is a class that inherits the capabilities it has and defines the fixture
`opened`: given rows, and a schema if it is not `SCHEMA`, it returns the engine that reads them.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Protocol

from oracle_engine import OracleEngine
from tenue.engine.computed_column import (
    All,
    Among,
    Any_,
    Choice,
    Computed,
    DateField,
    Missing,
    Not,
    Product,
    Quotient,
    Sum,
    Within,
)
from tenue.engine.computed_column import Steps as Steps_
from tenue.engine.contract import Engine, Profile
from tenue.engine.request import (
    Bin,
    Calendar,
    Contribution,
    ContributionRequest,
    Factor,
    Group,
    Measure,
    People,
    Pieces,
    RankRequest,
    Request,
    Window,
)
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "people", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "age": {"type": "number", "bounds": [10, 100]},
            "Pay": {"type": "number", "bounds": [-5, 5], "grid": 0.5},
            "bonus": {"type": "number", "bounds": [0, 4], "grid": 2, "missing": 4},
            "sex": {"type": "category", "categories": ["F", "M", "o'x"]},
            "town": {"type": "category", "categories": ["7", "08"], "missing": "08"},
            "member": {"type": "boolean"},
            "who": {"type": "identifier"},
            "born": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"], "grid": 1},
            "seen": {
                "type": "datetime",
                "bounds": ["2020-01-01T00:00:00", "2020-01-02T00:00:00"],
                "grid": 60,
            },
            "rate": {
                "type": "number",
                "expression": "pay / (age - 20)",
                "bounds": [-1, 1],
                "grid": 0.25,
            },
        },
    }
)
NAMES = ("AGE", "pay", "bonus", "sex", "town", "member", "born", "seen", "secret", "Who")
VALUES: list[tuple[Any, ...]] = [
    # clamped below, rounded up at the half, undeclared sex, bounds reached exactly
    (-3, 0.25, 1.0, "F", "7", True, date(1999, 5, 5), datetime(2020, 1, 1, 0, 0, 29), "s", "p"),
    (20, 1e308, 3.0, "M", "8", False, date(2000, 1, 1), datetime(2020, 1, 1, 0, 0, 30), "e", "P"),
    (30, -0.25, None, "x", "08", None, date(2000, 2, 29), datetime(2031, 1, 1), "c", "p"),
    (None, float("nan"), 0.0, "o'x", None, True, None, None, "r", None),
    (
        500,
        float("-inf"),
        9.0,
        None,
        "7",
        True,
        date(2000, 12, 31),
        datetime(2020, 1, 1, 5),
        "e",
        "P",
    ),
    (41, 2.75, 2.9, "F", "07", False, date(2050, 1, 1), datetime(1970, 1, 1), "t", "p"),
]
ROWS = [dict(zip(NAMES, values, strict=True)) for values in VALUES]
LARGE = Schema.from_dict(
    {
        "table": {"name": "large", "unit": "record", "neighbours": "replace"},
        "columns": {"n": {"type": "number", "bounds": [-(2**62), 2**62]}},
    }
)
FILLED = Schema.from_dict(
    {
        "table": {"name": "filled", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [-2, 10], "missing": 4},
            "y": {"type": "number", "bounds": [-1, 1], "grid": 0.5, "missing": 0},
            "c": {"type": "category", "categories": ["a", "b", "z"], "missing": "z"},
        },
    }
)
SPACED = [" ", "\t", "\r", "\u00a0", "\u2003", "\u3000", "\u200b"]
TEXTS = Schema.from_dict(
    {
        "table": {"name": "texts", "unit": "record", "neighbours": "replace"},
        "columns": {
            "sex": {"type": "number", "bounds": [-10, 10]},
            "secret": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]},
            "c": {"type": "boolean"},
            "town": {
                "type": "category",
                "categories": [f"{space}?" for space in SPACED],
                "missing": ["?"],
            },
        },
    }
)
"""Columns that are texts in every table of the suite, declared to be something else."""
INF, NAN = float("inf"), float("nan")
AWKWARD = [0.0, -0.0, 0.25, -0.25, 0.75, 4.75, 5.25, -5.25, 1e308, -1e308, INF, -INF, NAN, None]
AWKWARD += [5e-324, -5e-324, 2.0**52, 2.0**63, -(2.0**63), 1.0, 3.0, 0.5, 1e-300]
Rows = list[dict[str, Any]]


class Opened(Protocol):
    """Opens an engine on rows."""

    def __call__(self, rows: Rows, schema: Schema = SCHEMA) -> Engine: ...


ROWS_OF = Measure("rows")
MIDDLE = Window(b=2, a=1, c1=0, c2=0, reach=2)


def each(kind: Any, *columns: str) -> tuple[Measure, ...]:
    return tuple(Measure(kind, column) for column in columns)


def moment(*factors: tuple[str, int, int]) -> Measure:
    return Measure("moment", factors=tuple(Factor(*factor) for factor in factors))


class Counts:
    """Whether an engine counts rows and values, and adds values up, by filters and cells."""

    def test_totals_count_clamped_and_rounded_steps(self, opened: Opened) -> None:
        asked = Request((ROWS_OF, *each("total", "age", "pay", "bonus", "born", "seen", "rate")))
        ages = 10 + 20 + 30 + 100 + 41
        pays = 1 + 10 + 0 + -10 + 6  # half steps: 0.25, 5, −0.25, −5, 2.75
        bonuses = 1 + 2 + 2 + 0 + 2 + 1  # steps of 2, missing is 4
        days = 0 + 0 + 59 + 365 + 366
        minutes = 0 + 1 + 1440 + 300 + 0
        # 0.5/−10, 5/0, 0/10, −, −5/80, 3/21, in quarters
        rates = 0 + 0 + 0 + 1
        assert opened(ROWS).measure(asked) == {(): (6, ages, pays, bonuses, days, minutes, rates)}

    def test_present_counts_what_is_not_missing(self, opened: Opened) -> None:
        columns = ("age", "PAY", "bonus", "sex", "town", "member", "born", "seen", "rate")
        found = opened(ROWS).measure(Request(each("present", *columns)))
        assert found == {(): (5, 5, 6, 4, 6, 5, 5, 5, 4)}

    def test_cells_are_numbered_as_declared(self, opened: Opened) -> None:
        engine = opened(ROWS)
        by_sex = engine.measure(
            Request((ROWS_OF, Measure("total", "age")), keys=(Group("sex", 3),))
        )
        assert by_sex == {(0,): (2, 51), (1,): (1, 20), (2,): (1, 0)}
        by_town = engine.measure(Request((ROWS_OF,), keys=(Group("town", 2), Group("member", 2))))
        assert by_town == {(0, 1): (2,), (1, 0): (2,), (1, 1): (1,)}
        by_age = engine.measure(Request((ROWS_OF,), keys=(Bin("age", 25, 0, 5),)))
        assert by_age == {(0,): (2,), (1,): (2,), (4,): (1,)}
        by_pay = engine.measure(Request((ROWS_OF,), keys=(Bin("pay", 4, -3, 3),)))
        assert by_pay == {(0,): (1,)}, "cells outside those asked for hold no row"
        by_month = engine.measure(
            Request((ROWS_OF,), keys=(Calendar("born", "month", 12 * 2000, 13),))
        )
        assert by_month == {(0,): (2,), (1,): (1,), (11,): (1,), (12,): (1,)}
        for part, first, places in (
            ("day", 10957, [0, 0, 59, 365, 366]),
            ("week", 1565, [0, 0, 9, 52, 53]),  # weeks begin on Monday, and 2001 began on one
            ("quarter", 8000, [0, 0, 0, 3, 4]),
            ("year", 2000, [0, 0, 0, 0, 1]),
        ):
            by_part = engine.measure(
                Request((ROWS_OF,), keys=(Calendar("born", part, first, 400),))
            )
            assert by_part == {(place,): (places.count(place),) for place in places}
        by_hour = engine.measure(Request((ROWS_OF,), keys=(Calendar("seen", "hour", 438288, 25),)))
        assert by_hour == {(0,): (3,), (5,): (1,), (24,): (1,)}

    def test_pieces_hold_every_row_once(self, opened: Opened) -> None:
        engine = opened(ROWS)
        asked = (ROWS_OF, Measure("total", "age"))
        by_age = engine.measure(Request(asked, keys=(Pieces("age", 5, starts=(20, 21, 40)),)))
        assert by_age == {(0,): (1, 10), (1,): (1, 20), (2,): (1, 30), (3,): (2, 141), (4,): (1, 0)}
        even = engine.measure(
            Request((ROWS_OF,), keys=(Pieces("age", 6, starts=(20, 30, 40, 50)),))
        )
        assert even == {(0,): (1,), (1,): (1,), (2,): (1,), (3,): (1,), (4,): (1,), (5,): (1,)}
        by_sex = engine.measure(
            Request((ROWS_OF,), keys=(Pieces("sex", 3, classes=(1, 0, 1)), Group("member", 2)))
        )
        assert by_sex == {(1, 1): (2,), (0, 0): (1,), (1, 0): (1,), (2, 1): (1,)}
        by_truth = engine.measure(Request((ROWS_OF,), keys=(Pieces("member", 3, classes=(1, 0)),)))
        assert by_truth == {(0,): (3,), (1,): (2,), (2,): (1,)}

    def test_predicates_know_three_truths(self, opened: Opened) -> None:
        engine = opened(ROWS)

        def count(where: Any) -> int:
            found = engine.measure(Request((ROWS_OF,), where))
            return found.get((), (0,))[0]

        assert count(Within("age", 20, 41)) == 3
        assert count(Not(Within("age", 20, 41))) == 2, "a missing age is neither"
        assert count(Within("age", None, None)) == 5
        assert count(Within("age", 50, 40)) == 0
        assert count(Not(Within("age", 50, 40))) == 5
        assert count(Missing("age")) == 1
        assert count(Missing("bonus")) == 0
        assert count(Among("sex", ("F",))) == 2
        assert count(Not(Among("sex", ("F",)))) == 2, "an undeclared or missing sex is neither"
        assert count(Among("sex", ())) == 0
        assert count(Not(Among("sex", ()))) == 4
        assert count(Among("town", ("08",))) == 4
        assert count(Among("member", (True,))) == 3
        assert count(All((Among("member", (True,)), Within("age", None, 50)))) == 1
        assert count(Any_((Missing("age"), Within("born", 366, 366)))) == 2
        assert count(All(())) == 6
        assert count(Any_(())) == 0

    def test_empty_cells_are_not_there(self, opened: Opened) -> None:
        engine = opened(ROWS)
        nobody = Within("age", 99, 10)
        assert engine.measure(Request((ROWS_OF, Measure("total", "age")), nobody)) == {}
        assert engine.measure(Request((ROWS_OF,), nobody, (Group("sex", 3),))) == {}

    def test_a_table_without_rows_has_no_cells(self, opened: Opened) -> None:
        engine = opened([])
        assert engine.measure(Request((ROWS_OF, Measure("total", "rate")))) == {}
        assert engine.measure(Request((ROWS_OF,), keys=(Group("sex", 3),))) == {}

    def test_the_order_of_rows_is_not_seen(self, opened: Opened) -> None:
        asked = Request((ROWS_OF, *each("total", "age", "pay", "seen")), keys=(Group("sex", 3),))
        assert opened(ROWS).measure(asked) == opened(ROWS[::-1]).measure(asked)

    def test_sums_beyond_64_bits_are_exact(self, opened: Opened) -> None:
        rows = [{"n": n} for n in (2**62, 2**62, 2**62 - 1, None, -5)]
        asked = Request((ROWS_OF, *each("present", "n"), *each("total", "n")))
        assert opened(rows, LARGE).measure(asked) == {(): (5, 4, 3 * 2**62 - 6)}
        assert opened(rows[::-1] * 3, LARGE).measure(asked) == {(): (15, 12, 9 * 2**62 - 18)}

    def test_awkward_doubles_are_in_the_cells_of_the_oracle(self, opened: Opened) -> None:
        rows = [dict.fromkeys(NAMES) | {"pay": pay, "bonus": pay} for pay in AWKWARD]
        engine, oracle = opened(rows), OracleEngine(SCHEMA, rows)
        for request in (
            Request((ROWS_OF, *each("present", "pay"), *each("total", "pay", "bonus"))),
            Request((ROWS_OF,), keys=(Bin("pay", 1, -10, 21),)),
            Request((ROWS_OF,), Not(Within("pay", -1, 1)), (Bin("bonus", 1, 0, 3),)),
        ):
            assert engine.measure(request) == oracle.measure(request)


class Texts:
    """Whether an engine reads texts as declared, and no others: no letter or space is like one."""

    def test_only_some_spaces_around_a_text_do_not_count(self, opened: Opened) -> None:
        words = {"sex": "7", "secret": "2020-01-08", "c": "yes", "town": "?"}
        asked = Request((*each("total", "sex", "secret"), *each("present", "c", "town")))
        for space in SPACED:
            rows = [{name: f"{space}{word}" for name, word in words.items()}]
            found = opened(rows, TEXTS).measure(asked)
            # what is no mark, for its space counts, is a category
            assert found == {(): (7, 7, 1, 0) if space in " \t\r" else (0, 0, 0, 1)}, repr(space)

    def test_a_number_has_at_most_a_thousand_signs(self, opened: Opened) -> None:
        """Few engines read more, and which value a row has must not follow from the engine."""
        for word, read in (("7", 7), ("0" * 999 + "7", 7), ("0" * 1000 + "7", None)):
            rows = [dict.fromkeys(("secret", "c", "town"), "") | {"sex": f" {word}\t"}]
            found = opened(rows, TEXTS).measure(
                Request((*each("present", "sex"), *each("total", "sex")))
            )
            assert found == {(): (0, 0) if read is None else (1, read)}, len(word)

    def test_only_two_words_are_infinite(self, opened: Opened) -> None:
        for word in ("inf", "-Infinity", "i_nf", "\u0130nf", "-\u0130NFINITY", "\u0131nf", "n_an"):
            rows = [dict.fromkeys(("sex", "secret", "c", "town"), word)]
            found = opened(rows, TEXTS).measure(Request(each("present", "sex", "secret")))
            assert found == {(): (1, 1) if word in ("inf", "-Infinity") else (0, 0)}, word


COMPUTED = (
    Computed("(linear)", Sum(3, ((-2, Steps_("age")), (5, Steps_("pay"))))),
    Computed(
        "(product)", Product((Steps_("age"), Steps_("pay"), Sum(-1, ((1, Steps_("bonus")),))))
    ),
    Computed(
        "(chosen)", Choice(((Within("age", 30, None), Steps_("pay")), (Missing("sex"), Sum(9))))
    ),
    Computed("(else)", Choice(((Among("member", (True,)), Steps_("age")),), Sum(0))),
    Computed("(floor)", Quotient(Sum(0, ((3, Steps_("pay")),)), 4)),
    Computed("(year)", DateField("born", "year")),
    Computed("(weekday)", DateField("born", "isodow")),
    Computed("(quarter)", DateField("born", "quarter")),
    Computed("(month)", DateField("seen", "month")),
    Computed("(hour)", DateField("seen", "hour")),
    Computed("(again)", Sum(1, ((2, Steps_("(floor)")),))),
)


class Computing:
    """Whether an engine computes columns of a row, exactly and whatever the row holds."""

    def test_totals_of_computed_columns(self, opened: Opened) -> None:
        names = [one.name for one in COMPUTED]
        asked = Request((*each("total", *names), *each("present", *names)), computed=COMPUTED)
        found = opened(ROWS).measure(asked)
        assert found == OracleEngine(SCHEMA, ROWS).measure(asked)
        totals = dict(zip(names, found[()], strict=False))
        assert totals["(else)"] == 10 + 100, "a missing condition is not true"
        assert totals["(chosen)"] == 0 - 10 + 6 + 0, "a missing pay is missing, not what is next"
        assert totals["(hour)"] == 0 + 0 + 0 + 5 + 0

    def test_computed_columns_make_cells_and_conditions(self, opened: Opened) -> None:
        for name, first, cells in (("(floor)", -8, 16), ("(weekday)", 1, 7), ("(else)", 0, 101)):
            keys = (Bin(name, 1, first, cells), Group("sex", 3))
            asked = Request((ROWS_OF,), Within("(again)", None, 5), keys, None, COMPUTED)
            assert opened(ROWS).measure(asked) == OracleEngine(SCHEMA, ROWS).measure(asked)
        by_year = Request(
            (ROWS_OF,),
            keys=(Group("(y)", 2),),
            computed=(Computed("(y)", Sum(-2000, ((1, DateField("born", "year")),))),),
        )
        assert opened(ROWS).measure(by_year) == {(0,): (4,), (1,): (1,)}

    def test_awkward_values_are_computed_alike(self, opened: Opened) -> None:
        rows = [dict(ROWS[i % 6], pay=value) for i, value in enumerate(AWKWARD)]
        asked = Request(each("total", *(one.name for one in COMPUTED)), computed=COMPUTED)
        assert opened(rows).measure(asked) == OracleEngine(SCHEMA, rows).measure(asked)


class Products:
    """Whether an engine knows sums of products."""

    def test_moments_are_sums_of_products_over_rows_that_have_all_columns(
        self, opened: Opened
    ) -> None:
        asked = Request(
            (
                moment(("age", 0, 1)),
                moment(("age", 30, 2)),
                moment(("AGE", 20, 1), ("pay", -1, 1)),
                moment(("born", 0, 0), ("age", 0, 0)),
                moment(("age", 0, 1), ("rate", 0, 0)),
                moment(("pay", 0, 3)),
                moment(("bonus", 0, 2)),
                moment(),
            )
        )
        ages, pays = [10, 20, 30, None, 100, 41], [1, 10, 0, None, -10, 6]
        squares = sum((age - 30) ** 2 for age in ages if age is not None)
        mixed = sum(
            (x - 20) * (y + 1) for x, y in zip(ages, pays, strict=True) if x and y is not None
        )
        cubes = sum(pay**3 for pay in pays if pay is not None)
        expected = (201, squares, mixed, 5, 10 + 30 + 100 + 41, cubes, 1 + 4 + 4 + 0 + 4 + 1, 6)
        assert opened(ROWS).measure(asked) == {(): expected}
        by_sex = opened(ROWS).measure(Request((moment(("age", 30, 2)),), keys=(Group("sex", 3),)))
        assert by_sex == {(0,): (400 + 121,), (1,): (100,), (2,): (0,)}


class Limits:
    """Whether an engine knows few rows of each person."""

    def test_people_below_their_limits_are_measured_whole(self, opened: Opened) -> None:
        # "p" has the rows 0, 2, 5 and "P" the rows 1 and 4; row 3 is nobody's
        engine, people = opened(ROWS), People("who", 3, 2)
        asked = (ROWS_OF, Measure("units"), Measure("total", "age"), Measure("present", "sex"))
        assert engine.measure(Request(asked, people=people)) == {(): (5, 2, 201, 3)}
        assert engine.measure(Request(asked, Within("age", 20, 41), people=people)) == {
            (): (3, 2, 91, 2)
        }
        by_town = engine.measure(Request(asked, keys=(Group("town", 2),), people=people))
        assert by_town == {(0,): (2, 2, 110, 1), (1,): (3, 2, 91, 2)}
        by_sex = engine.measure(
            Request((Measure("units"),), keys=(Group("sex", 3),), people=people)
        )
        assert by_sex == {(0,): (1,), (1,): (1,)}

    def test_a_category_may_name_the_unit(self, opened: Opened) -> None:
        engine = opened(ROWS)
        asked = (ROWS_OF, Measure("units"))
        assert engine.measure(Request(asked, people=People("sex", 2, None))) == {(): (4, 3)}
        assert engine.measure(Request(asked, people=People("sex", 1, None))) == {(): (3, 3)}
        assert engine.measure(Request(asked, people=People("town", 9, None))) == {(): (6, 2)}

    def test_people_above_their_limits_are_cut_to_them(self, opened: Opened) -> None:
        engine = opened(ROWS)
        asked = (ROWS_OF, Measure("units"), Measure("total", "age"))
        for _ in range(8):
            one = engine.measure(Request(asked, people=People("who", 1, None)))[()]
            assert one[:2] == (2, 2)
            assert one[2] in {p + q for p in (10, 30, 41) for q in (20, 100)}
        two = engine.measure(Request(asked, people=People("who", 2, None)))[()]
        assert two[:2] == (4, 2)
        assert two[2] - 120 in {40, 51, 71}

    def test_sums_of_each_person_are_cut_and_added(self, opened: Opened) -> None:
        """ "p" has the ages 10, 30, 41 and "P" 20, 100; row 3 is nobody's."""
        engine = opened(ROWS)

        def total(low: int, high: int) -> Measure:
            return Measure("unit-total", "age", low=low, high=high)

        people = People("who", 1, None)  # no limit of rows for such sums
        asked = (
            ROWS_OF,
            total(0, 1000),
            total(0, 100),
            total(90, 95),
            Measure("units"),
            total(-5, 3),
        )
        found = engine.measure(Request(asked, people=people))
        assert found == {(): (2, 81 + 120, 81 + 100, 90 + 95, 2, 6)}
        by_town = Request((total(0, 50),), keys=(Group("town", 2),), people=people)
        # town 0: 10 and 100; town 1: 30 + 41 and 20
        assert engine.measure(by_town) == {(0,): (10 + 50,), (1,): (50 + 20,)}
        none = Request((total(7, 50),), Within("age", 99, 10), people=people)
        assert engine.measure(none) == {}

    def test_people_are_cut_to_few_cells_before_few_rows(self, opened: Opened) -> None:
        engine = opened(ROWS)
        request = Request((ROWS_OF,), keys=(Group("town", 2),), people=People("who", 3, 1))
        for _ in range(8):
            # "p" has a row in town 0 and two in town 1, "P" one in each
            assert engine.measure(request) in (
                {(0,): (2,)},
                {(0,): (1,), (1,): (1,)},
                {(0,): (1,), (1,): (2,)},
                {(1,): (3,)},
            )


class Ranks:
    """Whether an engine knows values near a rank."""

    def test_ranks_tell_the_values_near_a_rank(self, opened: Opened) -> None:
        engine = opened(ROWS)
        # the ages are 10, 20, 30, 41, 100: scores of the median, in half rows, are 3, 1, 0, 1, 3
        assert engine.ranks(RankRequest("age", (MIDDLE,))) == {
            (): Profile(5, ((20, 1, 1), (30, 2, 1), (41, 3, 1)))
        }
        nearest = Window(2, 1, 0, 0, 1)
        assert engine.ranks(RankRequest("age", (nearest,))) == {(): Profile(5, ((30, 2, 1),))}
        assert engine.ranks(RankRequest("age", (Window(2, 1, 0, 0, 0),))) == {(): Profile(5, ())}
        assert engine.ranks(RankRequest("age", ())) == {(): Profile(5, ())}
        least, most = Window(1, 0, 0, 1, 1), Window(1, 1, -1, 0, 1)
        assert engine.ranks(RankRequest("age", (least, most))) == {
            (): Profile(5, ((10, 0, 1), (100, 4, 1)))
        }
        huge = Window(10**30, 10**30 // 2, 0, 0, 10**40)
        assert engine.ranks(RankRequest("bonus", (huge,))) == {
            (): Profile(6, ((0, 0, 1), (1, 1, 2), (2, 3, 3)))
        }
        assert engine.ranks(RankRequest("age", (MIDDLE,), Within("age", 99, 10))) == {}

    def test_ranks_of_cells_and_of_people(self, opened: Opened) -> None:
        engine, all_of_it = opened(ROWS), Window(1, 0, 99, -99, 99)
        by_town = engine.ranks(RankRequest("age", (all_of_it,), keys=(Group("town", 2),)))
        assert by_town == {
            (0,): Profile(2, ((10, 0, 1), (100, 1, 1))),
            (1,): Profile(3, ((20, 0, 1), (30, 1, 1), (41, 2, 1))),
        }
        people = People("who", 1, None)
        (found,) = engine.ranks(RankRequest("age", (all_of_it,), people=people)).values()
        assert found.rows == 2
        assert len([value for value, _, _ in found.values if value in (20, 100)]) == 1
        # row 4 has no sex: it is in no cell, and takes the place of no other
        kept = engine.ranks(
            RankRequest("age", (all_of_it,), keys=(Group("sex", 3),), people=people)
        )
        assert kept[(1,)] == Profile(1, ((20, 0, 1),))

    def test_ranks_of_a_table_without_rows(self, opened: Opened) -> None:
        engine = opened([])
        assert engine.ranks(RankRequest("age", (MIDDLE,))) == {}
        assert engine.ranks(RankRequest("age", (MIDDLE,), people=People("who", 1, 1))) == {}
        assert engine.measure(Request((ROWS_OF,), people=People("who", 1, 1))) == {}


class Contributions:
    """Whether an engine knows one number of each person."""

    def test_every_row_of_a_person_counts(self, opened: Opened) -> None:
        # "p" has the rows 0, 2, 5 with ages 10, 30, 41, "P" the rows 1 and 4 with 20 and 100
        engine, all_of_it = opened(ROWS), Window(1, 0, 99, -99, 99)

        def found(kind: Any, first: int = 0, last: int = 1000, **more: Any) -> Profile:
            keys, where = more.pop("keys", ()), more.pop("where", None)
            asked = Contribution(kind, **more)
            return engine.contributions(
                ContributionRequest(asked, "who", (all_of_it,), first, last, where, keys)
            )

        assert found("rows") == Profile(2, ((2, 0, 1), (3, 1, 1)))
        assert found("rows", 2, 2) == Profile(2, ((2, 0, 2),)), "more than the last is the last"
        assert found("rows", where=Within("age", 20, 41)) == Profile(2, ((1, 0, 1), (2, 1, 1)))
        by_town = (Group("town", 2),)
        assert found("cells", keys=by_town) == Profile(2, ((2, 0, 2),))
        assert found("cells") == Profile(2, ((1, 0, 2),))
        # a value of sex have the rows 0 and 5 of "p" and 1 of "P", where 0 is of another town
        assert found("rows", columns=("sex",)) == Profile(2, ((1, 0, 1), (2, 1, 1)))
        in_towns = found("cells", columns=("sex",), keys=by_town)
        assert in_towns == Profile(2, ((1, 0, 1), (2, 1, 1)))
        # row 2 has an undeclared sex and row 4 none: they are in no cell
        by_sex = (Group("sex", 3),)
        assert found("rows", keys=by_sex) == Profile(2, ((1, 0, 1), (2, 1, 1)))
        assert found("largest", column="age") == Profile(2, ((81, 0, 1), (120, 1, 1)))
        # town 0: 10 and 100; town 1: 30 + 41 and 20
        largest = found("largest", column="age", keys=by_town)
        assert largest == Profile(2, ((71, 0, 1), (100, 1, 1)))
        least = found("least", column="age", keys=by_town)
        assert least == Profile(2, ((10, 0, 1), (20, 1, 1)))
        beyond = found("beyond", column="age", low=15, high=75, keys=by_town)
        assert beyond == Profile(2, ((1, 0, 2),))
        assert found("beyond", column="age", low=10, high=100, keys=by_town).values[0][0] == 0
        nearest = ContributionRequest(
            Contribution("rows"), "who", (Window(1, 1, -1, 0, 1),), 1, 1000
        )
        assert engine.contributions(nearest) == Profile(2, ((3, 1, 1),))

    def test_who_has_no_value_has_no_sum(self, opened: Opened) -> None:
        rows = [dict.fromkeys(NAMES) | {"Who": "p", "AGE": None}, dict(ROWS[1])]
        engine, all_of_it = opened(rows), Window(1, 0, 99, -99, 99)
        asked = ContributionRequest(Contribution("largest", "age"), "who", (all_of_it,), 0, 999)
        assert engine.contributions(asked) == Profile(1, ((20, 0, 1),))

    def test_nobody_contributes_nothing(self, opened: Opened) -> None:
        asked = ContributionRequest(Contribution("rows"), "who", (MIDDLE,), 1, 9)
        assert opened([]).contributions(asked) == Profile(0, ())


class LookUps:
    """Whether an engine knows the rows of one person."""

    def test_the_rows_of_one_unit_are_found_by_its_name(self, opened: Opened) -> None:
        engine = opened(ROWS)
        assert sorted(engine.look_up("who", "P", "age")) == [20, 100], "p is somebody else"
        assert len(engine.look_up("who", "p", "age")) == 2, "two are as good as many"
        assert engine.look_up("who", "nobody", "age") == []
        assert engine.look_up("sex", "M", "member") == [0]
        assert engine.look_up("sex", "o'x", "age") == [None]


class Steps:
    """Whether an engine gives all rows of some columns."""

    def test_rows_that_have_the_columns_are_sorted(self, opened: Opened) -> None:
        engine = opened(ROWS)
        assert engine.column_steps("age").tolist() == [[10], [20], [30], [41], [100]]
        assert engine.column_steps("town").tolist() == [[0]] * 2 + [[1]] * 4
        both = [[0, 20], [0, 41], [1, 10], [1, 100]]
        assert engine.column_steps("Member", "AGE").tolist() == both

    def test_rows_are_clamped_filled_and_complete(self, opened: Opened) -> None:
        values = zip(
            [3, -1, None, 99, 3],
            [0.5, 1.0, 1.0, -7.0, 0.5],
            ["b", "a", "pink", None, "b"],
            strict=True,
        )
        engine = opened([dict(zip("xyc", row, strict=True)) for row in values], FILLED)
        assert engine.column_steps("x")[:, 0].tolist() == [-1, 3, 3, 4, 10]
        pairs = sorted(map(tuple, engine.column_steps("x", "y").tolist()))
        assert pairs == [(-1, 2), (3, 1), (3, 1), (4, 2), (10, -2)]
        assert sorted(map(tuple, engine.column_steps("x", "x").tolist())) == [
            (v, v) for v in (-1, 3, 3, 4, 10)
        ]
        votes = engine.measure(Request((ROWS_OF,), keys=(Group("c", 3),)))
        assert votes == {(0,): (1,), (1,): (2,), (2,): (2,)}

    def test_an_empty_table_has_no_rows(self, opened: Opened) -> None:
        engine = opened([])
        assert engine.column_steps("age").shape == (0, 1)
        assert engine.column_steps("age", "pay").shape == (0, 2)


class Reading:
    """Whether an engine gives every row to those who publish the table."""

    def test_every_row_is_told_and_nothing_is_filled_in(self, opened: Opened) -> None:
        rows = opened(ROWS).read_all()
        told = rows.logical.select(["age", "bonus", "sex", "member"]).to_pydict().values()
        expected = {
            (10, 1, 0, 1),
            (20, 2, 1, 0),
            (30, None, None, None),
            (None, 0, 2, 1),
            (100, 2, None, 1),
            (41, 1, 0, 0),
        }
        assert set(zip(*told, strict=True)) == expected
        who = sorted(map(str, rows.identifiers.column("who").to_pylist()))
        assert who == ["None", "P", "P", "p", "p", "p"]
        assert rows.unreadable["sex"] == 1
        assert (rows.infinite["Pay"], rows.beyond["age"]) == (1, 2)

    def test_batches_hold_the_same_rows_once_each(self, opened: Opened) -> None:
        engine = opened(ROWS)
        taken: list[Any] = []
        found = engine.hand_over(taken.append, 2)
        whole = engine.read_all()
        names = whole.logical.column_names
        assert all(set(part.schema.names) == set(names) for part in taken)
        given = [row for part in taken for row in part.select(names).to_pylist()]
        assert sorted(map(repr, given)) == sorted(map(repr, whole.logical.to_pylist()))
        assert found.rows == len(ROWS)
        for fact in ("types", "unreadable", "infinite", "beyond", "first"):
            assert getattr(found, fact) == getattr(whole, fact)
        assert found.repeated == ("who",)
        named: list[Any] = []
        engine.hand_over(named.append, 2, names=True)
        known = [row for part in named for row in part.column("who").to_pylist()]
        assert sorted(map(repr, known)) == sorted(map(repr, whole.identifiers["who"].to_pylist()))
