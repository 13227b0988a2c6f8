"""Which heavy-tailed noise may be scaled by a smooth sensitivity.

The noise has density proportional to 1 / (1 + |z|**gamma) and is multiplied by S / alpha, where S
is the beta-smooth sensitivity. Between neighbours the answer slides by at most S and S stretches by
at most e**beta; the two losses, added, must not exceed epsilon.

Source
    Nissim, Raskhodnikova and Smith 2007; Soria-Comas et al. 2017, section 6.1.4. The paper's split
    in two halves fails for gamma above 2, while the sum holds up to gamma = 6.
"""

from __future__ import annotations

from fractions import Fraction

from ..arguments import Number, above_zero, whole
from ..errors import refuse

GAMMAS = range(2, 7)
"""The tails for which alpha = epsilon/4gamma and beta = epsilon/gamma keep the promise."""


def admissible_beta(gamma: Number, epsilon: Number) -> Fraction:
    """The smoothness that noise with tail `gamma` needs: epsilon / gamma, never epsilon.

    Example
        >>> admissible_beta(2, 1)
        Fraction(1, 2)
    """
    return above_zero(epsilon, "epsilon") / _tail(gamma)


def admissible_alpha(gamma: Number, epsilon: Number) -> Fraction:
    """The noise is scaled by S / alpha with alpha = epsilon / (4 gamma).

    Example
        >>> admissible_alpha(2, 1)
        Fraction(1, 8)
    """
    return above_zero(epsilon, "epsilon") / (4 * _tail(gamma))


def dilation_loss(gamma: Number, *, beta: Number, integers: bool = False) -> Fraction:
    """The largest log-ratio between the noise and the noise stretched by e**beta.

    (gamma - 1) * beta for the density; on the integers it comes as close as one likes to
    gamma * beta, when nearly all of the mass is at 0.

    Example
        >>> dilation_loss(3, beta="1/3"), dilation_loss(3, beta="1/3", integers=True)
        (Fraction(2, 3), Fraction(1, 1))
    """
    power = whole(gamma, "gamma", least=2)
    return (power if integers else power - 1) * above_zero(beta, "beta")


def sliding_loss(gamma: Number, *, alpha: Number) -> float:
    """The log-ratio between the density and the density moved by `alpha`, at most.

    alpha times the steepest slope of log(1 + |z|**gamma), which is at z**gamma = gamma - 1.
    """
    power = whole(gamma, "gamma", least=2)
    steepest: float = (power - 1) ** ((power - 1) / power)
    return float(above_zero(alpha, "alpha")) * steepest


def is_admissible(gamma: Number, epsilon: Number, *, alpha: Number, beta: Number) -> bool:
    """Whether noise with tail `gamma`, scaled by S / alpha, keeps epsilon; decided exactly.

    Both must hold: on the integers gamma * beta <= epsilon, and for the density sliding and
    dilation together cost at most epsilon. Tails outside 2..6 are never admissible.

    Example
        >>> is_admissible(2, 1, alpha="1/8", beta="1/2"), is_admissible(2, 1, alpha="1/8", beta=1)
        (True, False)
    """
    power = whole(gamma, "gamma")
    price = above_zero(epsilon, "epsilon")
    slide, stretch = above_zero(alpha, "alpha"), above_zero(beta, "beta")
    if power not in GAMMAS or power * stretch > price:
        return False
    # alpha * (gamma-1)**((gamma-1)/gamma) <= epsilon - (gamma-1)*beta, raised to the power gamma
    left = price - (power - 1) * stretch
    return bool(slide**power * (power - 1) ** (power - 1) <= left**power)


def _tail(gamma: Number) -> int:
    power = whole(gamma, "gamma")
    if power not in GAMMAS:
        raise refuse("sensitivity.unknown-gamma", power=power, names=", ".join(map(str, GAMMAS)))
    return power
