"""A price as the ledger and the laws of noise take it."""

from __future__ import annotations

from fractions import Fraction

from ...errors import InvalidArgument
from ...number import NANO, Number, exact, law_epsilon, nano

__all__ = ["affordable"]


def affordable(epsilon: Number) -> int:
    """Nano-epsilon that a law of noise can be made for; refused here, before anything is paid."""
    price = nano(epsilon)
    if exact(epsilon, "epsilon") * NANO < 1:
        raise InvalidArgument(
            f"`epsilon` is {epsilon}",
            "A price is counted in billionths, and is at least one",
            "Give at least 1e-9",
        )
    law_epsilon(Fraction(price, NANO))
    return price
