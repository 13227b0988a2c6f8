"""A method of publishing that no file of `src` knows: published, certified, registered and saved.

Whoever adds a real one writes such a class into `publish/methods/` and names it in `catalogue`.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow.csv
import pytest

import tenue as tn
from tenue.arguments import whole
from tenue.errors import Fault, InvalidArgument, InvalidSchema
from tenue.noise.source import Source
from tenue.privacy.loss import EpsilonDelta
from tenue.publish.methods.catalogue import METHODS
from tenue.publish.methods.contract import Method, Published, Way
from tenue.publish.table.cells import Numbers
from tenue.publish.table.input_table import Original
from tenue.schema import Schema
from unit.publish.census import people, schema

SIGNATURE = inspect.signature(tn.publish)  # before the toy is known
LINKED = "Rows of the two tables that are linked are one person's."


@dataclass(frozen=True, kw_only=True)
class Blank(Method):
    """Everybody gets the same quasi-identifiers, and confidential values a table of their own."""

    name = "blank"
    crowd: int

    @classmethod
    def read(cls, schema: Schema, override: object, *, crowd: int = 10) -> Self:
        found = cls(
            schema=schema,
            override=cls.insisted(override),
            crowd=whole(crowd, "crowd", least=2),
        )
        if not found.quasi:
            raise found.no_role("quasi-identifier", "Quasi-identifiers are blanked")
        return found

    @property
    def changed(self) -> tuple[str, ...]:
        return self.quasi

    @property
    def fewest(self) -> int:
        return self.crowd

    def publish(self, original: Original, source: Source) -> Published:
        blanks = {}
        for name in self.quasi:
            column = original.cells[name]
            blanks[name] = replace(column, numbers=np.full(column.size, column.first))
        cells = {**original.cells, **blanks}

        def table(names: tuple[str, ...]) -> Any:
            link = {"link": list(range(original.size))}
            return pyarrow.table(link | {name: cells[name].to_arrow() for name in names})

        tables = {"people": table(self.quasi), "values": table(self.confidential)}
        return Published(cells, tables=tables)

    def verify(self, table: Any, persons: Numbers | None) -> None:
        if tn.evaluate.check(table, self.schema).k < self.crowd:
            raise Fault("too few look alike")

    @property
    def promise(self) -> tn.KAnonymity:
        return tn.KAnonymity(self.crowd)

    way = Way("blanks instead of quasi-identifiers", "this file")

    @property
    def parameters(self) -> dict[str, str]:
        return {"crowd": str(self.crowd), "quasi-identifiers": ", ".join(self.quasi)}

    @property
    def limits(self) -> tuple[str, ...]:
        return (LINKED,)


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    METHODS["blank"] = Blank
    yield
    del METHODS["blank"]


def test_it_is_published_with_its_own_option_and_certified() -> None:
    ledger = tn.ledger.Memory()
    release = tn.publish(people(), schema=schema(), method="blank", crowd=20, ledger=ledger)
    certificate = release.certificate
    assert certificate.promise == tn.KAnonymity(20)
    assert certificate.mechanism == "blanks instead of quasi-identifiers"
    assert certificate.parameters["method"] == "blank"
    assert certificate.parameters["crowd"] == "20"
    assert certificate.parameters["registered"] == "yes"
    limits = " ".join(certificate.does_not_promise)
    assert certificate.does_not_promise[0] == LINKED
    assert "It does not protect `note`" in limits
    assert "number of published rows" in limits
    assert tn.Certificate.from_json(certificate.to_json()) == certificate
    assert release.table.num_rows == 60
    (entry,) = [entry for entry in ledger.entries() if entry.kind == "rows-released"]
    assert entry.fact.method == "blank"  # type: ignore[union-attr]
    assert entry.fact.release_digest == release.digest  # type: ignore[union-attr]
    with pytest.raises(tn.errors.Conflict):
        tn.publish(people(), schema=schema(), method="swap", k=3, ledger=ledger)


def test_its_tables_are_told_about_and_saved_with_manifest(tmp_path: Path) -> None:
    release = tn.publish(people(), schema=schema(), method="blank")
    assert list(release.tables) == ["people", "values"]
    assert release.tables["values"].column_names == ["link", "income", "ill"]
    assert release.table.column_names == ["age", "job", "sex", "income", "ill", "note"]
    assert set(release.table.column("age").to_pylist()) == {0}
    links = release.tables["people"].column("link").to_pylist()
    assert links != sorted(links)  # rows leave in random order
    assert links != release.tables["values"].column("link").to_pylist()  # each table in its own
    told = " ".join(release.report().split())
    assert "publish: blank: age, job, sex" in told
    assert "k = 60" in told
    assert str(release).startswith("Release of people, blank: 60 rows, 6 columns")
    manifest = release.save(tmp_path / "out", kind="csv")
    files = {path.name for path in (tmp_path / "out").iterdir()}
    tables = {"people.csv", "values.csv"}
    assert files == tables | {"certificate.json", "manifest.json", "report.html"}
    assert "A protected copy of " in (tmp_path / "out" / "report.html").read_text()
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == manifest
    assert manifest["tables"]["people"]["columns"] == ["link", "age", "job", "sex"]
    assert manifest["tables"]["values"]["rows"] == 60
    for name, digest in manifest["files"].items():
        found = hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest()
        assert found == digest
    read = pyarrow.csv.read_csv(tmp_path / "out" / "values.csv")
    saved = dict(zip(read.column("link").to_pylist(), read.column("ill").to_pylist(), strict=True))
    values = release.tables["values"]
    kept = zip(values.column("link").to_pylist(), values.column("ill").to_pylist(), strict=True)
    assert saved == dict(kept)
    release.save(tmp_path / "out", replace=True)
    assert (tmp_path / "out" / "people.parquet").exists()
    assert not (tmp_path / "out" / "people.csv").exists()


def test_a_folder_with_more_than_its_tables_is_not_replaced(tmp_path: Path) -> None:
    release = tn.publish(people(), schema=schema(), method="blank")
    release.save(tmp_path / "out")
    (tmp_path / "out" / "thesis.csv").write_text("years of work")
    with pytest.raises(InvalidArgument, match="do not belong to a release"):
        release.save(tmp_path / "out", replace=True)
    assert (tmp_path / "out" / "thesis.csv").read_text() == "years of work"


def test_each_table_counts_for_the_digest() -> None:
    release = tn.publish(people(), schema=schema(), method="blank")
    kept = release._published
    other = replace(kept, tables={**kept.tables, "values": kept.tables["people"]})
    renamed = replace(kept, tables={"a": kept.tables["people"], "b": kept.tables["values"]})
    digests = {replace(release, _published=one).digest for one in (kept, other, renamed)}
    assert len(digests) == 3


def test_frames_come_back_as_frames() -> None:
    release = tn.publish(people().to_pandas(), schema=schema(), method="blank")
    assert all(isinstance(table, pd.DataFrame) for table in release.tables.values())
    alone = tn.publish(people().to_pandas(), schema=schema(), method="swap", k=3)
    assert alone.tables == {"table": alone.table}


def test_what_it_does_not_take_or_cannot_keep_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"`k` is given with method=\"blank\".*`crowd`"):
        tn.publish(people(), schema=schema(), method="blank", k=3)
    with pytest.raises(InvalidArgument, match=r"`crowd` is given with method=\"swap\""):
        tn.publish(people(), schema=schema(), method="swap", k=3, crowd=5)
    with pytest.raises(InvalidArgument, match=r"has no parameter `crowds`.*crowd"):
        tn.publish(people(), schema=schema(), method="blank", crowds=3)
    with pytest.raises(InvalidArgument, match='one of "second-release"'):
        tn.publish(people(), schema=schema(), method="blank", override="homogeneous-groups")
    with pytest.raises(InvalidArgument, match='"private", "blank"'):
        tn.publish(people(), schema=schema(), method="blanks")
    with pytest.raises(InvalidSchema):
        tn.publish(people(), schema=schema(age=None, job=None, sex=None), method="blank")
    with pytest.raises(tn.errors.Unreachable):
        tn.publish(people(), schema=schema(), method="blank", crowd=61)


def test_what_breaks_its_promise_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Blank.publish

    def leaks(self: Blank, original: Original, source: Source) -> Published:
        made = real(self, original, source)
        return replace(made, cells=original.cells)

    monkeypatch.setattr(Blank, "publish", leaks)
    ledger = tn.ledger.Memory()
    with pytest.raises(Fault):
        tn.publish(people(), schema=schema(), method="blank", ledger=ledger)
    assert list(ledger.entries()) == []


def test_its_price_is_debited_before_a_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Blank, "price", EpsilonDelta.of(0.5), raising=False)
    ledger = tn.ledger.Memory()
    priced = tn.Schema.from_dict(schema().to_dict() | {"budget": {"total": 1}})
    tn.publish(people(), schema=priced, method="blank", ledger=ledger)
    assert ledger.balance("people").spent == Fraction(1, 2)
    with pytest.raises(InvalidArgument, match="costs epsilon"):
        tn.publish(people(), schema=priced, method="blank", ledger=False)
    with pytest.raises(InvalidArgument, match="a preview pays nothing"):
        tn.publish(people(), schema=priced, method="blank", ledger=ledger, preview=True)
    assert ledger.balance("people").spent == Fraction(1, 2)
    again: dict[str, Any] = {"schema": priced, "method": "blank", "override": "second-release"}
    with pytest.raises(tn.Refused):  # the price is spent although nothing left
        tn.publish(people().slice(0, 3), ledger=ledger, **again)
    assert ledger.balance("people").spent == 1
    # a file is validated first, as whenever its holder opens it; its rows are not read
    original = importlib.import_module("tenue.publish.table.input_table")
    monkeypatch.setattr(original.Validated, "read", lambda *given, **_: pytest.fail("rows read"))
    with pytest.raises(tn.errors.OverBudget):
        tn.publish(people(), ledger=ledger, **again)
    assert ledger.verify()


def test_the_signature_stays_that_of_the_methods_of_tenue() -> None:
    assert inspect.signature(tn.publish) == SIGNATURE
    assert list(SIGNATURE.parameters)[:4] == ["source", "schema", "method", "k"]
