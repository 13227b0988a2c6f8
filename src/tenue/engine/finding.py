"""One thing that a source has, lacks or has too much of, for its holder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from ..errors import Refused

Verdict = Literal["fine", "missing", "wrong", "too much", "not read"]
"""wrong: values are not as declared; not read: nobody has looked."""


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    subject: source, driver, server, table, rights, columns, values, budget or ledger.
    what: a sentence about it; `fix`: the remedy, if one is needed.
    """

    subject: str
    verdict: Verdict
    what: str
    fix: str = ""

    @classmethod
    def refused(cls, subject: str, refusal: Refused) -> Finding:
        return cls(subject, "missing", refusal.what, refusal.fix)

    def to_dict(self) -> dict[str, str]:
        return asdict(self)
