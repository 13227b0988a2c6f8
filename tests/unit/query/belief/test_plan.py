"""From text and prior to a plan: the text decides the kind, and what identifies an answer."""

from __future__ import annotations

from typing import Any

import pytest

from tenue import prior
from tenue.errors import InvalidArgument, Refused
from tenue.promise.loss import EpsilonDelta
from tenue.query.belief.plan import belief_identity, believe_for, person_of, plan_belief
from tenue.query.terms import Terms
from tenue.schema import Schema

STATED: dict[str, Any] = {
    "table": {"name": "t", "unit": "id", "neighbours": "replace", "rows_per_unit": 2},
    "columns": {
        "id": {"type": "identifier"},
        "x": {"type": "number", "bounds": [0, 10]},
        "y": {"type": "number", "bounds": [0, 10]},
    },
}
SCHEMA = Schema.from_dict(STATED)
EVEN = prior.Points({0: "0.5", 5: "0.5"})


def plan(sql: str, belief: Any = EVEN, **more: Any) -> Any:
    return plan_belief(sql, SCHEMA, belief, more.pop("price", EpsilonDelta.of(1)), **more)


def test_the_text_decides_the_kind() -> None:
    assert plan("SELECT x FROM t WHERE id = 1").kind == "individual"
    assert plan("SELECT SUM(x) FROM t").kind == "statistical"
    assert plan("SELECT COUNT(DISTINCT id) FROM t").kind == "statistical"


def test_a_person_has_one_name() -> None:
    one, two = plan("SELECT x FROM t WHERE id = 1"), plan("SELECT y FROM t WHERE id = '1'")
    assert person_of(one, SCHEMA) == person_of(two, SCHEMA) is not None
    assert person_of(plan("SELECT x FROM t WHERE id = 2"), SCHEMA) != person_of(one, SCHEMA)
    assert person_of(plan("SELECT SUM(x) FROM t"), SCHEMA) is None


def test_everything_that_changes_the_law_changes_the_identity() -> None:
    sql = "SELECT SUM(x) FROM t"
    same = belief_identity(plan(sql), SCHEMA)
    assert belief_identity(plan("select sum(X) from T"), SCHEMA) == same
    others = [
        belief_identity(plan("SELECT SUM(y) FROM t"), SCHEMA),
        belief_identity(plan(sql, price=EpsilonDelta.of("0.1")), SCHEMA),
        belief_identity(plan(sql, price=EpsilonDelta(10**9, 1)), SCHEMA),
        belief_identity(plan(sql, prior.Points({0: "0.4", 5: "0.6"})), SCHEMA),
        belief_identity(plan(sql), SCHEMA.replace(table={"version": "2"})),
        belief_identity(plan(sql), SCHEMA.replace(table={"rows_per_unit": 3})),
    ]
    assert len({same, *others}) == 7


def test_what_does_not_go_together_is_refused() -> None:
    sql = "SELECT SUM(x) FROM t"
    for given in (
        {"prior": None, "epsilon": 1, "delta": "1e-6"},
        {"prior": EVEN},
        {"prior": EVEN, "epsilon": 1, "individual": True},
        {"prior": EVEN, "epsilon": 1, "accuracy": ("interval", 0.9, 3)},
        {"prior": EVEN, "epsilon": 0},
        {"prior": EVEN, "epsilon": 1, "delta": 1},
        {"prior": EVEN, "epsilon": 1, "delta": -1},
    ):
        with pytest.raises(InvalidArgument):
            believe_for(sql, SCHEMA, Terms(**given))  # type: ignore[arg-type]
    with pytest.raises(Refused):
        believe_for("SELECT x FROM t", SCHEMA, Terms(prior=EVEN, epsilon=1))


def test_delta_is_a_whole_number_of_coins_and_drives_the_law() -> None:
    found = believe_for("SELECT SUM(x) FROM t", SCHEMA, Terms(prior=EVEN, epsilon=1, delta="1e-30"))
    assert found.delta * 10**18 == 1
