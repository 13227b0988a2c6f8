"""Answers are kept within what is possible, and what says nothing is marked as too noisy."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.answer import Answer
from tenue.ask.certify import certify
from tenue.ask.explain import plan_for
from tenue.ask.paid_request import Terms
from tenue.ask.possible import BELOW_ZERO, TOO_NOISY, Domain, domain_of
from tenue.ask.question import Output
from tenue.ask.release import Released
from tenue.ask.sql.parse import parse
from tenue.schema import Schema

GROUPS = [f"d{n}" for n in range(105)]
STATED: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "dest": {"type": "category", "categories": GROUPS},
        "x": {"type": "number", "bounds": [0, 1000]},
        "y": {"type": "number", "bounds": [-5, 5]},
        "born": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]},
    },
    "budget": {"total": 1_000_000},
}
SCHEMA = Schema.from_dict(STATED)
TABLE = pd.DataFrame({"dest": ["d0"] * 900, "x": [40] * 900, "y": [0] * 900})
TABLE["born"] = pd.Timestamp("2020-06-01")


def released(sql: str, *cells: Any, epsilon: str = "1") -> Answer:
    """The answer of which these numbers were drawn."""
    plan = plan_for(sql, SCHEMA, Terms(epsilon=epsilon))
    return Answer(plan, SCHEMA, Released(cells), certify(plan, SCHEMA), plan.epsilon)


def asked(sql: str, epsilon: float, **terms: Any) -> Any:
    with tn.protect(TABLE, schema=SCHEMA, ledger=tn.ledger.Memory()) as data:
        return data.ask(sql, epsilon=epsilon, **terms)


def of_text(expression: str) -> Domain:
    (output,) = parse(f"SELECT {expression} FROM t", SCHEMA).outputs  # noqa: S608
    assert isinstance(output, Output)
    return domain_of(output.expression, SCHEMA)


@pytest.mark.parametrize(
    ("expression", "ends"),
    [
        ("COUNT(*)", (0, None)),
        ("SUM(x)", (0, None)),
        ("SUM(y)", (None, None)),
        ("COUNT(DISTINCT dest)", (0, 105)),
        ("COUNT(DISTINCT x)", (0, 1001)),
        ("AVG(y)", (-5, 5)),
        ("MEDIAN(x)", (0, 1000)),
        ("MAX(born)", (0, 365)),
        ("VARIANCE(y)", (0, 50)),
        ("VAR_POP(y)", (0, 25)),
        ("STDDEV_POP(y)", (0, 5)),
        ("COVAR_POP(x, y)", (-2500, 2500)),
        ("CORR(x, y)", (-1, 1)),
        ("AVG(y) + COUNT(DISTINCT dest)", (-5, 110)),
        ("1 - AVG(y)", (-4, 6)),
        ("-2 * AVG(y)", (-10, 10)),
        ("AVG(x) / 4", (0, 250)),
        ("AVG(x) / AVG(y)", (None, None)),
        ("ROUND(AVG(y) / 4, 0)", (-1, 1)),
        ("COALESCE(AVG(x), -7)", (-7, 1000)),
    ],
)
def test_the_ends_of_an_output_follow_from_the_schema(expression: str, ends: Any) -> None:
    found = of_text(expression)
    assert (found.low, found.high) == ends


@pytest.mark.parametrize("expression", ["VARIANCE(y)", "STDDEV(y)", "COVAR_SAMP(x, y)"])
def test_no_table_leaves_the_ends(expression: str) -> None:
    """Two rows at opposite corners have the largest values of all."""
    corners = pd.DataFrame({"dest": ["d0", "d1"], "x": [0, 1000], "y": [-5, 5], "born": None})
    frame = {"VARIANCE(y)": corners["y"].var(), "STDDEV(y)": corners["y"].std()}
    truth = frame.get(expression, corners["x"].cov(corners["y"]))
    domain = of_text(expression)
    assert domain.high is not None
    assert truth <= float(domain.high) <= truth * 1.0001


def test_a_count_of_different_values_stays_in_its_domain() -> None:
    """The case of the issue: −835 in a domain of 105."""
    found = released("SELECT COUNT(DISTINCT dest) AS n FROM t", ((-835,),), epsilon="0.005")
    assert found.value == 0
    assert found.raw == Fraction(-835), "as it was drawn"
    assert found.interval(0.95) == (0, 105), "wider than all that is possible: all of it"
    assert found.too_noisy is True
    assert TOO_NOISY in str(found)
    told = json.loads(found.to_json())
    assert (told["value"], told["raw"], told["too_noisy"]) == (0, -835, True)
    assert told["interval_95"] == [0, 105]
    assert "too noisy" in found._repr_html_()


def test_an_interval_beyond_the_ends_moves_with_its_value() -> None:
    """Not a point: a value that was drawn far out does not make the truth certain."""
    found = released("SELECT COUNT(DISTINCT dest) AS n FROM t", ((-30,),))
    assert found.too_noisy is False
    low, high = found.interval(0.95)
    assert (found.value, low) == (0, 0)
    assert 0 < high < 30
    inside = released("SELECT COUNT(DISTINCT dest) AS n FROM t", ((104,),))
    assert inside.interval(0.95)[1] == 105
    assert inside.raw == inside.exact
    assert "raw" not in json.loads(inside.to_json())


@pytest.mark.parametrize("value", [-200, -3, 0, 50, 104, 105, 107, 400])
@pytest.mark.parametrize("half", [0, 2, 20, 100, 300])
def test_no_interval_that_covers_the_truth_loses_it(value: int, half: int) -> None:
    domain = Domain(Fraction(0), Fraction(105), adds_up=False)
    drawn = Fraction(value - half), Fraction(value + half)
    low, high = domain.kept_interval(drawn, Fraction(value))
    assert 0 <= low <= domain.kept(Fraction(value)) <= high <= 105
    for truth in range(106):
        assert not drawn[0] <= truth <= drawn[1] or low <= truth <= high


def test_counts_and_sums_stay_as_they_were_drawn() -> None:
    """Moved up to 0, a hundred empty groups would add up to far too much."""
    cells = (((-9,),),) * 52 + (((9,),),) * 53
    found = released("SELECT dest, COUNT(*) AS n FROM t GROUP BY dest", *cells)
    assert sum(row["n"] for row in found.value) == 9
    assert found.raw == found.exact
    assert BELOW_ZERO[:20] in " ".join(str(found).split())
    assert BELOW_ZERO in found._repr_html_()
    clean = released("SELECT COUNT(*) AS n FROM t", ((3,),))
    assert BELOW_ZERO[:20] not in " ".join(str(clean).split())
    assert min(row["n"] for row in found.consistent().value) == 0


def test_what_is_possible_is_no_part_of_covariance_and_combinations() -> None:
    texts = ["SELECT dest, COUNT(*) AS n FROM t GROUP BY dest", "SELECT COUNT(*) AS n FROM t"]
    with tn.protect(TABLE, schema=SCHEMA, ledger=tn.ledger.Memory()) as data:
        found = data.ask_many(texts, epsilon=0.01)
    total = found.combine({(0, group): 1 for group in GROUPS})
    assert total.exact == sum((row["n"] for row in found[0].exact), start=Fraction(0))
    assert min(row["n"] for row in found[0].exact) < 0, "of 104 empty groups, some are below 0"
    assert found.covariance.shape == (106, 106)


# -- Groups that are smaller than the error of a rank ----------------------------------------------

BY_GROUP = "SELECT dest, COUNT(*) AS n, QUANTILE(x, 0.95) AS q FROM t GROUP BY dest"


def test_a_quantile_of_too_few_rows_is_marked_and_sorted_last() -> None:
    found = asked(f"{BY_GROUP} ORDER BY q DESC LIMIT 3", epsilon=60)
    assert found.value[0]["dest"] == "d0", "the only group that has rows"
    assert [row["q"] for row in found.too_noisy] == [False, True, True]
    assert [row["n"] for row in found.too_noisy] == [False] * 3
    assert [TOO_NOISY in line for line in str(found).splitlines()[1:4]] == [False, True, True]
    frame = found.to_pandas(interval=0.95)
    assert frame["q_too_noisy"].tolist() == [False, True, True]
    assert "n_too_noisy" not in frame


def test_so_is_a_mode_and_several_grouping_sets() -> None:
    sql = "SELECT dest, COUNT(*) AS n, MEDIAN(x) AS q, MODE(dest) AS m FROM t GROUP BY ROLLUP(dest)"
    found = asked(f"{sql} ORDER BY q LIMIT 4", epsilon=300)
    assert {row["dest"] for row in found.value[:2]} == {"d0", None}
    assert [row["q"] for row in found.too_noisy] == [False, False, True, True]
    assert [row["m"] for row in found.too_noisy] == [False, False, True, True]
    told = json.loads(found.to_json())["too_noisy"]
    assert told == found.too_noisy
    assert str(found).count(TOO_NOISY) == 5, "four cells and the legend"


def test_the_order_without_noise_is_that_of_the_values() -> None:
    """The mutant: what is too noisy is sorted with the rest."""
    found = asked(f"{BY_GROUP} ORDER BY q", epsilon=60)
    marks = [row["q"] for row in found.too_noisy]
    assert marks == sorted(marks)
    values = [row["q"] for row in found.value]
    assert values[1:] == sorted(values[1:])


def test_a_paid_interval_that_excludes_nothing_is_marked() -> None:
    sql = "SELECT MEDIAN(x) AS q FROM t WHERE dest = 'd9'"
    found = asked(sql, epsilon=0.01, interval=0.95)
    low, high = found.interval(0.95)
    assert found.too_noisy is ((low, high) == (0, 1000))


def test_a_mean_of_which_nothing_is_known_is_marked() -> None:
    found = released("SELECT AVG(x) AS m FROM t", ((1, 1),), epsilon="0.01")
    assert found.interval(0.95) == (0, 1000)
    assert found.too_noisy is True


def test_without_a_count_the_answer_says_from_how_many_rows_on_it_means_something() -> None:
    sql = "SELECT dest, MEDIAN(x) AS q FROM t GROUP BY dest"
    found = asked(sql, epsilon=5)
    text = " ".join(str(found).split())
    rows = found.rank_error(0.95)[0]["q"]
    assert "`q` may be any value where there are at most" in text
    assert f"{rows:.3g}" in text
    assert "may be any value" not in str(asked(BY_GROUP, epsilon=5))
    assert "may be any value" not in str(asked("SELECT MEDIAN(x) AS q FROM t", epsilon=5))


# -- A plan warns before anything is paid ----------------------------------------------------------


def explained(sql: str, epsilon: float, **table: Any) -> Any:
    stated = {**STATED, "table": {**STATED["table"], **table}}
    with tn.protect(TABLE, schema=stated, ledger=tn.ledger.Memory()) as data:
        return data.explain(sql, epsilon=epsilon)


def test_a_plan_warns_of_a_margin_as_wide_as_the_domain() -> None:
    plan = explained("SELECT COUNT(DISTINCT dest) AS n FROM t", 0.01)
    (warning,) = plan.warnings
    assert warning.startswith("Too noisy: `n` lies between 0 and 105")
    assert "about epsilon 0.28" in warning
    assert warning[:40] in " ".join(str(plan).split())
    assert plan.to_dict()["warnings"] == [warning]
    enough = explained("SELECT COUNT(DISTINCT dest) AS n FROM t", 0.29)
    assert enough.warnings == ()
    assert "warnings" not in enough.to_dict()
    assert enough.chosen.expectations[0].half_width <= 10.5


def test_a_plan_warns_of_ranks_that_no_table_has() -> None:
    plan = explained("SELECT MEDIAN(x) AS q FROM t", 0.001, neighbours="replace", rows=900)
    assert "the whole table has 900" in plan.warnings[0]
    assert (
        explained("SELECT MEDIAN(x) AS q FROM t", 1, neighbours="replace", rows=900).warnings == ()
    )
    (warning,) = explained("SELECT dest, MODE(dest) AS m FROM t GROUP BY dest", 1).warnings
    assert "`m` may be any value" in warning


def test_plans_of_several_questions_warn_too() -> None:
    texts = ["SELECT COUNT(DISTINCT dest) AS n FROM t", "SELECT COUNT(*) FROM t"]
    with tn.protect(TABLE, schema=STATED, ledger=tn.ledger.Memory()) as data:
        text = " ".join(str(data.explain_many(texts, epsilon=0.01)).split())
    assert "Too noisy: `n` lies between 0 and 105" in text


# -- Limits and marks are part of CSV and data frames ----------------------------------------------


def test_csv_begins_with_question_price_and_caveats() -> None:
    stated = {
        **STATED,
        "table": {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 2},
        "columns": {**STATED["columns"], "who": {"type": "identifier"}},
    }
    table = TABLE.assign(who=[f"p{n % 90}" for n in range(900)])
    with tn.protect(table, schema=stated, ledger=tn.ledger.Memory()) as data:
        one = data.ask(BY_GROUP, epsilon=50)
        sets = data.ask("SELECT dest, AVG(x) AS m FROM t GROUP BY ROLLUP(dest)", epsilon=50)
    for found, width in ((one, 8), (sets, 5)):
        lines = found.to_csv().splitlines()
        head = [line for line in lines if line.startswith("#")]
        assert head[0].startswith("# SELECT dest")
        assert "epsilon 50" in head[0]
        assert "at most 2 rows of each who count" in head[1].lower()
        rows = list(csv.reader(lines[len(head) :]))
        assert len(rows) == 1 + len(found.value)
        assert {len(row) for row in rows} == {width}
        assert found.to_pandas().attrs["caveats"] == found.caveats
        assert b"at most 2 rows" in found.to_arrow().schema.metadata[b"caveats"].lower()
    assert one.to_arrow().column("n").to_pylist() == [row["n"] for row in one.value]


def test_without_caveats_a_frame_has_no_attributes() -> None:
    found = asked("SELECT COUNT(*) AS n FROM t", epsilon=5)
    assert found.to_pandas().attrs == {}
    assert found.to_arrow().schema.metadata is None
    assert found.to_csv().count("#") == 1
