"""A value that may leave, and the certificate that leaves with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction

from ...promise import Certificate


@dataclass(frozen=True)
class Released:
    """A private value on its grid, and what is promised about it.

    `value` is an int, the double nearest to the grid multiple, or a category; `exact` is the
    multiple itself, None for a category.
    """

    value: object
    exact: Fraction | None
    certificate: Certificate

    def to_json(self) -> str:
        """One JSON object: the value and its certificate."""
        value = self.value if isinstance(self.value, int | float | str) else str(self.value)
        facts = {"value": value, "certificate": self.certificate.to_dict()}
        return json.dumps(facts, sort_keys=True, ensure_ascii=False)
