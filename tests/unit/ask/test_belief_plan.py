"""Questions asked with a prior: read, checked and planned."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue import prior
from tenue.ask.belief.check_prior import Personal, fit_columns, fit_statistics, read_personal
from tenue.ask.belief.plan import belief_identity, believe_for, person_of, plan_belief
from tenue.ask.paid_request import Terms
from tenue.errors import InvalidArgument, InvalidPrior, InvalidQuestion, NotPromised, Refused
from tenue.prior import Binomial, Categorical, Independent, Normal, Ordinal, Points, Table, Uniform
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

COLUMNS: dict[str, Any] = {
    "id": {"type": "identifier"},
    "age": {"type": "number", "bounds": [0, 120]},
    "sick": {"type": "boolean"},
}


def schema(unit: str = "id") -> Schema:
    table: dict[str, Any] = {"name": "patients", "unit": unit, "neighbours": "replace"}
    if unit != "record":
        table["rows_per_unit"] = 3
    return Schema.from_dict({"table": table, "columns": COLUMNS})


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT age FROM patients WHERE id = 17", "17"),
        ("select AGE from Patients where 17 = (ID)", "17"),
        ("SELECT age FROM patients WHERE id = '17'", "17"),
        ("SELECT age FROM patients WHERE patients.id = 017", "17"),
        ("SELECT age FROM patients WHERE id = '017'", "017"),
        ("SELECT age FROM patients WHERE id = 'Ann'", "Ann"),
        ("SELECT age FROM patients WHERE id = 'ann'", "ann"),
    ],
)
def test_the_text_says_who(sql: str, name: str) -> None:
    assert read_personal(sql, schema()) == Personal("patients", ("age",), "id", name)
    assert read_personal(sql, schema("record")) == Personal("patients", ("age",), "id", name)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM patients WHERE age = 17",
        "SELECT AVG(age) FROM patients",
        "SELECT sick, COUNT(*) FROM patients GROUP BY sick",
    ],
)
def test_other_questions_are_none(sql: str) -> None:
    assert read_personal(sql, schema()) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age FROM patients WHERE age = 17",
        "SELECT age FROM others WHERE id = 17",
        "SELECT id FROM patients WHERE id = 17",
        "SELECT age FROM patients WHERE id = 1.5",
        "SELECT age FROM patients WHERE id = TRUE",
        "SELECT age FROM patients WHERE id = id",
        "SELECT age FROM patients WHERE id = CAST('17' AS INT)",
        "SELECT age FROM patients WHERE id = 17 + 0",
        "SELECT DISTINCT age FROM patients WHERE id = 17",
        "SELECT age FROM patients TABLESAMPLE 1 WHERE id = 17",
        "SELECT weight FROM patients WHERE id = 17",
    ],
)
def test_what_only_looks_like_it_is_refused(sql: str) -> None:
    with pytest.raises(InvalidQuestion):
        read_personal(sql, schema())


# -- Beliefs are held against columns and statistics without a row ---------------------------------

FIT_SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 10], "grid": 0.5},
            "big": {"type": "number", "bounds": [0, 1_000_000]},
            "job": {"type": "category", "categories": ["a", "b"]},
            "sick": {"type": "boolean"},
            "born": {"type": "date", "bounds": ["1900-01-01", "2020-01-01"]},
        },
    }
)


def fit(prior: Any, *names: str) -> Any:
    return fit_columns(prior, [FIT_SCHEMA.column(name) for name in names])


def test_numbers_are_put_on_the_columns_grid() -> None:
    fitted = fit(Uniform(1, 3), "age")
    assert fitted.values == tuple(Fraction(k, 2) for k in range(2, 7))
    assert fit(Binomial(10, 0.5), "age").values[-1] == 10


@pytest.mark.parametrize(
    ("prior", "names"),
    [
        (0.5, ["job"]),
        (Uniform(0, 11), ["age"]),
        (Uniform(0, 2_000_000), ["big"]),
        (Points({"0.25": 1}), ["age"]),
        (Binomial(11, 0.5), ["age"]),
        (Categorical({"a": 0.5, "z": 0.5}), ["job"]),
        (Categorical({True: 1}), ["job"]),
        (Points({0: 0.5, 1: 0.5}), ["sick"]),
        (Categorical({0: 0.5, 1: 0.5}), ["sick"]),
        (Categorical({"a": 1}), ["age"]),
        (Uniform(0, 1), ["job"]),
        (Table({("a", True): 1}), ["job"]),
        (Categorical({"a": 1}), ["job", "sick"]),
        (Table({("a", True, 1): 1}), ["job", "sick"]),
        (Table({("a", "yes"): 1}), ["job", "sick"]),
        (Table({("a", "0.25"): 1}), ["job", "age"]),
        (Table({("a", Fraction(1, 4)): 1}), ["job", "age"]),
        (Table({("a", 11): 1}), ["job", "age"]),
        (Table({("z", 1): 1}), ["job", "age"]),
        (Independent([Categorical({"a": 1}), Categorical({1: 1})]), ["job", "age"]),
    ],
    ids=repr,
)
def test_a_belief_in_what_cannot_be_is_refused(prior: Any, names: list[str]) -> None:
    with pytest.raises(InvalidPrior):
        fit(prior, *names)


def test_what_fits_is_kept() -> None:
    for each_prior, names in (
        (Categorical({"a": 1}), ["job"]),
        (Ordinal(["a", "b"], [0.5, 0.5]), ["job"]),
        (Categorical({True: 0.5, False: 0.5}), ["sick"]),
        (Table({("a", True): 0.5, ("b", False): 0.5}), ["job", "sick"]),
        (Independent([Categorical({"a": 1}), Points({1: 1})]), ["job", "age"]),
    ):
        assert fit(each_prior, *names) is each_prior


def test_days_are_not_refined() -> None:
    with pytest.raises(NotPromised):
        fit(Uniform(0, 1), "born")


def test_statistics() -> None:
    one, half = Fraction(1), Fraction(1, 2)
    big = Binomial(10**6, 0.5)
    assert fit_statistics(big, ["n"], [one]) is big
    assert fit_statistics(Uniform(0, 2), ["n"], [half]).values[1] == half
    bell = Normal(5, 1, 0, 10)
    assert fit_statistics(bell, ["mean"], [None]) is bell
    joint = Table({(1, Fraction(1, 2)): 1})
    assert fit_statistics(joint, ["n", "s"], [one, half]) is joint
    for each_prior, names, grids in (
        (Categorical({"a": 1}), ["n"], [one]),
        (Points({half: 1}), ["n"], [one]),
        (Binomial(5, 0.5), ["s"], [Fraction(3, 7)]),
        (joint, ["n", "s"], [one, one]),
        (joint, ["n"], [one]),
        (Table({("a", 1): 1}), ["n", "s"], [one, one]),
        (None, ["n"], [one]),
    ):
        with pytest.raises(InvalidPrior):
            fit_statistics(each_prior, names, grids)


# -- What a data set's protocol allows, refuses and leaves in the ledger ---------------------------

TABLE = pd.DataFrame({"id": range(60), "x": [0.5, 1.0, 2.0] * 20, "g": list("ab") * 30})


def session(protocol: dict[str, Any] | None, ledger: Any = None, **table: Any) -> Any:
    stated: dict[str, Any] = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove", **table},
        "columns": {
            "id": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 2], "grid": 0.5},
            "g": {"type": "category", "categories": ["a", "b"]},
        },
        "budget": {"total": 10},
    }
    if protocol is not None:
        stated["protocol"] = protocol
    return tn.protect(TABLE, schema=stated, ledger=ledger or tn.ledger.Memory())


FIXED = {"kind": "fixed-noise", "scale": 20}
REFINED = {"kind": "refinement"}


@pytest.mark.parametrize(
    ("sql", "table", "price"),
    [
        ("SELECT COUNT(*) FROM t", {}, "1/20"),
        ("SELECT SUM(x) FROM t", {}, "2/20"),
        ("SELECT COUNT(*), SUM(x) FROM t", {}, "3/20"),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", {}, "1/20"),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", {"neighbours": "replace"}, "2/20"),
        ("SELECT SUM(x) FROM t WHERE g = 'a'", {"neighbours": "replace"}, "2/20"),
        ("SELECT COUNT(*) FROM t", {"unit": "id", "rows_per_unit": 3}, "3/20"),
        ("SELECT COUNT(DISTINCT id) FROM t", {"unit": "id", "rows_per_unit": 3}, "1/20"),
        (
            "SELECT g, COUNT(DISTINCT id) FROM t GROUP BY g",
            {"unit": "id", "rows_per_unit": 3, "groups_per_unit": 2, "neighbours": "replace"},
            "2/20",
        ),
        ("SELECT SUM(x) / COUNT(x) FROM t", {}, "3/20"),
    ],
)
def test_fixed_noise_costs_the_sensitivity_over_the_scale(
    sql: str, table: dict[str, Any], price: str
) -> None:
    with session(FIXED, **table) as data:
        answer = data.ask(sql)
        assert answer.price == data.budget.spent == Fraction(price)
        for part in answer.plan.parts:
            grid = Fraction(1, 2) if part.components[0].kind == "total" else 1
            assert part.law.scale * grid == 20  # in units of the answer
        assert "scale 20" in answer.plan.chosen.mechanism
        assert data.ask(sql).replayed


def test_fixed_noise_leaves_nothing_to_choose() -> None:
    with session(FIXED) as data:
        accuracy = {"accuracy": ("interval", 0.95, 9)}
        choices: list[dict[str, Any]] = [{"epsilon": 1}, accuracy, {"minimise": "absolute-error"}]
        for given in choices:
            with pytest.raises(InvalidArgument, match="fixed"):
                data.ask("SELECT COUNT(*) FROM t", **given)
        for sql in ("SELECT AVG(x) FROM t", "SELECT MEDIAN(x) FROM t", "SELECT VARIANCE(x) FROM t"):
            with pytest.raises(NotPromised, match="COUNT and SUM"):
                data.ask(sql)
        with pytest.raises(NotPromised, match="estimate"):
            data.ask("SELECT COUNT(*) FROM t", epsilon=1, prior=prior.Binomial(60, 0.5))
        with pytest.raises(NotPromised):
            data.ask_many(["SELECT COUNT(*) FROM t"], epsilon=1)
        with pytest.raises(NotPromised):
            data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, individual=True)
        assert data.budget.spent == 0
        answer = data.ask("SELECT COUNT(*) FROM t")
        assert answer.estimate(prior.Binomial(60, 0.99)).mean == pytest.approx(59.4, abs=1)


def test_refinement_answers_in_no_other_way() -> None:
    belief = prior.Binomial(60, 0.5)
    with session(REFINED) as data:
        with pytest.raises(NotPromised, match="prior"):
            data.ask("SELECT COUNT(*) FROM t", epsilon=1)
        with pytest.raises(NotPromised):
            data.ask_many(["SELECT COUNT(*) FROM t"], epsilon=1)
        with pytest.raises(tn.Refused):
            data.ask("SELECT COUNT(*) FROM t", epsilon=1, prior=prior.Binomial(6000, 0.5))
        plan = data.explain("SELECT COUNT(*) FROM t", epsilon=1, prior=belief)
        assert all("refinement" in way.mechanism for way in plan.candidates)
        answer = data.ask("SELECT COUNT(*) FROM t WHERE g = 'a'", epsilon=1, prior=belief)
        assert answer.noisy is None
        assert "protocol" in plan.reason
        data.ask(
            "SELECT g FROM t WHERE id = 3", epsilon=2, prior=prior.Categorical({"a": 0.5, "b": 0.5})
        )
        assert data.budget.spent == 3


def test_a_protocol_outlives_edits_in_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    shown = ["fixed-noise of scale 20", "fixed-noise of scale 20", "refinement", ""]
    for protocol, text in zip((FIXED, FIXED, REFINED, None), shown, strict=True):
        with session(protocol, tn.ledger.SQLite(path)) as data:
            assert data.budget.protocol == text
            assert (f"protocol: {text}" in str(data.budget)) == bool(text)
            if protocol is FIXED:
                data.ask("SELECT COUNT(*) FROM t")
    with tn.ledger.SQLite(path) as ledger:
        kinds = [e.fact.protocol for e in ledger.entries() if e.kind == "protocol-changed"]
        assert kinds == ["fixed-noise of scale 20", "refinement", ""]
        assert ledger.balance().spent == Fraction(1, 20)
        assert ledger.verify()


def test_an_answer_of_one_protocol_is_never_read_as_anothers(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    sql = "SELECT COUNT(*) FROM t"
    with session(FIXED, tn.ledger.SQLite(path)) as data:
        data.ask(sql)
    with session({**FIXED, "scale": 40}, tn.ledger.SQLite(path)) as data:
        assert not data.ask(sql).replayed
    with session(None, tn.ledger.SQLite(path)) as data:
        assert not data.ask(sql, epsilon="0.05").replayed


# From text and prior to a plan: the text decides the kind, and what identifies an answer.

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
