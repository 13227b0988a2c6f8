"""Exact laws of what is random only through orders of things, by going through all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Orders", "law"]

Outcome = TypeVar("Outcome", bound=Hashable)


class Orders:
    """Orders of so many things, as one path through all that might be drawn says.

    It is also a source of random words, whose 32-bit words are all different: their ranks are an
    order, and every order is as likely as any other.
    """

    safe = False

    def __init__(self, path: list[int]) -> None:
        self.path = path
        self.sizes: list[int] = []

    def order(self, size: int) -> list[int]:
        """The next order of 0, 1, …, size − 1."""
        step = len(self.sizes)
        self.sizes.append(math.factorial(size))
        if step == len(self.path):
            self.path.append(0)
        return list(
            next(itertools.islice(itertools.permutations(range(size)), self.path[step], None))
        )

    def words(self, count: int, bits: int = 64) -> npt.NDArray[Any]:
        """Words whose high bits are an order."""
        assert bits == 32, "no two words are equal, so no more are needed"
        assert count < 16
        return np.array(self.order(count), dtype=np.uint32) << np.uint32(28)


def law(outcome: Callable[[Orders], Outcome]) -> dict[Outcome, Fraction]:
    """How likely each outcome is."""
    found: dict[Outcome, Fraction] = {}
    path: list[int] = []
    while True:
        orders = Orders(path)
        seen = outcome(orders)
        found[seen] = found.get(seen, Fraction(0)) + Fraction(1, math.prod(orders.sizes))
        while path and path[-1] + 1 == orders.sizes[len(path) - 1]:
            path.pop()
        if not path:
            return found
        path[-1] += 1
