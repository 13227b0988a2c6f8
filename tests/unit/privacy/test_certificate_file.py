"""`certificate.json`: indented for people, while the canonical text stays."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path

import pytest

import tenue as tn
from tenue.privacy import Certificate
from unit.publish.census import people, schema

BEFORE = sorted(
    (Path(__file__).parents[2] / "golden" / "written-before-0.2").glob("**/*certificate*.json")
)


def test_the_file_of_a_release_is_indented_and_names_table_and_day(tmp_path: Path) -> None:
    release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=False)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "certificate.json").read_text(encoding="utf-8")
    read = json.loads(text)
    assert list(read)[:3] == ["table", "date", "promise"]
    assert read["table"] == "people"
    assert datetime.date.fromisoformat(read["date"]) <= datetime.datetime.now(datetime.UTC).date()
    assert len(text.splitlines()) > 20
    assert max(map(len, text.splitlines())) < 700
    found = Certificate.from_json(text)
    assert found == release.certificate
    assert (found.table, found.date) == (read["table"], read["date"])
    assert "people" in str(found)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["files"]["certificate.json"] == hashlib.sha256(text.encode()).hexdigest()
    checked = tn.evaluate.check(str(tmp_path / "out" / "table.parquet"), schema())
    assert checked.certificate_fits


def test_the_canonical_text_has_one_line_and_no_empty_keys() -> None:
    """Digests of releases and the goldens of answers are computed from it."""
    plain = Certificate(
        promise=tn.KAnonymity(4), neighbours="replace", unit="record", mechanism="m"
    )
    assert "\n" not in plain.to_json()
    assert {"table", "date"}.isdisjoint(json.loads(plain.to_json()))
    assert json.loads(plain.to_json(indent=2)) == json.loads(plain.to_json())


@pytest.mark.parametrize("path", BEFORE, ids=lambda path: path.parent.name + path.stem)
def test_a_certificate_written_before_keeps_its_canonical_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8").strip()
    found = Certificate.from_json(text)
    assert found.table == found.date == ""
    former = json.loads(text)["sentence"]
    assert found.to_json().replace(found.promise.sentence(), former) == text


@pytest.mark.parametrize("key", ["table", "date"])
def test_a_changed_table_or_day_is_another_certificate(key: str) -> None:
    release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=False, preview=True)
    facts = release.certificate.to_dict()
    assert Certificate.from_json(json.dumps(facts | {key: "2001-01-01"})) != release.certificate
    with pytest.raises(tn.Refused):
        Certificate.from_json(json.dumps(facts | {key: ""}))
