"""What the tree before the second reshaping wrote (commit 2bf79d9) opens and verifies.

Its ledger, its certificates and two of its releases lie in `written-before-0.2/`, made once by that
commit. They are never made again: a later version reads what an earlier one wrote.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import tenue as tn
from golden.ledgers import ONE, C, _census
from golden.tables import SCHEMAS, census
from golden.tables import people as persons
from tenue.privacy import Certificate

HERE = Path(__file__).parent / "written-before-0.2"
CERTIFICATES = sorted(HERE.glob("*.json"))


@pytest.fixture
def books(tmp_path: Path) -> Iterator[tn.ledger.SQLite]:
    with tn.ledger.SQLite(shutil.copy(HERE / "written.sqlite", tmp_path / "written.ledger")) as it:
        yield it


def test_its_ledger_verifies_alone_and_against_its_anchor(books: tn.ledger.SQLite) -> None:
    for found in (books.verify(), books.verify(anchor=HERE / "written.anchor")):
        assert found.ok, found.reason
        assert found.entries == 79
        assert found.head == "e4e36d6b7bba494c0e8a0cf25ead75df491825b4c0262936ac056d2f0aab752e"


def test_its_answers_stay_free_and_its_spending_stays(books: tn.ledger.SQLite) -> None:
    schema = _census(total=20, version="2")
    data = tn.protect(census(), schema=schema, ledger=books, analyst="ann")
    spent = books.balance("census").spent
    asked = [f"{C} WHERE age > {a}" for a in range(5, 95, 10)]
    means = "SELECT region, SUM(income) AS s, AVG(age) AS m FROM census GROUP BY region"
    again = [
        data.ask(f"{C} WHERE employed", epsilon=0.5),
        data.ask(means, epsilon=0.2),
        data.ask("SELECT MEDIAN(age) FROM census", epsilon=0.1, interval=0.9),
        data.ask_many(asked, epsilon=0.2)[0],
    ]
    assert [(answer.price, answer.replayed) for answer in again] == [(0, True)] * 4
    assert books.balance("census").spent == spent > 0
    other = tn.protect(persons(), schema=SCHEMAS["people"], ledger=books, analyst="bob")
    assert other.ask("SELECT COUNT(*) FROM people", epsilon=1).replayed
    coin = tn.prior.Categorical({True: "0.3", False: "0.7"})
    assert other.ask(ONE.format(5), epsilon=1, prior=coin).replayed
    assert books.verify(anchor=HERE / "written.anchor").ok


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.stem)
def test_its_certificates_are_read_and_belong_to_its_ledger(
    books: tn.ledger.SQLite, path: Path
) -> None:
    text = path.read_text(encoding="utf-8").strip()
    certificate = Certificate.from_json(text)
    read, written = json.loads(certificate.to_json()), json.loads(text)
    former = written.pop("sentence")
    assert former in {read.pop("sentence"), *certificate.promise.former_sentences}
    assert read == written
    assert str(certificate.promise) in str(certificate)
    assert books.verify_certificate(path).ok


@pytest.mark.parametrize(
    ("method", "file"), [("swap", "table.parquet"), ("anatomy", "confidential.parquet")]
)
def test_its_releases_are_vouched_for_by_their_certificates(
    tmp_path: Path, method: str, file: str
) -> None:
    folder = Path(shutil.copytree(HERE / method, tmp_path / method))
    known = ["age"] if method == "swap" else ["group"]
    assert tn.evaluate.check(folder / file, quasi_identifiers=known).certificate_fits
    path = folder / "certificate.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"replace"', '"add-or-remove"'))
    assert tn.evaluate.check(folder / file, quasi_identifiers=known).certificate_fits is False
