"""Whatever a draw may refuse is refused before it is paid for, and nothing is drawn before that."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.ask.aggregates.clip import Clip
from tenue.ask.aggregates.strategy import Draw
from tenue.errors import Fault, Refused
from tenue.mechanism.additive_noise import Part
from tenue.mechanism.exponential_mechanism import Selection
from tenue.noise import DiscreteLaplace, Optimal, OptimalBox, Seeded
from tenue.noise.heavy_tail import HeavyTail
from tenue.noise.joint import joint
from tenue.noise.source import OperatingSystem

PEOPLE = 30


def session(
    high: int | float = 100, grid: object = 1, neighbours: str = "replace", **table: Any
) -> tn.Session:
    """Thirty people with a number, a category and a group; nobody is missing."""
    step = Fraction(Decimal(str(grid)))
    values = [float(step * (i % 3)) for i in range(PEOPLE)]
    rows = pd.DataFrame(
        {
            "x": values,
            "c": ["red", "blue", "blue"] * 10,
            "g": ["a", "b"] * 15,
            "who": [f"p{i}" for i in range(PEOPLE)],
        }
    )
    number = {"type": "number", "bounds": [0, high], "grid": grid, "missing": 0}
    columns = {
        "x": number,
        "c": {"type": "category", "categories": ["blue", "red"]},
        "g": {"type": "category", "categories": ["a", "b"]},
        "who": {"type": "identifier"},
    }
    head = {"name": "t", "unit": "record", "neighbours": neighbours, **table}
    stated = {"table": head, "columns": columns, "budget": {"total": 10**6}}
    return tn.protect(rows, schema=stated, ledger=tn.ledger.Memory())


PERSONS = {"unit": "who", "rows_per_unit": 2}
Ask = Callable[[Any, Any], Any]
SINGLE: dict[str, str] = {
    "count": "SELECT COUNT(*) FROM t",
    "filtered": "SELECT COUNT(*) FROM t WHERE x > 1",
    "sum": "SELECT SUM(x) FROM t",
    "mean": "SELECT AVG(x) FROM t WHERE c = 'red'",
    "groups": "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g",
    "variance": "SELECT VARIANCE(x) FROM t",
    "mode": "SELECT MODE(c) FROM t",
    "median": "SELECT MEDIAN(x) FROM t",
    "max": "SELECT MAX(x) FROM t",
    "distinct": "SELECT COUNT(DISTINCT c) FROM t",
    "sets": "SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)",
}
MANY = ["SELECT COUNT(*) FROM t WHERE x > 1", "SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t"]
ASKED: dict[str, Ask] = {
    **{
        name: lambda data, epsilon, sql=sql: data.ask(sql, epsilon=epsilon)
        for name, sql in SINGLE.items()
    },
    "interval": lambda data, epsilon: data.ask(SINGLE["median"], epsilon=epsilon, interval="0.9"),
    "smooth": lambda data, epsilon: data.ask(
        SINGLE["median"], epsilon=epsilon, mechanism="smooth sensitivity 3"
    ),
    "clipped": lambda data, epsilon: data.ask(SINGLE["sum"], epsilon=epsilon, clip="auto"),
    "many": lambda data, epsilon: data.ask_many(MANY, epsilon=epsilon),
    "several sums": lambda data, epsilon: data.ask(
        "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t WHERE g = 'a'", epsilon=epsilon
    ),
}


class Early(Exception):
    """A word was drawn before the price was paid."""


def watched(data: Any, patch: pytest.MonkeyPatch) -> list[str]:
    """Lets no word be drawn until the ledger has reserved a price; what happened, in order."""
    seen: list[str] = []
    words, reserve = OperatingSystem.words, type(data.ledger).reserve

    def drawn(source: Any, count: int, bits: Any = 64) -> Any:
        if "paid" not in seen:
            raise Early
        seen.append("drawn")
        return words(source, count, bits)

    def paid(*given: Any, **named: Any) -> Any:
        found = reserve(*given, **named)
        seen.append("paid")
        return found

    patch.setattr(OperatingSystem, "words", drawn)
    patch.setattr(type(data.ledger), "reserve", paid)
    return seen


@pytest.mark.any_draw("an answer is looked at only for whether it came")
@pytest.mark.parametrize("asked", ASKED)
def test_nothing_is_drawn_before_it_is_paid_for(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session() as data:
        seen = watched(data, monkeypatch)
        ASKED[asked](data, 1)
        assert seen[:2] == ["paid", "drawn"]


@pytest.mark.any_draw("an answer is looked at only for whether it came")
def test_limits_and_counts_of_truncated_persons_are_drawn_after_payment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with session(**PERSONS) as data:
        seen = watched(data, monkeypatch)
        data.suggest_limits(epsilon=1)
        assert seen[:2] == ["paid", "drawn"]
        seen.clear()
        data.ask(SINGLE["count"], epsilon=1, measure_cut="0.1")
        assert seen[:2] == ["paid", "drawn"]


def test_a_rehearsal_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant draws all noise once and throws it away, as it was until 0.2."""
    monkeypatch.setattr(Part, "check_draw", lambda part, cells: part.draw(1))
    with session() as data:
        watched(data, monkeypatch)
        with pytest.raises(Early):
            data.ask(SINGLE["count"], epsilon=1)


