"""What many questions need."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from oracle_engine import OracleEngine
from tenue.ask.question import Aggregate
from tenue.ask.release import measured_cells
from tenue.ask.workload.estimate import estimated_plans
from tenue.ask.workload.grid import Slice, atoms_of, grid_of, with_outside
from tenue.ask.workload.measured_quantity import FINE
from tenue.ask.workload.required_quantities import Estimated, EstimatedMean, is_linear, layouts
from tenue.engine.request import Request
from tenue.errors import Refused
from unit.ask.small import TABLE, asked, planned, schema, session, thresholds


def test_a_declared_histogram_gives_thresholds_and_ranges() -> None:
    with session() as data:
        below = data.ask_many(tn.workload.prefixes("x"), epsilon=30)
        between = data.ask_many(tn.workload.ranges("x"), epsilon=30)
    assert below.up_to(19).value == pytest.approx((TABLE.x <= 19).sum(), abs=4)
    wanted = TABLE.x.between(5, 30).sum()
    assert between.between(5, 30).value == pytest.approx(wanted, abs=4)
    low, high = between.between(5, 30).interval(0.999)
    assert low <= wanted <= high
    assert len(below[0].value) == 40


def test_their_noise_is_shaped_to_what_is_added_up() -> None:
    with session() as data:
        line = data.ask_many(tn.workload.prefixes("x"), epsilon=1)
        flat = data.ask_many(["SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"] * 2, epsilon=1)
    assert line.up_to(30).variance < 0.8 * 31 * 1.85
    assert line._workload.blocks[0].digest != flat._workload.chosen.name  # type: ignore[union-attr]


def test_rows_are_every_threshold_or_range() -> None:
    assert tn.workload.prefixes("x").rows(3).dense().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert len(tn.workload.ranges("x").rows(5)) == 15
    assert {tuple(row) for row in tn.workload.ranges("x").rows(2).dense()} == {
        (1, 0),
        (0, 1),
        (1, 1),
    }


def test_tables_are_written_out() -> None:
    asked = tn.workload.marginals(["c", "BIN(x, 10)", "born"], ways=1, where="y > 0")
    texts = asked.texts(schema())
    assert texts[0] == 'SELECT "c", COUNT(*) AS count FROM t WHERE y > 0 GROUP BY 1'
    assert len(tn.workload.marginals(["a", "b", "c", "d"], ways=2).texts(schema())) == 6
    with session() as data:
        found = data.ask_many(tn.workload.marginals(["c", "BIN(x, 10)"], ways=1), epsilon=1)
    assert [len(one.value) for one in found] == [3, 4]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: tn.workload.prefixes("c").texts(schema()),
        lambda: tn.workload.marginals("c"),  # type: ignore[arg-type]
        lambda: tn.workload.marginals(["c"], ways=2),
        lambda: tn.workload.marginals([3]),  # type: ignore[list-item]
    ],
)
def test_refusals(wrong: Any) -> None:
    with pytest.raises(Refused):
        wrong()


def test_refusals_of_answers() -> None:
    with session() as data:
        line = data.ask_many(tn.workload.prefixes("x", width=10), epsilon=1)
        other = data.ask_many(
            ["SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t WHERE y > 1"], epsilon=1
        )
        for wrong in (lambda: line.between(7, 9), lambda: other.up_to(3)):
            with pytest.raises(Refused):
                wrong()
        spent = data.budget.spent
        with pytest.raises(Refused):
            data.ask_many(tn.workload.prefixes("x", width=0.5), epsilon=1)
        assert data.budget.spent == spent


# Every cell of a grid is on one side of every question, NULL included: checked row by row.

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


# Atoms: no question tells their rows apart, and every two of them are told apart by one.


def test_atoms_are_the_classes_of_cells() -> None:
    questions = asked(*TEXTS[:4])
    grid = grid_of(questions, (), schema())
    assert grid is not None
    slices = [Slice(n, q.cells) for n, q in enumerate(questions)]
    found = atoms_of(grid, questions, slices)
    assert found is not None
    table = np.array([grid.members(q) for q in questions])
    signs = {tuple(column) for column in table.T if (column >= 0).any()}
    assert found.many == len(signs)
    for atom in range(-1, found.many):
        inside = {tuple(column) for column in table.T[found.labels == atom]}
        assert len(inside) == 1 or (atom == -1 and all(max(sign) < 0 for sign in inside))
    # a row of the answers holds just the atoms that are in its cell
    start = 0
    for number, question in enumerate(questions):
        for cell in range(question.cells):
            row = found.rows.row(start + cell)
            wanted = {int(a) for a in found.labels[table[number] == cell]}
            assert set(np.nonzero(row)[0]) == wanted
        start += question.cells


def test_many_ranges_are_atoms_in_a_row() -> None:
    texts = [
        f"SELECT COUNT(*) FROM t WHERE x BETWEEN {a} AND {b}"  # noqa: S608
        for a in range(30)
        for b in range(a, 30)
    ]
    questions = asked(*texts)
    grid = grid_of(questions, (), schema())
    assert grid is not None
    quick = atoms_of(grid, questions, [Slice(n, 1) for n in range(len(texts))])
    few = atoms_of(grid, questions[:150], [Slice(n, 1) for n in range(150)])
    assert quick is not None
    assert few is not None
    assert quick.line
    assert quick.many == 30
    assert (quick.rows.dense()[:150] == few.rows.dense()).all()


def test_what_no_question_is_about_is_in_no_atom() -> None:
    questions = asked(*thresholds(5))
    grid = grid_of(questions, (), schema())
    assert grid is not None
    found = atoms_of(grid, questions, [Slice(n, 1) for n in range(5)])
    assert found is not None
    assert found.many == 5
    assert found.labels.tolist() == [0, 1, 2, 3, 4, -1, -1]


def test_too_many_atoms_are_none() -> None:
    texts = [
        f"SELECT COUNT(*) FROM t WHERE x = {k} AND pay = {j}"  # noqa: S608
        for k in range(40)
        for j in range(50)
    ]
    texts += [f"SELECT COUNT(*) FROM t WHERE y = {k} AND pay < 9" for k in range(-3, 6)]  # noqa: S608
    texts += [f"SELECT COUNT(*) FROM t WHERE y > {k}" for k in range(-3, 6)]  # noqa: S608
    questions = asked(*texts)
    grid = grid_of(questions, (), schema())
    assert grid is not None
    assert atoms_of(grid, questions, [Slice(n, 1) for n in range(len(texts))]) is None


def test_the_outside_is_one_atom_more_if_rows_may_be_there() -> None:
    """Mutants: pieces where no row can be count as the outside; a shared condition does not."""

    def more(*texts: str) -> int:
        questions = asked(*texts)
        grid = grid_of(questions, (), schema())
        assert grid is not None
        found = atoms_of(grid, questions, [Slice(n, q.cells) for n, q in enumerate(questions)])
        assert found is not None
        outside = with_outside(found, grid)
        assert (outside.labels == found.labels).all()
        assert (outside.rows.dense()[:, : found.many] == found.rows.dense()).all()
        assert not outside.rows.dense()[:, found.many :].any()
        return outside.many - found.many

    every = "SELECT COUNT(*) FROM t WHERE x < 3", "SELECT COUNT(*) FROM t WHERE x >= 3"
    assert more(*every) == 0, "x is never missing"
    assert more("SELECT COUNT(*) FROM t WHERE y < 3", "SELECT COUNT(*) FROM t WHERE y >= 3") == 1
    assert more(*thresholds(5)) == 1
    shared = "SELECT BIN(x, {}), COUNT(*) FROM t WHERE c = 'a' GROUP BY 1"
    assert more(shared.format(4), shared.format(8)) == 1


# -- Estimates are read with intervals that hold, means included -----------------------------------

MEANS = [
    "SELECT c, AVG(pay), COUNT(*) FROM t GROUP BY c",
    "SELECT AVG(pay), SUM(pay) FROM t WHERE x < 20",
]


def test_means_are_near_the_truth_and_inside_their_interval() -> None:
    with session() as data:
        answers = data.ask_many(MEANS, epsilon=20, minimise="mean")
    assert isinstance(answers[0].plan.readings[0], EstimatedMean)
    wanted = TABLE.groupby("c")["pay"].mean()
    for row, ends in zip(answers[0].value, answers[0].interval(0.95), strict=True):
        assert row["avg_pay"] == pytest.approx(wanted[row["c"]], abs=2)
        low, high = ends["avg_pay"]
        assert 0 <= low <= row["avg_pay"] <= high <= 50
    assert answers[1].value["sum_pay"] == pytest.approx(TABLE[TABLE.x < 20]["pay"].sum(), abs=60)


def test_nothing_visible_is_the_middle_of_the_range() -> None:
    workload = planned(*MEANS, minimise="mean")
    reading = workload.plans[0].readings[0]
    assert isinstance(reading, EstimatedMean)
    assert reading.value(((-5, -7, 0), (0, 1)), None) == 25
    assert reading.value(((0, 10, 0), (0, 1)), None) == 50


def test_arithmetic_keeps_the_error_of_what_is_linear() -> None:
    with session() as data:
        plain, scaled = data.ask_many(
            ["SELECT COUNT(*) FROM t WHERE x < 9", "SELECT 100 * COUNT(*) - 7 FROM t WHERE x < 9"],
            epsilon=1,
        )
    if not isinstance(plain.plan.readings[0], Estimated):
        pytest.skip("another way was better")
    (one, two) = (a.exact for a in (plain, scaled))
    assert two == 100 * one - 7
    (low, high), (least, most) = plain.interval(0.9), scaled.interval(0.9)
    assert most - least == pytest.approx(100 * (high - low), rel=1e-3)


def test_the_worst_cell_is_what_is_told_before() -> None:
    texts = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 7), COUNT(*) FROM t GROUP BY 1"]
    workload = planned(*texts)
    for plan in workload.plans:
        for reading in plan.readings:
            assert isinstance(reading, Estimated)
            told = reading.before_rows((), None)
            every = [reading._at(cell).variance for cell in range(plan.cells)]
            assert told.variance == pytest.approx(max(every))
            assert reading.term is None
            cell = int(np.argmax(every))
            half = told.half_width(Fraction(19, 20))
            low, high = reading.interval((), Fraction(19, 20), ((0,), (cell, 0)), None)
            assert float(high - low) == pytest.approx(2 * half)


def test_thresholds_are_read_with_narrow_intervals() -> None:
    with session() as data:
        answers = data.ask_many(thresholds(), epsilon=1)
        low, high = answers[12].interval(0.95)
    assert high - low < 30
    assert answers[12].expected_error < 6


CUBE = [
    "SELECT c, BIN(x, 8), COUNT(*), AVG(pay) FROM t GROUP BY c, 2",
    "SELECT c, COUNT(*), AVG(pay) FROM t GROUP BY c",
    "SELECT BIN(x, 8), COUNT(*), AVG(pay) FROM t GROUP BY 1",
]


@pytest.mark.parametrize("texts", [CUBE, thresholds(20), thresholds(2)])
def test_rows_that_are_alike_have_the_same_weights(texts: list[str]) -> None:
    """Mutants: cells of different tables, or ranges of different lengths, are said to be alike."""
    shared = 0
    for way in planned(*texts, minimise="mean").ways:
        for block in way.blocks:
            lengths = np.cumsum(block.strategy.lengths)[:-1]
            for place in range(len(block.rows)):
                first = block.first_like[place]
                shared += first != place
                pairs = (np.split(block.weights(one), lengths) for one in (place, first))
                for own, other in zip(*pairs, strict=True):
                    assert np.allclose(np.sort(np.abs(own)), np.sort(np.abs(other)))
    assert (shared > 0) == (texts is CUBE)


def test_what_shares_a_noise_twice_is_not_taken_for_another_cell() -> None:
    """Two counts of one cell are in the same noise: rows that are alike alone are not together."""
    texts = ["SELECT c, COUNT(*) - 2 * COUNT(y) AS d FROM t GROUP BY c", "SELECT COUNT(y) FROM t"]
    for way in planned(*texts, minimise="mean").ways:
        for block in (block for block in way.blocks if len(way.blocks) == 1):
            spread = 1 / (2 * np.sinh(block.rates / 2) ** 2)
            made, _ = estimated_plans(planned(*texts).alone, way)
            reading = made[0].readings[0]
            for cell in range(3):
                terms = [(reading.found.row(t.component, cell), t.weight) for t in reading.terms]
                weights = sum(float(w * FINE) * block.weights(row) for (_, _, row), w in terms)
                assert reading._at(cell).variance == pytest.approx((weights**2) @ spread)


def test_a_mean_between_two_shares_reaches_as_far_as_its_own_law() -> None:
    """Mutant: the law of the nearest share alone."""
    workload = planned(*CUBE, minimise="mean")
    reading = next(r for plan in workload.plans for r in plan.readings if hasattr(r, "reach"))
    level = Fraction(19, 20)
    for share in (0.0, 0.0039, 0.2, 0.4961, 0.5, 0.73, 0.9999):
        own = reading._law(0, 1 - Fraction(share), -Fraction(share)).half_width(level)
        assert own * 0.999 <= reading.reach(0, share, level) <= own * 1.03
        assert reading.reach(0, share, level) >= own or share * 128 % 1 == 0


# Counts, sums and means are given to blocks, and their variances follow from one side's.

COUNT, SUM, AVG = Aggregate("count"), Aggregate("sum", "pay"), Aggregate("avg", "pay")


def test_what_is_linear() -> None:
    yes = asked("SELECT COUNT(*), SUM(x), AVG(y), COUNT(y) FROM t")
    no = asked("SELECT MEDIAN(x) FROM t", "SELECT COUNT(*), MAX(x) FROM t")
    no += asked("SELECT COUNT(DISTINCT who) FROM t", described=schema(rows_per_unit=2))
    assert all(map(is_linear, yes))
    assert not any(map(is_linear, no))


def test_one_column_without_gaps_counts_its_rows() -> None:
    apart, pair = layouts(dict(enumerate(asked("SELECT COUNT(*), AVG(pay) FROM t"))), schema())
    assert [q.kind for q in apart.needs] == ["rows", "pair"]
    assert [q.kind for q in pair.needs] == ["pair"]
    gaps = list(layouts(dict(enumerate(asked("SELECT COUNT(*), AVG(y) FROM t"))), schema()))
    assert len(gaps) == 1, "rows without a value are in no pair"


@pytest.mark.parametrize("value", [0, 13, 50])
def test_factors_are_those_of_the_pair(value: int) -> None:
    """Var of count and sum from two independent sides of variance 1."""
    _, pair = layouts(
        dict(enumerate(asked("SELECT COUNT(*), SUM(pay), AVG(pay) FROM t"))), schema()
    )
    ((quantity, needs),) = pair.needs.items()
    factors = {need.aggregate: need.factor for need in needs}
    above, below = 50 - value, value
    assert (above + below) / quantity.span == 1
    assert factors[COUNT] == Fraction(2, 50**2)
    assert factors[SUM] == 1
    assert factors[AVG] == Fraction(1, 2)


def test_rows_of_a_slice_have_the_strictest_bar() -> None:
    (question,) = asked("SELECT c, COUNT(*), COUNT(x) FROM t GROUP BY c")
    (layout,) = layouts({0: question}, schema())
    ((quantity, _),) = layout.needs.items()
    bars = {(0, COUNT): 5.0, (0, Aggregate("count", "x")): 3.0}
    assert layout.allowed(quantity, bars).tolist() == [3.0, 3.0, 3.0]
    assert layout.questions(quantity).tolist() == [0, 0, 0]
    assert np.isfinite(layout.allowed(quantity, bars)).all()
