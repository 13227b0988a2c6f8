"""What a data set's protocol allows, refuses and leaves in the ledger."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue import prior
from tenue.errors import InvalidArgument, NotPromised

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
