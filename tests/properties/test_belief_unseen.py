"""Whether a prior is accepted, and everything but the answer, is the same for every truth."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from small_tables import TABLES, session, unsealed
from tenue import prior
from tenue.errors import Refused

QUESTIONS = [
    "SELECT COUNT(*) FROM t WHERE g = 'a'",
    "SELECT SUM(x) FROM t",
    "SELECT AVG(x) FROM t WHERE g = 'a'",
    "SELECT COUNT(*), SUM(x) FROM t",
    "SELECT MEDIAN(x) FROM t",
    "SELECT g, COUNT(*) FROM t GROUP BY g",
    "SELECT g FROM t WHERE id = 1",
    "SELECT x FROM t WHERE id = 1",
    "SELECT g, x FROM t WHERE id = 2",
]
numbers = st.sampled_from([-1, 0, 1, 2, 3, 6, 10, "0.5"])
labels = st.sampled_from(["a", "b", "c", "z", True])


def spread(values: Any) -> Any:
    """Masses that add up to 1 for a few values."""
    return st.lists(st.tuples(values, st.integers(0, 5)), min_size=1, max_size=4).map(_masses)


def _masses(pairs: list[tuple[Any, int]]) -> Any:
    weights = dict(pairs)
    return prior.normalised(weights) if sum(weights.values()) else weights


def made(make: Any, *given: Any) -> Any:
    """A prior, or what is none."""
    try:
        return make(*given)
    except Refused:
        return None


priors = st.one_of(
    st.builds(lambda masses: made(prior.Points, masses), spread(numbers)),
    st.builds(lambda masses: made(prior.Categorical, masses), spread(labels)),
    st.builds(lambda masses: made(prior.Table, masses), spread(st.tuples(labels, numbers))),
    st.builds(lambda masses: made(prior.Table, masses), spread(st.tuples(numbers, numbers))),
    st.builds(lambda low, width: prior.Uniform(low, low + width), st.integers(0, 3), st.just(3)),
    st.sampled_from([prior.Binomial(2, 0.5), prior.Binomial(5000, 0.5), 7, "prior"]),
).filter(lambda p: p is not None)


def told(rows: Any, sql: str, belief: Any, delta: Any, policy: dict[str, Any]) -> Any:
    """Everything an analyst sees but the values themselves."""
    with session(rows, "replace", **policy) as data:
        try:
            explained = data.explain(sql, epsilon=1, prior=belief, delta=delta).to_json()
            answer = data.ask(sql, epsilon=1, prior=belief, delta=delta)
        except Refused as refusal:
            return refusal.to_dict(), str(data.budget)
        return (
            explained,
            type(answer.posterior).__name__,
            answer.mechanism,
            answer.expected_error,
            unsealed(answer, data),
            answer.price,
            answer.delta,
            str(data.budget),
        )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(QUESTIONS),
    priors,
    st.sampled_from([None, "0.01"]),
    st.sampled_from([{}, {"protocol": {"kind": "refinement"}}]),
    st.lists(st.sampled_from(TABLES), min_size=5, max_size=5, unique=True),
)
def test_acceptance_does_not_depend_on_rows(
    sql: str, belief: Any, delta: Any, policy: dict[str, Any], tables: list[Any]
) -> None:
    first, *others = [told(rows, sql, belief, delta, policy) for rows in [(), *tables]]
    assert all(other == first for other in others)


@pytest.mark.parametrize("sql", QUESTIONS)
def test_every_truth_of_the_domain_is_answered_alike(sql: str) -> None:
    beliefs = [
        prior.Points({0: 0.5, 3: 0.5}),
        prior.Categorical({"b": 1}),
        prior.Table({("a", 0): 0.5, ("c", 3): 0.5}),
        prior.Table({(0, 0): 0.5, (9, 9): 0.5}),
    ]
    for belief in beliefs:
        seen = [told(rows, sql, belief, None, {}) for rows in TABLES[::3]]
        assert all(one == seen[0] for one in seen)


def test_a_check_that_looks_at_the_truth_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: a truth that the prior holds impossible is refused, which tells the truth."""
    from tenue.errors import InvalidPrior
    from tenue.mechanism import refine

    def mutant(belief: Any, truth: Any, *given: Any, **more: Any) -> Any:
        if truth is not None and belief.mass(truth) == 0:
            raise InvalidPrior("The truth has no mass", "It must", "Guess better")
        return refine(belief, truth, *given, **more)

    monkeypatch.setattr("tenue.ask.belief.refine.refine", mutant)
    belief = prior.Categorical({"b": 1})
    seen = {str(told(rows, QUESTIONS[6], belief, None, {})) for rows in TABLES[:8]}
    assert len(seen) == 2
