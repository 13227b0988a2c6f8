"""A price as the ledger and the laws of noise take it."""

from __future__ import annotations

from fractions import Fraction

from ..number import NANO, Number, law_epsilon, nano

__all__ = ["affordable"]


def affordable(epsilon: Number) -> int:
    """Nano-epsilon that a law of noise can be made for; refused here, before anything is paid."""
    price = nano(epsilon)
    law_epsilon(Fraction(price, NANO))
    return price
