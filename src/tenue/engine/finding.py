"""One thing that a source has, lacks or has too much of, as its holder is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import Refused

Verdict = Literal["fine", "missing", "too much"]


@dataclass(frozen=True)
class Finding:
    """What was looked at and found.

    subject: source, driver, server, table, rights or columns.
    what: what was found; `fix`: what mends it, if anything must be mended.
    """

    subject: str
    verdict: Verdict
    what: str
    fix: str = ""

    @classmethod
    def refused(cls, subject: str, refusal: Refused) -> Finding:
        """What a refusal says is missing."""
        return cls(subject, "missing", refusal.what, refusal.fix)

    def to_dict(self) -> dict[str, str]:
        return {
            "subject": self.subject,
            "verdict": self.verdict,
            "what": self.what,
            "fix": self.fix,
        }
