"""A price as the ledger and the laws of noise take it."""

from __future__ import annotations

from fractions import Fraction

from ...errors import refuse
from ...number import NANO, Number, exact, law_epsilon, nano


def affordable(epsilon: Number) -> int:
    """Nano-epsilon that a law of noise can be made for; refused here, before anything is paid."""
    price = nano(epsilon)
    if exact(epsilon, "epsilon") * NANO < 1:
        raise refuse("query.epsilon-is-price-is-counted-in-billionths", epsilon=epsilon)
    law_epsilon(Fraction(price, NANO))
    return price
