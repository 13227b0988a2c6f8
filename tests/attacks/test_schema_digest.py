"""Bounds out of a certificate: everything of a schema is known but a maximum, which is tried.

A holder who states a maximum that he saw in the rows has told it to whoever can compare schemas
with a certificate. With the plain digest of 0.1.0 that takes one hash for each conceivable maximum.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tenue as tn
from tenue.ledger import Memory
from tenue.promise import Certificate
from tenue.schema import Number, Schema
from tenue.schema.case_insensitive import Named
from unit.publish.census import people, schema

SECRET = 137_000
CONCEIVABLE = range(100_000, 200_000, 1000)


def stated(high: int = SECRET) -> Schema:
    return schema(income={"bounds": [0, high]}).replace(budget={"total": 5})


def recovered(certificate: Certificate) -> list[int]:
    """Every maximum whose schema has the hash that the certificate shows."""
    known = stated(CONCEIVABLE[0])
    found = []
    for high in CONCEIVABLE:
        columns: dict[str, Any] = dict(known.columns.items())
        income = columns["income"]
        assert isinstance(income, Number)
        columns["income"] = replace(income, high=Fraction(high))
        tried = replace(known, columns=Named(columns.items()))
        if tried.digest in certificate.to_json():
            found.append(high)
    return found


def certificates(tmp_path: Path) -> dict[str, Certificate]:
    question = "SELECT COUNT(*) FROM people WHERE age > 40"
    with tn.protect(people(), schema=stated(), ledger=Memory()) as data:
        answers = {
            "answer": data.ask(question, epsilon=1).certificate,
            "repeated": data.ask(question, epsilon=1).certificate,
            "many": data.ask_many([question, question], epsilon=1)[1].certificate,
        }
    release = tn.publish(people(), schema=stated(), method="swap", k=4, ledger=Memory())
    alone = tn.publish(people(), schema=stated(), method="swap", k=4, ledger=False)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "certificate.json").read_text()
    saved = Certificate.from_json(text.strip())
    return {**answers, "release": saved, "in no ledger": alone.certificate}


def test_no_certificate_tells_the_maximum(tmp_path: Path) -> None:
    for name, certificate in certificates(tmp_path).items():
        assert recovered(certificate) == [], name


def test_the_plain_digest_told_it(tmp_path: Path) -> None:
    """The mutant is what 0.1.0 wrote."""
    old = replace(certificates(tmp_path)["release"], schema_hash=stated().digest)
    assert recovered(old) == [SECRET]


def test_the_holder_still_knows_his_certificates(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    with tn.protect(people(), schema=stated(), ledger=path) as data:
        certificate = data.ask("SELECT COUNT(*) FROM people", epsilon=1).certificate
    with tn.ledger.SQLite(path) as ledger:
        assert ledger.verify_certificate(certificate).dataset == "people"
    # the seal of another ledger is another: trying schemas in one's own ledger does not help
    with tn.protect(people(), schema=stated(), ledger=tmp_path / "mine.ledger") as data:
        assert data.ask("SELECT COUNT(*) FROM people", epsilon=1).certificate != certificate
        assert not data.ledger.verify_certificate(certificate)


def test_bounds_that_were_read_from_the_rows_leave_in_no_way() -> None:
    marked = stated().replace(table={"bounds_from_data": True})
    with pytest.raises(tn.errors.NotPromised):
        tn.publish(people(), schema=marked, method="swap", k=4)
    with pytest.raises(tn.errors.NotPromised):
        tn.protect(people(), schema=marked, ledger=Memory())
