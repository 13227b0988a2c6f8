"""What is published of a table in Spark is what is published of the same table in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.publish import save
from tenue.publish.methods import contract, private
from unit.publish.stored import people, rows_of, schema, stored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table in Spark or in a file is too large to be held."""
    monkeypatch.setattr(contract, "VALUE", 1 << 40)
    monkeypatch.setattr(private, "VALUE", 1 << 40)


def in_spark(spark: SparkSession, declared: Any = None, **asked: Any) -> Any:
    """Published on the machines."""
    frame = spark.createDataFrame(people()).repartition(3)
    made = tn.publish(frame, schema=declared or schema(), ledger=tn.ledger.Memory(), **asked)
    assert any(step.name == "passes" for step in made.history)
    return made


@pytest.fixture
def many_parts(spark: SparkSession) -> Iterator[None]:
    """Few rows are spread as many are."""
    apart = {"spark.sql.adaptive.enabled": "false", "spark.sql.files.openCostInBytes": "0"}
    before = {name: spark.conf.get(name) for name in apart}
    for name, value in apart.items():
        spark.conf.set(name, value)
    yield
    for name, kept in before.items():
        spark.conf.set(name, str(kept))


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize(
    "asked",
    [
        {"method": "generalise", "k": 20},
        {"method": "microaggregate", "by": "each-quasi-identifier", "k": 6},
    ],
    ids=["generalise", "microaggregate"],
)
def test_what_is_not_drawn_is_the_same(
    spark: SparkSession, tmp_path: Path, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = in_spark(spark, **asked)
    path = stored(tmp_path, people())
    held = tn.publish(path, schema=schema(), ledger=False, **asked)
    assert rows_of(found) == rows_of(held)
    assert found.risk.check == held.risk.check
    manifest = found.save(tmp_path / "out")
    parts = sorted((tmp_path / "out").glob("table-*.parquet"))
    assert len(parts) > 1  # of several machines
    assert [one.name for one in parts] == [n for n in manifest["files"] if n.startswith("table-")]
    assert sum(pq.read_metadata(one).num_rows for one in parts) == held.rows
    pattern = tmp_path / "out" / "table-*.parquet"
    check = tn.evaluate.check(pattern, schema=tn.Schema.from_dict(schema()))
    assert check.certificate_fits
    assert (check.rows, check.k) == (held.rows, held.risk.check.k)
    one = tn.evaluate.check(parts[0], schema=tn.Schema.from_dict(schema()))
    assert not one.certificate_fits  # it speaks of all of them
    with monkeypatch.context() as patch:  # the same again, and nothing half-written
        patch.setattr(save, "_digest", lambda _: "another")
        with pytest.raises(tn.Fault):
            found.save(tmp_path / "again")
    assert not (tmp_path / "again").exists()
    parts[0].unlink()
    gone = tn.evaluate.check(pattern, schema=tn.Schema.from_dict(schema()))
    assert not gone.certificate_fits


def test_a_swap_has_the_same_groups(spark: SparkSession, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"method": "swap", "by": "each-confidential", "k": 5}
    found = in_spark(spark, **asked)
    path = stored(tmp_path, people())
    held = tn.publish(path, schema=schema(), ledger=False, **asked)
    assert found._published.shown.sizes == held._published.shown.sizes
    for name in held.table.column_names:
        one, other = (sorted(map(repr, r.table[name].to_pylist())) for r in (held, found))
        assert one == other
    kept = ["age", "town", "born", "note"]
    rows = [sorted(map(repr, r.table.select(kept).to_pylist())) for r in (held, found)]
    assert rows[0] == rows[1]
    whole = [sorted(map(repr, r.table.to_pylist())) for r in (held, found)]
    assert whole[0] != whole[1]  # values moved


ONE_SECRET = schema(ill={**schema()["columns"]["ill"], "role": "other"})


@pytest.mark.parametrize(
    ("declared", "asked"),
    [
        (ONE_SECRET, {"method": "anatomy", "by": "confidential", "k": 7}),
        (schema(), {"method": "t-close", "k": 5, "t": 2}),
        (ONE_SECRET, {"method": "t-close", "k": 5, "t": 2, "groups": "hidden"}),
    ],
    ids=["anatomy", "t-close", "hidden"],
)
def test_groups_of_records_and_buckets_are_the_same(
    spark: SparkSession, tmp_path: Path, declared: dict[str, Any], asked: dict[str, Any]
) -> None:
    """Sizes of groups, buckets and how close they are; what is measured says so of all rows."""
    found = in_spark(spark, declared, **asked)
    held = tn.publish(stored(tmp_path, people()), schema=declared, ledger=False, **asked)
    assert found._published.shown.sizes == held._published.shown.sizes
    told = ("partition", "homogeneous", "buckets", "closeness")
    assert [str(s) for s in found.history if s.name in told] == [
        str(s) for s in held.history if s.name in told
    ]
    for name in (name for name in held.table.column_names if name != "group"):
        one, other = (sorted(map(repr, r.table[name].to_pylist())) for r in (held, found))
        assert one == other
    assert {n: t.schema for n, t in found.tables.items()} == {
        n: t.schema for n, t in held.tables.items()
    }
    blind = [one.risk.rematched["pay"].records_blind for one in (held, found)]
    assert blind[0] == pytest.approx(blind[1])


@pytest.mark.any_draw("machines draw bits of their own; the price is such that few are seen")
@pytest.mark.parametrize("by", ["tree", "microaggregation"])
def test_a_private_table_is_drawn_from_rows_that_stay_there(spark: SparkSession, by: str) -> None:
    """All but its price comes from counts: with a large epsilon it is the table, nearly."""
    declared = {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100]},
            "note": {"type": "number", "bounds": [0, 9]},
        },
        "budget": {"total": 1000},
    }
    table = people(blanks=0).select(["age", "note"])
    frame = spark.createDataFrame(table).repartition(3)
    books = tn.ledger.Memory()
    made = tn.publish(
        frame, schema=declared, ledger=books, method="private", epsilon=900, by=by, memory=1 << 27
    )
    assert made.rows == 300
    means = [sum(t["age"].to_pylist()) / 300 for t in (table, made.table)]
    assert abs(means[0] - means[1]) < 3
    assert books.balance("people").spent == 900


def test_a_second_release_of_the_rows_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    books = tn.ledger.Memory()
    asked: dict[str, Any] = {"method": "swap", "by": "each-confidential", "k": 5}
    frame = spark.createDataFrame(people())
    assert tn.publish(frame, schema=schema(), ledger=books, **asked).table is not None
    declared = schema()
    declared["table"]["name"] = "renamed"
    with pytest.raises(tn.Refused, match="released"):
        tn.publish(stored(tmp_path, people()), schema=declared, ledger=books, **asked)
