"""Was it safe, was it worth it."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidTable
from tenue.evaluate import Score
from tenue.evaluate.risk import disclosure
from tenue.evaluate.two_tables.attributes import paired
from unit.evaluate.stated import AGE, NAME, people, schema
from unit.evaluate.stated import ROWS as RISK_ROWS
from unit.evaluate.stated import ROWS as UTILITY_ROWS

N = 60
A, B = [i * i % 17 for i in range(N)], [i * 7 % 13 for i in range(N)]
DISCLOSURE_ORIGINAL = pa.table(
    {"a": A, "b": B, "total": [x + y for x, y in zip(A, B, strict=True)]}
)


def masked(*names: str) -> pa.Table:
    table = DISCLOSURE_ORIGINAL
    for name in names:
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([5] * N))
    return table


def told(table: pa.Table, known: list[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    found = disclosure(paired(DISCLOSURE_ORIGINAL, table), known)
    shown = [[(one.name, *one.by) for one in part] for part in found]
    return shown[0], shown[1]


def test_a_masked_part_is_told_by_the_rest_of_a_total() -> None:
    assert told(masked("a"), []) == ([("a", "b", "total")], [])


def test_masked_parts_find_the_row_by_their_total() -> None:
    """Neither part is told by the release; whoever knows both finds the row."""
    assert told(masked("a", "b"), ["a", "b"]) == ([], [("total", "a", "b")])


def test_what_was_masked_altogether_or_not_at_all_is_no_news() -> None:
    assert told(masked("a", "b", "total"), ["a", "b"]) == ([], [])
    assert told(DISCLOSURE_ORIGINAL, ["a", "b"]) == ([], [])
    assert disclosure(paired(DISCLOSURE_ORIGINAL, masked("a")), ["b"])[1] == ()


def test_words_and_blanks() -> None:
    code = [f"p{i * 7 % 30}" for i in range(N)]
    town = [f"t{int(word[1:]) // 10}" for word in code]
    gaps = [None if i % 5 == 0 else float(i % 4) for i in range(N)]
    original = pa.table({"code": code, "town": town, "gaps": gaps})
    hidden = original.set_column(1, "town", pa.array(["t0"] * N))
    revealed, _ = disclosure(paired(original, hidden), [])
    assert [(one.name, one.by) for one in revealed] == [("town", ("code",))]
    assert disclosure(paired(original, original), ["code"]) == ((), ())


# -- All about risk in one value, for the holder ---------------------------------------------------

RISK_ORIGINAL = pd.DataFrame({**RISK_ROWS, "name": list("abcdefg")})
RISK_MASKED = RISK_ORIGINAL.drop(columns=["name"]).assign(pay=[101, 200, 290, 140, 200, 300, 400])


def test_risk_every_figure_is_the_one_measured_alone() -> None:
    found = tn.evaluate.risk(RISK_ORIGINAL, RISK_MASKED, people())
    alone = tn.evaluate.check(RISK_MASKED, schema=people())
    assert found.check == dataclasses.replace(alone, reading=None)
    widths = {"age": 100, "town": 0.7369655941662062, "ill": 0.7369655941662062, "pay": 1000}
    assert found.record_linkage == tn.evaluate.record_linkage(
        RISK_ORIGINAL, RISK_MASKED, columns=list(widths), scale=widths
    )
    assert found.linkage_by_quasi_identifiers == pytest.approx(2 / 7)
    assert found.within_1_percent == pytest.approx(5 / 7)
    assert found.within_5_percent == pytest.approx(6 / 7)
    assert found.unchanged == pytest.approx((7 + 4) / 14)
    assert dict(found.own_values) == pytest.approx({"ill": 1.0, "pay": 4 / 7})
    assert found.to_dict()["own_values"] == dict(found.own_values)


def test_names_do_not_link() -> None:
    """An identifier that is left in both tables would link everybody."""
    kept = RISK_MASKED.assign(name=RISK_ORIGINAL["name"])
    assert tn.evaluate.record_linkage(RISK_ORIGINAL, kept, columns=["name"]) == 1
    found = tn.evaluate.risk(RISK_ORIGINAL, kept, people())
    assert (
        found.record_linkage
        == tn.evaluate.risk(RISK_ORIGINAL, RISK_MASKED, people()).record_linkage
    )


def test_risk_it_can_be_read_by_people_and_programs() -> None:
    found = tn.evaluate.risk(RISK_ORIGINAL, RISK_MASKED, people())
    facts = json.loads(found.to_json())
    assert set(facts) == {part.name for part in dataclasses.fields(found)}
    assert facts["check"]["k"] == 3
    text = str(found)
    assert "links" in text
    assert "71.4 % lie within 1 % of the truth" in text
    assert "k = 3" in text
    for value in ("flu", "north", "290"):
        assert value not in text


def test_what_is_not_there_is_none() -> None:
    other = schema({"age": {**AGE, "role": "other"}, "name": NAME})
    found = tn.evaluate.risk(RISK_ORIGINAL, RISK_MASKED, other)
    assert (found.check, found.linkage_by_quasi_identifiers, found.unchanged) == (None,) * 3
    assert (found.within_1_percent, found.within_5_percent) == (None, None)
    assert str(found).count("\n") == 0
    assert json.loads(found.to_json())["check"] is None
    with pytest.raises(InvalidArgument, match="There is no schema"):
        tn.evaluate.risk(RISK_ORIGINAL, RISK_MASKED, None)
    with pytest.raises(InvalidArgument):
        tn.evaluate.risk(RISK_ORIGINAL, RISK_MASKED)  # type: ignore[call-arg]


def test_blanks_are_not_unchanged() -> None:
    blank = RISK_ORIGINAL.assign(ill=[None] * 7, pay=[None] * 7)
    found = tn.evaluate.risk(blank, blank.drop(columns=["name"]), people())
    assert (found.unchanged, found.within_1_percent) == (0, 0)


# The score is the product of both factors, above 1 where masking improved on the baseline.


def test_the_product_and_not_the_ratio() -> None:
    found = Score.of(sse=400, record_linkage=0.1, baseline_sse=100, baseline_record_linkage=0.8)
    assert (found.sse_factor, found.rl_factor) == (0.5, pytest.approx(8))
    assert found.value == pytest.approx(4)
    assert found.value != pytest.approx(found.sse_factor / found.rl_factor)


def test_of_tables() -> None:
    original = np.array([[0.0], [10.0], [20.0], [30.0]])
    baseline, masked = original + 1, original[[1, 0, 3, 2]]
    found = tn.evaluate.score(original, masked, baseline)
    assert found.sse_factor == pytest.approx(0.1)
    assert (found.rl_factor, found.value) == (math.inf, math.inf)
    same = tn.evaluate.score(original, baseline, baseline, scale=[30])
    assert (same.sse_factor, same.rl_factor, same.value) == (1, 1, 1)


def test_nothing_over_nothing_is_no_change() -> None:
    found = Score.of(sse=0, record_linkage=0, baseline_sse=0, baseline_record_linkage=0)
    assert (found.sse_factor, found.rl_factor) == (1, 1)
    for wrong in (-1, None, "x"):
        with pytest.raises(InvalidArgument):
            Score.of(sse=wrong, record_linkage=1, baseline_sse=1, baseline_record_linkage=1)


# -- Three measures of what generalising lost, against their definitions written out ---------------

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
            "sex": {"type": "category", "categories": ["f", "m"], "role": "quasi-identifier"},
            "pay": {"type": "number", "bounds": [0, 9], "role": "confidential"},
        },
    }
)


def table(rows: list[tuple[str | None, str]]) -> pa.Table:
    ages, sexes = zip(*rows, strict=True)
    return pa.table({"age": list(ages), "sex": list(sexes), "pay": [1] * len(rows)})


ROWS = [("[0, 20]", "f")] * 3 + [("[0, 20]", "*")] * 2 + [("[50, 100]", "m")] * 4


def test_by_hand() -> None:
    made = table(ROWS)
    assert tn.evaluate.discernibility(made, SCHEMA) == 9 + 4 + 16
    assert tn.evaluate.average_class_size(made, SCHEMA, k=2) == 9 / 3 / 2
    assert tn.evaluate.ncp(made, SCHEMA) == pytest.approx((5 * 0.2 + 4 * 0.5 + 2 * 1) / 18)


def test_a_suppressed_row_counts_as_everything() -> None:
    made = table(ROWS)
    assert tn.evaluate.discernibility(made, SCHEMA, suppressed=2) == 29 + 2 * 11
    assert tn.evaluate.average_class_size(made, SCHEMA, suppressed=3) == 12 / 3
    assert tn.evaluate.ncp(made, SCHEMA, suppressed=1) == pytest.approx((5 + 2) / 20)


def test_definitions() -> None:
    rng = random.Random(3)
    for _ in range(20):
        rows = [(str(rng.randint(0, 3)), rng.choice("fm")) for _ in range(30)]
        sizes = Counter(rows)
        assert tn.evaluate.discernibility(table(rows), SCHEMA) == sum(sizes[row] for row in rows)
        assert tn.evaluate.average_class_size(table(rows), SCHEMA) == 30 / len(sizes)
        assert tn.evaluate.ncp(table(rows), SCHEMA) == 0


def test_the_ends_of_the_range() -> None:
    nothing = table([("[0, 100]", "*")] * 5)
    assert tn.evaluate.ncp(nothing, SCHEMA) == 1
    assert tn.evaluate.discernibility(nothing, SCHEMA) == 25


def test_of_a_blank_nothing_is_known() -> None:
    assert tn.evaluate.ncp(table([(None, "f"), ("3", "f")]), SCHEMA) == 0.25


def test_files_and_columns_by_name(tmp_path: Path) -> None:
    file = tmp_path / "made.csv"
    file.write_text('age,sex\n"[0, 20]",f\n"[0, 20]",f\n"[21, 40]",m\n')
    assert tn.evaluate.discernibility(file, quasi_identifiers=["age"]) == 5
    assert tn.evaluate.ncp(file, SCHEMA) == pytest.approx((0.2 + 0.2 + 0.19) / 6)


def test_what_is_not_recoded_by_this_schema_is_refused() -> None:
    with pytest.raises(InvalidTable, match="`age`"):
        tn.evaluate.ncp(table([("[0, 200]", "f")]), SCHEMA)
    with pytest.raises(InvalidArgument, match="quasi-identifiers"):
        tn.evaluate.discernibility(table(ROWS))
    with pytest.raises(InvalidArgument):
        tn.evaluate.average_class_size(table(ROWS), SCHEMA, k=0)


# -- All about utility in one value, for the holder ------------------------------------------------

ORIGINAL = pd.DataFrame(UTILITY_ROWS)
MASKED = ORIGINAL.assign(pay=[200, 200, 200, 250, 250, 250, 250], ill=["flu"] * 7)


def test_every_figure_is_the_one_measured_alone() -> None:
    found = tn.evaluate.utility(ORIGINAL, MASKED, people())
    ev = tn.evaluate
    assert found.sse == ev.sse(ORIGINAL, MASKED, schema=people())
    assert dict(found.sse_by_column)["pay"] == 2 * 100**2 + 2 * 150**2 + 2 * 50**2
    assert found.sse == pytest.approx(sum(value for _, value in found.sse_by_column))
    assert found.correlation == ev.correlation_difference(ORIGINAL, MASKED)
    assert found.columns == ev.distributions(ORIGINAL, MASKED, schema=people())
    assert found.propensity == ev.propensity(ORIGINAL, MASKED)
    relative = dict(found.sse_by_column)["pay"] / 1000**2 + 5
    assert found.relative_error == pytest.approx(math.sqrt(relative / (7 * 2)))
    by_column = dict(found.relative_by_column)
    assert by_column["ill"] == pytest.approx(math.sqrt(5 / 7))
    assert by_column["age"] == by_column["town"] == 0


def test_columns_that_nobody_touched_do_not_flatter() -> None:
    """The mutant averages over all columns: ten untouched ones would hide a third of the error."""
    found = tn.evaluate.utility(ORIGINAL[["age", "town", "pay"]], MASKED, people())
    alone = tn.evaluate.utility(ORIGINAL[["pay"]], MASKED, people())
    assert found.relative_error == alone.relative_error > 0
    assert "Unchanged: age, town." in str(found)
    assert "No value changed." in str(tn.evaluate.utility(ORIGINAL, ORIGINAL, people()))


def test_an_unchanged_table_is_worth_it() -> None:
    found = tn.evaluate.utility(ORIGINAL, ORIGINAL, people())
    assert (found.sse, found.relative_error) == (0, 0)
    assert found.correlation is not None
    assert found.correlation.mean == 0
    assert found.propensity.score == pytest.approx(0, abs=1e-20)
    assert all(column.histogram == 0 for column in found.columns)


def test_it_can_be_read_by_people_and_programs() -> None:
    constant = ORIGINAL.assign(pay=0)
    found = tn.evaluate.utility(constant, MASKED, people())
    facts = json.loads(found.to_json(), parse_constant=lambda word: pytest.fail(word))
    assert set(facts) == {part.name for part in dataclasses.fields(found)}
    assert facts["columns"][3]["variance"] == "inf"
    assert facts["correlation"]["pairs"][0]["columns"] == ["age", "pay"]
    text = str(found)
    assert "Correlations moved by" in text
    assert "infinite" in text
    words = tn.evaluate.utility(ORIGINAL[["ill"]], MASKED[["ill"]], people())
    assert words.correlation is None
    assert json.loads(words.to_json())["correlation"] is None
    assert "Correlations" not in str(words)
    with pytest.raises(InvalidArgument, match="There is no schema"):
        tn.evaluate.utility(ORIGINAL, MASKED, None)


def test_what_only_rounding_left_is_shown_as_nothing() -> None:
    found = tn.evaluate.utility(ORIGINAL, MASKED, people())
    dust = dataclasses.replace(found.columns[0], mean=1.1e-16, variance=0.25)
    text = str(dataclasses.replace(found, columns=(dust, *found.columns[1:])))
    assert "e-16" not in text
    assert "0.25" in text
