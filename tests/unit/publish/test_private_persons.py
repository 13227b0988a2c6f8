"""Private tables of persons with several rows: limited, paid for, drawn, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, NotPromised
from tenue.ledger import Memory
from tenue.noise.source import Seeded
from tenue.publish.methods.private import Private
from tenue.publish.publish import plan_of
from tenue.publish.synthetic.persons import Persons
from tenue.publish.synthetic.plan import WAYS

PERSONS = 1500


def schema(**table: Any) -> dict[str, Any]:
    head = {"name": "visits", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 3}
    return {
        "table": head | table,
        "columns": {
            "who": {"type": "identifier"},
            "cost": {"type": "number", "bounds": [0, 999]},
            "day": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]},
            "kind": {"type": "category", "categories": ["a", "b", "c"]},
        },
        "budget": {"total": 1000},
    }


def visits(heavy: int = 0) -> pa.Table:
    """One to four rows of a person; `heavy` more of the first."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(PERSONS), rng.integers(1, 5, PERSONS))
    who = np.concatenate([who, np.zeros(heavy, np.int64)])
    kinds = np.where(np.arange(who.size) < who.size - heavy, "a", "c")
    return pa.table(
        {
            "who": pa.array([f"p{one}" for one in who]),
            "cost": rng.integers(0, 500, who.size),
            "day": np.datetime64("2020-03-01") + rng.integers(0, 30, who.size),
            "kind": kinds,
        }
    )


def publish(rows: Any = None, described: dict[str, Any] | None = None, **given: Any) -> Any:
    options = {"epsilon": 100, "ledger": Memory(), **given}
    table = visits() if rows is None else rows
    return tn.publish(table, schema=described or schema(), method="private", **options)


@pytest.mark.parametrize("neighbours", ["replace", "add-or-remove"])
def test_persons_with_several_rows_are_published(neighbours: str) -> None:
    books = Memory()
    release = publish(described=schema(neighbours=neighbours), ledger=books)
    assert release.table.column_names == ["cost", "day", "kind"]
    kept = np.minimum(np.unique(visits()["who"].to_numpy(False), return_counts=True)[1], 3).sum()
    assert abs(release.table.num_rows - kept) < 60
    assert release.table["cost"].drop_null().to_numpy().mean() == pytest.approx(250, abs=20)
    assert books.balance("visits").spent == 100
    assert release.certificate.promise == tn.Pure(100)
    assert release.certificate.unit == "who"


@pytest.mark.parametrize("by", [*WAYS, "auto"])
def test_every_way_draws_rows_of_persons(by: str) -> None:
    described = schema()
    if by == "copula":
        del described["columns"]["kind"]
    release = publish(described=described, by=by)
    assert abs(release.table.num_rows - 3300) < 300
    assert release.certificate.parameters["by"] == by or by == "auto"


def test_one_person_with_very_many_rows_weighs_no_more_than_the_limit() -> None:
    table = publish(visits(heavy=3000)).table
    assert abs(table.num_rows - 3300) < 300
    assert table["kind"].to_pylist().count("c") < 100


def test_rows_of_nobody_are_left_out_and_the_holder_hears_it() -> None:
    rows = visits()
    who = rows["who"].to_pylist()
    rows = rows.set_column(0, "who", pa.array([None] * 500 + who[500:]))
    release = publish(rows)
    texts = [str(step) for step in release.history]
    assert "left out: 500 rows of nobody" in texts
    assert any(text.startswith("limited: ") and "at most 3 rows" in text for text in texts)


def test_the_number_of_rows_and_all_that_follows_from_it_have_noise() -> None:
    """Releases of one table do not have one size, and the ledger does not name what follows."""
    small = visits().slice(0, 200)
    books = Memory()
    made = [publish(small, epsilon=2, ledger=books) for _ in range(5)]
    sizes = [release.table.num_rows for release in made]
    assert len(set(sizes)) > 1
    assert [int(one.certificate.parameters["rows"]) for one in made] == sizes
    way = Private.read(tn.Schema.from_dict(schema()), (), epsilon=2)
    assert {way.sized(rows).label for rows in (1, 10**3, 10**6)} == {"private"}


