"""What breaks the promise never leaves; options are read against the schema; wrong builds fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import Fault, InvalidArgument, InvalidSchema, Refused, Unreachable
from tenue.noise import Seeded
from tenue.publish.generalise.hierarchy import scale_of
from tenue.publish.generalise.mondrian import multidimensional, runs_of
from tenue.publish.generalise.privacy_condition import Need
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.generalise import ENDS, LEFT_OUT, LOOKED, Generalise
from tenue.publish.publish import certify
from tenue.publish.table.input_table import Original, read_original
from unit.publish.census import people, schema

FORMS = ("multidimensional", "full-domain")


def way(**asked: Any) -> Generalise:
    declared = asked.pop("schema", schema())
    found = chosen_method(declared, "generalise", **{"k": 5, **asked})
    assert isinstance(found, Generalise)
    return found


def publish(table: object = None, **asked: Any) -> Any:
    declared = asked.pop("schema", schema())
    given = people() if table is None else table
    return tn.publish(given, schema=declared, method="generalise", **{"k": 5, **asked})


@pytest.mark.parametrize("by", FORMS)
def test_a_release_has_k_true_texts_and_all_else_as_it_was(by: str) -> None:
    table = people(200)
    release = publish(table, by=by)
    assert release.certificate.promise == tn.KAnonymity(5)
    found = tn.evaluate.check(release.table, schema())
    assert found.k >= 5
    assert release.table.column("age").type == pa.string()
    for name in ("income", "ill", "note"):
        assert sorted(release.table.column(name).to_pylist()) == sorted(
            table.column(name).to_pylist()
        )


def test_the_multidimensional_form_loses_less() -> None:
    table = people(300)
    lost = [tn.evaluate.ncp(publish(table, by=by).table, schema()) for by in FORMS]
    assert 2 * lost[0] < lost[1]


@pytest.mark.parametrize("by", FORMS)
def test_l_and_t(by: str) -> None:
    release = publish(people(200), by=by, l=2, t=0.3)
    assert tn.evaluate.check(release.table, schema()).meets(k=5, l=2, t=0.3)


def test_the_history_says_what_was_lost_as_the_measures_do() -> None:
    release = publish(people(120), by="full-domain", suppress=0.1)
    said = {step.name: step.text for step in release.history}
    out = 120 - release.rows
    assert said["suppressed"].startswith(f"{out} of 120 rows")
    table = release.table
    shown = tn.evaluate.ncp(table, schema(), suppressed=out)
    assert f"NCP {shown:.3g} " in said["loss"]
    size = tn.evaluate.average_class_size(table, schema(), k=5, suppressed=out)
    assert f"average class size {size:.3g} times k" in said["loss"]
    whole = tn.evaluate.discernibility(table, schema(), suppressed=out)
    assert f"discernibility {whole:,} " in said["loss"]
    assert "left out" not in said  # nothing was missing


def test_how_many_were_suppressed_is_for_the_holder(tmp_path: Path) -> None:
    """The certificate is the same whatever the rows are; no row stands for one that is lost."""
    made = [publish(people(120, seed), by="full-domain", suppress=0.2) for seed in (1, 2, 3, 4)]
    gone = {120 - release.rows for release in made}
    assert len(gone) > 1
    assert len({release.certificate.to_json() for release in made}) == 1
    for number, release in enumerate(made):
        texts = set(
            zip(*(release.table.column(n).to_pylist() for n in ("age", "job", "sex")), strict=True)
        )
        assert ("[0, 120]", "any", "*") not in texts
        release.save(tmp_path / str(number), kind="csv")
        saved = json.loads((tmp_path / str(number) / "certificate.json").read_text())
        assert "suppressed" not in json.dumps(saved)


def test_suppressed_rows_that_are_left_as_stars_are_seen() -> None:
    """The mutant that blanks rows instead of dropping them leaves a class of fewer than k."""
    release = publish(people(120), by="full-domain", suppress=0.2)
    out = 120 - release.rows
    assert out > 0
    rows = release.table.to_pylist()
    stars = [{**rows[0], "age": "*", "job": "*", "sex": "*"}] * min(out, 4)
    assert tn.evaluate.check(pa.Table.from_pylist(rows + stars), schema()).k < 5


# -- wrong builds ----------------------------------------------------------------------------------


def rows_of_persons(size: int = 90) -> pa.Table:
    """Three rows of each person, close together."""
    return people(
        size,
        name=[f"person {i // 3}" for i in range(size)],
        age=[20 + i // 3 for i in range(size)],
    )


def test_k_that_counts_rows_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    persons = schema(unit="name")
    good = publish(rows_of_persons(), schema=persons)
    assert good.risk.check.k >= 5
    need = Generalise._need

    def of_rows(self: Generalise, original: Original) -> Need:
        return replace(need(self, original), persons=None)

    monkeypatch.setattr(Generalise, "_need", of_rows)
    with pytest.raises(Fault, match="without what it promises"):
        publish(rows_of_persons(), schema=persons)


@pytest.mark.parametrize(("lacking", "asked"), [("l", {"l": 2}), ("t", {"t": 0.1})])
def test_l_and_t_that_are_not_looked_at_never_leave(
    monkeypatch: pytest.MonkeyPatch, lacking: str, asked: Mapping[str, Any]
) -> None:
    table = people(60, ill=["flu" if i < 10 else "no" for i in range(60)])
    need = Generalise._need

    def blind(self: Generalise, original: Original) -> Need:
        return replace(need(self, original), **{lacking: None})

    monkeypatch.setattr(Generalise, "_need", blind)
    with pytest.raises(Fault, match="without what it promises"):
        publish(table, **asked)


def test_groups_that_look_at_confidential_values_are_told_by_permuting_them() -> None:
    """The mutant splits by income too; which texts there are then depends on it."""
    read = read_original(people(80), schema())
    asked = way()

    def texts(columns: tuple[str, ...], turned: int) -> list[str]:
        cells = dict(read.cells)
        cells["income"] = cells["income"].take(np.roll(np.arange(80), turned))
        scales = [scale_of(cells[name]) for name in columns]
        labels = multidimensional(scales, Need(5))
        return [scales[0].texts(*runs_of(scales[0], labels))[label] for label in labels]

    assert texts(asked.quasi, 0) == texts(asked.quasi, 7)
    assert texts((*asked.quasi, "income"), 0) != texts((*asked.quasi, "income"), 7)


def test_intervals_of_levels_follow_from_the_schema() -> None:
    """Other rows, same levels: the same intervals. Those read from rows would move with them."""
    ends = set()
    for low in (20, 23):
        table = people(100, age=[low + i % 40 for i in range(100)])
        release = publish(table, by="full-domain", widths={"age": [20, 60]}, k=20)
        ends |= set(release.table.column("age").to_pylist())
    allowed = {f"[{i}, {i + 19}]" for i in range(0, 120, 20)} | {"[0, 59]", "[60, 119]", "[0, 120]"}
    assert ends <= allowed


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"by": "mdav"}, "multidimensional"),
        ({"minimise": "ncp"}, "by is not"),
        ({"widths": {"age": [5]}}, "by is not"),
        ({"suppress": 1}, "from 0 to below 1"),
        ({"suppress": -0.1}, "from 0 to below 1"),
        ({"suppress": "much"}, "suppress"),
        ({"by": "full-domain", "minimise": "sse"}, "discernibility"),
        ({"by": "full-domain", "widths": [5, 10]}, "type list"),
        ({"by": "full-domain", "widths": {"job": [5]}}, "not a numeric or date"),
        (
            {"by": "full-domain", "widths": {"income": [5]}},
            "not a numeric or date",
        ),
        ({"by": "full-domain", "widths": {"age": 5}}, "list of numbers"),
        ({"by": "full-domain", "widths": {"age": []}}, "list of numbers"),
        ({"by": "full-domain", "widths": {"age": [5, 12]}}, "larger multiple"),
        ({"by": "full-domain", "widths": {"age": [10, 5]}}, "larger multiple"),
        ({"by": "full-domain", "widths": {"age": [2.5]}}, "multiples of the grid"),
        ({"by": "full-domain", "widths": {"age": [1]}}, "larger multiple"),
        ({"by": "full-domain", "widths": {"age": [500]}}, "no wider"),
        ({"k": 1}, "k"),
        ({"k": {"age": 5}}, "single columns"),
        ({"gamma": 2}, "gamma"),
        ({"t": 2}, "0 to 1|earth"),
        ({"l": 1}, "l"),
    ],
)
def test_what_is_no_option_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        publish(people(40), **asked)


def test_a_schema_without_quasi_identifiers_is_refused() -> None:
    other = {name: {"role": "other"} for name in ("age", "job", "sex")}
    with pytest.raises(InvalidSchema, match="quasi-identifier"):
        way(schema=schema(**other))


def test_a_sensitive_value_that_a_group_shares_is_refused_unless_insisted() -> None:
    table = people(60, age=list(range(20, 80)), ill=["flu"] * 20 + ["no"] * 40)
    sensitive = schema(ill={"sensitive": True})
    with pytest.raises(Unreachable, match="l=2"):
        publish(table, schema=sensitive, k=2)
    assert publish(table, schema=sensitive, k=2, l=2).rows == 60
    assert publish(table, schema=sensitive, k=2, override="homogeneous-groups").rows == 60


def test_what_cannot_be_reached_is_refused() -> None:
    with pytest.raises(Unreachable, match="l = 4"):
        publish(people(60), l=4)
    with pytest.raises(Refused, match="k"):
        publish(people(60), k=61)


def test_limits_and_parameters_say_what_was_asked() -> None:
    plain, asked = way(), way(by="full-domain", l=2, t=0.3, suppress=0.02, widths={"AGE": [5, 10]})
    assert ENDS in plain.limits
    assert ENDS not in asked.limits
    assert LEFT_OUT.format(share="0.02") in asked.limits
    assert any(limit.startswith(LOOKED[:40]) for limit in asked.limits)
    assert not any(limit.startswith(LOOKED[:40]) for limit in plain.limits)
    told = certify(asked, registered=True).parameters
    assert told["widths of age"] == "5, 10"
    assert told["minimise"] == "ncp"
    assert "earth mover's distance" in told["t"]
    assert "suppress" not in certify(plain, registered=True).parameters


# -- what leaves -----------------------------------------------------------------------------------


def test_a_boolean_stays_text_in_pandas() -> None:
    """Cast back to the type of the source, every text would be true."""
    described = tn.Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "fit": {"type": "boolean", "role": "quasi-identifier"},
                "pay": {"type": "number", "bounds": [0, 9], "role": "confidential"},
            },
        }
    )
    frame = pd.DataFrame({"fit": [True, False] * 10, "pay": list(range(10)) * 2})
    release = publish(frame, schema=described)
    assert sorted(set(release.table["fit"])) == ["false", "true"]
    assert set(publish(frame, schema=described, k=11).table["fit"]) == {"*"}


def test_rows_without_a_value_are_left_out_or_take_the_declared_one() -> None:
    ages = [None if i % 10 == 0 else 20 + i for i in range(60)]
    assert publish(people(60, age=ages)).rows == 54
    filled = publish(people(60, age=ages), schema=schema(age={"missing": 50}))
    assert filled.rows == 60


def test_risk_and_utility_are_measured_by_the_middle_of_intervals() -> None:
    release = publish(people(200))
    error = dict(release.utility.relative_by_column)
    assert 0 < error["age"] < 0.2
    assert error["income"] == 0
    assert release.risk.linkage_by_quasi_identifiers < 0.5
    assert release.risk.check.k >= 5
    assert "midpoint of each interval" in release.report()


def test_a_preview_and_a_second_release(tmp_path: Path) -> None:
    assert publish(people(60), preview=True).rows == 60
    books = tn.ledger.SQLite(tmp_path / "books.ledger")
    publish(people(60), ledger=books).save(tmp_path / "out")
    with pytest.raises(Refused, match="released before"):
        publish(people(60), ledger=books, by="full-domain")


def test_the_same_table_gives_the_same_texts() -> None:
    read = read_original(people(150), schema())
    first, second = (
        way(suppress=0.05).publish(way().prepare(read, Seeded(seed)), Seeded(seed))
        for seed in (1, 2)
    )
    for name in ("age", "job", "sex"):
        assert sorted(first.cells[name].to_arrow().to_pylist()) == sorted(
            second.cells[name].to_arrow().to_pylist()
        )
