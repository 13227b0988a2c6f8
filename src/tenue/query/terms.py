"""What a question is asked with, as one value; how often and under which key is not part of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Self

from ..errors import refuse
from ..frozen import dataclass
from ..number import Number, exact, flag, law_epsilon
from ..promise.loss import SMALLEST, EpsilonDelta

OF_MANY = ("epsilon", "minimise", "accuracy")
"""The terms on which several questions are asked together."""
ONLY_ASKED = ("individual",)
"""The terms that `explain` does not take."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a caller of `ask` or `explain` states beside the question; see `Session.ask`."""

    epsilon: Number | None = None
    minimise: object = "variance"
    accuracy: object = None
    prior: Any = None
    delta: Number | None = None
    interval: Number | None = None
    mechanism: str | None = None
    measure_cut: Number | None = None
    clip: str | None = None
    individual: bool = False

    def __post_init__(self) -> None:
        flag(self.individual, "individual")
        if self.clip not in (None, "auto"):
            raise refuse("query.unknown-clip", clip=str(self.clip)[:60])
        if self.clip is not None and (self.accuracy is not None or self.believes):
            raise refuse("query.clip-with-accuracy")
        bought = (self.interval, self.mechanism, self.measure_cut, self.clip)
        if self.individual and any(given is not None for given in bought):
            raise refuse("query.individual-with-other-terms")

    @classmethod
    def of(cls, call: Mapping[str, Any]) -> Self:
        """The terms among the arguments of a call, which are its `locals()`."""
        return cls(**{term.name: call[term.name] for term in fields(cls) if term.name in call})

    @property
    def believes(self) -> bool:
        """Whether something is believed before asking."""
        return self.prior is not None or self.delta is not None


def affordable(epsilon: Number, delta: Number | None = None) -> EpsilonDelta:
    """A price that a law of noise can be made for; refused here, before anything is paid."""
    price = EpsilonDelta.of(epsilon, 0 if delta is None else delta)
    if exact(epsilon, "epsilon") < SMALLEST.epsilon:
        raise refuse("query.epsilon-too-small", epsilon=epsilon)
    law_epsilon(price.epsilon)
    return price


def price_for(
    epsilon: Number | None, accuracy: object, found: Callable[[object], EpsilonDelta]
) -> EpsilonDelta:
    """The price that was given, or the least that reaches the accuracy; one of the two."""
    if epsilon is not None and accuracy is not None:
        raise refuse("query.epsilon-and-accuracy")
    if epsilon is not None:
        return affordable(epsilon)
    if accuracy is None:
        raise refuse("query.epsilon-missing")
    return found(accuracy)