def test_the_certificate_says_what_holds_for_persons() -> None:
    said = publish().certificate
    limits = " ".join(said.does_not_promise)
    assert "of a person with more than 3" in limits
    assert "which rows belong to one person" in limits
    assert "It does not hide the number of published rows" not in limits
    assert "It does not hide how many rows a person has" not in limits
    assert "At most 3 rows of a person" in said.parameters["persons"]
    assert "noisy count" in said.parameters["number of rows"]


def test_a_person_column_that_is_a_category_does_not_leave() -> None:
    described = schema()
    described["columns"]["who"] = {
        "type": "category",
        "categories": [f"p{i}" for i in range(PERSONS)],
        "role": "other",
    }
    assert publish(described=described).table.column_names == ["cost", "day", "kind"]


def test_limits_are_stated_in_the_schema_and_memory_is_not_limited(tmp_path: Path) -> None:
    described = tn.Schema.from_dict(schema())
    with pytest.raises(InvalidArgument, match="brought together in memory"):
        publish(described=schema(), memory=1 << 29)
    pq.write_table(visits(), tmp_path / "visits.parquet")
    assert publish(tmp_path / "visits.parquet").rows > 3000
    assert Private.read(described, (), epsilon=1).label == "private"


def test_options_that_do_not_suit_are_refused_before_payment() -> None:
    books = Memory()
    for given in ({"k": 0}, {"by": "forest"}, {"by": "copula"}, {"epsilon": "0.0001"}):
        with pytest.raises(tn.Refused):
            publish(ledger=books, **given)
    with pytest.raises(NotPromised, match="secret"):
        publish(
            described={
                **schema(),
                "table": {"name": "v", "unit": "record", "neighbours": "add-or-remove"},
            }
        )
    assert list(books.datasets()) == []
    assert publish(k=10**6).certificate.parameters["by"] == "microaggregation"  # one group of all


def test_a_plan_reads_nothing() -> None:
    plan = tn.plan_release(schema(), 3000, 2)
    assert plan.rows == 3000
    assert plan.epsilon == 2
    assert plan.way.epsilon == Persons(3, plan.epsilon).row_epsilon == (2 - plan.epsilon / 20) / 3
    assert "At most 3 rows of a person" in str(plan)
    assert json.loads(plan.to_json())["parameters"]["persons"]
    assert plan.picture().panels
    preview = plan_of(visits(), schema=schema(), method="private", epsilon=2)
    assert preview is not None


def test_rows_are_chosen_and_resized() -> None:
    way = Persons(2, tn.plan_release(schema(), 9, 1).epsilon)
    owners = np.array([0, 0, 0, 1, -1, -1, 2, 2])
    seen = set()
    for seed in range(40):
        kept = way.kept(owners, Seeded(seed))
        assert np.bincount(owners[kept]).tolist() == [2, 1, 2]
        seen |= set(kept.tolist())
    assert seen == {0, 1, 2, 3, 6, 7}
    held = tn.plan_release(schema(), 9, 1).way.domain
    places = np.zeros((3, 3), np.int64)
    assert way.resized(places, 2, held, Seeded(1)).tolist() == [[0, 0, 0]] * 2
    made = way.resized(places, 5, held, Seeded(1))
    assert made[3:].tolist() == [[size - 1 for size in held.sizes]] * 2


@pytest.mark.parametrize("method", ["swap", "anatomy", "t-close"])
def test_methods_that_move_values_of_persons_say_what_to_do_instead(method: str) -> None:
    """They publish persons who have one value of each column; others are refused."""
    described = schema()
    for name, role in (("day", "quasi-identifier"), ("cost", "confidential"), ("kind", "other")):
        described["columns"][name]["role"] = role
    described["table"]["rows_per_unit"] = 4
    given = {"method": method, "k": 5, "ledger": False} | ({"t": 2} if method == "t-close" else {})
    rows = visits()
    with pytest.raises(NotPromised, match=r"several values of `cost`.*method='private'"):
        tn.publish(rows, schema=described, **given)
    cost = np.unique(rows["who"].to_numpy(False), return_inverse=True)[1] % 400
    alike = rows.set_column(1, "cost", pa.array(cost))
    assert tn.publish(alike, schema=described, **given).rows == rows.num_rows
