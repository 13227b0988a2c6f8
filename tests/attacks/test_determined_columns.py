"""A column that follows from others undoes what was done to them: the holder is warned of it.

Nothing stops these attacks but the holder, who chooses roles. Each succeeds on the release, and the
behaviour of 0.1.0, which said nothing, is the mutant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.two_tables.distribution_similarity import _fitted
from tenue.noise import Seeded
from tenue.publish.release import warnings_of

N, K = 200, 5
KNOWN = {"type": "number", "bounds": [0, 100_000], "role": "quasi-identifier"}
SECRET = {**KNOWN, "role": "confidential"}
OTHER = {**KNOWN, "role": "other"}


def amounts(seed: int) -> Any:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.0005")
    return np.abs(np.array(law.sample(N, source=Seeded(seed)), np.int64)) + 1000


EARNED, GIVEN, OWED = amounts(1), amounts(2), amounts(3)
TABLE = pa.table({"earned": EARNED, "given": GIVEN, "owed": OWED, "total": EARNED + GIVEN})


def schema(**columns: dict[str, Any]) -> tn.Schema:
    head = {"name": "t", "unit": "record", "neighbours": "replace"}
    return tn.Schema.from_dict({"table": head, "columns": columns})


MASKED_PARTS = schema(earned=KNOWN, given=KNOWN, owed=SECRET, total=SECRET)


def of_0_1_0(release: tn.Release) -> list[str]:
    """The mutant: only a column of role other whose values all differ was warned of."""
    loose = release.certificate.parameters.get("unprotected", "").split(", ")
    found = release.table
    return [
        name
        for name in found.column_names
        if name in loose and len(set(found.column(name).to_pylist())) == found.num_rows
    ]


def test_a_total_of_masked_parts_makes_every_row_unique() -> None:
    """Five people share every combination of quasi-identifiers; their totals find all of them."""
    release = tn.publish(TABLE, schema=MASKED_PARTS, method="microaggregate", k=K)
    assert release.risk.check is not None
    assert release.risk.check.k >= K
    published = release.table.column("total").to_pylist()
    found = [published.count(earned + given) for earned, given in zip(EARNED, GIVEN, strict=True)]
    assert found.count(1) > 0.95 * N  # whoever knows both parts of a person finds the one row
    assert not any("total" in name for name in of_0_1_0(release))
    (warning,) = (text for text in warnings_of(release) if "`total`" in text)
    assert "`total` follows from `earned`, `given` (R² = 1), and is released unchanged" in warning
    assert "`total` follows from" in release.report()
    assert "`total` follows from" in " ".join(str(release).split())
    (one,) = release.risk.to_dict()["recomputed"]
    assert (one["name"], one["by"], one["measure"]) == ("total", ("earned", "given"), "linear")
    assert one["score"] == pytest.approx(1)


def test_a_total_that_is_masked_too_finds_nobody_and_needs_no_warning() -> None:
    declared = schema(earned=KNOWN, given=KNOWN, owed=SECRET, total=KNOWN)
    release = tn.publish(TABLE, schema=declared, method="microaggregate", k=K)
    published = release.table.column("total").to_pylist()
    assert all(published.count(value) >= K for value in published)
    assert (release.risk.determined, release.risk.recomputed) == ((), ())
    assert not any("follows from" in text for text in warnings_of(release))


def test_a_swapped_part_is_subtracted_from_its_total() -> None:
    """Whose income a row shows is uncertain; what remains of the total is not."""
    declared = schema(earned=SECRET, given=KNOWN, owed=KNOWN, total=KNOWN)
    release = tn.publish(TABLE, schema=declared, method="swap", k=K)
    rows = release.table.to_pylist()
    own = {(row["given"], row["owed"]): row["total"] - row["given"] for row in rows}
    truth = {(g, o): e for e, g, o in zip(EARNED, GIVEN, OWED, strict=True)}
    assert own == truth
    assert of_0_1_0(release) == []
    assert any(
        "`earned` follows from `given`, `total` (R² = 1)" in text
        and "however it was protected" in text
        for text in warnings_of(release)
    )


def test_a_saved_file_is_warned_of_by_check(tmp_path: Any) -> None:
    """No original is at hand: what the file shows of itself must do."""
    declared = schema(earned=SECRET, given=KNOWN, owed=KNOWN, total=KNOWN)
    found = tn.evaluate.check(TABLE, schema=declared)
    assert any("`earned` follows from `given`, `total`" in text for text in found.warnings)
    assert "`earned` follows from" in str(found).partition("k = ")[0]


def test_one_duplicate_does_not_hide_a_column_that_tells_everybody_apart() -> None:
    numbers = np.arange(N)
    numbers[1] = numbers[0]
    table = TABLE.drop_columns(["total"]).append_column("case", pa.array(numbers))
    declared = schema(earned=KNOWN, given=KNOWN, owed=SECRET, case={**OTHER, "grid": 1})
    release = tn.publish(table, schema=declared, method="microaggregate", k=K)
    assert of_0_1_0(release) == []
    (warning,) = (text for text in warnings_of(release) if "`case`" in text)
    assert "finds the row with probability 99.5 %" in warning


def by_means(original: Any, masked: Any) -> float:
    """The mutant: a model of every column by itself, linearly, sees nothing but means."""
    both = np.concatenate([original, masked]).astype(float)
    spread = (both - both.mean(axis=0)) / both.std(axis=0)
    design = np.column_stack([np.ones(len(both)), spread])
    chances = _fitted(design, np.repeat([0.0, 1.0], len(original)))
    return float(((chances - 0.5) ** 2).mean())


@pytest.mark.parametrize("k", [N, N // 2])
def test_groups_of_everybody_are_told_from_the_original(k: int) -> None:
    """k = n: only means are left, and a measure of means says that nothing can be told apart."""
    declared = schema(earned=KNOWN, given=KNOWN, owed=KNOWN)
    table = TABLE.drop_columns(["total"])
    release = tn.publish(table, schema=declared, method="microaggregate", k=k)
    shown = np.column_stack([column.to_numpy() for column in release.table.columns])
    assert by_means(np.column_stack([EARNED, GIVEN, OWED]), shown) < 1e-6
    assert release.utility.propensity.score > 0.1
    assert release.utility.propensity.ratio > 1
