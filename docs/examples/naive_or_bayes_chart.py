"""Draws the chart of naive-or-bayes.md: `python docs/examples/naive_or_bayes_chart.py > chart.svg`.

Left, one noisy answer and what Bayes' rule makes of it; right, mean errors for every epsilon.
Exact sums only, no simulation: the same picture every time.
"""

from __future__ import annotations

import sys

import tenue as tn
from tenue.report import Axis, Band, Curve, Dots, Panel, Picture, Rule, Words

__all__ = ["chart", "picture"]

NAIVE, BAYES, PRIOR = "other", "main", "third"

ROWS, SHARE, NOISY, EPSILON = 1080, 0.3, 400, 0.1
COUNTS = range(270, 441)
EPSILONS = [0.01 * 10 ** (k / 12) for k in range(25)]


def chart() -> str:
    """A self-contained SVG."""
    return tn.report.plot(picture()).svg() + "\n"


def picture() -> Picture:
    """Both panels."""
    return Picture(
        "The noisy count, or the Bayes estimate?",
        [one_answer(), all_epsilons()],
        subtitle=f"A count among {ROWS:,} rows, of which about three in ten are expected; "
        "discrete Laplace noise",
        told="A noisy count and its Bayes estimate, and their mean errors",
    )


def one_answer() -> Panel:
    """Prior, likelihood and posterior of one noisy count."""
    belief = tn.prior.Binomial(ROWS, SHARE)
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=EPSILON)
    after = tn.estimate.count(NOISY, law, belief)
    curves = [
        Curve([(k, float(belief.points.mass(k))) for k in COUNTS], PRIOR),
        Curve([(k, float(law.mass(NOISY - k))) for k in COUNTS], NAIVE),
        Curve([(k, after.mass(k)) for k in COUNTS], BAYES),
    ]
    highest = max(height for curve in curves for _, height in curve.points)
    low, high = after.interval(0.95)
    marks = [Band(low, high), *curves]
    for value, tone, name, align in (
        (belief.mean, PRIOR, f"prior {belief.mean:.0f}", "right"),
        (after.median, BAYES, f"Bayes {after.median:.0f}", "left"),
        (NOISY, NAIVE, f"noisy {NOISY}", "left"),
    ):
        side = -5 if align == "right" else 5
        marks += [
            Rule(value, tone=tone),
            Words(name, value, None, tone, bold=True, align=align, right=side, down=12),
        ]
    return Panel(
        marks,
        x=Axis(
            f"shaded: {low} to {high}, which holds the true count with 95 %",
            low=COUNTS[0],
            high=COUNTS[-1],
            ticks=tuple(range(280, 441, 40)),
        ),
        y=Axis(low=0, high=1.12 * highest, shown=False),
        title=f"One answer at ε = {EPSILON:g}: {NOISY}",
    )


def all_epsilons() -> Panel:
    """Mean absolute errors, averaged over prior and noise."""
    belief = tn.prior.Binomial(ROWS, SHARE)
    naive, bayes = [], []
    for epsilon in EPSILONS:
        law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=epsilon)
        naive.append(float(law.mean_absolute_error))
        bayes.append(tn.estimate.expected_error(law, belief))
    alone = tn.estimate.guess_error(belief)
    at = min(range(len(EPSILONS)), key=lambda i: abs(EPSILONS[i] - EPSILON))
    marks = [
        Rule(alone, axis="y", tone=PRIOR, dashes=(6, 4)),
        Curve(list(zip(EPSILONS, naive, strict=True)), NAIVE),
        Curve(list(zip(EPSILONS, bayes, strict=True)), BAYES),
        Dots([(EPSILON, naive[at])], NAIVE),
        Dots([(EPSILON, bayes[at])], BAYES),
        Words(f"{naive[at]:.1f}", EPSILON, naive[at], NAIVE, bold=True, right=16, down=-1),
        Words(f"{bayes[at]:.1f}", EPSILON, bayes[at], BAYES, 12, True, "right", -8, 9),
        Words("noisy count", 0.0185, naive[3], NAIVE, bold=True, down=-6),
        Words("Bayes estimate", 0.0105, bayes[0], BAYES, bold=True, down=14),
        Words(f"the prior alone {alone:.1f}", 1.0, alone, "quiet", align="right", down=-10),
    ]
    return Panel(
        marks,
        x=Axis("ε, log scale; below is better", 0.01, 1, log=True, ticks=(0.01, 0.1, 1)),
        y=Axis(low=0.5, high=100, log=True, ticks=(1, 10, 100), grid=True, write="~g"),
        title="Mean error for every ε",
        width=352,
    )


if __name__ == "__main__":
    sys.stdout.write(chart())
