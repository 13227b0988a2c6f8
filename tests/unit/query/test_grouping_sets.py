"""The tables of grouping sets, merged into one answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenue.errors import Refused
from tenue.query.grouping_sets import GroupedAnswer
from tenue.query.session import Session
from unit.query.workload.small import session

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
