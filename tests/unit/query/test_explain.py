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
    assert 0 < wide.nano < narrow.nano
    assert plan_for(COUNT, CENSUS, Terms(epsilon="0.25")).nano == 250_000_000


@pytest.mark.parametrize("terms", [Terms(), Terms(epsilon=1, accuracy=("interval", 0.95, 10))])
def test_neither_or_both_is_refused(terms: Terms) -> None:
    with pytest.raises(InvalidArgument, match="accuracy"):
        plan_for(COUNT, CENSUS, terms)
