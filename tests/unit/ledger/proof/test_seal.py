"""A seal tells one schema from another, and what it is to the ledger's holder alone."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tenue.errors import InvalidArgument
from tenue.ledger import Memory
from tenue.ledger.proof.seal import MARK, compared, given_certificate, sealed
from tenue.promise import Certificate, Pure

ONE, OTHER = (digit * 64 for digit in "ab")
PLAIN = Certificate(promise=Pure(1), neighbours="replace", unit="record", mechanism="noise")


def test_it_is_an_hmac_of_the_digest_under_the_key() -> None:
    found = sealed(b"k" * 32, ONE)
    text = b"schema of a certificate\n" + ONE.encode()
    assert found == MARK + hmac.new(b"k" * 32, text, hashlib.sha256).hexdigest()
    assert len({found, sealed(b"K" * 32, ONE), sealed(b"k" * 32, OTHER)}) == 3


def ledger() -> Memory:
    made = Memory()
    made.open_dataset("people", 1, neighbours="replace", schema_digest=OTHER)
    made.open_dataset("census", 1, neighbours="replace")
    made.record_schema("census", ONE)
    made.record_schema("census", ONE)
    return made


def test_the_holder_finds_the_schema_and_nobody_else_does() -> None:
    books = ledger()
    assert len(list(books.entries())) == 3  # nothing is written twice
    certificate = replace(PLAIN, schema_hash=books.seal(ONE))
    found = books.verify_certificate(certificate)
    assert (found.ok, found.dataset, found.entry) == (True, "census", 3)
    assert str(found) == "the certificate is of `census`, by the schema of entry 3"
    other = ledger().verify_certificate(certificate)
    assert not other
    assert str(other) == "NOT OF THIS LEDGER: no schema of this ledger has its seal"
    forged = replace(certificate, schema_hash=certificate.schema_hash[:-1] + "x")
    assert not books.verify_certificate(forged)
    assert not books.verify_certificate(replace(PLAIN, schema_hash=books.seal("c" * 64)))


def test_what_0_1_0_wrote_is_compared_as_it_is_and_nothing_is_nothing() -> None:
    books = ledger()
    assert books.verify_certificate(replace(PLAIN, schema_hash=ONE)).dataset == "census"
    assert not books.verify_certificate(replace(PLAIN, schema_hash="c" * 64))
    silent = books.verify_certificate(PLAIN)
    assert silent.reason == "the certificate says nothing of its schema"
    # a data set that was opened without a schema does not stand for a certificate without one
    assert not compared("", books.entries(), b"")


def test_a_file_holds_a_certificate_or_an_answer_with_one(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(PLAIN.to_json() + "\n")
    assert given_certificate(str(path)) == PLAIN
    path.write_text(json.dumps({"value": 3, "certificate": PLAIN.to_dict()}))
    assert given_certificate(path) == given_certificate(PLAIN) == PLAIN
    path.write_text("no")
    for wrong in (path, tmp_path / "none.json", 7):
        with pytest.raises(InvalidArgument):
            given_certificate(wrong)
    path.write_text("[]")
    with pytest.raises(InvalidArgument, match="not a certificate"):
        given_certificate(path)
