"""A lookup is what it says, in whatever order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tenue.schema.lookup import Lookup
from tenue.schema.named import Named

REGION = Lookup(
    name="region",
    key="code",
    keys=("n", "s"),
    columns=Named([("name", ("North", None)), ("beds", (Fraction(3), Fraction(15, 2)))]),
)


def test_the_digest_covers_keys_and_cells_and_no_order() -> None:
    turned = replace(
        REGION,
        keys=("s", "n"),
        columns=Named([("NAME", (None, "North")), ("beds", (Fraction(15, 2), Fraction(3)))]),
    )
    assert turned.digest == REGION.digest
    for other in (
        replace(REGION, keys=("n", "t")),
        replace(
            REGION, columns=Named([("name", ("North", "None")), ("beds", (3, Fraction(15, 2)))])
        ),
        replace(REGION, key="id"),
    ):
        assert other.digest != REGION.digest
