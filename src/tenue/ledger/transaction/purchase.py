"""What a caller of `reserve` states, checked before it reaches the cashier."""

from __future__ import annotations

from ...errors import refuse
from ...frozen import dataclass
from ...number import whole
from ..composition import Charge, Column
from ..text import given_text, readable


@dataclass(frozen=True)
class Purchase:
    """Everything that a call of `reserve` states; what is wrong with it is refused."""

    dataset: str
    analyst: str
    charge: Charge
    key: str | None
    question_digest: str
    cache_key: str | None
    column: Column
    question_name: str | None
    times: int | None
    asked: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.charge, Charge):
            raise refuse("ledger.charge-wrong-type", type=type(self.charge).__name__)
        if self.column not in ("dp", "individual"):
            raise refuse("ledger.unknown-charge-column", column=str(self.column)[:60])
        if self.column == "individual" and (self.charge.atto or self.charge.person is not None):
            raise refuse("ledger.individual-charge-extras")
        if self.times is not None and (self.question_name is None or self.column != "individual"):
            raise refuse("ledger.times-without-question")
        for name in ("dataset", "analyst", "key", "question_digest", "cache_key", "question_name"):
            value = getattr(self, name)
            if value is not None or name in ("dataset", "analyst", "question_digest"):
                object.__setattr__(self, name, given_text(value, name))
        if self.times is not None:
            object.__setattr__(self, "times", whole(self.times, "times"))
        if self.asked is not None:
            object.__setattr__(self, "asked", readable(self.asked))
