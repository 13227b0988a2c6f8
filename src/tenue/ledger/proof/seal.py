"""What a certificate says of its schema: a seal that only the ledger's holder can compare.

Guarantee
    A seal is HMAC-SHA256 of the schema's digest under 256 bits of the ledger's own. Whoever lacks
    the key learns whether two certificates were made by one schema, and nothing about the schema,
    however many schemas he tries.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable
from pathlib import Path

from ...errors import refuse
from ...frozen import dataclass
from ...promise import Certificate
from ..fact import DatasetOpened, Entry, SchemaChanged

MARK = "hmac-sha256:"
"""Begins a seal; what begins otherwise is the plain digest that 0.1.0 wrote."""
_ABOUT = b"schema of a certificate\n"  # the key may seal other things one day


def sealed(secret: bytes, schema_digest: str) -> str:
    """The seal of a schema's digest."""
    return MARK + hmac.new(secret, _ABOUT + schema_digest.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class CertificateVerification:
    """Whether a certificate belongs to a ledger: truthy if it does.

    dataset, entry: of which data set, and the entry that first recorded that schema.
    reason: why not, if not.
    """

    ok: bool
    dataset: str | None = None
    entry: int | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"the certificate is of `{self.dataset}`, by the schema of entry {self.entry}"
        return f"NOT OF THIS LEDGER: {self.reason}"


def compared(schema_hash: str, entries: Iterable[Entry], secret: bytes) -> CertificateVerification:
    """Looks for the schema that a certificate was made by, among those that entries state."""
    if not schema_hash:
        return CertificateVerification(False, reason="the certificate says nothing of its schema")
    for entry in entries:
        fact = entry.fact
        if not isinstance(fact, DatasetOpened | SchemaChanged) or not fact.schema_digest:
            continue
        digest = fact.schema_digest
        wanted = sealed(secret, digest) if schema_hash.startswith(MARK) else digest
        if hmac.compare_digest(wanted.encode(), schema_hash.encode()):
            return CertificateVerification(True, fact.dataset, entry.sequence)
    return CertificateVerification(False, reason="no schema of this ledger has its seal")


def given_certificate(given: object) -> Certificate:
    """The certificate itself, or what a file holds: a certificate, or an answer that has one."""
    if isinstance(given, Certificate):
        return given
    if not isinstance(given, str | os.PathLike):
        raise refuse("ledger.certificate-wrong-type", type=type(given).__name__)
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
        plain = json.loads(text)
    except (OSError, ValueError):
        raise refuse("ledger.unreadable-certificate", name=path.name) from None
    if isinstance(plain, dict) and isinstance(plain.get("certificate"), dict):
        text = json.dumps(plain["certificate"])
    return Certificate.from_json(text)
