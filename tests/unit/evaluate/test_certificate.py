"""A certificate speaks for a file only if the manifest names the bytes of both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.evaluate.certificate import IN_GROUPS, certificate_beside
from unit.publish.census import people
from unit.publish.census import schema as whole_schema

BARE = whole_schema(note=None)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    release = tn.publish(people(), schema=BARE, method="swap", k=6)
    release.save(tmp_path / "out", kind="csv")
    return tmp_path / "out" / "table.csv"


def test_k_of_a_swapped_file_is_explained(released: Path) -> None:
    found = tn.evaluate.check(released, BARE)
    assert found.k == 1
    assert found.swapped
    assert found.to_dict()["swapped"] is True
    assert found.notes[0] == (
        "The certificate beside this file says: probabilistic k-anonymity (k = 6)."
    )
    assert "at most 1/6" in " ".join(found.notes[1].split())
    assert "have the same value, it is known" in found.notes[1]
    text = " ".join(str(found).split())
    assert text.index("do not measure the promise") < text.index("k = 1")
    assert "an intruder who finds somebody there learns the value" not in text
    elsewhere = released.parent.parent / "table.csv"
    elsewhere.write_bytes(released.read_bytes())
    plain = tn.evaluate.check(elsewhere, BARE)
    assert (plain.k, plain.swapped) == (1, False)
    assert "an intruder who finds somebody there learns the value" in " ".join(str(plain).split())


def test_what_is_promised_of_single_columns_is_measured_of_single_columns(tmp_path: Path) -> None:
    release = tn.publish(
        people(), schema=BARE, method="microaggregate", by="each-quasi-identifier", k=6
    )
    release.save(tmp_path / "out")
    path = tmp_path / "out" / "table.parquet"
    found = tn.evaluate.check(path, BARE)
    assert found.certificate_fits
    assert "nothing is promised about combinations" in found.notes[1]
    for name in ("age", "job", "sex"):
        one = tn.evaluate.check(path, BARE, quasi_identifiers=[name])
        assert one.certificate_fits
        assert one.k >= 6
    # a forged certificate that promises more than the file has
    manifest = json.loads((path.parent / "manifest.json").read_text())
    beside = path.parent / "certificate.json"
    forged = json.loads(beside.read_text())
    forged["promise"]["k"] = "60"
    beside.write_text(json.dumps(forged))
    manifest["files"]["certificate.json"] = hashlib.sha256(beside.read_bytes()).hexdigest()
    (path.parent / "manifest.json").write_text(json.dumps(manifest))
    assert not tn.evaluate.check(path, BARE, quasi_identifiers=["age"]).certificate_fits


def test_rows_that_stand_alone_in_a_private_table_are_nobody(tmp_path: Path) -> None:
    funded = BARE.replace(budget={"total": 1}, table={"neighbours": "replace"})
    books = tn.ledger.Memory()
    release = tn.publish(people(), schema=funded, method="private", epsilon=1, ledger=books)
    release.save(tmp_path / "out")
    found = tn.evaluate.check(tmp_path / "out" / "table.parquet", funded)
    assert "pure differential privacy" in found.notes[0]
    assert "nobody is found by a unique row" in found.notes[1]
    text = " ".join(str(found).split())
    assert text.index("do not measure the promise") < text.index("k = ")
    assert found.drawn
    assert "finds the row" not in text  # there is nobody's row to find
    assert "learns the value" not in text
    assert "something else" in found.unmet(k=61)[-1]
    alone = tn.evaluate.check(release.table, funded)
    assert not any("nobody is found" in note for note in alone.notes)


@pytest.mark.parametrize("options", [{"method": "anatomy"}, {"method": "t-close", "t": 2}])
def test_linked_tables_are_measured_by_what_they_show(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    tn.publish(people(), schema=BARE, k=6, **options).save(tmp_path / "out", kind="csv")
    values = tn.evaluate.check(tmp_path / "out" / "confidential.csv", BARE)
    assert values.quasi_identifiers == ("group",)
    assert values.k >= 6
    assert values.notes[1] == IN_GROUPS
    assert not values.swapped  # one value of a group is known of all its members
    assert not any("not measured: `group`" in note for note in values.notes)
    # people are found by their own quasi-identifiers: the mutant that groups by `group` finds k = 6
    known = tn.evaluate.check(tmp_path / "out" / "quasi_identifiers.csv", BARE)
    assert known.quasi_identifiers == ("age", "job", "sex")
    assert known.k == 1
    assert not known.meets(k=6)
    assert "swapped" not in " ".join((*known.notes, *known.unmet(k=6)))
    with pytest.raises(tn.Refused, match="no quasi-identifiers"):
        tn.evaluate.check(tmp_path / "out" / "quasi_identifiers.csv")


def test_a_column_named_group_is_nothing_without_a_certificate(tmp_path: Path) -> None:
    release = tn.publish(people(), schema=BARE, k=6, method="anatomy")
    release.save(tmp_path / "out", kind="csv")
    alone = tmp_path / "confidential.csv"
    alone.write_bytes((tmp_path / "out" / "confidential.csv").read_bytes())
    with pytest.raises(tn.Refused, match="no quasi-identifiers"):
        tn.evaluate.check(alone, BARE)


def test_a_file_of_groups_needs_no_excuse(tmp_path: Path) -> None:
    release = tn.publish(people(), schema=BARE, method="microaggregate", k=6)
    release.save(tmp_path / "out")
    found = tn.evaluate.check(tmp_path / "out" / "table.parquet", BARE)
    assert found.notes == ("The certificate beside this file says: k-anonymity (k = 6).",)


def wrong(path: Path) -> str:
    """Why what lies beside the file does not fit it; said first, and by every way of reading."""
    found = tn.evaluate.check(path, BARE)
    beside = certificate_beside(path)
    assert beside is not None
    assert beside.certificate is None
    assert found.certificate_fits is False
    assert found.to_dict()["certificate_fits"] is False
    assert "does not fit it: " + beside.wrong in found.warnings[0]
    assert str(found).startswith("WARNING: The certificate beside this file does not fit it")
    assert not any("certificate" in note for note in found.notes)
    assert not found.swapped
    assert found.unmet(k=1) == ("The certificate beside the file does not fit it.",)
    return beside.wrong


def test_a_file_that_was_changed_or_is_another_has_no_certificate(released: Path) -> None:
    beside = certificate_beside(released)
    assert beside is not None
    assert (beside.wrong, beside.rows) == ("", people().num_rows)
    assert tn.evaluate.check(released, BARE).certificate_fits
    other = released.with_name("other.csv")
    other.write_bytes(released.read_bytes())
    assert wrong(other) == "no manifest says that it belongs to the file"
    kept = released.read_bytes()
    released.write_bytes(kept + kept.splitlines(keepends=True)[-1])
    assert "the file differs" in wrong(released)
    released.write_bytes(kept)
    certificate = released.with_name("certificate.json")
    certificate.write_text(certificate.read_text().replace("1/6", "1/60"))
    assert "not the one that the manifest names" in wrong(released)
    certificate.unlink()
    assert "there is no certificate" in wrong(released)


def test_a_file_far_from_any_release_has_nothing_beside_it(released: Path) -> None:
    alone = released.parent.parent / "table.csv"
    alone.write_bytes(released.read_bytes())
    assert certificate_beside(alone) is None
    assert tn.evaluate.check(alone, BARE).certificate_fits is None


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", '{"files": 3}', '{"files": {"table.csv": 1}}']
)
def test_a_manifest_that_is_none_is_no_fault(released: Path, manifest: str) -> None:
    released.with_name("manifest.json").write_text(manifest)
    assert wrong(released)
    assert tn.evaluate.check(released, BARE).notes == ()


def rewritten(path: Path, **changes: object) -> None:
    """The manifest with some facts changed, and the digests of what is there now."""
    file = path.with_name("manifest.json")
    manifest = {**json.loads(file.read_text()), **changes}
    for name in manifest["files"]:
        digest = hashlib.sha256(path.with_name(name).read_bytes()).hexdigest()
        manifest["files"][name] = digest
    file.write_text(json.dumps(manifest))


def test_a_certificate_that_is_none_is_no_fault(released: Path) -> None:
    released.with_name("certificate.json").write_bytes(b"not a certificate")
    rewritten(released)
    assert wrong(released) == "it is not a certificate"


def test_rows_and_columns_must_be_those_of_the_certificate(released: Path) -> None:
    """Whoever writes all three anew is still caught where they contradict each other."""
    rewritten(released, rows=7)
    (warning, *_) = tn.evaluate.check(released, BARE).warnings
    assert "it was made for 7 rows, but the file has 60" in warning
    lines = released.read_text().splitlines()
    cut = [line.rpartition(",")[0] for line in lines]
    lost = lines[0].rpartition(",")[2].strip('"')
    released.write_text("\n".join(cut) + "\n")
    rewritten(released, rows=60)
    (warning, *_) = tn.evaluate.check(released, BARE).warnings
    assert f"it names `{lost}`, which the file does not have" in warning


def test_persons_are_counted_by_the_certificate(tmp_path: Path) -> None:
    """Each of 20 persons has three rows: counting rows would say 15 where 5 were promised."""
    owner = [i % 20 for i in range(60)]
    table = pa.table({"who": [f"p{i}" for i in owner], "age": [30] * 60, "pay": owner})
    age = {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"}
    pay = {"type": "number", "bounds": [0, 100], "role": "confidential"}
    head = {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 60}
    columns = {"who": {"type": "identifier"}, "age": age, "pay": pay}
    table = table.set_column(1, "age", pa.array([20 + i // 2 for i in owner]))
    declared = tn.Schema.from_dict({"table": head, "columns": columns})
    tn.publish(table, schema=declared, method="microaggregate", k=5).save(tmp_path / "out")
    path = tmp_path / "out" / "table.parquet"
    by_rows = tn.evaluate.check(pq.read_table(path), quasi_identifiers=["age"])
    assert (by_rows.k, by_rows.unit, by_rows.k_from) == (15, "record", "units")
    found = tn.evaluate.check(path, quasi_identifiers=["age"])
    assert (found.k, found.unit, found.k_from) == (5, "who", "certificate")
    assert found.smallest_rows == 15
    assert (found.meets(k=5), found.meets(k=6)) == (True, False)
    text = " ".join(str(found).split())
    assert "By the certificate, every equivalence class has at least 5 whos" in text
    declared_too = tn.evaluate.check(path, declared)
    assert (declared_too.k, declared_too.k_from) == (5, "certificate")
    other = tn.evaluate.check(path, quasi_identifiers=["age", "pay"])
    assert (other.k, other.k_from) == (3, "rows")  # of pay the certificate promises nothing
    assert not other.meets(k=1)
    assert any("there may be fewer persons" in note for note in other.notes)


def test_a_private_table_needs_no_roles(tmp_path: Path) -> None:
    described = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {name: {"type": "number", "bounds": [0, 9]} for name in ("age", "pay")},
        "budget": {"total": 1},
    }
    rows = pa.table({"age": [1, 2, 3] * 20, "pay": [5] * 60})
    books = tn.ledger.Memory()
    made = tn.publish(rows, schema=described, method="private", epsilon=1, ledger=books)
    made.save(tmp_path / "out", kind="csv")
    path = tmp_path / "out" / "table.csv"
    for found in (tn.evaluate.check(path), tn.evaluate.check(path, tn.Schema.from_dict(described))):
        assert found.quasi_identifiers == ("age", "pay")
        assert found.certificate_fits
        assert any("No row is the row of a person" in note for note in found.notes)
    assert tn.evaluate.check(path, confidential=["pay"]).quasi_identifiers == ("age",)
    path.write_text(path.read_text() + "1,1\n")  # no longer the file that the certificate is of
    with pytest.raises(tn.Refused, match="quasi-identifiers"):
        tn.evaluate.check(path)


def forged(folder: Path, **parameters: str) -> Path:
    """Two people who look like nobody else, and a certificate that says k = 50."""
    certificate = tn.Certificate(
        promise=tn.KAnonymity(50),
        neighbours="replace",
        unit="record",
        mechanism="x",
        parameters=parameters,
    )
    (folder / "table.csv").write_text("age,zip,ill\n30,1,hiv\n40,1,flu\n")
    (folder / "certificate.json").write_text(certificate.to_json() + "\n")
    files = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("table.csv", "certificate.json")
    }
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return folder / "table.csv"


def test_a_certificate_that_the_file_contradicts_is_not_believed(tmp_path: Path) -> None:
    path = forged(tmp_path, **{"quasi-identifiers": "Age, zip"})
    found = tn.evaluate.check(path, quasi_identifiers=["age"])
    assert found.certificate_fits is False
    assert "k-anonymity (k = 50), but some group has 1 row only" in found.warnings[0]
    other = tn.evaluate.check(path, quasi_identifiers=["age", "ill"])
    assert other.certificate_fits  # of `ill` nothing was said
