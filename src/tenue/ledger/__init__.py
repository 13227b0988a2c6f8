"""What has been spent. Prices are debited before rows are read, answers stored before they leave.

Every question pays in this way:

    reservation = ledger.reserve("census", "ann", charge, key, question_digest)
    if reservation.answer is None:              # otherwise it was answered before
        ...                                     # read rows, draw noise
        ledger.commit(reservation, answer)      # stored before it leaves

Example
    >>> from tenue.ledger import Charge, Memory, digest
    >>> ledger = Memory()
    >>> _ = ledger.open_dataset("census", total=5, neighbours="replace")
    >>> charge = Charge.of(epsilon=0.5, neighbours="replace")
    >>> paid = ledger.reserve("census", "ann", charge, "key-1", digest("COUNT(*)"))
    >>> ledger.commit(paid, b"1080")
    >>> ledger.reserve("census", "ann", charge, "key-1", digest("COUNT(*)")).answer
    b'1080'
    >>> ledger.balance("census").spent
    Fraction(1, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .canonical_text import digest
    from .composition import Charge, charge_in, delta_in
    from .contract import LARGEST_ANSWER, Ledger
    from .facts import Entry
    from .results import Balance, Quota, Reservation, Verification
    from .store.memory import Memory
    from .store.postgres.ledger import Postgres
    from .store.sqlite.ledger import SQLite
    from .verify import Anchor

__all__ = [
    "LARGEST_ANSWER",
    "Anchor",
    "Balance",
    "Charge",
    "Entry",
    "Ledger",
    "Memory",
    "Postgres",
    "Quota",
    "Reservation",
    "SQLite",
    "Verification",
    "charge_in",
    "delta_in",
    "digest",
]

lazily(
    __name__,
    {
        ".canonical_text": "digest",
        ".composition": "Charge charge_in delta_in",
        ".contract": "LARGEST_ANSWER Ledger",
        ".facts": "Entry",
        ".results": "Balance Quota Reservation Verification",
        ".store.memory": "Memory",
        ".store.postgres.ledger": "Postgres",
        ".store.sqlite.ledger": "SQLite",
        ".verify": "Anchor",
    },
)
