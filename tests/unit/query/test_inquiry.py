"""What is stored under an identity is read as what was asked, and as nothing else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tenue.query.explain import plan_for
from tenue.query.inquiry import inquire, plan_identity
from tenue.query.plan.plan import Plan
from tenue.query.release import Released
from tenue.query.terms import Terms
from unit.query.asked import CENSUS

COUNT = "SELECT COUNT(*) FROM census WHERE age > 40"


def planned(sql: str = COUNT, **terms: object) -> Plan:
    return plan_for(sql, CENSUS, Terms(**{"epsilon": 1, **terms}))  # type: ignore[arg-type]


def test_one_meaning_has_one_identity_and_other_meanings_have_others() -> None:
    same = plan_identity(planned(), CENSUS)
    assert plan_identity(planned("select count(*) from CENSUS where AGE > 40"), CENSUS) == same
    others = [
        planned("SELECT COUNT(*) FROM census WHERE age > 41"),
        planned(epsilon="0.5"),
        planned(minimise="absolute-error"),
    ]
    found = {plan_identity(plan, CENSUS) for plan in others}
    newer = CENSUS.replace(table={"version": "2"})
    assert len({same, *found, plan_identity(planned(), newer)}) == 5


def test_a_named_mechanism_and_a_bought_interval_are_part_of_it() -> None:
    median = "SELECT MEDIAN(age) FROM census"
    plain, bought = planned(median), planned(median, interval="0.95")
    assert plan_identity(plain, CENSUS) != plan_identity(bought, CENSUS)
    other = replace(plain, chosen=replace(plain.chosen, mechanism="another"))
    assert plan_identity(plain, CENSUS) != plan_identity(other, CENSUS)


def test_what_was_stored_before_costs_nothing() -> None:
    asked = inquire(planned(), CENSUS)
    stored = Released((((7,),),)).to_bytes()
    drawn, replayed = asked.read(stored, False), asked.read(stored, True)
    assert (drawn.price, replayed.price) == (Fraction(1), 0)
    assert drawn.value == replayed.value == 7
    assert (drawn.replayed, replayed.replayed) == (False, True)
