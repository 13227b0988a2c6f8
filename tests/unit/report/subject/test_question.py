from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import tenue as tn
from tenue.report.picture import Dots, Lengths, Rule, Spans, Words
from tenue.report.plot import picture_of, plot

SCHEMA: dict[str, Any] = {
    "table": {"name": "people", "unit": "record", "neighbours": "replace", "rows": 200},
    "columns": {
        "age": {"type": "number", "bounds": [0, 100], "missing": 0},
        "town": {"type": "category", "categories": ["Bern", "Genf", "<b>"]},
    },
    "budget": {"total": 100, "individual": 10},
}
GROUPS = "SELECT town, COUNT(*) AS people, AVG(age) AS mean_age FROM people GROUP BY town"


@pytest.fixture(scope="module")
def data() -> Any:
    rows = {"age": [i % 90 for i in range(200)], "town": ["Bern", "Genf"] * 100}
    return tn.protect(pa.table(rows), schema=SCHEMA, ledger=tn.ledger.Memory())


def marks(picture: Any, kind: type) -> list[Any]:
    return [mark for panel in picture.panels for mark in panel.marks if isinstance(mark, kind)]


def test_groups_have_their_intervals(data: Any) -> None:
    answer = data.ask(GROUPS, epsilon=5)
    picture = picture_of(answer)
    assert [panel.title for panel in picture.panels] == ["people", "mean_age"]
    assert picture.panels[0].y.names == ("Bern", "Genf", "<b>")
    spans = {
        name: (low, high) for mark in marks(picture, Spans)[:1] for name, low, high in mark.spans
    }
    for row, ends in zip(answer.value, answer.interval(0.95), strict=True):
        assert spans[row["town"]] == ends["people"]
    assert "<b>" not in plot(answer).svg()


def test_where_no_interval_can_be_told_none_is_drawn(data: Any) -> None:
    """Selection has an interval in ranks only; individual DP has none of anything."""
    middle = data.ask("SELECT MEDIAN(age) FROM people", epsilon=1)
    own = data.ask("SELECT MAX(age) FROM people", epsilon=1, individual=True)
    for answer in (middle, own):
        picture = picture_of(answer)
        assert not marks(picture, Spans)
        assert marks(picture, Dots)
        assert "no interval can be told" in picture.subtitle


def test_a_plan_shows_every_way_and_the_chosen_one(data: Any) -> None:
    plan = data.explain(
        "SELECT COUNT(*) AS n, SUM(age) AS total FROM people WHERE age > 3", epsilon=1
    )
    picture = picture_of(plan)
    chosen = [mark for mark in marks(picture, Lengths) if mark.tone == "deep"]
    assert len(chosen) == 2
    assert chosen[0].bars[0][0] == plan.chosen.mechanism
    shown = {name for mark in marks(picture, Lengths) for name, _ in mark.bars}
    assert shown == {one.mechanism for one in plan.candidates}


def test_what_is_told_with_the_answer_is_not_drawn_before(data: Any) -> None:
    plan = data.explain("SELECT MEDIAN(age) FROM people", epsilon=1)
    assert any("told with the answer" in mark.text for mark in marks(picture_of(plan), Words))


def test_beliefs_before_and_after(data: Any) -> None:
    sql = "SELECT COUNT(*) FROM people WHERE age > 40"
    belief = tn.prior.Binomial(200, 0.5)
    plan = data.explain(sql, epsilon=0.1, prior=belief)
    assert "the prior alone" in picture_of(plan).panels[0].y.names
    picture = picture_of(data.ask(sql, epsilon=0.1, prior=belief))
    assert [panel.title for panel in picture.panels] == [
        "before: the prior",
        "after: given what was drawn",
    ]


def test_a_refined_answer_shows_the_prior_and_the_sample(data: Any) -> None:
    sql = "SELECT SUM(age) FROM people WHERE age > 40"
    answer = data.ask(sql, epsilon=0.001, prior=tn.prior.Uniform(0, 20_000))
    if answer.noisy is None:
        (rule, *_) = marks(picture_of(answer), Rule)
        assert rule.at == float(answer.sample)
    assert picture_of(answer).panels[0].title == "before: the prior"


def test_grouping_sets_have_all_their_rows_with_intervals(data: Any) -> None:
    """Mutant: totals without a name of their own."""
    answer = data.ask("SELECT town, COUNT(*) AS n FROM people GROUP BY ROLLUP (town)", epsilon=5)
    picture = picture_of(answer)
    (panel,) = picture.panels
    assert panel.y.names == ("Bern", "Genf", "<b>", "(all)")
    (spans,) = [{n: (l, h) for n, l, h in mark.spans} for mark in marks(picture, Spans)]
    for row, ends in zip(answer.value, answer.interval(0.95), strict=True):
        assert spans[row["town"] or "(all)"] == ends["n"]
    assert "<b>" not in plot(answer).svg()