# -- what passes the check is drawn ----------------------------------------------------------------

EPSILONS = [
    *("0.000000001", "0.00000001", "0.000001", "0.001", "0.1", "1", "20", "700", "9999", "10000"),
    *("10001", "0.0000000001"),
]
WIDTHS: list[tuple[Any, Any]] = [
    *((1, 1), (100, 1), (10**6, 1), (2**40, 1), (2**53, 1), (2**61, 1), (10**18, 1)),
    *((1, "0.000001"), (10**9, "0.000001"), (10**12, "0.0001"), ("1e300", "1e290"), ("0.5", "0.5")),
]
HOW = [("replace", {}), ("add-or-remove", {}), ("replace", PERSONS), ("add-or-remove", PERSONS)]


def paid_and_refused(asked: str, epsilon: str, width: tuple[Any, Any], how: int) -> bool:
    """Whether a question was refused, or failed, after its price was spent."""
    neighbours, table = HOW[how]
    try:
        data = session(*width, neighbours=neighbours, **table)
    except Refused:
        return False  # there is no such schema
    with data:
        try:
            ASKED[asked](data, Decimal(epsilon))
        except (Refused, Fault):
            return data.budget.spent != 0
    return False


PLANS = (
    st.sampled_from(sorted(ASKED)),
    st.sampled_from(EPSILONS),
    st.sampled_from(WIDTHS),
    st.integers(0, len(HOW) - 1),
)


@pytest.mark.any_draw("an answer is looked at only for whether it came")
@settings(max_examples=8)
@given(*PLANS)
def test_what_was_paid_for_is_answered(
    asked: str, epsilon: str, width: tuple[Any, Any], how: int
) -> None:
    assert not paid_and_refused(asked, epsilon, width, how)


@pytest.mark.slow
@pytest.mark.any_draw("an answer is looked at only for whether it came")
@pytest.mark.parametrize("asked", ASKED)
def test_every_kind_of_question_is_answered_once_it_was_paid_for(asked: str) -> None:
    for epsilon, width, how in itertools.product(EPSILONS, WIDTHS, range(len(HOW))):
        assert not paid_and_refused(asked, epsilon, width, how), (epsilon, width, how)


@pytest.mark.parametrize(
    ("kind", "asked", "width", "how"),
    [
        (Part, "mean", (2**40, 1), 0),
        (Part, "groups", (2**40, 1), 3),
        (Clip, "clipped", (2**53, 1), 0),
    ],
)
def test_without_its_check_a_draw_is_refused_once_it_was_paid_for(
    kind: type[Draw], asked: str, width: tuple[int, int], how: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant refuses nothing beforehand. A clipped sum was such a case until 0.2: its noise
    depends on the cut that is chosen, so the refusal even depended on rows."""
    monkeypatch.setattr(Selection, "choose", lambda selection, *rows: selection.high)
    assert not paid_and_refused(asked, "0.000001", width, how)
    monkeypatch.setattr(kind, "check_draw", lambda draw, cells: None)
    assert paid_and_refused(asked, "0.000001", width, how)


# -- law by law ------------------------------------------------------------------------------------

LAWS: list[Callable[[Fraction, int], Any]] = [
    lambda epsilon, width: DiscreteLaplace(sensitivity=width, epsilon=epsilon),
    lambda epsilon, width: Optimal(sensitivity=width, epsilon=epsilon).on_grid(1),
    lambda epsilon, width: OptimalBox(sensitivities=[1, width], epsilon=epsilon),
    lambda epsilon, width: OptimalBox(sensitivities=[width] * 2, epsilon=epsilon, signs="same"),
    lambda epsilon, width: (DiscreteLaplace(sensitivity=width, epsilon=epsilon),) * 2,
    lambda epsilon, width: HeavyTail(gamma=3, smooth_sensitivity=width, epsilon=epsilon).on_grid(1),
]


@settings(max_examples=60)
@given(
    st.sampled_from(LAWS),
    st.integers(-12, 4).map(lambda power: Fraction(10) ** power),
    st.integers(0, 61).map(lambda power: 1 << power),
    st.sampled_from([1, 3, 10**9 + 1]),
)
def test_a_law_refuses_in_its_check_what_it_refuses_in_its_draw(
    make: Callable[[Fraction, int], Any], epsilon: Fraction, width: int, size: int
) -> None:
    try:
        noise = joint(make(epsilon, width))
    except Refused:
        return  # there is no such law, so no plan has it
    checked, drawn = raised(lambda: noise.check_draw(size)), None
    if size < 10 or checked is not None:
        drawn = raised(lambda: noise.steps(size, Seeded(1)))
    assert checked == drawn


def raised(run: Callable[[], object]) -> str | None:
    try:
        run()
    except Refused as refused:
        return str(refused)
    return None
