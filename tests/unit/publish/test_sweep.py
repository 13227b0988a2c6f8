from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tenue as tn
from tenue.publish.sweep import Sweep, Trial, exposure, loss
from unit.publish.census import people, schema


@pytest.fixture(scope="module")
def found() -> Sweep:
    pairs = ["microaggregate", ("swap", {"by": "quasi-identifiers"})]
    return tn.sweep(people(), schema=schema(), k=[3, 10, 61], methods=pairs)


def trial(method: str, k: int, risk: float | None, moved: float | None) -> Trial:
    return Trial(method=method, k=k, options={}, risk=risk, loss=moved)


def test_every_method_is_tried_with_every_k(found: Sweep) -> None:
    assert [(one.method, one.k) for one in found.trials] == [
        (method, k) for method in ("microaggregate", "swap") for k in (3, 10, 61)
    ]
    for one in found.trials:
        if one.k == 61:  # more than there are rows
            assert one.refused
            assert one.risk is None
        else:
            assert one.risk is not None
            assert 0 <= one.risk <= 1
            assert one.loss


def test_figures_are_those_of_the_preview(found: Sweep) -> None:
    made: Any = tn.publish(people(), schema=schema(), method="microaggregate", k=3, preview=True)
    first = found.trials[0]
    assert first.loss == pytest.approx(loss(made.utility), rel=0.2)  # rows are shuffled first
    columns = len(made.utility.relative_by_column)
    changed = sum(1 for _, moved in made.utility.relative_by_column if moved)
    whole = made.utility.relative_error * (changed / columns) ** 0.5
    assert loss(made.utility) == pytest.approx(whole)  # unchanged columns count too


def related(rows: int = 400) -> tuple[pa.Table, tn.Schema]:
    """A tax that nearly follows from income, which is a quasi-identifier."""
    rng = np.random.default_rng(3)
    income = rng.integers(0, 1000, rows)
    quasi = {"type": "number", "bounds": [0, 1000], "role": "quasi-identifier"}
    tax = {"type": "number", "bounds": [0, 4000], "role": "confidential"}
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": "replace"}
    columns = {"income": quasi, "age": quasi, "tax": tax}
    made = {"income": income, "age": rng.integers(0, 99, rows)}
    made["tax"] = income * 3 + rng.integers(0, 4, rows)
    return pa.table(made), tn.Schema.from_dict({"table": table, "columns": columns})


METHODS: list[Any] = ["microaggregate", "generalise", "swap", "anatomy"]


def test_the_same_intruder_is_tried_on_every_method() -> None:
    """The three that have the groups of MDAV hide a value among the same people, so their risk is
    the same but for chance. Linking by all columns would call one of them far riskier."""
    table, described = related()
    found = tn.sweep(table, schema=described, k=[5], methods=[*METHODS, "t-close"])
    risks = {one.method: one.risk or 0.0 for one in found.trials}
    assert found.trials[-1].name == "t-close, t = 2"
    assert all(risk > 0.2 for risk in risks.values())  # what can be learned is learned of all
    same = [risks[name] for name in ("microaggregate", "swap", "anatomy")]
    assert max(same) < 1.25 * min(same)
    made: list[Any] = [
        tn.publish(table, schema=described, method=method, k=5, preview=True)
        for method in ("microaggregate", "swap")
    ]
    links = [one.risk.record_linkage for one in made]
    assert max(links) > 1.5 * min(links)


def test_where_nothing_can_be_learned_the_risk_is_one_in_k() -> None:
    table, described = related()
    tax = np.random.default_rng(5).permutation(table["tax"].to_numpy())
    calm = table.set_column(2, "tax", pa.array(tax))
    for one in tn.sweep(calm, schema=described, k=[5], methods=METHODS).trials:
        assert one.risk is not None
        assert one.risk < 0.3  # the best of several attempts; by all columns most are linked


def test_risk_is_that_of_the_worst_column_or_of_linking() -> None:
    made: Any = tn.publish(people(), schema=schema(), method="swap", k=3, preview=True)
    assert exposure(made.risk) == max(one.records for one in made.risk.rematched.values())
    bare = replace(made.risk, rematched={})
    assert exposure(bare) == made.risk.linkage_by_quasi_identifiers
    assert exposure(replace(bare, linkage_by_quasi_identifiers=None)) == made.risk.record_linkage
    assert exposure(None) == 0


def test_advice_is_the_least_loss_among_those_that_are_safe() -> None:
    """Mutants: the least risk, the largest k, the first."""
    trials = [
        trial("swap", 3, 0.5, 0.01),
        trial("swap", 5, 0.05, 0.2),
        trial("microaggregate", 10, 0.04, 0.1),
        trial("microaggregate", 25, 0.01, 0.3),
        Trial(method="swap", k=99, options={}, refused="too large"),
    ]
    made = Sweep(name="people", trials=tuple(trials))
    best = made.advise("0.05")
    assert best.trial == trials[2]
    assert "the least of 3" in best.reason
    assert "Next: swap, k = 5" in best.reason
    assert made.advise(0.5).trial == trials[0]
    none = made.advise(0.001)
    assert none.trial is None
    assert "The least risk is 1 %" in none.reason
    for wrong in (-1, 2):
        with pytest.raises(tn.Refused, match="0 to 1"):
            made.advise(wrong)
    refused = Sweep(name="people", trials=tuple(trials[4:]))
    assert "All of these releases are refused" in refused.advise(0.5).reason
    assert "<table" in refused.page()


def test_nothing_is_registered(tmp_path: Path) -> None:

    pa.csv.write_csv(people(), tmp_path / "people.csv")
    described = schema().to_dict()
    described["table"]["source"] = "people.csv"
    tn.sweep(tmp_path / "people.csv", schema=described, k=[3], methods=["swap"])
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_cannot_be_swept_is_refused() -> None:
    with pytest.raises(tn.Refused, match="plan_release"):
        tn.sweep(people(), schema=schema(), methods=["private"])
    with pytest.raises(tn.Refused, match="methods"):
        tn.sweep(people(), schema=schema(), methods=["shuffle"])
    with pytest.raises(tn.Refused, match="no k"):
        tn.sweep(people(), schema=schema(), k=[])


def test_it_is_told_drawn_and_written(found: Sweep, tmp_path: Path) -> None:
    assert "refused" in str(found)
    told = json.loads(found.to_json())
    assert told["for"] == "the holder alone"
    assert len(told["trials"]) == 6
    assert "microaggregate" in tn.report.plot(found).svg()
    tn.report.write(found, tmp_path / "sweep.html")
    assert "for the holder" in (tmp_path / "sweep.html").read_text()
    advice = found.advise(1)
    assert advice.reason.partition(":")[0] in found.page(advice=advice)
    public = found.page(public=True, advice=advice)
    assert "microaggregate" not in public
    assert "Take " not in public


def test_a_release_shows_the_curve_to_its_holder(found: Sweep, tmp_path: Path) -> None:
    release = tn.publish(people(), schema=schema(), method="swap", k=3, ledger=False)
    title = "Risk and utility of other choices"
    release.save(tmp_path / "own", sweep=found)
    assert title in (tmp_path / "own" / "report.html").read_text()
    release.save(tmp_path / "all", sweep=found, public=True)
    assert title not in (tmp_path / "all" / "report.html").read_text()
