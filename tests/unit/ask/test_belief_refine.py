"""The step that touches rows: which truth is refined, how a sample is stored, what is certified."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenue import Approximate, Pure, prior
from tenue.ask.belief.plan import plan_belief
from tenue.ask.belief.refine import answer_refined, certify_refined, stored_sample
from tenue.engine.contract import Profile
from tenue.errors import Fault, Refused
from tenue.mechanism import refine
from tenue.noise import Seeded
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "id": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 10], "grid": 0.5},
            "job": {
                "type": "category",
                "taxonomy": {"work": {"field": ["farmer", "fisher"], "desk": ["clerk"]}},
            },
            "flat": {"type": "category", "categories": ["a", "b"]},
            "sick": {"type": "boolean"},
        },
    }
)


class Fake:
    """An engine whose one row, or measures, are given."""

    def __init__(self, rows: dict[str, list[int | None]], measures: tuple[int, ...] = ()) -> None:
        self.rows, self.measures = rows, measures

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        return self.rows[column]

    def measure(self, request: Any) -> Any:
        kinds = [m.kind for m in request.measures]
        assert len(kinds) == len(self.measures)
        return {(): self.measures} if self.measures else {}

    def ranks(self, request: Any) -> dict[Any, Profile]:
        return {}

    def close(self) -> None: ...


def truth_of(monkeypatch: pytest.MonkeyPatch, sql: str, belief: Any, engine: Any) -> Any:
    seen: list[Any] = []

    def caught(prior: Any, truth: Any, *given: Any, **more: Any) -> Any:
        seen.append((truth, more["distance"]))
        return refine(prior, truth, *given, **more)

    plan = plan_belief(sql, SCHEMA, belief, EpsilonDelta.of(1))
    monkeypatch.setattr("tenue.ask.belief.refine.refine", caught)
    answer_refined(plan, engine, SCHEMA)
    return seen[-1]


EVEN = prior.Points({0: "0.5", 5: "0.5"})


@pytest.mark.parametrize(
    ("rows", "truth"),
    [([7], Fraction(7, 2)), ([], None), ([7, 7], None), ([None], None), ([7, None], None)],
)
def test_one_row_is_the_truth_and_none_or_several_are_not(
    monkeypatch: pytest.MonkeyPatch, rows: list[int | None], truth: Any
) -> None:
    found = truth_of(monkeypatch, "SELECT x FROM t WHERE id = 1", EVEN, Fake({"x": rows}))
    assert found == (truth, None)


def test_several_columns_need_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    belief = prior.Table({(0, True): "0.5", (5, False): "0.5"})
    sql = "SELECT x, sick FROM t WHERE id = 1"
    whole, part = Fake({"x": [7], "sick": [1]}), Fake({"x": [7], "sick": [None]})
    assert truth_of(monkeypatch, sql, belief, whole)[0] == (Fraction(7, 2), True)
    monkeypatch.undo()
    assert truth_of(monkeypatch, sql, belief, part)[0] is None


def test_categories_are_near_by_meaning_where_they_have_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sql = "SELECT job FROM t WHERE id = 1"
    jobs = prior.Categorical({"farmer": "0.4", "fisher": "0.3", "clerk": "0.3"})
    assert truth_of(monkeypatch, sql, jobs, Fake({"job": [0]})) == (
        "farmer",
        SCHEMA.column("job").taxonomy,  # type: ignore[attr-defined]
    )
    monkeypatch.undo()
    ladder = prior.Ordinal(["clerk", "fisher", "farmer"], ["0.4", "0.3", "0.3"])
    assert truth_of(monkeypatch, sql, ladder, Fake({"job": [0]})) == ("farmer", None)
    monkeypatch.undo()
    flat = prior.Categorical({"a": "0.5", "b": "0.5"})
    found = truth_of(monkeypatch, "SELECT flat FROM t WHERE id = 1", flat, Fake({"flat": [1]}))
    assert found == ("b", None)


def test_statistics_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    belief = prior.Points({0: "0.5", 5: "0.5"})
    for sql, measures, truth in (
        ("SELECT AVG(x) FROM t", (3, 10), Fraction(5, 3)),
        ("SELECT AVG(x) FROM t", (0, 0), None),
        ("SELECT AVG(x) FROM t", (), None),
    ):
        engine = Fake({}, measures)
        if not measures:
            engine.measure = lambda request: {}  # type: ignore[method-assign]
        assert truth_of(monkeypatch, sql, belief, engine)[0] == truth
        monkeypatch.undo()


def test_samples_are_stored_exactly() -> None:
    for belief, sql, rows in (
        (prior.Points({"0.5": 1}), "SELECT x FROM t WHERE id = 1", {"x": [1]}),
        (prior.Categorical({True: 1}), "SELECT sick FROM t WHERE id = 1", {"sick": [1]}),
        (
            prior.Table({("a", Fraction(3, 2)): 1}),
            "SELECT flat, x FROM t WHERE id = 1",
            {"flat": [0], "x": [3]},
        ),
    ):
        plan = plan_belief(sql, SCHEMA, belief, EpsilonDelta.of(1))
        stored = stored_sample(answer_refined(plan, Fake(rows), SCHEMA))  # type: ignore[arg-type]
        assert stored == belief.values[0]
        assert type(stored) is type(belief.values[0])


def test_a_seeded_source_never_answers() -> None:
    plan = plan_belief("SELECT x FROM t WHERE id = 1", SCHEMA, EVEN, EpsilonDelta.of(1))
    with pytest.raises((Refused, Fault)):
        answer_refined(plan, Fake({"x": [1]}), SCHEMA, Seeded(7))


def test_certificates_say_who_is_protected_how() -> None:
    person = plan_belief("SELECT x FROM t WHERE id = 1", SCHEMA, EVEN, EpsilonDelta.of(1))
    table = plan_belief("SELECT AVG(x) FROM t", SCHEMA, EVEN, EpsilonDelta.of(1, "1e-9"))
    one, two = certify_refined(person, SCHEMA), certify_refined(table, SCHEMA)
    assert (one.promise, one.neighbours) == (Pure(1), "add-or-remove")
    assert (two.promise, two.neighbours) == (Approximate(1, "1e-9"), "replace")
    assert "question" not in one.parameters  # it would name the person
    assert two.parameters["question"].startswith("SELECT AVG")
    short = plan_belief("SELECT x FROM t WHERE id = 1", SCHEMA, EVEN, EpsilonDelta.of(1))
    assert certify_refined(short, SCHEMA).parameters["prior"] == EVEN.to_json()
    wide = prior.Points(prior.normalised({k: 10**300 + k for k in range(11)}))
    long = plan_belief("SELECT x FROM t WHERE id = 1", SCHEMA, wide, EpsilonDelta.of(1))
    assert len(wide.to_json()) > 2000
    text = certify_refined(long, SCHEMA).parameters["prior"]
    assert text.startswith("Points(11 numbers), whose JSON has SHA-256 ")
