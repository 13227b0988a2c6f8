"""From plans to released numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from oracle_engine import OracleEngine
from tenue import prior
from tenue.ask.belief.answer import BeliefPlan
from tenue.ask.explain import coarser, explain, plan_for
from tenue.ask.grouping_sets import GroupedAnswer
from tenue.ask.paid_request import Terms
from tenue.ask.plan.plan import Plan
from tenue.ask.plan.planner import make_plan
from tenue.ask.release import Released, ReleasedMany, release, release_many, true_numbers
from tenue.ask.session import Session
from tenue.ask.sql.parse import parse
from tenue.ask.sql.write import render
from tenue.ask.workload.plan import plan_workload
from tenue.engine.request import RankRequest, Request
from tenue.errors import InvalidArgument, NotPromised, Refused
from tenue.noise import Seeded
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema
from unit.ask.asked import CENSUS
from unit.ask.small import session

ROWS = [
    {"x": n % 10, "c": "red" if n % 3 else "blue", "g": "ab"[n % 2], "who": f"p{n // 2}"}
    for n in range(60)
]


def schema(**table: Any) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
            "columns": {
                "x": {"type": "number", "bounds": [0, 10], "missing": 0},
                "c": {"type": "category", "categories": ["blue", "red"]},
                "g": {"type": "category", "categories": ["a", "b", "nobody"]},
                "who": {"type": "identifier"},
            },
        }
    )


class Watched:
    """An engine that knows what it was asked."""

    def __init__(self, described: Schema) -> None:
        self.inner = OracleEngine(described, ROWS)
        self.asked: list[Request | RankRequest] = []

    def measure(self, request: Request) -> Any:
        self.asked.append(request)
        return self.inner.measure(request)

    def ranks(self, request: RankRequest) -> Any:
        self.asked.append(request)
        return self.inner.ranks(request)


def drawn(sql: str, epsilon: int, **table: Any) -> tuple[Released, Watched]:
    described = schema(**table)
    engine = Watched(described)
    plan = make_plan(parse(sql, described), described, epsilon * EpsilonDelta(10**9))
    return release(plan, engine, described), engine  # type: ignore[arg-type]


def test_parts_have_a_tuple_each_and_selections_share_the_last() -> None:
    sql = "SELECT g, COUNT(*), MAX(x), MODE(c) FROM t GROUP BY g"
    found, engine = drawn(sql, 1000)
    assert found.cells == (((30,), (8, 1)), ((30,), (9, 1)), ((0,), found.cells[2][1]))
    assert len(engine.asked) == 3, "counts, ranks and votes are each read once"
    assert found.rows is None


def test_a_column_is_read_once_whatever_is_chosen_from_it() -> None:
    found, engine = drawn("SELECT MIN(x), MEDIAN(x), MAX(x) FROM t", 3000)
    ((chosen,),) = found.cells
    assert chosen[0] == 0
    assert chosen[2] == 9
    (request,) = engine.asked
    assert isinstance(request, RankRequest)
    assert len(request.windows) == 3


def test_the_public_number_of_rows_leaves_only_where_a_mean_needs_it() -> None:
    assert drawn("SELECT AVG(x) FROM t", 1)[0].rows == 60
    assert drawn("SELECT AVG(x) FROM t WHERE c = 'red'", 1)[0].rows is None
    assert drawn("SELECT AVG(x) FROM t", 1, neighbours="add-or-remove")[0].rows is None


def test_people_are_limited_in_every_request() -> None:
    sql = "SELECT COUNT(*), MODE(c), MAX(x) FROM t"
    _, engine = drawn(sql, 5, unit="who", rows_per_unit=1, groups_per_unit=1)
    assert {r.people.rows for r in engine.asked if r.people is not None} == {1}
    assert all(r.people is not None for r in engine.asked)


def test_what_left_is_stored_as_0_1_0_stored_it() -> None:
    found = Released((((1, -2), (3,)),), 7)
    stored = b'{"released": 1, "cells": [[[1, -2], [3]]], "rows": 7}'
    assert found.to_bytes() == stored
    assert Released.from_bytes(stored) == found
    many = ReleasedMany(((((1, 2), (3,)),),), (None, found))
    assert ReleasedMany.from_bytes(many.to_bytes()) == many
    earlier = b"[" + stored + b", " + stored + b"]"
    assert ReleasedMany.from_bytes(earlier) == ReleasedMany((), (found, found))


def test_one_noise_of_a_batch_is_handed_to_its_questions() -> None:
    described = schema(neighbours="add-or-remove")
    conditions = ["x > 4", "c = 'red'", "g = 'a'", "x > 2 OR g = 'b'"]
    counts = [f"SELECT COUNT(*) FROM t WHERE {c}" for c in conditions]  # noqa: S608
    texts = [*counts, "SELECT MAX(x) FROM t"]
    parsed = [parse(t, described) for t in texts]
    workload = plan_workload(parsed, texts, described, EpsilonDelta(10**11), "variance")
    box = next(way for way in workload.ways if way.boxed is not None)
    assert box.boxed is not None
    plans = tuple(box.boxed.plans.get(n) or plan for n, plan in enumerate(workload.plans))
    workload = replace(workload, chosen=box, plans=plans, components={})
    *shared, alone = release_many(workload, OracleEngine(described, ROWS), described).apart
    assert alone is not None
    assert shared[0] is not None
    ((numbers,),) = shared[0].cells
    assert set(shared) == {shared[0]}, "each holds all numbers of the shared noise"
    assert numbers == pytest.approx((30, 40, 30, 48), abs=2)
    assert alone.cells == (((9,),),)


def test_true_numbers_are_exact() -> None:
    described = schema()
    question = parse("SELECT SUM(x), COUNT(*), AVG(x) FROM t WHERE c = 'red'", described)
    numbers = true_numbers(question, OracleEngine(described, ROWS), described)
    assert (numbers.rows, numbers.present["x"]) == (40, 40)
    assert Fraction(numbers.total["x"]) == sum(r["x"] for r in ROWS if r["c"] == "red")  # type: ignore[misc]


def test_nothing_leaves_with_noise_that_can_be_repeated() -> None:
    described = schema()
    plan = make_plan(parse("SELECT COUNT(*) FROM t", described), described, EpsilonDelta(10**9))
    with pytest.raises(Refused, match="Seeded"):
        release(plan, OracleEngine(described, ROWS), described, Seeded(1))


# -- Correlations of fine columns: rounded as far as needed, and said ------------------------------

FINE = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 1_000_000], "grid": 0.01},
            "y": {"type": "number", "bounds": [-1_000_000, 1_000_000], "grid": 0.01},
            "z": {"type": "number", "bounds": [0, 9]},
        },
        "budget": {"total": 100_000},
    }
)


def test_what_fits_is_left_alone() -> None:
    sql = "SELECT CORR(z, z + 1) AS r FROM t"
    assert plan_for(sql, FINE, Terms(epsilon=1)).question == parse(sql, FINE)


def test_fine_grids_become_coarser_and_the_text_says_so() -> None:
    plan = plan_for("SELECT CORR(x, y) AS r FROM t", FINE, Terms(epsilon=1))
    assert "FLOOR(" in plan.sql
    assert parse(plan.sql, FINE) == plan.question
    for computed in plan.question.computed:
        assert computed.grid > 1
    half = coarser(parse("SELECT CORR(x, y) AS r FROM t", FINE), FINE, 2)
    assert parse(render(half, FINE), FINE) == half


def test_others_are_still_refused() -> None:
    with pytest.raises(NotPromised):
        plan_for("SELECT COVAR_POP(x, y) FROM t", FINE, Terms(epsilon=1))


def test_the_correlation_hardly_changes() -> None:
    source = np.random.default_rng(2)
    x = source.uniform(0, 1_000_000, 5000).round(2)
    y = (x - 500_000 + source.normal(0, 200_000, 5000)).round(2)
    rows = pd.DataFrame({"x": x, "y": y, "z": 1})
    with tn.protect(rows, schema=FINE, ledger=tn.ledger.Memory()) as data:
        found = data.ask("SELECT CORR(x, y) FROM t", epsilon=500).value
    assert found == pytest.approx(np.corrcoef(x, y)[0, 1], abs=0.02)


# -- A plan follows from text, terms and schema alone ----------------------------------------------

COUNT = "SELECT COUNT(*) FROM census WHERE age > 40"


def test_the_terms_decide_what_is_planned() -> None:
    assert type(explain(COUNT, CENSUS, Terms(epsilon=1))) is Plan
    belief = prior.Binomial(100, "0.3")
    assert type(explain(COUNT, CENSUS, Terms(epsilon=1, prior=belief))) is BeliefPlan


def test_a_price_is_stated_or_follows_from_the_accuracy() -> None:
    wide = plan_for(COUNT, CENSUS, Terms(accuracy=("interval", 0.95, 100)))
    narrow = plan_for(COUNT, CENSUS, Terms(accuracy=("interval", 0.95, 10)))
    assert 0 < wide.epsilon < narrow.epsilon
    assert plan_for(COUNT, CENSUS, Terms(epsilon="0.25")).price.units == 250_000_000


@pytest.mark.parametrize("terms", [Terms(), Terms(epsilon=1, accuracy=("interval", 0.95, 10))])
def test_neither_or_both_is_refused(terms: Terms) -> None:
    with pytest.raises(InvalidArgument, match="accuracy"):
        plan_for(COUNT, CENSUS, terms)


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(income) FROM census", "SELECT AVG(income) FROM census"]
)
def test_a_chosen_cut_is_named_and_never_taken_unasked(sql: str) -> None:
    plain = plan_for(sql, CENSUS, Terms(epsilon=1))
    shown = explain(sql, CENSUS, Terms(epsilon=1))
    assert isinstance(shown, Plan)
    assert shown.chosen == plain.chosen
    assert shown.candidates[:-1] == plain.candidates
    assert "may be too small" in shown.candidates[-1].only_if_asked
    assert "may be too small" in " ".join(str(shown).split())
    with pytest.raises(InvalidArgument, match="clip"):
        plan_for(sql, CENSUS, Terms(epsilon=1, mechanism=shown.candidates[-1].mechanism))
    asked = explain(sql, CENSUS, Terms(epsilon=1, clip="auto"))
    assert isinstance(asked, Plan)
    assert [one.only_if_asked for one in asked.candidates] == [""]


def test_no_cut_is_named_where_none_can_be_asked_for() -> None:
    for sql in (COUNT, "SELECT MEDIAN(income) FROM census"):
        shown = explain(sql, CENSUS, Terms(epsilon=1))
        assert isinstance(shown, Plan)
        assert not any(one.only_if_asked for one in shown.candidates)


# -- The tables of grouping sets, merged into one answer -------------------------------------------

CUBE = "SELECT c, BIN(x, 20) AS x, GROUPING(c, BIN(x, 20)) AS g, COUNT(*) AS n, SUM(pay) AS s "
CUBE += "FROM t GROUP BY CUBE (c, BIN(x, 20))"


def asked(sql: str, data: Session | None = None, **terms: Any) -> GroupedAnswer:
    found = (data or session()).ask(sql, **{"epsilon": 1, **terms})
    assert isinstance(found, GroupedAnswer)
    return found


def test_every_set_has_its_rows_and_totals_have_no_key() -> None:
    answer = asked(CUBE)
    rows = answer.value
    assert answer.columns == ("c", "x", "g", "n", "s")
    assert [row["g"] for row in rows] == [0] * 6 + [1] * 3 + [2] * 2 + [3]
    for row in rows:
        assert row["g"] == 2 * (row["c"] is None) + (row["x"] is None)
    assert answer.to_arrow().num_rows == len(answer.to_pandas()) == len(answer.to_polars()) == 12


def test_having_order_and_limit_are_about_all_rows() -> None:
    rows = asked(CUBE + " HAVING g <> 3 ORDER BY n DESC LIMIT 3", epsilon=100).value
    assert [row["g"] for row in rows] == [2, 2, 1]
    assert sorted((row["n"] for row in rows), reverse=True) == [row["n"] for row in rows]


def test_a_condition_on_a_key_leaves_its_totals_out() -> None:
    """As in SQL, where NULL satisfies no comparison."""
    rows = asked(CUBE + " HAVING c <> 'a'").value
    assert {row["c"] for row in rows} == {"b", "d"}


def test_intervals_and_errors_have_the_shape_of_values() -> None:
    answer = asked(CUBE)
    for row, ends, error in zip(
        answer.value, answer.interval(0.95), answer.expected_error, strict=True
    ):
        assert list(row) == list(ends) == list(error)
        assert ends["n"][0] < row["n"] < ends["n"][1]
        assert error["n"] > 0
        assert (ends["c"], ends["g"]) == (row["c"], row["g"])


def test_the_same_question_is_answered_from_the_ledger() -> None:
    data = session()
    first = asked(CUBE, data)
    again = asked(CUBE.replace("CUBE (", "cube ("), data)
    assert (first.price, again.price, again.replayed) == (1, 0, True)
    assert again.value == first.value
    assert asked(CUBE + " LIMIT 2", data).price == 1, "another question"


def test_people_and_programs_see_the_same() -> None:
    answer = asked("SELECT c, COUNT(*) AS n FROM t GROUP BY ROLLUP (c)")
    lines = str(answer).splitlines()
    assert lines[0].split() == ["c", "n", "±"]
    assert lines[4].split()[0] == "(all)"
    assert "epsilon 1 for 2 answers together" in str(answer)
    assert "(all)" in answer._repr_html_()
    told = json.loads(answer.to_json())
    assert told["value"] == answer.value
    assert told["certificate"]["parameters"]["question"] == answer.sql
    assert told["certificate"]["promise"]["epsilon"] in ("1", 1)


def test_one_certificate_lists_a_shared_draw_once() -> None:
    parameters = asked("SELECT c, COUNT(*) FROM t GROUP BY ROLLUP (c)").certificate.parameters
    assert "part 1" in parameters
    assert "part 2" not in parameters


def test_what_is_not_linear_is_answered_too() -> None:
    rows = asked("SELECT c, MEDIAN(x) AS m FROM t GROUP BY ROLLUP (c)", epsilon=400).value
    assert [row["c"] for row in rows] == ["a", "b", "d", None]
    assert all(17 <= row["m"] <= 22 for row in rows)


@pytest.mark.parametrize(
    "terms", [{"interval": 0.9}, {"mechanism": "x"}, {"measure_cut": 0.1}, {"clip": "auto"}]
)
def test_options_of_one_table_are_refused_by_name(terms: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=next(iter(terms))):
        asked(CUBE, **terms)


def test_accuracy_holds_for_the_widest_total() -> None:
    text = "SELECT c, COUNT(*) AS n FROM t GROUP BY ROLLUP (c)"
    answer = asked(text, epsilon=None, accuracy=("interval", 0.95, 10))
    widths = [high - low for low, high in (row["n"] for row in answer.interval(0.95))]
    assert 18 < max(widths) <= 20.001


def test_explain_says_what_each_set_would_cost_alone() -> None:
    plan = session().explain(CUBE, epsilon=1)
    assert str(plan).startswith("SELECT c, BIN(x, 20) AS x, GROUPING(")
    assert "4 grouping sets, epsilon 1" in str(plan)


def test_many_questions_have_no_sets_among_them() -> None:
    with pytest.raises(Refused, match="one question for each set"):
        session().ask_many([CUBE], epsilon=1)
