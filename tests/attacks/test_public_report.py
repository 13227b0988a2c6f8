"""A public report tells nothing that the released table does not, and never leaves before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn
from chance import BITS
from tenue.evaluate import associations
from tenue.evaluate.check import check_groups
from tenue.evaluate.two_tables.distribution import marginals
from tenue.publish.release import Shown, report_of
from unit.publish.census import people, schema

METHODS: list[dict[str, Any]] = [
    {"method": "microaggregate", "k": 4},
    {"method": "swap", "k": 4},
    {"method": "swap", "k": 4, "by": "each-confidential", "override": "homogeneous-groups"},
    {"method": "generalise", "k": 4, "suppress": 0.2},
    {"method": "generalise", "k": 4, "by": "full-domain", "suppress": 0.2},
    {"method": "local-suppression", "k": 4},
    {"method": "anatomy", "k": 4},
    {"method": "t-close", "k": 4, "t": 2},
    {"method": "t-close", "k": 4, "t": 2, "groups": "hidden"},
]
PERTURB: dict[str, Any] = {"method": "perturb", "retain": 0.7, "noise": 0.2, "correlated": True}
"""For records only: the rows of one person are refused."""
UNITS = [*((asked, unit) for unit in ("record", "name") for asked in METHODS), (PERTURB, "record")]
NUMBERS = {"wealth": {"type": "number", "bounds": [0, 1000], "role": "confidential"}}


def wealthy(unit: str = "record") -> tn.Schema:
    made = schema(unit, ill=None).to_dict()
    return tn.Schema.from_dict({**made, "columns": {**made["columns"], **NUMBERS}})


def town(size: int = 60) -> pa.Table:
    rows = people(size)
    wealth = [int(income) for income in rows.column("income").to_pylist()]
    return rows.append_column("wealth", pa.array(wealth))


def written_by_an_intruder(release: Any, described: tn.Schema) -> str:
    """The public page that whoever has certificate, code and released table can write himself."""
    # of linked tables whose unit is a person nobody gets one; the page counts columns one by one
    linked = described.unit != "record" and len(release.tables) > 1
    table = release._published.frame if linked else release.table
    shown = [name for name in table.column_names if name in described.columns]
    table = table.select(shown)
    alone = marginals(None, table, described)
    same = associations(table, table, schema=described)
    method = release._published.method
    risk = release.risk
    if described.unit == "record":
        found = method.explained(check_groups(table, described))
        # how buckets were read, which the schema and the method tell
        notes = tuple(note for note in found.notes if "some of its values are not" not in note)
        risk = replace(risk, check=replace(found, notes=notes))
    return (
        report_of(
            method,
            release.certificate,
            Shown(alone, marginals(table, table, described)),
            replace(release.verdict(), risk="?", utility="?", left_out="?", where="?"),
            rows=release.rows,
            columns=len(release.columns),
            risk=risk,
            utility=replace(release.utility, association=same),
            history=(),
            warnings=(),
        )
        .public()
        .html()
    )


@pytest.mark.parametrize(
    ("asked", "unit"),
    UNITS,
    ids=lambda one: one if isinstance(one, str) else "-".join(map(str, one.values())),
)
def test_whoever_has_the_table_can_write_the_page(asked: dict[str, Any], unit: str) -> None:
    described = wealthy(unit)
    release = tn.publish(town(), schema=described, ledger=False, **asked)
    assert release.page(public=True) == written_by_an_intruder(release, described)


@pytest.mark.parametrize("groups", ["shown", "hidden"])
def test_values_inside_a_bucket_are_not_told_by_correlations(groups: str) -> None:
    """The middle value of a bucket, which is somebody's, stood for it in public correlations."""
    places = [i * 7 % 30 for i in range(30)]
    pages, tables = [], []
    for middle in (20, 970):  # of the second of three buckets, whose ends stay
        values = [middle if place == 15 else place + 960 * (place > 15) for place in places]
        town = pa.table({"age": [20 + place for place in places], "income": values})
        described = schema(job=None, sex=None, ill=None, note=None, name=None)
        with BITS.named("the same bits"):
            asked: dict[str, Any] = {"method": "t-close", "k": 5, "t": 2, "groups": groups}
            release = tn.publish(town, schema=described, ledger=False, **asked)
        pages.append(release.page(public=True))
        tables.append(release.table)
    assert tables[0].equals(tables[1])
    assert pages[0] == pages[1]


def test_a_public_report_is_registered_before_it_is_handed_out(tmp_path: Path) -> None:
    """It shows the distributions of the table: two of them differ by the record that was added."""
    books = tn.ledger.Memory()
    asked: dict[str, Any] = {"schema": schema(), "ledger": books, "k": 4}
    first = tn.publish(people(60), method="swap", **asked)
    second = tn.publish(people(61), method="generalise", **asked)  # nothing has left so far
    assert "for the holder" in first.page()
    assert not first.left
    tn.report.write(first, tmp_path / "first.html", public=True)
    assert first.left
    with pytest.raises(tn.Refused, match="released before"):
        second.page(public=True)
    with pytest.raises(tn.Refused, match="released before"):
        tn.report.write(second, tmp_path / "second.html", public=True)
    assert not (tmp_path / "second.html").exists()


@pytest.mark.parametrize("asked", METHODS, ids=lambda asked: "-".join(map(str, asked.values())))
def test_a_preview_has_no_public_report(asked: dict[str, Any]) -> None:
    made = tn.publish(people(60), schema=schema(ill=None), preview=True, **asked)
    assert "for the holder" in made.page()
    with pytest.raises(tn.Refused, match="preview"):
        made.page(public=True)
