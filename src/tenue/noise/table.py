"""Exact draws from a finite law by looking up a word.

The law is given by enclosures of its distribution function F. The table holds
T[k] = floor(2^64 · F(k)); a 64-bit word w stands for a real U in [w, w+1) / 2^64, and the outcome
is the number of k with F(k) ≤ U. A word that differs from every threshold decides that at once; a
word that equals one (2^-64 each) is a tie, and further bits of U are compared with further bits of
F until it is decided. The draw is therefore exact for every word size.

Speed: the first 16 bits of the word usually decide, so only those are drawn at first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import Fault
from .enclosure import Enclosure
from .source import Source

_WORD = 64
_GUIDE = 16
_MOST_GUARD_BITS = 1 << 16
_UNDECIDED = -1
_REST = np.uint64((1 << (_WORD - _GUIDE)) - 1)


class Table:
    """Draws k = 0 … K with P(≤ k) = F(k) for k < K, and F(K) = 1.

    Parameters
        cumulative: given a number of bits, the enclosures of F(0) … F(K−1) with that many bits.
            More bits must give tighter enclosures.
    """

    def __init__(self, cumulative: Callable[[int], Sequence[Enclosure]]) -> None:
        self._cumulative = cumulative
        self.thresholds = np.array(self._floors(_WORD), dtype=np.uint64)
        self.outcomes = len(self.thresholds) + 1

    @property
    def thresholds(self) -> npt.NDArray[np.uint64]:
        """floor(2^64 · F(k)), the numbers every draw is compared with."""
        return self._thresholds

    @thresholds.setter
    def thresholds(self, values: npt.NDArray[np.uint64]) -> None:
        self._thresholds = values
        self.__dict__.pop("_guide", None)

    def _floors(self, bits: int) -> list[int]:
        guard = 32
        while guard <= _MOST_GUARD_BITS:
            enclosures = self._cumulative(bits + guard)
            lows = [min(e.low >> guard, 1 << bits) for e in enclosures]
            if all(
                low == min(e.high >> guard, 1 << bits)
                for low, e in zip(lows, enclosures, strict=True)
            ):
                # no word reaches 2^bits itself: such a threshold always exceeds it
                return [min(low, (1 << bits) - 1) if bits == _WORD else low for low in lows]
            guard *= 2
        raise Fault("a distribution function could not be enclosed")

    @cached_property
    def _guide(self) -> npt.NDArray[Any]:
        """For each value of the first 16 bits, the outcome, or -1 where more bits are needed."""
        shift = np.uint64(_WORD - _GUIDE)
        starts = np.arange(1 << _GUIDE, dtype=np.uint64) << shift
        guide = np.searchsorted(self._thresholds, starts, side="left")
        guide[(self._thresholds >> shift).astype(np.intp)] = _UNDECIDED
        return guide.astype(np.int16 if self._thresholds.size < 1 << 15 else np.int32)

    def draw(self, size: int, source: Source) -> npt.NDArray[Any]:
        """`size` independent outcomes, as small signed integers."""
        first = source.words(size, 16)
        drawn = self._guide.take(first)
        open_ = np.flatnonzero(drawn == _UNDECIDED)
        if open_.size:
            rest = source.words(open_.size, 64) & _REST
            words = (first[open_].astype(np.uint64) << np.uint64(_WORD - _GUIDE)) | rest
            drawn[open_] = self.decide(words, source)
        return drawn

    def decide(self, words: npt.NDArray[np.uint64], source: Source) -> npt.NDArray[np.intp]:
        """The outcome each 64-bit word stands for; ties take more bits from `source`."""
        outcome = np.searchsorted(self._thresholds, words, side="right")
        before = np.maximum(outcome - 1, 0)
        tied = np.flatnonzero((outcome > 0) & (self._thresholds[before] == words))
        for index in tied:
            outcome[index] = self._break_tie(int(words[index]), source)
        return outcome

    def _break_tie(self, word: int, source: Source) -> int:
        bits = _WORD
        while True:
            bits += _WORD
            word = word << _WORD | int(source.words(1, 64)[0])
            floors = self._floors(bits)
            if word not in floors:
                return sum(floor <= word for floor in floors)
