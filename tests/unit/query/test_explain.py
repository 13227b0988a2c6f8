"""A plan follows from text, terms and schema alone."""

from __future__ import annotations

import pytest

from tenue import prior
from tenue.errors import InvalidArgument
from tenue.query.belief.answer import BeliefPlan
from tenue.query.explain import explain, plan_for
from tenue.query.plan.plan import Plan
from tenue.query.terms import Terms
from unit.query.asked import CENSUS

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
