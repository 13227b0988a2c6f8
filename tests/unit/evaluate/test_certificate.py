"""A certificate speaks for a file only if the manifest names the bytes of both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import tenue as tn
from tenue.evaluate.certificate import certificate_beside
from unit.microdata.census import people
from unit.microdata.census import schema as whole_schema

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
    assert "may be the same for all" in found.notes[1]
    text = " ".join(str(found).split())
    assert text.index("do not measure it") < text.index("k = 1")
    assert "whoever is known to be in such a group has it" not in text
    elsewhere = released.parent.parent / "table.csv"
    elsewhere.write_bytes(released.read_bytes())
    plain = tn.evaluate.check(elsewhere, BARE)
    assert (plain.k, plain.swapped) == (1, False)
    assert "whoever is known to be in such a group has it" in " ".join(str(plain).split())


def test_a_file_of_groups_needs_no_excuse(tmp_path: Path) -> None:
    release = tn.publish(people(), schema=BARE, method="microaggregate", k=6)
    release.save(tmp_path / "out")
    found = tn.evaluate.check(tmp_path / "out" / "table.parquet", BARE)
    assert found.notes == ("The certificate beside this file says: k-anonymity (k = 6).",)


def test_a_file_that_was_changed_or_is_another_has_no_certificate(released: Path) -> None:
    assert certificate_beside(released) is not None
    other = released.with_name("other.csv")
    other.write_bytes(released.read_bytes())
    assert certificate_beside(other) is None
    assert certificate_beside(released.parent / "none.csv") is None
    kept = released.read_bytes()
    released.write_bytes(kept + b"1,clerk,f,1,no,plain\n")
    assert certificate_beside(released) is None
    released.write_bytes(kept)
    certificate = released.with_name("certificate.json")
    certificate.write_text(certificate.read_text().replace("1/6", "1/60"))
    assert certificate_beside(released) is None


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", '{"files": 3}', '{"files": {"table.csv": 1}}']
)
def test_a_manifest_that_is_none_is_no_fault(released: Path, manifest: str) -> None:
    released.with_name("manifest.json").write_text(manifest)
    assert certificate_beside(released) is None
    assert tn.evaluate.check(released, BARE).notes == ()


def test_a_certificate_that_is_none_is_no_fault(released: Path) -> None:
    path = released.with_name("manifest.json")
    manifest = json.loads(path.read_text())
    text = b"not a certificate"
    released.with_name("certificate.json").write_bytes(text)
    manifest["files"]["certificate.json"] = hashlib.sha256(text).hexdigest()
    path.write_text(json.dumps(manifest))
    assert certificate_beside(released) is None


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
    (note,) = tn.evaluate.check(path, quasi_identifiers=["age"]).notes
    assert "contradicts it: some group has 1 row only" in note
    other = tn.evaluate.check(path, quasi_identifiers=["age", "ill"])
    assert "contradicts" not in other.notes[0]  # of `ill` nothing was said
